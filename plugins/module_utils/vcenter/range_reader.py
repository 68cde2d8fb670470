# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A file somewhere else, read in the parts that are needed."""

from __future__ import annotations

import io
import os
from typing import Callable

# Readers of archives jump between the end and the members; whole blocks keep that to a few requests.
BLOCK = 256 << 10


class RangeReader(io.RawIOBase):
    """A file that is read over the network in blocks."""

    def __init__(self, fetch: Callable[[int, int], tuple[bytes, bool]], size: int) -> None:
        # fetch(first, count): bytes, and whether they are just that part.
        self._fetch = fetch
        self._size = size
        self._at = 0
        self._blocks: dict[int, bytes] = {}

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def report(self) -> int:
        return self._at

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        number, start = divmod(self._at, BLOCK)
        data = self._block(number)[start : start + len(buffer)] if self._at < self._size else b""
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def _block(self, number: int) -> bytes:
        if number not in self._blocks:
            first = number * BLOCK
            data, is_part = self._fetch(first, min(BLOCK, self._size - first))
            if is_part:
                self._blocks[number] = data
            else:
                # A server that does not cut has sent everything; once is enough.
                self._blocks = {at: data[at * BLOCK : (at + 1) * BLOCK] for at in range(self._size // BLOCK + 1)}
        return self._blocks[number]
