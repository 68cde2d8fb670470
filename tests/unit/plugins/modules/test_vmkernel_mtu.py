# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host import mtu
from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import Network, Switch, Vmkernel
from ansible_collections.aiready.vsphere.plugins.modules import vmkernel_mtu as module

from unit.plugins.modules import described

HOST = {**described.LOGIN, "host": "esx-01.example.com"}


def test_the_documentation_describes_exactly_the_arguments():
    assert described.documented(module) == described.specified(module.ARGUMENTS)


@pytest.mark.parametrize("params", described.calls(module))
def test_every_example_is_a_call_that_the_module_takes(params):
    assert mtu.check_params(described.checked(params, module.ARGUMENTS)) == []


class Noun(module.VmkernelMtu):
    label = "Host esx-01.example.com"


def test_a_result_is_the_documented_one():
    params = described.checked({**HOST, "devices": ["vmk1"], "switch": "raise"}, module.ARGUMENTS)
    network = Network(
        switches=(Switch("dvs-train", True, 1500, ("vmnic2",)),), vmkernel=(Vmkernel("vmk1", 1500, (), "dvs-train"),)
    )
    state = mtu.state_of(network, ["vmk1"])
    described.assert_as_documented(module, described.plan(Noun(params, None), params, state))
