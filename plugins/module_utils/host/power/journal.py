# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The latest tasks of a host in vCenter, so that a run continues where a killed one stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import retrieve

if TYPE_CHECKING:
    import datetime

    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

# The properties that read needs in a row of a host.
PROPERTIES = ("recentTask",)
ENTER, EXIT = "HostSystem.enterMaintenanceMode", "HostSystem.exitMaintenanceMode"
REBOOT, SHUTDOWN = "HostSystem.reboot", "HostSystem.shutdown"


@dataclass(frozen=True)
class Entry:
    """One task of the host."""

    kind: str
    ref: Any
    state: str
    began: datetime.datetime | None

    @property
    def open(self) -> bool:
        return self.state in ("queued", "running")


def read(vcenter: VCenter, row: Row) -> tuple[Entry, ...]:
    """Return the host's recent tasks; vCenter keeps ended ones for some minutes."""
    refs = row.get("recentTask") or []
    rows = retrieve(vcenter, {"Task": ["info"]}, refs, skip_gone=True) if refs else []
    infos = [(one.ref, one.get("info")) for one in rows]
    return tuple(
        Entry(str(info.descriptionId), ref, str(info.state), info.startTime or info.queueTime)
        for ref, info in infos
        if info is not None
    )


def under_way(entries: Iterable[Entry], kind: str) -> Any:
    """The task of this kind that has not ended yet, or None."""
    return next((entry.ref for entry in entries if entry.kind == kind and entry.open), None)


def going_down(entries: Iterable[Entry], boot_time: datetime.datetime | None) -> bool:
    """Return whether a restart or shutdown was accepted since the host booted: then it goes down in a moment."""
    return any(
        entry.kind in (REBOOT, SHUTDOWN)
        and entry.state != "error"
        and (boot_time is None or entry.began is None or entry.began > boot_time)
        for entry in entries
    )
