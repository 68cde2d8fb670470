# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The switch ports on the paths of a run: all shortest paths between the hosts of its guests. Pure.

Switches distribute flows over paths of the same length (ECMP). Ports at the same position of such paths are one hop:
traffic that one of them does not carry uses another one.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import listing, mapping

if TYPE_CHECKING:
    Link = tuple[tuple[Any, Any], tuple[Any, Any]]


def of(paths: Any, hosts: Mapping[str, Mapping[str, Any]], others: Any = ()) -> list[dict[str, Any]]:
    """[{between: [guest, guest], ports: [{switch, port}]}], each set of ports once.

    paths are the cables of roce_agreement_info, others its ends, which identify hosts outside the run. hosts is
    {guest: {host, nic}}; without a nic, all cables of the host count.
    """
    ends: set[Any]
    links: list[Link]
    links, ends = [], {mapping(one).get("host") for one in mapping(hosts).values()}
    ends.update(one.get("name") for one in map(mapping, listing(others)) if not one.get("switch"))
    other: Any
    for path in listing(paths):
        one, other = ((mapping(path.get(side)).get("name"), mapping(path.get(side)).get("port")) for side in "ab")
        links += [(one, other), (other, one)]
    guests = [name for name, one in mapping(hosts).items() if mapping(one).get("host")]
    steps = {name: _steps(links, hosts[name], ends) for name in guests}
    found: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for position, name in enumerate(guests):
        for other in guests[position + 1 :]:
            for ports in _between(links, steps[name], steps[other], hosts[name], hosts[other], ends):
                found.setdefault(ports, [name, other])
    return [
        {"between": pair, "ports": [{"switch": switch, "port": port} for switch, port in ports]}
        for ports, pair in found.items()
    ]


def _steps(links: Sequence[Link], place: Mapping[str, Any], hosts: set[str]) -> dict[str, int]:
    """{system: number of cables to a host}; no path uses another host."""
    first = place["host"]
    steps, queue = {first: 0}, deque([first])
    while queue:
        here = queue.popleft()
        for (owner, port), (peer, _port) in links:
            through = here == first or here not in hosts
            mine = here != first or not place.get("nic") or port == place["nic"]
            if owner == here and through and mine and peer not in steps:
                steps[peer] = steps[here] + 1
                queue.append(peer)
    return steps


def _between(
    links: Sequence[Link],
    steps: Mapping[str, int],
    back: Mapping[str, int],
    place: Mapping[str, Any],
    other: Mapping[str, Any],
    hosts: set[str],
) -> list[tuple[tuple[str, str], ...]]:
    """The hops of all shortest paths between two hosts: sets of (switch, port), two for each switch."""
    first, last = place["host"], other["host"]
    # The last step must reach the adapter of the guest.
    arrive = [steps[peer] + back[peer] for peer in steps if peer in back and peer not in hosts]
    hops: dict[tuple[int, str], set[tuple[str, str]]] = {}
    if first == last or not arrive:
        return []
    length = min(arrive)
    for (owner, port), (peer, peer_port) in links:
        on_way = owner in steps and peer in back and steps[owner] + 1 + back[peer] == length
        # No path uses another host.
        if (owner in hosts and owner != first) or (peer in hosts and peer != last):
            continue
        if not on_way or (owner == first and place.get("nic") not in (None, "", port)):
            continue
        if peer == last and other.get("nic") not in (None, "", peer_port):
            continue
        if owner != first:
            hops.setdefault((steps[owner], "leaves"), set()).add((owner, port))
        if peer != last:
            hops.setdefault((steps[owner] + 1, "enters"), set()).add((peer, peer_port))
    return [tuple(sorted(hops[key])) for key in sorted(hops)]
