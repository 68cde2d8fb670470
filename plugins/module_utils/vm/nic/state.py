# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The network adapters of a VM, and the host under them. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.host import network, passthrough
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.place import moid_of
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import Switch
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.place import Place

PVRDMA, SRIOV, VMXNET3 = "pvrdma", "sriov", "vmxnet3"
# Source of a MAC address, in the words of VirtualEthernetCard.addressType.
FIXED = "manual"

HOST_PROPERTIES = ("config.network", "network")


@dataclass(frozen=True)
class Adapter:
    """One network adapter. Its key is negative until vSphere chooses one."""

    key: int = 0
    label: str = ""
    # The key of a distributed port group, else the MoID of the network.
    network: str = ""
    switch_uuid: str = ""
    mac: str = ""
    mac_fixed: bool = False
    start_connected: bool = True
    # None while the VM is off.
    connected: bool | None = None
    protocol: str | None = None
    # PCI address of the physical port of the virtual function; None leaves the choice to the host.
    physical_function: str | None = None
    guest_mtu_change: bool = False
    # Device as read, because an edit needs its bus position.
    device: vim.vm.device.VirtualEthernetCard | None = field(default=None, compare=False, repr=False)

    @property
    def fixed_mac(self) -> str | None:
        return self.mac if self.mac_fixed else None


@dataclass(frozen=True)
class HostView:
    """The host that a VM is on, or will be on, as its network adapters see it."""

    moid: str
    name: str
    connected: bool
    network: network.Network
    # MoIDs of its networks.
    networks: frozenset[str] = frozenset()
    # {standard port group: its switch}
    standard: dict[str, str] = field(default_factory=dict)
    # {PCI address: passthrough.Given}
    given: dict[str, passthrough.Given] = field(default_factory=dict)
    # {key of a ruleset: whether it is open}
    firewall: dict[str, bool] = field(default_factory=dict)
    # The manager of its advanced options.
    options: vim.option.OptionManager | None = field(default=None, compare=False, repr=False)

    def by_uuid(self, uuid: str) -> Switch | None:
        """Return the distributed switch with this UUID, if this host is a member of it."""
        return next((one for one in self.network.switches if one.distributed and one.uuid == uuid), None)


@dataclass(frozen=True)
class NicState:
    """The adapters of one kind in a VM."""

    vm: Vm
    # Ordered by key.
    adapters: tuple[Adapter, ...] = ()
    # Number of adapters of any other kind.
    others: int = 0
    host: HostView | None = None


if TYPE_CHECKING:

    class Placed(NicState):
        """Adapters of a VM with a known host."""

        host: HostView


def state_of(row: Row, vm: Vm, place: Place | None, kind: str) -> NicState:
    """The state from the row of a VM and of its host."""
    cards = [
        device
        for device in row.get("config.hardware.device") or []
        if isinstance(device, vim.vm.device.VirtualEthernetCard)
    ]
    ours = [card for card in cards if kind_of(card) == kind]
    return NicState(
        vm=vm,
        adapters=tuple(sorted((adapter_of(card, vm.power == "on") for card in ours), key=lambda one: one.key)),
        others=len(cards) - len(ours),
        host=host_of(place),
    )


def kind_of(card: vim.vm.device.VirtualEthernetCard | None) -> str | None:
    """Which of our kinds an Ethernet card is; None for all others."""
    device = vim.vm.device
    # A PVRDMA adapter is a vmxnet3 adapter by its type, too.
    if isinstance(card, device.VirtualVmxnet3Vrdma):
        return PVRDMA
    if isinstance(card, device.VirtualVmxnet3):
        return VMXNET3
    return SRIOV if isinstance(card, device.VirtualSriovEthernetCard) else None


def host_of(place: Place | None) -> HostView | None:
    """Return the host of a placement."""
    if place is None:
        return None
    row = place.row
    info = row.get("config.network")
    return HostView(
        moid=place.moid,
        name=place.name,
        connected=place.connected,
        network=network.network_of(info),
        networks=frozenset(ref._GetMoId() for ref in row.get("network") or []),
        standard={group.spec.name: group.spec.vswitchName for group in (info.portgroup if info else None) or []},
        given=passthrough.devices_of(row.get("config.pciPassthruInfo")),
        options=row.get("configManager").advancedOption if row.get("configManager") else None,
        firewall={rule.key: bool(rule.enabled) for rule in _rulesets(row.get("config.firewall"))},
    )


def canonical_mac(text: str | None) -> str:
    """A MAC address as vSphere writes it."""
    return (text or "").strip().lower().replace("-", ":")


def is_reserved(mac: str) -> bool:
    """Return whether vSphere reserves an address for itself, and starts no VM that has it as a fixed one."""
    # Users may set only 00 to 3f of 00:50:56, and none of 00:0c:29 (VMware vSphere Troubleshooting, MAC address
    # conflict).
    return mac.startswith("00:0c:29:") or (mac.startswith("00:50:56:") and mac[9:11] > "3f")


def _rulesets(firewall: vim.host.FirewallInfo | None) -> list[vim.host.Ruleset]:
    return (firewall.ruleset if firewall else None) or []


def adapter_of(card: vim.vm.device.VirtualEthernetCard, running: bool) -> Adapter:
    """Return the settings of an Ethernet card."""
    connectable = card.connectable
    key, uuid = _network(card.backing)
    return Adapter(
        key=card.key,
        label=card.deviceInfo.label if card.deviceInfo else f"adapter {card.key}",
        network=key,
        switch_uuid=uuid,
        mac=canonical_mac(card.macAddress),
        mac_fixed=(card.addressType or "").lower() == FIXED,
        start_connected=bool(connectable.startConnected) if connectable else True,
        connected=(bool(connectable.connected) if connectable else True) if running else None,
        protocol=getattr(card, "deviceProtocol", None) or None,
        physical_function=_physical_function(card),
        guest_mtu_change=bool(getattr(card, "allowGuestOSMtuChange", False)),
        device=card,
    )


def _network(backing: vim.vm.device.VirtualDevice.BackingInfo | None) -> tuple[str, str]:
    cards = vim.vm.device.VirtualEthernetCard
    if isinstance(backing, cards.DistributedVirtualPortBackingInfo):
        return backing.port.portgroupKey or "", backing.port.switchUuid or ""
    if isinstance(backing, cards.NetworkBackingInfo):
        return moid_of(backing.network) or backing.deviceName or "", ""
    return "", ""


def _physical_function(card: vim.vm.device.VirtualEthernetCard) -> str | None:
    backing = getattr(card, "sriovBacking", None)
    function = backing.physicalFunctionBacking if backing is not None else None
    return (function.id or None) if function is not None else None
