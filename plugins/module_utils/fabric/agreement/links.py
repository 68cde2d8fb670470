# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Findings about links, VLANs and addresses, which must form one network in the data path. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Callable, Container, Dict, Iterable, Iterator, Mapping, Sequence, Tuple, Union

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import vlans
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.sides import ERROR, finding
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.params import expanded
from ansible_collections.aiready.vsphere.plugins.module_utils.host import reach

if TYPE_CHECKING:
    import ipaddress

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.cabling import Link
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.sides import Finding, Key, Side
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Port

    Names = Mapping[str, Union[Sequence[str], None]]  # {switch: names of ports}
    Linked = Sequence[Tuple[Link, Side, Side]]
    Untagged = Tuple[Side, Side, Sequence[str]]  # (switch, host, senders of untagged packets)
    Network = Union[ipaddress.IPv4Network, ipaddress.IPv6Network]
    Rows = Dict[Tuple[str, str, str], Tuple[reach.End, Side]]


NOBODY = "no RoCE packet passes it"
FALLS_BACK = "PVRDMA falls back to TCP without an error"
BREAKS = {
    reach.NO_ADDRESS: FALLS_BACK,
    reach.VLAN: f"they cannot reach each other, and {FALLS_BACK}",
    reach.SUBNET: f"they cannot reach each other, and {FALLS_BACK}",
    reach.DUPLICATE: "packets for one of them go to the other",
}


class Listed:
    """The ports that the inventory names, as {switch: names} for each role; a name may be a range."""

    def __init__(self, host_ports: Names, fabric_ports: Names, find: Callable[[str, str], Key | None]) -> None:
        self._roles: dict[Key, str] = {}
        for role, ports in (("fabric", fabric_ports), ("host", host_ports)):
            for owner, names in ports.items():
                for name in expanded(names or []):
                    self._roles[find(owner, name) or (owner, name)] = role
        self._owners = {owner for owner, _name in self._roles}

    def role(self, key: Key) -> str | None:
        return self._roles.get(key)

    def names(self, owner: str) -> bool:
        """Return whether the inventory names ports of this switch at all."""
        return owner in self._owners


def check(
    sides: Mapping[Key, Side], linked: Linked, listed: Listed, given: Container[Key | None], names: Container[str]
) -> tuple[list[Finding], list[str]]:
    """(disagreements, sentences about unknown values).

    linked: [(Link, Side, Side)] of the cables with RoCE. given: keys of the ports in the list of cables. names: port
    groups of the data path, in addition to those of VMkernel adapters that PVRDMA uses.
    """
    peers: dict[Key, Side] = {}
    for _link, one, other in linked:
        peers[one.key], peers[other.key] = other, one
    found = list(_states(sides, peers, listed, given, names))
    found += _unlisted(linked, listed)
    routed = _is_routed(linked)
    at_hosts, unknown = _at_hosts(linked, names, routed)
    found += at_hosts
    between, more = _between(linked, names)
    found += between
    apart = list(_addresses(sides, routed))
    found += [one for one in apart if not isinstance(one, str)]
    return found, unknown + more + [one for one in apart if isinstance(one, str)]


def _is_routed(linked: Linked) -> bool:
    """Return whether switches route to each other, so that each has its own VLANs and subnets."""
    modes = [(one.port.vlan_mode, other.port.vlan_mode) for _link, one, other in linked if _both_switches(one, other)]
    return bool(modes) and all(one == other == vlans.ROUTED for one, other in modes)


def _both_switches(one: Side, other: Side) -> bool:
    return one.is_switch and other.is_switch


def _states(
    sides: Mapping[Key, Side],
    peers: Mapping[Key, Side],
    listed: Listed,
    given: Container[Key | None],
    names: Container[str],
) -> Iterator[Finding]:
    """Data path ports that are shut down or have no link."""
    for side in sides.values():
        peer = peers.get(side.key)
        named = listed.role(side.key) is not None or side.key in given
        if side.is_switch:
            up = side.oper.up if side.oper is not None else None
            if side.port.enabled is False and (named or peer is not None):
                yield _at(side, "port_shut_down", "is administratively down", "enabled", False, peer)
            elif up is False and (named or peer is not None):
                yield _at(side, "no_link", "has no link", "up", False, peer)
        elif side.endpoint.kind == "esxi" and side.endpoint.up is False and in_use(side, names):
            yield _at(side, "no_link", f"has no link, and is an uplink of {side.endpoint.switch}", "up", False, peer)
        elif not side.is_switch and side.endpoint.up is False and named:
            yield _at(side, "no_link", "has no link", "up", False, peer)


def in_use(side: Side, names: Container[str]) -> bool:
    """Return whether an adapter is an uplink of the data path; management adapters often have an RDMA device too."""
    one = side.endpoint
    used = any(row.get("pvrdma") for row in one.addresses) or any(group["name"] in names for group in one.portgroups)
    return bool(one.switch and one.rdma and used)


def _at(side: Side, code: str, says: str, key: str, value: object, peer: Side | None) -> Finding:
    cable = f"its cable connects to {peer.place}, and {NOBODY}" if peer is not None else NOBODY
    return finding(code, ERROR, side, says, cable, key, value)


