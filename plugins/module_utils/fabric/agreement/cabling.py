# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Cabling from LLDP of either end, or else from the list of cables. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Iterable, Mapping, TypedDict, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.sides import WARNING, finding

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.sides import Finding, Key, Side
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Neighbour

    class Cable(TypedDict, total=False):
        """A listed cable, by the options of roce_agreement_info."""

        switch: str
        port: str
        host: str | None
        nic: str | None
        peer: str | None
        peer_port: str | None
        length_m: int | None


LLDP, GIVEN = "lldp", "given"
_NAME = re.compile(r"([a-z]*)[\s_-]*(\d.*)?", re.IGNORECASE)


@dataclass
class Link:
    """A cable. a and b are keys of Sides."""

    a: Key
    b: Key
    sources: list[str] = field(default_factory=list)
    length_m: int | None = None

    def other(self, key: Key) -> Key:
        return self.b if key == self.a else self.a


@dataclass
class Cabling:
    """All cables between ends that were read, and findings about them."""

    links: list[Link] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    strangers: dict[Key, str] = field(default_factory=dict)  # {key of a Side: name of a system that was not read}

    def of(self, key: Key) -> list[Link]:
        return [link for link in self.links if key in (link.a, link.b)]


def cabling(sides: Mapping[Key, Side], aliases: Mapping[str, str], given: Iterable[Cable]) -> Cabling:
    """The Cabling of {key: Side}; aliases: {name of a system in small letters: owner}."""
    found = Cabling()
    for side in sides.values():
        for neighbour in side.neighbours:
            owner = owner_of(aliases, neighbour.system)
            key = owner and _port_of(sides, owner, neighbour)
            if key:
                _add(found, side.key, key, LLDP)
            elif owner is None and neighbour.system:
                found.strangers[side.key] = neighbour.system
    for cable in given:
        _given(found, sides, aliases, cable)
    _two_peers(found, sides)
    return found


def owner_of(aliases: Mapping[str, str], name: str | None) -> str | None:
    """The owner with this system name; the name without its domain also matches if it is unique."""
    lowered = (name or "").lower()
    if lowered in aliases:
        return aliases[lowered]
    short = lowered.partition(".")[0]
    near = {owner for alias, owner in aliases.items() if short and alias.partition(".")[0] == short}
    return near.pop() if len(near) == 1 else None


def same_port(one: str, other: str) -> bool:
    """Return whether two spellings mean one port: Eth1/1, Ethernet1/1, ethernet 1/1."""
    left, right = _NAME.fullmatch(one.strip()), _NAME.fullmatch(other.strip())
    if not left or not right:
        return one.strip().lower() == other.strip().lower()
    (kind, number), (other_kind, other_number) = left.groups(), right.groups()
    kind, other_kind = kind.lower(), other_kind.lower()
    return number == other_number and (kind.startswith(other_kind) or other_kind.startswith(kind))


def find_port(sides: Mapping[Key, Side], owner: str, name: str | None) -> Key | None:
    """The key of a port by any spelling of its name; None if the owner has no such port."""
    if not name:
        return None
    if (owner, name) in sides:
        return (owner, name)
    return next((key for key in sides if key[0] == owner and same_port(key[1], name)), None)


def _port_of(sides: Mapping[Key, Side], owner: str, neighbour: Neighbour) -> Key | None:
    """ESXi puts the name of the adapter into the chassis or the description, and its address into the port."""
    reported = [neighbour.port, neighbour.chassis, neighbour.description]
    reported += (neighbour.description or "").split()
    return next((key for key in (find_port(sides, owner, one) for one in reported) if key), None)


def _add(found: Cabling, one: Key, other: Key, source: str, length: int | None = None) -> None:
    link = next((link for link in found.of(one) if link.other(one) == other), None)
    if link is None:
        link = Link(*cast("tuple[Key, Key]", sorted((one, other))))
        found.links.append(link)
    if source not in link.sources:
        link.sources.append(source)
    link.length_m = length or link.length_m


def _given(found: Cabling, sides: Mapping[Key, Side], aliases: Mapping[str, str], cable: Cable) -> None:
    ends = [(cable.get("switch"), cable.get("port"))]
    ends.append((cable["host"], cable.get("nic")) if cable.get("host") else (cable.get("peer"), cable.get("peer_port")))
    keys = [find_port(sides, cast("str", owner_of(aliases, owner) or owner), name) for owner, name in ends]
    if None in keys:
        for key, (owner, name) in zip(reversed(keys), ends):
            if key is not None:
                found.strangers.setdefault(key, f"{owner} {name}")
        return
    one, other = cast("list[Key]", keys)
    seen = [link for key in cast("list[Key]", keys) for link in found.of(key) if LLDP in link.sources]
    if seen and not any({link.a, link.b} == {one, other} for link in seen):
        found.findings.append(_elsewhere(sides, seen[0], one, other))
        return
    _add(found, one, other, GIVEN, cable.get("length_m"))


def _elsewhere(sides: Mapping[Key, Side], link: Link, one: Key, other: Key) -> Finding:
    key = one if one in (link.a, link.b) else other
    meant, seen = sides[other if key == one else one], sides[link.other(key)]
    return finding(
        "cable_elsewhere",
        WARNING,
        sides[key],
        f"is connected to {seen.place} according to LLDP",
        f"the listed cable to {meant.place} is plugged in elsewhere, so the check followed another path",
        "cable",
        seen.place,
        "the list of cables",
        f"names {meant.place}",
        meant.place,
    )


def _two_peers(found: Cabling, sides: Mapping[Key, Side]) -> None:
    for side in sides.values():
        chassis = {one.chassis or one.system for one in side.neighbours}
        if len(side.neighbours) > 1:
            found.findings.append(
                finding(
                    "two_lldp_agents",
                    WARNING,
                    side,
                    f"has {len(side.neighbours)} LLDP neighbours ({', '.join(sorted(map(str, chassis)))})",
                    "two LLDP agents send on this cable, such as the adapter firmware and an operating system service; "
                    "PFC turns off when the wrong agent sends last",
                    "lldp",
                    sorted(map(str, chassis)),
                )
            )
