# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Pauses between two checks of a slow operation: short at first, and never beyond the time limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.transport import Clock

FIRST_S, LONGEST_S = 0.2, 5.0


class Pauses:
    """Each pause is twice as long as the one before, up to LONGEST_S."""

    def __init__(self, clock: type[Clock], limit_s: float) -> None:
        self._clock = clock
        self._deadline = clock.now() + limit_s
        self._next = FIRST_S

    @property
    def over(self) -> bool:
        """Return whether the time limit has passed."""
        return self._clock.now() >= self._deadline

    def sleep(self) -> None:
        """Wait until the next check."""
        self._clock.sleep(min(self._next, max(0.0, self._deadline - self._clock.now())))
        self._next = min(self._next * 2, LONGEST_S)
