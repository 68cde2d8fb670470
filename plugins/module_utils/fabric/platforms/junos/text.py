# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read the class of service of Junos from its configuration in curly brackets or `set` lines. Pure."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts.words import dscp_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Dict, Tuple

    Statement = Tuple[str, ...]  # its words
    ForwardingClass = Dict[str, Any]  # queue, PFC priority (pfc) and no_loss

_WORD = re.compile(r'"[^"]*"|[{};\[\]]|[^\s{};\[\]]+')
STRICT = ("strict-high", "strict", "high")
SHARED = ("low", "medium-low", "medium-high")  # priorities of schedulers without strict priority
# Default forwarding classes of QFX switches with their queues. These two are lossless.
BUILT_IN = {"fcoe": 3, "no-loss": 4}
# Further default classes, which carry no RoCE.
USUAL = ("best-effort", "expedited-forwarding", "assured-forwarding", "network-control", "mcast")
# Default names of code points that other platforms do not have.
ALIASES = {"be": "000000", "nc1": "110000", "nc2": "111000"}


@dataclass
class Profile:
    """A congestion notification profile."""

    pfc: list[int] = field(default_factory=list)
    queues: dict[int, int] = field(default_factory=dict)  # {priority: queue that PFC pauses}
    sends: bool = False
    watchdog: bool = False
    detection_ms: int | None = None
    recovery_ms: int | None = None
    action: str | None = None
    cable_length_m: int | None = None


@dataclass
class Scheduler:
    """The scheduling of a queue and its drop profile."""

    ecn: bool = False
    profile: str | None = None  # the drop profile
    probability: int | None = None
    strict: bool = False
    share: int | None = None


def statements(lines: Iterable[str]) -> list[Statement]:
    """Return each statement of either form as a tuple of words, from the top of the hierarchy."""
    found: list[Statement]
    depth: list[Statement]
    words: list[str]
    dead: list[Statement]
    found, depth, words, dead = [], [], [], []
    for line in (re.sub(r"/\*.*?\*/|##.*$|#\s.*$", "", line).strip() for line in lines):
        if re.match(r"(set|delete|deactivate)\s", line):
            head, *rest = _WORD.findall(line.rstrip(";"))
            reported = tuple(word.strip('"') for word in rest if word not in "[]{};")
            (found if head == "set" else dead).append(reported)
            continue
        for word in _WORD.findall(line):
            if word == "{":
                depth.append(tuple(words))
                words = []
            elif word in ("}", ";"):
                if words and word == ";":
                    found.append(sum(depth, ()) + tuple(words))
                elif word == "}" and depth:
                    depth.pop()
                words = []
            elif word not in "[]":
                words.append(word.strip('"'))
    # An inactive statement and all statements below it have no effect.
    return [one for one in found if "inactive:" not in one and not any(one[: len(gone)] == gone for gone in dead)]


