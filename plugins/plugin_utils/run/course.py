# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The course of a run by stages, from the events of callbacks: start, result and duration."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from ansible.playbook.block import Block
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import plan, results, stages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ansible.playbook.task import Task
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.results import Seen

OK, FAILED, SKIPPED = "ok", "failed", "skipped"
# The record has tasks that take longer, so that a later run can show their usual duration.
LONG_S = 5.0
SAYS = "ansible.builtin.debug"
REPORTS = ("aiready.vsphere.validation_report",)
# Ansible gathers facts by itself when a play begins. This is no work of the stage.
LOOKS = ("ansible.builtin.setup", "ansible.builtin.gather_facts")
NOT_ENDED = "The run was broken off in this stage."
NOT_BEGUN = "The run ended before this stage."
# Ansible counts some failures whose result no callback receives, and ends a run whose hosts all failed.
UNSEEN = "Ansible counts a failure of this host, but returned no result for it. See the output above."
ENDED_EARLY = "The run ended here before its last play. See the output above."


@dataclass
class Clock:
    """The clock. Tests replace it."""

    monotonic: Callable[[], float] = time.monotonic
    utc: Callable[[], datetime] = lambda: datetime.now(timezone.utc)

    def stamp(self) -> str:
        return self.utc().strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass
class Failure:
    """A task that failed on a host and was neither rescued nor ignored."""

    host: str
    task: str
    text: str
    unreachable: bool = False
    ends_run: bool = False  # although Ansible counts it as ignored
    codes: tuple[str, ...] = ()

    def as_result(self) -> dict[str, Any]:
        found: dict[str, Any] = {"object": self.host, "task": self.task, "msg": self.text}
        return dict(found, codes=list(self.codes)) if self.codes else found


@dataclass
class Stage:
    """One stage of this run."""

    name: str
    began: str = ""
    since: float = 0.0
    seconds: float = 0.0
    state: str = ""  # empty while it runs
    why: str = ""
    check: bool = False  # check mode: its changes are planned, not made
    ran: bool = False
    hosts: set[str] = field(default_factory=set)
    changes: list[dict[str, Any]] = field(default_factory=list)
    reported: set[str] = field(default_factory=set)
    failures: list[Failure] = field(default_factory=list)
    restarts: dict[str, int] = field(default_factory=dict)
    tasks: list[dict[str, Any]] = field(default_factory=list)
    later: list[dict[str, Any]] = field(default_factory=list)  # unknown until another stage runs

    def as_result(self) -> dict[str, Any]:
        found = {
            "name": self.name,
            "began": self.began,
            "seconds": round(self.seconds, 1),
            # Set for a killed run, whose last stage has no end.
            "state": self.state or FAILED,
            "hosts": sorted(self.hosts),
            "changes": self.changes,
        }
        if self.check:
            found["check_mode"] = True
        if self.later:
            found["decided_later"] = self.later
        if self.why or not self.state:
            found["why"] = self.why or NOT_ENDED
        if self.failures:
            found["failures"] = [failure.as_result() for failure in self.failures]
        if self.tasks:
            found["tasks"] = self.tasks
        return found


