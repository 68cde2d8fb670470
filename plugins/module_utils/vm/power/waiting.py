# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Wait until guests are up: all of them together, with one request per read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import properties
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.pauses import Pauses
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.power import guest

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.fleet import Fleet
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.request import R, VmRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import V

_WANTED = {"tools": "has no running VMware Tools", "address": "has no guest address"}


def wait(fleet: Fleet[V], items: Sequence[Item[VmRequest[R], V]], wait_for: str, timeout_s: int) -> None:
    """Give an error to each item whose guest has not reached the awaited state in time."""
    pauses = Pauses(fleet.clock, timeout_s)
    waiting = list(items)
    while waiting:
        seen = look(fleet, waiting)
        late = pauses.over
        for item in waiting:
            item.error = _trouble(item, seen.get(item.ids["moid"]), wait_for, timeout_s, late)
        waiting = [item for item in waiting if item.error is None and not seen[item.ids["moid"]].has(wait_for)]
        if waiting:
            pauses.sleep()


def look(fleet: Fleet[V], items: Sequence[Item[VmRequest[R], V]]) -> dict[str, guest.Guest]:
    """Return {MoID: Guest} of the existing VMs."""
    rows = properties.retrieve(
        fleet.vcenter,
        {"VirtualMachine": guest.PROPERTIES},
        [fleet.ref(item) for item in items],
        skip_gone=True,
    )
    return {row.moid: guest.guest_of(row) for row in rows}


def _trouble(
    item: Item[VmRequest[R], V], seen: guest.Guest | None, wait_for: str, timeout_s: int, late: bool
) -> OperatorError | None:
    if seen is None:
        return OperatorError(
            f"VM {item.label}", _WANTED[wait_for], "It was removed meanwhile", "Check the events in vCenter", "vm_gone"
        )
    if seen.has(wait_for):
        return None
    if seen.power != "on":
        return OperatorError(
            f"VM {item.label}",
            _WANTED[wait_for],
            f"The VM went {seen.power} during the wait",
            "Check its console and its events in vCenter",
            "went_off",
        )
    if not late:
        return None
    todo = "Check on its console that the guest starts, and that open-vm-tools is installed and running"
    if seen.tools:
        todo = "Check that the adapter of the guest is connected and that DHCP answers"
    return OperatorError(
        f"VM {item.label}",
        f"{_WANTED[wait_for]} after {timeout_s} seconds",
        guest.reported(seen),
        f"{todo}. Raise wait_timeout_s if the guest needs longer; the VM stays on",
        "guest_timeout",
        tools=seen.tools,
        addresses=guest.project(seen),
    )
