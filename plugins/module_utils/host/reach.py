# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Check whether addresses of one data path can reach each other: VLAN, subnet, duplicates. Pure.

PVRDMA connects between VMkernel adapters. If these do not reach each other, it silently uses TCP.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from dataclasses import dataclass
from typing import Callable, Hashable, Iterable, Sequence

NO_ADDRESS, VLAN, SUBNET, DUPLICATE = "no_address", "vlan_differs", "subnet_differs", "duplicate_address"


@dataclass(frozen=True)
class End:
    """An adapter with its address. vlan is None if it is unknown."""

    owner: str
    device: str
    ip: str = ""
    netmask: str = ""  # 255.255.0.0, or the length of the prefix
    vlan: int | None = None
    portgroup: str = ""

    @property
    def place(self) -> str:
        return f"{self.owner} {self.device}"

    @property
    def network(self) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
        """Its subnet; None without an address or mask."""
        try:
            return ipaddress.ip_interface(f"{self.ip}/{self.netmask}").network if self.addressed else None
        except ValueError:
            return None

    @property
    def addressed(self) -> bool:
        return self.ip not in ("", "0.0.0.0") and self.netmask not in ("", "0.0.0.0")


@dataclass(frozen=True)
class Trouble:
    """One reason why an end does not reach the others. says and other_says follow the order of end and other."""

    code: str
    end: End
    says: str
    other: End | None = None
    other_says: str = ""

    @property
    def text(self) -> str:
        second = f", while {self.other.place} {self.other_says}" if self.other is not None else ""
        return f"{self.end.place} {self.says}{second}"


def troubles(ends: Sequence[End]) -> list[Trouble]:
    """Return all reasons; the value of most ends is right, and among equal numbers that of the first end."""
    found = [Trouble(NO_ADDRESS, end, "has no address") for end in ends if not end.addressed]
    found += _unlike(ends, VLAN, lambda end: end.vlan, _vlan)
    found += _unlike(ends, SUBNET, lambda end: end.network, lambda end: f"is in the subnet {end.network}")
    return found + duplicates(ends)


def duplicates(ends: Iterable[End]) -> list[Trouble]:
    """Addresses that several ends have in VLANs that are one, or not known."""
    first: dict[str, list[End]]
    found, first = [], {}
    for end in ends:
        if not end.addressed:
            continue
        for other in first.setdefault(end.ip, []):
            if None in (end.vlan, other.vlan) or end.vlan == other.vlan:
                found.append(Trouble(DUPLICATE, end, f"has the address {end.ip}", other, "has it too"))
                break
        first[end.ip].append(end)
    return found


def _unlike(
    ends: Iterable[End], code: str, key: Callable[[End], Hashable], says: Callable[[End], str]
) -> list[Trouble]:
    known = [end for end in ends if key(end) is not None]
    counted = Counter(key(end) for end in known)
    if len(counted) < 2:
        return []
    usual = max(known, key=lambda end: counted[key(end)])  # the first of those with the most
    return [Trouble(code, end, says(end), usual, says(usual)) for end in known if key(end) != key(usual)]


def _vlan(end: End) -> str:
    group = f" ({end.portgroup})" if end.portgroup else ""
    return f"is in VLAN {end.vlan}{group}" if end.vlan else f"is in no VLAN{group}"
