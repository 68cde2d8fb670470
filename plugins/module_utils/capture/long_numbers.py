# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Long numbers in outputs: a counter, a size or a time stays. That of a part, an order, a contract or a phone does not.

The words of its line decide, or the header of its table, or its key in JSON.
"""

from __future__ import annotations

import re
from typing import Callable


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Shorter numbers are ports, VLANs, priorities and speeds.
DIGITS = re.compile(r"\d{7,}")
LEAST = 10**6
# Words of things that have a number of their own.
_THINGS = _words(
    """
    account asset badge barcode building cage case certificate chassis circuit code contract customer employee
    entitlement fax id identifier incident inventory invoice label licence license location mobile naa name
    order owner phone po project purchase rack rma room seat serial site sku sn subscription support tag tel
    telephone tenant ticket uid warranty wwn wwnn wwpn
    """
)
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_WORD = re.compile(r"[A-Za-z][\w/.:-]*")
# A header has columns, and no value.
_COLUMNS = re.compile(r"\S(?:\s{2,}|\t)\S")
_VALUE = re.compile(r"[:=]\s|[:=]$|\d{5}")


class LongNumbers:
    """Decides about the long numbers of one output, line by line. known: whether a word names no site."""

    def __init__(self, known: Callable[[str], bool]) -> None:
        self._known = known
        self._header: bool | None = None

    def start(self) -> None:
        """Begin another output. A table does not continue there."""
        self._header = None

    def line(self, line: str) -> bool | None:
        """Whether the long numbers of a line stay. None: the word before each of them decides."""
        long = DIGITS.search(line)
        if not long and not _COLUMNS.search(line):
            return True
        words = _WORD.findall(line)
        counted = all(map(self.of_key, words))
        labels = [word for word in words if not re.search(r"\d", word)]
        if not long:
            if len(labels) > 1 and not _VALUE.search(line):
                self._header = counted
            return True
        return True if counted and labels and self._header is None else self._header

    def of_key(self, key: str) -> bool:
        """Whether a long number with this name is a counter, a size or a time."""
        parts = {part.lower() for part in _PARTS.findall(key)}
        return not parts & _THINGS and self._known(key)
