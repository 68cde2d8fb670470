# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Both kinds of cable ends in one data type, and the data type of a disagreement. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Collection, Iterable, Tuple, TypedDict

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts.endpoint import Endpoint
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Oper, Port

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Neighbour

    Key = Tuple[str, str]  # owner and name of a Side

    class Place(TypedDict):
        """An end as data."""

        name: str
        port: str

    class Seen(TypedDict):
        """The values at both ends."""

        a: object
        b: object

    class Finding(TypedDict):
        """One disagreement, as finding() builds it."""

        msg: str
        code: str
        severity: str
        a: Place
        b: Place | None
        key: str
        seen: Seen
        breaks: str

    class Compared(TypedDict):
        """The parts that every Answer has."""

        agreed: bool
        disagreements: list[Finding]
        not_known: list[str]
        paths: list[dict[str, object]]
        ends: list[dict[str, object]]
        wanted: dict[str, object]

    class Answer(Compared, total=False):
        """The result of agree(); its caller adds the summary."""

        summary: list[str]


ERROR, WARNING = "error", "warning"
# Settings that no known command of a platform reports, in the words of hops.py and ends.py.
UNREPORTED = {
    "sonic": ("link-level pause",),
    "enterprise_sonic": ("link-level pause",),
    "os10": ("the watchdog",),
    "esxi": ("the reaction to ECN marks", "the CNP DSCP"),
    # Of Linux by driver. Only DOCA-OFED adds a file for each priority.
    "mlx5_core": ("the reaction to ECN marks",),
}


@dataclass(frozen=True)
class Treatment:
    """The desired RoCE QoS: that of an intent, or that of most ends. None means unknown."""

    dscp: int = Intent.dscp
    priority: int = Intent.priority
    cnp_dscp: int | None = None
    cnp_priority: int | None = None
    lossless: bool = True
    sends_pauses: bool = True  # whether switches send pauses; semi-lossless switches do not
    ecn: bool = True
    watchdog: bool = True
    host_mtu: int | None = None  # the largest of the adapters that carry RoCE
    cable_length_m: int | None = None
    from_intent: bool = False

    @property
    def source(self) -> str:
        """Source of the desired state, as the subject of a sentence."""
        return "the intent" if self.from_intent else "most of the fabric"


@dataclass
class Side:
    """A port of a switch, or an adapter of a host or guest."""

    owner: str
    name: str
    port: Port = None  # type: ignore[assignment]
    oper: Oper | None = None
    endpoint: Endpoint = None  # type: ignore[assignment]
    platform: str = ""
    neighbours: list[Neighbour] = field(default_factory=list)

    @property
    def key(self) -> Key:
        return (self.owner, self.name)

    @property
    def place(self) -> str:
        return f"{self.owner} {self.name}"

    @property
    def is_switch(self) -> bool:
        return self.port is not None

    @property
    def mtu(self) -> int | None:
        return (self.port or self.endpoint).mtu

    @property
    def speed(self) -> int | None:
        """Link speed in Gbit/s; None if not reported."""
        return (self.port or self.endpoint).speed

    @property
    def pause(self) -> bool | None:
        return (self.port or self.endpoint).pause

    @property
    def cable_length_m(self) -> int | None:
        return (self.port or self.endpoint).cable_length_m

    @property
    def pfc(self) -> list[int] | None:
        """Priorities with PFC, as configured; the effective ones may differ. None: not reported."""
        if self.is_switch:
            return [] if self.port.pfc_mode == "off" else self.port.pfc
        return self.endpoint.pfc

    @property
    def unreported(self) -> tuple[str, ...]:
        """Settings that its platform never reports, in words."""
        if self.is_switch:
            return UNREPORTED.get(self.platform, ())
        return UNREPORTED.get(self.endpoint.kind, UNREPORTED.get(self.endpoint.driver or "", ()))

    def sends(self, priority: int) -> bool | None:
        """Return whether it sends pauses for a priority; None if not reported."""
        if self.is_switch:
            reported = None if self.pfc is None else priority in self.pfc
            return reported if self.port.pfc_sends is not False else False
        return _in(priority, self.endpoint.pfc_sends, self.endpoint.pfc)

    def obeys(self, priority: int) -> bool | None:
        """Return whether it obeys pauses for a priority; None if not reported."""
        if self.is_switch:
            return None if self.pfc is None else priority in self.pfc
        return _in(priority, self.endpoint.pfc_obeys, self.endpoint.pfc)

    def priority_of(self, dscp: int | None) -> int | None:
        """The priority that a DSCP maps to; None if not reported."""
        table = (self.port or self.endpoint).dscp_map
        return None if table is None or dscp is None else table.get(dscp)


def finding(
    code: str,
    severity: str,
    side: Side,
    says: str,
    breaks: str,
    key: str,
    value: object,
    other: Side | str | None = None,
    other_says: str = "",
    other_value: object = None,
) -> Finding:
    """One disagreement: a sentence, and the same as data. other: a Side, or a text if it is no cable end."""
    second = f", while {_place(other)} {other_says}" if other is not None else ""
    return {
        "msg": f"{side.place} {says}{second}: {breaks}.",
        "code": code,
        "severity": severity,
        "a": _end(side),
        "b": _end(other) if isinstance(other, Side) else None,
        "key": key,
        "seen": {"a": value, "b": other_value},
        "breaks": breaks,
    }


def numbers(values: Iterable[int] | None) -> str:
    """'priority 3', 'priorities 3 and 4', 'no priority'."""
    texts = [str(value) for value in values or []]
    if not texts:
        return "no priority"
    return f"priority {texts[0]}" if len(texts) == 1 else f"priorities {', '.join(texts[:-1])} and {texts[-1]}"


def _in(priority: int, first: Collection[int] | None, second: Collection[int] | None) -> bool | None:
    reported = second if first is None else first
    return None if reported is None else priority in reported


def _place(other: Side | str) -> str:
    return other.place if isinstance(other, Side) else other


def _end(side: Side) -> Place:
    return {"name": side.owner, "port": side.name}
