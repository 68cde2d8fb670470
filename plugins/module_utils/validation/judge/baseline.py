# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Figures of earlier runs, for comparison if no threshold is published. Pure: text in, text out.

A worse figure replaces a better one only on request. A figure of a simulated device never replaces one of a real
device.
"""

from __future__ import annotations

import json
from typing import Any, Iterable, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import mapping, number

FORMAT = 1
# missing: only new figures. better: also improved figures. replace: all figures, if the site requests it.
KEEP = ("missing", "better", "replace")
EMPTY = {"format": FORMAT, "entries": {}}


def parse(text: str, name: str = "the baseline") -> dict[str, Any]:
    """The baseline of a file; an empty text gives no entries."""
    if not (text or "").strip():
        return {"format": FORMAT, "entries": {}}
    try:
        found = json.loads(text)
    except ValueError as error:
        raise _damaged(name, f"It is not valid JSON: {error}") from error
    entries = mapping(found).get("entries")
    if mapping(found).get("format") != FORMAT or not isinstance(entries, dict):
        raise _damaged(name, f"Its format is not {FORMAT}, the format of this collection")
    for key, entry in entries.items():
        if number(mapping(entry).get("value")) is None or mapping(entry).get("better") not in ("high", "low"):
            raise _damaged(name, f"The entry {key} has no value or no direction (high or low)")
    return {"format": FORMAT, "entries": dict(entries)}


def text_of(baseline: Mapping[str, Any]) -> str:
    """The file of a baseline, the same for the same entries."""
    return json.dumps(baseline, indent=2, sort_keys=True, allow_nan=False) + "\n"


def key_of(row_id: str, data_path: str, workload: Iterable[Any] = ()) -> str:
    """The key of a figure: figures of another data path, model or batch are not comparable."""
    return ", ".join([f"{data_path}: {row_id}", *(str(one) for one in workload if one)])


def of_site(whole: Mapping[str, Any], site: str) -> dict[str, Any]:
    """The entries of one site. Sites may share a file, but their figures are not comparable."""
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
    """{value, run, percent, worse_percent} of the comparable entry of a figure; None without such an entry.

    percent is positive if the figure is better than before.
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
    """(the new baseline, [the action for each figure]).

    figures is [{key, value, unit, better, simulated, version}] of rows that passed or are not required. The old
    baseline stays as it is.
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
        # Real figures always replace simulated ones.
        return "replaced" if not new.get("simulated") else "kept"
    if keep == "replace":
        return "replaced"
    higher = new["value"] > old["value"]
    better = higher if new["better"] == "high" else new["value"] < old["value"]
    return "replaced" if keep == "better" and better else "kept"


def _damaged(name: str, found: str) -> OperatorError:
    return OperatorError(
        f"File {name}",
        "cannot read the baseline",
        found,
        "Restore an older copy, or delete the file. The next run records a new baseline",
        "baseline_damaged",
    )
