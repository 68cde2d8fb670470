# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A training run as the five steps of a module: read, plan, compare, run, verify by the reports of its ranks."""

from __future__ import annotations

import secrets
import shlex
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun
from ansible_collections.aiready.vsphere.plugins.module_utils.training import plan, result, verdict
from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import TrainingRequest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.interruption import Interrupted
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training import reach
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


def new_run() -> str:
    """A unique name with the time of the start."""
    return f"{datetime.now(timezone.utc):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


class TrainingRun(Noun[TrainingRequest, plan.Plan]):
    """One run on several guests. There is one item: the run."""

    def __init__(
        self,
        request: TrainingRequest,
        guests: reach.Guests,
        tell: Callable[[str], None],
        warn: Callable[[str], None],
        clock: training_watch.Clock | None = None,
        trainings: Path = TRAININGS,
    ) -> None:
        self._request = request
        self._guests = guests
        self._tell, self._warn = tell, warn
        self._clock = clock or training_watch.Clock()
        self._trainings = trainings
        self._names = [host.name for host in request.hosts]

    def read(self, items: Sequence[Item[TrainingRequest, plan.Plan]]) -> None:
        item = items[0]
        self._steps = Steps(self._request, item.label)
        if self._request.pull != "never":
            plan.refuse_lack(self._request)
        looks = self._look()
        # A controller may have just been killed; a live one sends a heartbeat within this time.
        if any(_may_be_watched(left) for look in looks.values() for left in look.leftovers):
            self._tell("an earlier run still exists; checking whether a controller watches it.")
            self._clock.sleep(training_watch.BEATS_S)
            looks = self._look()
        self._looks = looks
        item.now = None  # type: ignore[assignment]

    def want(self, item: Item[TrainingRequest, plan.Plan]) -> plan.Plan:
        self._refuse_busy()
        plan.refuse_images(self._request, self._looks)
        wall_s = self._request.limits.wall_s + SPARE_S
        return plan.plan(self._request, self._looks, item.label, (training_watch.UNHEARD_S, wall_s))

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
        watch = training_watch.Watch(
            made, self._guests, self._steps, dict(self._looks), self._told(made.run), self._clock, outputs.write
        )
        began, clock = _now(), self._clock.now()
        error = None
        try:
            watch.run(self._files())
        except OperatorError as trouble:
            error = trouble
        except Interrupted:
            self._finish(item, watch, outputs, began, clock, None)
            raise
        self._finish(item, watch, outputs, began, clock, error)

    def prove(self, items: Sequence[Item[TrainingRequest, plan.Plan]]) -> None:
        """The ranks reported the proof themselves; the result has it already."""

    def project(self, state: plan.Plan | None) -> dict[str, Any]:
        return {} if state is None else _shown(state)

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
        """The built-in trainings, and what they import."""
        if not self._request.builtin:
            return {}
        return {path.name: path.read_text() for path in sorted(self._trainings.glob("*.py"))}

    def _told(self, run: str) -> Callable[[str], None]:
        return lambda text: self._tell(f"{run}: {text}")

    def _finish(
        self,
        item: Item[TrainingRequest, plan.Plan],
        watch: training_watch.Watch,
        outputs: Outputs,
        began: str,
        clock: float,
        error: OperatorError | None,
    ) -> None:
        made, course = watch.made, watch.course
        # What an image holds is known for sure only when it is there.
        item.wanted, item.changes = made, list(_changes(made))
        judged = verdict.judge(made, course, outputs.log) if error is None else verdict.not_begun(error)
        moved = {
            name: result.traffic(course.before[name], course.after[name])
            for name in self._names
            if name in course.before and name in course.after
        }
        images = {name: look.image for name, look in course.looks.items()}
        times: result.Times = {"began": began, "ended": _now(), "seconds": round(self._clock.now() - clock, 1)}
        told = result.record(made, course.seen, images, moved, times, judged, outputs.names())
        told["build"] = course.build
        told["remarks"] += [*made.remarks, *plan.doubts(made, course.seen.nccl["version"]), *course.remarks]
        for name in course.not_tidied:
            told["remarks"].append(
                f"The cleanup of {name} failed. Its container stops within {training_watch.UNHEARD_S} "
                "seconds, and the next run there removes what is left."
            )
        for trouble in outputs.save(told):
            told["remarks"].append(trouble)
        for remark in told["remarks"]:
            self._warn(remark)
        item.proved = plan.with_result(made, told)
        if error is not None:
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
