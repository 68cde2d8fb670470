# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What earlier runs had, to compare with where nothing is published. Pure: text in, text out.

A figure that is worse never takes the place of a better one unasked, and one of a simulated device never that of a
real one.
"""

from __future__ import annotations

import json
from typing import Any, Iterable, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import mapping, number

FORMAT = 1
# missing: only what is new. better: also what is better than before. replace: all, which the site has to ask for.
KEEP = ("missing", "better", "replace")
EMPTY = {"format": FORMAT, "entries": {}}


def parse(text: str, name: str = "the baseline") -> dict[str, Any]:
    """The baseline of a file; an empty text is one without entries."""
    if not (text or "").strip():
        return {"format": FORMAT, "entries": {}}
    try:
        found = json.loads(text)
    except ValueError as error:
        raise _damaged(name, f"It is no JSON: {error}") from error
    entries = mapping(found).get("entries")
    if mapping(found).get("format") != FORMAT or not isinstance(entries, dict):
        raise _damaged(name, f"It is not of the format {FORMAT} of this collection")
    for key, entry in entries.items():
        if number(mapping(entry).get("value")) is None or mapping(entry).get("better") not in ("high", "low"):
            raise _damaged(name, f"The entry {key} has no value, or does not say what is better")
    return {"format": FORMAT, "entries": dict(entries)}


def text_of(baseline: Mapping[str, Any]) -> str:
    """The file of a baseline, the same for the same entries."""
    return json.dumps(baseline, indent=2, sort_keys=True, allow_nan=False) + "\n"


def key_of(row_id: str, data_path: str, workload: Iterable[Any] = ()) -> str:
    """Figures of another data path are other figures, and so are those of another model or batch."""
    return ", ".join([f"{data_path}: {row_id}", *(str(one) for one in workload if one)])


def of_site(whole: Mapping[str, Any], site: str) -> dict[str, Any]:
    """What of a file is of one site. Sites may share a file, and the figures of one say nothing of another."""
    begin = _begin(site)
    entries = {key[len(begin) :]: one for key, one in whole["entries"].items() if key.startswith(begin)}
    return {"format": FORMAT, "entries": entries}


def with_site(whole: Mapping[str, Any], site: str, part: Mapping[str, Any]) -> dict[str, Any]:
    """The file with the entries of one site as they are now."""
    return {
        "format": FORMAT,
        "entries": {**whole["entries"], **{_begin(site) + key: one for key, one in part["entries"].items()}},
    }


def _begin(site: str) -> str:
    return f"{site} / " if site else ""


def compare(
    baseline: Mapping[str, Any] | None, key: str, value: float, simulated: bool = False
) -> dict[str, Any] | None:
    """{value, run, percent, worse_percent} of the entry that a figure can be compared with; None where there is none.

    percent is positive where the figure is better than before.
    """
    entry = mapping(mapping(baseline).get("entries")).get(key)
    if entry is None or number(value) is None or bool(entry.get("simulated")) != bool(simulated):
        return None
    was = number(entry.get("value"))
    if not was:
        return None
    percent = 100.0 * (value - was) / abs(was) * (1 if entry.get("better") == "high" else -1)
    return {
        "value": was,
        "run": entry.get("run", ""),
        "recorded": entry.get("recorded", ""),
        "percent": round(percent, 3),
        "worse_percent": round(max(0.0, -percent), 3),
    }


def record(
    baseline: Mapping[str, Any] | None,
    figures: Iterable[Mapping[str, Any]],
    run: str,
    recorded: str,
    keep: str = "missing",
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """(the new baseline, [what was done with each figure]).

    figures is [{key, value, unit, better, simulated, version}] of rows that passed. Nothing is done to the old one.
    """
    if keep not in KEEP:
        raise ValueError(f"keep is one of {', '.join(KEEP)}")
    entries, done = dict(mapping(mapping(baseline).get("entries"))), []
    for one in figures:
        if number(one.get("value")) is None:
            continue
        what = _what(entries.get(one["key"]), one, keep)
        done.append({"key": one["key"], "value": one["value"], "done": what})
        if what in ("recorded", "replaced"):
            entries[one["key"]] = {
                "value": one["value"],
                "unit": one.get("unit", ""),
                "better": one["better"],
                "simulated": bool(one.get("simulated")),
                "version": one.get("version", ""),
                "run": run,
                "recorded": recorded,
            }
    return {"format": FORMAT, "entries": entries}, done


def _what(old: Mapping[str, Any] | None, new: Mapping[str, Any], keep: str) -> str:
    if old is None:
        return "recorded"
    if bool(old.get("simulated")) != bool(new.get("simulated")):
        # Real figures are worth more than simulated ones, whatever they are.
        return "replaced" if not new.get("simulated") else "kept"
    if keep == "replace":
        return "replaced"
    higher = new["value"] > old["value"]
    better = higher if new["better"] == "high" else new["value"] < old["value"]
    return "replaced" if keep == "better" and better else "kept"


def _damaged(name: str, found: str) -> OperatorError:
    return OperatorError(
        f"Baseline {name}",
        "it was to be read",
        found,
        "Put back an older copy, or remove it: the next run records a new one",
        "baseline_damaged",
    )
