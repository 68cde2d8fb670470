# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Facts of a configuration with an industry-standard command line, and the commands between two of them. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import Line, natural, numbers, tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.undo.facts import Facts, Path


@dataclass(frozen=True)
class Grammar:
    """How the lines of a platform replace each other, and how they are removed."""

    # The beginning of a line that has only one value in its section.
    keys: Sequence[str]
    # Heads of objects in the order of their creation. An object is restored as a whole.
    objects: Sequence[str]
    # (pattern of a line, line that returns its default); otherwise `no` and the line.
    removed: Sequence[tuple[str, str]] = ()
    # (pattern of a line with a list of numbers in its second group, form of a line with one number).
    lists: Sequence[tuple[str, str]] = ()
    # Ends a section; empty if the next one ends it.
    leaves: str = ""
    # Whether a changed object is removed and created again.
    anew: bool = False
    # Sections that are configured in place although they are no ports.
    sections: str = r"interface |system qos"


def facts(text: str, grammar: Grammar) -> Facts:
    """The facts of a configuration."""
    found: Facts = {}
    for line in tree(text).children:
        if _object(line.text, grammar) is not None:
            found[(line.text,)] = "\n".join(child.render(2, 0) for child in line.children)
        elif re.match(grammar.sections, line.text):
            for child in line.children:
                _below(found, (line.text,), child, grammar)
        else:
            # A filtered output may have lines of ports below a line of the switch.
            _below(found, (), Line(line.text), grammar)
    return found


def object_of(path: Path, grammar: Grammar) -> str:
    """The name of the object that a path is, or nothing."""
    return path[0].split()[-1] if len(path) == 1 and _object(path[0], grammar) is not None else ""


def commands(now: Mapping[Path, Any], then: Mapping[Path, Any], grammar: Grammar) -> list[str]:
    """The commands from one set of facts to another: create objects, change ports, remove objects."""
    paths = [path for path in dict.fromkeys([*now, *then]) if now.get(path) != then.get(path)]
    named = [path for path in paths if len(path) == 1 and _object(path[0], grammar) is not None]
    named.sort(key=lambda path: _object(path[0], grammar) or 0)
    lines = [path for path in paths if path not in named]
    made = [line for path in named if path in then for line in _made(path[0], now.get(path), then[path], grammar)]
    gone = [_undone(path[0], grammar) for path in reversed(named) if path not in then]
    own = [path for path in lines if len(path) == 1]
    made += [then[path] for path in own if path in then]
    late = [_undone(now[path], grammar) for path in own if path not in then]
    return [*made, *_sections(lines, now, then, grammar), *gone, *late]


def _below(found: Facts, above: Path, line: Line, grammar: Grammar) -> None:
    if line.children:
        for child in line.children:
            _below(found, (*above, line.text), child, grammar)
        return
    for text in _single(line.text, grammar):
        found[(*above, _key(text, grammar))] = text


def _single(text: str, grammar: Grammar) -> list[str]:
    """One line for each number of a list."""
    for pattern, form in grammar.lists:
        match = re.fullmatch(pattern, text)
        if match:
            return [form.format(one, *match.groups()) for one in numbers(match.group(1))]
    return [text]


def _key(text: str, grammar: Grammar) -> str:
    words = re.sub(r"^(?:no|default) ", "", text)
    for pattern in grammar.keys:
        match = re.match(rf"{pattern}(?= |$)", words)
        if match:
            return match.group()
    return words


def _object(text: str, grammar: Grammar) -> int | None:
    found = [place for place, head in enumerate(grammar.objects) if re.match(head, text)]
    return found[0] if found else None


def _undone(line: str, grammar: Grammar) -> str:
    for pattern, form in grammar.removed:
        match = re.fullmatch(pattern, line)
        if match:
            return form.format(*match.groups())
    return f"no {line}"


def _made(head: str, now: str | None, then: str, grammar: Grammar) -> list[str]:
    """The commands for an object with this body."""
    before, after = tree(now).children, tree(then).children
    gone: list[str] = []
    if now is not None and grammar.anew:
        gone, before = [_undone(head, grammar)], []
    # The order of classes counts, and a class that is added again is the last one.
    same = 0
    while same < min(len(before), len(after)) and before[same].render() == after[same].render():
        same += 1
    inner = [f"no {line.text}" for line in before[same:]]
    for line in after[same:]:
        inner += [line.text, *(child.text for child in line.children), *_left(grammar, line.children)]
    return [*gone, head, *inner, *_left(grammar, True)]


def _left(grammar: Grammar, inside: object) -> list[str]:
    return [grammar.leaves] if grammar.leaves and inside else []


def _sections(paths: Iterable[Path], now: Mapping[Path, Any], then: Mapping[Path, Any], grammar: Grammar) -> list[str]:
    by_section: dict[Path, list[Path]] = {}
    for path in paths:
        if len(path) > 1:
            by_section.setdefault(path[:-1], []).append(path)
    found: list[str] = []
    for section in sorted(by_section, key=lambda one: natural(" ".join(one))):
        lines = [_undone(now[path], grammar) for path in by_section[section] if path not in then]
        lines += [then[path] for path in by_section[section] if path in then]
        found += [*section, *lines, *(_left(grammar, True) * len(section))]
    return found
