# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Tests between pairs of guests, in parallel if they share no guest. No program is left behind."""

from __future__ import annotations

import contextvars
import os
import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Sequence, TypeVar, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import measured, simulated
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import commands, look, outcome, rounds
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import params as names
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.interruption import Interrupted

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs.look import End, Look
    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs.params import PairRequest
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.training.reach import Guest, Guests
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.pair_steps import PairSteps

    T = TypeVar("T")

# Limits for starting programs and reading their output, besides the test time.
SERVE_S, COLLECT_S, STOP_S, SPARE_S = 30, 30, 30, 20
TURN_S, PATIENCE_S, BACK_S, WAIT_S = 0.5, 10, 10, 2.0


@dataclass
class Clock:
    """Time functions; replaced in tests."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    wall: Callable[[], float] = time.time
    parent: Callable[[], int] = os.getppid


class PairWatch:
    """All tests of a run, from discovery to the last figure. control uses its own connections to the guests."""

    def __init__(
        self,
        request: PairRequest,
        guests: Guests,
        control: Guests,
        steps: PairSteps,
        report: Callable[[str], None],
        keep: Callable[[Sequence[str], str], str] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._request = request
        self._guests, self._control, self._steps, self._report = guests, control, steps, report
        self._keep = keep or (lambda _words, _text: "")
        self._clock = clock or Clock()
        self._parent = self._clock.parent()
        self._names = [guest.name for guest in request.guests]
        self._stopped = False
        self._looks: dict[str, Look] = {}
        self._ends: dict[str, End] = {}
        self._no_rdma: dict[str, str] = {}
        self._failed: set[tuple[str, str, str]] = set()  # (check, from, to) of failed tests
        self.out: dict[str, str] = {}  # excluded guests: reason
        self.lost: dict[str, str] = {}  # guests that did not answer: reason
        self.not_tidied: list[str] = []
        self.measurements: list[dict[str, Any]] = []

    def look(self) -> dict[str, Look]:
        """Read the state of all guests, wait for earlier runs, and decide which guests take part."""
        asked = {guest.name: guest for guest in self._request.guests}
        looks = self._see(self._names)
        until = self._clock.now() + self._longest_s()
        while self._busy(looks) and self._clock.now() < until:
            # Leftovers of a killed run end at their time limit.
            self._report("an earlier run is still active; waiting for its end.")
            self._clock.sleep(WAIT_S)
            looks.update(self._see(self._busy(looks)))
        for name in self._busy(looks):
            raise OperatorError(
                name,
                "cannot start tests",
                f"Tests of the run {_alive(looks[name])[0]} are active on this guest",
                "Wait until they end, or stop them on their controller",
                "busy",
                host=name,
            )
        self._looks = looks
        for name, seen in looks.items():
            why = look.why_not(asked[name], seen)
            if why:
                self.out[name] = why
            self._ends[name], self._no_rdma[name] = look.end_of(asked[name], seen)
        return looks

    def planned(self) -> list[dict[str, Any]]:
        """The plan of a run, one entry for each check with the commands of its first pair."""
        here = [name for name in self._names if name in self._ends]
        made, many = [], len(self._rounds())
        for check in self._request.checks:
            # Guests that do not answer have no commands yet.
            tests = self._tests(check, here[1], here[0]) if len(here) > 1 else []
            made.append(
                {
                    "check": check,
                    "tests": len(rounds.tested(self._names, self._request.rounds)),
                    "rounds": many,
                    "at_most_s": 2 * many * sum(self._limit_s(test) for test in tests),
                    "servers": [commands.shown(argv) for test in tests for argv in test.servers],
                    "clients": [commands.shown(argv) for test in tests for argv in test.clients],
                }
            )
        return made

    def run(self) -> None:
        """Run all requested tests. No program is left on a reachable guest, also after an error."""
        for name, seen in self._looks.items():
            for run, _alive_now in seen.leftovers:
                self._report(f"{name}: removing leftovers of the earlier run {run}.")
                self._guests.ask([name], lambda guest, run=run: self._steps.stop(guest, run), STOP_S)  # type: ignore[misc]
        pool = ThreadPoolExecutor(max_workers=max(1, len(self._names) // 2))
        going = []
        try:
            for check in sorted(set(self._request.checks), key=names.CHECKS.index):
                self._come_back()
                plan = self._rounds()
                for number, pairs in enumerate(plan, start=1):
                    self._report(f"{check}: round {number} of {len(plan)}, {len(pairs)} pair(s) in parallel.")
                    # Ansible keeps the current task in this context.
                    contexts = [contextvars.copy_context() for _pair in pairs]
                    going = [pool.submit(one.run, self._pair, check, pair) for one, pair in zip(contexts, pairs)]
                    self._wait(going)
                    for future in going:
                        self.measurements += future.result()
        finally:
            self._stopped = True
            self._end(going)
            pool.shutdown(wait=False)

    def _rounds(self) -> list[list[tuple[str, str]]]:
        return rounds.rounds(self._names, self._request.rounds)

    def _wait(self, going: Iterable[Future[list[dict[str, Any]]]]) -> None:
        while wait(going, TURN_S).not_done:
            if self._clock.parent() != self._parent:
                raise Interrupted()

    def _end(self, going: Iterable[Future[list[dict[str, Any]]]]) -> None:
        """Stop twice if a test is still active: a server may have been starting."""
        busy = [future for future in going if not future.done()]
        # A busy guest accepts no second command over the same connection.
        reach = self._control if busy else self._guests
        for _turn in range(2 if busy else 1):
            left, lost = reach.ask(self._names, self._steps.stop, STOP_S)
            wait(busy, PATIENCE_S)
        self.not_tidied = [name for name in self._names if name in lost or left.get(name)]

    def _pair(self, check: str, pair: tuple[str, str]) -> list[dict[str, Any]]:
        return [self._direction(check, source, target) for source, target in rounds.directions(pair)]

    def _direction(self, check: str, source: str, target: str) -> dict[str, Any]:
        """The measurement of one direction: its client on the source, its server on the target."""
        status, why = self._refused(check, source, target)
        began, start = _utc(self._clock.wall()), self._clock.now()
        rans: list[outcome.Ran]
        values: dict[str, Any]
        rans, values = [], {}
        tests = [] if why else self._tests(check, target, source)
        for test in tests:
            ran, trouble = self._one(test, source, target)
            if trouble:
                status, why = measured.FAILED, trouble
                break
            rans.append(cast(outcome.Ran, ran))
        if rans and not why:
            status, why, values = outcome.judged(rans, self._request.messages)
        if check == names.PING and not why:
            values.update(self._passed(values, source, target, rans))
        if status != measured.DONE:
            self._failed.add((check, source, target))
        tool = tests[-1].tool if tests else ""
        seen = self._looks.get(source)
        return measured.measurement(
            *(check, {"from": source, "to": target}, status, why),
            command=_words(rans, tests),
            version=(seen.tools.get(tool, "") if seen else ""),
            readings=values,
            evidence=self._keep((check, source, target), outcome.evidence(rans, source, target)) if rans else "",
            simulated=bool(simulated.of(check, self._request.simulated)),
            began=began,
            seconds=round(self._clock.now() - start, 1),
            variant=self._request.gpu_memory if check == names.OF_GPU else "",
        )

    def _refused(self, check: str, source: str, target: str) -> tuple[str, str]:
        """(status, why) of a test that cannot start."""
        for name in (source, target):
            if name in self.lost:
                return measured.FAILED, f"{name} does not answer: {self.lost[name]}"
            if name in self.out:
                return measured.FAILED, self.out[name]
        for name in (source, target):
            if check in names.WITH_RDMA and self._no_rdma[name]:
                return measured.FAILED, self._no_rdma[name]
        for test in self._tests(check, target, source):
            for name in (source, *((target,) if test.servers else ())):
                if test.tool not in self._looks[name].tools:
                    why = f"The program {test.tool} is missing on {name}. Install {look.PACKAGES[test.tool]}."
                    return measured.MISSING, why
        # A test over a refused connection runs into its time limit and adds no information.
        if check in names.PERFTEST and (names.RPING, source, target) in self._failed:
            return measured.SKIPPED, f"{names.RPING} from {source} to {target} failed."
        return measured.DONE, ""

    def _one(self, test: commands.Test, source: str, target: str) -> tuple[outcome.Ran | None, str]:
        """(output of both sides, reason without output): one run of the programs."""
        limit_s = self._limit_s(test)
        server = outcome.Side()
        if test.servers:
            server, why = cast(
                "tuple[outcome.Side, str]",
                self._ask(target, lambda guest: self._steps.serve(guest, test, limit_s), SERVE_S),
            )
            if why:
                return None, why
        client = outcome.Side()
        why = ""
        if not server.ended and not server.trouble:
            client, why = cast(
                "tuple[outcome.Side, str]",
                self._ask(
                    source, lambda guest: self._steps.call(guest, test, server.ports, limit_s), limit_s + SPARE_S
                ),
            )
        if test.servers:
            said, gone = self._ask(target, self._steps.collect, COLLECT_S)
            why = why or gone
            if said is not None:
                trouble = server.trouble or said.trouble or _died(server, said, test, target)
                server = outcome.Side(said.outputs, server.ports, server.ended, trouble)
        return (None, why) if why else (outcome.Ran(test, server, client), "")

    def _ask(self, name: str, work: Callable[[Guest], T], limit_s: float) -> tuple[T | None, str]:
        if self._stopped:
            return None, "The run was interrupted."
        given, lost = self._guests.ask([name], work, limit_s)
        if name in lost:
            self.lost[name] = lost[name]
            return None, f"{name} does not answer: {lost[name]}"
        return given[name], ""

    def _come_back(self) -> None:
        """A guest that answers again takes part in the next check."""
        back, _lost = self._guests.ask(list(self.lost), lambda guest: guest.run(["true"]), BACK_S)
        for name in back:
            if name in self._looks:
                del self.lost[name]

    def _passed(
        self, values: Mapping[str, Any], source: str, target: str, rans: list[outcome.Ran]
    ) -> dict[str, int | None]:
        """The requested MTU, and the largest smaller one that arrives if it does not."""
        mtu = self._request.mtu or self._ends[source].mtu
        reported = {"mtu": mtu, "passes": mtu if values.get("received") else None}
        for smaller in commands.SMALLER_MTUS:
            if reported["passes"] is not None or smaller >= mtu:
                continue
            test = commands.ping(self._request, self._ends[target], self._ends[source], smaller)
            ran, why = self._one(test, source, target)
            if why:
                break
            rans.append(cast(outcome.Ran, ran))
            if outcome.judged([cast(outcome.Ran, ran)], None)[2].get("received"):
                reported["passes"] = smaller
        return reported

    def _tests(self, check: str, server: str, client: str) -> list[commands.Test]:
        seen = self._looks[client]
        many = look.processes(self._request.processes, seen)
        return commands.runs(check, self._request, self._ends[server], self._ends[client], many)

    def _limit_s(self, test: commands.Test) -> int:
        return test.seconds + self._request.limits.test_s

    def _longest_s(self) -> int:
        return self._request.seconds + self._request.limits.test_s + SPARE_S

    def _see(self, asked: Iterable[str]) -> dict[str, Look]:
        looks, lost = self._guests.ask(asked, self._steps.look, self._request.limits.look_s)
        self.lost.update(lost)
        return looks

    @staticmethod
    def _busy(looks: Mapping[str, Look]) -> list[str]:
        return sorted(name for name, seen in looks.items() if _alive(seen))


def _alive(seen: Look) -> list[str]:
    return [run for run, alive in seen.leftovers if alive]


def _died(begun: outcome.Side, said: outcome.Side, test: commands.Test, target: str) -> str:
    """Reason of a server that ended before its client connected."""
    if not begun.ended:
        return ""
    lines = [line.strip() for _status, text in said.outputs.values() for line in text.splitlines() if line.strip()]
    said_last = lines[-1].rstrip(".") if lines else "no output"
    return f"the server {test.tool} on {target} ended before its client connected: {said_last}"


def _words(rans: Sequence[outcome.Ran], tests: Sequence[commands.Test]) -> list[str]:
    """The command of the client, with the port that it used."""
    if not tests:
        return []
    ports = rans[0].server.ports if rans else ()
    return [word.replace(commands.PORT, str(ports[0] if ports else "PORT")) for word in tests[-1].clients[0]]


def _utc(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%dT%H:%M:%SZ}"
