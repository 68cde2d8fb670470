# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compare the RoCE QoS of switches, host adapters and guests; one sentence for each disagreement. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement import ends, hops, links, pairs, wanted
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.cabling import (
    cabling,
    find_port,
    owner_of,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.sides import ERROR, WARNING, Side
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.compare import ranged
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts import endpoint
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import intent as intent_of
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import natural
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import from_data

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.cabling import Cable, Link
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.sides import (
        Answer,
        Finding,
        Key,
        Place,
    )


# Longest list of port names in a sentence, in characters; longer lists are abbreviated.
LONG = 60


class Fabric:
    """All switches, hosts and guests that were read."""

    def __init__(
        self,
        switches: Iterable[Mapping[str, Any]],
        hosts: Iterable[Mapping[str, Any]],
        guests: Iterable[Mapping[str, Any]],
        cables: Sequence[Cable],
        intent: Mapping[str, Any] | None = None,
        listed: tuple[links.Names, links.Names] | None = None,
        portgroups: Iterable[str] = (),
    ) -> None:
        self._aliases: dict[str, str] = {}
        self._guests_on: dict[str, str] = {}
        self.sides: dict[Key, Side] = {}
        self.exceptions: list[Finding] = []
        self.unread: list[str] = []
        for data in switches:
            self._add_switch(data)
        guests = list(guests)
        for data in [*hosts, *guests]:
            self._add_host(data)
        cables = list(_to_guests(cables, guests))
        reported = {cable.get("host"): None for cable in cables}
        self._reported = {owner_of(self._aliases, name) or name for name in reported if name}
        self.cabling = cabling(self.sides, self._aliases, cables)
        self._linked = self._roce_links()
        self._data_path = set(portgroups)
        named = links.Listed(*(listed or ({}, {})), lambda owner, name: find_port(self.sides, owner, name))
        self._links, self._unknown_links = links.check(
            self.sides, self._linked, named, self._ends_of(cables), set(portgroups)
        )
        sides = self._of_roce()
        self.requested = wanted.of_fabric(sides) if intent is None else wanted.of_intent(intent_of(intent), sides)

    def disagreements(self) -> list[Finding]:
        """All disagreements, errors first."""
        found = list(self.cabling.findings) + self.exceptions + self._links
        marking = next((side for side in self._of_roce() if side.is_switch and self._does_mark(side)), None)
        for side in self._of_roce():
            found += self._of_side(side, marking)
        fastest = self._fastest()
        for link, one, other in self._linked:
            found += pairs.check(link, one, other, self.requested)
            found += pairs.speed(one, other, fastest)
        found += self._guests()
        return sorted(found, key=lambda one: (one["severity"] != ERROR, natural(one["msg"])))

    def not_known(self) -> list[str]:
        """Sentences about values that could not be checked; an unknown value never counts as correct."""
        found = [*self.unread, *self._unknown_values(), *self._unknown_ways(), *self._silent(), *self._unknown_links]
        return sorted(set(found), key=natural)

    def ends(self) -> list[dict[str, object]]:
        """The known and the unknown relevant settings of each port that RoCE passes."""
        return [
            {
                "name": side.owner,
                "port": side.name,
                "switch": side.is_switch,
                "known": [what for what in needed if what not in unknown],
                "unknown": [what for what in unknown if what not in unreported],
                "unreported": [what for what in unknown if what in unreported],
            }
            for side in self._of_roce()
            for needed, unknown, unreported in [(self._needed(side), self._unknown_of(side), side.unreported)]
        ]

    def paths(self, disagreements: Iterable[Finding]) -> list[dict[str, object]]:
        """Every cable that carries RoCE, with its source and whether its ends agree."""
        bad = {(end["name"], end["port"]) for one in disagreements if one["severity"] == ERROR for end in _ends(one)}
        return [
            {
                "a": {"name": link.a[0], "port": link.a[1]},
                "b": {"name": link.b[0], "port": link.b[1]},
                "known_from": sorted(link.sources),
                "agreed": not {link.a, link.b} & bad,
            }
            for link, _one, _other in sorted(self._linked, key=lambda entry: [natural(part) for part in entry[0].a])
        ]

    def _add_switch(self, data: Mapping[str, Any]) -> None:
        switch = from_data(data)
        owner = data.get("name") or switch.hostname or "switch"
        self._alias(owner, owner)
        self._alias(switch.hostname, owner)
        for name, port in switch.ports.items():
            neighbours = switch.neighbours.get(name) or []
            side = Side(owner, name, port, switch.oper.get(name), platform=switch.platform, neighbours=neighbours)
            self.sides[side.key] = side
        self.exceptions += [_exception(owner, sentence) for sentence in switch.exceptions]
        self.unread += [f"{owner}: {sentence}" for sentence in switch.unread]

    def _add_host(self, data: Mapping[str, Any]) -> None:
        owner = data.get("name") or "host"
        self._alias(owner, owner)
        if data.get("host"):
            self._guests_on[owner] = data["host"]
        for port in data.get("ports") or []:
            adapter = endpoint.from_data(dict(port, owner=owner))
            side = Side(owner, adapter.name, endpoint=adapter, neighbours=adapter.lldp or [])
            self.sides[side.key] = side
            self.unread += [f"{side.place}: {sentence}" for sentence in adapter.not_read]
        if data.get("not_read"):
            self.unread += [f"{owner}: {sentence}" for sentence in data["not_read"]]

    def _alias(self, name: str | None, owner: str) -> None:
        if name:
            self._aliases.setdefault(name.lower(), owner)

    def _ends_of(self, cables: Sequence[Cable]) -> set[Key | None]:
        """The keys of the ports that the list of cables names."""
        ends = [(cable.get("switch"), cable.get("port")) for cable in cables]
        ends += [(cable.get("peer"), cable.get("peer_port")) for cable in cables]
        ends += [(cable.get("host"), cable.get("nic")) for cable in cables]
        return {find_port(self.sides, owner_of(self._aliases, owner) or owner, name) for owner, name in ends if owner}

    def _roce_links(self) -> list[tuple[Link, Side, Side]]:
        """[(Link, Side, Side)] of the cables between switches, and to adapters that carry RoCE."""
        found = []
        for link in self.cabling.links:
            one, other = self.sides[link.a], self.sides[link.b]
            if all(side.is_switch or self._carries(side) for side in (one, other)):
                found.append((link, one, other))
        return found

    def _fastest(self) -> pairs.WithSpeed | None:
        """The host adapter with the highest known link speed."""
        hosts = [side for side in self._of_roce() if not side.is_switch and side.endpoint.kind == "esxi"]
        return max(
            cast("Iterator[pairs.WithSpeed]", (side for side in hosts if side.speed)),
            key=lambda side: side.speed,
            default=None,
        )

    def _carries(self, side: Side) -> bool:
        """Return whether RoCE uses an adapter: it has RDMA, PFC or a DSCP, or its owner is in the list of cables."""
        adapter = side.endpoint
        return bool(adapter.rdma or adapter.pfc or adapter.dscp is not None) or side.owner in self._reported

    def _is_beside(self, side: Side) -> bool:
        """Return whether a host adapter is outside the data path, such as a management adapter with an RDMA device.

        Only if another adapter of the host is known to be in it, by PVRDMA or a port group of the data path.
        """
        one = side.endpoint
        if side.is_switch or one.kind != "esxi" or one.pfc or one.dscp is not None:
            return False
        if side.owner in self._reported or any(side.key in (link.a, link.b) for link in self.cabling.links):
            return False
        mine = [other for other in self.sides.values() if other.owner == side.owner and not other.is_switch]
        used = [other.key for other in mine if links.in_use(other, self._data_path)]
        return bool(used) and side.key not in used

    def _of_roce(self) -> list[Side]:
        """The Sides that RoCE passes: both ends of its cables, adapters for it, and used ports with PFC."""
        linked = {key for link, _one, _other in self._linked for key in (link.a, link.b)}
        other_traffic = {key for link in self.cabling.links for key in (link.a, link.b)} - linked
        known = {owner for owner, _port in linked}
        found = []
        for key, side in self.sides.items():
            uses = self._may_carry(side, known) if side.is_switch else self._carries(side)
            if key in linked or (uses and key not in other_traffic):
                found.append(side)
        return found

    def _may_carry(self, side: Side, known: set[str]) -> bool:
        """Return whether to check a port whose peer is unknown; many switches enable PFC on unused ports too."""
        up = side.oper.up if side.oper is not None else None
        return bool(side.pfc) and (up is True or (up is None and side.owner not in known))

    def _peer(self, side: Side) -> Side | None:
        links = [link for link, _one, _other in self._linked if side.key in (link.a, link.b)]
        return self.sides[links[0].other(side.key)] if links else None

    def _of_side(self, side: Side, marking: Side | None) -> list[Finding]:
        peer = self._peer(side)
        if side.is_switch:
            return list(hops.check(side, self.requested, peer, marking if marking is not side else None))
        return list(ends.check(side, self.requested, peer, self._stamps_for(side)))

    def _does_mark(self, side: Side) -> bool:
        reported = hops.effect_of(side, self.requested)["ecn"]
        return reported is not None and bool(reported) and reported.get("mark") is not False

    def _hosts_of(self, side: Side) -> list[Side]:
        """The adapters of the ESXi host that a guest's adapter goes through."""
        host = owner_of(self._aliases, self._guests_on.get(side.owner))
        return [one for one in self._of_roce() if one.owner == host and not one.is_switch] if host else []

    def _stamps_for(self, side: Side) -> Side | None:
        """An adapter of the host that sets its own DSCP on packets of the guest."""
        return next((one for one in self._hosts_of(side) if one.endpoint.dscp is not None), None)

    def _guests(self) -> Iterator[Finding]:
        for side in self._of_roce():
            if side.owner in self._guests_on:
                for host in self._hosts_of(side):
                    yield from pairs.mtu(side, host, self.requested)

    def _unknown_of(self, side: Side) -> list[str]:
        if side.is_switch:
            return hops.unknown(side, self.requested)
        return ends.unknown(side, self.requested, side.owner in self._guests_on, self._stamps_for(side))

    def _needed(self, side: Side) -> list[str]:
        """All settings that unknown() may name."""
        if side.is_switch:
            return list(hops.needed(self.requested).values())
        return ends.needed(self.requested, side.owner in self._guests_on)

    def _unknown_values(self) -> list[str]:
        grouped: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for side in self._of_roce():
            reported = [] if self._is_beside(side) else self._unknown_of(side)
            if reported:
                grouped.setdefault((side.owner, tuple(reported)), []).append(side.name)
        return [
            f"{owner} {_in_short(names)} does not report {_listed(reported)}."
            for (owner, reported), names in grouped.items()
        ]

    def _silent(self) -> Iterator[str]:
        """Switches without a compared port; for these, no finding proves nothing."""
        compared = {side.owner for side in self._of_roce()}
        switches = {side.owner for side in self.sides.values() if side.is_switch}
        for owner in switches - compared:
            yield f"{owner}: no port was checked. No port has PFC or is on a known cable."

    def _unknown_ways(self) -> Iterator[str]:
        linked = {key for link in self.cabling.links for key in (link.a, link.b)}
        grouped: dict[tuple[str, str | None], list[str]] = {}
        for side in self.sides.values():
            unused = side.is_switch and (not side.pfc or (side.oper is not None and side.oper.up is False))
            concerns = not unused if side.is_switch else self._carries(side)
            if concerns and side.key not in linked and side.owner not in self._guests_on and not self._is_beside(side):
                stranger = self.cabling.strangers.get(side.key)
                grouped.setdefault((side.owner, stranger), []).append(side.name)
        for (owner, stranger), names in grouped.items():
            if stranger:
                yield f"{owner} {_in_short(names)} is connected to {stranger}, which was not read."
            else:
                why = "LLDP shows no neighbour, and no cable is listed"
                yield f"{owner} {_in_short(names)}: the other end is unknown. {why}."
        for guest, host in self._guests_on.items():
            if owner_of(self._aliases, host) is None:
                yield f"{guest} runs on {host}, which was not read."


def agree(
    switches: Iterable[Mapping[str, Any]],
    hosts: Iterable[Mapping[str, Any]] = (),
    guests: Iterable[Mapping[str, Any]] = (),
    cables: Sequence[Cable] = (),
    intent: Mapping[str, Any] | None = None,
    strict: bool = False,
    listed: tuple[links.Names, links.Names] | None = None,
    portgroups: Iterable[str] = (),
) -> Answer:
    """{agreed, disagreements, not_known, paths, ends, wanted}; strict: whether warnings count as disagreement too.

    listed: (ports to hosts, ports to switches) that the inventory names, each {switch: names}. portgroups: names of
    those of the data path.
    """
    fabric = Fabric(switches, hosts, guests, cables, intent, listed, portgroups)
    found = fabric.disagreements()
    counted = found if strict else [one for one in found if one["severity"] == ERROR]
    return {
        "agreed": not counted,
        "disagreements": found,
        "not_known": fabric.not_known(),
        "paths": fabric.paths(found),
        "ends": fabric.ends(),
        "wanted": wanted.as_data(fabric.requested),
    }


def summary(answer: Answer) -> list[str]:
    """The answer of agree() in lines for people: ports of a switch with the same problem share a line."""
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for one in answer["disagreements"]:
        place = f"{one['a']['name']} {one['a']['port']}"
        alone = one["b"] is not None or not one["msg"].startswith(place)
        what = ("", one["msg"]) if alone else (one["a"]["name"], one["msg"][len(place) :])
        grouped.setdefault((one["severity"], *what), []).append(one["a"]["port"])
    lines = [
        f"{severity:<8} {f'{owner} {_in_short(ports)}' if owner else ''}{rest}"
        for (severity, owner, rest), ports in grouped.items()
    ]
    return lines + [f"{'unknown':<8} {sentence}" for sentence in answer["not_known"]]


def _to_guests(cables: Iterable[Cable], guests: Iterable[Mapping[str, Any]]) -> Iterator[Cable]:
    """The cables, with the guest as the other end where it has the port in passthrough mode."""
    whole = {
        (data["direct"].get("host"), data["direct"].get("nic")): (str(data["name"]), str(data["ports"][0]["name"]))
        for data in guests
        # With several adapters, the one at this port is unknown.
        if data.get("direct") and len(data.get("ports") or []) == 1
    }
    for cable in cables:
        guest = whole.get((cable.get("host"), cable.get("nic")))
        yield cast("Cable", {**cable, "host": guest[0], "nic": guest[1]}) if guest else cable


def _exception(owner: str, sentence: str) -> Finding:
    return {
        "msg": f"{owner}: {sentence}",
        "code": "switch_exception",
        "severity": WARNING,
        "a": {"name": owner, "port": ""},
        "b": None,
        "key": "exceptions",
        "seen": {"a": sentence, "b": None},
        "breaks": sentence,
    }


def _ends(one: Finding) -> list[Place]:
    return [end for end in (one["a"], one["b"]) if end is not None]


def _in_short(names: Sequence[str]) -> str:
    """Names of ports, or their number if the names do not fit."""
    text = ranged(names)
    if len(text) <= LONG:
        return text
    ordered = sorted(names, key=natural)
    return f"{ordered[0]} to {ordered[-1]} ({len(ordered)} ports)"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