class ClassOfService:
    """The evaluated configuration below class-of-service."""

    def __init__(self, found: list[Statement]) -> None:
        self.statements = found = _without_aliases(found)
        self._by_first: dict[Statement, list[Statement]]
        self._by_interface: dict[str, list[Statement]] | None
        self._patterns: list[str]
        self._by_first, self._by_interface, self._patterns = {}, None, []
        for one in found:
            self._by_first.setdefault(one[:1], []).append(one)
        self.interfaces = sorted({one[1] for one in self.below("interfaces") if len(one) > 1})
        self._classes = self._forwarding_classes()
        self._priorities = self._priority_of_each()
        self.queues = {self._priorities[name]: one["queue"] for name, one in self._classes.items()}
        self.no_loss = [self._priorities[name] for name, one in self._classes.items() if one["no_loss"]]

    def below(self, *start: str) -> list[Statement]:
        return [one for one in self._by_first.get(start[:1], ()) if one[: len(start)] == start]

    def of_interface(self, name: str) -> list[Statement]:
        """Return the statements of an interface: exact names first, then matching patterns."""
        if self._by_interface is None:
            self._by_interface = {}
            for one in self.below("interfaces"):
                if len(one) > 2:
                    self._by_interface.setdefault(one[1], []).append(one[2:])
            self._patterns = [key for key in self._by_interface if "*" in key]
        patterns = [key for key in self._patterns if key != name and fnmatch.fnmatch(name, key)]
        return [one for key in (name, *patterns) for one in self._by_interface.get(key, ())]

    def trust(self, own: Sequence[Statement]) -> str | None:
        kinds = {one[3] for one in own if one[:1] == ("unit",) and one[2:3] == ("classifiers",) and len(one) > 4}
        kinds |= {one[1] for one in own if one[:1] == ("classifiers",) and len(one) > 2}
        if "dscp" in kinds and "ieee-802.1" in kinds:
            return "both"
        return "dscp" if "dscp" in kinds else "pcp" if "ieee-802.1" in kinds else None

    def dscp_map(self, own: Sequence[Statement]) -> dict[int, int]:
        """Return {DSCP: priority} of the classifier of an interface."""
        names = [one[-1] for one in own if "classifiers" in one and one[-2] == "dscp"]
        return self._classifier(names[0]) if names else {}

    def _classifier(self, name: str) -> dict[int, int]:
        return {
            dscp: self._priorities[one[4]]
            for one in self.below("classifiers", "dscp", name, "forwarding-class")
            if "".join(one[4:5]) in self._priorities
            for dscp in _code_points(one)
        }

    def profile(self, own: Sequence[Statement]) -> Profile:
        """Return the congestion notification profile of an interface."""
        names = [one[1] for one in own if one[0] == "congestion-notification-profile" and len(one) > 1]
        found = Profile()
        if not names:
            return found
        table = self.dscp_map(own)
        for one in (one[2:] for one in self.below("congestion-notification-profile", names[0])):
            self._input(found, one, table)
            priority, queue = _bits(_next(one, "code-point")), _number(_next(one, "flow-control-queue"))
            if one[:2] == ("output", "ieee-802.1") and priority is not None and queue is not None:
                found.queues[priority] = queue
            if one[:1] == ("pfc-watchdog",):
                found.watchdog = True
                _watchdog(found, one)
        found.sends = bool(found.pfc)
        # An output profile alone obeys PFC pauses but sends none.
        found.pfc = sorted({*found.pfc} or {*found.queues})
        return found

    def _input(self, found: Profile, one: Statement, table: Mapping[int, int]) -> None:
        if one[:1] != ("input",):
            return
        if "cable-length" in one:
            found.cable_length_m = _number(_next(one, "cable-length"))
        if "code-point" not in one or "pfc" not in one:
            return
        bits = _next(one, "code-point")
        if one[1] == "ieee-802.1":
            priority = _bits(bits)
        else:
            dscp = dscp_of(bits)
            priority = None if dscp is None else {**self._any_map(), **table}.get(dscp)
        if priority is not None:
            found.pfc.append(priority)

    def schedulers(self, own: Sequence[Statement]) -> dict[int, Scheduler]:
        """Return {queue: Scheduler} of the scheduler map of an interface, also with hierarchical scheduling."""
        names = [one[1] for one in own if one[0] == "scheduler-map" and len(one) > 1]
        profiles = [_next(one, "output-traffic-control-profile") for one in own if one[0] == "forwarding-class-set"]
        below = [one for name in profiles for one in self.below("traffic-control-profiles", name)]
        found = {}
        for name in names[:1] or [_next(one, "scheduler-map") for one in below if "scheduler-map" in one]:
            found.update(self._scheduled(name))
        return found

    def _scheduled(self, scheduler_map: str) -> dict[int, Scheduler]:
        found = {}
        for one in self.below("scheduler-maps", scheduler_map):
            if one[2:3] == ("forwarding-class",) and "".join(one[3:4]) in self._classes and "scheduler" in one:
                found[self._classes[one[3]]["queue"]] = self._scheduler(_next(one, "scheduler"))
        return found

    def _scheduler(self, name: str) -> Scheduler:
        found = Scheduler()
        for one in (one[2:] for one in self.below("schedulers", name)):
            if one[:1] == ("explicit-congestion-notification",):
                found.ecn = True
            elif one[:1] == ("drop-profile-map",) and "drop-profile" in one:
                found.profile = _next(one, "drop-profile")
                found.probability = self._probability(found.profile)
            elif one[:1] == ("priority",) and len(one) > 1:
                found.strict = one[1] in STRICT
            elif one[:2] == ("transmit-rate", "percent") and len(one) > 2:
                found.share = _number(one[2])
        return found

    def _probability(self, name: str) -> int | None:
        reported = [one for one in self.below("drop-profiles", name) if "drop-probability" in one]
        numbers = [int(word) for one in reported for word in one[one.index("drop-probability") :] if word.isdecimal()]
        return max(numbers, default=None)

    def contradictions(self) -> list[str]:
        """Return sentences about configuration that Junos accepts but does not apply."""
        found = []
        if any("apply-groups" in one for one in self.statements):
            found.append(
                "apply-groups inherits settings that this output does not show. The result is incomplete. Provide the "
                "output of `show configuration class-of-service | display inheritance` instead."
            )
        for name in sorted({one[1] for one in self.below("congestion-notification-profile") if len(one) > 1}):
            kinds = {one[3] for one in self.below("congestion-notification-profile", name, "input") if len(one) > 3}
            if {"dscp", "ieee-802.1"} <= kinds:
                found.append(
                    f"The congestion notification profile {name} contains DSCPs and 802.1p code points. One profile "
                    "cannot contain both. Use a profile for each kind."
                )
        shares = {
            side: one[-1]
            for side in ("ingress", "egress")
            for one in self.below("shared-buffer", side, "buffer-partition", "lossless", "percent")
        }
        if len(set(shares.values())) > 1:
            found.append(
                f"The lossless part of the shared buffer is {shares['ingress']} % at ingress and {shares['egress']} % "
                "at egress. QFX5220 and QFX5230 require the same value for both."
            )
        return found

    def strange(self) -> list[str]:
        """Return statements with an unknown form of value, and undefined names, as texts."""
        found = []
        for one in self.statements:
            codes = one[one.index("code-points") + 1 :] if "code-points" in one else ()
            wrong = [word for word in codes if dscp_of(word) is None and one[:2] == ("classifiers", "dscp")]
            if one[:1] == ("schedulers",) and one[2:3] == ("priority",) and "".join(one[3:4]) not in STRICT + SHARED:
                wrong += one[3:4]
            if one[:1] == ("schedulers",) and one[2:4] == ("transmit-rate", "percent"):
                wrong += [word for word in one[4:5] if not word.isdecimal()]
            if "queue-num" in one or "pfc-priority" in one:
                shown = [_next(one, word) for word in ("queue-num", "pfc-priority") if word in one]
                wrong += [word for word in shown if not word.isdecimal()]
            if one[:1] == ("congestion-notification-profile",) and "code-point" in one:
                bits = _next(one, "code-point")
                wrong += [bits] if (_bits(bits) if "ieee-802.1" in one else dscp_of(bits)) is None else []
            if wrong:
                found.append(" ".join(one))
        return [*dict.fromkeys(found), *self._undefined()]

    def _undefined(self) -> list[str]:
        """Return names that a statement refers to but that the provided configuration does not define."""
        kinds = {
            "classifier": {one[2] for one in self.below("classifiers", "dscp") if len(one) > 2},
            "congestion notification profile": {
                one[1] for one in self.below("congestion-notification-profile") if len(one) > 1
            },
            "scheduler map": {one[1] for one in self.below("scheduler-maps") if len(one) > 1},
            "scheduler": {one[1] for one in self.below("schedulers") if len(one) > 1},
            "drop profile": {one[1] for one in self.below("drop-profiles") if len(one) > 1},
        }
        used: dict[str, set[str]] = {kind: set() for kind in kinds}
        for one in self.below("interfaces"):
            if "classifiers" in one and one[-2:-1] == ("dscp",):
                used["classifier"].add(one[-1])
            for word, kind in (
                ("congestion-notification-profile", "congestion notification profile"),
                ("scheduler-map", "scheduler map"),
            ):
                used[kind] |= {_next(one, word)} if word in one else set()
        for one in self.below("scheduler-maps"):
            used["scheduler"] |= {_next(one, "scheduler")} if "scheduler" in one else set()
        for one in self.below("schedulers"):
            used["drop profile"] |= {_next(one, "drop-profile")} if "drop-profile" in one else set()
        # Junos defines these by default.
        found = [
            f"the {kind} {name}"
            for kind in kinds
            for name in sorted(used[kind] - kinds[kind])
            if name and not name.startswith("default") and name != "dscp-default"
        ]
        classes = {one[4] for one in self.below("classifiers", "dscp") if one[3:4] == ("forwarding-class",) and one[4:]}
        classes |= {one[3] for one in self.below("scheduler-maps") if one[2:3] == ("forwarding-class",) and one[3:]}
        known = {*self._classes, *USUAL}
        return found + [f"the forwarding class {name}" for name in sorted(classes - known)]

    def _forwarding_classes(self) -> dict[str, ForwardingClass]:
        found: dict[str, ForwardingClass] = {}
        for one in self.below("forwarding-classes"):
            if one[1:2] == ("class",) and len(one) > 2:
                name, rest = one[2], one[3:]
            elif one[1:2] == ("queue",) and len(one) > 3:
                # The older form has the queue first.
                name, rest = one[3], ("queue-num", one[2], *one[4:])
            else:
                continue
            entry = found.setdefault(name, {"queue": None, "pfc": None, "no_loss": False})
            for word, key in (("queue-num", "queue"), ("pfc-priority", "pfc")):
                if word in rest:
                    entry[key] = _number(_next(rest, word))
            entry["no_loss"] = entry["no_loss"] or "no-loss" in rest
        for one in self.statements:
            name = _next(one, "forwarding-class")
            if name in BUILT_IN:
                found.setdefault(name, {"queue": BUILT_IN[name], "pfc": None, "no_loss": True})
        return {name: one for name, one in found.items() if one["queue"] is not None}

    def _priority_of_each(self) -> dict[str, int]:
        """Return {forwarding class: its unique priority}."""
        found = {name: one["pfc"] for name, one in self._classes.items() if one["pfc"] is not None}
        first: dict[str, int] = {}
        for one in self.below("classifiers", "dscp"):
            if one[3:4] == ("forwarding-class",) and _code_points(one):
                first.setdefault(one[4], _code_points(one)[0] >> 3)
        for name, reported in self._classes.items():
            requests = (first.get(name), reported["queue"], *range(8))
            if name not in found:
                found[name] = next(
                    (requested for requested in requests if requested is not None and requested not in found.values()),
                    0,
                )
        return found

    def _any_map(self) -> dict[int, int]:
        """Return the joint map of all classifiers, for code points that the classifier of an interface does not map."""
        found = {}
        for name in {one[2] for one in self.below("classifiers", "dscp") if len(one) > 2}:
            found.update(self._classifier(name))
        return found


