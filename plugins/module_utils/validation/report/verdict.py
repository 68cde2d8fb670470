# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What the report says on top. It never says more than the rows do, nor speaks of hardware where a device was
simulated."""

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
# How much of what is not right stands on top, and how many objects are named of one.
TOLD, NAMED = 20, 6


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

    simulated is what the run says of its devices; stages are those that failed, broken_off is the one that did not end.
    parts is how many trainings, versions and so on rest on simulated parts: [{what, simulated, all}].
    """
    said = mapping(recorded)
    state = _state(said, rows, stages, remarks)
    many = sum(row["simulated"] for row in rows)
    measured = sum(row["measured"] not in (None, "") for row in rows)
    groups = _not_right(rows)
    parts = [{"what": "checks", "simulated": many, "all": len(rows)}, *parts]
    rehearsal = bool(simulated) or any(one["simulated"] for one in parts)
    sentence = text(said.get("sentence")) if state == text(said.get("state")) else ""
    return {
        "state": state,
        "title": TITLES[state][rehearsal],
        "sentence": sentence or _sentence(state, rows, stages, broken_off),
        "rehearsal": rehearsal,
        "claim": _claim(rehearsal, parts, measured),
        "counts": counts(rows),
        "rows": len(rows),
        "simulated_rows": many,
        "simulated_counts": parts,
        "not_right": groups[:TOLD],
        "not_right_more": max(0, len(groups) - TOLD),
    }


def _state(
    said: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], stages: Sequence[str], remarks: list[str]
) -> str:
    """The worse of what was recorded and of what the rows say."""
    recorded = text(said.get("state"))
    found = [OF_ROWS[worst(rows)] if rows else "incomplete"]
    # A row that could not run is a gap, also beside rows that warn.
    if any(row["verdict"] == "not_run" for row in rows):
        found.append("incomplete")
    if stages:
        found.append("fail")
    if recorded in STATES:
        found.append(recorded)
    elif rows:
        remarks.append("The verdict was not recorded. It was worked out from the rows.")
    state = min(found, key=STATES.index)
    if recorded in STATES and state != recorded:
        remarks.append(f"The recorded verdict is '{recorded}'. The rows below do not bear it out, so it is '{state}'.")
    return state


def _sentence(state: str, rows: Sequence[Mapping[str, Any]], stages: Sequence[str], broken_off: str) -> str:
    if stages:
        return f"The run stopped in the stage {' and '.join(stages)}."
    if broken_off and not rows:
        return f"The run was broken off in the stage {broken_off}."
    if not rows:
        return "No check was recorded."
    if state == "pass":
        return f"All {len(rows)} checks passed, are not required or were skipped for a reason."
    return " and ".join(_parts(counts(rows))) + f" of {len(rows)} checks."


def _parts(numbers: Mapping[str, int]) -> list[str]:
    words = {"fail": "failed", "warn": "warned", "not_run": "could not run"}
    return [f"{numbers[verdict]} {word}" for verdict, word in words.items() if numbers[verdict]] or ["0 failed"]


def _claim(rehearsal: bool, parts: Sequence[Mapping[str, Any]], measured: int) -> str:
    of_hardware = "about the speed or the health of real hardware."
    told = [f"{one['simulated']} of {one['all']} {one['what']}" for one in parts if one["simulated"]]
    rest = f"{_joined(told) or 'No results'} rest on simulated parts." if rehearsal else ""
    if not measured:
        return " ".join(["Nothing was measured.", *([rest] if told else []), f"The run says nothing {of_hardware}"])
    if not rehearsal:
        return "Measured on real devices. No result of this run rests on a simulated part."
    return f"{rest} The run shows that the procedure works. It says nothing {of_hardware}"


def _joined(words: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def _not_right(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What is not right, the worst first; rows of a check that are wrong alike stand together, and what only could
    not run because of others is counted with those."""
    order = ("fail", "warn", "not_run")
    wrong = [row for row in rows if row["verdict"] in order and not row["because"]]
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in sorted(wrong, key=lambda row: order.index(row["verdict"])):
        groups.setdefault((row["check"], row["title"], row["kind"], row["verdict"], row["cause"]), []).append(row)
    return [_short(mine, rows) for mine in groups.values()]


def _short(mine: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    first, ids = mine[0], {row["id"] for row in mine}
    shown = {key: first[key] for key in ("id", "anchor", "title", "on", "kind", "verdict", "why", "cause", "simulated")}
    names = [row["on"] or row["id"] for row in mine]
    if len(names) > NAMED:
        names[NAMED - 1 :] = [f"{len(names) - NAMED + 1} more"]
    shown.update(
        on="; ".join(names) if len(names) > 1 else first["on"],
        # What was found of the first one; figures of the others are their own.
        why=first["why"] if len({row["why"] for row in mine}) == 1 else f"{first['on']}: {first['why']}",
        rows=len(mine),
        simulated=any(row["simulated"] for row in mine),
        holds_up=sum(not ids.isdisjoint(row["because"]) for row in rows),
    )
    return shown
