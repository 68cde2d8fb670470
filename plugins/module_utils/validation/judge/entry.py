# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A row of the check suite under construction: its subject, its findings, and the finished row. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import spread, suite
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import (
    NOT_REQUIRED,
    NOT_RUN,
    PASS,
    SKIPPED,
    WARN,
    guests_of,
    number,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import Found, Remark

# Rows derived from the rows that they need, which have the evidence.
DERIVED = "derived"


class Entry:
    """A row under construction: its subject, its findings, and the row itself."""

    def __init__(self, check: str, subject: Mapping[str, Any], variant: str, row: dict[str, Any] | None = None) -> None:
        self.check, self.subject, self.variant = check, subject, variant
        self.row = cast("dict[str, Any]", row)
        self.found: Found | None = None
        self.remarks: Sequence[Remark] = ()
        self.values: Mapping[str, Any] = {}
        self.place = suite.place(check, variant)


def blank(entry: Entry, key: str, last: Mapping[str, Any], intent: Mapping[str, Any]) -> dict[str, Any]:
    spec = suite.of(entry.check, entry.variant)
    return {
        "id": key,
        "check": entry.check,
        "title": suite.title(spec, intent) if spec is not None else entry.check,
        "layer": spec.layer if spec is not None else entry.check.partition(".")[0],
        "subject": entry.subject,
        "variant": entry.variant,
        "command": list(last.get("command") or []),
        "version": str(last.get("version") or ""),
        "expected": {"text": "", "low": None, "high": None, "source": ""},
        "measured": None,
        "unit": spec.unit if spec is not None else "",
        "verdict": NOT_RUN,
        "why": "",
        "cause": "",
        "simulated": bool(last.get("simulated")),
        "simulated_parts": list(last.get("simulated_parts") or []),
        "evidence": str(last.get("evidence") or ""),
        "needs": [],
        "began": str(last.get("began") or ""),
        "seconds": last.get("seconds"),
    }


def settle(entry: Entry, verdict: str, why: str) -> None:
    found = entry.found
    entry.row.update(verdict=verdict, why=why, measured=found.measured if found and verdict == SKIPPED else None)
    entry.found = None


def finish(entry: Entry) -> None:
    """Write the findings into the row."""
    found, row = entry.found, entry.row
    if found is None:
        return
    reported = entry.remarks = found.reported
    row["measured"] = found.measured
    row["verdict"] = found.verdict
    row["why"] = " ".join(remark.why for remark in reported) or found.free or found.note
    row["cause"] = next((remark.cause for remark in reported if remark.cause), "")
    have = row["expected"]
    have["text"] = have["text"] or "; ".join(one for one in (found.duty, found.expected) if one)
    have["source"] = have["source"] or found.source
    have["low"] = found.low if have["low"] is None else have["low"]
    have["high"] = found.high if have["high"] is None else have["high"]


def guard(entry: Entry) -> None:
    """Enforce the meaning of pass: required, measured, based on saved evidence, and met. Else downgrade the row."""
    row = entry.row
    if row["measured"] in (None, "") and row["verdict"] in (PASS, WARN, NOT_REQUIRED):
        row.update(verdict=NOT_RUN, why=row["why"] or "Nothing was measured.")
    elif row["verdict"] in (PASS, NOT_REQUIRED) and not _based(row):
        row.update(verdict=NOT_RUN, why=_joined("No evidence of the measurement is saved.", row["why"]))
    elif row["verdict"] == PASS and not _required(row["expected"]):
        row.update(verdict=NOT_REQUIRED, why=_joined("This value is not required.", row["why"]))
    elif row["verdict"] == PASS and not _met(row):
        row.update(verdict=WARN, why=_joined("The value does not meet the expectation.", row["why"]))


def _based(row: Mapping[str, Any]) -> bool:
    spec = suite.of(row["check"], row["variant"])
    derived = spec is not None and spec.of == DERIVED
    return bool(row["needs"] if derived else row["evidence"])


def _required(expected: Mapping[str, Any]) -> bool:
    return bool(expected["text"]) or expected["low"] is not None or expected["high"] is not None


def _met(row: Mapping[str, Any]) -> bool:
    low, high, value = row["expected"]["low"], row["expected"]["high"], number(row["measured"])
    if low is None and high is None:
        # The check itself compares a text.
        return True
    return value is not None and (low is None or value >= low) and (high is None or value <= high)


def _joined(*sentences: str) -> str:
    return " ".join(one for one in sentences if one)


def trouble(entry: Entry, status: str, why: str, places: Mapping[str, Mapping[str, Any]]) -> tuple[str, str, str]:
    """(why, cause, code) of a measurement without a figure."""
    said = why or {"timeout": "The test timed out.", "missing": "The test program is missing."}.get(
        status, "The test failed."
    )
    code = entry.values.get("error")
    code = code.get("code") if isinstance(code, dict) else code
    known = texts.meaning(code) if isinstance(code, str) else None
    guests = guests_of(entry.subject)
    if len(guests) == 2 and "from" in entry.subject:
        place = "between {} and {}".format(*(spread.where(guest, places) for guest in guests))
    else:
        blamed = guests if len(guests) == 1 else [guest for guest in guests if guest == entry.values.get("at")]
        place = ", ".join(spread.where(guest, places) for guest in blamed)
    if known is not None:
        said = f"{said.rstrip('.')}. {known[0]}. {known[1]}."
        place = f"{place}: {known[0]}" if place and len(guests) > 1 else place
    return said, place, code or status
