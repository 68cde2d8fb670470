# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.power.guest import Guest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.power.noun import Power, PowerState
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.power.params import PowerRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.request import VmRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm


@pytest.mark.parametrize(
    "power, noted, state, again, note",
    [
        ("on", False, "off", True, True),
        ("on", False, "off", False, False),
        ("off", False, "off", True, False),
        ("off", True, "off", False, True),
        ("on", True, "off", False, True),
        ("off", True, "on", False, False),
    ],
    ids=[
        "off for a while",
        "off for good",
        "it was off before",
        "the note of an earlier run",
        "the same, started meanwhile",
        "on again",
    ],
)
def test_the_note_says_whether_a_vm_is_to_be_on_again(power, noted, state, again, note):
    item = Item("train-01", VmRequest({}, PowerRequest(state=state, again=again, force=False), 300), {})
    item.now = PowerState(Vm(power=power, power_on_again=noted, tools_running=power == "on"), Guest(power))
    wanted = Power(SimpleNamespace(params={}, warn=None, check_mode=False)).want(item)
    assert (wanted.vm.power, wanted.vm.power_on_again) == (state, note)