def _unlisted(linked: Linked, listed: Listed) -> Iterator[Finding]:
    """Hosts on ports that the inventory does not name, so that no run configures the port."""
    for _link, one, other in linked:
        for switch, host in ((one, other), (other, one)):
            if not switch.is_switch or host.is_switch or not listed.names(switch.owner):
                continue
            role = listed.role(switch.key)
            if role != "host":
                says = "is not in the inventory" if role is None else "is listed as a port to another switch"
                yield finding(
                    "port_not_listed",
                    ERROR,
                    switch,
                    says,
                    "no run configures this port for RoCE; add it to switch_host_ports or correct the cable",
                    "role",
                    role,
                    host,
                    "is cabled to it",
                    "host",
                )


def needs(side: Side, names: Container[str]) -> dict[int, list[str]]:
    """{VLAN: names of its users} for a host adapter; 0 for untagged packets."""
    found: dict[int, list[str]] = {}
    for one in side.endpoint.addresses if side.endpoint is not None else ():
        if one.get("pvrdma") and one.get("vlan") is not None:
            found.setdefault(one["vlan"], []).append(one["device"])
    for group in side.endpoint.portgroups if side.endpoint is not None else ():
        if group["name"] in names and group["vlan"] is not None:
            found.setdefault(group["vlan"], []).append(group["name"])
    return found


def _at_hosts(linked: Linked, names: Container[str], routed: bool) -> tuple[list[Finding], list[str]]:
    """VLANs of the ports that hosts are cabled to."""
    found: list[Finding]
    unknown: list[str]
    untagged: list[Untagged]
    found, unknown, untagged = [], [], []
    for _link, one, other in linked:
        for switch, host in ((one, other), (other, one)):
            wanted = needs(host, names) if switch.is_switch and not host.is_switch else {}
            for vlan, who in sorted(wanted.items()):
                carried = vlans.carries(switch.port, vlan)
                if carried is None:
                    unknown.append(f"{switch.place} does not report whether it carries {_named(vlan)}.")
                elif not carried:
                    found.append(_missing(switch, vlan, host, f"sends {', '.join(who)} in it" if vlan else _bare(who)))
                elif vlan == 0:
                    untagged.append((switch, host, who))
    # With routing between switches, a VLAN ends at its switch.
    for owner in dict.fromkeys(switch.owner for switch, _host, _who in untagged) if routed else [None]:
        found += _unlike([one for one in untagged if owner in (None, one[0].owner)])
    return found, unknown


def _unlike(untagged: Sequence[Untagged]) -> Iterator[Finding]:
    """Ports that assign untagged packets to another VLAN than most ports do."""
    usual = Counter(switch.port.untagged for switch, _host, _who in untagged).most_common(1)
    first = next((switch for switch, _host, _who in untagged if switch.port.untagged == usual[0][0]), None)
    for switch, host, who in untagged:
        if switch.port.untagged != usual[0][0]:
            yield finding(
                "vlan",
                ERROR,
                switch,
                f"assigns untagged packets, such as those of {', '.join(who)}, to VLAN {switch.port.untagged}",
                f"{host.place} cannot reach the others",
                "untagged",
                switch.port.untagged,
                first,
                f"assigns them to VLAN {usual[0][0]}",
                usual[0][0],
            )


def _between(linked: Linked, names: Container[str]) -> tuple[list[Finding], list[str]]:
    """Findings about VLANs between switches, if hosts on more than one switch need the VLAN."""
    where: dict[int, set[str]] = {}
    for _link, one, other in linked:
        for switch, host in ((one, other), (other, one)):
            if switch.is_switch and not host.is_switch:
                for vlan in needs(host, names):
                    inside = vlan or switch.port.untagged
                    if inside is not None:
                        where.setdefault(inside, set()).add(switch.owner)
    found: list[Finding]
    unknown: list[str]
    found, unknown = [], []
    for _link, one, other in linked:
        if not _both_switches(one, other):
            continue
        for vlan, owners in sorted(where.items()):
            if len(owners) > 1 and {one.owner, other.owner} & owners:
                found += _over(one, other, vlan, unknown)
    return found, unknown


def _over(one: Side, other: Side, vlan: int, unknown: list[str]) -> Iterator[Finding]:
    """One VLAN over one cable between switches."""
    modes = [side.port.vlan_mode for side in (one, other)]
    if None in modes:
        unknown += [
            f"{side.place} does not report whether it carries VLAN {vlan}."
            for side, mode in zip((one, other), modes)
            if mode is None
        ]
        return
    if modes == [vlans.ROUTED] * 2:
        unknown.append(f"{one.place} and {other.place} are routed ports. It is unknown whether VLAN {vlan} passes.")
        return
    tags = [_tag(side.port, vlan) for side in (one, other)]
    for side, peer, tag in zip((one, other), (other, one), tags):
        if tag is None:
            yield _missing(side, vlan, peer, "is on a path between hosts in it")
    if None not in tags and tags[0] != tags[1]:
        side, peer = (one, other) if tags[0] == 0 else (other, one)
        yield finding(
            "vlan",
            ERROR,
            side,
            f"sends VLAN {vlan} untagged",
            "its packets end in another VLAN or are dropped",
            "untagged",
            vlan,
            peer,
            "sends it tagged",
            peer.port.tagged,
        )


