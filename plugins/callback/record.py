# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a run: its stages and their changes by object."""

from __future__ import annotations

DOCUMENTATION = r"""
name: record
type: aggregate
short_description: Gather the changes of a run by stage and object into a record
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Writes C(stages.json) into the folder of the run. The file has the stages of the playbooks of this collection, with
    their duration and result. It has each change with its object and the values before and after, and the number of
    restarts of each object. M(aiready.vsphere.validation_report) shows these data in its report.
  - Updates the file while the run continues. The file therefore also exists after a failed, interrupted or killed run.
    Playbooks of one run add to it, see O(run_folder).
  - At the end of a run, writes C(run.html) and C(run.md) beside the record, and prints the path of the page. They show
    what was found, changed and planned, which settings are pending, and all failures with their codes. A run that
    renders the report of a validation does not write them.
  - Runs without a stage of this collection leave no record and no report.
  - Takes values only from modules of this collection, which never return secrets. For other modules and for tasks with
    C(no_log), it records only the name. It removes values whose name or format is that of a secret.
  - In check mode, the record has the changes that would be made, and the stages have C(check_mode). This record is a
    plan. C(decided_later) lists the values that are unknown until a stage runs.
  - At the end of a run, also of a failed one, copies all files of its folder to O(target), and the journal of its
    changes to C(journal/VCENTER_CLUSTER) there. The playbook restore reads it. A failed copy is a warning and does not
    change the result of the run.
    It also has C(inputs), digests of the site and of the hosts and switches without secrets.
  - A run whose variable C(aiready_plan) names the folder of such a plan requires the same inputs before its first
    change, and ends with a comparison of both.
extends_documentation_fragment:
  - aiready.vsphere.run_record
options:
  target:
    description:
      - Target of the results, an absolute path of a directory, the address of a collection of a WebDAV server, such as
        V(https://files.example.org/aiready), or a bucket of an S3 server with a prefix, such as
        V(s3://results/aiready). The folder of the run becomes a folder there.
      - Defaults to the variable C(aiready_results_target). Without both, the results stay where they are.
      - A WebDAV server needs the Python library C(requests). It verifies the certificate with the authorities of the
        machine or with E(REQUESTS_CA_BUNDLE).
      - An S3 server needs the Python library C(boto3) 1.36 or newer. E(AWS_ENDPOINT_URL_S3) has the address of a server
        other than that of Amazon, and E(AWS_CA_BUNDLE) the file of its certificate authority.
    type: str
    env:
      - name: AIREADY_RESULTS_TARGET
    ini:
      - section: aiready_vsphere
        key: results_target
  target_user:
    description:
      - User at the WebDAV server, or ID of the access key at the S3 server. Without it, C(boto3) reads its own
        variables, such as E(AWS_ACCESS_KEY_ID).
    type: str
    env:
      - name: AIREADY_RESULTS_USER
  target_password:
    description:
      - Password of O(target_user), or secret of the access key. Only the environment sets it, such as by a credential
        of AWX.
    type: str
    env:
      - name: AIREADY_RESULTS_PASSWORD
requirements:
  - enabled in C(callbacks_enabled)
notes:
  - After a killed run, the last stage is C(failed), with the reason in C(why).
"""

from typing import TYPE_CHECKING, Any

from ansible.plugins.callback import CallbackBase
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import journal, push, record, report
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import plan as run_plan
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.course import NOT_ENDED
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.listener import Listener, at_exit

if TYPE_CHECKING:
    from ansible.executor.stats import AggregateStats
    from ansible.executor.task_result import TaskResult
    from ansible.inventory.host import Host
    from ansible.playbook import Playbook
    from ansible.playbook.play import Play
    from ansible.playbook.task import Task
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.course import Stage


