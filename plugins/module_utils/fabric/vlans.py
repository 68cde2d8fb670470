# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""VLANs and administrative state of switch ports, from lines that several platforms share. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, Iterable, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import numbers, tree

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Port


ACCESS, TRUNK, ROUTED = "access", "trunk", "routed"
FIRST, LAST = 1, 4094
EVERY = frozenset(range(FIRST, LAST + 1))


@dataclass
class Switching:
    """Settings in the lines of one port. None: not set, or not reported."""

    mode: str | None = None
    access: int | None = None
    native: int | None = None
    allowed: frozenset[int] | None = None
    member: str | None = None  # number of the port channel whose VLANs it has
    enabled: bool | None = None
    routed: bool = False  # a routed port may keep VLAN lines, which have no effect
    reported: bool = False  # whether any line is about VLANs

    def take(self, text: str) -> None:
        """Apply one line below an interface."""
        words = text.lower()
        if words in ("shutdown", "no shutdown"):
            self.enabled = words.startswith("no ")
        elif re.fullmatch(r"(?:mlag-)?channel-group \d+.*", words):
            self.member = words.split()[1]
        elif re.fullmatch(r"no switchport(?: force)?", words):
            self.mode, self.reported, self.routed = ROUTED, True, True
        elif words.startswith("switchport"):
            self._switchport(words)

    def _switchport(self, words: str) -> None:
        self.reported = True
        if words == "switchport" and self.routed:
            self.mode, self.routed = None, False
        mode = re.fullmatch(r"switchport mode (\S+)", words)
        if mode and not self.routed:
            self.mode = {ACCESS: ACCESS, "access-dcb": ACCESS, TRUNK: TRUNK, "hybrid": "hybrid"}.get(mode.group(1))
        one = re.fullmatch(r"switchport (access|trunk native) vlan (\d+)", words)
        if one:
            setattr(self, one.group(1).split()[-1], int(one.group(2)))
        many = re.fullmatch(
            r"switchport (?:trunk|hybrid) allowed[ -]vlan(?: (add|remove|except))? (all|none|[\d ,-]+)", words
        )
        if many:
            self.allowed = allowed_after(self.allowed, many.group(1), many.group(2))


def allowed_after(before: frozenset[int] | None, how: str | None, text: str) -> frozenset[int]:
    """The allowed VLANs after one line; a list may continue over several lines."""
    reported = EVERY if text == "all" else frozenset() if text == "none" else frozenset(numbers(text))
    if how == "except":
        return EVERY - reported
    if how == "remove":
        return (EVERY if before is None else before) - reported
    return reported if how is None else (before or frozenset()) | reported


def settle(
    port: Port, one: Switching, existing: set[int] | None = None, native: int | None = 1, every: bool = True
) -> None:
    """Put the settings of lines into a state.Port.

    existing: the VLANs of the switch, None if not reported. native: the VLAN of untagged packets of a trunk without
    one. every: whether a trunk without a list allows all VLANs.
    """
    port.enabled = one.enabled
    port.vlan_mode = TRUNK if one.mode == "hybrid" else one.mode
    if port.vlan_mode not in (ACCESS, TRUNK):
        return
    if one.mode == ACCESS:
        _put(port, one.access or FIRST, frozenset(), existing)
        return
    allowed = (EVERY if every else frozenset()) if one.allowed is None else one.allowed
    untagged = one.native or native
    _put(port, untagged if untagged in allowed or not every else None, allowed, existing)


def _put(port: Port, untagged: int | None, tagged: frozenset[int], existing: set[int] | None) -> None:
    there = EVERY if existing is None else frozenset(existing)
    port.untagged = untagged if untagged in there else None
    port.tagged = spelled((tagged & there) - {cast("int", port.untagged)})


def put(port: Port, mode: str, untagged: int | None = None, tagged: frozenset[int] = frozenset()) -> None:
    """Put the settings of a database into a state.Port."""
    port.vlan_mode = mode
    if mode != ROUTED:
        port.untagged, port.tagged = untagged, spelled(tagged - {cast("int", untagged)})


def existing(lines: Iterable[str], pattern: str) -> set[int]:
    """The VLANs that lines create, with VLAN 1, which always exists."""
    found = {FIRST}
    for text in lines:
        match = re.fullmatch(pattern, text)
        found.update(numbers(match.group(1)) if match else ())
    return found


def by_port(text: str, head: str, named: Callable[[str], Iterable[str]]) -> dict[str, Switching]:
    """{port: Switching} of a configuration; head: pattern of the line above a port's, named: f(its name) -> ports."""
    found: dict[str, Switching] = {}
    for line in tree(text).children:
        match = re.fullmatch(head, line.text, re.IGNORECASE)
        for name in named(match.group(1)) if match else ():
            one = found.setdefault(name, Switching())
            for child in line.children:
                one.take(child.text)
    return found


def spelled(values: Iterable[int]) -> str:
    """'111,200-299' of numbers; '' of none."""
    runs: list[list[int]] = []
    for value in sorted(values):
        if runs and runs[-1][1] + 1 == value:
            runs[-1][1] = value
        else:
            runs.append([value, value])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def carries(port: Port, vlan: int) -> bool | None:
    """Return whether a port carries packets with the tag of a VLAN, 0 for untagged; None: not reported."""
    if port.vlan_mode is None:
        return None
    if port.vlan_mode == ROUTED:
        return False
    return port.untagged is not None if vlan == 0 else vlan in numbers(port.tagged)
