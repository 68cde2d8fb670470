# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Ports, switches and vmkernel adapters of a host, and the traffic of a port. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, Sequence

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.port_groups import Group

DEFAULT_MTU = 1500


@dataclass(frozen=True)
class Switch:
    """A virtual switch, as far as this host is a member of it."""

    name: str
    distributed: bool
    mtu: int
    uplinks: tuple[str, ...] = ()
    uuid: str = ""


@dataclass(frozen=True)
class Vmkernel:
    """A vmkernel adapter."""

    device: str
    mtu: int
    services: tuple[str, ...]
    switch: str
    ip: str = ""
    netmask: str = ""
    portgroup: str = ""
    vlan: int | None = None  # 0 without one; None where it is not known


@dataclass(frozen=True)
class Port:
    """A physical port of the host; ports in passthrough mode are excluded."""

    device: str
    pci: str
    driver: str
    mtu: int
    link_mbps: int
    switch: str = ""


@dataclass(frozen=True)
class Rdma:
    """An RDMA device and the port that it belongs to."""

    device: str
    driver: str
    state: str
    mtu: int
    port: str


@dataclass(frozen=True)
class Network:
    """Network of a host."""

    ports: tuple[Port, ...] = ()
    switches: tuple[Switch, ...] = ()
    vmkernel: tuple[Vmkernel, ...] = ()
    rdma: tuple[Rdma, ...] = field(default=())

    def switch(self, name: str) -> Switch | None:
        return next((one for one in self.switches if one.name == name), None)

    def port(self, device: str) -> Port | None:
        return next((one for one in self.ports if one.device == device), None)

    def adapter(self, device: str) -> Vmkernel | None:
        return next((one for one in self.vmkernel if one.device == device), None)

    def rdma_of(self, device: str) -> Rdma | None:
        return next((one for one in self.rdma if one.port == device), None)

    def on_switch(self, name: str) -> list[Vmkernel]:
        """The vmkernel adapters of a switch."""
        return [one for one in self.vmkernel if one.switch == name]


def network_of(info: Any, nic_manager: Any = None, groups: Mapping[str, Group] | None = None) -> Network:
    """The network from config.network and config.virtualNicManagerInfo; groups: port_groups.groups_of()."""
    if info is None:
        return Network()
    devices = {pnic.key: pnic.device for pnic in info.pnic or []}
    switches = [_standard(one, devices) for one in info.vswitch or []]
    switches += [_distributed(one, devices) for one in info.proxySwitch or []]
    switches += [_opaque(one, devices) for one in info.opaqueSwitch or []]
    uplink_of = {device: switch for switch in switches for device in switch.uplinks}
    return Network(
        ports=tuple(_port(pnic, uplink_of.get(pnic.device)) for pnic in info.pnic or []),
        switches=tuple(switches),
        vmkernel=tuple(_adapters(info, _services(nic_manager), groups or {})),
        rdma=tuple(_rdma(one, devices) for one in getattr(info, "rdmaDevice", None) or []),
    )


def _standard(one: Any, devices: Mapping[str, str]) -> Switch:
    return Switch(one.name, False, one.mtu or DEFAULT_MTU, _names(one.pnic, devices))


def _distributed(one: Any, devices: Mapping[str, str]) -> Switch:
    return Switch(one.dvsName, True, one.mtu or DEFAULT_MTU, _names(one.pnic, devices), one.dvsUuid)


def _opaque(one: Any, devices: Mapping[str, str]) -> Switch:
    """Return a switch of NSX, which vCenter neither manages nor describes; only its used uplinks matter."""
    return Switch(one.name or one.key, False, DEFAULT_MTU, _names(one.pnic, devices))


def _names(keys: Iterable[str] | None, devices: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(devices.get(key, key) for key in keys or [])


def _port(pnic: Any, switch: Switch | None) -> Port:
    return Port(
        device=pnic.device,
        pci=pnic.pci or "",
        driver=pnic.driver or "",
        # ESXi sets the MTU of a port from the switch that it is an uplink of.
        mtu=switch.mtu if switch else DEFAULT_MTU,
        link_mbps=pnic.linkSpeed.speedMb if pnic.linkSpeed else 0,
        switch=switch.name if switch else "",
    )


def _adapters(
    info: Any, services: Mapping[str, Sequence[str]], distributed_groups: Mapping[str, Group]
) -> Iterator[Vmkernel]:
    groups = {group.spec.name: group.spec for group in info.portgroup or []}
    distributed = {one.dvsUuid: one.dvsName for one in info.proxySwitch or []}
    for one in info.vnic or []:
        connection, standard = one.spec.distributedVirtualPort, groups.get(one.portgroup)
        group = distributed_groups.get(connection.portgroupKey) if connection else None
        yield Vmkernel(
            device=one.device,
            mtu=one.spec.mtu or DEFAULT_MTU,
            services=tuple(sorted(services.get(one.device, ()))),
            switch=distributed.get(connection.switchUuid, "") if connection else getattr(standard, "vswitchName", ""),
            ip=(one.spec.ip.ipAddress or "") if one.spec.ip else "",
            netmask=(one.spec.ip.subnetMask or "") if one.spec.ip else "",
            portgroup=(group.name if group else "") if connection else one.portgroup or "",
            vlan=(group.vlan if group else None) if connection else getattr(standard, "vlanId", None),
        )


def _services(nic_manager: Any) -> dict[str, list[str]]:
    """{vmk: services that it is selected for}."""
    found: dict[str, list[str]] = {}
    for config in (nic_manager.netConfig if nic_manager else None) or []:
        devices = {candidate.key: candidate.device for candidate in config.candidateVnic or []}
        for key in config.selectedVnic or []:
            found.setdefault(devices.get(key, key.rpartition("-")[2]), []).append(config.nicType)
    return found


def _rdma(one: Any, devices: Mapping[str, str]) -> Rdma:
    connection, backing = one.connectionInfo, one.backing
    paired = getattr(backing, "pairedUplink", "") or ""
    return Rdma(
        device=one.device,
        driver=one.driver or "",
        state=connection.state if connection else "unknown",
        mtu=connection.mtu if connection else 0,
        # pairedUplink is declared as a key; some servers send the device's name.
        port=devices.get(paired, paired.rpartition("-")[2]),
    )
