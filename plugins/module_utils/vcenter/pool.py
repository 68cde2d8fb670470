# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read several objects at the same time. A connection sends one request at a time, so each worker has its own."""

from __future__ import annotations

from collections import deque
from threading import Thread
from typing import TYPE_CHECKING, Callable, Sequence, TypeVar

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

T = TypeVar("T")
R = TypeVar("R")

AT_ONCE = 8


def each(vcenter: VCenter, items: Sequence[T], work: Callable[[VCenter, T], R], workers: int) -> list[R]:
    """Return work(connection, item) of each item, in their order.

    This thread is the first worker, so one worker needs no further connection. The first exception of a work is raised
    after the other workers have finished their present item; items that are left are not started.
    """
    left = deque(enumerate(items))
    results: dict[int, R] = {}
    failed: list[Exception] = []

    def run(mine: VCenter) -> None:
        while not failed:
            try:
                number, item = left.popleft()
            except IndexError:
                return
            try:
                results[number] = work(mine, item)
            except Exception as error:  # noqa: BLE001  (the caller gets it)
                failed.append(error)

    opened = _opened(vcenter, min(workers, len(items)) - 1)
    try:
        # Daemons: after Ctrl-C, nothing waits for an object that does not answer.
        threads = [Thread(target=run, args=(one,), daemon=True) for one in opened]
        for thread in threads:
            thread.start()
        run(vcenter)
        for thread in threads:
            thread.join()
    finally:
        left.clear()
        for one in opened:
            one.close()
    if failed:
        raise failed[0]
    return [results[number] for number in range(len(items))]


def _opened(vcenter: VCenter, number: int) -> list[VCenter]:
    """Further connections; fewer if vCenter refuses one, because the first can read everything."""
    opened: list[VCenter] = []
    try:
        while len(opened) < number:
            opened.append(vcenter.another())
    except OperatorError:
        pass
    return opened
