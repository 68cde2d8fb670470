# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The hosts that VMs are on, or will be on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Sequence

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row

HOST_PROPERTIES = ("name", "parent", "runtime.connectionState")


@dataclass(frozen=True)
class Place:
    """A host as the surroundings of a VM."""

    moid: str
    name: str
    # Name of the cluster, or of the standalone host.
    cluster: str
    connected: bool
    row: Row
    # The rows of all hosts of the cluster that were read, this one included.
    neighbours: tuple[Row, ...] = ()


def places_of(rows: Sequence[Row]) -> dict[str | None, Place]:
    """Return {moid of a host: Place} from rows of hosts and compute resources."""
    clusters: dict[str | None, str] = {
        row.moid: row.get("name", "") for row in rows if row.kind.endswith("ComputeResource")
    }
    hosts = [row for row in rows if row.kind == "HostSystem"]
    members: dict[str | None, list[Row]] = {}
    for row in hosts:
        members.setdefault(moid_of(row.get("parent")), []).append(row)
    return {
        row.moid: Place(
            moid=row.moid,
            name=row.get("name", ""),
            cluster=clusters.get(moid_of(row.get("parent")), ""),
            connected=str(row.get("runtime.connectionState")) == "connected",
            row=row,
            neighbours=tuple(members[moid_of(row.get("parent"))]),
        )
        for row in hosts
    }


def moid_of(ref: Ref | None) -> str | None:
    return ref._GetMoId() if ref is not None else None
