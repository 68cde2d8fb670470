# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The port groups that VMs can be attached to, as people name them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Collection, Iterable, Iterator, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import escapes, properties
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.place import moid_of

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import HostView

_NEAR = 5
_PLACES = ("HostSystem", "ComputeResource", "Folder")
_GROUP = "DistributedVirtualPortgroup"
_SWITCH = "DistributedVirtualSwitch"


@dataclass(frozen=True)
class Portgroup:
    """A network of a datacenter. A standard port group has no switch here: each host has its own."""

    # Network in an adapter's backing: the key of a distributed port group, the MoID of any other network.
    key: str
    moid: str
    name: str
    datacenter: str
    distributed: bool = False
    switch: str = ""
    switch_uuid: str = ""
    uplink: bool = False
    # A segment of NSX that is no distributed port group.
    opaque: bool = False

    def __str__(self) -> str:
        return f"{self.name} on {self.switch}" if self.switch else self.name


class Fabric:
    """Port groups of the datacenters that contain the VMs of a task."""

    def __init__(
        self,
        portgroups: Iterable[Portgroup] = (),
        homes: Mapping[str, str | None] | None = None,
        browsers: Mapping[str, vim.EnvironmentBrowser | None] | None = None,
    ) -> None:
        # {MoID of a host: the environment browser of its cluster}
        self.browsers = dict(browsers or {})
        self._by_key = {group.key: group for group in portgroups}
        # {MoID of a host: MoID of its datacenter}
        self._homes = dict(homes or {})

    def named(self, key: str) -> Portgroup | None:
        """The port group that an adapter names, or None."""
        return self._by_key.get(key)

    def candidates(self, name: str, switch: str | None, host: HostView | None) -> list[Portgroup]:
        """Return the port groups that a name can mean for a VM on this host; those of the host have priority."""
        found = [
            group
            for group in self._at(host)
            if escapes.same_name(group.name, name) and (switch is None or self._is_on(group, switch, host))
        ]
        here = [group for group in found if reaches(host, group)]
        return here or found

    def find(self, name: str, switch: str | None, host: HostView | None) -> Portgroup | None:
        """The one port group that is meant, or None."""
        found = self.candidates(name, switch, host)
        return found[0] if len(found) == 1 else None

    def near(self, name: str, host: HostView | None) -> list[str]:
        """Names that may have been meant."""
        names = sorted({group.name for group in self._at(host) if not group.uplink})
        spoken = {one.lower(): one for one in names}
        close = difflib.get_close_matches(name.lower(), spoken, n=_NEAR, cutoff=0.5)
        return [spoken[one] for one in close] or names[:_NEAR]

    def names_at(self, host: HostView | None) -> list[str]:
        """Networks that VMs on a host can be attached to."""
        return sorted(str(group) for group in self._at(host) if reaches(host, group) and not group.uplink)

    def switch_of(self, group: Portgroup, host: HostView | None) -> str:
        """The name of the switch that carries a port group on a host."""
        return group.switch or (host.standard.get(group.name, "") if host is not None else "")

    def _at(self, host: HostView | None) -> list[Portgroup]:
        home = self._homes.get(host.moid) if host is not None else None
        return [group for group in self._by_key.values() if home is None or group.datacenter == home]

    def _is_on(self, group: Portgroup, switch: str, host: HostView | None) -> bool:
        return escapes.same_name(self.switch_of(group, host), switch)


def reaches(host: HostView | None, group: Portgroup) -> bool:
    """Return whether VMs on this host can be attached to the port group."""
    if host is None:
        return True
    return host.by_uuid(group.switch_uuid) is not None if group.distributed else group.moid in host.networks


def read(vcenter: VCenter, hosts: Collection[str]) -> Fabric:
    """The Fabric around these hosts, given by MoID: three requests, however many hosts and port groups there are."""
    if not hosts:
        return Fabric()
    select: dict[str, tuple[str, ...]] = dict.fromkeys(_PLACES, ("parent",))
    select["ComputeResource"] += ("environmentBrowser",)
    select["Datacenter"] = ("network",)
    start = [vcenter.managed("HostSystem", moid) for moid in sorted(hosts)]
    rows = properties.retrieve(vcenter, select, start, [(kind, "parent") for kind in _PLACES], skip_gone=True)
    by_moid: dict[str | None, Row] = {row.moid: row for row in rows}
    homes = {moid: _home(by_moid, moid) for moid in hosts}
    owner: dict[str, str]
    refs: list[vim.Network]
    owner, refs = {}, []
    for row in rows:
        for ref in (row.get("network") or []) if row.kind == "Datacenter" else []:
            owner[ref._GetMoId()] = row.moid
            refs.append(ref)
    browsers = {moid: _parent(by_moid, moid, "environmentBrowser") for moid in hosts}
    return Fabric([*_distributed(vcenter, refs, owner), *_plain(vcenter, refs, owner)], homes, browsers)


def _home(rows: Mapping[str | None, Row], moid: str) -> str | None:
    row = rows.get(moid)
    while row is not None and row.kind != "Datacenter":
        row = rows.get(moid_of(row.get("parent")))
    return row.moid if row is not None else None


def _parent(rows: Mapping[str | None, Row], moid: str, path: str) -> vim.EnvironmentBrowser | None:
    """A property of the compute resource that a host is in."""
    row = rows.get(moid_of(rows[moid].get("parent"))) if moid in rows else None
    return row.get(path) if row is not None else None


def _distributed(vcenter: VCenter, refs: Iterable[vim.Network], owner: Mapping[str, str]) -> Iterator[Portgroup]:
    rows = properties.retrieve(
        vcenter,
        {_GROUP: ("name", "key", "config.uplink", "config.distributedVirtualSwitch"), _SWITCH: ("name", "uuid")},
        [ref for ref in refs if ref._wsdlName == _GROUP],
        [(_GROUP, "config.distributedVirtualSwitch")],
        skip_gone=True,
    )
    switches: dict[str | None, Row] = {row.moid: row for row in rows if row.kind != _GROUP}
    for row in rows:
        switch = switches.get(moid_of(row.get("config.distributedVirtualSwitch")))
        if row.kind == _GROUP and switch is not None:
            yield Portgroup(
                key=row.get("key") or row.moid,
                moid=row.moid,
                name=escapes.unescaped(row.get("name", "")),
                datacenter=owner[row.moid],
                distributed=True,
                switch=escapes.unescaped(switch.get("name", "")),
                switch_uuid=switch.get("uuid") or "",
                uplink=bool(row.get("config.uplink")),
            )


def _plain(vcenter: VCenter, refs: Iterable[vim.Network], owner: Mapping[str, str]) -> list[Portgroup]:
    rows = properties.retrieve(
        vcenter, {"Network": ("name",)}, [ref for ref in refs if ref._wsdlName != _GROUP], skip_gone=True
    )
    return [plain(row, owner[row.moid]) for row in rows]


def plain(row: Row, datacenter: str) -> Portgroup:
    """A network that is on no distributed switch, from its row."""
    return Portgroup(
        key=row.moid,
        moid=row.moid,
        # Unlike the inventory, a host and a backing have the name without escapes.
        name=escapes.unescaped(row.get("name", "")),
        datacenter=datacenter,
        opaque=row.kind == "OpaqueNetwork",
    )
