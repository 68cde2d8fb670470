# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The verdict at the top of the report. It claims no more than the rows show, and nothing about simulated hardware."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.rows import counts, worst
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.values import mapping, text

STATES = ("fail", "incomplete", "warn", "pass")
TITLES = {
    "pass": ("Passed", "Passed in a rehearsal"),
    "warn": ("Passed with warnings", "Passed with warnings in a rehearsal"),
    "fail": ("Failed", "Failed in a rehearsal"),
    "incomplete": ("Not complete", "Rehearsal, not complete"),
}
OF_ROWS = {"pass": "pass", "warn": "warn", "fail": "fail"}
OF_ROWS.update(dict.fromkeys(("not_run", "not_required", "skipped"), "incomplete"))
# Verdicts of problems, and of checks without a result, in words.
WRONG = {"fail": "failed", "warn": "warned", "not_run": "could not run"}
LEFT_OUT = {"not_required": "not required", "skipped": "skipped"}
# Problems at the top of the report, and objects that one of them names.
SHOWN, NAMED = 20, 6


def verdict(
    recorded: Any,
    rows: Sequence[Mapping[str, Any]],
    simulated: Sequence[str],
    stages: Sequence[str],
    broken_off: str,
    remarks: list[str],
    parts: Iterable[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """The verdict of the report.

    simulated has the simulated parts that the run declares. stages has the failed stages, broken_off the stage without
    an end. parts counts the trainings, versions and so on that depend on simulated parts: [{what, simulated, all}].
    `summary` is one sentence of the report itself, `sentence` the recorded one.
    """
    said = mapping(recorded)
    state = _state(said, rows, stages, remarks)
    many = sum(row["simulated"] for row in rows)
    measured = sum(row["measured"] not in (None, "") for row in rows)
    groups = _not_right(rows)
    parts = [{"what": "checks", "simulated": many, "all": len(rows)}, *parts]
    rehearsal = bool(simulated) or any(one["simulated"] for one in parts)
    sentence = text(said.get("sentence")) if state == text(said.get("state")) else ""
    summary = _summary(state, rows, stages, broken_off)
    return {
        "state": state,
        "title": TITLES[state][rehearsal],
        "summary": summary,
        "sentence": sentence or summary,
        "rehearsal": rehearsal,
        "claim": _claim(rehearsal, parts, measured),
        "counts": counts(rows),
        "rows": len(rows),
        "simulated_rows": many,
        "simulated_counts": parts,
        "not_right": groups[:SHOWN],
        "not_right_more": max(0, len(groups) - SHOWN),
    }


def _state(
    said: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], stages: Sequence[str], remarks: list[str]
) -> str:
    """The worse of the recorded verdict and the verdict of the rows."""
    recorded = text(said.get("state"))
    found = [OF_ROWS[worst(rows)] if rows else "incomplete"]
    # A row that could not run makes the run incomplete, also if other rows warn.
    if any(row["verdict"] == "not_run" for row in rows):
        found.append("incomplete")
    if stages:
        found.append("fail")
    if recorded in STATES:
        found.append(recorded)
    elif rows:
        remarks.append("The verdict was not recorded. The report derives it from the checks.")
    state = min(found, key=STATES.index)
    if recorded in STATES and state != recorded:
        remarks.append(f"The recorded verdict is '{recorded}'. The checks do not confirm it. The verdict is '{state}'.")
    return state


def _summary(state: str, rows: Sequence[Mapping[str, Any]], stages: Sequence[str], broken_off: str) -> str:
    """The verdict in one sentence."""
    have, many = counts(rows), len(rows)
    if stages:
        return f"The run stopped in stage {' and '.join(stages)}."
    if not rows:
        return f"The run was interrupted in stage {broken_off}." if broken_off else "No check was recorded."
    parts = [f"{have[verdict]} {word}" for verdict, word in WRONG.items() if have[verdict]]
    if parts:
        first = next(row for verdict in WRONG for row in rows if row["verdict"] == verdict)
        return f"{_joined(parts)} of {many} checks; first: {first['title']}{_on(first)}."
    left = [f"{have[verdict]} {word}" for verdict, word in LEFT_OUT.items() if have[verdict]]
    if not have["pass"]:
        return f"No check passed: {_joined(left)}."
    if state != "pass":
        return f"The recorded verdict is '{state}', although all {have['pass']} required checks passed."
    return f"All {have['pass']} required checks passed{', ' if left else ''}{_joined(left)}."


def _on(row: Mapping[str, Any]) -> str:
    return f" on {row['on']}" if row["on"] else ""


def _claim(rehearsal: bool, parts: Sequence[Mapping[str, Any]], measured: int) -> str:
    of_hardware = "about the speed or the health of real hardware."
    counted = [f"{one['simulated']} of {one['all']} {one['what']}" for one in parts if one["simulated"]]
    rest = f"{_joined(counted) or 'No results'} depend on simulated parts." if rehearsal else ""
    if not measured:
        parted = [rest] if counted else []
        return " ".join(["Nothing was measured.", *parted, f"The run proves nothing {of_hardware}"])
    if not rehearsal:
        return "Measured on real devices. No result of this run depends on a simulated part."
    return f"{rest} The run shows that the procedure works. It proves nothing {of_hardware}"


def _joined(words: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def _not_right(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Problems, the most severe first. Rows of a check with the same problem are grouped. A row that could not run
    because of another row is counted with that row."""
    order = ("fail", "warn", "not_run")
    wrong = [row for row in rows if row["verdict"] in order and not row["because"]]
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in sorted(wrong, key=lambda row: order.index(row["verdict"])):
        groups.setdefault((row["check"], row["title"], row["kind"], row["verdict"], row["cause"]), []).append(row)
    return [_short(mine, rows) for mine in groups.values()]


def _short(mine: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    first, ids = mine[0], {row["id"] for row in mine}
    keys = ("id", "anchor", "title", "on", "kind", "verdict", "measured", "unit", "why", "cause", "simulated")
    shown = {key: first[key] for key in keys}
    names = [row["on"] or row["id"] for row in mine]
    if len(names) > NAMED:
        names[NAMED - 1 :] = [f"{len(names) - NAMED + 1} more"]
    shown.update(
        on="; ".join(names) if len(names) > 1 else first["on"],
        # The reason of the first row, because the numbers of the others differ.
        why=first["why"] if len({row["why"] for row in mine}) == 1 else f"{first['on']}: {first['why']}",
        rows=len(mine),
        expected=first["expected"]["text"],
        simulated=any(row["simulated"] for row in mine),
        holds_up=sum(not ids.isdisjoint(row["because"]) for row in rows),
    )
    return shown
