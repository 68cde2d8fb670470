# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What the documentation of every module for network adapters says is what the module takes and answers."""

from __future__ import annotations

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.params import RELATIONS
from ansible_collections.aiready.vsphere.plugins.modules import sriov_nic

from unit.plugins.module_utils.vm.nic.worlds import state
from unit.plugins.modules import described
from unit.plugins.modules.nics import NOUNS, plan

MODULES = {module.__name__.rpartition(".")[2]: module for module in NOUNS}
PORTGROUPS = {"pvrdma_nic": "pg-rdma", "sriov_nic": "pg-sriov", "vmxnet3_nic": "pg-rdma"}
CALLS = [
    pytest.param(name, *call.values, id=f"{name}-{call.id}")
    for name, module in MODULES.items()
    for call in described.calls(module)
]


@pytest.mark.parametrize("name, call", CALLS)
def test_every_example_is_a_call_that_the_module_takes(name, call):
    module = MODULES[name]
    assert module.check_params(described.checked(call, module.ARGUMENTS.spec, RELATIONS)) == []


@pytest.mark.parametrize("name", MODULES)
def test_a_result_has_exactly_the_documented_keys(name):
    shown = yaml.safe_load(MODULES[name].RETURN)["vms"]["contains"]
    result = plan(MODULES[name], state(), adapters=[{"portgroup": PORTGROUPS[name]}])
    assert not result["failed"], result["msg"]
    assert set(result) == set(shown)
    assert set(result["after"]) == set(shown["after"]["contains"]) == set(shown["after"]["sample"])
    (adapters,) = result["after"]["adapters"]
    documented = shown["after"]["contains"]["adapters"]["contains"]
    assert set(adapters) == set(documented) == set(shown["after"]["sample"]["adapters"][0])
    assert set(result["expects"]) == set(shown["expects"]["contains"]) == set(shown["expects"]["sample"])
    assert result["before"] == shown["before"]["sample"]
    assert set(result["changes"][0]) == set(shown["changes"]["sample"][0])


def test_refused_adapter_is_named_with_its_kind_and_port_group():
    result = plan(sriov_nic, state(), adapters=[{"portgroup": "pg-none"}])
    assert result["msg"].startswith("VM train-01: cannot get an SR-IOV adapter on pg-none. ")
