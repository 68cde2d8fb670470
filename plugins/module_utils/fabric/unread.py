# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Find lines of an output that were not parsed, and report them as sentences. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Sequence, TypeVar

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import Line

    T = TypeVar("T")


def strange(command: str, root: Line, forms: Sequence[tuple[str, str, str]]) -> list[str]:
    """Sentences about configuration lines that begin like one of forms but do not match the whole form.

    forms: [(pattern of the beginning of the block, of the beginning of the line, of the whole line)].
    """
    found = {}
    for parents, line in root.walk():
        block = parents[0].text if parents else ""
        known = [whole for above, start, whole in forms if re.match(above, block) and re.match(start, line.text)]
        if known and not any(re.fullmatch(whole, line.text) for whole in known):
            found[line.text] = f" of {parents[-1].text}" if parents else ""
    return [lacks(command, f"{text!r}{where}") for text, where in found.items()]


def lacks(command: str, what: str) -> str:
    """A sentence about a value in an unknown form."""
    return f"Cannot read {what} in `{command}`. The form of the value is not known. Look at the switch."


def headless(command: str, port: str | None) -> str:
    """A sentence about lines without a port: a second block after those of a port, or lines before the first one."""
    where = f"after those of {port}" if port else "before the first port"
    return (
        f"Cannot assign the lines {where} in `{command}`. The heading with their port is missing. Give the whole "
        "output as the switch prints it."
    )


def again(seen: set[T], key: T) -> bool:
    """Return whether a key was seen before; remembers the key."""
    known = key in seen
    seen.add(key)
    return known
