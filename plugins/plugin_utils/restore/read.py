# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Reads the journal of a site: all runs, with the lines that are damaged."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core import journal
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import Entry, Made
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.journal import SUFFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


@dataclass(frozen=True)
class Reported:
    """The entries of a journal, the oldest first, sentences about its damage, and {(run, module): when} of tasks."""

    entries: tuple[Entry, ...]
    problems: tuple[str, ...]
    tasks: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def runs(self) -> list[str]:
        """The runs in the order of their first changes, also those that only changed guests."""
        times = [(entry.when, entry.run) for entry in self.entries]
        times += [(when, run) for (run, _module), when in self.tasks.items()]
        return list(dict.fromkeys(run for _when, run in sorted(times)))


def read(folder: str) -> Reported:
    """Read all files of a journal. A folder without files has a problem, and no entries."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(SUFFIX))
    except OSError as error:
        return Reported((), (f"Cannot read the journal {folder}. {error.strerror or error}.",))
    if not names:
        return Reported((), (f"The journal {folder} has no runs. It is not known which changes were made.",))
    entries: list[Entry] = []
    problems: list[str] = []
    tasks: dict[tuple[str, str], str] = {}
    for name in names:
        path = os.path.join(folder, name)
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                lines = file.read().split("\n")
        except OSError as error:
            problems.append(f"Cannot read {path}. {error.strerror or error}. The changes of its run are not known.")
            continue
        found, wrong, known = understood(path, lines)
        entries += found
        tasks.update(known)
        problems += wrong
    entries.sort(key=lambda entry: entry.when)
    return Reported(tuple(entries), tuple(problems), tasks)


def understood(path: str, lines: Iterable[str]) -> tuple[list[Entry], list[str], dict[tuple[str, str], str]]:
    """Return (entries, problems, tasks) of one file."""
    tasks: dict[str, Mapping[str, Any]] = {}
    entries: dict[tuple[str, int], Entry] = {}
    problems = []
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            line = _line(text)
            key = (line["task"], line.get("item", -1))
            if line["kind"] == journal.TASK:
                tasks[line["task"]] = line
            elif line["kind"] == journal.PLANNED and line["task"] not in tasks:
                problems.append(
                    f"{path}, line {number}: the line of its task is lost. Restore does not know how to restore "
                    f"{', '.join(change['path'] for change in line['changes']) or 'nothing'} of {line['label']}."
                )
            elif line["kind"] == journal.PLANNED:
                entries[key] = _entry(tasks[line["task"]], line)
            elif key in entries:
                entries[key] = _ended(entries[key], line)
            else:
                problems.append(
                    f"{path}, line {number}: the start of this change is lost. It is not known which object "
                    f"changed {', '.join(change['path'] for change in line['changes']) or 'nothing'}."
                )
        except (ValueError, KeyError, TypeError) as error:
            problems.append(f"{path}, line {number}: {error}. The changes of this line are not known.")
    times: dict[tuple[str, str], str] = {}
    for one in tasks.values():
        times.setdefault((one["run"], one["module"]), one["when"])
    return list(entries.values()), problems, times


def _line(text: str) -> dict[str, Any]:
    try:
        line = json.loads(text)
    except ValueError:
        raise ValueError("the line is damaged") from None
    if not isinstance(line, dict) or line.get("sum") != journal.checksum(line):
        raise ValueError("the checksum is wrong")
    if line.get("v") != journal.VERSION:
        raise ValueError(f"the format {line.get('v')} is not {journal.VERSION}")
    if line["kind"] not in (journal.TASK, journal.PLANNED, journal.DONE, journal.FAILED):
        raise ValueError(f"the kind {line['kind']} is unknown")
    return line


def _entry(task: Mapping[str, Any], line: Mapping[str, Any]) -> Entry:
    return Entry(
        id=f"{line['task']}.{line['item']}",
        run=task["run"],
        when=line["when"],
        stage=task["stage"],
        module=task["module"],
        host=task["host"],
        label=line["label"],
        ids=line["ids"],
        request=task["request"],
        changes=tuple(_made(line["changes"])),
        state=line["kind"],
    )


def _ended(entry: Entry, line: Mapping[str, Any]) -> Entry:
    # A new object has its ids only at the end.
    ids = {**entry.ids, **line.get("ids", {})}
    return replace(entry, ids=ids, state=line["kind"], changes=tuple(_made(line["changes"])))


def _made(changes: Iterable[Mapping[str, Any]]) -> Iterator[Made]:
    for change in changes:
        yield Made(change["path"], change["before"], change["after"], change.get("needs"), change.get("of"))
