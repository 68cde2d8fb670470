# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Names and VLANs of the distributed port groups that a host has: a VMkernel adapter names its group by a key alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Iterable

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row

KIND = "DistributedVirtualPortgroup"
PROPERTIES = ("key", "name", "config.defaultPortConfig", "config.uplink", "config.distributedVirtualSwitch")
FROM_HOST = ("HostSystem", "network")


@dataclass(frozen=True)
class Group:
    """A port group. vlan: 0 without one, None where it carries many or a private one."""

    name: str
    vlan: int | None = None
    switch: str = ""  # MoID of its switch


def groups_of(rows: Iterable[Row]) -> dict[str, Group]:
    """Return {key: Group} of rows with PROPERTIES; those for uplinks are excluded."""
    found = {}
    for row in rows:
        if row.kind == KIND and not row.get("config.uplink"):
            switch = row.get("config.distributedVirtualSwitch")
            moid = switch._GetMoId() if switch is not None else ""
            found[row.get("key", row.moid)] = Group(row.get("name", ""), vlan_of(row), moid)
    return found


def vlan_of(row: Row) -> int | None:
    """The VLAN of a row's port group."""
    vlan = getattr(row.get("config.defaultPortConfig"), "vlan", None)
    number = getattr(vlan, "vlanId", None)
    return number if isinstance(number, int) else None
