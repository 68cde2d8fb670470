# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Reason for which a check must not run, by the earlier measurements. Pure."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import expected, judge, needs, suite
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe.collect import collect
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe.record import read


def blocked(
    seen: Mapping[str, Any],
    check: str,
    guests: Iterable[str],
    variant: str = "",
) -> str:
    """The reason, or an empty text."""
    return _left_out(seen["intent"], check, variant) or _why(_rows(seen), check, guests, variant)


def due(steps: Sequence[Sequence[Mapping[str, Any]]], seen: Mapping[str, Any]) -> list[list[Mapping[str, Any]]]:
    """Steps of runs without the blocked ones, evaluated once for all of them."""
    rows = _rows(seen) if steps else []

    def may_run(run: Mapping[str, Any]) -> bool:
        check, variant = run["check"], run.get("variant", "")
        return not _left_out(seen["intent"], check, variant) and not _why(rows, check, run["guests"], variant)

    left = [[run for run in step if may_run(run)] for step in steps]
    return [step for step in left if step]


def _left_out(intent: Mapping[str, Any], check: str, variant: str) -> str:
    spec = suite.of(check, variant)
    return suite.left_out(spec, expected.intent_of(intent)) if spec is not None else ""


def _rows(seen: Mapping[str, Any]) -> list[dict[str, Any]]:
    return judge.judge(collect(seen, read)[0], seen["intent"], seen.get("thresholds") or {})["rows"]


def _why(rows: Sequence[dict[str, Any]], check: str, guests: Iterable[str], variant: str) -> str:
    return needs.may_run(rows, check, {"guests": list(guests)}, variant)
