"""Treatment of packets by a port: the interface between the operating system of a switch and its network."""

from __future__ import annotations

from dataclasses import dataclass, field

DEFAULT_MAP = tuple(dscp >> 3 for dscp in range(64))
IDENTITY = tuple(range(8))


@dataclass(frozen=True)
class Marking:
    """ECN of one queue. Without mark, packets above the thresholds are dropped."""

    min_bytes: int
    max_bytes: int
    probability: int = 100
    mark: bool = True


@dataclass(frozen=True)
class Treatment:
    """One port with the programmed state of its hardware, never its configuration."""

    trust: str = "pcp"  # dscp, pcp, both, none
    priorities: tuple = DEFAULT_MAP  # by DSCP: the priority that packets get
    queues: tuple = IDENTITY  # by priority: the queue they leave through
    groups: tuple = IDENTITY  # by priority: the priority group they wait in
    pauses_sent: frozenset = frozenset()  # priorities for which the port asks its peer to wait
    pauses_heeded: frozenset = frozenset()  # priorities for which it waits itself
    no_drop: frozenset = frozenset()  # priorities whose priority group has headroom
    marking: dict = field(default_factory=dict)  # by queue: Marking
    strict: frozenset = frozenset()  # queues that go first
    shares: dict = field(default_factory=dict)  # by queue: percent of the bandwidth after strict queues
    mtu: int = 1500
    watchdog: bool = False
    pause_sent: bool = False  # link-level pause of all priorities
    pause_heeded: bool = False
    dcbx: bool = False  # True if the port sends these settings to its peer by LLDP
