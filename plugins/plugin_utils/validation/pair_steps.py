# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Steps of pair_test on one guest: look, serve, call, collect, stop. Each is one command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core import plain_text
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import commands, look, outcome, scripts

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs.params import PairRequest
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.training.reach import Guest


class PairSteps:
    """The steps of one run, for any of its guests."""

    def __init__(self, request: PairRequest, run: str) -> None:
        self._work_dir = request.work_dir
        self._ports = request.ports
        self._run = run

    def look(self, guest: Guest) -> look.Look:
        """Read the state of the guest without changes."""
        done = guest.script(scripts.LOOK, self._work_dir, *look.TOOLS)
        if done.rc != 0:
            raise OperatorError(
                guest.name,
                "cannot read the state of the guest",
                f"/bin/sh exited with {done.rc}: {' / '.join(done.text.splitlines()[-3:]) or 'no output'}",
                "Log in, run a shell, and check become",
                "not_looked_at",
                host=guest.name,
            )
        return look.parse(guest.name, done.stdout)

    def serve(self, guest: Guest, test: commands.Test, limit_s: int) -> outcome.Side:
        """Start the servers of a test. They keep running and end at their time limit."""
        lines = [commands.line(argv) for argv in test.servers]
        first, count = self._ports.first, self._ports.count
        return self._side(guest, scripts.SERVE, "server", limit_s, first, count, test.ready, *lines)

    def call(self, guest: Guest, test: commands.Test, ports: Sequence[int], limit_s: int) -> outcome.Side:
        """Run the clients of a test until they end."""
        ports = [*ports, *([0] * len(test.clients))]
        lines = [commands.line(argv, port) for argv, port in zip(test.clients, ports)]
        return self._side(guest, scripts.CALL, "client", limit_s, *lines)

    def collect(self, guest: Guest) -> outcome.Side:
        """Stop the servers and return their output."""
        return self._side(guest, scripts.COLLECT, "server")

    def stop(self, guest: Guest, run: str | None = None) -> int:
        """End all programs of a run and remove its files. Returns the number of remaining programs."""
        words = guest.script(scripts.STOP, self._work_dir, run or self._run).stdout.split()
        return cast(int, plain_text.whole(words[1], 0)) if len(words) == 2 and words[0] == "left" else 0

    def _side(self, guest: Guest, script: str, side: str, *arguments: object) -> outcome.Side:
        done = guest.script(script, f"{self._work_dir}/{self._run}/{side}", *arguments)
        reported = outcome.side(done.stdout)
        if done.rc != 0 and not reported.trouble:
            said = " / ".join(done.text.splitlines()[-3:]) or "no output"
            return outcome.Side(
                reported.outputs, reported.ports, reported.ended, f"the shell of {guest.name} failed: {said}"
            )
        return reported
