# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""File, line and text of a site's keys, as Ansible recorded them when it read the file."""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

try:
    from ansible._internal._datatag._tags import Origin
except ImportError:  # ansible-core 2.16 to 2.18
    Origin = None

# The first key that a problem names: site.vms[0].count, or site_host.gpu of a single host.
KEY = re.compile(r"^site(?=:)|\bsite(?:_host|_switch)?(?:\.\w+|\[\d+\])+")
OWN_VARIABLE = re.compile(r"[^:\s]+: switch_\w+")
STEP = re.compile(r"\w+")
# One plain value of YAML, and the same after its key.
VALUE = re.compile(r"([^\s,\[\]{}#'\"][^\s,\[\]{}]*)")
VALUE_OF_KEY = re.compile(r"[\w'\"]+\s*:\s+([^\s,\[\]{}#'\"][^\s,\[\]{}]*)")


def placed(problems: Iterable[str], given: Any, name: str = "site") -> list[str]:
    """Each problem with the file and line of its key, or unchanged if Ansible recorded none."""
    return [problem + _place_of(problem, given, name) for problem in problems]


def place(value: object) -> str:
    """File and line of one key or value, in brackets; empty if Ansible recorded none."""
    found = _origin(value)
    return f" ({found[0]}, line {found[1]})" if found else ""


def is_plain(name: str) -> bool:
    """Whether a file contains the value of a key in plain text, neither in a vault nor as a template."""
    noted = _noted(name)
    if not noted or not noted[2]:
        return False
    linecache.checkcache(noted[0])
    if linecache.getline(noted[0], 1).startswith("$ANSIBLE_VAULT"):
        return False
    value = linecache.getline(noted[0], noted[1])[noted[2] - 1 :].partition(":")[2].strip()
    return value not in ("", "''", '""') and not value.startswith(("!vault", "#")) and "{{" not in value


def written(name: str | None, value: object) -> str:
    """The value of a key as written in its file; empty if it is not recorded, or is on another line."""
    for noted, after in ((_noted(value), False), (_noted(name), True)):
        if noted and noted[2]:
            linecache.checkcache(noted[0])
            rest = linecache.getline(noted[0], noted[1])[noted[2] - 1 :]
            found = VALUE_OF_KEY.match(rest) if after else VALUE.match(rest)
            if found:
                return found[1]
    return ""


def _place_of(problem: str, given: Any, name: str) -> str:
    named = KEY.search(problem)
    # After a switch's own variable, a key of the site is part of the fix.
    if named and OWN_VARIABLE.match(problem):
        return ""
    steps = STEP.findall(named.group()) if named else []
    if not steps or steps[0] != name:
        return ""
    found, node = _origin(given), given
    for step in steps[1:]:
        if isinstance(node, Mapping) and step in node:
            key = next(one for one in node if one == step)
            node = node[step]
            found = _origin(key) or _origin(node) or found
        elif isinstance(node, list) and step.isdecimal() and int(step) < len(node):
            node = node[int(step)]
            found = _origin(node) or found
        else:
            break
    return f" ({found[0]}, line {found[1]})" if found else ""


def _origin(value: object) -> tuple[str, int] | None:
    """(file, line) of a value that was read from YAML."""
    noted = _noted(value)
    if noted is None:
        return None
    path, line = noted[:2]
    near = os.path.relpath(path)
    return (path if near.startswith(os.pardir) else near), line


def _noted(value: object) -> tuple[str, int, int | None] | None:
    """(file, line, column) as Ansible recorded them, or None."""
    if Origin is None:
        path, line, column = getattr(value, "ansible_pos", None) or (None, None, None)
    else:
        tag = Origin.get_tag(value)
        path, line, column = (tag.path, tag.line_num, tag.col_num) if tag else (None, None, None)
    return (path, line, column) if path and line else None
