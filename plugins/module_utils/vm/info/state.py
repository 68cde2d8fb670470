# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Guest data that vCenter reports: adapters with their addresses, GPUs, and the connection address. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Iterable, Iterator, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.host import pci
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import escapes
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic import state as nics
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.place import moid_of
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.power import guest as guests
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.read import direct_of

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.find import Found
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.state import Direct

PROPERTIES = (
    *guests.PROPERTIES,
    "config.hardware.device",
    "config.instanceUuid",
    "guest.guestFullName",
    "guest.hostName",
    "runtime.host",
)
PASSTHROUGH, OTHER = "passthrough", "other"
# Adapters that training uses; the others are for everything else, Ansible included.
DATA_KINDS = (nics.PVRDMA, nics.SRIOV, PASSTHROUGH)


@dataclass(frozen=True)
class Adapter:
    """One network adapter of a VM, with the data that its guest reports."""

    label: str
    kind: str
    # For a passthrough port, only the guest reports these.
    mac: str | None = None
    network: str | None = None
    connected: bool | None = None
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True)
class GuestState:
    """A VM with its guest, from outside."""

    guest: guests.Guest
    instance_uuid: str | None = None
    guest_name: str | None = None
    guest_os: str | None = None
    adapters: tuple[Adapter, ...] = ()
    profiles: tuple[str, ...] = ()
    gpus: int = 0
    host: str | None = None


def state_of(row: Row, networks: Mapping[str, str]) -> GuestState:
    """The state from the row of a VM; networks are names by the key that a backing has."""
    devices = row.get("config.hardware.device") or []
    seen = guests.guest_of(row)
    running = seen.power == "on"
    cards = [nics.adapter_of(one, running) for one in devices if isinstance(one, vim.vm.device.VirtualEthernetCard)]
    direct = [one for one in map(direct_of, devices) if one is not None]
    return GuestState(
        guest=seen,
        instance_uuid=row.get("config.instanceUuid"),
        guest_name=(row.get("guest.hostName") or None) if running else None,
        guest_os=(row.get("guest.guestFullName") or None) if running else None,
        adapters=(*_cards(cards, seen, networks), *_ports(direct, seen)),
        profiles=tuple(sorted(one.name for one in direct if one.kind == "vgpu")),
        gpus=len([one for one in direct if one.kind == "vgpu" or _is_of(one, pci.NVIDIA)]),
        host=moid_of(row.get("runtime.host")),
    )


def names_of(rows: Iterable[Row]) -> dict[str, str]:
    """{key of a backing: name} of the networks among these rows."""
    found: dict[str, str] = {}
    for row in rows:
        if row.kind not in ("VirtualMachine", "HostSystem"):
            # A distributed port group is named by its key, any other network by its MoID.
            found[row.get("key") or row.moid] = escapes.unescaped(row.get("name") or row.moid)
    return found


def address_of(
    state: GuestState, address_network: str | None = None, data_network: str | None = None
) -> tuple[str | None, str]:
    """Return (the address to reach a guest by, or None, and then the reason)."""
    reported = f"{guests.reported(state.guest)}."
    if state.guest.power != "on" or not state.guest.tools:
        return None, reported
    if address_network:
        candidates = [one for one in state.adapters if escapes.same_name(one.network or "", address_network)]
        if not candidates:
            there = ", ".join(sorted({one.network for one in state.adapters if one.network})) or "none"
            return None, f"The VM has no adapter on {address_network}; its networks are: {there}."
    else:
        candidates = [one for one in state.adapters if not _carries_data(one, data_network)] or list(state.adapters)
    address = next((text for one in candidates for text in one.addresses), None)
    if address is None and not state.adapters:
        address = state.guest.address
    return (address, "") if address else (None, reported)


def project(
    state: GuestState,
    found: Found,
    host: Mapping[str, object] | None,
    address_network: str | None = None,
    data_network: str | None = None,
) -> dict[str, object]:
    """Return the report on a VM for the user; host is the known data of its host, or None."""
    address, why = address_of(state, address_network, data_network)
    return {
        "name": found.name,
        "moid": found.moid,
        "path": found.path,
        "instance_uuid": state.instance_uuid,
        "power": state.guest.power,
        "tools": state.guest.tools,
        "guest_name": state.guest_name,
        "guest_os": state.guest_os,
        "address": address,
        "why_no_address": why,
        "adapters": [
            {
                "label": one.label,
                "kind": one.kind,
                "mac": one.mac,
                "network": one.network,
                "connected": one.connected,
                "addresses": list(one.addresses),
            }
            for one in state.adapters
        ],
        "profiles": list(state.profiles),
        "gpus": state.gpus,
        "host": host,
    }


def _cards(cards: Iterable[nics.Adapter], seen: guests.Guest, networks: Mapping[str, str]) -> Iterator[Adapter]:
    """The Ethernet cards in their order, with the addresses that the guest reports for their MAC addresses."""
    by_mac = {nic.mac: nic.addresses for nic in seen.nics if nic.own}
    for card in sorted(cards, key=lambda one: one.key):
        yield Adapter(
            label=card.label,
            kind=nics.kind_of(card.device) or OTHER,
            mac=card.mac or None,
            network=networks.get(card.network, card.network or None),
            connected=card.connected,
            addresses=_usable(by_mac.get(card.mac, ())),
        )


def _ports(direct: Iterable[Direct], seen: guests.Guest) -> Iterator[Adapter]:
    """Yield ports in passthrough mode. vCenter does not report which adapter of the guest is which port. The process of
    elimination finds it: the adapter is none of the VM's cards, and its MAC address has a vendor prefix."""
    ports = [one for one in direct if one.kind == "pci" and _is_of(one, pci.MELLANOX)]
    others = sorted((nic for nic in seen.nics if not nic.own and _is_made(nic.mac)), key=lambda nic: nic.mac)
    known: Sequence[guests.Nic | None] = others if len(others) == len(ports) else [None] * len(ports)
    for port, nic in zip(sorted(ports, key=lambda one: one.key), known):
        shown = port.device.deviceInfo if port.device is not None else None
        label = shown.label if shown else port.name
        yield (
            Adapter(label=label, kind=PASSTHROUGH)
            if nic is None
            else Adapter(label=label, kind=PASSTHROUGH, mac=nic.mac, connected=True, addresses=_usable(nic.addresses))
        )


def _is_of(device: Direct, vendor: int) -> bool:
    """Return whether a passthrough device has this vendor, or can only have this vendor."""
    return bool(device.ids) and all(found == vendor for found, dummy in device.ids)


def _is_made(mac: str) -> bool:
    """Return whether a MAC address has a vendor prefix: bridges and tunnels of the guest have the local bit set."""
    return bool(mac) and not int(mac[:2], 16) & 2


def _carries_data(adapter: Adapter, data_network: str | None) -> bool:
    on_data = bool(data_network) and escapes.same_name(adapter.network or "", cast(str, data_network))
    return adapter.kind in DATA_KINDS or on_data


def _usable(addresses: Iterable[str]) -> tuple[str, ...]:
    """Addresses that others can reach, in their order: IPv4 first."""
    return tuple(filter(guests.is_usable, addresses))