class CallbackModule(CallbackBase):
    """Forwards all events to the course of the run, and writes the record and the report."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "aiready.vsphere.record"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._listener: Listener
        self._record: record.Record
        self._listener = self._record = None  # type: ignore[assignment]
        self._began = ""
        self._open = False

    def v2_playbook_on_start(self, playbook: Playbook) -> None:
        self._listen()
        self._listener.playbook_begins(playbook)

    def v2_playbook_on_play_start(self, play: Play) -> None:
        self._listen()  # consoles have plays without playbooks
        self._turned(self._listener.play_begins(play))

    def v2_playbook_on_task_start(self, task: Task, is_conditional: bool) -> None:
        self._begun(task)

    def v2_playbook_on_handler_task_start(self, task: Task) -> None:
        self._begun(task)

    def v2_runner_on_start(self, host: Host, task: Task) -> None:
        self._listener.starts(host, task)

    def v2_runner_on_ok(self, result: TaskResult) -> None:
        self._ended(result)

    def v2_runner_on_skipped(self, result: TaskResult) -> None:
        self._ended(result, skipped=True)

    def v2_runner_on_failed(self, result: TaskResult, ignore_errors: bool = False) -> None:
        self._ended(result, failed=True, ignored=bool(ignore_errors))

    def v2_runner_on_unreachable(self, result: TaskResult) -> None:
        self._ended(result, unreachable=True, ignored=bool(result._task.ignore_unreachable))

    def v2_playbook_on_stats(self, stats: AggregateStats) -> None:
        self._listener.ends(stats)
        self._open = False
        self._write()
        self._compare()
        self._report()
        self._push()

    def _push(self) -> None:
        """Copy the results of the run to the target. A failure is a warning: the run itself has its result."""
        address = self.get_option("target") or self._listener.target
        if not address or not self._listener.course.stages or self._record.is_lost:
            return
        login = [self.get_option(name) or "" for name in ("target_user", "target_password")]
        try:
            folder = self._listener.folder.path
            journals = push.journals_of(self._listener.journal, journal.names(folder))
            made = push.push(folder, push.Target(address, *login), journals)
        except push.PushFailed as failure:
            # The address may have a login.
            self._display.warning(f"Cannot copy the results of this run to the target. {failure}")
        else:
            self._display.display(f"Results: {made}")

    def _report(self) -> None:
        """Write the report of a run that has no report of a validation, and show its path."""
        course = self._listener.course
        # A folder that cannot be written has its warning already.
        if not course.stages or course.report or self._record.is_lost:
            return
        path = report.write(self._listener.folder.path, self._record.last, self._display.warning)
        if path:
            self._display.display(f"Report: {path}")

    def _compare(self) -> None:
        """Print the comparison of this run with the plan that the user named."""
        folder = self._listener.plan
        if not folder or self._listener.course.check or not self._listener.course.stages:
            return
        plan = run_plan.planned(record.of_folder(folder))
        if not plan["stages"]:
            self._display.warning(
                f"Cannot compare this run with the plan in {folder}. The folder has no record of a run in check mode. "
                "Set aiready_plan to the folder of a dry run."
            )
            return
        for line in run_plan.lines(run_plan.compared(plan, run_plan.made(self._record.last)), folder):
            self._display.display(line)

    def _listen(self) -> None:
        if self._listener is None:
            self._listener = Listener(self.get_option("run_folder"), self.get_option("results"))
            self._record = record.Record(self._display.warning)
            self._began = self._listener.course.clock.stamp()
            at_exit(self._broken_off)
        self._open = True

    def _begun(self, task: Task) -> None:
        self._turned(self._listener.task_begins(task))
        # The next task may take long, so the record has all changes before it begins.
        if self._record.is_behind:
            self._write()

    def _turned(self, turn: tuple[Stage | None, Stage | None]) -> None:
        if turn != (None, None):
            self._write()

    def _ended(self, result: TaskResult, **how: bool) -> None:
        stage = self._listener.course.now
        before = (len(stage.changes), len(stage.failures)) if stage is not None else None
        self._listener.ended(result, **how)
        if stage is not None and (len(stage.changes), len(stage.failures)) != before:
            self._write(at_once=False)

    def _write(self, at_once: bool = True) -> None:
        course = self._listener.course
        if not course.stages:
            return
        if course.now is not None:
            course.now.seconds = course.seconds()
        heard = self._listener
        reported = record.reported(course, self._began, course.clock.stamp(), heard.simulated, heard.inputs)
        self._record.write(self._listener.folder.path, reported, at_once)

    def _broken_off(self) -> None:
        if self._open:
            self._listener.course.ends(why=NOT_ENDED)
            self._write()
            self._report()
            self._push()
