# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Texts of other systems without characters that control a terminal. Pure."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TypeVar, overload

T = TypeVar("T")
# No counter has more digits, and Python rejects numbers with thousands of digits.
MOST_DIGITS = 20
# C0 with ESC and BEL, DEL, C1; the marks that turn the direction of a line; halves of characters.
_ACTS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_LINES = re.compile(f"[{_ACTS}]")
_LINE = re.compile(f"[{_ACTS}\t\n]")

_DECIMAL = re.compile(rf"[0-9]{{1,{MOST_DIGITS}}}(\.[0-9]{{1,{MOST_DIGITS}}})?")


def acts(text: str, lines: bool = False) -> bool:
    """Whether a text has control characters for a terminal or a file of lines; lines allows line breaks and tabs."""
    return (_LINES if lines else _LINE).search(text) is not None


@overload
def shown(text: str) -> str: ...


@overload
def shown(text: T) -> T: ...


def shown(text: object) -> object:
    """A text for a terminal. Line breaks and tabs stay, and other control characters become escapes."""
    if not isinstance(text, str):
        return text
    return _LINES.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def shown_all(value: object) -> object:
    """The same for all texts in a JSON value."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, dict):
        return {shown_all(key): shown_all(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        made = [shown_all(one) for one in value]
        return tuple(made) if isinstance(value, tuple) else made
    return value


@overload
def whole(text: str) -> int | None: ...


@overload
def whole(text: str, otherwise: T) -> int | T: ...


def whole(text: str, otherwise: object = None) -> object:
    """The whole number in a text of another system, or the value of otherwise."""
    text = text.strip()
    digits = text[1:] if text[:1] == "-" else text
    return int(text) if digits.isdecimal() and len(digits) <= MOST_DIGITS else otherwise


def amount(value: object) -> float | None:
    """A number of an operator that is not negative, or None. Before ansible-core 2.19 a template makes it a text."""
    if isinstance(value, str):
        plain = _DECIMAL.fullmatch(value.strip())
        return float(value) if plain else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # Neither nan nor infinity is less, and no larger number is meant.
    return value if 0 <= value < 10**MOST_DIGITS else None


def decoded(text: str | bytes) -> bytes:
    """The bytes of a base64 text of another system; empty if the text is not valid."""
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError):
        return b""