def _without_aliases(found: Sequence[Statement]) -> list[Statement]:
    """Return the statements with the bits of each DSCP instead of its name in code-point-aliases."""
    aliases = {**ALIASES, **{one[2]: one[3] for one in found if one[:2] == ("code-point-aliases", "dscp") and one[3:]}}
    made = []
    for one in found:
        start = next((one.index(word) for word in ("code-points", "code-point") if word in one), len(one))
        of_dscp = one[:1] in (("classifiers",), ("congestion-notification-profile",)) and "dscp" in one[:start]
        made.append((*one[:start], *(aliases.get(word, word) for word in one[start:])) if of_dscp else one)
    return made


def _code_points(one: Statement) -> list[int]:
    if "code-points" not in one:
        return []
    reported = [dscp_of(word) for word in one[one.index("code-points") + 1 :]]
    return [dscp for dscp in reported if dscp is not None]


def _next(words: Sequence[str], word: str) -> str:
    """Return the word after another word, or an empty text at the end."""
    return "".join(words[words.index(word) + 1 :][:1]) if word in words else ""


def _number(word: str) -> int | None:
    found = re.match(r"\d+", word)
    return int(found.group()) if found else None


def _bits(word: str) -> int | None:
    return int(word, 2) if re.fullmatch(r"[01]{3}", word) else None


def _watchdog(found: Profile, words: Sequence[str]) -> None:
    for word, attribute in (("detection", "detection_ms"), ("recovery", "recovery_ms")):
        if word in words:
            setattr(found, attribute, _number(_next(words, word)))
    if "pfc-watchdog-action" in words:
        found.action = _next(words, "pfc-watchdog-action") or None
