# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What one look at one measurement finds: a figure, and remarks on it. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

PASS, WARN, FAIL, SKIPPED, NOT_RUN = "pass", "warn", "fail", "skipped", "not_run"
# A value that is measured and shown, and to which nothing is required: never a pass, and never in the way of others.
NOT_REQUIRED = "not_required"
# From harmless to bad, for what was measured.
ORDER = (NOT_REQUIRED, PASS, WARN, FAIL)


@dataclass(frozen=True)
class Remark:
    """Something that is not as it should be, as a sentence, with the narrowest place that is known."""

    verdict: str
    why: str
    cause: str = ""
    code: str = ""


@dataclass
class Found:
    """What a check made of its values. Without a figure it is never passed."""

    measured: float | str | None = None
    remarks: list[Remark] = field(default_factory=list)
    # Why the values say that the check does not apply.
    skip: str = ""
    # What was expected, where no mark says it.
    expected: str = ""
    # What a run has to do besides its figure; a figure without a bound is not required where this is empty.
    duty: str = ""
    source: str = ""
    low: float | None = None
    high: float | None = None
    # Whether marks, the baseline and the other guests are to be compared with the figure.
    compared: bool = True
    # Said of a row that passed.
    note: str = ""
    # Why nothing is required of the value; empty where something is.
    free: str = ""

    def fail(self, why: str, cause: str = "", code: str = "") -> Found:
        self.remarks.append(Remark(FAIL, why, cause, code))
        return self

    def warn(self, why: str, cause: str = "", code: str = "") -> Found:
        self.remarks.append(Remark(WARN, why, cause, code))
        return self

    @property
    def verdict(self) -> str:
        least = NOT_REQUIRED if self.free else PASS
        return max((remark.verdict for remark in self.remarks), key=ORDER.index, default=least)

    @property
    def told(self) -> list[Remark]:
        """The remarks, worst first; those of one kind keep their order."""
        return sorted(self.remarks, key=lambda remark: -ORDER.index(remark.verdict))


@dataclass(frozen=True)
class About:
    """What a check knows besides its values."""

    check: str
    subject: Mapping[str, Any]
    variant: str
    intent: Mapping[str, Any]
    places: Mapping[str, Mapping[str, Any]]
    # {guest: RDMA figure in Gb/s} and other figures of rungs below.
    below: dict[str, Any] = field(default_factory=dict)
    simulated: bool = False

    @property
    def guests(self) -> list[str]:
        return guests_of(self.subject)


def guests_of(subject: Mapping[str, Any]) -> list[str]:
    """The guests that a subject is about."""
    if "guest" in subject:
        return [subject["guest"]]
    if "from" in subject:
        return [subject["from"], subject["to"]]
    return list(subject.get("guests") or [])


def number(value: Any) -> float | None:
    """A finite number, or None; True is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return value


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def listing(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else []


def short(value: Any) -> str:
    """A figure as people write it: three digits after the point at most, and none where there are many before it."""
    if number(value) is None:
        return str(value)
    if value == int(value) or abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) < 1 else f"{value:.2f}".rstrip("0").rstrip(".")
