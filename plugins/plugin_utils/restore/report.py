# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The lines that playbook restore prints: what it cannot restore before, and the result of each setting after. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore import drivers
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.judge import (
    CANNOT,
    DUE,
    KEPT,
    RESTORED,
    UNREACHABLE,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.proof_gaps import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def report(rows: Iterable[Mapping[str, Any]], plan: Mapping[str, Any], ended: bool = False) -> list[str]:
    """Return lines: the damage of the journal, what cannot be restored, and then each setting by stage and object."""
    lines = [*plan["problems"]]
    lines += [f"cannot: {one['object']} ({one['stage']}), {one['what']}. {one['why']}" for one in plan["cannot"]]
    if not ended:
        many = len(plan["steps"])
        of_driver = [one for one in plan["steps"] if one["module"] == drivers.MODULE]
        return [
            *lines,
            *drivers.cautions(
                (one["object"], one["left"].get(drivers.DRIVER), one["back"].get(drivers.DRIVER)) for one in of_driver
            ),
            f"{many} steps of {len(plan['runs'])} runs may be restored: {', '.join(plan['runs']) or 'none'}.",
        ]
    rows = list(rows)
    changed = [row for row in rows if row["setting"] == drivers.DRIVER and row["state"] in (RESTORED, DUE)]
    lines += drivers.cautions((row["object"], row["left"], row["back"]) for row in changed)
    return lines + [line(row) for row in rows]


def line(row: Mapping[str, Any]) -> str:
    """The line of one setting."""
    head = f"{row['state']}: {row['object']} ({row['stage']}), {row['setting']}"
    if row["state"] in (RESTORED, DUE):
        return f"{head}: {shown(row['found'])} -> {shown(row['back'])}"
    why = f" {row['why']}" if row.get("why") else ""
    if row["state"] in (CANNOT, UNREACHABLE):
        return f"{head}.{why}"
    if row["state"] == KEPT:
        known = f"{shown(row['found'])}, we left {shown(row['left'])}, before {shown(row['back'])}"
        return f"{head}: {known}.{why}" if why else f"{head}: {known}"
    return f"{head}: {shown(row['back'])}"
