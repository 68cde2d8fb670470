# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read the queues of ports of Arista EOS: `show qos interfaces`, complete or of one aspect. Pure."""

from __future__ import annotations

import re
from typing import cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import cleaned
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.eos.show import PORT, ROW, short
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.eos.text import TRUSTS, UNITS
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking, Oper
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.unread import again, headless, lacks

COMMAND = "show qos interfaces"
_UNIT = r"\b(bytes|kbytes|mbytes|segments|kb|mb)\b"
_TRUST = re.compile(r"trust mode\s*:?\s*(\w+)", re.IGNORECASE)
_QUEUE = re.compile(r"^\s*(?:(?:uc-?)?tx-?queue:?\s*)?(\d)\s*:?(?:\s+(.*))?$", re.IGNORECASE)


def queues_of(
    text: str, oper: dict[str, Oper], strict: dict[str, dict[int, bool]], unread: list[str], port: str | None = None
) -> None:
    """Read `show qos interfaces` into {port: Oper}, {port: {queue: whether it is strict}} and sentences on the rest.

    port: the port in the command; some tables do not print it.
    """
    block, known = _Block(port, oper, strict, unread), port
    for line in cleaned(text):
        head = re.match(rf"^\s*{PORT}:", line)
        table = re.match(rf"^\s*{PORT}\s+(COS|DSCP|UNTRUSTED)\b", line, re.IGNORECASE)
        if head or table:
            block.close()
            known = short(cast("re.Match[str]", head or table).group(1))
            block = _Block(known, oper, strict, unread)
            running = oper.setdefault(known, Oper())
            running.trust = TRUSTS[table.group(2).lower()] if table else running.trust
        elif ROW.match(line):
            unread.append(lacks(COMMAND, f"the row {' '.join(line.split())!r}"))
            block.close()
        elif block.is_lost(line):
            # One sentence is enough until the next heading.
            unread.append(headless(COMMAND, known))
            block.close()
        elif block.port is not None:
            block.read(line)
    block.close()


class _Block:
    """The lines below one heading."""

    def __init__(
        self, port: str | None, oper: dict[str, Oper], strict: dict[str, dict[int, bool]], unread: list[str]
    ) -> None:
        self.port, self._oper, self._strict, self._unread = port, oper, strict, unread
        self._queue: int | None
        self._unit: str | None
        self._table: str | None
        self._queue = self._unit = None
        self._table = ""  # the header of the table to which rows belong; None where queues have blocks of their own
        self._marking: set[int] = set()  # queues that mark, without known thresholds
        self._seen: set[object] = set()
        self._closed = False

    def is_lost(self, line: str) -> bool:
        """Return whether a line belongs to another port; repeated values belong to the next port."""
        row, words = _QUEUE.match(line), " ".join(line.lower().split())
        if self._closed:
            return False
        if row or _TRUST.search(line):
            if row and not row.group(2):
                self._table = None
            key = (self._table, row.group(1)) if row else "trust"
            return self.port is None or again(self._seen, key)
        # A header has no numbers. The header of another table can be in between.
        if self._table is None or not re.search("[a-z]", words) or re.search(r"\d", words):
            return False
        self._table = words
        return self.port is not None and again(self._seen, words.partition(":")[0])

    def read(self, line: str) -> None:
        unit = re.search(_UNIT, line, re.IGNORECASE)
        if unit and not re.match(r"\s*(?:\w+-?queue:?\s*)?\d", line):
            self._unit = unit.group(1)  # a header with the unit of its column
        trust, row = _TRUST.search(line), _QUEUE.match(line)
        running = cast("Oper", self._oper.setdefault(cast("str", self.port), Oper()) if trust or row else None)
        if trust:
            running.trust = TRUSTS.get(trust.group(1).lower())
            if running.trust is None:
                self._unread.append(lacks(COMMAND, f"the trust of {self.port}, {trust.group(1)!r}"))
        elif row:
            self._queue = int(row.group(1))
            if re.search(r"\b(SP|RR)\s+[A-CE-Z]\s*$", line):
                self._marking.add(self._queue)
            self._row(row.group(2) or "", running)
        elif self._queue is not None:
            self._threshold(line, self._oper[cast("str", self.port)])

    def close(self) -> None:
        """End the port. Marking without thresholds is unknown."""
        running = self._oper.get(self.port or "")
        self.port, self._closed = None, True
        if running is not None and not self._marking <= {*(running.ecn or {})}:
            running.ecn = running.ecn or None

    def _row(self, rest: str, running: Oper) -> None:
        order = re.search(r"\b(SP|RR)\b", rest)
        if order:
            self._strict.setdefault(cast("str", self.port), {})[cast("int", self._queue)] = order.group(1) == "SP"
        reported = re.search(_UNIT, rest, re.IGNORECASE)
        unit = reported.group(1) if reported else (self._unit if not order else None)
        cells = [word for word in rest.split() if not re.fullmatch(_UNIT, word, re.IGNORECASE)]
        numbers = all(map(str.isdigit, cells[:2]))
        if not order and "threshold" in (self._table or "") and cells and not (unit and numbers):
            self._unread += [] if {*cells} == {"-"} else [self._lacks(rest)]
        if unit and not order and not numbers:
            return  # a cell without a number would turn the maximum into the minimum
        found = [int(entry) for entry in re.findall(r"\b\d+\b", rest)]
        if unit and len(found) >= 2:
            size = _size(unit)
            chance = found[2] if len(found) > 2 and found[2] <= 100 else None
            marking = Marking(found[0] * size, found[1] * size, chance)
            running.ecn = {**(running.ecn or {}), cast("int", self._queue): marking}
        elif order:
            running.ecn = running.ecn or {}  # No queue marks, unless thresholds follow.

    def _threshold(self, line: str, running: Oper) -> None:
        """Read lines such as 'Minimum threshold: 150 kbytes' below a queue."""
        reported = re.search(r"(min|max)\w*[ -]threshold\W*(\d+)\s*(\w+)", line, re.IGNORECASE)
        chance = re.search(r"prob\w*\W*(\d+)", line, re.IGNORECASE)
        if not reported and not chance:
            return
        old = (running.ecn or {}).get(cast("int", self._queue)) or Marking(0, 0)
        low, high, odds = old.min_bytes, old.max_bytes, old.probability
        if reported and not _size(reported.group(3)):
            self._unread.append(self._lacks(" ".join(line.split())))
            return
        if reported:
            size = int(reported.group(2)) * _size(reported.group(3))
            low, high = (size, high) if reported.group(1).lower() == "min" else (low, size)
        else:
            odds = int(cast("re.Match[str]", chance).group(1))
        running.ecn = {**(running.ecn or {}), cast("int", self._queue): Marking(low, high, odds)}

    def _lacks(self, shown: str) -> str:
        return lacks(COMMAND, f"the thresholds of queue {self._queue} of {self.port}, {shown!r}")


def _size(unit: str) -> int:
    unit = unit.lower()
    return UNITS.get({"kb": "kbytes", "mb": "mbytes"}.get(unit, unit), 0)
