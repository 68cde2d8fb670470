"""Figures for the state of a path; figures.yml is the one table of them, with reasons and sources."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import yaml

from . import ends

HEADS = 82  # bytes around a payload on the wire, with preamble and gap
CALM = 0.3  # of the line: below this nothing queues, so nothing is dropped


@dataclass(frozen=True)
class Figure:
    """A number of the table."""

    value: float
    unit: str
    reason: str
    source: str


FIGURES = {
    name: Figure(**row)
    for name, row in yaml.safe_load(Path(__file__).with_name("figures.yml").read_text(encoding="utf-8")).items()
}


def of(name):
    """The value of a figure."""
    return FIGURES[name].value


@dataclass(frozen=True)
class Load:
    """Load of a tool on the path."""

    size: int = 65536
    pairs: int = 1  # queue pairs
    mtu: int = 4096
    verb: str = "write"
    both: bool = False  # data goes in both directions
    others: int = 0  # further senders at the same port
    gpu: str = ""  # near, apart: memory of GPUs


def wanted_gbps(state, load):
    """Return the rate without any loss."""
    rate = _messages(state) * min(1 + 0.15 * (load.pairs - 1), 2)
    found = min(_most(state, load), rate * load.size * 8e-3)
    if load.verb == "read":
        found *= of("read")
    for happens, name in (
        (state.apart, "apart"),
        (state.saving, "saving"),
        (load.gpu == "apart", "gpu.apart"),
        (load.gpu == "near", "gpu.near"),
    ):
        found *= of(name) if happens else 1
    return found / (1 + load.others)


def gbps(state, load):
    """Return the received rate, in one direction."""
    found = wanted_gbps(state, load)
    if state.carrier != ends.PORT or not state.rdma or not loaded(state, load):
        return found
    if state.loses:
        return found * of("loss")
    if state.drops_early:
        found *= of("early")
    if crowded(load):
        found *= of("unmarked") if not state.marks and not state.drops_early else 1
        found *= of("late") if not state.notices_first else 1
    return found


def loaded(state, load):
    """Return whether enough data is in flight for queues to fill."""
    return wanted_gbps(state, load) * (1 + load.others) > CALM * state.line_gbps


def crowded(load):
    """Return whether several streams meet."""
    return load.both or load.others > 0


def latency_us(state, size, verb="write"):
    """Half a round trip, the typical one."""
    kind = _kind(state)
    found = of(f"latency.{kind}") + (of("latency.hop") * state.hops if state.carrier == ends.PORT else 0)
    if verb == "send":
        found += of("latency.send")
    if verb == "read":
        found *= of("latency.read")
    found += of("latency.apart") if state.apart else 0
    found += of("latency.saving") if state.saving else 0
    return found + size * 8e-3 / _most(state, Load(size=size))


def nccl_gbs(state, gpu):
    """Return the rate of an NCCL ring on a path, in GB/s; gpu: near or apart with GPUDirect, '' through the guest's
    memory."""
    plain = gbps(state, Load(size=1 << 22, gpu=gpu))
    return plain / 8 * of("nccl.near" if gpu else "nccl.staged")


def socket_gbs(line_gbps):
    """The same over sockets."""
    return min(of("nccl.socket_gbps"), of("nccl.socket") * line_gbps) / 8


def noisy(value, *seed):
    """A value as one measurement has it: always the same for the same seed."""
    return value * (1 + chance(*seed).uniform(-1, 1) * of("noise"))


def chance(*seed):
    """Random numbers that depend on nothing but the seed."""
    return random.Random("/".join(str(one) for one in seed))


def _kind(state):
    if not state.rdma:
        return "tcp"
    if state.carrier in (ends.MEMORY, ends.CARD):
        return state.carrier
    return "pvrdma" if state.pvrdma else "port"


def _messages(state):
    kind = _kind(state)
    return of(f"messages.{kind if kind in ('tcp', 'pvrdma') else 'port'}")


def _most(state, load):
    """Return the rate with messages of unlimited size."""
    line = state.line_gbps
    if not state.rdma:
        return min(of("tcp.gbps"), 0.94 * line)
    if state.carrier == ends.MEMORY:
        return of("memory.gbps")
    if state.carrier == ends.CARD:
        return of("card.share") * line
    share = of("line.400" if line >= 400 else "line.200" if line >= 200 else "line.100")
    # Small packets spend more of the line on their headers.
    found = line * min(share, load.mtu / (load.mtu + HEADS))
    return found * of("line.pvrdma") if state.pvrdma else found
