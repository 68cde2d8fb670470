# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils import runner
from ansible_collections.aiready.vsphere.plugins.module_utils.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.params import RELATIONS, ids
from ansible_collections.aiready.vsphere.plugins.modules import sriov_nic as module

from unit.plugins.module_utils.nic.worlds import FABRIC, state
from unit.plugins.modules import described

VM = {"name": "train-01", "moid": "vm-42", "instance_uuid": "52b6d2a1", "path": "/dc1/vm/training/train-01"}
SHOWN = described.yaml.safe_load(module.RETURN)["vms"]["contains"]


class Module(described.Module):
    params = {}

    def warn(self, text):
        raise AssertionError(text)


class Planned(module.SriovNics):
    """The noun on a state that is given instead of read."""

    now = None

    def read(self, items):
        (item,) = items
        item.now = self.now
        self._tell_expectations(items)


def plan(now, **options):
    """The module's result in check mode for one VM in this state."""
    asked = described.checked({**described.LOGIN, "name": "train-01", **options}, module.ARGUMENTS.spec, RELATIONS)
    (wish,) = module.ARGUMENTS.wishes(asked)
    noun = Planned(Module())
    noun.now, noun.fabric = now, FABRIC
    noun._holders = {"host-1": []}
    item = Item("train-01", wish, {**ids(wish), **VM, "host": "esx-01", "cluster": "gpu"})
    with pytest.raises(described.Ended) as ended:
        runner.run(Module(), noun, [item], "vms")
    (result,) = ended.value.args[0]["vms"]
    return result


def test_the_documentation_describes_exactly_the_arguments():
    assert described.documented(module) == described.specified(module.ARGUMENTS.spec)


def test_only_the_password_is_secret():
    assert [name for name, option in module.ARGUMENTS.spec.items() if option.get("no_log")] == ["password"]


@pytest.mark.parametrize("call", described.calls(module))
def test_every_example_is_a_call_that_the_module_takes(call):
    assert module.check_params(described.checked(call, module.ARGUMENTS.spec, RELATIONS)) == []


def test_a_result_has_exactly_the_documented_keys():
    result = plan(state(), adapters=[{"portgroup": "pg-sriov"}])
    assert not result["failed"], result["msg"]
    assert set(result) == set(SHOWN)
    assert set(result["after"]) == set(SHOWN["after"]["contains"]) == set(SHOWN["after"]["sample"])
    (adapters,) = result["after"]["adapters"]
    documented = SHOWN["after"]["contains"]["adapters"]["contains"]
    assert set(adapters) == set(documented) == set(SHOWN["after"]["sample"]["adapters"][0])
    assert set(result["expects"]) == set(SHOWN["expects"]["contains"]) == set(SHOWN["expects"]["sample"])
    assert result["before"] == SHOWN["before"]["sample"]
    assert set(result["changes"][0]) == set(SHOWN["changes"]["sample"][0])


def test_absent_needs_no_adapters():
    asked = {**described.LOGIN, "name": "train-01", "state": "absent"}
    assert module.check_params(described.checked(asked, module.ARGUMENTS.spec, RELATIONS)) == []


def test_a_port_off_the_switch_is_refused_unless_the_user_says_so():
    adapters = [{"portgroup": "pg-rdma", "physical_function": "vmnic3"}]
    assert plan(state(), adapters=adapters)["failure"]["code"] == "port_off_switch"
    assert plan(state(), adapters=adapters, port_off_switch="allow")["changed"]
