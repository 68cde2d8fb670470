# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""systemd service of an engine: its state, its start time, and methods to load its configuration."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands

# Lines to read from a journal, and lines to report.
JOURNAL_LINES, WORDS_LINES = 100, 8
# Container engines log progress at these levels, and not failures.
_CHATTER = re.compile(r"\blevel=(?:debug|info)\b")


@dataclass(frozen=True)
class Seen:
    """State of a unit in systemd."""

    known: bool = False
    active: bool = False
    # Start of its main process, in wall-clock time.
    since: float = 0.0
    memlock: str = ""


class Service:
    """One systemd unit."""

    def __init__(self, unit: str, commands: Commands) -> None:
        self.unit = unit
        self._commands = commands

    def look(self) -> Seen:
        done = self._commands.run(
            [
                "systemctl",
                "show",
                self.unit,
                "--property=LoadState,ActiveState,ExecMainStartTimestampMonotonic,LimitMEMLOCK",
            ]
        )
        said = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
        started = said.get("ExecMainStartTimestampMonotonic", "0")
        ago = time.monotonic() - (int(started) / 1e6 if started.isdecimal() else 0)
        return Seen(
            known=said.get("LoadState") == "loaded",
            active=said.get("ActiveState") in ("active", "reloading"),
            since=time.time() - ago,
            memlock=said.get("LimitMEMLOCK", ""),
        )

    def do(self, verb: str, limit_s: float = 120) -> bool:
        """Return whether a verb of systemctl succeeded."""
        return self._commands.run(["systemctl", verb, self.unit], limit_s=limit_s).ok

    def start_afresh(self) -> bool:
        """Restart it, also after it failed so often that systemd would not try any more."""
        self._commands.run(["systemctl", "reset-failed", self.unit])
        return self.do("restart")

    def last_words(self, since: float | None = None) -> str:
        """Return its last error lines, else those of systemd about it, or the known facts instead."""
        # A failure of a service is visible before the journal has its last messages.
        self._commands.run(["journalctl", "--sync"], limit_s=20)
        # systemd logs every restart attempt, which would hide the reason.
        lines = self._journal(f"_SYSTEMD_UNIT={self.unit}", since, _ails) or self._journal(f"--unit={self.unit}", since)
        lines = [line for line in lines if _ails(line)] or lines
        return " / ".join(lines[-WORDS_LINES:]) or "nothing"

    def _journal(self, which: str, since: float | None, fits: Callable[[str], bool] = bool) -> list[str]:
        argv = ["journalctl", which, "--no-pager", "--output=cat", f"--lines={JOURNAL_LINES}"]
        if since is not None:
            argv.append(f"--since=@{int(since)}")
        done = self._commands.run(argv)
        lines = [line.strip() for line in done.stdout.splitlines() if not line.startswith("-- ")]
        return [line for line in lines if line and fits(line)] if done.ok else []


def _ails(line: str) -> bool:
    return _CHATTER.search(line) is None
