# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Settings of a switch before and after a run, and those that restore changes back. Pure.

A fact is one setting or one object of a configuration: {(section, setting): value}. Only a fact with the value that the
runs left is restored, so the changes of others stay.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Dict, Tuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

Path = Tuple[str, ...]
Facts = Dict[Path, Any]

# The states of a setting in the result, as those of restore_step.
RESTORED, ALREADY, KEPT, DUE, CANNOT = "restored", "already as before", "changed since by another", "due", "cannot"
# Heads of sections in commands, of the switch and below a section, and the beginnings of a removal.
OUTER = r"(?:interface|class-map|policy-map|qos profile|system qos)(?: |$)"
INNER = r"(?:(?:uc-)?tx-queue \d+$|class )"
REMOVES = ("no ", "default ", "nv unset ")


@dataclass(frozen=True)
class Setting:
    """One setting: its value before the runs, and the one that they left; None if it did not exist."""

    path: Path
    before: object
    left: object


@dataclass(frozen=True)
class Row:
    """The result of one setting."""

    path: Path
    state: str
    back: object
    left: object
    found: object
    why: str = ""

    @property
    def setting(self) -> str:
        return named(self.path)

    def as_result(self) -> dict[str, Any]:
        return {
            "setting": self.setting,
            "state": self.state,
            "back": self.back,
            "left": self.left,
            "found": self.found,
            "why": self.why,
        }


def named(path: Path) -> str:
    """A path as one text, as in a command."""
    return " ".join(path)


def settings(before: Mapping[Path, Any], after: Mapping[Path, Any]) -> list[Setting]:
    """The settings that differ between two configurations."""
    paths = list(dict.fromkeys([*before, *after]))
    return [Setting(path, before.get(path), after.get(path)) for path in paths if before.get(path) != after.get(path)]


def combined(runs: Iterable[Sequence[Setting]]) -> list[Setting]:
    """The settings of several runs, the oldest first: the first value before, and the last one that was left."""
    found: dict[Path, Setting] = {}
    for run in runs:
        for one in run:
            old = found.get(one.path)
            found[one.path] = one if old is None else Setting(one.path, old.before, one.left)
    return [one for one in found.values() if one.before != one.left]


def said(setting: Setting, commands: Iterable[str]) -> bool:
    """Whether a killed run made this change, because its commands have the line of the setting or its removal.

    A setting of a section counts only if the commands have its line in that section. A setting of the whole switch
    counts anywhere, because NX-OS takes its lines after those of a port.
    """
    section = tuple(map(_plain, setting.path[:-1]))
    lines = {line for inside, line in _inside(commands) if not section or _covers(inside, section)}
    texts = [_plain(str(one)) for one in (setting.path[-1], setting.left) if one]
    if setting.left is None:
        # A default is not in the configuration, and the removal of a class has no match-any.
        name = re.sub(r" match-\S+(?= )", "", texts[0])
        return any(
            f"{line} ".startswith(f"{name} ") or (line.startswith(REMOVES) and f" {name} " in f"{line} ")
            for line in lines
        )
    return any(text in lines for text in texts)


def _inside(commands: Iterable[str]) -> Iterator[tuple[Path, str]]:
    """Each command with the heads of its section, the outermost first."""
    heads: Path = ()
    for line in map(_plain, commands):
        if re.match(OUTER, line):
            heads = ()
        yield heads, line
        if re.match(OUTER, line) or re.match(INNER, line):
            heads = (*heads, line)
        elif line == "exit":
            heads = heads[:-1]


def _covers(inside: Path, section: Path) -> bool:
    """Whether the heads in commands are this section. Commands have one head for a range of ports."""
    return len(inside) == len(section) and all(map(_is_of, inside, section))


def _is_of(head: str, name: str) -> bool:
    span, one = re.fullmatch(r"(interface .*?)(\d+)-(\d+)", head), re.fullmatch(r"(interface .*?)(\d+)", name)
    if span is None or one is None:
        return head == name
    return span.group(1) == one.group(1) and int(span.group(2)) <= int(one.group(2)) <= int(span.group(3))


def _plain(text: str) -> str:
    return " ".join(text.split())


def judge(
    wanted: Iterable[Setting],
    now: Mapping[Path, Any],
    object_of: Callable[[Path], str],
    lacks: Callable[[Path], str],
) -> list[Row]:
    """A row for each setting. object_of returns the name of an object, or nothing. lacks: why it cannot be restored."""
    rows = [_row(one, now.get(one.path), lacks(one.path)) for one in wanted]
    while True:
        after = target(now, rows)
        held = {row.path: _users(object_of(row.path), row.path, after) for row in rows if _removes(row)}
        held = {path: users for path, users in held.items() if users}
        if not held:
            return rows
        rows = [
            replace(row, state=KEPT, why=f"{', '.join(held[row.path])} uses it.") if row.path in held else row
            for row in rows
        ]


def target(now: Mapping[Path, Any], rows: Iterable[Row]) -> Facts:
    """The present facts with those that are due as before the runs."""
    found = dict(now)
    for row in rows:
        if row.state == DUE:
            found.pop(row.path, None)
            if row.back is not None:
                found[row.path] = row.back
    return found


def _row(one: Setting, found: object, why: str) -> Row:
    if found == one.before:
        return Row(one.path, ALREADY, one.before, one.left, found)
    if found != one.left:
        return Row(one.path, KEPT, one.before, one.left, found)
    return Row(one.path, CANNOT if why else DUE, one.before, one.left, found, why)


def _removes(row: Row) -> bool:
    return row.state == DUE and row.back is None


def _users(name: str, own: Path, after: Mapping[Path, Any]) -> list[str]:
    """The settings that use an object which the edit would remove."""
    if not name:
        return []
    return [named(path) for path, value in after.items() if path != own and name in str(value).split()]
