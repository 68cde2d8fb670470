# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Switch VMs off and on again around a change, so that a run that is killed in between can be finished by the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim, vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.transport import FateUnknown
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.fleet import current
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import POWER_ON_AGAIN

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.fleet import Fleet, GiveUp
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.request import R, VmRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import V

_POLL_S = (0.5, 1.0, 2.0, 4.0)
_ASK_AGAIN_S = (0.5, 1.0, 2.0)


def stop(fleet: Fleet[V], items: Sequence[Item[VmRequest[R], V]], give_up: GiveUp[R, V]) -> None:
    """Switch the VMs off: the guest is asked first, and after its time limit the power is cut."""
    set_note(fleet, items, True, give_up)
    items = [item for item in items if current(item).vm.power_on_again]
    shut_guests_down(fleet, items)
    fleet.settle(
        items,
        "cannot be powered off",
        lambda item: current(item).vm.power == "off",
        lambda ref, item: ref.PowerOffVM_Task(),
        give_up,
    )


def start(fleet: Fleet[V], items: Sequence[Item[VmRequest[R], V]], give_up: GiveUp[R, V]) -> None:
    """Switch the VMs on; give_up(item, error) where vSphere refuses. The note is the caller's to remove."""
    fleet.settle(
        items,
        "cannot be powered on",
        lambda item: current(item).vm.power == "on",
        lambda ref, item: ref.PowerOnVM_Task(),
        give_up,
    )


def set_note(fleet: Fleet[V], items: Sequence[Item[VmRequest[R], V]], wanted: bool, give_up: GiveUp[R, V]) -> None:
    """Leave or remove the note in the VM's configuration that it has to be powered on again."""
    fleet.settle(
        items,
        f"cannot {'write' if wanted else 'remove'} the note about its power cycle",
        lambda item: current(item).vm.power_on_again == wanted,
        lambda ref, item: ref.ReconfigVM_Task(spec=_note(wanted)),
        give_up,
    )


def _note(wanted: bool) -> vim.vm.ConfigSpec:
    # An empty value removes the key.
    setting = vim.option.OptionValue(key=POWER_ON_AGAIN, value="true" if wanted else "")
    return vim.vm.ConfigSpec(extraConfig=[setting])


def shut_guests_down(fleet: Fleet[V], items: Sequence[Item[VmRequest[R], V]]) -> dict[str, OperatorError]:
    """Ask the guests that can hear, and wait until they are off or their time is up; {MoID: why one was not asked}."""
    hearing = [item for item in items if current(item).vm.tools_running]
    refused = {item.ids["moid"]: _ask(fleet, item) for item in hearing}
    asked = [item for item in hearing if refused[item.ids["moid"]] is None]
    began = fleet.clock.now()
    pauses = list(_POLL_S)
    while asked:
        fleet.clock.sleep(pauses.pop(0) if len(pauses) > 1 else pauses[0])
        lost = fleet.refresh(asked)
        waited = fleet.clock.now() - began
        asked = [
            item
            for item in asked
            if item not in lost and current(item).vm.power != "off" and waited < item.requested.guest_shutdown_timeout_s
        ]
    return {moid: error for moid, error in refused.items() if error is not None}


def _ask(fleet: Fleet[V], item: Item[VmRequest[R], V]) -> OperatorError | None:
    """Return None if the guest was asked, or may have been; else the reason why it was not."""
    maybe = False
    for pause in _ASK_AGAIN_S:
        try:
            fleet.ref(item).ShutdownGuest()
        except FateUnknown:
            # A guest that is asked twice shuts down once; a power-off during its shutdown may lose unwritten data.
            maybe = True
            fleet.clock.sleep(pause)
        except vmodl.MethodFault as fault:
            return None if maybe else explain(fault, f"VM {item.label}", "cannot shut down its guest")
        except OperatorError as error:
            return error
        else:
            return None
    return None
