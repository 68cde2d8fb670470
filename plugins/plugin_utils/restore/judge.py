# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compares the current values of a step with those that we left. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.undo import facts
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore import adapters

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# States of a setting in the result of restore.
RESTORED, ALREADY, KEPT, DUE, CANNOT = facts.RESTORED, facts.ALREADY, facts.KEPT, facts.DUE, facts.CANNOT
# A later restore may reach the object.
UNREACHABLE = "unreachable"


@dataclass(frozen=True)
class Row:
    """One setting of a step."""

    setting: str
    state: str
    back: Any
    left: Any
    found: Any
    # The reason of CANNOT, a whole sentence.
    why: str = ""


def judge(step: Mapping[str, Any], changes: list[Mapping[str, Any]]) -> list[Row]:
    """Return a row for each setting. changes: what the module of the step would change, in check mode."""
    current = {str(change["path"]): change for change in changes}
    rows = []
    for path, back in step["back"].items():
        left = step["left"].get(path)
        if path not in current:
            other = _instead(path, step, current)
            rows.append(Row(path, KEPT if other else ALREADY, back, left, other or back))
            continue
        found = current[path]["before"]
        ours = [left, *(step.get("also") or {}).get(path, ())]
        state = DUE if any(same(found, one) for one in ours) else KEPT
        rows.append(Row(path, state, back, left, found))
    others = _changed(step, current)
    if others and any(row.state == DUE for row in rows):
        return [Row(row.setting, KEPT, row.back, row.left, ", ".join(others)) for row in rows]
    return rows


def _changed(step: Mapping[str, Any], current: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Settings that an object has beside those that we left. Its deletion would change all settings with a value."""
    intact = step.get("intact") or {}
    if not intact:
        return []
    found = {path: change["before"] for path, change in current.items() if path not in step["back"]}
    return sorted(
        f"{path} {found.get(path)}"
        for path in {*intact, *found}
        if not any(same(found.get(path), one) for one in intact.get(path, (None,)))
    )


def beside(step: Mapping[str, Any], changes: list[Mapping[str, Any]]) -> list[str]:
    """Settings that the module would change and that are not part of the step."""
    if step.get("whole"):
        return []
    others = [str(change["path"]) for change in changes if change["path"] not in step["back"]]
    return [path for path in others if not path.startswith(tuple(step.get("follows") or ()))]


def _instead(path: str, step: Mapping[str, Any], current: Mapping[str, Mapping[str, Any]]) -> str:
    """An adapter of a VM that has the place of another one, because somebody moved it."""
    if not path.startswith(adapters.PREFIX) or step["left"].get(path) != adapters.PRESENT:
        return ""
    others = [one for one, change in current.items() if one not in step["back"] and change["after"] is None]
    return next((one for one in others if one.startswith(adapters.PREFIX)), "")


def uncompared(results: Iterable[Mapping[str, Any]]) -> list[str]:
    """A sentence for each step whose comparison failed. The tasks do not fail by themselves."""
    return [
        f"Cannot compare {one['item']['module']} of {one['item']['object']}. {one.get('msg', '')}".strip()
        for one in results
        if "restored" not in one
    ]


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal as JSON."""
    return json.dumps(one, sort_keys=True, default=str) == json.dumps(other, sort_keys=True, default=str)
