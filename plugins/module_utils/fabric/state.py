# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""RoCE QoS of a switch, in the same terms on every platform. None: not reported, or not available there."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Iterable, Mapping, TypeVar, cast

if TYPE_CHECKING:
    T = TypeVar("T", "Port", "Oper", "Neighbour")


@dataclass(frozen=True)
class Marking:
    """ECN of one queue. `mark` is False if packets above the thresholds are dropped, not marked."""

    min_bytes: int
    max_bytes: int
    probability: int | None = None
    mark: bool = True


@dataclass
class Port:
    """The configuration of one port, resolved to its effect on packets."""

    trust: str | None = None  # dscp, pcp, both, none
    dscp_map: dict[int, int] | None = None  # {DSCP: priority}: all known entries, with platform defaults
    queues: dict[int, int] | None = None  # {priority: egress queue}
    groups: dict[int, int] | None = None  # {priority: ingress priority group}; if the platform can set it
    pfc_mode: str | None = None  # on, off, auto (negotiated by DCBX)
    pfc: list[int] | None = None  # priorities with PFC, as configured, for any pfc_mode
    pfc_queues: dict[int, int] | None = None  # {priority: queue that its pauses stop}; if the platform can set it
    pfc_sends: bool | None = None  # False: the port obeys pauses but sends none (semi-lossless)
    pfc_asymmetric: bool | None = None  # True: the port obeys pauses of all priorities, but sends only those of `pfc`
    lossless: list[int] | None = None  # priorities with headroom, whose packets are not dropped
    ecn: dict[int, Marking] | None = None  # {queue: Marking}
    strict: list[int] | None = None  # queues with strict priority
    shares: dict[int, int] | None = None  # {queue: percent of the bandwidth left by strict queues}
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
    untagged: int | None = None  # VLAN of untagged packets; None if the port drops them
    tagged: str | None = None  # tagged VLANs, as 111,200-299; '' for none


@dataclass
class Oper:
    """The running state of one port. Counters are totals since the last clear."""

    up: bool | None = None
    trust: str | None = None
    pfc_mode: str | None = None  # on, off, auto, if the switch shows it besides the effective state
    pfc: list[int] | None = None  # priorities with effective PFC
    pfc_sends: bool | None = None
    ecn: dict[int, Marking] | None = None  # {queue: Marking}
    mtu: int | None = None
    watchdog: bool | None = None
    # Priorities or queues that the watchdog blocks now, since their peer does not stop sending pauses.
    storms: list[int] | None = None
    dcbx: str | None = None  # negotiated: ieee, cee, off, none (no peer)
    # {priority: number} of pauses_received and pauses_sent; numbers of roce_packets_received, roce_packets_sent,
    # roce_drops, ecn_marked, cnp_packets_sent and watchdog_events; and, of all classes together, of packets_received,
    # packets_sent, bytes_received, bytes_sent, discards_received and discards_sent.
    counters: dict[str, Any] = field(default_factory=dict)


@dataclass
class Neighbour:
    """An LLDP neighbour of a port."""

    system: str | None = None  # its name
    port: str | None = None  # its own name for the port
    chassis: str | None = None
    description: str | None = None


@dataclass
class Switch:
    """One switch, as read."""

    platform: str
    hostname: str | None = None
    version: str | None = None
    model: str | None = None
    ports: dict[str, Port] = field(default_factory=dict)  # {name: Port}
    oper: dict[str, Oper] = field(default_factory=dict)  # {name: Oper}
    # {name: [Neighbour, ...]}; more than one means two LLDP agents
    neighbours: dict[str, list[Neighbour]] = field(default_factory=dict)
    # Sentences about settings that contradict a preset, or turn everything off.
    exceptions: list[str] = field(default_factory=list)
    # {object of this collection: ports that use it}; unused objects are removed.
    own: dict[str, list[str]] = field(default_factory=dict)
    unsaved: bool | None = None  # whether the running configuration differs from the startup configuration
    counted: dict[str, str] = field(default_factory=dict)  # {command: full output} of commands that report counters
    unread: list[str] = field(default_factory=list)  # commands that the switch rejected, as sentences
    config: str = ""  # QoS configuration in the syntax of the switch, for the backup; without users, keys, communities
    raw: object = None  # data of the platform for its render()


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
    """The Switch of an as_data() result; JSON has turned numeric keys into texts."""
    switch = Switch(
        **cast("dict[str, Any]", {key: data.get(key) for key in ("hostname", "version", "model")}),
        platform=data.get("platform") or "",
        exceptions=list(data.get("exceptions") or []),
        unread=list(data.get("unread") or []),
        unsaved=data.get("unsaved"),
    )
    for name, reported in (data.get("ports") or {}).items():
        switch.ports[name] = _made(Port, reported)
        switch.oper[name] = _made(Oper, reported.get("running") or {})
        switch.neighbours[name] = [_made(Neighbour, one) for one in reported.get("neighbours") or []]
    return switch


def _port_data(switch: Switch, name: str) -> dict[str, object]:
    running = switch.oper.get(name)
    return dict(
        asdict(switch.ports[name]),
        running=asdict(running) if running is not None else {},
        neighbours=[asdict(one) for one in switch.neighbours.get(name, [])],
    )


def _made(kind: type[T], reported: Mapping[str, Any]) -> T:
    known = {one.name for one in fields(kind)}
    return kind(**{key: _numbered(key, value) for key, value in reported.items() if key in known})


def _numbered(key: str, value: object) -> Any:
    """Restore numeric keys in tables by DSCP, priority and queue; counters have names."""
    if not isinstance(value, dict):
        return value
    if key == "counters":
        return {name: _numbered(name, inner) for name, inner in value.items()}
    return {int(number): Marking(**inner) if key == "ecn" else inner for number, inner in value.items()}
