# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Wait for an event on the guest: the only place that sleeps, so that tests need not."""

from __future__ import annotations

import time
from typing import Callable, TypeVar

FIRST_S, LONGEST_S = 0.2, 5.0
T = TypeVar("T")


class Clock:
    """Time as it is."""

    wall = staticmethod(time.time)
    monotonic = staticmethod(time.monotonic)
    sleep = staticmethod(time.sleep)


def wait(poll: Callable[[], T], limit_s: float, clock: Clock | type[Clock] = Clock) -> tuple[T, float]:
    """(the last answer of poll, the seconds that it took); ends with the first answer that is true, or in time."""
    start = clock.monotonic()
    pause = FIRST_S
    while True:
        answer = poll()
        spent = clock.monotonic() - start
        if answer or spent >= limit_s:
            return answer, round(spent, 1)
        clock.sleep(min(pause, limit_s - spent))
        pause = min(pause * 1.6, LONGEST_S)
