"""Model time: everything that takes a while happens on one thread, or by hand in a test."""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
import time

LOG = logging.getLogger(__name__)


class Timeline:
    """Calls functions after a delay, in order, under the world's lock."""

    def __init__(self, lock, clock=time.monotonic):
        self._lock = lock
        self._clock = clock
        self._wake = threading.Condition()
        self._due = []
        self._order = itertools.count()
        self._thread = None
        self._stopping = False
        self._skipped_s = 0.0

    def now(self):
        """Seconds on the model's clock."""
        return self._clock() + self._skipped_s

    def after(self, delay_s, function):
        """Call a function once the delay has passed."""
        with self._wake:
            heapq.heappush(self._due, (self.now() + delay_s, next(self._order), function))
            self._wake.notify_all()

    def start(self):
        """Let time run on a thread of its own."""
        with self._wake:
            if self._thread is not None:
                return
            self._stopping = False
            self._thread = threading.Thread(target=self._run, name="twin-timeline", daemon=True)
            self._thread.start()

    def stop(self):
        """End the thread; pending events do not happen."""
        with self._wake:
            thread, self._thread = self._thread, None
            self._stopping = True
            self._wake.notify_all()
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def settle(self):
        """Without the thread: run all present and future events at once."""
        while self._due:
            with self._wake:
                due, _order, function = heapq.heappop(self._due)
                self._skipped_s += max(0.0, due - self.now())
            with self._lock:
                function()

    def _run(self):
        while True:
            function = self._next()
            if function is None:
                return
            try:
                with self._lock:
                    function()
            except Exception:
                # Time must go on: a defect in one happening would otherwise stop every task of the twin.
                LOG.exception("Something in the model failed.")

    def _next(self):
        with self._wake:
            while not self._stopping:
                wait_s = self._due[0][0] - self.now() if self._due else None
                if wait_s is not None and wait_s <= 0:
                    return heapq.heappop(self._due)[2]
                # A longer wait is an OverflowError of Python.
                self._wake.wait(None if wait_s is None else min(wait_s, threading.TIMEOUT_MAX))
        return None
