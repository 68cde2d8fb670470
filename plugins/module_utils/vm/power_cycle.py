# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Switch VMs off and on again around a change, so that a run that is killed in between can be finished by the next."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim, vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.fleet import current
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import POWER_ON_AGAIN

_POLL_S = (0.5, 1.0, 2.0, 4.0)


def stop(fleet, items, give_up):
    """Switch the VMs off: the guest is asked first, and after its time limit the power is cut."""
    set_note(fleet, items, True, give_up)
    items = [item for item in items if current(item).vm.power_on_again]
    _shut_guests_down(fleet, items)
    fleet.settle(
        items,
        "it should be switched off",
        lambda item: current(item).vm.power == "off",
        lambda ref, item: ref.PowerOffVM_Task(),
        give_up,
    )


def start(fleet, items, give_up):
    """Switch the VMs on and remove the note that says so; give_up(item, error) where vSphere refuses."""
    fleet.settle(
        items,
        "it should be switched on",
        lambda item: current(item).vm.power == "on",
        lambda ref, item: ref.PowerOnVM_Task(),
        give_up,
    )
    set_note(fleet, [item for item in items if current(item).vm.power == "on"], False, give_up)


def set_note(fleet, items, wanted, give_up):
    """Leave or remove the note in the VM's configuration that it has to be switched on again."""
    fleet.settle(
        items,
        "the note about its power cycle should be " + ("left" if wanted else "removed"),
        lambda item: current(item).vm.power_on_again == wanted,
        lambda ref, item: ref.ReconfigVM_Task(spec=_note(wanted)),
        give_up,
    )


def _note(wanted):
    # An empty value removes the key.
    setting = vim.option.OptionValue(key=POWER_ON_AGAIN, value="true" if wanted else "")
    return vim.vm.ConfigSpec(extraConfig=[setting])


def _shut_guests_down(fleet, items):
    """Ask the guests that can hear, and wait until they are off or their time is up."""
    asked = [item for item in items if current(item).vm.tools_running and _ask(fleet, item)]
    began = fleet.clock.now()
    pauses = list(_POLL_S)
    while asked:
        fleet.clock.sleep(pauses.pop(0) if len(pauses) > 1 else pauses[0])
        fleet.refresh(asked)
        waited = fleet.clock.now() - began
        asked = [
            item for item in asked if current(item).vm.power != "off" and waited < item.wish["guest_shutdown_timeout_s"]
        ]


def _ask(fleet, item):
    try:
        fleet.ref(item).ShutdownGuest()
    except (vmodl.MethodFault, OperatorError):
        # The guest cannot be asked, or did not answer; then its power is cut, as the user agreed to.
        return False
    return True
