# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The recorded rows of the check suite, grouped by layer and check, and counted."""

from __future__ import annotations

import re
from typing import Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.evidence import masked
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.values import (
    entries,
    flag,
    mapping,
    median,
    number,
    text,
    texts,
)

VERDICTS = ("fail", "warn", "not_run", "skipped", "not_required", "pass")
# Verdicts other than pass, the most severe first.
WORDS = {
    "fail": "failed",
    "warn": "warned",
    "not_run": "not run",
    "skipped": "skipped",
    "not_required": "not required",
}
# Verdicts that prevent the rows that need such a row.
STOPS = ("fail", "not_run")
BETTER = {"Gb/s": "higher", "GB/s": "higher", "img/s": "higher", "%": "higher", "us": "lower", "ms": "lower"}
LAYERS = {
    "guest": "Each guest",
    "placement": "Placement",
    "pair": "Pairs of guests",
    "fabric": "Fabric",
    "cluster": "All guests",
    "other": "Other",
}


def rows(recorded: Any, remarks: list[str]) -> list[dict[str, Any]]:
    """Rows with all keys and the right types. A contradictory row is corrected, and remarks has the reason."""
    found = [_row(entry, index, remarks) for index, entry in enumerate(entries(recorded), 1)]
    _follow(found)
    return found


def _follow(found: Sequence[dict[str, Any]]) -> None:
    """Set `because` of each row that could not run: the first rows below it that did not pass."""
    by_id = {row["id"]: row for row in found}
    known: dict[str, list[str]] = {}

    def roots(row: Mapping[str, Any]) -> list[str]:
        if row["id"] not in known:
            known[row["id"]] = []  # a row that needs itself ends here
            bad = [by_id[name] for name in row["needs"] if name in by_id and by_id[name]["verdict"] in STOPS]
            below = [name for one in bad for name in roots(one) or [one["id"]]]
            known[row["id"]] = list(dict.fromkeys(below)) if row["verdict"] == "not_run" else []
        return known[row["id"]]

    for row in found:
        row["because"] = [name for name in roots(row) if name != row["id"]]


def _row(entry: Mapping[str, Any], index: int, remarks: list[str]) -> dict[str, Any]:
    measured = entry.get("measured")
    if not isinstance(measured, str):
        measured = number(measured)
    label = text(entry.get("id")) or f"row {index}"
    row: dict[str, Any] = {
        "id": label,
        "anchor": f"row-{index}",
        "check": text(entry.get("check")) or label.split(" ")[0],
        "title": text(entry.get("title")) or text(entry.get("check")) or label,
        "layer": text(entry.get("layer")) if text(entry.get("layer")) in LAYERS else "other",
        "subject": mapping(entry.get("subject")),
        "on": on(mapping(entry.get("subject"))),
        "variant": text(entry.get("variant")),
        "kind": _kind(text(entry.get("variant"))),
        "command": [masked(word) for word in texts(entry.get("command"))],
        "version": text(entry.get("version")),
        "expected": _expected(mapping(entry.get("expected"))),
        "measured": measured,
        "unit": text(entry.get("unit")),
        "verdict": text(entry.get("verdict")),
        "why": text(entry.get("why")),
        "cause": text(entry.get("cause")),
        "better": "",
        "simulated": flag(entry.get("simulated")),
        "simulated_parts": texts(entry.get("simulated_parts")),
        "relaxed": texts(entry.get("relaxed")),
        "notes": texts(entry.get("notes")),
        "evidence": text(entry.get("evidence")),
        "excerpt": "",
        "needs": texts(entry.get("needs")),
        "because": [],
        "began": text(entry.get("began")),
        "seconds": number(entry.get("seconds")),
    }
    row["better"] = _better(row["expected"], row["unit"])
    if row["verdict"] not in VERDICTS:
        remarks.append(f"{label}: unknown verdict '{row['verdict']}'. The row counts as not run.")
        row["verdict"] = "not_run"
    words = {"pass": "passed", "not_required": "not required"}
    if row["verdict"] in words and row["measured"] in (None, ""):
        verdict = words[row["verdict"]]
        remarks.append(f"{label}: recorded as {verdict} without a measured value. The row counts as not run.")
        row["verdict"] = "not_run"
        row["why"] = row["why"] or "Nothing was measured."
    return row


