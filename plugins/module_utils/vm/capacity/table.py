# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Capacity as a person reads it, within 120 columns. Pure."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Iterator, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.params import PASSTHROUGH

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.report import Capacity, Line

WIDTH = 120
HEAD = ("HOST", "BOARD", "DEVICE", "FITS", "USED", "MAX", "BY", "BLOCKED BY")
_MOST = (28, 26, 22, 4, 4, 4, 6)


def table(found: Capacity) -> str:
    """Return aligned text with a header, the clusters first; text too long for a column continues below it."""
    rows = [_cells(line) for line in (*_shown(found.clusters), *_shown(found.hosts))]
    widths = [min(most, max([len(HEAD[at]), *(len(cells[at]) for cells in rows)])) for at, most in enumerate(_MOST)]
    left = WIDTH - sum(widths) - 2 * len(widths)
    lines = [_line(HEAD, widths)]
    for cells in rows:
        wrapped = [textwrap.wrap(cell, width) or [""] for cell, width in zip(cells, [*widths, left])]
        for at in range(max(map(len, wrapped))):
            lines.append(_line([cell[at] if at < len(cell) else "" for cell in wrapped], widths))
    return "\n".join(lines) + "\n"


def _shown(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines of devices that hosts have; of a board without any, the first one, which has the causes."""
    alive = {(line.cluster, line.host, line.board) for line in lines if _has(line)}
    for line in lines:
        key = (line.cluster, line.host, line.board)
        if _has(line) or key not in alive and line.mode != PASSTHROUGH:
            alive.add(key)
            yield line


def _has(line: Line) -> bool:
    numbers = line.check.numbers
    return bool(numbers.most or numbers.used)


def _cells(line: Line) -> list[str]:
    numbers = line.check.numbers
    causes = "; ".join(block.text for block in line.blocks)
    return [
        line.host or f"{line.cluster} (cluster)",
        line.board,
        line.device,
        *map(str, (line.fits, numbers.used, numbers.most)),
        line.check.source,
        causes or "-",
    ]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, widths)]
    return "  ".join([*padded, *cells[len(widths) :]]).rstrip()
