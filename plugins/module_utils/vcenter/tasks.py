# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Long running work: many tasks at once, awaited together through one property filter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, List, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim, vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.transport import FateUnknown
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.trouble import NoConnection
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.watch import Watch

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Data, Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.watch import News

    # Number of ended jobs, number of all jobs, and the job that has just ended.
    Progress = Callable[[int, int, str, "Outcome"], None]

FIRST_PAUSE_S = 0.1
LAST_PAUSE_S = 1.0
LONGEST_POLL_S = 10
# Codes of errors after which vSphere may still make the change.
LATE = ("fate_unknown", "task_gone", "task_timeout")
BUSY_PAUSES_S = (0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0)


@dataclass
class Job:
    """One task to run. start() sends the request and returns the Task."""

    label: str
    start: Callable[[], Ref]
    wanted: str = "the vCenter task did not succeed"
    # True where the server itself refuses the same request twice (a spec with a changeVersion): then an answer
    # of 503 is no reason to give up.
    guarded: bool = False


@dataclass
class Outcome:
    """Result of one job: error is None on success. uncertain: it may have been carried out, or may be yet."""

    result: Data = None
    error: OperatorError | None = None
    fault: vmodl.MethodFault | None = None
    uncertain: bool = False


def run_tasks(
    vcenter: VCenter, jobs: Sequence[Job], limit: int = 32, timeout_s: int = 600, on_progress: Progress | None = None
) -> list[Outcome]:
    """Outcomes of all jobs, in their order; never raises for one job, and cancels nothing."""
    return _Run(vcenter, jobs, limit, timeout_s, on_progress).outcomes()


class _Work:
    """One job in progress."""

    def __init__(self, index: int, job: Job) -> None:
        self.index = index
        self.job = job
        self.task: Ref = None
        self.deadline = math.inf
        self.not_before = 0.0
        self.pauses = list(BUSY_PAUSES_S)
        self.resent = False


