"""Path between two VMs in one direction, from the memory of a sender to the memory of a receiver.

Every measuring tool calls this module, and rates.py converts the state to figures. It combines the other parts of the
model: the path of PVRDMA, ports, cables, the treatment of packets by switches, the hosts at both ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..switches import cabling
from . import gpudirect, numa, pci, pvrdma

V1, V2 = "IB/RoCE v1", "RoCE v2"
PORT, MEMORY, CARD, NONE = "port", "memory", "card", "none"
HEADERS = 60  # IP, UDP, BTH, RETH and ICRC around the payload of a RoCE packet


@dataclass(frozen=True)
class End:
    """An RDMA adapter of a running VM, as its guest uses it."""

    vm: object
    key: int  # of the virtual device
    version: str = V2
    dscp: int = 0  # the DSCP that the guest requests; for PVRDMA the host decides


@dataclass(frozen=True)
class State:
    """State of a path for packets."""

    carrier: str  # port: through the fabric; memory: copied within a host; card: turned round in an adapter; none
    rdma: bool = True  # false: the hosts silently use TCP
    pvrdma: bool = False
    line_gbps: float = 100.0  # the slowest link
    hops: int = 0  # switches
    frame: int = 9000  # the largest packet that arrives
    loses: bool = False  # under load packets are dropped, since nothing holds them back
    drops_early: bool = False  # queues drop where they should mark
    marks: bool = True
    notices_first: bool = True
    saving: tuple = ()  # hosts whose processors save power
    apart: tuple = ()  # VMs whose memory or processors are away from their port
    why: tuple = ()  # sentences, the place first
    drop_at: str = ""  # where packets are dropped
    dscp: int = 0
    receiver: str = ""  # host and port, as they are called where packets are dropped
    ports: tuple = field(default=(), compare=False)  # the host's ports of both ends, where the fabric carries
    path: tuple = ()  # ((switch, port in), (switch, port out)) for each hop

    @property
    def reached(self):
        return self.carrier != NONE

    def passes(self, mtu):
        """Return whether packets with a payload of this many bytes arrive."""
        return mtu + HEADERS <= self.frame


def between(world, sender, receiver):
    """Return the State of the path from one End to another."""
    if sender.version != receiver.version:
        return State(
            NONE, why=(f"{sender.vm.name} sends {sender.version}, {receiver.vm.name} hears {receiver.version}",)
        )
    mine, theirs = (_adapter(one) for one in (sender, receiver))
    if isinstance(mine, pvrdma.PVRDMA) != isinstance(theirs, pvrdma.PVRDMA):
        return State(NONE, why=(f"of {sender.vm.name} and {receiver.vm.name} only one has PVRDMA",))
    lans = [_lan(world, one) for one in (mine, theirs)]
    if None not in lans and lans[0] != lans[1]:
        return State(NONE, why=(f"{sender.vm.name} is in VLAN {lans[0]}, {receiver.vm.name} in {lans[1]}",))
    if isinstance(mine, pvrdma.PVRDMA):
        return _paravirtual(world, sender, receiver, mine, theirs, lans)
    ports = (port_of(world, sender), port_of(world, receiver))
    if None in ports:
        return State(NONE, why=("a function has no port",))
    if ports[0] is ports[1]:
        # The embedded switch of an adapter turns packets between its own functions round.
        return _with_hosts(sender, receiver, ports, State(CARD, line_gbps=ports[0].speed_mbps / 1000))
    return _through(world, sender, receiver, ports, sender.dscp, 65535, lans[0])


def look(world, dscp=26):
    """Return one row for each direction between running VMs with RDMA adapters: its state, and its results.

    dscp: the DSCP that guests with a function of their own set.
    """
    running = [one for one in world.of_kind("VirtualMachine") if one.power == "poweredOn"]
    found = [End(vm, key, _version(vm, key), dscp) for vm in running for key in keys_of(vm)]
    return [_row(one, other, between(world, one, other)) for one in found for other in found if one.vm is not other.vm]


def keys_of(vm):
    """The keys of a VM's devices that carry RDMA: PVRDMA adapters, and functions of ports."""
    ports = {row.address for row in pci.devices(vm.host)} & set(vm.host.claimed)
    physical = {one.pci for one in vm.host.ports}
    rows = {row.address: row for row in pci.devices(vm.host) if row.address in ports}
    held = [
        vm.host.claimed[address].device_key
        for address, row in sorted(rows.items())
        if vm.host.claimed[address].vm is vm and (row.physical_function or address) in physical
    ]
    return [one.key for one in pvrdma.adapters_of(vm)] + held


