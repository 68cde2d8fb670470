# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Small parsers for the outputs of several tools. Pure."""

from __future__ import annotations

import json
import re
from typing import Any, Iterable, TypeVar, cast, overload

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import DSCPS
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import DSCP_NAMES, cleaned

T = TypeVar("T")

YES, NO = ("true", "on", "yes", "1", "enabled"), ("false", "off", "no", "0", "disabled", "none", "n/a", "")
PAIR = re.compile(r"(\d+):\s*([\w.%]+)")


def truth(value: object) -> bool | None:
    """True, False, or None for any other value."""
    text = str(value).strip().lower()
    return True if text in YES else False if text in NO else None


@overload
def whole(value: object) -> int | None: ...


@overload
def whole(value: object, otherwise: T) -> int | T: ...


def whole(value: object, otherwise: object = None) -> object:
    """A whole number, also with a base prefix, or else `otherwise`."""
    try:
        return int(str(value).strip(), 0)
    except ValueError:
        return _leading_zeros(str(value).strip(), otherwise)


def dscp_of(word: object) -> int | None:
    """The number of a DSCP that is written as a number, a name such as CS3 or af31, or six bits."""
    text = str(word).strip().lower()
    if re.fullmatch(r"[01]{6}", text):
        return int(text, 2)
    number = whole(text)
    number = DSCP_NAMES.get(text) if number is None else number
    return number if number is None or number in DSCPS else None


def pairs(text: str | None) -> dict[int, str]:
    """{0: 'ets', 3: 'strict'} of '0:ets 3:strict'."""
    return {int(number): word for number, word in PAIR.findall(text or "")}


def flags(values: str | Iterable[object] | None) -> list[int]:
    """[3] of '0 0 0 1 0 0 0 0', '0,0,0,1', [False, False, False, True]: the priorities that are on."""
    listed = re.split(r"[\s,]+", values.strip()) if isinstance(values, str) else list(values or [])
    return [priority for priority, value in enumerate(listed[:8]) if truth(value)]


def listed(text: str | None) -> list[int]:
    """[1, 2, 5] of '1 2 5', '1,2,5'; [] of 'none'."""
    return sorted({int(number) for number in re.findall(r"\b[0-7]\b", text or "")})


def from_json(text: str | None) -> Any:
    """The JSON value in an output, also after other text; None without one."""
    for line_start in re.finditer(r"(?m)^\s*[\[{]", text or ""):
        try:
            return json.JSONDecoder().raw_decode(cast("str", text)[line_start.start() :].lstrip())[0]
        except ValueError:
            continue
    return None


def fields(text: str | None) -> dict[str, str]:
    """{name: value} of lines 'Name: value'; names are normalised with key(), and the first of equal names counts."""
    found: dict[str, str] = {}
    for line in cleaned(text):
        name, colon, value = line.partition(":")
        if colon:
            found.setdefault(key(name), value.strip())
    return found


def key(name: object) -> str:
    """Normalise a name: PFC Configuration, PFCConfiguration and pfc-configuration are the same."""
    return re.sub(r"[^a-z0-9]", "", str(name).lower())


def _leading_zeros(text: str, otherwise: T) -> int | T:
    return int(text) if text.isdecimal() else otherwise