class _Run:
    def __init__(
        self, vcenter: VCenter, jobs: Sequence[Job], limit: int, timeout_s: int, on_progress: Progress | None
    ) -> None:
        self.clock = vcenter.clock
        self.limit = limit
        self.timeout_s = timeout_s
        self.on_progress = on_progress
        self.queue = [_Work(index, job) for index, job in enumerate(jobs)]
        self.running: dict[str, _Work] = {}
        self.done: list[Outcome | None] = [None] * len(jobs)
        self.watch = Watch(vcenter)
        # A poll that the server holds back for longer than a request may take would end as an error.
        self.longest_poll_s = min(LONGEST_POLL_S, vcenter.request_timeout_s // 2)

    def outcomes(self) -> list[Outcome]:
        pause = FIRST_PAUSE_S
        try:
            while self.queue or self.running:
                self._start_what_may()
                if not self.running:
                    self._sleep_until_next_start()
                    continue
                # Tasks that end at almost the same time come in one answer.
                self.clock.sleep(pause)
                watched = len(self.running)
                self._take(self.watch.poll([work.task for work in self.running.values()], self._poll_s()))
                self._give_up_on_late()
                most_ended = len(self.running) * 2 <= watched
                pause = FIRST_PAUSE_S if most_ended else min(pause * 2, LAST_PAUSE_S)
        except OperatorError as error:
            self.watch.abandon()
            self._end_all(error)
        finally:
            self.watch.close()
        return cast(List[Outcome], self.done)

    def _start_what_may(self) -> None:
        for work in list(self.queue):
            if len(self.running) >= self.limit:
                return
            if work.not_before <= self.clock.now():
                self.queue.remove(work)
                self._start(work)

    def _start(self, work: _Work) -> None:
        try:
            work.task = work.job.start()
        except FateUnknown as error:
            if work.job.guarded and error.http_status == 503 and work.pauses:
                work.resent = True
                self._again(work)
            else:
                self._end(work, Outcome(error=_unanswered(work.job, error), uncertain=True))
        except NoConnection:
            self.queue.append(work)
            raise
        except OperatorError as error:
            self._end(work, Outcome(error=error, uncertain=work.resent))
        except vmodl.MethodFault as fault:
            self._failed(work, fault)
        else:
            work.deadline = self.clock.now() + self.timeout_s
            self.running[work.task._GetMoId()] = work

    def _again(self, work: _Work) -> None:
        work.task = None
        work.not_before = self.clock.now() + work.pauses.pop(0)
        self.queue.append(work)

    def _failed(self, work: _Work, fault: vmodl.MethodFault) -> None:
        if isinstance(fault, vim.fault.TaskInProgress) and work.pauses:
            self._again(work)
            return
        error = explain(fault, work.job.label, work.job.wanted)
        # After a request that was sent twice, this fault may be the echo of the first one's success.
        echo = work.resent and isinstance(fault, vim.fault.ConcurrentAccess)
        self._end(work, Outcome(error=error, fault=fault, uncertain=echo))

    def _end(self, work: _Work, outcome: Outcome) -> None:
        self.done[work.index] = outcome
        if self.on_progress is not None:
            ended = sum(1 for entry in self.done if entry is not None)
            self.on_progress(ended, len(self.done), work.job.label, outcome)

    def _end_all(self, error: OperatorError) -> None:
        """vCenter is unreachable: end each job with an error of its own."""
        for work in list(self.running.values()):
            self._end(work, Outcome(error=_lost(work, error), uncertain=True))
        for work in self.queue:
            self._end(work, Outcome(error=_lost(work, error), uncertain=work.resent))
        self.running.clear()
        self.queue.clear()

    def _take(self, ended: Mapping[str, News]) -> None:
        for moid, news in ended.items():
            work = self.running.pop(moid, None)
            if work is None:
                continue
            if news.state == "success":
                self._end(work, Outcome(result=news.result))
            elif news.state == "error":
                self._failed(work, news.fault or vmodl.MethodFault(msg="The task failed without a message."))
            else:
                self._end(work, Outcome(error=_gone(work.job, moid), uncertain=True))

    def _give_up_on_late(self) -> None:
        now = self.clock.now()
        late = [work for work in self.running.values() if work.deadline <= now]
        if not late:
            return
        last_seen = self.watch.look([work.task for work in late])
        self._take({moid: news for moid, news in last_seen.items() if news.ended})
        for work in late:
            moid = work.task._GetMoId() if work.task is not None else ""
            if self.running.pop(moid, None) is not None:
                error = _late(work.job, moid, self.timeout_s, last_seen.get(moid))
                self._end(work, Outcome(error=error, uncertain=True))

    def _poll_s(self) -> int:
        """Return how long the server may delay a poll: not beyond the next deadline or start."""
        now = self.clock.now()
        moments = [work.deadline for work in self.running.values()]
        if len(self.running) < self.limit:
            moments += [work.not_before for work in self.queue]
        return min(self.longest_poll_s, max(1, math.ceil(min(moments) - now)))

    def _sleep_until_next_start(self) -> None:
        if self.queue:
            self.clock.sleep(max(0.0, min(work.not_before for work in self.queue) - self.clock.now()))


def _unanswered(job: Job, error: FateUnknown) -> OperatorError:
    found = f"{error.data['method']} was sent, but not answered: {error.found}"
    return OperatorError(job.label, job.wanted, found, error.todo, error.code, **error.data)


def _lost(work: _Work, error: OperatorError) -> OperatorError:
    if work.task is None:
        found, todo = f"It was not started: {error.message}", "Run again once vCenter answers"
    else:
        found = f"The task {work.task._GetMoId()} runs, but its result is unknown: {error.message}"
        todo = "Check the object in vCenter before you repeat the request"
    return OperatorError(work.job.label, work.job.wanted, found, todo, error.code)


def _gone(job: Job, moid: str) -> OperatorError:
    return OperatorError(
        job.label,
        job.wanted,
        f"vCenter no longer knows the task {moid}, so its result is unknown",
        "Check the object in vCenter before you repeat the request",
        "task_gone",
        task=moid,
    )


def _late(job: Job, moid: str, timeout_s: int, news: News | None) -> OperatorError:
    seen = "unknown" if news is None else news.state
    if news is not None and news.percent is not None:
        seen += f", {news.percent} percent"
    return OperatorError(
        job.label,
        job.wanted,
        f"The task {moid} did not end within {timeout_s} seconds; last seen: {seen}",
        "Wait for the task in vCenter, where it still runs, or raise `task_timeout_s`. Nothing was cancelled",
        "task_timeout",
        task=moid,
        state=seen,
    )
