# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The plan as a person reads it: one VM per row, within 120 columns. Pure."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import Any, Mapping, Sequence

WIDTH = 120
HEAD = ("VM", "HOST", "GPU", "NIC", "NODE", "WHY")
# Width limits of all columns but the last, so that one long name does not push the others aside.
_MOST = (24, 30, 30, 14, 5)
_LEAST_WHY = 18


def table(entries: Sequence[Mapping[str, Any]]) -> str:
    """Return aligned text with a header; text too long for a column continues below it."""
    names = Counter(_last(entry["name"]) for entry in entries)
    rows = [_cells(entry, names) for entry in entries]
    widths = [
        min(most, max(len(line) for cells in [*rows, [[head] for head in HEAD]] for line in cells[at]))
        for at, most in enumerate(_MOST)
    ]
    left = max(_LEAST_WHY, WIDTH - sum(widths) - 2 * len(widths))
    lines = [_line(HEAD, widths)]
    for cells in rows:
        wrapped = [_wrapped(cell, width) for cell, width in zip(cells, [*widths, left])]
        for at in range(max(map(len, wrapped))):
            lines.append(_line([cell[at] if at < len(cell) else "" for cell in wrapped], widths))
    return "\n".join(lines) + "\n"


def _last(name: str) -> str:
    """The name at the end of a path."""
    return name.rpartition("/")[2]


def _cells(entry: Mapping[str, Any], names: Mapping[str, int]) -> list[list[str]]:
    """Return the lines of each cell; the path is shown only where the name alone is ambiguous."""
    name = _last(entry["name"])
    return [
        [name if names[name] == 1 else entry["name"]],
        [entry["host"] or "-"],
        [f"{gpu['id']} {_short(gpu)}".strip() for gpu in entry["gpus"]] or ["-"],
        [nic["device"] or nic["pci"] for nic in entry["nics"]] or ["-"],
        [",".join(map(str, entry["numa_nodes"])) or "-"],
        [f"{entry['action']}: {entry['why']}" if entry["action"] else entry["why"]],
    ]


def _short(gpu: Mapping[str, Any]) -> str:
    """The profile without the family, which all profiles of a board have in common."""
    return (gpu["profile"] or "").partition("_")[2] or gpu["profile"] or "whole"


def _wrapped(lines: Sequence[str], width: int) -> list[str]:
    return [part for line in lines for part in textwrap.wrap(line, width) or [""]]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, widths)]
    return "  ".join([*padded, *cells[len(widths) :]]).rstrip()
