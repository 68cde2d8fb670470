# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import copy

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.module_utils.core import runner
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import function_plan, registry
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.bios_state import BiosState
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.system import System
from ansible_collections.aiready.vsphere.plugins.modules import bios_settings

from unit.answers import Ended, Module

LOGIN = {"bmc_address": "bmc-01.example.com", "bmc_username": "root", "bmc_password": "secret"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"functions": {"sriov": "on please"}},
        {"functions": {"srv-io": "enabled"}},
        {"functions": {"power_profile": "enabled"}},
        {"attributes": ["Sriov"]},
        {"conflicts": "force"},
    ],
)
def test_a_call_that_makes_no_sense_does_not_reach_the_bmc(wrong):
    assert ArgumentSpecValidator(bios_settings.ARGUMENTS).validate({**LOGIN, **wrong}).error_messages


def enumeration(name, *values):
    return registry.Attribute(name, kind="Enumeration", values=tuple((value, value) for value in values))


REGISTRY = registry.Registry(
    [
        *(
            enumeration(name, "Enabled", "Disabled")
            for name in ("ProcVirtualization", "SriovGlobalEnable", "MmioAbove4Gb")
        ),
        enumeration("SysProfile", "PerfOptimized", "PerfPerWattOptimizedDapc", "Custom"),
        enumeration("ProcCStates", "Enabled", "Disabled"),
    ],
    name="BiosAttributeRegistryH08.v1_2_12",
)
ACTIVE = {
    "ProcVirtualization": "Enabled",
    "SriovGlobalEnable": "Disabled",
    "MmioAbove4Gb": "Disabled",
    "SysProfile": "PerfPerWattOptimizedDapc",
    "ProcCStates": "Enabled",
}


class Planned(bios_settings.BiosSettings):
    """The noun on a state that is given instead of read."""

    def __init__(self, params, state):
        super().__init__(params)
        self._given = state
        self._bios = type("Bios", (), {"registry": REGISTRY})

    def read(self, items):
        (item,) = items
        body = {"Model": "PowerEdge R750xa", "SKU": "7XK2LN3", "UUID": "4c4c4544-0058-4b10-8032-b7c04f4c4e33"}
        self._system = System("/redfish/v1/Systems/System.Embedded.1", body, "dell")
        item.ids.update(self._system.ids, registry=REGISTRY.name)
        item.now = self._given
        self.resolve(item)


def plan(**options):
    """The module's answer in check mode for a server as it comes."""
    params = ArgumentSpecValidator(bios_settings.ARGUMENTS).validate({**LOGIN, **options}).validated_parameters
    functions = function_plan.status("dell", REGISTRY, ACTIVE)
    item = Item(
        "bmc-01.example.com",
        bios_settings.request_of(params),
        dict(bios_settings.UNKNOWN_IDS, name="bmc-01.example.com"),
    )
    noun = Planned(params, BiosState(copy.deepcopy(ACTIVE), scheduled=False, functions=functions))
    with pytest.raises(Ended) as ended:
        runner.run(Module(), noun, [item], "bios", single=True)
    return ended.value.args[0]


def test_a_result_has_exactly_the_documented_keys_and_is_the_documented_sample():
    contains = yaml.safe_load(bios_settings.RETURN)["bios"]["contains"]
    result = plan(functions={"virtualization": "enabled", "sriov": "enabled", "above_4g": "enabled"})["bios"]
    assert set(result) == set(contains)
    assert set(contains["after"]["contains"]) == set(result["after"])
    for key in ("before", "after", "changes", "pending", *bios_settings.UNKNOWN_IDS):
        assert result[key] == contains[key]["sample"], key


def test_a_task_about_one_server_has_one_result_and_one_diff():
    answer = plan(functions={"sriov": "enabled"})
    assert answer["changed"] is True
    (diff,) = answer["diff"]
    assert (diff["before"], diff["after"]) == (
        {"bios.SriovGlobalEnable": "Disabled"},
        {"bios.SriovGlobalEnable": "Enabled"},
    )


def test_a_refused_request_reports_what_is_there():
    answer = plan(attributes={"Sriov": "Enabled"})
    assert answer["failed"]
    assert answer["bios"]["failure"] == answer["failure"]
    assert answer["bios"]["before"]["functions"]["sriov"] == "disabled"
    assert answer["bios"]["changed"] is False
