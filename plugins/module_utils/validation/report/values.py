# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Values of a file from another program: a value of the wrong type counts as absent."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Iterable, TypeVar

if TYPE_CHECKING:
    T = TypeVar("T", float, None)


def text(value: Any, default: str = "") -> str:
    """A text. A number becomes a text; any other value is absent."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return default
    return str(value)


def number(value: Any) -> float | None:
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return value


def flag(value: Any) -> bool:
    return value is True


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def entries(value: Any) -> list[dict[str, Any]]:
    """The dicts of a list."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def texts(value: Any) -> list[str]:
    """The texts of a list."""
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []


def in_order(names: Iterable[str]) -> list[str]:
    """Each name once, in natural order: job-2 before job-10."""
    return sorted(set(names), key=counted)


def counted(name: str) -> tuple[list[tuple[int, str]], str]:
    """A key for natural order."""
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts], name


def rounded(value: T, digits: int = 6) -> T:
    """A computed number without the noise of binary fractions."""
    if value is None or value == 0:
        return value
    return round(value, digits - 1 - math.floor(math.log10(abs(value))))


def median(values: Iterable[float]) -> float | None:
    """The median of a list; None for an empty list."""
    row = sorted(values)
    if not row:
        return None
    middle = len(row) // 2
    return row[middle] if len(row) % 2 else rounded((row[middle - 1] + row[middle]) / 2, 9)