def _version(vm, key):
    device = next(one for one in vm.devices if one.key == key)
    return V1 if getattr(device, "deviceProtocol", None) == "rocev1" else V2


def _row(one, other, state):
    from . import rates  # which reads the states of this module

    reached = state.reached and state.passes(4096)
    return {
        "from": one.vm.name,
        "to": other.vm.name,
        "carrier": state.carrier,
        "rdma": state.rdma,
        "loses": state.loses or state.drops_early,
        "frame": state.frame,
        "gbps": round(rates.gbps(state, rates.Load()), 1) if reached else 0.0,
        "us": round(rates.latency_us(state, 8), 2) if state.reached else None,
        "why": list(state.why),
    }


def port_of(world, end):
    """The port of the host that an adapter sends through, or None."""
    vm, device = end.vm, _adapter(end)
    if isinstance(device, pvrdma.PVRDMA):
        return next(iter(_switch(world, device).uplinks_of(vm.host)), None)
    address = next((at for at, who in vm.host.claimed.items() if who.vm is vm and who.device_key == end.key), None)
    row = next((one for one in pci.devices(vm.host) if one.address == address), None)
    physical = (row.physical_function or row.address) if row is not None else None
    return next((one for one in vm.host.ports if one.pci == physical), None)


def gpu_way(world, end):
    """(whether an adapter reaches the GPUs of its VM: near, apart or no; why not)."""
    found = gpudirect.verdict(world, end.vm)
    return "near" if found.works else "apart" if found.apart else "no", found.reasons


def _paravirtual(world, sender, receiver, mine, theirs, lans):
    found = next(
        one
        for one in pvrdma.state(world, sender.vm)
        if (one.adapter, one.peer, one.peer_adapter) == (_label(mine), receiver.vm.name, _label(theirs))
    )
    here, there = _switch(world, mine), _switch(world, theirs)
    ports = (port_of(world, sender), port_of(world, receiver))
    if found.way == pvrdma.LOCAL:
        state = State(MEMORY, pvrdma=True, frame=here.mtu, why=("both VMs run on one host",))
        return _with_hosts(sender, receiver, ports, state)
    if sender.vm.host is receiver.vm.host:
        state = State(MEMORY, rdma=False, pvrdma=True, frame=here.mtu, why=found.reasons)
        return _with_hosts(sender, receiver, ports, state)
    if None in ports or not all(port.link_up for port in ports):
        return State(NONE, rdma=False, pvrdma=True, why=found.reasons)
    if found.way == pvrdma.TCP:
        line = min(port.speed_mbps for port in ports) / 1000
        ends = tuple(zip((sender.vm.host, receiver.vm.host), ports, strict=True))
        paths, _problems = cabling.way(world, *ends, vlan=lans[0]) or ((), ())
        if not paths and all((host.name, port.device) in world.fabric.cables for host, port in ends):
            return State(NONE, rdma=False, pvrdma=True, why=found.reasons)
        frame = min(here.mtu, there.mtu, *_sizes(world, paths))
        state = State(PORT, rdma=False, pvrdma=True, line_gbps=line, frame=frame, why=found.reasons, ports=ports)
        return _with_hosts(sender, receiver, ports, state)
    state = _through(world, sender, receiver, ports, None, min(here.mtu, there.mtu), lans[0])
    return replace(state, pvrdma=True)


