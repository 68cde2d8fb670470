"""Measure the share of certain processes in the time of some processors: the rest goes to other processes.

Ranks that wait for each other do so busily, so they use all available time. A rate of samples varies with the machine;
this share does not, since both sides of the fraction vary alike.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

PAUSE_S = 0.25
# user, nice, system, irq, softirq: neither idle nor stolen by the hypervisor.
BUSY = (0, 1, 2, 5, 6)


class Share:
    """Measure inside a `with`. Only the time counts in which all processes exist, and each has worked for warm_s
    before."""

    def __init__(self, processors: set[int], is_one: Callable[[list[str]], bool], count: int, warm_s: float):
        self._processors, self._is_one, self._count, self._warm_s = processors, is_one, count, warm_s
        self._of_packets = list(_for_packets(processors))
        self._seen: list[tuple[dict[int, int], int]] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    @property
    def value(self) -> float:
        """Return the fraction; None without enough samples."""
        warm = int(self._warm_s * os.sysconf("SC_CLK_TCK"))
        seen = [(ticks, busy) for ticks, busy in self._seen if min(ticks.values()) >= warm]
        if len(seen) < 2:
            raise RuntimeError(f"Cannot compute the share. {self._count} processes were measured for too short a time.")
        (first, busy_first), (last, busy_last) = seen[0], seen[-1]
        return sum(last[pid] - first[pid] for pid in first) / (busy_last - busy_first)

    def _look(self):
        while not self._over.wait(PAUSE_S):
            ticks = {pid: taken for pid in self._ones() if (taken := _ticks(pid)) is not None}
            same = not self._seen or self._seen[0][0].keys() == ticks.keys()
            if len(ticks) == self._count and same:
                # The kernel's work on packets counts for the processes that send and receive them.
                self._seen.append((ticks, self._busy() - sum(_ticks(pid) or 0 for pid in self._of_packets)))

    def _ones(self):
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                argv = path.read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue  # it ended meanwhile
            if self._is_one(argv):
                yield int(path.parent.name)

    def _busy(self):
        rows = {line.split()[0]: line.split()[1:] for line in Path("/proc/stat").read_text().splitlines()}
        return sum(int(rows[f"cpu{number}"][place]) for number in self._processors for place in BUSY)


def _for_packets(processors: set[int]):
    """The kernel's own processes that treat packets on these processors."""
    names = {f"ksoftirqd/{number}" for number in processors}
    for path in Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            if path.read_text().strip() in names:
                yield int(path.parent.name)


def _ticks(pid: int) -> int | None:
    """Return the processor time of a process; None if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[11]) + int(fields[12])
