# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Comparison of two runs: changes in verdicts, measured values, trainings and versions."""

from __future__ import annotations

from typing import Any, Iterator, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.values import median, number, rounded

# A smaller difference is noise between two runs of the same machines, as other comparisons of runs assume.
NOTABLE_PERCENT = 5
# Rows and versions that a report names.
SHOWN = 40
ORDER = ("pass", "not_required", "skipped", "not_run", "warn", "fail")


def comparison(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The comparison of two documents of document.py, the earlier one first."""
    figures = _figures(before, after)
    verdicts, held_up = _verdicts(before, after)
    return {
        "before": _run(before),
        "after": _run(after),
        "cautions": _cautions(before, after),
        "verdicts": verdicts[:SHOWN],
        "verdicts_more": max(0, len(verdicts) - SHOWN),
        "held_up": held_up,
        "only_before": _only(before, after),
        "only_after": _only(after, before),
        "figures": figures,
        "outliers": _outliers(before, after, figures)[:SHOWN],
        "trainings": _trainings(before, after),
        "versions": _versions(before, after),
    }


def _run(document: Mapping[str, Any]) -> dict[str, Any]:
    verdict = document["verdict"]
    return {
        "began": document["began"],
        "site": document["site"]["name"],
        "state": verdict["state"],
        "title": verdict["title"],
        "rehearsal": verdict["rehearsal"],
        "counts": verdict["counts"],
    }


def _cautions(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    found = []
    if before["verdict"]["rehearsal"] != after["verdict"]["rehearsal"]:
        found.append("Only one of the two runs depends on simulated parts. Their values are not comparable.")
    if before["site"] != after["site"]:
        found.append(
            f"The runs are of different sites or data paths: {_site(before)} before, {_site(after)} after. "
            "Compare their values with care."
        )
    return found


def _site(document: Mapping[str, Any]) -> str:
    site = document["site"]
    return " over ".join(part for part in (site["name"] or "unnamed", site["data_path"]) if part)


def rows_of(document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """{id: row} of a document."""
    return {row["id"]: row for layer in document["ladder"] for check in layer["checks"] for row in check["rows"]}


def _verdicts(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[list[dict[str, Any]], int]:
    """Rows with another verdict, those that got worse first, and how many more rows only could not run because of
    others."""
    old, new = rows_of(before), rows_of(after)
    changed = [
        {
            **{key: row[key] for key in ("id", "anchor", "title", "on", "kind", "simulated", "why")},
            "before": old[label]["verdict"],
            "after": row["verdict"],
            "change": "worse" if ORDER.index(row["verdict"]) > ORDER.index(old[label]["verdict"]) else "better",
        }
        for label, row in new.items()
        if label in old and old[label]["verdict"] != row["verdict"] and not row["because"]
    ]
    held_up = sum(bool(row["because"]) and label in old and not old[label]["because"] for label, row in new.items())
    return sorted(changed, key=lambda entry: (entry["change"] != "worse", -ORDER.index(entry["after"]))), held_up


def _only(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    missing = [label for label in rows_of(one) if label not in rows_of(other)]
    return {"rows": missing[:SHOWN], "count": len(missing)}


def _pairs(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Rows that both runs measured."""
    old, new = rows_of(before), rows_of(after)
    for label, row in new.items():
        was = old.get(label)
        # Trainings have their own table.
        if was is None or was["unit"] != row["unit"] or row["check"] == "cluster.training":
            continue
        if number(was["measured"]) is not None and number(row["measured"]) is not None:
            yield was, row


def _figures(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The median of each check over the rows that both runs measured."""
    found: dict[tuple[str, str, str], list[tuple[dict[str, Any], dict[str, Any]]]] = {}
    for was, row in _pairs(before, after):
        found.setdefault((row["check"], row["variant"], row["unit"]), []).append((was, row))
    return [
        {
            "check": check,
            "variant": variant,
            "kind": pairs[0][1]["kind"],
            "title": pairs[0][1]["title"],
            "unit": unit,
            "rows": len(pairs),
            "simulated": any(was["simulated"] or row["simulated"] for was, row in pairs),
            **change(
                cast("float", median([was["measured"] for was, _row in pairs])),
                cast("float", median([row["measured"] for _was, row in pairs])),
                pairs[0][1]["better"],
            ),
        }
        for (check, variant, unit), pairs in found.items()
        if unit
    ]


def _outliers(
    before: Mapping[str, Any], after: Mapping[str, Any], figures: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Single rows that changed notably and unlike the others of their check, the worst first."""
    common = {(entry["check"], entry["variant"]): entry["percent"] or 0 for entry in figures}
    found = [
        {
            **{key: row[key] for key in ("id", "anchor", "title", "on", "kind", "unit", "simulated")},
            **change(was["measured"], row["measured"], row["better"]),
            "others": common.get((row["check"], row["variant"]), 0),
        }
        for was, row in _pairs(before, after)
        if row["unit"]
    ]
    found = [
        entry
        for entry in found
        if entry["change"] in ("worse", "better") and abs(entry["percent"] - entry["others"]) >= NOTABLE_PERCENT
    ]
    return sorted(found, key=lambda entry: (entry["change"] != "worse", -abs(entry["percent"])))


def change(was: float, now: float, better: str) -> dict[str, Any]:
    """{before, after, percent, change}; the change has a direction only if the value has one."""
    percent = rounded(100 * (now / was - 1), 4) if was else None
    if percent is None or abs(percent) < NOTABLE_PERCENT:
        word = "same" if percent is not None or was == now else "differs"
    elif not better:
        word = "differs"
    else:
        word = "better" if (percent > 0) == (better == "higher") else "worse"
    return {"before": was, "after": now, "percent": percent, "change": word}


def _trainings(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    old = {_key(run): run for run in before["trainings"] or []}
    return [
        {
            **{key: run[key] for key in ("label", "nodes", "transport", "model")},
            "simulated": run["simulated"] or old[_key(run)]["simulated"],
            **change(old[_key(run)]["images_per_s"], run["images_per_s"], "higher"),
        }
        for run in after["trainings"] or []
        if _key(run) in old and run["images_per_s"] is not None and old[_key(run)]["images_per_s"] is not None
    ]


def _key(run: Mapping[str, Any]) -> tuple[Any, ...]:
    # Each guest runs a training on one node alone.
    return run["model"], run["transport"], run["nodes"], run["ranks"], *(run["guests"] if run["nodes"] == 1 else ())


def _versions(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Versions that differ: [{what, before, after, objects}], grouped by change."""
    old, new = _by_object(before), _by_object(after)
    found: dict[tuple[str, str | None, str | None], list[str]] = {}
    for (what, name), version in new.items():
        was = old.get((what, name))
        if was != version:
            found.setdefault((what, was, version), []).append(name)
    for what, name in old:
        if (what, name) not in new:
            found.setdefault((what, old[what, name], None), []).append(name)
    return [
        {"what": what, "before": was, "after": version, "objects": names}
        for (what, was, version), names in found.items()
    ]


def _by_object(document: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    return {
        (entry["what"], name): one["version"]
        for entry in document["versions"] or []
        for one in entry["versions"]
        for name in one["objects"]
    }