def _through(world, sender, receiver, ports, dscp, frame, vlan):
    """The fabric from port to port."""
    hosts = (sender.vm.host, receiver.vm.host)
    ends = tuple(zip(hosts, ports, strict=True))
    down = [f"{host.name}/{port.device}: the link is down" for host, port in ends if not port.link_up]
    if down:
        return State(NONE, why=tuple(down))
    line = min(port.speed_mbps for port in ports) / 1000
    stamped = dscp if dscp is not None else _forced(ends[0])
    receiver_port = f"{hosts[1].name}/{ports[1].device}"
    plain = State(PORT, line_gbps=line, frame=frame, ports=ports, dscp=stamped, receiver=receiver_port)
    found = cabling.way(world, *ends, dscp=dscp, vlan=vlan)
    if found is None:  # no cable is described between them: assume a working one
        return _with_hosts(sender, receiver, ports, replace(plain, hops=1))
    paths, problems = found
    if not paths:
        return State(NONE, why=(f"{hosts[0].name}/{ports[0].device}: {cabling.apart(world, *ends, vlan)}",))
    kinds = {one.kind for one in problems}
    losing = next((one for one in problems if one.kind == cabling.LOSS), None)
    early = next((one for one in problems if one.drops), None)
    state = replace(
        plain,
        hops=len(paths[0]),
        path=tuple(paths[0]),
        line_gbps=min(line, *(_port(world, port).speed_gbps for path in paths for hop in path for port in hop)),
        frame=min(frame, *_sizes(world, paths)),
        loses=losing is not None,
        drops_early=early is not None,
        marks=cabling.ECN not in kinds,
        notices_first=cabling.CNP not in kinds,
        drop_at=(losing or early).at if losing or early else "",
        why=tuple(f"{one.at}: {one.what}" for one in problems),
    )
    return _with_hosts(sender, receiver, ports, state)


def _with_hosts(sender, receiver, ports, state):
    """Add the effects of the machines at both ends."""
    saving, apart = [], []
    for end, port in zip((sender, receiver), ports, strict=True):
        vm = end.vm
        requests = vm.host.bmc.functions()
        if not requests.get("performance", True) or not requests.get("c_states_off", True):
            saving.append(vm.host.name)
        bound = numa.nodes(vm)
        if numa.remote_mb(vm) or (bound and port is not None and port.numa_node not in bound):
            apart.append(vm.name)
    why = [*state.why, *(f"{one}: the processors save power" for one in dict.fromkeys(saving))]
    why += [f"{one}: memory or processors are on another node than the port" for one in apart]
    if state.carrier == PORT and state.rdma and ports[0].discards:
        place = f"{sender.vm.host.name}/{ports[0].device}"
        state, why = replace(state, loses=True, drop_at=place), [*why, f"{place}: packets are discarded"]
    return replace(state, saving=tuple(dict.fromkeys(saving)), apart=tuple(apart), why=tuple(why))


def _sizes(world, paths):
    """Return the MTU of every switch port on the path."""
    found = {port for path in paths for hop in path for port in hop}
    return [world.fabric.switches[switch].device.treatment(port).mtu for switch, port in found] or [65535]


def _forced(end):
    """The DSCP that a host puts on packets of PVRDMA."""
    stamp = cabling.stamp(*end)
    return 0 if stamp is None else stamp


def _port(world, place):
    return world.fabric.switches[place[0]].ports[place[1]]


def _adapter(end):
    return next((one for one in end.vm.devices if one.key == end.key), None)


def _switch(world, device):
    return world.get(device.backing.port.portgroupKey).switch


def _lan(world, device):
    """Return the VLAN of an adapter's network; None for an adapter without a vSphere network."""
    backing = getattr(device, "backing", None)
    port = getattr(backing, "port", None)
    key = port.portgroupKey if port is not None else getattr(getattr(backing, "network", None), "_moId", None)
    return getattr(world.get(key or ""), "vlan", None)


def _label(device):
    return device.deviceInfo.label