class Course:
    """Receives the events of a run in their order."""

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock = clock or Clock()
        self.check = False
        self.ahead: list[str] = []  # the names of the stages of this playbook that have not begun
        self.number = self.count = 0
        self.stages: list[Stage] = []
        self.outside: list[Failure] = []  # failures before, between and after the stages
        self.now: Stage | None = None
        self.running: dict[tuple[str, str], tuple[str, float]] = {}  # (host, id of a task): (name, since when)
        self.report: dict[str, Any] = {}
        self.folder = ""  # the folder of this run, as a task returned it
        self._planned: dict[str, tuple[str | None, bool]] = {}
        self._plays_left: set[str] = set()
        # By object and module, since each module knows the settings of its own alone.
        self._pending: dict[tuple[str, str], list[dict[str, str]]] = {}
        self._rescued: dict[str, Failure] = {}  # the last failure of each host that a rescue catches
        self._prepares = False
        self._tags: set[str] = set()

    def playbook_begins(
        self, plays: Iterable[tuple[str, str, Any]], check: bool | None = False, tags: Iterable[str] = ()
    ) -> None:
        """plays: [(id, path, variables)] in their order; tags: the values of --tags."""
        self.check, self._planned = bool(check), stages.plan(plays)
        self._plays_left = set(self._planned)
        self._tags = {str(tag) for tag in tags} - {"all", "tagged", "untagged", "always"}
        self.ahead = stages.in_order(self._planned)
        self.number, self.count = 0, len(self.ahead)

    def play_begins(
        self, play: str, path: str = "", variables: Mapping[str, Any] | None = None
    ) -> tuple[Stage | None, Stage | None]:
        """Return (the stage that ended, the stage that began). Both are None if the stage continues."""
        self._plays_left.discard(play)
        stage, self._prepares = self._planned.get(play) or stages.of_play(path, variables or {})
        return self._turn(stage)

    def task_begins(self, role: str) -> tuple[Stage | None, Stage | None]:
        """Return the same. A play without a stage gets the stage of its first role of this collection."""
        stage = stages.of_role(role) if role else None
        if stage is None or (self.now is not None and self.now.name in self._planned_stages()):
            return None, None
        return self._turn(stage)

    def starts(self, host: str, task: str, name: str) -> None:
        self.running.setdefault((host, task), (name, self.clock.monotonic()))

    def ended(
        self,
        seen: Seen,
        task: Task,
        failed: bool = False,
        ignored: bool = False,
        skipped: bool = False,
        unreachable: bool = False,
    ) -> float:
        """Note the end of a task on a host. Return its duration there in seconds."""
        name, since = self.running.pop((seen.host, task._uuid), (seen.task, None))
        seconds = 0.0 if since is None else self.clock.monotonic() - since
        self._hear(seen)
        self._note_failure(seen, task, failed, ignored, unreachable)
        stage = self.now
        if stage is None:
            return seconds
        stage.hosts.add(seen.host)
        if seconds >= LONG_S:
            stage.tasks.append({"task": seen.task, "object": seen.host, "seconds": round(seconds, 1)})
        if not (skipped or self._prepares or seen.action in LOOKS) and self._is_asked_for(task):
            stage.ran = True
        # A task in check mode changes nothing in a run that makes changes.
        if self.check or not seen.check:
            self._note(stage, results.changes(seen))
        if self.check and seen.action == SAYS and not seen.hidden:
            self._leave_open(stage, plan.understood(seen.data.get("msg")))
        for name, many in results.restarts(seen).items():
            stage.restarts[name] = stage.restarts.get(name, 0) + many
        self._note_pending(stage, seen)
        return seconds

    def ends(self, lost: set[str] | None = None, why: str = "") -> Stage | None:
        """Note the end of the playbook. lost: the hosts with a final failure, if they are known."""
        left, self.ahead = self.ahead, []
        if lost is not None:
            self._settle(lost)
        ended = self._end(why)
        for name in left:
            self.stages.append(Stage(name, self.clock.stamp(), state=SKIPPED, why=NOT_BEGUN, check=self.check))
        self.running.clear()
        return ended

    def seconds(self) -> float:
        """Duration of the current stage so far, in seconds."""
        return 0.0 if self.now is None else self.clock.monotonic() - self.now.since

    def restarts(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for stage in self.stages:
            for name, many in stage.restarts.items():
                found[name] = found.get(name, 0) + many
        return found

    def pending(self) -> list[dict[str, str]]:
        """[{stage, object, what, needs}] of the settings that still wait for a restart at the end of the run."""
        return [entry for entries in self._pending.values() for entry in entries]

    def _note_pending(self, stage: Stage, seen: Seen) -> None:
        restarted = results.restarts(seen)
        for key, entries in self._pending.items():
            if results.is_part(key[0], restarted):
                # The restart of a guest is no power cycle of its VM.
                self._pending[key] = [one for one in entries if not seen.own and "power" in one["needs"]]
        for name, waiting in results.pending(seen).items():
            self._pending[name, seen.own] = [{"stage": stage.name, "object": name, **one} for one in waiting]

    def _note_failure(self, seen: Seen, task: Task, failed: bool, ignored: bool, unreachable: bool) -> None:
        if not (failed or unreachable):
            return
        ends_run = ends_all(task, ignored, unreachable)
        one = Failure(seen.host, seen.task, results.message(seen), unreachable, ends_run, tuple(results.codes(seen)))
        if ignored and not one.ends_run:
            return
        if not one.ends_run and is_rescued(task):
            self._rescued[seen.host] = one
        else:
            self._failures().append(one)

    def _failures(self) -> list[Failure]:
        return self.outside if self.now is None else self.now.failures

    def _settle(self, lost: set[str]) -> None:
        """Keep the failures of lost hosts, at least one for each, so that no failed run ends with a good verdict."""
        for stage in self.stages:
            stage.failures = [one for one in stage.failures if one.host in lost or one.ends_run]
            if stage.state == FAILED and not stage.failures and not stage.why:
                stage.state = OK
        self.outside = [one for one in self.outside if one.host in lost or one.ends_run]
        reported = {one.host for stage in self.stages for one in stage.failures} | {one.host for one in self.outside}
        for host in sorted(lost - reported):
            self._failures().append(self._rescued.get(host) or Failure(host, "", UNSEEN))
        if self._plays_left and not (lost or reported):
            self._failures().append(Failure("", "", ENDED_EARLY))

    def _planned_stages(self) -> set[str]:
        return {stage for stage, prepares in self._planned.values() if stage is not None}

    def _turn(self, name: str | None) -> tuple[Stage | None, Stage | None]:
        if name is None or (self.now is not None and self.now.name == name):
            if name is None and self.now is not None and self._planned:
                # A play between two stages that belongs to none.
                return self._end(), None
            return None, None
        ended = self._end()
        # Stages that the run passed over are not part of it.
        if name in self.ahead:
            self.ahead = self.ahead[self.ahead.index(name) + 1 :]
            self.number = self.count - len(self.ahead)
        self.now = Stage(name, self.clock.stamp(), self.clock.monotonic(), check=self.check)
        self.stages.append(self.now)
        return ended, self.now

    def _end(self, why: str = "") -> Stage | None:
        stage, self.now = self.now, None
        if stage is None:
            return None
        stage.seconds, stage.why = self.clock.monotonic() - stage.since, why
        if why or stage.failures:
            stage.state = FAILED
        elif stage.ran:
            stage.state = OK
        else:
            stage.state, stage.why = SKIPPED, "It had nothing to do: no hosts, or excluded by tags or conditions."
        return stage

    def _is_asked_for(self, task: Task) -> bool:
        return not self._tags or bool(self._tags & {str(tag) for tag in task.tags})

    def _note(self, stage: Stage, changes: Iterable[dict[str, Any]]) -> None:
        for change in changes:
            # In check mode, two tasks of a role report the same change. It counts once.
            reported = json.dumps([change[key] for key in ("object", "what", "before", "after")], sort_keys=True)
            if not (self.check and reported in stage.reported):
                stage.reported.add(reported)
                stage.changes.append(change)

    def _leave_open(self, stage: Stage, marks: Iterable[dict[str, Any]]) -> None:
        stage.later += [mark for mark in marks if mark not in stage.later]

    def _hear(self, seen: Seen) -> None:
        facts = seen.data.get("ansible_facts")
        if isinstance(facts, dict) and isinstance(facts.get("aiready_run_folder"), str) and not seen.hidden:
            self.folder = facts["aiready_run_folder"]
        if seen.action in REPORTS:
            self.report = seen.data


def ends_all(task: Task, ignored: bool, unreachable: bool) -> bool:
    """Whether this failure ends the play for all hosts, although Ansible counts one ignored failure.

    Strategy linear does so when a task with run_once or any_errors_fatal ignores unreachable hosts and no other errors.
    """
    strict = getattr(task, "run_once", False) or getattr(task, "any_errors_fatal", False)
    return bool(unreachable and ignored and strict and not getattr(task, "ignore_errors", False))


def is_rescued(task: Task) -> bool:
    """Whether a block around the task rescues its failure. A rescue does not catch its own failures."""
    child, parent = task, task._parent
    while parent is not None:
        if isinstance(parent, Block) and parent.rescue and any(child._uuid == one._uuid for one in parent.block):
            return True
        child, parent = parent, parent._parent
    return False
