"""Fate of RoCE packets on their path through the fabric, hop by hop and in both directions.

Written from the required agreement (facts of RoCE, section 10): packets stay in one lossless class, ECN marks, the MTU
fits.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from ..model import kernel as kernels

CNP_DSCP = 48  # ConnectX's default for congestion notifications
LOSS, ECN, MTU, CNP = "lossless", "ecn", "mtu", "cnp"


@dataclass(frozen=True)
class Why:
    """A mismatch on the path. kind: its effect: lossless, ecn, mtu or cnp."""

    at: str
    what: str
    kind: str
    drops: bool = False  # of ECN: packets are dropped where they should be marked


def look(world):
    """Return one row for each pair of cabled RDMA ports of different hosts."""
    ends = list(_ends(world))
    treatments = {}
    return [
        _row(world, one, other, treatments) for one, other in itertools.combinations(ends, 2) if one[0] is not other[0]
    ]


def seen_by(world, host, device):
    """The Peer that a vmnic hears by LLDP, or None: its switch listens, the link is up, and the other side sends."""
    fabric = world.fabric
    far = fabric.cables.get((host.name, device))
    _host, nic = fabric.nic(host.name, device) if far is not None else (None, None)
    if far is None or far[0] not in fabric.switches or getattr(nic.switch, "lldp", "none") not in ("listen", "both"):
        return None
    switch = fabric.switches[far[0]]
    port = switch.ports[far[1]]
    sends = getattr(switch.device, "lldp", lambda _name: (True, True))(port.name)[0]
    return fabric.peer(*far) if port.up and sends and nic.link_up else None


def way(world, sender, receiver, dscp=None, vlan=None):
    """Return (paths, [Why]) of packets from one (host, port) to another; dscp: the DSCP that a guest sets on them
    itself.

    vlan: the tag of the sender's port group, 0 for none; None without a port group in between. None for both if neither
    port has a cable: then the fabric between them is unknown.
    """
    cabled = [(host.name, nic.device) in world.fabric.cables for host, nic in (sender, receiver)]
    if not any(cabled):
        return None
    paths = _paths(world, sender, receiver, vlan) if all(cabled) else []
    treatments = {}
    problems = [one for path in paths for one in _way(world, sender, receiver, path, treatments, dscp)]
    return paths, list(dict.fromkeys(problems))


def class_at(world, port, dscp):
    """The priority that packets get where they come into a switch."""
    return _class(_treated(world, port, {}), dscp)


def queue_at(world, port, priority):
    """The queue through which packets of a priority leave a switch."""
    return _treated(world, port, {}).queues[priority]


def _ends(world):
    hosts = {host.name: host for host in world.of_kind("HostSystem")}
    for owner, device in world.fabric.cables:
        if owner in hosts:
            nic = next((one for one in hosts[owner].ports if one.device == device), None)
            if nic is not None and nic.kind.rdma:
                yield hosts[owner], nic


def apart(world, one, other, vlan):
    """Return why frames of a VLAN do not get from one (host, port) to another; None if they do."""
    if _paths(world, one, other, vlan):
        return None
    way = "" if vlan is None or not _paths(world, one, other) else f" in VLAN {vlan}" if vlan else " without a tag"
    return f"there is no way to {_name(other)}{way}"


def reached(world, host, device, vlan):
    """Return {(name of a host, its port)} that frames of a VLAN reach from a port; unknown without a cable."""
    start = (host.name, device)
    seen = _flooded(world, start, vlan)
    return {end for end, tag in seen if end[0] not in world.fabric.switches and tag == vlan} - {start}


def vlans_of(world, port):
    """The VLANs that a port of a host serves by its distributed switch; [None] where no switch has it."""
    groups = getattr(port.switch, "portgroups", {}).values()
    found = sorted({group.vlan for group in groups if not group.uplink and isinstance(group.vlan, int)})
    return found or [None]


def _row(world, one, other, treatments):
    common = [vlan for vlan in vlans_of(world, one[1]) if vlan in vlans_of(world, other[1])] or [None]
    ways = {vlan: _paths(world, one, other, vlan) for vlan in common}
    missing = [vlan for vlan, found in ways.items() if not found]
    paths = [] if missing else list({str(path): path for found in ways.values() for path in found}.values())
    problems = [Why(_name(one), apart(world, one, other, vlan), LOSS) for vlan in missing]
    for path in paths:
        problems += _way(world, one, other, path, treatments)
        problems += _way(world, other, one, [hop[::-1] for hop in reversed(path)], treatments)
    problems = list(dict.fromkeys(problems))
    ports = [_treated(world, port, treatments) for path in paths for hop in path for port in hop]
    kinds = {problem.kind for problem in problems}
    return {
        "a": _name(one),
        "b": _name(other),
        "dscp": sorted({end for end in (stamp(*one), stamp(*other)) if end is not None}),
        "lossless": bool(paths) and LOSS not in kinds,
        "ecn": bool(paths) and ECN not in kinds,
        "cnp_strict": bool(paths) and CNP not in kinds,
        "mtu": min([one[1].mtu, other[1].mtu, *(found.mtu for found in ports)]),
        "mtu_fits": bool(paths) and MTU not in kinds,
        "paths": [[f"{switch}/{port}" for hop in path for switch, port in hop] for path in paths],
        "why": [{"at": problem.at, "what": problem.what, "breaks": problem.kind} for problem in problems],
    }


def _paths(world, one, other, vlan=None):
    """Return all shortest paths: lists of hops ((switch, port in), (switch, port out)). vlan: the tag at both ends, or
    any."""
    fabric = world.fabric
    start, goal = (one[0].name, one[1].device), (other[0].name, other[1].device)
    if not (one[1].link_up and other[1].link_up):
        return []
    level, found, seen = [([fabric.cables[start]], vlan)], [], set()
    while level and not found:
        longer = []
        for way, tag in level:
            for port, far, left in _onward(world, way[-1], tag):
                if far == goal and left == vlan:
                    found.append([*way, port])
                elif far[0] in fabric.switches and far[0] not in seen:
                    longer.append(([*way, port, far], left))
        seen.update(way[-1][0] for way, _tag in level)
        level = longer
    return [list(zip(way[::2], way[1::2], strict=True)) for way in found]


def _onward(world, entry, tag):
    """Return [(port out, the other end of its cable, tag there)] of an incoming frame; tag None passes everywhere."""
    switch, came = world.fabric.switches.get(entry[0]), entry[1]
    if switch is None or not switch.ports[came].up:
        return
    lan = switch.device.lan(came)
    inside = None if tag is None else lan.enters(tag)
    if tag is not None and (inside is None or lan.leaves(inside) != tag):
        return  # traffic with a tag in one direction and without one in the other is no connection
    for port in switch.ports.values():
        far = world.fabric.cables.get((switch.name, port.name))
        if port.name == came or far is None or not port.up:
            continue
        left = None if tag is None else switch.device.lan(port.name).leaves(inside)
        if left is not None or tag is None:
            yield (switch.name, port.name), far, left


def _flooded(world, start, vlan):
    """Return {(end of a cable, tag there)} that a broadcast reaches."""
    if start not in world.fabric.cables:
        return set()
    seen, due = set(), [(world.fabric.cables[start], vlan)]
    while due:
        here = due.pop()
        if here not in seen:
            seen.add(here)
            due += [(far, left) for _port, far, left in _onward(world, *here)]
    return seen


def _way(world, sender, receiver, path, treatments, dscp=None):
    """Return the mismatches in one direction."""
    dscp = stamp(*sender) if dscp is None else dscp
    if dscp is None:
        yield Why(_name(sender), "RoCE packets have no DSCP of their own: dscp_force is not set", LOSS)
        dscp = 0
    before, upstream_waits, name = _priority(*sender, dscp), _pauses(*sender)[1], _name(sender)
    for entry, leaving in path:
        came, goes = (_treated(world, port, treatments) for port in (entry, leaving))
        at, out = (f"{switch}/{port}" for switch, port in (entry, leaving))
        priority = _class(came, dscp)
        if priority != before:
            yield Why(at, f"DSCP {dscp} is put into priority {priority}, at {name} it had {before}", LOSS)
        if priority not in came.no_drop:
            yield Why(at, f"priority {priority} has no lossless buffer", LOSS)
        if priority not in came.pauses_sent:
            yield Why(at, f"no pause is sent for priority {priority}", LOSS)
        elif priority not in upstream_waits:
            yield Why(name, f"pauses of {at} for priority {priority} are not heeded", LOSS)
        for port, found in ((at, came), (out, goes)):
            if found.pause_sent or found.pause_heeded:
                yield Why(port, "link-level pause is on and takes the place of pauses by priority", LOSS)
        if came.mtu < sender[1].mtu:
            yield Why(at, f"packets of up to {sender[1].mtu} bytes come, the MTU is {came.mtu}", MTU)
        if goes.mtu < sender[1].mtu:
            yield Why(out, f"packets of up to {sender[1].mtu} bytes go, the MTU is {goes.mtu}", MTU)
        queue = goes.queues[priority]
        marking = goes.marking.get(queue)
        if marking is None:
            yield Why(out, f"queue {queue} marks nothing", ECN)
        elif not marking.mark:
            yield Why(out, f"queue {queue} drops early instead of marking", ECN, drops=True)
        notices = goes.queues[_class(came, CNP_DSCP)]
        if notices not in goes.strict or notices == queue:
            yield Why(out, f"congestion notifications wait in queue {notices}", CNP)
        before, upstream_waits, name = priority, goes.pauses_heeded, out
    arrived = _priority(*receiver, dscp)
    if arrived != before:
        yield Why(_name(receiver), f"DSCP {dscp} is taken for priority {arrived}, at {name} it had {before}", LOSS)
    if arrived not in _pauses(*receiver)[0]:
        yield Why(_name(receiver), f"no pause is sent for priority {arrived}", LOSS)
    elif arrived not in upstream_waits:
        yield Why(name, f"pauses of {_name(receiver)} for priority {arrived} are not heeded", LOSS)


def _class(treatment, dscp):
    """The priority of a packet without a VLAN tag."""
    return treatment.priorities[dscp] if treatment.trust in ("dscp", "both") else 0


def _treated(world, port, treatments):
    if port not in treatments:
        treatments[port] = world.fabric.switches[port[0]].device.treatment(port[1])
    return treatments[port]


def _name(end):
    return f"{end[0].name}/{end[1].device}"


def stamp(host, _nic):
    """Return the DSCP of RoCE packets of a host, or None if it is not forced."""
    value = kernels.number(host.kernel.option("nmlx5_rdma", "dscp_force", "-1"), -1)
    return value if 0 <= value <= 63 else None


def _priority(host, _nic, dscp):
    """The priority that the adapter gives a packet: ConnectX takes DSCP / 8 once it trusts DSCP."""
    if host.kernel.option("nmlx5_core", "trust_state", "1") == "2":
        return dscp >> 3
    forced = kernels.number(host.kernel.option("nmlx5_rdma", "pcp_force", "-1"), -1)
    return forced if 0 <= forced <= 7 else 0


def _pauses(host, nic):
    """(priorities for which an adapter asks its peer to wait, those for which it waits itself)."""
    if nic.driver != "nmlx5_core" or not host.kernel.loaded("nmlx5_core") or nic.pause_rx or nic.pause_tx:
        return frozenset(), frozenset()
    masks = [kernels.number(host.kernel.option("nmlx5_core", name, "0")) for name in ("pfctx", "pfcrx")]
    return tuple(frozenset(number for number in range(8) if mask >> number & 1) for mask in masks)
