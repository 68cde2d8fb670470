# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The option string of a kernel module, such as `pfctx=0x08 max_vfs=4,4`: taken apart, merged, compared. Pure."""

from __future__ import annotations

import re
from typing import Any, Mapping

_WORD = re.compile(r'(?:[^\s"]|"[^"]*")+')


def parse(text: str | None) -> dict[str, str]:
    """{option: value} of an option string, in its order."""
    options = {}
    for word in _WORD.findall(text or ""):
        # Values hold equal signs too: NVreg_RegistryDwords="RmPVMRL=0x01".
        name, _equals, value = word.partition("=")
        options[name] = value
    return options


def render(options: Mapping[str, str]) -> str:
    """The string that a module is configured with."""
    return " ".join(f"{name}={value}" if value != "" else name for name, value in options.items())


def spelled(value: Any) -> str:
    """Return a requested value as text: lists are joined by commas, truth values are 1 and 0."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, (list, tuple)):
        return ",".join(spelled(entry) for entry in value)
    return str(value).strip()


def is_one_word(text: str) -> bool:
    """Return whether a value stays one value in the option string: values with blanks are in double quotes."""
    return text == "" or _WORD.fullmatch(text) is not None


def same(one: str, other: str) -> bool:
    """Return whether two values mean the same: 0x08 is 8, in every position of a list."""
    return _canonical(one) == _canonical(other)


def merged(now: Mapping[str, str], requests: Mapping[str, Any], replace: bool = False) -> dict[str, str]:
    """Return the options after a request. None removes one; an option with the same meaning keeps its spelling."""
    options = {} if replace else dict(now)
    for name, value in requests.items():
        if value is None:
            options.pop(name, None)
        elif name in now and same(now[name], spelled(value)):
            options[name] = now[name]
        else:
            options[name] = spelled(value)
    return options


def integers(value: str) -> list[int] | None:
    """The numbers of a value such as 4,4 or 0x08; None when it holds anything else."""
    try:
        return [int(part, 0) for part in value.split(",")]
    except ValueError:
        return None


def _canonical(value: str) -> list[int] | str:
    numbers = integers(value) if value else None
    return numbers if numbers is not None else value
