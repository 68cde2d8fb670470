# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.modules import vmxnet3_nic as module

from unit.plugins.module_utils.vm.nic.worlds import adapter, state
from unit.plugins.modules.nics import asked, plan


def test_absent_has_to_say_which_port_groups_since_others_are_not_managed():
    (problem,) = module.check_params(asked(module, state="absent"))
    assert problem == "VM train-01: adapters must name at least one adapter."


def test_adapters_on_other_port_groups_are_reported_and_stay():
    management = adapter(4000, "network-1")
    result = plan(module, state(management, adapter(4001)), adapters=[{"portgroup": "pg-rdma"}])
    assert not result["changed"]
    assert [one["portgroup"] for one in result["after"]["adapters"]] == ["VM Network", "pg-rdma"]
