# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What a switch does to RoCE, in the same terms on every platform. None means: not told, or no such thing there."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Iterable, Mapping, TypeVar, cast

if TYPE_CHECKING:
    T = TypeVar("T", "Port", "Oper", "Neighbour")


@dataclass(frozen=True)
class Marking:
    """ECN of one queue. `mark` is False where packets above the thresholds are dropped instead of marked."""

    min_bytes: int
    max_bytes: int
    probability: int | None = None
    mark: bool = True


@dataclass
class Port:
    """One port as it is configured, worked out to what it means for packets there."""

    trust: str | None = None  # dscp, pcp, both, none
    dscp_map: dict[int, int] | None = None  # {DSCP: priority}: all that is known, defaults of the platform included
    queues: dict[int, int] | None = None  # {priority: queue it leaves through}
    groups: dict[int, int] | None = None  # {priority: priority group it waits in}; platforms that let one choose it
    pfc_mode: str | None = None  # on, off, auto (what DCBX agrees on)
    pfc: list[int] | None = None  # priorities with flow control, as configured, whatever pfc_mode
    pfc_queues: dict[int, int] | None = None  # {priority: queue that its pauses stop}; platforms that let one choose it
    pfc_sends: bool | None = None  # False: the port obeys pauses, and sends none (semi-lossless)
    pfc_asymmetric: bool | None = None  # True: the port obeys pauses of all priorities, and sends those of `pfc`
    lossless: list[int] | None = None  # priorities whose packets have headroom and are not dropped
    ecn: dict[int, Marking] | None = None  # {queue: Marking}
    strict: list[int] | None = None  # queues that go first
    shares: dict[int, int] | None = None  # {queue: percent of what strict queues leave}
    mtu: int | None = None
    watchdog: bool | None = None
    watchdog_detection_ms: int | None = None
    watchdog_recovery_ms: int | None = None
    watchdog_action: str | None = None
    dcbx: str | None = None  # ieee, cee, off
    pause: bool | None = None  # link-level pause of all traffic, in either direction
    cable_length_m: int | None = None
    speed: int | None = None  # Gbit/s
    enabled: bool | None = None  # False: an administrator shut it down
    vlan_mode: str | None = None  # access, trunk, routed; None: the VLANs are not known
    untagged: int | None = None  # VLAN of packets without a tag; None where such packets are dropped
    tagged: str | None = None  # VLANs that it carries with their tag, as 111,200-299; '' for none


@dataclass
class Oper:
    """One port as it runs. Counters are totals since they were cleared."""

    up: bool | None = None
    trust: str | None = None
    pfc_mode: str | None = None  # on, off, auto, where the switch shows it beside what acts
    pfc: list[int] | None = None  # priorities for which flow control acts now
    pfc_sends: bool | None = None
    ecn: dict[int, Marking] | None = None  # {queue: Marking}
    mtu: int | None = None
    watchdog: bool | None = None
    # Priorities or queues whose traffic the watchdog holds up now, since their peer does not stop pausing.
    storms: list[int] | None = None
    dcbx: str | None = None  # what was agreed: ieee, cee, off, none (no peer)
    counters: dict[str, Any] = field(default_factory=dict)  # see COUNTERS


# Keys of Oper.counters: numbers, or {priority: number} for the first two.
COUNTERS = (
    "pauses_received",
    "pauses_sent",
    "roce_packets_received",
    "roce_packets_sent",
    "roce_drops",
    "ecn_marked",
    "cnp_packets_sent",
    "watchdog_events",
    # All classes together.
    "packets_received",
    "packets_sent",
    "bytes_received",
    "bytes_sent",
    "discards_received",
    "discards_sent",
)


@dataclass
class Neighbour:
    """What LLDP shows behind a port."""

    system: str | None = None  # its name
    port: str | None = None  # its port, as it calls it
    chassis: str | None = None
    description: str | None = None


@dataclass
class Switch:
    """One switch as it was read."""

    platform: str
    hostname: str | None = None
    version: str | None = None
    model: str | None = None
    ports: dict[str, Port] = field(default_factory=dict)  # {name: Port}
    oper: dict[str, Oper] = field(default_factory=dict)  # {name: Oper}
    # {name: [Neighbour, ...]}; more than one means two LLDP agents
    neighbours: dict[str, list[Neighbour]] = field(default_factory=dict)
    # What is set and contradicts a preset, or turns everything off: sentences.
    exceptions: list[str] = field(default_factory=list)
    # {object of ours: ports that use it}; what nobody uses any more is removed.
    own: dict[str, list[str]] = field(default_factory=dict)
    unsaved: bool | None = None  # whether what runs is not what a restart comes back with
    counted: dict[str, str] = field(default_factory=dict)  # {command: all that it printed} of those that tell counters
    unread: list[str] = field(default_factory=list)  # commands that the switch refused, as sentences
    config: str = ""  # what the switch has for QoS, as it writes it: the backup; without users, keys, communities
    raw: object = None  # the platform's own reading, for its render()


def as_data(switch: Switch, ports: Iterable[str] | None = None) -> dict[str, Any]:
    """A Switch, or some ports of it, as the result of a module."""
    names = list(switch.ports) if ports is None else ports
    return {
        "platform": switch.platform,
        "hostname": switch.hostname or "",
        "version": switch.version or "",
        "model": switch.model or "",
        "exceptions": list(switch.exceptions),
        "unread": list(switch.unread),
        "unsaved": switch.unsaved,
        "counted": dict(switch.counted),
        "ports": {name: _port_data(switch, name) for name in names},
    }


def from_data(data: Mapping[str, Any]) -> Switch:
    """The Switch that as_data made; keys that were numbers have become texts on the way through JSON."""
    switch = Switch(
        **cast("dict[str, Any]", {key: data.get(key) for key in ("hostname", "version", "model")}),
        platform=data.get("platform") or "",
        exceptions=list(data.get("exceptions") or []),
        unread=list(data.get("unread") or []),
        unsaved=data.get("unsaved"),
    )
    for name, told in (data.get("ports") or {}).items():
        switch.ports[name] = _made(Port, told)
        switch.oper[name] = _made(Oper, told.get("running") or {})
        switch.neighbours[name] = [_made(Neighbour, one) for one in told.get("neighbours") or []]
    return switch


def _port_data(switch: Switch, name: str) -> dict[str, Any]:
    running = switch.oper.get(name)
    return dict(
        asdict(switch.ports[name]),
        running=asdict(running) if running is not None else {},
        neighbours=[asdict(one) for one in switch.neighbours.get(name, [])],
    )


def _made(kind: type[T], told: Mapping[str, Any]) -> T:
    known = {one.name for one in fields(kind)}
    return kind(**{key: _numbered(key, value) for key, value in told.items() if key in known})


def _numbered(key: str, value: Any) -> Any:
    """Tables by DSCP, priority and queue have numbers as keys; counters have names."""
    if not isinstance(value, dict):
        return value
    if key == "counters":
        return {name: _numbered(name, inner) for name, inner in value.items()}
    return {int(number): Marking(**inner) if key == "ecn" else inner for number, inner in value.items()}
