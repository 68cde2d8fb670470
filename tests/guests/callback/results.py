"""Writes what came of each task on each host, as lines of JSON: no test reads Ansible's text.

Where LOOK names a container and a command, that is run there before each task and after the last: what stands between
tasks costs no way to the guest and back, and comes from somebody else than Ansible.
"""

from __future__ import annotations

import contextlib
import json
import os

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: results
type: notification
short_description: results of tasks as data
description: Writes a line of JSON for each task and host to the file that RESULTS_FILE names.
"""


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "results"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self._number = -1
        self._tasks = {}
        self._look = json.loads(os.environ.get("LOOK", "null"))

    def v2_playbook_on_task_start(self, task, is_conditional):
        self._begun(task)

    def v2_playbook_on_handler_task_start(self, task):
        self._begun(task)

    def v2_playbook_on_stats(self, stats):
        self._looked(self._number + 1)

    def v2_runner_on_ok(self, result):
        self._write(result, "changed" if result._result.get("changed") else "ok")

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self._write(result, "failed")

    def v2_runner_on_skipped(self, result):
        self._write(result, "skipped")

    def v2_runner_on_unreachable(self, result):
        self._write(result, "unreachable")

    def _begun(self, task):
        if task._uuid not in self._tasks and task.get_name().strip() != "Gathering Facts":
            self._number += 1
            self._tasks[task._uuid] = self._number
            self._looked(self._number)

    def _looked(self, number):
        if self._look is not None:
            import docker

            from vsphere_twin.guests import execs

            with contextlib.closing(docker.APIClient()) as engine:
                seen = execs.run(engine, self._look["container"], self._look["argv"])
                self._report({"before": number, "seen": seen.text})

    def _write(self, result, status):
        if result._task._uuid not in self._tasks:
            return
        row = {
            "host": result._host.get_name(),
            "number": self._tasks[result._task._uuid],
            "task": result._task.get_name(),
            "status": status,
            "result": json.loads(self._dump_results(result._result, keep_invocation=True)),
        }
        if status == "failed":  # a failure that is ignored carries no mark of it
            row["result"]["failed"] = True
        if "diff" in result._result:  # what is dumped has none
            row["result"]["diff"] = result._result["diff"]
        self._report(row)

    @staticmethod
    def _report(row):
        with open(os.environ["RESULTS_FILE"], "a", encoding="utf-8") as lines:
            lines.write(json.dumps(row) + "\n")
