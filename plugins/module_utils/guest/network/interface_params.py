# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Arguments of guest_interface, documented in the module; checks beyond a specification. Pure."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import adapter, services

SMALLEST_MTU, LARGEST_MTU = 576, 65535

ARGUMENTS = {
    "mac": {"type": "str"},
    "name": {"type": "str"},
    "mtu": {"type": "int"},
    "address": {"type": "str"},
    "backend": {"type": "str", "choices": ["auto", *services.KNOWN], "default": "auto"},
    "ping": {"type": "list", "elements": "str", "default": []},
    "wait_s": {"type": "int", "default": 10},
}


@dataclass(frozen=True)
class InterfaceRequest:
    """One adapter of a guest, found by its name or by its MAC address."""

    mac: str | None
    name: str | None
    # None keeps what the adapter has.
    mtu: int | None
    address: str | None
    backend: str
    ping: Sequence[str]
    wait_s: int


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters, as sentences."""
    found = []
    if params["mac"] is not None and adapter.mac_of(params["mac"]) is None:
        found.append(f"mac: {params['mac']} is not a MAC address. Write it as 00:50:56:12:34:56.")
    if params["name"] is not None and not params["name"].strip():
        found.append("name: it is empty. Name the adapter, or set mac.")
    if params["mtu"] is not None and not SMALLEST_MTU <= params["mtu"] <= LARGEST_MTU:
        found.append(f"mtu: {params['mtu']} is not a valid MTU. Use a number from {SMALLEST_MTU} to {LARGEST_MTU}.")
    if params["address"] is not None:
        found += _wrong_address(params["address"])
    for peer in params["ping"]:
        try:
            ipaddress.IPv4Address(peer)
        except ValueError:
            found.append(f"ping: {peer} is not an IPv4 address. List the data path addresses of the peers.")
    if params["wait_s"] < 1:
        found.append(f"wait_s: {params['wait_s']} is too short. Use 1 second or more.")
    return found


def _wrong_address(text: str) -> list[str]:
    try:
        address = ipaddress.IPv4Interface(text)
    except ValueError:
        return [f"address: {text} is not an IPv4 address with a prefix. Write it as 192.168.50.11/24."]
    if "/" not in text:
        return [f"address: {text} has no prefix. Write it as {text}/24, with the prefix of its network."]
    net = address.network
    if net.prefixlen < 31 and address.ip in (net.network_address, net.broadcast_address):
        return [f"address: {text} is the network or broadcast address. Use an address between them."]
    if address.ip.is_multicast or address.ip.is_loopback or address.ip.is_unspecified:
        return [f"address: {text} is not valid for an adapter. Use an address of the data path network."]
    return []
