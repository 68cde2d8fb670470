# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Files of systemd: sections and keys that may occur several times. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable, List, Tuple

if TYPE_CHECKING:
    Section = Tuple[str, List[Tuple[str, str]]]  # its name, and its keys with their values

_UNITS = {"K": 1024, "M": 1024**2, "G": 1024**3}


def parse(text: str | None) -> list[Section]:
    """Return [(section, [(key, value)])] in the order of the file; a continued value is one value."""
    found: list[Section] = []
    for line in map(str.strip, (text or "").replace("\\\n", " ").splitlines()):
        if not line or line[0] in "#;":
            continue
        if line.startswith("[") and line.endswith("]"):
            found.append((line[1:-1], []))
        elif found and "=" in line:
            key, _equals, value = line.partition("=")
            found[-1][1].append((key.strip(), value.strip()))
    return found


def render(sections: Iterable[Section]) -> str:
    """The text of a file with these sections."""
    parts = ["\n".join([f"[{name}]", *(f"{key}={value}" for key, value in pairs)]) for name, pairs in sections]
    return "\n\n".join(parts) + "\n"


def values(sections: Iterable[Section], name: str, key: str) -> list[str]:
    """Return all values of a key in all sections of a name; an empty value resets those before it."""
    found: list[str] = []
    for section, pairs in sections:
        for one, value in pairs if section == name else ():
            if one == key:
                found = [*found, value] if value else []
    return found


def size(text: str) -> int | None:
    """Return 9000 for '9000', 9216 for '9K'; None for other texts."""
    text = str(text).strip().upper()
    factor = _UNITS.get(text[-1:], 1)
    number = text[:-1] if factor > 1 else text
    return int(number) * factor if number.isdecimal() else None
