# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The plan of a run from check mode: its open settings, and its comparison with the run. Pure."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# The sentence that a task prints for each object, and that a callback parses.
_LATER = re.compile(
    r"(?P<object>\S.*): (?P<what>(?:(?!: ).)+?) will be planned after (?P<after>[^:]+?)(?:: (?P<why>.+))?"
)
# Several modules share one power cycle of a VM, although each of them alone would do its own. A note in the VM records
# this for the next run.
CYCLE, NOTE = "power_cycle", "power_on_again"
EVERYTHING = "everything"
_NOT_BEGUN = "The run ended before this stage."


def later(objects: str | Iterable[str], after: str, why: str = "", what: str | Iterable[str] = ()) -> list[str]:
    """Sentences about settings that are unknown until a stage or a restart is complete."""
    objects = [objects] if isinstance(objects, str) else objects
    what = ", ".join([what] if isinstance(what, str) else what) or EVERYTHING
    why = why.strip().rstrip(".")
    return [f"{name}: {what} will be planned after {after}{': ' if why else ''}{why}." for name in objects]


def understood(message: Any) -> list[dict[str, Any]]:
    """Return [{object, what, after, why}] of such sentences in a message; what is empty for everything.

    An entry of what is a setting, all that begin so before a dot, or a pattern with *.
    """
    found = []
    for sentence in message if isinstance(message, list) else [message]:
        match = _LATER.fullmatch(sentence.strip().rstrip(".")) if isinstance(sentence, str) else None
        if match is not None:
            reported = {key: value or "" for key, value in match.groupdict().items()}
            found.append(dict(reported, what=[] if reported["what"] == EVERYTHING else reported["what"].split(", ")))
    return found


def planned(record: Mapping[str, Any] | None) -> dict[str, Any]:
    """The stages of a record in check mode. The record may be None."""
    return {"stages": [stage for stage in (record or {"stages": []})["stages"] if stage.get("check_mode")]}


def made(record: Mapping[str, Any]) -> dict[str, Any]:
    """The stages of a record outside check mode. One folder may contain both."""
    return {"stages": [stage for stage in record["stages"] if not stage.get("check_mode")]}


def compared(plan: Mapping[str, Any], done: Mapping[str, Any]) -> dict[str, Any]:
    """Compare the record of a run in check mode with the record of the run.

    as_announced counts settings. not_announced and not_done are lists of {stage, object, what, before, after}. later
    has the open settings of the plan with the number of their changes. not_begun has planned stages that the run did
    not reach, and not_run those that its playbook does not have.
    """
    reported, found = _settings(plan), _settings(done)
    listed = {stage.get("name") for stage in done["stages"]}
    begun = {stage.get("name") for stage in done["stages"] if stage.get("why") != _NOT_BEGUN}
    open_ = [dict(mark, stage=stage["name"], became=0) for stage in plan["stages"] for mark in _marks(stage)]
    alike, not_announced, not_done = 0, [], []
    for key, changes in found.items():
        if key in reported and _alike(reported[key], changes):
            alike += 1
            continue
        marks = [mark for mark in open_ if _covers(mark, *key)]
        for mark in marks[:1]:
            mark["became"] += 1
        if not marks:
            not_announced.append(_line(key, changes))
    for key, changes in reported.items():
        agrees = key in found and _alike(changes, found[key])
        if not agrees and key[0] in begun and not any(_covers(mark, *key) for mark in open_):
            not_done.append(_line(key, changes))
    return {
        "as_announced": alike,
        "not_announced": not_announced,
        "not_done": not_done,
        "later": open_,
        "not_begun": [name for name in _names(plan) if name in listed - begun],
        "not_run": [name for name in _names(plan) if name not in listed],
    }


def lines(comparison: Mapping[str, Any], folder: str) -> list[str]:
    """The comparison as lines of text."""
    alike, more, less = (comparison[key] for key in ("as_announced", "not_announced", "not_done"))
    found = [
        f"Compared with the plan in {folder}: {_many(alike, 'change')} as planned, "
        f"{len(more)} made but not planned, {len(less)} planned but not made."
    ]
    found += [f"  not planned: {_reported(line)}" for line in more]
    found += [f"  not made: {_reported(line)}" for line in less]
    for mark in comparison["later"]:
        what = ", ".join(mark["what"]) or EVERYTHING
        without = (*comparison["not_begun"], *comparison["not_run"])
        became = _many(mark["became"], "change") if mark["stage"] not in without else "not begun"
        found.append(f"  planned after {mark['after']}: [{mark['stage']}] {mark['object']}, {what}: {became}")
    if comparison["not_begun"]:
        found.append(f"  The run did not reach {', '.join(comparison['not_begun'])}.")
    if comparison["not_run"]:
        found.append(f"  The playbook of this run does not have {', '.join(comparison['not_run'])}.")
    return found


def _settings(record: Mapping[str, Any]) -> dict[tuple[str, str, str], list[tuple[Any, Any]]]:
    """{(stage, object, what): [(before, after)]} in their order."""
    found: dict[tuple[str, str, str], list[tuple[Any, Any]]] = {}
    for stage in record["stages"]:
        for change in stage.get("changes") or []:
            what, values = change["what"], [(change["before"], change["after"])]
            if what == NOTE:
                continue
            if what == CYCLE:
                what, values = "power", [("on", "off"), ("off", "on")]
            found.setdefault((stage.get("name"), change["object"], what), []).extend(values)
    return found


def _names(plan: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(stage.get("name") for stage in plan["stages"] if stage.get("changes") or _marks(stage)))


def _marks(stage: Mapping[str, Any]) -> list[dict[str, Any]]:
    return stage.get("decided_later") or []


def _alike(reported: Sequence[tuple[Any, Any]], done: Sequence[tuple[Any, Any]]) -> bool:
    """Whether a setting changed as planned. It may have changed back later, such as maintenance mode."""
    before, after = reported[0][0], reported[-1][1]
    if done[0][0] != before:
        return False
    return done[-1][1] == after or (_came_back(done) and any(one == after for _before, one in done))


def _came_back(changes: Sequence[tuple[Any, Any]]) -> bool:
    return changes[0][0] == changes[-1][1] and len(changes) > 1


def _covers(mark: Mapping[str, Any], stage: str, name: str, what: str) -> bool:
    """Whether an open setting of the plan covers this setting of the object or of a part of it."""
    if mark["stage"] != stage or not (name == mark["object"] or name.startswith(f"{mark['object']} ")):
        return False
    return not mark["what"] or any(fnmatchcase(what, one) or what.startswith(f"{one}.") for one in mark["what"])


def _line(key: tuple[str, str, str], changes: Sequence[tuple[Any, Any]]) -> dict[str, Any]:
    stage, name, what = key
    return {"stage": stage, "object": name, "what": what, "before": changes[0][0], "after": changes[-1][1]}


def _reported(line: Mapping[str, Any]) -> str:
    return f"[{line['stage']}] {line['object']}, {line['what']}: {line['before']} -> {line['after']}"


def _many(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
