# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The plan of restoring VMs and DRS settings: the steps that a run takes, and what it refuses. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.judge import KEPT, uncompared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OFF, DELETE = "vm_power", "vm_clone"


def plan(results: Sequence[Mapping[str, Any]], power: str = "refuse") -> dict[str, Any]:
    """The plan from the results of all steps in check mode: {steps, due, off, refusals, rows}.

    power: refuse does not power off a VM that the runs only powered on.
    """
    loop = [one for one in results if not one.get("skipped")]
    # A VM that is not deleted keeps its power state too.
    kept = {one["item"]["object"] for one in loop if one["item"]["module"] == DELETE and _keeps(one)}
    left = [one for one in loop if not (_is_first_half(one["item"]) and one["item"]["object"] in kept)]
    steps = [one["item"] for one in left]
    due = [one["item"] for one in left if (one.get("restored") or {}).get("changed")]
    refusals = uncompared(left)
    if power != "cycle":
        refusals += [_running(step["object"]) for step in due if _is_off(step) and not _deletes(step)]
    return {
        "steps": steps,
        "due": due,
        "off": [one["restored"]["moid"] for one in left if one["item"] in due and _is_off(one["item"])],
        "refusals": refusals,
        "rows": [row for one in left for row in one.get("rows") or []],
    }


def _keeps(one: Mapping[str, Any]) -> bool:
    return any(row["state"] == KEPT for row in one.get("rows") or [])


def _is_first_half(step: Mapping[str, Any]) -> bool:
    return _deletes(step) and _is_off(step)


def _deletes(step: Mapping[str, Any]) -> bool:
    return bool(step.get("whole"))


def _is_off(step: Mapping[str, Any]) -> bool:
    return step["module"] == OFF and step["args"].get("state") == "off"


def _running(name: str) -> str:
    return (
        f"Cannot power off {name}. It was off before the runs, and site.power is refuse. Set site.power (or "
        "training_vm_power) to cycle, or shut it down yourself."
    )
