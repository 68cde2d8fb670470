# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.modules import sriov_nic as module

from unit.plugins.module_utils.vm.nic.worlds import state
from unit.plugins.modules.nics import asked, plan


def test_absent_needs_no_adapters():
    assert module.check_params(asked(module, state="absent")) == []


def test_a_port_off_the_switch_is_refused_unless_the_user_says_so():
    adapters = [{"portgroup": "pg-rdma", "physical_function": "vmnic3"}]
    assert plan(module, state(), adapters=adapters)["failure"]["code"] == "port_off_switch"
    assert plan(module, state(), adapters=adapters, port_off_switch="allow")["changed"]
