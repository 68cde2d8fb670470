# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Guest data through VMware Tools: whether the guest is up, and the addresses of its adapters."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import POWER

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row

PROPERTIES = ("guest.ipAddress", "guest.net", "guest.toolsRunningStatus", "runtime.powerState")


@dataclass(frozen=True)
class Nic:
    """A network adapter as the guest sees it. own: an adapter of the VM, and no bridge or tunnel of the guest."""

    mac: str
    network: str | None
    addresses: tuple[str, ...]
    own: bool


@dataclass(frozen=True)
class Guest:
    """A guest at one moment."""

    power: str = "off"
    tools: bool = False
    nics: tuple[Nic, ...] = ()
    address: str | None = None

    def has(self, wait_for: str) -> bool:
        """Return whether the guest has reached the state to wait for."""
        if wait_for == "tools":
            return self.tools
        return wait_for == "none" or self.address is not None


def guest_of(row: Row) -> Guest:
    """Return the guest data in the row of a VM."""
    power = POWER.get(str(row.get("runtime.powerState")), "off")
    if power != "on":
        # vCenter keeps the last report of the guest for a while.
        return Guest(power)
    nics = tuple(_nic(entry) for entry in row.get("guest.net") or ())
    tools = row.get("guest.toolsRunningStatus") == "guestToolsRunning"
    return Guest(power, tools, nics, _address(row.get("guest.ipAddress"), nics) if tools else None)


def project(guest: Guest) -> list[dict[str, object]]:
    """The addresses as the user sees them: those of the VM's adapters by MAC address, of the others none."""
    return [{"mac": nic.mac, "network": nic.network, "addresses": list(nic.addresses)} for nic in _own(guest.nics)]


def reported(guest: Guest) -> str:
    """Return the present state of a guest as a sentence."""
    if guest.power != "on":
        return f"The VM is {guest.power}"
    tools = "VMware Tools run in the guest" if guest.tools else "VMware Tools do not run in the guest"
    if not guest.nics:
        return f"{tools}, and it reports no network adapter"
    nics = [f"{nic.mac} ({nic.network or 'no network'}): {', '.join(nic.addresses) or 'none'}" for nic in guest.nics]
    return f"{tools}, and its addresses are {'; '.join(nics)}"


def _nic(entry: vim.vm.GuestInfo.NicInfo) -> Nic:
    return Nic(
        mac=(entry.macAddress or "").lower(),
        network=entry.network or None,
        addresses=tuple(sorted(filter(_is_address, entry.ipAddress or ()), key=_order)),
        own=entry.deviceConfigId is not None and entry.deviceConfigId > 0,
    )


def _own(nics: Sequence[Nic]) -> list[Nic]:
    """Passthrough adapters have no device key either; without other adapters, they count."""
    return [nic for nic in nics if nic.own] or list(nics)


def _address(reported_first: str | None, nics: Sequence[Nic]) -> str | None:
    """Return the address of the guest: the one that vCenter shows, if it is on an adapter of the VM and usable."""
    usable = [text for nic in _own(nics) for text in nic.addresses if is_usable(text)]
    if reported_first in usable:
        return reported_first
    if usable:
        return min(usable, key=_order)
    return reported_first if not nics and is_usable(reported_first) else None


def _is_address(text: str) -> bool:
    """Return whether a guest reports a plain IP address. Python accepts any text after `%`, and it would reach command
    lines."""
    try:
        return "%" not in text and bool(ipaddress.ip_address(text))
    except ValueError:
        return False


def is_usable(text: str | None) -> bool:
    """Return whether others can reach this address: no loopback, no link-local address of the guest."""
    if not text or not _is_address(text):
        return False
    address = ipaddress.ip_address(text)
    return not (address.is_link_local or address.is_loopback or address.is_unspecified or address.is_multicast)


def _order(text: str) -> tuple[bool, str]:
    """IPv4 first, then as written."""
    return (":" in text, text)
