# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Objects whose privileges are checked: resolve a request to rows of the inventory. Pure."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import escapes

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row

TYPES: dict[str, tuple[str, ...]] = {
    "datacenter": ("Datacenter",),
    "cluster": ("ClusterComputeResource",),
    "host": ("HostSystem",),
    "folder": ("Folder",),
    "datastore": ("Datastore",),
    "network": ("Network", "DistributedVirtualPortgroup", "OpaqueNetwork"),
    "vm": ("VirtualMachine",),
}
GB = 1 << 30


class Inventory:
    """The rows by MoID, with their parents; finds the requested objects among them."""

    def __init__(
        self, rows: Sequence[Row], root: Ref, datacenter: str | None = None, hosts: Sequence[str] = ()
    ) -> None:
        self._rows = {row.moid: row for row in rows}
        self._root = root
        self._datacenter = datacenter
        wanted = {name.lower() for name in hosts}
        everyone = [row for row in rows if row.kind == "HostSystem" and self._inside(row)]
        self.hosts = [row for row in everyone if not wanted or name_of(row).lower() in wanted]
        there = {name_of(row).lower() for row in self.hosts}
        self.strangers = [name for name in hosts if name.lower() not in there]

    def meant(self, kind: str, name: str | None = None) -> list[Ref]:
        """Return the references of the objects that a request names; none if there is no such object."""
        if kind == "vcenter":
            return [self._root]
        if not name:
            return self._around(kind)
        rows = [row for row in self._rows.values() if row.kind in TYPES[kind] and self._inside(row)]
        found = [row.ref for row in rows if self._is(row, name)]
        # A missing folder is created below the one of all VMs.
        return found or (self._around(kind) if kind == "folder" else [])

    def datastores(self) -> list[Row]:
        """Return the datastores of the named hosts."""
        seen = dict.fromkeys(ref._GetMoId() for row in self.hosts for ref in row.get("datastore") or ())
        return [self._rows[moid] for moid in seen if moid in self._rows]

    def _around(self, kind: str) -> list[Ref]:
        if kind == "host":
            return [row.ref for row in self.hosts]
        if kind == "folder":
            homes = [self._above(row, "datacenter") for row in self.hosts]
            return _once(home.get("vmFolder") for home in homes if home is not None)
        above = [self._above(row, kind) for row in self.hosts]
        return _once(row.ref for row in above if row is not None)

    def _is(self, row: Row, name: str) -> bool:
        if escapes.same_name(row.get("name", ""), name):
            return True
        path = [name_of(one) for one in reversed(list(self._up(row)))]
        wanted = [part for part in name.split("/") if part]
        return path[-len(wanted) :] == wanted

    def _inside(self, row: Row) -> bool:
        home = self._above(row, "datacenter")
        requested = (self._datacenter or "").rstrip("/").rpartition("/")[2]
        return not requested or home is None or escapes.same_name(home.get("name", ""), requested)

    def _above(self, row: Row, kind: str) -> Row | None:
        return next((one for one in self._up(row) if one.kind in TYPES[kind]), None)

    def _up(self, row: Row | None) -> Iterator[Row]:
        seen: list[Row] = []
        while row is not None and row not in seen:
            seen.append(row)
            yield row
            above = row.get("parent")
            row = self._rows.get(above._GetMoId()) if above is not None else None


def name_of(row: Row) -> str:
    """A name as people see it."""
    return escapes.unescaped(row.get("name", row.moid))


def skew(theirs: datetime.datetime, before: float, after: float) -> tuple[float, float]:
    """Return (minimum seconds that a clock is ahead, accuracy), from one reading between two local timestamps.

    An offset within the duration of the request may be network delay, and counts as none.
    """
    if theirs.tzinfo is None:
        theirs = theirs.replace(tzinfo=datetime.timezone.utc)
    reported = theirs.timestamp()
    if reported > after:
        ahead = reported - after
    elif reported < before:
        ahead = reported - before
    else:
        ahead = 0.0
    return round(ahead, 1), round(after - before, 1)


def datastore(row: Row) -> dict[str, Any]:
    """A datastore as the user sees it."""
    summary = row.get("summary")
    return {
        "name": name_of(row),
        "free_gb": int((summary.freeSpace or 0) // GB),
        "capacity_gb": int((summary.capacity or 0) // GB),
        "accessible": bool(summary.accessible),
    }


def _once(refs: Iterable[Ref | None]) -> list[Ref]:
    return list({ref._GetMoId(): ref for ref in refs if ref is not None}.values())
