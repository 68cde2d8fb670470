# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The course of a run: starts its containers, watches its launcher, and always cleans up."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, TypeVar

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.training import build, files, launch, plan, verdict
from ansible_collections.aiready.vsphere.plugins.module_utils.training.progress import Progress
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.interruption import Interrupted
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training import hold, reach
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training import keys as training_keys
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training.steps import CHUNK

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.look import Look
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.training.steps import Answer, Steps

    T = TypeVar("T")

# A container without heartbeats of the controller stops after this time.
UNHEARD_S = 60
# A running controller sends heartbeats more often than this.
BEATS_S = 15
# Time for launchers to end after a guest or rank ended.
GRACE_S = 15
POLL_S, TELL_S, SILENT_TELL_S = 1.0, 5.0, 30.0
# Short runs end promptly, and long ones are polled less often, because polling uses CPU time of the guests.
POLL_PART, POLL_MOST_S = 0.1, 10.0
ANSWER_S, STOP_S, PATIENCE_S, BUILD_S = 25, 60, 10, 120
# Limit of a launcher's output; more output means an endless loop.
MOST_OUTPUT = 1 << 28


@dataclass
class Clock:
    """Time functions; replaced in tests."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    parent: Callable[[], int] = os.getppid


@dataclass
class Course:
    """The course of a run."""

    seen: Progress
    looks: dict[str, Look]
    before: dict[str, dict[str, dict[str, tuple[int, int]]]] = field(default_factory=dict)
    after: dict[str, dict[str, dict[str, tuple[int, int]]]] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)  # guests that do not answer: why
    without: dict[str, str] = field(default_factory=dict)  # guests without which an elastic run continued: why
    statuses: dict[str, int] = field(default_factory=dict)  # of launchers, by guest
    build: dict[str, Any] | None = None
    remarks: list[str] = field(default_factory=list)
    why: str = "ended"  # ended, held, stalled, too_long, too_much_output, interrupted
    not_tidied: list[str] = field(default_factory=list)


class Watch:
    """One run, from its start to its end."""

    def __init__(
        self,
        made: plan.Plan,
        guests: reach.Guests,
        steps: Steps,
        looks: dict[str, Look],
        report: Callable[[str], None],
        clock: Clock | None = None,
        write: Callable[[str], None] | None = None,
        spent_s: float = 0,
    ) -> None:
        self.made = made
        self._request = made.request
        self._limits = made.request.limits
        self._names = [place.name for place in made.places]
        self._guests, self._steps, self._report = guests, steps, report
        self._clock = clock or Clock()
        self._write = write or (lambda _text: None)
        self._parent = self._clock.parent()
        self._first_rank = {start.place.name: start.first_rank for start in made.launches}
        self._offsets = {start.place.name: 0 for start in made.launches}
        self._lost_since: dict[str, float] = {}
        self._beat = 0
        self._begun = False
        self._spent_s = spent_s  # by earlier attempts of the same run
        self.course = Course(Progress(launch.hosts_of_ranks(made.places)), looks)

    def run(self, trainings: Mapping[str, str]) -> None:
        """Start, watch and clean up; the course has the events."""
        try:
            self._fetch()
            if not self._is_held() and self._begin(trainings):
                self._follow()
                self._drain()
        except Interrupted:
            self.course.why = "interrupted"
            raise
        finally:
            self._end()

    def _fetch(self) -> None:
        if not self.made.pulls:
            return
        many = len(self.made.pulls)
        self._report(f"pulling the image {self._request.image} on {many} guest{'s' if many > 1 else ''}.")
        self._all(self.made.pulls, self._steps.pull, self._limits.pull_s, self._slow_pull)
        self.course.looks.update(self._all(self.made.pulls, self._steps.look))
        plan.refuse_images(self._request, self.course.looks)
        self.made = plan.informed(self.made, self.course.looks)

    def _is_held(self) -> bool:
        """Whether the hold file exists now, which ends this attempt."""
        if not hold.held(self._request.hold_file):
            return False
        self.course.why = "held"
        return True

    def _begin(self, trainings: Mapping[str, str]) -> bool:
        """Start the ranks, and return True; False if the hold began before the first rank."""
        self._begun = True
        for name, runs in self.made.leftovers.items():
            for run in dict.fromkeys(runs):
                self._report(f"{name}: removing the leftovers of the earlier run {run}.")
                self._all([name], lambda guest, run=run: self._steps.stop(guest, run), STOP_S)  # type: ignore[misc]
        places = {place.name: place for place in self.made.places}
        starts = {start.place.name: start.argv for start in self.made.launches}
        needs_ssh = self._request.engine == "horovod" and len(places) > 1
        keys = training_keys.make([place.node for place in places.values()]) if needs_ssh else None

        def start(guest: reach.Guest) -> None:
            place = places[guest.name]
            given = files.files(
                place,
                self.made.places,
                plan.ranks_environment(self.made, self.course.looks[guest.name].image),
                starts.get(guest.name),
                keys,
                self._request.ssh_port,
                self._limits.wall_s,
                trainings,
            )
            self._steps.start(guest, self.made.containers[guest.name], given)

        self._all(self._names, start, self._limits.start_s, self._slow_start)
        if not self._wait_until_ready():
            return False
        self._check_build()
        self.course.before = self._all(self._names, self._steps.counters)
        self._all(list(starts), self._steps.launch)
        self._report(f"{self.course.seen.size} rank(s) start on {', '.join(self._names)}.")
        return True

    def _check_build(self) -> None:
        if not self._request.check_build or self._request.engine != "horovod":
            return
        name = self._names[0]
        self._report(f"reading the build options of Horovod on {name}.")
        found, said = self._all([name], self._steps.build, BUILD_S)[name]
        if found is None and not said:
            self.course.remarks.append(f"Horovod on {name} did not report its build options in time.")
            return
        build.refuse(self._request, found, said)
        self.course.build = found

    def _wait_until_ready(self) -> bool:
        """Return True when all containers are ready; False if the hold begins before."""
        began = self._clock.now()
        while not self._is_held():
            answers = self._all(self._names, self._asking(0))
            late = [name for name in self._names if not answers[name].ready]
            for name in late:
                if not answers[name].running:
                    raise _not_ready(name, answers[name])
            if not late:
                return True
            if self._clock.now() - began > self._limits.start_s:
                raise self._slow_start(late[0], answers[late[0]].said or "It reports nothing")
            self._clock.sleep(POLL_S)
        return False

    def _follow(self) -> None:
        """Wait until the launchers end, or an event ends the run."""
        now = self._clock.now
        began = stepped = reported_at = now()
        steps, lines, reported, odd_since = 0, 0, "", None
        seen = self.course.seen
        while True:
            if self._clock.parent() != self._parent:
                raise Interrupted()
            more = self._poll(CHUNK)
            if len(self.course.statuses) == len(self.made.launches):
                return
            if self._is_held():
                return
            at = now()
            # Until the first iteration is reported, any output counts as progress.
            if seen.steps > steps or (not seen.iterations and seen.lines > lines):
                steps, lines, stepped = seen.steps, seen.lines, at
            if at - began + self._spent_s > self._limits.wall_s:
                self.course.why = "too_long"
                return
            if at - stepped > self._limits.stall_s:
                self.course.why = "stalled"
                return
            if max(self._offsets.values()) > MOST_OUTPUT:
                self.course.why = "too_much_output"
                return
            if self._is_odd(at):
                odd_since = at if odd_since is None else odd_since
                if at - odd_since > GRACE_S:
                    return
            else:
                odd_since = None
            words = seen.reported()
            if at - reported_at >= (TELL_S if words != reported else SILENT_TELL_S):
                self._report(f"{words}, after {int(at - began)} of at most {self._limits.wall_s} seconds.")
                reported, reported_at = words, at
            if not more:
                self._clock.sleep(min(max(POLL_S, (at - began) * POLL_PART), POLL_MOST_S))

    def _is_odd(self, at: float) -> bool:
        """Whether the run cannot continue although a launcher still runs. It may end by itself with a reason."""
        if any(status != 0 for status in self.course.statuses.values()):
            return True
        waited_for = [name for name, since in self._lost_since.items() if at - since <= self._limits.lost_s]
        missing = verdict.missing(self.made, self.course, waited_for)
        if not verdict.goes_on_without(self.made, missing):
            return True
        self._go_on_without(missing)
        return False

    def _go_on_without(self, missing: Mapping[str, str]) -> None:
        for name, why in missing.items():
            if name not in self.course.without:
                self.course.without[name] = why.rstrip(".")
                self._report(f"{name} is lost, and the training continues without it. {self.course.without[name]}.")

    def _poll(self, most: int) -> bool:
        """Poll all guests at once: the launchers for output, the others for their state."""
        self._beat += 1
        # A lost guest must not delay the others, whose containers need heartbeats in time.
        silent = [name for name in self._names if name in self.course.without and name in self.course.lost]
        asked = [name for name in self._names if name not in silent]
        answers, lost = self._guests.ask(asked, self._asking(most), ANSWER_S)
        heard, unheard = self._guests.hear(silent, self._asking(0))
        answers.update(heard)
        lost.update(unheard)
        at = self._clock.now()
        for name, why in lost.items():
            self._lost_since.setdefault(name, at)
            self.course.lost[name] = why
        more = False
        for name, answer in answers.items():
            self._lost_since.pop(name, None)
            self.course.lost.pop(name, None)
            self.course.answers[name] = answer
            if name in self._offsets:
                self._take(name, answer)
                more = more or self._offsets[name] < answer.size
        return more

    def _take(self, name: str, answer: Answer) -> None:
        self._offsets[name] += len(answer.output)
        text = answer.output.decode("utf-8", "replace")
        if text:
            self._write(text)
            self.course.seen.feed(name, self._first_rank[name], text)
        if answer.status is not None and self._offsets[name] >= answer.size:
            self.course.statuses[name] = answer.status

    def _drain(self) -> None:
        """The last output of the guests that still answer."""
        for _turn in range(MOST_OUTPUT // CHUNK):
            if not self._poll(CHUNK):
                break
        self.course.seen.end()
        self.course.after, _lost = self._guests.ask(self._names, self._steps.counters, ANSWER_S)
        if verdict.went_without(self.made, self.course):
            self._go_on_without(verdict.missing(self.made, self.course))
        for name, why in self.course.without.items():
            self.course.remarks.append(f"{name} was lost, and the training continued without it. {why}.")

    def _end(self) -> None:
        """Clean up in every case. A guest that does not answer cleans up by itself."""
        if not self._begun:
            return
        left, lost = self._guests.ask(self._names, self._steps.stop, STOP_S, PATIENCE_S)
        for name in self._names:
            if name in lost or left.get(name):
                self.course.not_tidied.append(name)

    def _asking(self, most: int) -> Callable[[reach.Guest], Answer]:
        def ask(guest: reach.Guest) -> Answer:
            wanted = most if guest.name in self._offsets else 0
            return self._steps.ask(guest, f"{self.made.run} {self._beat}", self._offsets.get(guest.name, 0), wanted)

        return ask

    def _all(
        self,
        names: Iterable[str],
        work: Callable[[reach.Guest], T],
        limit_s: float = ANSWER_S,
        slow: Callable[[str], OperatorError] | None = None,
    ) -> dict[str, T]:
        """An answer of every one of these guests, or an error; slow makes that of a guest whose time is over."""
        answers, lost = self._guests.ask(names, work, limit_s)
        late = sorted(name for name, why in lost.items() if isinstance(why, reach.Late))
        if slow is not None and late:
            raise slow(late[0])
        reach.refuse_lost(lost)
        return answers

    def _slow_pull(self, name: str) -> OperatorError:
        return OperatorError(
            name,
            f"cannot pull the image {self._request.image} within {self._limits.pull_s} seconds",
            "The pull is still in progress",
            "Check the network from the guest to the registry, or raise limits.pull_s",
            "pull_too_long",
            host=name,
        )

    def _slow_start(self, name: str, found: str = "The engine is still starting it") -> OperatorError:
        return OperatorError(
            name,
            f"its container is not ready within {self._limits.start_s} seconds",
            found,
            "Check the load of the guest, or raise limits.start_s",
            "not_ready",
            host=name,
        )


def _not_ready(name: str, answer: Answer) -> OperatorError:
    how = "It is gone" if answer.gone else f"It ended with {answer.exit_status}"
    return OperatorError(
        name,
        "its container ended before the training",
        f"{how}: {answer.said or 'it printed nothing'}",
        "Use an image with an ssh server, or check the message"
        if "sshd" in answer.said
        else "Start the image by hand on the guest to see its output",
        "container_gone",
        host=name,
    )
