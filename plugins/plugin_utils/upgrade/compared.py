# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The validation after an upgrade, compared with the one before it. Pure, except answer, which reads the report."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleFilterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SAME, BETTER, WORSE, DIFFERS, GONE = "same", "better", "worse", "differs", "no longer measured"
# Lines of one kind that the text names.
SHOWN = 20


def answer(folder: str) -> dict[str, Any]:
    """The summary of the comparison in report.json of this folder."""
    path = os.path.join(os.path.expanduser(folder), "report.json")
    try:
        with open(path, encoding="utf-8") as file:
            comparison = json.load(file).get("comparison")
    except (OSError, ValueError, AttributeError) as error:
        raise AnsibleFilterError(
            f"Cannot compare the validations before and after the upgrade. The report {path} is not readable: {error}. "
            "Run the playbook validate with validate_compare_with."
        ) from error
    if not comparison:
        raise AnsibleFilterError(
            f"Cannot compare the validations before and after the upgrade. The report {path} has no comparison. "
            "Run the playbook validate with validate_compare_with."
        )
    return summary(comparison)


def summary(comparison: Mapping[str, Any]) -> dict[str, Any]:
    """{counts, worse, gone, lines} of a comparison of comparison.py."""
    figures = [*(comparison.get("figures") or ()), *(comparison.get("trainings") or ())]
    only = comparison.get("only_before") or {}
    counts = {word: sum(one["change"] == word for one in figures) for word in (SAME, BETTER, WORSE, DIFFERS)}
    counts[GONE] = int(only.get("count") or 0)
    worse = [*map(_figure, (one for one in figures if one["change"] == WORSE)), *_verdicts(comparison)]
    gone = list(only.get("rows") or ())
    text = ", ".join(f"{word} {number}" for word, number in counts.items())
    lines = [f"Figures after the upgrade, compared with those before it: {text}."]
    lines += [f"Worse: {one}" for one in worse[:SHOWN]]
    lines += [f"No longer measured: {one}" for one in gone[:SHOWN]]
    more = max(0, len(worse) - SHOWN) + max(0, counts[GONE] - len(gone[:SHOWN]))
    lines += [f"The report names {more} more."] if more else []
    return {"counts": counts, "worse": worse, "gone": gone, "lines": [*lines, *(comparison.get("cautions") or ())]}


def _figure(one: Mapping[str, Any]) -> str:
    what = " ".join(str(one[key]) for key in ("title", "variant") if one.get(key)) or f"Training {one.get('label')}"
    unit = one.get("unit") or "samples/s"
    return f"{what} is {one['after']:g} {unit} instead of {one['before']:g} {unit} ({one['percent']:+g} %)."


def _verdicts(comparison: Mapping[str, Any]) -> Iterator[str]:
    for row in comparison.get("verdicts") or ():
        if row["change"] == WORSE:
            yield f"The check {row['id']} is {row['after']} instead of {row['before']}."
