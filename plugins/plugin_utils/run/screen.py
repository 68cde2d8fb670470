# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The texts of the callback stages, each with the kind of its colour. Pure."""

from __future__ import annotations

import os
import textwrap
from typing import TYPE_CHECKING, Any, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import explained
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.course import FAILED, NOT_BEGUN, OK, SKIPPED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.course import Course, Stage

GOOD, BAD, QUIET, PLAIN, WARN = "good", "bad", "quiet", "plain", "warn"
# Number of hosts that a line names.
NAMED = 3
_KIND = {OK: GOOD, FAILED: BAD, SKIPPED: QUIET}
_VERDICT = {"pass": GOOD, "warn": WARN, "fail": BAD, "incomplete": WARN}


def duration(seconds: float) -> str:
    """A duration in words."""
    seconds = int(round(seconds))
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min" + (f" {seconds % 60:02} s" if seconds % 60 else "")
    return f"{seconds // 3600} h {seconds % 3600 // 60:02} min"


def watch(seconds: float) -> str:
    """A duration in the format of a clock."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


def usual(span: tuple[float, float] | None) -> str:
    """The usual duration in words, or an empty text."""
    if span is None:
        return ""
    low, high = span
    if high <= low * 1.5 + 5:
        return f"usually {duration((low + high) / 2)}"
    return f"usually {duration(low)} to {duration(high)}"


def begins(stage: Stage, course: Course, span: tuple[float, float] | None) -> str:
    """The line above a stage."""
    parts = [f"{course.number} of {course.count}"] if course.count > 1 and course.number else []
    parts += [usual(span)] if span else []
    parts += ["check mode, nothing is changed"] if stage.check else []
    return f"STAGE [{stage.name}] {', '.join(parts)}".rstrip()


def still(
    course: Course, span: tuple[float, float] | None, tasks: Mapping[str, Sequence[tuple[str, float]]], now: float
) -> str:
    """The line of a stage in progress, for outputs whose lines cannot change in place."""
    doing = "; ".join(_doing(tasks, now))
    return f"[{cast('Stage', course.now).name}] {duration(course.seconds())}{_of(span)}: {doing}."


def live(
    course: Course,
    span: tuple[float, float] | None,
    tasks: Mapping[str, Sequence[tuple[str, float]]],
    expected: Callable[[str], float | None],
    reported: Iterable[str],
    now: float,
) -> list[tuple[str, str]]:
    """[(text, kind)] that change in place; tasks: {name: [(host, since)]}, reported: latest progress of long work."""
    stage = course.now
    if stage is None:
        return []
    head = f"{stage.name}: {watch(course.seconds())}{_of(span)}"
    if course.count > 1 and course.number:
        head = f"stage {course.number} of {course.count}, {head}"
    head += f", {_changes(stage)}"
    if stage.failures:
        head += f", {len(stage.failures)} failed"
    lines = [(head, BAD if stage.failures else PLAIN)]
    for name, hosts in tasks.items():
        longest = now - min(since for _host, since in hosts)
        seconds = expected(name)
        time = "" if longest < 2 else f"  {watch(longest)}{f' of about {watch(seconds)}' if seconds else ''}"
        lines.append((f"  {name}: {_hosts(host for host, _since in hosts)}{time}", QUIET))
    return lines + [(f"    {text}", QUIET) for text in reported]


def ends(stage: Stage, span: tuple[float, float] | None) -> tuple[str, str]:
    """The result of a stage in one line."""
    text = f"STAGE [{stage.name}] {_state(stage)}"
    if stage.state != SKIPPED:
        text += f" after {duration(stage.seconds)}{_unusual(stage, span)}: {_sum(stage)}"
    return text, _KIND[stage.state]


def last(course: Course, report: Mapping[str, str], record: str | None) -> list[tuple[str, str]]:
    """[(text, kind)] of the last screen."""
    width = max([len(stage.name) for stage in course.stages] + [6])
    lines = []
    for stage in course.stages:
        text = f"{stage.name:<{width}}  {_state(stage):<9}"
        if stage.state != SKIPPED:
            text += f"  {duration(stage.seconds):>12}  {_sum(stage)}"
        lines.append((text.rstrip(), _KIND.get(stage.state, PLAIN)))
    lines += _failures(course)
    lines += _verdict(course, report)
    if report.get("path"):
        lines.append((f"Report: {report['path']}", PLAIN))
    if record:
        lines.append((f"Record: {record}", PLAIN))
    return lines


def broken_off(course: Course, record: str | None) -> list[tuple[str, str]]:
    """Lines for a run without a regular end: interrupted, or ended by an error of Ansible."""
    stage = next((stage for stage in reversed(course.stages) if stage.why != NOT_BEGUN), None)
    if stage is None and not course.stages:
        return []
    if stage is None:
        where = f"before stage {course.stages[0].name}"
    else:
        where = f"in stage {stage.name} after {duration(stage.seconds)}" if stage.why else f"after stage {stage.name}"
    lines = [(f"Broken off {where}. A new run continues from the current state.", BAD)]
    return lines + ([(f"Record: {record}", PLAIN)] if record else [])


def report_of(data: Mapping[str, Any]) -> dict[str, str]:
    """The result of module validation_report as {state, words, path}; empty if there is no report."""
    report: Any = data.get("report") if isinstance(data.get("report"), dict) else {}
    after: Any = report.get("after") if isinstance(report.get("after"), dict) else {}
    files: Any = after.get("files") if isinstance(after.get("files"), dict) else {}
    title, sentence = (str(after.get(key) or "").strip() for key in ("title", "sentence"))
    path = files.get("report.html")
    return {
        "state": str(after.get("state") or ""),
        "words": " ".join(filter(None, [title + "." if title and not title.endswith(".") else title, sentence])),
        "path": os.path.abspath(str(path)) if path else "",
    }


def _verdict(course: Course, report: Mapping[str, str]) -> list[tuple[str, str]]:
    names = [stage.name for stage in course.stages if stage.state == FAILED]
    failed = [f"in {_joined(names)}"] if names else []
    failed += [_outside(course)] if course.outside else []
    reported = f"{report['state']}. {report['words']}".strip() if report["state"] else ""
    # The verdict of a failed validation is more specific.
    in_its_words = failed == ["in validation"] and _VERDICT.get(report["state"]) in (WARN, BAD)
    if failed and not in_its_words:
        words = f"Verdict: failed {' and '.join(failed)}. See above. A new run continues from the current state."
        return [(words, BAD), *([(f"Validation: {reported}", PLAIN)] if reported else [])]
    if reported:
        return [(f"Verdict: {reported}", _VERDICT.get(report["state"], PLAIN))]
    if all(stage.state == SKIPPED for stage in course.stages):
        return [("Verdict: none of these stages had anything to do.", QUIET)]
    if any(stage.check for stage in course.stages):
        return [("Verdict: none, since nothing was changed. This is what would be done.", QUIET)]
    return [("Verdict: these stages succeeded. This run did not validate anything.", GOOD)]


def _outside(course: Course) -> str:
    """The place of failures outside the stages."""
    ran = [stage.name for stage in course.stages if stage.why != NOT_BEGUN]
    return f"after stage {ran[-1]}" if ran else "before the first stage"


def _failures(course: Course) -> list[tuple[str, str]]:
    found = [(f"in stage {stage.name}", one) for stage in course.stages for one in stage.failures]
    found += [(_outside(course), one) for one in course.outside]
    lines = [("", PLAIN)] if found else []
    shown: set[str] = set()
    for where, failure in found:
        how = "unreachable" if failure.unreachable else "failed"
        who, task = f"{failure.host}: " if failure.host else "", f": {failure.task}" if failure.task else ""
        lines.append((f"{who}{how} {where}{task}", BAD))
        for line in failure.text.splitlines():
            wrapped = textwrap.wrap(line, 110, break_long_words=False, break_on_hyphens=False)
            lines += [(f"    {part}", PLAIN) for part in wrapped]
        lines += [(f"    Code {code}: {explained(code)}", PLAIN) for code in failure.codes if code not in shown]
        shown.update(failure.codes)
    return [*lines, ("", PLAIN)]


def _state(stage: Stage) -> str:
    return "not begun" if stage.why == NOT_BEGUN else stage.state or "running"


def _sum(stage: Stage) -> str:
    parts = [_changes(stage)]
    many = sum(stage.restarts.values())
    if many:
        parts.append(f"{many} restart{'s' if many > 1 else ''}")
    lost = len({failure.host for failure in stage.failures})
    if lost:
        parts.append(f"{lost} of {len(stage.hosts)} hosts failed" if len(stage.hosts) > 1 else "failed")
    return ", ".join(parts)


def _changes(stage: Stage) -> str:
    many = len(stage.changes)
    objects = len({change["object"] for change in stage.changes})
    words = f"{many} change{'s' if many > 1 else ''} on {objects} object{'s' if objects > 1 else ''}"
    if not stage.check:
        return words if many else "no changes"
    words = f"{words} would be made" if many else "" if stage.later else "nothing to change"
    after = list(dict.fromkeys(mark["after"] for mark in stage.later))
    return ", ".join(filter(None, [words, f"more will be planned after {_joined(after)}" if after else ""]))


def _of(span: tuple[float, float] | None) -> str:
    if span is None:
        return ""
    low, high = span
    return f" of about {watch((low + high) / 2)}" if high <= low * 1.5 + 5 else f" of {watch(low)} to {watch(high)}"


def _unusual(stage: Stage, span: tuple[float, float] | None) -> str:
    return f" ({usual(span)})" if span and stage.seconds > span[1] * 1.5 + 10 else ""


def _doing(tasks: Mapping[str, Sequence[tuple[str, float]]], now: float) -> Iterator[str]:
    for name, hosts in tasks.items():
        longest = now - min(since for _host, since in hosts)
        yield f"{name} on {_hosts(host for host, _since in hosts)} for {duration(longest)}"


def _hosts(names: Iterable[str]) -> str:
    names = list(names)
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _joined(names: Iterable[str]) -> str:
    names = list(dict.fromkeys(names))
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
