# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A training run as the five steps of a module: read, plan, compare, run, verify by the reports of its ranks."""

from __future__ import annotations

import secrets
import shlex
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun
from ansible_collections.aiready.vsphere.plugins.module_utils.training import plan, restarts, result, verdict
from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import TrainingRequest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.interruption import Interrupted
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training import hold, reach
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training import watch as training_watch
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training.outputs import Outputs
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training.steps import Steps

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.look import Leftover, Look

TRAININGS = Path(__file__).resolve().parents[3] / "roles" / "horovod" / "files" / "trainings"
# Beyond its limits, for starting and tidying up.
SPARE_S = 600
MANY_ITERATIONS = 200
# Between two looks at guests that are not ready for a restart.
AGAIN_S = 5


def new_run() -> str:
    """A unique name with the time of the start."""
    return f"{datetime.now(timezone.utc):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


class TrainingRun(Noun[TrainingRequest, plan.Plan]):
    """One run on several guests. There is one item: the run."""

    def __init__(
        self,
        request: TrainingRequest,
        guests: reach.Guests,
        report: Callable[[str], None],
        warn: Callable[[str], None],
        clock: training_watch.Clock | None = None,
        trainings: Path = TRAININGS,
    ) -> None:
        self._request = request
        self._guests = guests
        self._report, self._warn = report, warn
        self._clock = clock or training_watch.Clock()
        self._trainings = trainings
        self._held_s = 0.0
        self._running = hold.Running(request.hold_file)
        self._names = [host.name for host in request.hosts]

    def read(self, items: Sequence[Item[TrainingRequest, plan.Plan]]) -> None:
        item = items[0]
        self._steps = Steps(self._request, item.label)
        if self._request.pull != "never":
            plan.refuse_lack(self._request)
        looks = self._look()
        # A controller may have just been killed; a live one sends a heartbeat within this time.
        if any(_may_be_watched(left) for look in looks.values() for left in look.leftovers):
            self._report("an earlier run still exists; checking whether a controller watches it.")
            self._clock.sleep(training_watch.BEATS_S)
            looks = self._look()
        self._looks = looks
        item.now = None  # type: ignore[assignment]

    def want(self, item: Item[TrainingRequest, plan.Plan]) -> plan.Plan:
        self._refuse_busy()
        return self._planned(self._request, item.label)

    def _planned(self, request: TrainingRequest, run: str) -> plan.Plan:
        plan.refuse_images(request, self._looks)
        return plan.plan(request, self._looks, run, (training_watch.UNHEARD_S, request.limits.wall_s + SPARE_S))

    def compare(self, now: plan.Plan | None, wanted: plan.Plan) -> list[Change]:
        if now is not None:
            return []
        return list(_changes(wanted))

    def validate(self, items: Sequence[Item[TrainingRequest, plan.Plan]]) -> None:
        for remark in items[0].wanted.remarks:
            self._warn(remark)

    def apply(self, items: Sequence[Item[TrainingRequest, plan.Plan]]) -> None:
        item = items[0]
        made, item.touched = item.wanted, True
        outputs = Outputs(self._request.result_dir, made.run)
        began, clock, parent = _now(), self._clock.now(), self._clock.parent()
        attempts: list[restarts.Attempt] = []
        # Another hold can begin while the guests are read.
        while not self._running.allowed():
            self._reported(made.run)(f"{self._request.hold_file} holds it. No rank starts until this file is removed.")
            # Guests that do not return are the verdict of the attempt.
            made = self._ready(self._request, made.run, parent)[0] or made
        while True:
            spent_s = self._clock.now() - clock - self._held_s
            looks, report = dict(self._looks), self._reported(made.run)
            watch = training_watch.Watch(
                made, self._guests, self._steps, looks, report, self._clock, outputs.write, spent_s
            )
            error, waited = None, ""
            try:
                try:
                    watch.run(self._files())
                except OperatorError as trouble:
                    error = trouble
                finally:
                    self._running.over()
                judged = verdict.judge(made, watch.course, outputs.log) if error is None else verdict.not_begun(error)
                attempts.append(restarts.attempt(judged, watch.course.seen))
                if not restarts.due(self._request, attempts, watch.course.seen):
                    break
                again, waited = self._again(made.run, attempts, parent)
            except Interrupted:
                watch.course.why = "interrupted"
                judged = verdict.judge(made, watch.course, outputs.log)
                self._finish(item, watch, outputs, (began, clock), judged, attempts, None)
                raise
            if again is None:
                break
            made = again
        judged = restarts.final(self._request, attempts, judged, waited)
        self._finish(item, watch, outputs, (began, clock), judged, attempts, error)

    def prove(self, items: Sequence[Item[TrainingRequest, plan.Plan]]) -> None:
        """The ranks reported the proof themselves; the result has it already."""

    def project(self, state: plan.Plan | None) -> dict[str, Any]:
        return {} if state is None else _shown(state)

    def _again(self, run: str, attempts: Sequence[restarts.Attempt], parent: int) -> tuple[plan.Plan | None, str]:
        """Wait until all guests can take part again. Return the new plan, or None and the reason that remains."""
        last = attempts[-1]
        number = f"restart {restarts.used([*attempts, last])} of at most {self._request.restarts}"
        if last.code == restarts.HELD:
            number = "it continues"
            self._reported(run)(f"{last.reason}. All ranks are stopped until this file is removed.")
        else:
            self._reported(run)(f"{last.reason.rstrip('.')}. Waiting for all guests, then {number}.")
        request = replace(self._request, pull=self._request.pull.replace("always", "missing"))
        return self._ready(request, run, parent)

    def _ready(self, request: TrainingRequest, run: str, parent: int) -> tuple[plan.Plan | None, str]:
        """Wait until nothing holds the training and all guests are ready. The result is that of _again."""
        now = self._clock.now
        began = now()
        while True:
            if self._wait_while_held(run, parent):
                began = now()
            try:
                self._looks = self._look()
                return self._planned(request, run), ""
            except OperatorError as trouble:
                self._running.over()
                why = f"{trouble.subject}: {trouble.found}"
            if now() - began > self._request.limits.return_s:
                return None, why
            if self._clock.parent() != parent:
                raise Interrupted()
            self._clock.sleep(AGAIN_S)

    def _wait_while_held(self, run: str, parent: int) -> bool:
        """Wait until the hold ends, and return whether there was one. This time does not count for limits.wall_s."""
        began, waited = self._clock.now(), False
        while not self._running.allowed():
            waited = True
            if self._clock.parent() != parent:
                raise Interrupted()
            self._clock.sleep(AGAIN_S)
        self._held_s += self._clock.now() - began
        if waited:
            self._reported(run)("the hold has ended. Waiting for all guests, then it continues.")
        return waited

    def _look(self) -> dict[str, Look]:
        looks, lost = self._guests.ask(self._names, self._steps.look)
        reach.refuse_lost(lost)
        return looks

    def _refuse_busy(self) -> None:
        for name in self._names:
            for left in self._looks[name].leftovers:
                if _may_be_watched(left):
                    raise OperatorError(
                        name,
                        "is not free for a run",
                        f"The run {left.run} is in progress there, and a controller watches it",
                        "Wait for its end, or stop it on its controller",
                        "busy",
                        host=name,
                        run=left.run,
                    )

    def _files(self) -> dict[str, str]:
        """The built-in trainings, what they import, and the programs that start a cluster of Ray."""
        if not self._request.builtin and self._request.engine != "ray":
            return {}
        return {path.name: path.read_text() for path in sorted(self._trainings.glob("*.py"))}

    def _reported(self, run: str) -> Callable[[str], None]:
        return lambda text: self._report(f"{run}: {text}")

    def _finish(
        self,
        item: Item[TrainingRequest, plan.Plan],
        watch: training_watch.Watch,
        outputs: Outputs,
        start: tuple[str, float],
        judged: verdict.Verdict,
        attempts: Sequence[restarts.Attempt],
        error: OperatorError | None,
    ) -> None:
        made, course, (began, clock) = watch.made, watch.course, start
        # What an image holds is known for sure only when it is there.
        item.wanted, item.changes = made, list(_changes(made))
        moved = {
            name: result.traffic(course.before[name], course.after[name])
            for name in self._names
            if name in course.before and name in course.after
        }
        images = {name: look.image for name, look in course.looks.items()}
        times: result.Times = {"began": began, "ended": _now(), "seconds": round(self._clock.now() - clock, 1)}
        reported = result.record(made, course.seen, images, moved, times, judged, outputs.names())
        reported["build"] = course.build
        reported["restarts"] = restarts.reported(self._request, attempts)
        reported["remarks"] += [*made.remarks, *plan.doubts(made, course.seen.nccl["version"]), *course.remarks]
        for name in course.not_tidied:
            reported["remarks"].append(
                f"The cleanup of {name} failed. Its container stops within {training_watch.UNHEARD_S} "
                "seconds, and the next run there removes what is left."
            )
        for trouble in outputs.save(reported):
            reported["remarks"].append(trouble)
        for remark in reported["remarks"]:
            self._warn(remark)
        item.proved = replace(made, result=reported)
        if error is not None and len(attempts) < 2:
            item.error = error
        elif judged["state"] != "passed":
            item.error = verdict.error(made, judged)


