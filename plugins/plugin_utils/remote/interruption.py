# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Signals that end a process, delayed until it has cleaned up."""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING, Callable, Iterator

if TYPE_CHECKING:
    from types import FrameType


class Interrupted(BaseException):
    """A signal requests the end of the run."""


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Within it, what ends a process raises Interrupted once, so that there is time to tidy up."""
    before: dict[signal.Signals, Callable[[int, FrameType | None], object] | int | None] = {}

    def stop(number: int, _frame: FrameType | None) -> None:
        for other in before:
            signal.signal(other, signal.SIG_IGN)
        raise Interrupted(number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        before[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
