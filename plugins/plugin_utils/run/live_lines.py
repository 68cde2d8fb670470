# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Lines at the bottom of a terminal that change in place, while other output scrolls above them."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import unicodedata
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

# Seconds between two updates; other output is not delayed.
PAUSE_S = 0.25
_UP, _CLEAR = "\x1b[{0}A\r", "\x1b[J"


class LiveLines:
    """Intercepts both outputs, so that nothing is printed into the lines and no output is lost.

    lock guards all output. Ansible holds it while it forks, so that no child begins with half a line. lines() returns
    [(text, colour)], and paint colours one of them. take(text) returns whether the lines show this text, so that it is
    not printed too.
    """

    def __init__(
        self,
        lock: AbstractContextManager[object],
        lines: Callable[[], Sequence[tuple[str, str]]],
        take: Callable[[str], bool],
        paint: Callable[[str, str], str],
        size: Callable[[], tuple[int, int]] = shutil.get_terminal_size,
    ) -> None:
        self._lock, self._lines, self._take, self._paint, self._size = lock, lines, take, paint, size
        self._pid = os.getpid()
        self._streams: list[tuple[TextIO, Callable[[str], int]]] = []
        self._drawn = 0  # lines on the screen
        self._last: list[str] = []
        self._hidden = self._within_line = False
        self._thread: threading.Thread | None
        self._thread, self._over = None, threading.Event()

    def start(self) -> None:
        with self._lock:
            for stream in (sys.stdout, sys.stderr):
                # Output to a file does not reach the terminal.
                if stream.isatty():
                    self._streams.append((stream, stream.write))
                    stream.write = self._writer(stream, stream.write)  # type: ignore[method-assign]
        self._over.clear()
        self._thread = threading.Thread(target=self._follow, name="stages", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Remove the lines and restore both outputs."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(5)
            self._thread = None
        with self._lock:
            self._erase()
            for stream, write in self._streams:
                stream.write = write  # type: ignore[method-assign]
            self._streams = []

    def hide(self, hidden: bool = True) -> None:
        """Hide the lines while a prompt waits for an answer."""
        with self._lock:
            self._hidden = hidden
            if hidden:
                self._erase()

    def draw(self) -> None:
        """Show the lines as they are now."""
        with self._lock:
            if self._hidden or self._within_line or not self._streams:
                return
            columns, rows = self._size()
            some = self._lines()[: max(1, rows // 2)]
            lines = [self._paint(cut(text, columns - 1), colour) for text, colour in some]
            if lines == self._last and self._drawn == len(lines):
                return
            self._write(self._erasing() + "".join(f"{line}\n" for line in lines))
            self._drawn, self._last = len(lines), lines

    def _follow(self) -> None:
        while not self._over.wait(PAUSE_S):
            try:
                self.draw()
            except (OSError, ValueError):
                # The terminal is gone, and the run continues.
                return

    def _writer(self, stream: TextIO, write: Callable[[str], int]) -> Callable[[str], int]:
        def writing(text: str) -> int:
            if os.getpid() != self._pid:
                return write(text)
            with self._lock:
                if self._take(text):
                    return len(text)
                self._erase()
                count = write(text)
                stream.flush()
                # A prompt writes no whole line.
                self._within_line = not text.endswith("\n") if text else self._within_line
                return count

        return writing

    def _erase(self) -> None:
        if self._drawn:
            self._write(self._erasing())
            self._drawn, self._last = 0, []

    def _erasing(self) -> str:
        return _UP.format(self._drawn) + _CLEAR if self._drawn else ""

    def _write(self, text: str) -> None:
        for stream, write in self._streams[:1]:
            write(text)
            stream.flush()


def cut(text: str, columns: int) -> str:
    """The part of a text that fits into a line. Some characters have two columns, and some none."""
    kept: list[str]
    kept, used = [], 0
    for char in text:
        if not char.isprintable():
            continue
        used += 0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        if used > columns:
            return "".join(kept)
        kept.append(char)
    return "".join(kept)
