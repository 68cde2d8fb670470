# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The order in which drivers of hosts and guests change, so that each pair is allowed at each moment. Pure."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import matrix
from ansible_collections.aiready.vsphere.plugins.plugin_utils.upgrade.fleet import branch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ansible_collections.aiready.vsphere.plugins.plugin_utils.upgrade.fleet import Fleet

HOSTS, GUESTS = "hosts", "guests"
ORDERS = ((HOSTS, GUESTS), (GUESTS, HOSTS))


class Pair(NamedTuple):
    """A pair of drivers that is not allowed: the step after which it exists, both drivers, the rule and the reason."""

    after: str
    host: str
    guest: str
    rule: str
    reason: str


def broken(fleet: Fleet, order: Sequence[str]) -> Pair | None:
    """The first pair that is not allowed during an upgrade in this order; None if each pair is allowed.

    A VM may run on any host at any time, so each guest is compared with each host.
    """
    hosts = {host.now for host in fleet.hosts if host.now}
    guests = {guest.now for guest in fleet.guests if guest.now}
    found = _broken("now", hosts, guests)
    for part in order:
        if found is not None:
            return found
        if part == HOSTS:
            # Hosts with the old and the new driver run side by side between the waves.
            coming = {host.target for host in fleet.hosts if host.target}
            found = _broken(HOSTS, hosts | coming, guests)
            hosts = coming
        elif fleet.guest_target:
            found = _broken(GUESTS, hosts, guests | {fleet.guest_target})
            guests = {fleet.guest_target}
    return found


def route(host: str, guest: str, host_target: str, guest_target: str) -> list[tuple[str, int]]:
    """The shortest sequence of upgrades between two pairs of known branches, as [(hosts or guests, branch)]."""
    begin = (branch(host), branch(guest))
    end = (branch(host_target), branch(guest_target))
    known = sorted({one.number for one in matrix.BRANCHES} | set(end))
    came: dict[tuple[int, int], tuple[tuple[int, int], str]] = {}
    waiting, seen = deque([begin]), {begin}
    while waiting:
        at = waiting.popleft()
        if at == end:
            return _back(at, begin, came)
        ways = [((number, at[1]), HOSTS) for number in known if at[0] < number <= end[0]]
        ways += [((at[0], number), GUESTS) for number in known if at[1] < number <= end[1]]
        for to, part in ways:
            if to not in seen and matrix.guest_allowed(f"{to[0]}.0", f"{to[1]}.0").allowed:
                seen.add(to)
                came[to] = (at, part)
                waiting.append(to)
    return []


def _back(
    at: tuple[int, int], begin: tuple[int, int], came: dict[tuple[int, int], tuple[tuple[int, int], str]]
) -> list[tuple[str, int]]:
    steps = []
    while at != begin:
        before, part = came[at]
        steps.append((part, at[0] if part == HOSTS else at[1]))
        at = before
    return steps[::-1]


def _broken(after: str, hosts: set[str], guests: set[str]) -> Pair | None:
    for host in sorted(hosts):
        for guest in sorted(guests):
            verdict = matrix.guest_allowed(host, guest)
            if not verdict.allowed:
                return Pair(after, host, guest, verdict.rule, verdict.reason)
    return None
