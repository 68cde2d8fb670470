# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import json

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.host import facts
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from ansible_collections.aiready.vsphere.plugins.modules import esxi_host_info as module
from pyVmomi import vim

from unit.plugins.modules import described

HOST = {**described.LOGIN, "host": "esx-01.example.com"}


def test_the_documentation_describes_exactly_the_arguments():
    assert described.documented(module) == described.specified(module.ARGUMENTS)


@pytest.mark.parametrize("params", described.calls(module))
def test_every_example_is_a_call_that_the_module_takes(params):
    described.checked(params, module.ARGUMENTS)


def told(answers=None, **properties):
    """What is told of a host with these properties and no others."""
    row = Row(vim.HostSystem("host-12"), {name.replace("__", "."): value for name, value in properties.items()}, {})
    found = HostFound(
        ref=row.ref,
        moid="host-12",
        name="esx-01",
        path="/dc/host/gpu/esx-01",
        cluster="gpu",
        cluster_ref=None,
        connection="connected",
        row=row,
        datacenter="dc",
        datacenter_ref=None,
    )
    wish = described.checked(HOST, module.ARGUMENTS)
    return facts.facts(found, [], answers or facts.Answers(), wish)


def test_a_host_of_which_nothing_can_be_read_has_the_documented_keys_all_the_same():
    contains = yaml.safe_load(module.RETURN)["host"]["contains"]
    bare = told()
    assert set(bare) == set(contains)
    json.dumps(bare)
    assert (bare["driver"], bare["graphics"], bare["gpus"], bare["pending"]) == (None, None, [], [])


def test_a_driver_that_is_installed_and_not_loaded_waits_for_a_restart():
    driver = {"family": "nvaie", "version": "550.54.16", "loaded": False}
    assert told(facts.Answers(driver=driver))["pending"] == [{"what": "driver", "needs": "reboot"}]


@pytest.mark.parametrize(
    "answer, dcb",
    [
        (
            {"Mode": "IEEE Mode", "PFCEnabled": True, "PFCConfiguration": "0 0 0 1 0 0 0 0"},
            {"mode": "IEEE Mode", "pfc": [3]},
        ),
        ({"Mode": "Unknown", "PFCConfiguration": ""}, {"mode": "Unknown", "pfc": []}),
        (None, None),
    ],
)
def test_priorities_with_flow_control_are_told_by_their_numbers(answer, dcb):
    assert facts.dcb_of(answer) == dcb
