# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A row of the ladder on its way: what it is about, what was found, and how it is told. Pure."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.validation import rungs, spread
from ansible_collections.aiready.vsphere.plugins.module_utils.validation import text as texts
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.found import (
    NOT_RUN,
    PASS,
    SKIPPED,
    WARN,
    guests_of,
)


class Entry:
    """A row on its way: what it is about, what was found, and the row itself."""

    def __init__(self, check, subject, variant, row=None):
        self.check, self.subject, self.variant = check, subject, variant
        self.row = row
        self.found = None
        self.remarks = ()
        self.values = {}
        self.place = rungs.place(check, variant)


def blank(entry, key, last):
    rung = rungs.of(entry.check, entry.variant)
    return {
        "id": key,
        "check": entry.check,
        "title": rung.title if rung is not None else entry.check,
        "layer": rung.layer if rung is not None else entry.check.partition(".")[0],
        "subject": entry.subject,
        "variant": entry.variant,
        "command": list(last.get("command") or []),
        "version": str(last.get("version") or ""),
        "expected": {"text": "", "low": None, "high": None, "source": ""},
        "measured": None,
        "unit": rung.unit if rung is not None else "",
        "verdict": NOT_RUN,
        "why": "",
        "cause": "",
        "simulated": bool(last.get("simulated")),
        "evidence": str(last.get("evidence") or ""),
        "needs": [],
        "began": str(last.get("began") or ""),
        "seconds": last.get("seconds"),
    }


def settle(entry, verdict, why):
    found = entry.found
    entry.row.update(verdict=verdict, why=why, measured=found.measured if found and verdict == SKIPPED else None)
    entry.found = None


def finish(entry):
    """What was found, as the row tells it."""
    found, row = entry.found, entry.row
    if found is None:
        return
    told = entry.remarks = found.told
    row["measured"] = found.measured
    row["verdict"] = found.verdict
    row["why"] = " ".join(remark.why for remark in told) or found.note
    row["cause"] = next((remark.cause for remark in told if remark.cause), "")
    have = row["expected"]
    have["text"] = have["text"] or found.expected
    have["source"] = have["source"] or found.source
    have["low"] = found.low if have["low"] is None else have["low"]
    have["high"] = found.high if have["high"] is None else have["high"]


def guard(entry):
    """The last word: without a figure nothing passes."""
    row = entry.row
    if row["measured"] in (None, "") and row["verdict"] in (PASS, WARN):
        row.update(verdict=NOT_RUN, why=row["why"] or "Nothing was measured.")


def trouble(entry, status, why, places):
    """(why, cause, code) of a measurement that did not come to a figure."""
    said = why or {"timeout": "It did not end in time.", "missing": "Its program is missing."}.get(status, "It failed.")
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
