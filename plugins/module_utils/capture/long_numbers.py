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
        self.start()

    def start(self) -> None:
        """Begin another output. A table does not continue there."""
        self._header: bool | None = None
        self._begins = True

    def line(self, line: str) -> bool | None:
        """Whether the long numbers of a line stay. None: the word before each of them decides."""
        long = DIGITS.search(line)
        words = _WORD.findall(line)
        if not long and not _COLUMNS.search(line):
            # A table begins after an empty line or a title, and not after the line below its header.
            self._begins = bool(words) or not line.strip()
            return True
        counted = all(map(self.of_key, words))
        if not long:
            # A row begins with a name, and a row without an unknown word does not change what the header says.
            header = len(words) > 1 and not re.search(r"\d", words[0]) and not _VALUE.search(line)
            if header and (self._begins or not counted):
                self._header = counted
            self._begins = False
            return True
        self._begins = False
        if any(map(_is_thing, words)):
            return None
        labelled = counted and self._header is None and any(not re.search(r"\d", word) for word in words)
        return labelled or self._header

    def of_key(self, key: str) -> bool:
        """Whether a long number with this name is a counter, a size or a time."""
        return not _is_thing(key) and self._known(key)


def _is_thing(word: str) -> bool:
    return not _THINGS.isdisjoint(part.lower() for part in _PARTS.findall(word))