def _tag(port: Port, vlan: int) -> int | None:
    """The tag with which a VLAN leaves the port; None if the port does not carry it."""
    if port.vlan_mode == vlans.ROUTED:
        return None
    return 0 if port.untagged == vlan else vlan if vlans.carries(port, vlan) else None


def _missing(switch: Side, vlan: int, other: Side, other_says: str) -> Finding:
    port = switch.port
    if port.vlan_mode == vlans.ROUTED:
        there = "is routed and in no VLAN"
    elif vlan and port.untagged == vlan:
        there = f"sends VLAN {vlan} untagged"
    else:
        parts = [f"{port.untagged} untagged"] if port.untagged is not None else []
        there = f"carries VLAN {' and '.join([*parts, *([port.tagged] if port.tagged else [])]) or 'none'}"
        there += f", but not {vlan}" if vlan else ", and drops untagged packets"
    breaks = f"no host is reachable there {'in' if vlan else 'with'} {_named(vlan)}"
    return finding("vlan", ERROR, switch, there, breaks, "tagged", port.tagged, other, other_says, vlan)


def _named(vlan: int) -> str:
    return f"VLAN {vlan}" if vlan else "untagged packets"


def _bare(who: Iterable[str]) -> str:
    return f"sends {', '.join(who)} untagged"


def _addresses(sides: Mapping[Key, Side], routed: bool) -> Iterator[Finding | str]:
    """Compare PVRDMA VMkernel adapters with each other and guests with each other; find duplicates among all.

    Yields findings, and sentences about unknown values.
    """
    at_hosts: Rows
    guests: Rows
    others: Rows
    at_hosts, guests, others = {}, {}, {}
    for side in sides.values():
        for row in [] if side.is_switch else side.endpoint.addresses:
            keys = ("device", "ip", "netmask", "vlan", "portgroup")
            end = reach.End(side.owner, **{key: row[key] for key in keys if row.get(key) is not None})
            kind = guests if side.endpoint.kind != "esxi" else at_hosts if row.get("pvrdma") else others
            kind.setdefault((end.owner, end.device, end.ip), (end, side))
    for trouble in reach.troubles([end for end, _side in at_hosts.values()]):
        yield _trouble(trouble, at_hosts, BREAKS[trouble.code])
    yield from _of_guests([end for end, _side in guests.values()], guests, routed)
    everybody = {**at_hosts, **guests, **others}
    reported = {
        trouble.text for kind in (at_hosts, guests) for trouble in reach.duplicates([one for one, _s in kind.values()])
    }
    path = {end for end, _side in [*at_hosts.values(), *guests.values()]}
    for trouble in reach.duplicates([end for end, _side in everybody.values()]):
        # Addresses without RoCE may repeat: NSX gives vmk50 of every host the same address.
        if trouble.text not in reported and path & {trouble.end, trouble.other}:
            yield _trouble(trouble, everybody, BREAKS[reach.DUPLICATE])


def _of_guests(ends: Sequence[reach.End], sides: Rows, routed: bool) -> Iterator[Finding | str]:
    """A guest can have an adapter in each of several networks; each peer then needs one there too."""
    networks: dict[str, dict[Network, reach.End]] = {}
    for end in ends:
        if end.network is not None:
            networks.setdefault(end.owner, {})[end.network] = end
    counted: Counter[Network | None] = Counter(network for owned in networks.values() for network in owned)
    for owned in networks.values():
        for network, end in owned.items():
            lonely = counted[network] == 1 and len(networks) > 1
            usual = next((one for other in networks.values() for one in other.values() if one.owner != end.owner), None)
            # Two guests with a network each are one finding.
            if lonely and usual is not None and (counted[usual.network] > 1 or usual.owner > end.owner):
                says = f"is in the subnet {network}"
                trouble = reach.Trouble(reach.SUBNET, end, says, usual, f"is in the subnet {usual.network}")
                if routed:
                    yield f"{trouble.text}: it is unknown whether the switches route between these subnets."
                else:
                    yield _trouble(trouble, sides, "guests cannot reach each other over it without a router")
    for trouble in reach.duplicates(ends):
        yield _trouble(trouble, sides, BREAKS[reach.DUPLICATE])


def _trouble(trouble: reach.Trouble, sides: Rows, breaks: str) -> Finding:
    by_end: dict[reach.End | None, Side] = dict(sides.values())
    second = f", while {trouble.other.place} {trouble.other_says}" if trouble.other is not None else ""
    side, other = by_end[trouble.end], by_end.get(trouble.other)
    data = finding(trouble.code, ERROR, side, trouble.says, breaks, "address", trouble.end.ip)
    data["msg"] = f"{trouble.end.place} {trouble.says}{second}: {breaks}."
    data["b"] = {"name": other.owner, "port": other.name} if other is not None else None
    data["seen"]["b"] = trouble.other.ip if trouble.other is not None else None
    return data
