"""Effects of traffic: counters of adapters, ports of hosts and switches; and the streams that meet at a port."""

from __future__ import annotations

import time
import weakref
from collections import Counter
from dataclasses import dataclass

from ..switches import cabling
from . import ends, rates

BURST = 24  # packets that are lost together: one complaint of the receiver for all of them
FORGOTTEN_S = 5.0  # time after which a stream without an end message counts as ended
_COUNTS = weakref.WeakKeyDictionary()  # VM: (which boot, {key of a virtual device: Counter})
_STREAMS = weakref.WeakKeyDictionary()  # world: {name: _Stream}
_RUNS = weakref.WeakKeyDictionary()  # world: (how many runs each pair had, {name: the number of the run})


@dataclass
class _Stream:
    ports: tuple
    until: float
    others: int


def of_device(vm, key):
    """The counters of a guest's RDMA device since the VM started."""
    booted, found = _COUNTS.get(vm, (None, None))
    if found is None or booted != vm.booted:
        found = {}
        _COUNTS[vm] = (vm.booted, found)
    return found.setdefault(key, Counter())


def begin(world, name, ports, seconds):
    """Begin a stream; return how many others use one of its ports now. Both ends may report it, the first one
    counts.
    """
    streams = _STREAMS.setdefault(world, {})
    now = time.monotonic()
    for one in [one for one, stream in streams.items() if stream.until + FORGOTTEN_S < now]:
        del streams[one]
    if name not in streams:
        own = [id(port) for port in ports]
        others = sum(any(id(port) in own for port in one.ports) for one in streams.values())
        streams[name] = _Stream(tuple(ports), now + seconds, others)
    return streams[name].others


def end(world, name, pair):
    """End it: return (whether it had not ended before, number of this pair's run)."""
    first = _STREAMS.get(world, {}).pop(name, None) is not None
    runs, numbers = _RUNS.setdefault(world, (Counter(), {}))
    if first or name not in numbers:
        runs[pair] += 1
        numbers[name] = runs[pair]
    return first, numbers[name]


def count(world, sender, receiver, state, load, octets):
    """Count data from one End to another; return how many packets were lost on the path."""
    packets = max(1, octets // load.mtu)
    lost, marked, paused = _shares(state, load, packets)
    sent, heard = of_device(sender.vm, sender.key), of_device(receiver.vm, receiver.key)
    sent.update(port_xmit_packets=packets + lost, port_xmit_data=octets // 4)
    heard.update(port_rcv_packets=packets, port_rcv_data=octets // 4)
    heard["rx_read_requests" if load.verb == "read" else "rx_write_requests"] += octets // max(load.size, 1)
    bursts = -(-lost // BURST)
    heard.update(out_of_sequence=bursts, np_ecn_marked_roce_packets=marked, np_cnp_sent=marked)
    sent.update(packet_seq_err=bursts, local_ack_timeout_err=bursts // 40, rp_cnp_handled=marked)
    if state.carrier == ends.PORT and state.ports:
        near, far = (port.counters for port in state.ports)
        for kind in ("", "rdma_") if state.rdma else ("",):  # a fallback to TCP is no traffic of the RDMA device
            near.update({f"{kind}tx_packets": packets + lost, f"{kind}tx_bytes": octets})
            far.update({f"{kind}rx_packets": packets, f"{kind}rx_bytes": octets})
        near.update(rdma_packet_seq_err=bursts)
        far.update(rdma_out_of_sequence=bursts, rx_marked=marked)
        _at_switches(world, state, packets, octets, lost, marked, paused)
    return lost


def gave_up(sender):
    """A send was repeated until there was no retry left."""
    of_device(sender.vm, sender.key).update(local_ack_timeout_err=8, req_transport_retries_exceeded=1)


def _shares(state, load, packets):
    """(lost, marked, pauses) of so many packets."""
    if state.carrier != ends.PORT or not state.rdma or not rates.loaded(state, load):
        return 0, 0, 0
    crowd = rates.crowded(load)
    lost = rates.of("drops") if state.loses else rates.of("drops.early") if state.drops_early else 0
    marked = rates.of("marks.crowd" if crowd else "marks") if state.marks else 0
    paused = rates.of("pauses.crowd") if crowd and not state.marks and not state.loses else 0
    return tuple(int(share * packets) for share in (lost, marked, paused))


def _at_switches(world, state, packets, octets, lost, marked, paused):
    if lost and state.ports[0].discards:
        state.ports[0].counters["tx_discards"] += lost
        lost = 0
    dropped = False
    for entry, leaving in state.path:
        came, goes = (_port(world, place).counters for place in (entry, leaving))
        priority = cabling.class_at(world, entry, state.dscp)
        queue = cabling.queue_at(world, leaving, priority)
        came[f"rx_packets_{priority}"] += packets
        came[f"rx_bytes_{priority}"] += octets
        goes[f"tx_packets_{queue}"] += packets
        goes[f"tx_bytes_{queue}"] += octets
        if (entry, leaving) == state.path[-1]:
            goes[f"ecn_marked_{queue}"] += marked
            came[f"tx_pause_{priority}"] += paused
        if lost and state.drop_at == "/".join(entry):
            came[f"rx_drops_{priority}"] += lost
            dropped = True
        elif lost and state.drop_at == "/".join(leaving):
            _drop(goes, queue, lost)
            dropped = True
    if lost and not dropped and state.drop_at == state.receiver:
        state.ports[1].counters["rx_discards"] += lost
    elif lost and not dropped and state.path:
        # Packets with a sender's mistake are lost in their first queue.
        _drop(_port(world, state.path[0][1]).counters, queue, lost)


def _drop(counters, queue, lost):
    counters[f"tx_drops_{queue}"] += lost
    counters[f"tx_lost_{queue}"] += lost * 1500


def _port(world, place):
    return world.fabric.switches[place[0]].ports[place[1]]
