# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The summary of a plan for a person who approves it: a few lines without values of settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import plan, record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Objects of one line, and open settings of a stage: an approval is a short text.
SHOWN = 10
# Changes that restart a host or a VM. Several modules share one power cycle of a VM.
RESTARTS = ("boot_time", plan.CYCLE)


def of_folder(folder: str) -> dict[str, Any]:
    """{changes, objects, restarts, text} of the plan in the folder of a run."""
    return summary(record.of_folder(folder))


def summary(found: Mapping[str, Any] | None) -> dict[str, Any]:
    """The same of a record, which is None if the folder has none."""
    stages = plan.planned(found)["stages"]
    if found is None or not stages:
        text = "The job has no record of a plan. Read its output before you approve."
        return {"changes": 0, "objects": 0, "restarts": 0, "text": text}
    changes = [change for stage in stages for change in stage.get("changes") or []]
    objects = {change["object"] for change in changes}
    # The record of a plan counts no restarts, because check mode restarts nothing.
    restarts = len({change["object"] for change in changes if change["what"] in RESTARTS})
    first = f"{_many(len(changes), 'change')} on {_many(len(objects), 'object')}, {_many(restarts, 'restart')}."
    lines = [line for stage in stages for line in _lines(stage)]
    return {
        "changes": len(changes),
        "objects": len(objects),
        "restarts": restarts,
        "text": "\n".join([first, *lines]),
    }


def _lines(stage: Mapping[str, Any]) -> list[str]:
    changes, name = stage.get("changes") or [], stage["name"]
    lines = [f"{name}: {_many(len(changes), 'change')} on {_some(one['object'] for one in changes)}"] if changes else []
    later: dict[str, list[str]] = {}
    for one in stage.get("decided_later") or []:
        later.setdefault(one["after"], []).append(one["object"])
    return lines + [f"{name}: planned after {after}, for {_some(objects)}" for after, objects in later.items()]


def _some(names: Iterable[str]) -> str:
    every = sorted(set(names))
    more = f" and {len(every) - SHOWN} more" if len(every) > SHOWN else ""
    return ", ".join(every[:SHOWN]) + more


def _many(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
