# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Output of the callback stages while tasks run: live lines on a terminal, else a line at intervals."""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING

from ansible import constants as C
from ansible import context
from ansible.utils.color import stringc
from ansible_collections.aiready.vsphere.plugins.module_utils.core import plain_text
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import progress, record, screen
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.live_lines import LiveLines

if TYPE_CHECKING:
    from collections.abc import Callable

    from ansible.utils.display import Display
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.listener import Listener

COLOURS = {
    screen.GOOD: C.COLOR_OK,
    screen.BAD: C.COLOR_ERROR,
    screen.WARN: C.COLOR_WARN,
    screen.QUIET: C.COLOR_SKIP,
    screen.PLAIN: None,
}
# Number of objects whose latest progress is shown.
_SHOWN = 3


class Watch:
    """Shows the progress from the first stage of a run to its end."""

    def __init__(self, display: Display, listener: Listener) -> None:
        self._display, self._listener = display, listener
        self._usual_of: str | None
        self._usual, self._usual_of = record.Usual(), None
        self._reported: dict[str, str] = {}
        self._live: LiveLines | None
        self._still: Every | None
        self._live = self._still = None

    @property
    def is_live(self) -> bool:
        return self._live is not None

    def start(self, live: bool, still_s: float) -> None:
        if self._live is not None or self._still is not None:
            return
        # Ansible holds this lock while it forks, so that no child inherits a locked lock.
        lock = getattr(self._display, "_lock", None)
        if live and lock is not None:
            self._live = LiveLines(lock, self._lines, self._take, _painted)
            self._live.start()
        elif still_s > 0:
            self._still = Every(still_s, self._report_still)

    def stop(self) -> None:
        for watching in (self._live, self._still):
            if watching is not None:
                watching.stop()
        self._live = self._still = None

    def hide(self, hidden: bool = True) -> None:
        if self._live is not None:
            self._live.hide(hidden)

    def forget(self, host: str | None = None) -> None:
        """Drop the progress of long work: of one host, or of all."""
        if host is None:
            self._reported.clear()
        else:
            self._reported.pop(host, None)

    def usually(self, name: str) -> tuple[float, float] | None:
        """The usual duration of a stage, or None."""
        return self._times().stage(name)

    def say(self, text: str, kind: str) -> None:
        self._display.display(plain_text.shown(text), color=COLOURS[kind])

    def _times(self) -> record.Usual:
        results = self._listener.folder.results
        if results != self._usual_of:
            self._usual_of = results
            self._usual = record.Usual(record.earlier(results), self._listener.course.check)
        return self._usual

    def _running(self, at_least: float = 0.0) -> tuple[dict[str, list[tuple[str, float]]], float]:
        """Return {task: [(host, since)]} of tasks that run for at least so many seconds, and the time."""
        found: dict[str, list[tuple[str, float]]]
        found, course = {}, self._listener.course
        now = course.clock.monotonic()
        for (host, _task), (name, since) in list(course.running.items()):
            if now - since >= at_least:
                found.setdefault(name, []).append((host, since))
        return found, now

    def _lines(self) -> list[tuple[str, str]]:
        course = self._listener.course
        if course.now is None:
            return []
        running, now = self._running()
        reported = list(self._reported.values())[-_SHOWN:]
        return screen.live(course, self.usually(course.now.name), running, self._times().task, reported, now)

    def _take(self, text: str) -> bool:
        """Whether the lines show what was written to the terminal."""
        words = progress.reported(text)
        if words is None:
            return False
        subject = words.partition(":")[0]
        self._reported.pop(subject, None)
        self._reported[subject] = words
        return True

    def _report_still(self, seconds: float) -> None:
        course = self._listener.course
        running, now = self._running(seconds)
        if course.now is not None and running:
            self.say(screen.still(course, self.usually(course.now.name), running, now), screen.QUIET)


class Every:
    """Calls a function at intervals, in a thread of its own."""

    def __init__(self, seconds: float, work: Callable[[float], object]) -> None:
        self._seconds, self._work, self._over = seconds, work, threading.Event()
        self._thread = threading.Thread(target=self._follow, name="stages", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join(5)

    def _follow(self) -> None:
        while not self._over.wait(self._seconds):
            try:
                self._work(self._seconds)
            except (OSError, ValueError):
                # Nothing reads the output any more. The run continues.
                return


def can_be_live() -> bool:
    """Whether the terminal supports live lines, and no prompt comes between tasks."""
    asks = context.CLIARGS.get("step") or getattr(C, "ENABLE_TASK_DEBUGGER", False) or C.DEFAULT_STRATEGY == "debug"
    able = os.environ.get("TERM", "") not in ("", "dumb") and "CI" not in os.environ
    return able and not asks and sys.stdout.isatty()


def _painted(text: str, kind: str) -> str:
    return stringc(text, COLOURS[kind]) if COLOURS[kind] else text
