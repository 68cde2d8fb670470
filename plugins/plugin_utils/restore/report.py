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
    from collections.abc import Iterable, Mapping, Sequence


# The group of the inventory whose hosts each stage runs on. All other stages run on the controller.
GROUPS = {"hosts": "esxi_hosts", "fabric": "switches"}
# With restore_guest_driver, the playbook restores nothing else in guests.
DRIVER_ALONE = {
    "object": drivers.GUESTS,
    "stage": drivers.GUESTS,
    "what": "settings of these runs other than the driver",
    "why": "restore_guest_driver restores the driver alone.",
}


def report(
    rows: Iterable[Mapping[str, Any]],
    plan: Mapping[str, Any],
    ended: bool = False,
    guest_driver: bool = False,
    groups: Mapping[str, Sequence[str]] | None = None,
) -> list[str]:
    """Return lines: the damage of the journal, what cannot be restored, and then each setting by stage and object.

    guest_driver: whether this restore downgrades the driver of the guests before the hosts. groups: those of the
    inventory, whose hosts and switches the plays of restore run on; None if it is unknown.
    """
    lines = [*plan["problems"]]
    cannot = [one for one in plan["cannot"] if not (guest_driver and one["stage"] == one["object"] == drivers.GUESTS)]
    cannot += [DRIVER_ALONE] if guest_driver and plan["guests"]["changed"] else []
    lines += [f"cannot: {one['object']} ({one['stage']}), {one['what']}. {one['why']}" for one in cannot]
    gone = [one for one in plan["steps"] if groups is not None and _is_gone(one, groups)]
    lines += [_gone(one) for one in gone]
    if not ended:
        many = len(plan["steps"]) - len(gone)
        of_driver = [one for one in plan["steps"] if one["module"] == drivers.MODULE]
        return [
            *lines,
            *_cautions(
                (
                    (one["object"], one["left"].get(drivers.DRIVER), one["back"].get(drivers.DRIVER))
                    for one in of_driver
                ),
                guest_driver,
            ),
            f"{many} steps of {len(plan['runs'])} runs may be restored: {', '.join(plan['runs']) or 'none'}.",
        ]
    rows = list(rows)
    changed = [row for row in rows if row["setting"] == drivers.DRIVER and row["state"] in (RESTORED, DUE)]
    lines += _cautions(((row["object"], row["left"], row["back"]) for row in changed), guest_driver)
    return lines + [line(row) for row in rows]


def _is_gone(step: Mapping[str, Any], groups: Mapping[str, Sequence[str]]) -> bool:
    """Whether a step is for a host or a switch that the inventory does not have, or has under another name."""
    return step["stage"] in GROUPS and step["host"] not in (groups.get(GROUPS[step["stage"]]) or ())


def _gone(step: Mapping[str, Any]) -> str:
    host = step["host"]
    fix = "Add it under this name and restore again, if it still exists."
    return (
        f"cannot: {step['object']} ({step['stage']}), {', '.join(step['back'])}. The run changed it for {host}, which "
        f"is not in the group {GROUPS[step['stage']]} of the inventory. "
        f"{'Restore it yourself.' if host == 'localhost' else fix}"
    )


def _cautions(changed: Iterable[tuple[str, Any, Any]], guest_driver: bool) -> list[str]:
    return [] if guest_driver else drivers.cautions(changed)


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
