# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The verdict over all rows, and further data of the report. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import check_cluster
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import (
    FAIL,
    NOT_REQUIRED,
    NOT_RUN,
    PASS,
    SKIPPED,
    WARN,
    guests_of,
    number,
)

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.entry import Entry

INCOMPLETE = "incomplete"
VERDICTS = (PASS, NOT_REQUIRED, WARN, FAIL, SKIPPED, NOT_RUN)
NOTHING = "No check passed: every check is skipped or not required."
WORDS = {FAIL: "failed", NOT_RUN: "did not run", WARN: "warned"}


def verdict(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """{state, sentence, counts}. A check that did not run prevents a pass, as a failed check does."""
    counts = {name: sum(row["verdict"] == name for row in rows) for name in VERDICTS}
    counts["all"] = len(rows)
    counts["simulated"] = sum(bool(row["simulated"]) for row in rows)
    return {"state": _state(counts), "sentence": _sentence(rows, counts), "counts": counts}


def simulated(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The titles of checks that depend on simulated parts."""
    return sorted({row["title"] for row in rows if row["simulated"]})


def trainings(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """Trainings in the format of the validation result."""
    made = []
    for entry in entries:
        row = entry.row
        if entry.check != "cluster.training" or number(row["measured"]) is None:
            continue
        reported = check_cluster.figures(entry.values)
        count, _colon, wanted = entry.variant.partition(":")
        nodes = int(count) if count.isdecimal() else len(guests_of(entry.subject))
        wanted = wanted or ("rdma" if reported["transport"] in ("rdma", "mixed") else "tcp")
        dispersion = reported["dispersion"] or {}
        made.append(
            {
                "nodes": nodes,
                "ranks": reported["devices"] or nodes,
                "wanted": wanted,
                "transport": _went(nodes, wanted, reported["transport"]),
                "model": reported["model"] or "",
                "images_per_s": row["measured"],
                "spread": dispersion.get("half"),
                "iterations": reported["iterations"],
                "simulated": bool(row["simulated"]),
                "guests": guests_of(entry.subject),
                "verdict": row["verdict"],
            }
        )
    return made


def _went(nodes: int, wanted: str, seen: str | None) -> str:
    """Transport of a training; empty if RDMA is not proven. One node alone uses no network."""
    if nodes < 2:
        return wanted
    # TCP is also used without NCCL, so no log has to prove it.
    return seen or ("" if wanted == "rdma" else wanted)


def thresholds(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The thresholds that figures were compared with, each once."""
    made: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        expected = row["expected"]
        if expected["low"] is None and expected["high"] is None:
            continue
        one = {
            "check": row["check"],
            "low": expected["low"],
            "high": expected["high"],
            "unit": row["unit"],
            "source": expected["source"],
        }
        made.setdefault(tuple(map(str, one.values())), one)
    return list(made.values())


def _state(counts: Mapping[str, int]) -> str:
    if counts[FAIL]:
        return FAIL
    # If every check is skipped or not required, nothing is proven.
    if counts[NOT_RUN] or not counts[PASS] + counts[WARN]:
        return INCOMPLETE
    return WARN if counts[WARN] else PASS


def _sentence(rows: Sequence[Mapping[str, Any]], counts: Mapping[str, int]) -> str:
    many = counts["all"]
    if not many:
        return "No check was evaluated."
    parts = [f"{counts[name]} {word}" for name, word in WORDS.items() if counts[name]]
    left = f", {counts[SKIPPED]} skipped" if counts[SKIPPED] else ""
    left += f", {counts[NOT_REQUIRED]} not required" if counts[NOT_REQUIRED] else ""
    first = next((row for name in WORDS for row in rows if row["verdict"] == name), None)
    if first is None:
        said = f"All {counts[PASS]} checks passed{left}." if counts[PASS] else NOTHING
    else:
        where = f" Location or cause: {first['cause']}." if first["cause"] else ""
        said = f"{many} checks: {', '.join(parts)}{left}. First: {first['id']}: {first['why'].rstrip('.')}.{where}"
    if counts["simulated"]:
        said += f" {counts['simulated']} depend on simulated parts and prove nothing about real hardware."
    return said
