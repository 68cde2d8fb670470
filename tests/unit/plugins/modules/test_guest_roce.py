# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import roce, roce_state
from ansible_collections.aiready.vsphere.plugins.modules import guest_roce

from .described import calls, checked

RETURNED = yaml.safe_load(guest_roce.RETURN)["roce"]["contains"]


@pytest.mark.parametrize("call", calls(guest_roce, login={}))
def test_every_example_is_a_call_that_the_module_takes(call):
    # A MAC address of a variable is none yet.
    params = {**checked(call, roce.ARGUMENTS), "mac": None}
    assert roce.check_params(params) == []


def test_the_example_of_a_result_is_what_the_module_makes_of_it():
    now = roce_state.State("ens224", "00:50:56:9a:10:01", "vmw_pvrdma0", 1, traffic_class=0)
    wanted = roce_state.want(now, Intent(), "pvrdma")
    shown = roce_state.project(wanted, "pvrdma", Intent())
    assert roce_state.project(now, "pvrdma", Intent()) == RETURNED["before"]["sample"]
    assert shown == RETURNED["after"]["sample"]
    assert set(RETURNED["after"]["contains"]) == set(shown)
    changes = [change.as_result() for change in roce_state.compare(now, wanted)]
    assert changes[0] == RETURNED["changes"]["sample"][0]
