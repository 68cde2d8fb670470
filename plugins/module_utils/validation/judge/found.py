# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The result of one check of one measurement: a figure, and remarks on it. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

PASS, WARN, FAIL, SKIPPED, NOT_RUN = "pass", "warn", "fail", "skipped", "not_run"
# A value that is measured and shown, but not required: it never passes, and it never blocks other checks.
NOT_REQUIRED = "not_required"
# From harmless to bad, for measured values.
ORDER = (NOT_REQUIRED, PASS, WARN, FAIL)


@dataclass(frozen=True)
class Remark:
    """One problem as a sentence, with the narrowest known location."""

    verdict: str
    why: str
    cause: str = ""
    code: str = ""


@dataclass
class Found:
    """The result of a check. Without a figure, it never passes."""

    measured: float | str | None = None
    remarks: list[Remark] = field(default_factory=list)
    # Reason for which the check does not apply, by its values.
    skip: str = ""
    # The expectation, if no threshold states it.
    expected: str = ""
    # Requirement of a run besides its figure. If it is empty, a figure without a threshold is not required.
    duty: str = ""
    source: str = ""
    low: float | None = None
    high: float | None = None
    # Whether to compare the figure with thresholds, the baseline and other guests.
    compared: bool = True
    # Remark on a row that passed.
    note: str = ""
    # Reason for which the value is not required; empty if it is required.
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
    def reported(self) -> list[Remark]:
        """The remarks, worst first; those of one kind keep their order."""
        return sorted(self.remarks, key=lambda remark: -ORDER.index(remark.verdict))


@dataclass(frozen=True)
class About:
    """The context of a check besides its values."""

    check: str
    subject: Mapping[str, Any]
    variant: str
    intent: Mapping[str, Any]
    places: Mapping[str, Mapping[str, Any]]
    # {guest: RDMA figure in Gb/s} and other figures of earlier checks.
    below: dict[str, Any] = field(default_factory=dict)
    simulated: bool = False

    @property
    def guests(self) -> list[str]:
        return guests_of(self.subject)


def guests_of(subject: Mapping[str, Any]) -> list[str]:
    """The guests of a subject."""
    if "guest" in subject:
        return [subject["guest"]]
    if "from" in subject:
        return [subject["from"], subject["to"]]
    return list(subject.get("guests") or [])


def number(value: Any) -> float | None:
    """A finite number, or None. A boolean is not a number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return value


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def listing(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else []


def short(value: Any) -> str:
    """A readable figure: at most three decimals, and none for large figures."""
    if number(value) is None:
        return str(value)
    if value == int(value) or abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) < 1 else f"{value:.2f}".rstrip("0").rstrip(".")