def _changes(made: plan.Plan) -> Iterator[Change]:
    """Everything that a run does, as it would be typed."""
    for name, runs in made.leftovers.items():
        for run in dict.fromkeys(runs):
            yield Change(f"{name}: left by run {run}", "there", None)
    for name in made.pulls:
        yield Change(f"{name}: image", None, made.request.image)
    for name, argv in made.containers.items():
        yield Change(f"{name}: container", None, shlex.join(argv))
    for setting in made.settings:
        yield Change(f"environment: {setting.name}", None, setting.value)
    for start in made.launches:
        yield Change(f"{start.place.name}: launch", None, shlex.join(start.argv))


def _may_be_watched(left: Leftover) -> bool:
    return left.running and left.silent_s is not None and left.silent_s < training_watch.BEATS_S


def _shown(made: plan.Plan) -> dict[str, Any]:
    """A plan as the user sees it, and its result when there is one."""
    result_of = made.result
    if result_of is not None and len(result_of["iterations"]) > MANY_ITERATIONS:
        # All of them are in the file; a result of a task is printed and stored by many.
        kept = result_of["iterations"][-MANY_ITERATIONS:]
        result_of = dict(result_of, iterations=kept)
    return {
        "run": made.run,
        "image": made.request.image,
        "pulls": list(made.pulls),
        "removes": sorted({run for runs in made.leftovers.values() for run in runs}),
        "hosts": [
            {
                "name": place.name,
                "address": place.address,
                "interface": place.interface,
                "rdma_device": place.gid.device if place.gid is not None else None,
                "slots": place.slots,
            }
            for place in made.places
        ],
        "containers": {name: list(argv) for name, argv in made.containers.items()},
        "launches": [start.shown for start in made.launches],
        "environment": [setting.as_result() for setting in made.settings],
        "result": result_of,
    }


def _now() -> str:
    return f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}"
