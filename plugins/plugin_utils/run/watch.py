# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What the callback stages shows while tasks run: lines in place on a terminal, else a line now and then."""

from __future__ import annotations

import os
import sys
import threading

from ansible import constants as C
from ansible import context
from ansible.utils.color import stringc
from ansible_collections.aiready.vsphere.plugins.module_utils.core import plain_text
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import progress, record, screen
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.live_lines import LiveLines

COLOURS = {
    screen.GOOD: C.COLOR_OK,
    screen.BAD: C.COLOR_ERROR,
    screen.WARN: C.COLOR_WARN,
    screen.QUIET: C.COLOR_SKIP,
    screen.PLAIN: None,
}
# Of what long work tells, the latest words of so many objects.
_TOLD = 3


class Watch:
    """Beside the run, from its first stage to its end."""

    def __init__(self, display, listener):
        self._display, self._listener = display, listener
        self._usual, self._usual_of = record.Usual(), None
        self._told = {}
        self._live = self._still = None

    @property
    def is_live(self):
        return self._live is not None

    def start(self, live, still_s):
        if self._live is not None or self._still is not None:
            return
        # Forks hold it while they are made, so that no child begins with a lock that nobody opens.
        lock = getattr(self._display, "_lock", None)
        if live and lock is not None:
            self._live = LiveLines(lock, self._lines, self._take, _painted)
            self._live.start()
        elif still_s > 0:
            self._still = Every(still_s, self._tell_still)

    def stop(self):
        for watching in (self._live, self._still):
            if watching is not None:
                watching.stop()
        self._live = self._still = None

    def hide(self, hidden=True):
        if self._live is not None:
            self._live.hide(hidden)

    def forget(self, host=None):
        """What long work told counts no more: of one host, or of all."""
        if host is None:
            self._told.clear()
        else:
            self._told.pop(host, None)

    def usually(self, name):
        """How long a stage usually takes."""
        return self._times().stage(name)

    def say(self, text, kind):
        self._display.display(plain_text.shown(text), color=COLOURS[kind])

    def _times(self):
        results = self._listener.folder.results
        if results != self._usual_of:
            self._usual_of = results
            self._usual = record.Usual(record.earlier(results), self._listener.course.check)
        return self._usual

    def _running(self, at_least=0.0):
        """{task: [(host, since)]} of those that have been running for so long, and the time."""
        found, course = {}, self._listener.course
        now = course.clock.monotonic()
        for (host, _task), (name, since) in list(course.running.items()):
            if now - since >= at_least:
                found.setdefault(name, []).append((host, since))
        return found, now

    def _lines(self):
        course = self._listener.course
        if course.now is None:
            return []
        running, now = self._running()
        told = list(self._told.values())[-_TOLD:]
        return screen.live(course, self.usually(course.now.name), running, self._times().task, told, now)

    def _take(self, text):
        """Whether the lines show what was written to the terminal."""
        words = progress.told(text)
        if words is None:
            return False
        subject = words.partition(":")[0]
        self._told.pop(subject, None)
        self._told[subject] = words
        return True

    def _tell_still(self, seconds):
        course = self._listener.course
        running, now = self._running(seconds)
        if course.now is not None and running:
            self.say(screen.still(course, self.usually(course.now.name), running, now), screen.QUIET)


class Every:
    """Has something done every so many seconds, beside the run."""

    def __init__(self, seconds, work):
        self._seconds, self._work, self._over = seconds, work, threading.Event()
        self._thread = threading.Thread(target=self._follow, name="stages", daemon=True)
        self._thread.start()

    def stop(self):
        self._over.set()
        self._thread.join(5)

    def _follow(self):
        while not self._over.wait(self._seconds):
            try:
                self._work(self._seconds)
            except (OSError, ValueError):
                # Nobody reads any more, and the run goes on.
                return


def can_be_live():
    """Whether this is a terminal that can move back, and nobody is asked between the tasks."""
    asks = context.CLIARGS.get("step") or getattr(C, "ENABLE_TASK_DEBUGGER", False) or C.DEFAULT_STRATEGY == "debug"
    able = os.environ.get("TERM", "") not in ("", "dumb") and "CI" not in os.environ
    return able and not asks and sys.stdout.isatty()


def _painted(text, kind):
    return stringc(text, COLOURS[kind]) if COLOURS[kind] else text
