"""Failures of commands on a host's shell, and of esxcli through vCenter: planned by a test, used up once each."""

from __future__ import annotations

import threading
from dataclasses import dataclass


@dataclass
class CommandFault:
    """The next `count` commands whose line begins so go wrong."""

    prefix: str
    host: str | None
    count: int
    rc: int = 1
    text: str = ""
    after: bool = False  # the command takes effect first
    hangs_up: bool = False  # the connection closes without an answer

    def fits(self, host, line):
        return self.count > 0 and self.host in (None, host) and line.startswith(self.prefix)


class CommandFaults:
    """All planned failures of commands. take() uses up what it gives."""

    def __init__(self):
        self._lock = threading.Lock()
        self._plans: list[CommandFault] = []

    def clear(self):
        """Forget every plan."""
        with self._lock:
            self._plans.clear()

    def fail_command(self, prefix, host=None, rc=1, text="", count=1, after=False):
        """The next commands that begin with these words, on one host or on any, fail; maybe after they took effect."""
        self._plan(CommandFault(prefix, host, int(count), int(rc), text, bool(after)))

    def drop_command(self, prefix, host=None, count=1):
        """The next commands that begin with these words take effect, and then the connection is gone."""
        self._plan(CommandFault(prefix, host, int(count), after=True, hangs_up=True))

    def take(self, host, line):
        """The fault that a command line of a host meets, or None."""
        with self._lock:
            for plan in self._plans:
                if plan.fits(host, line):
                    plan.count -= 1
                    return plan
        return None

    def _plan(self, fault):
        if not fault.prefix.strip():
            raise ValueError("The prefix must name a command.")
        with self._lock:
            self._plans.append(fault)
