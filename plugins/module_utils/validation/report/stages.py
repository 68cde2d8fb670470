# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The stages of a run with their duration, and their changes by object."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any, Collection, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import simulated
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.evidence import masked
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.values import (
    counted,
    entries,
    flag,
    in_order,
    mapping,
    number,
    rounded,
    text,
)

STATES = ("ok", "failed", "skipped")
# The record of a run has this text for a stage without an end.
BROKEN_OFF = "The run was broken off in this stage."


def stages(recorded: Any, declared: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Stages in the order in which they ran. A run that was started again has a stage more than once."""
    found = [_stage(entry, declared) for entry in entries(recorded)]
    # The stage that renders the report continues meanwhile, and the last stage of a killed run has no end.
    if found and found[-1]["state"] == "failed" and found[-1]["why"] == BROKEN_OFF:
        found[-1]["state"] = "open"
    return found


def _stage(entry: Mapping[str, Any], declared: Sequence[str]) -> dict[str, Any]:
    state = text(entry.get("state"))
    return {
        "name": text(entry.get("name")) or "unnamed",
        "began": text(entry.get("began")),
        "seconds": number(entry.get("seconds")),
        "state": state if state in STATES else "unknown",
        "why": text(entry.get("why")),
        # In check mode, nothing was changed. The changes are planned.
        "check_mode": flag(entry.get("check_mode")),
        "simulated": rests_on(text(entry.get("name")), declared),
        "changes": 0 if flag(entry.get("check_mode")) else len(entries(entry.get("changes"))),
        "failures": [
            {key: masked(text(one.get(key))) for key in ("object", "task", "msg")}
            for one in entries(entry.get("failures"))
        ],
    }


def rests_on(name: str, declared: Sequence[str]) -> bool:
    """Whether a stage manages parts that the site declares as simulated."""
    return bool(simulated.among(simulated.STAGES.get(name, ()), declared))


def total(some: Sequence[Mapping[str, Any]], ended: str = "") -> float:
    """Seconds from the start of the first stage to the end of the last one, or of the validation.

    The stage that renders the report continues after it. Without times in the record, this is the sum of the stages.
    """
    begun: list[tuple[Any, float]] = [(moment(stage["began"]), stage["seconds"] or 0) for stage in some]
    begun = [(one.timestamp(), seconds) for one, seconds in begun if one is not None]
    if not begun:
        return rounded(sum(stage["seconds"] or 0 for stage in some), 9)
    last = moment(ended)
    ends = [one + seconds for one, seconds in begun] + ([last.timestamp()] if last is not None else [])
    return rounded(max(ends) - min(one for one, _seconds in begun), 9)


def moment(reported: Any) -> datetime | None:
    """A time of a record, or None if it is not valid."""
    try:
        # Python before 3.11 does not accept a Z.
        read = datetime.fromisoformat(reported.replace("Z", "+00:00"))
    except (ValueError, TypeError, AttributeError):
        return None
    return read if read.tzinfo is not None else read.replace(tzinfo=timezone.utc)


def failed(some: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Stages whose last run failed, without those of check mode."""
    last = {stage["name"]: stage for stage in some if not stage["check_mode"]}
    return [stage for stage in last.values() if stage["state"] == "failed"]


def broken_off(some: Sequence[Mapping[str, Any]]) -> str:
    """The name of the stage without an end, or empty."""
    return some[-1]["name"] if some and some[-1]["state"] == "open" else ""


def changes(recorded: Any, declared: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Changes by object: [{object, changes: [{what, before, after, stage, task}]}]."""
    by_object: dict[str, list[dict[str, Any]]] = {}
    for stage in entries(recorded):
        if flag(stage.get("check_mode")):
            continue
        for entry in entries(stage.get("changes")):
            by_object.setdefault(text(entry.get("object")) or "the run itself", []).append(
                {
                    "what": text(entry.get("what")),
                    "before": shown(entry.get("before")),
                    "after": shown(entry.get("after")),
                    "needs": text(entry.get("needs")).replace("_", " "),
                    "stage": text(stage.get("name")),
                    "task": text(entry.get("task")),
                    "simulated": rests_on(text(stage.get("name")), declared),
                }
            )
    return [{"object": name, "changes": by_object[name]} for name in sorted(by_object, key=counted)]


def shown(value: Any) -> str | None:
    """A value of any kind in one line; None for an absent value."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and not any(isinstance(entry, (dict, list)) for entry in value):
        return ", ".join(shown(entry) or "none" for entry in value) or "none"
    if isinstance(value, (dict, list)):
        return masked(json.dumps(value, sort_keys=True, ensure_ascii=False))
    return masked(text(value))


def reboots(recorded: Any, declared: Sequence[str] = (), vms: Collection[str] = ()) -> list[dict[str, Any]]:
    """Number of restarts of each object: [{object, count, simulated}]. Objects that are not in vms are hosts."""
    found = mapping(recorded)
    of_host, of_vm = (bool(simulated.among(parts, declared)) for parts in (simulated.OF_HOST, simulated.OF_VM))
    return [
        {"object": name, "count": found[name], "simulated": of_vm if name in vms else of_host}
        for name in in_order(text(key) for key in found)
        if number(found.get(name)) is not None
    ]