def _expected(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "text": text(entry.get("text")),
        "low": number(entry.get("low")),
        "high": number(entry.get("high")),
        "source": text(entry.get("source")),
    }


def _kind(variant: str) -> str:
    """A variant in words, such as 4:rdma for a training on four nodes."""
    found = re.fullmatch(r"(\d+):(rdma|tcp)", variant)
    if found is None:
        return variant
    return f"{found[1]} {'node' if found[1] == '1' else 'nodes'}, {found[2].upper()}"


def _better(expected: Mapping[str, Any], unit: str) -> str:
    """The direction in which a value gets better, from its bounds, else from its unit; empty if unknown."""
    if (expected["low"] is None) != (expected["high"] is None):
        return "higher" if expected["high"] is None else "lower"
    return BETTER.get(unit, "")


def on(subject: Mapping[str, Any]) -> str:
    """The objects of a row, in words."""
    if "from" in subject and "to" in subject:
        return f"{text(subject['from'])} → {text(subject['to'])}"
    if "switch" in subject:
        return " ".join(part for part in (text(subject["switch"]), text(subject.get("port"))) if part)
    if isinstance(subject.get("guests"), list):
        return ", ".join(texts(subject["guests"]))
    return ", ".join(text(value) for value in subject.values() if text(value))


def counts(some: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many rows have each verdict."""
    return {verdict: sum(row["verdict"] == verdict for row in some) for verdict in VERDICTS}


def tally(numbers: Mapping[str, int]) -> str:
    """Counts of verdicts in words: 2 of 3 passed, 1 skipped."""
    passed = numbers["pass"]
    parts = [f"{passed} of {sum(numbers.values())} passed"] if passed else []
    return ", ".join(parts + [f"{numbers[verdict]} {word}" for verdict, word in WORDS.items() if numbers[verdict]])


def worst(some: Sequence[Mapping[str, Any]]) -> str:
    """The verdict of several rows: the first of fail, warn and not run that a row has, else pass if one passed."""
    have = {row["verdict"] for row in some}
    for verdict in ("fail", "warn", "not_run", "pass", "not_required", "skipped"):
        if verdict in have:
            return verdict
    return "not_run"


def layers(some: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Layers in the order of the check suite with their checks and rows, problems first."""
    layers = []
    for layer, title in LAYERS.items():
        here = [row for row in some if row["layer"] == layer]
        if here:
            # A check that runs before and after the timed runs has two titles.
            checks = [_check(key, here) for key in dict.fromkeys((row["check"], row["title"]) for row in here)]
            layers.append(
                {"layer": layer, "title": title, "verdict": worst(here), "counts": counts(here), "checks": checks}
            )
    return layers


def _check(key: tuple[str, str], here: Sequence[dict[str, Any]]) -> dict[str, Any]:
    mine = [row for row in here if (row["check"], row["title"]) == key]
    figures = [
        row["measured"] for row in mine if number(row["measured"]) is not None and row["unit"] == mine[0]["unit"]
    ]
    # A row that could not run often has no expected value.
    given = [row["expected"] for row in mine if row["expected"]["text"]]
    expected = list(dict.fromkeys(one["text"] for one in given))
    sources = {one["source"] for one in given}
    return {
        "check": key[0],
        "title": key[1],
        "verdict": worst(mine),
        "counts": counts(mine),
        "tally": tally(counts(mine)),
        "simulated": sum(row["simulated"] for row in mine),
        "relaxed": sum(bool(row["relaxed"]) for row in mine),
        "unit": mine[0]["unit"],
        "better": mine[0]["better"],
        "low": min(figures, default=None),
        "median": median(figures),
        "high": max(figures, default=None),
        # The value that all rows expect, or empty.
        "expected": expected[0] if len(expected) == 1 else "",
        "expected_of_each": expected,
        "source": sources.pop() if len(sources) == 1 else "",
        "rows": sorted(mine, key=lambda row: VERDICTS.index(row["verdict"])),
    }
