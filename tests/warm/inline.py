"""Tasks that need no worker are run by the process of the playbook.

Ansible forks a worker for each task on each host, also where nothing is to be done, and the fork takes ten times as
long as that decision. Here no worker is forked for tasks that are skipped, for some actions of Ansible, and in a play
with one host, where nothing could run beside them, for modules on the controller. The code that runs is Ansible's own,
on a copy of the task.
"""

from __future__ import annotations

import copy
import threading
import time
import types
from collections import deque
from typing import Any

# Actions that use no connection and change nothing but their result.
HERE = frozenset(
    f"ansible.builtin.{name}"
    for name in ("assert", "debug", "fail", "include_role", "include_tasks", "set_fact", "validate_argument_spec")
)
# Connections that are there without a process of their own.
PLAIN = ("local", "ssh")


class _Elsewhere(BaseException):
    """The task is not skipped, and needs a worker."""


def _alone(task: Any, variables: dict) -> bool:
    """Nothing else can run meanwhile."""
    return len(variables.get("ansible_play_batch", ())) == 1 and not task.async_val


def install() -> None:
    """Change how playbooks of this process and of its forks run tasks, and how they wait for results."""
    from ansible.executor import task_executor
    from ansible.plugins import strategy

    class Executor(task_executor.TaskExecutor):
        """Decides whether the task is skipped, and runs it only where it can."""

        def _get_connection(self, cvars: dict, templar: Any, current_connection: str) -> Any:
            alone = _alone(self._task, self._job_vars) and current_connection == "local"
            here = self._task.resolved_action in HERE and not self._task.until and current_connection in PLAIN
            if not (alone or here):
                raise _Elsewhere
            return super()._get_connection(cvars, templar, current_connection)

    strategy.WorkerProcess = _worker(strategy.WorkerProcess, Executor)
    _wake(strategy)


def _worker(process: Any, executor: Any) -> Any:
    """Ansible's worker, which is started only where one is needed."""
    from ansible._internal._task import TaskContext
    from ansible.executor.task_result import _RawTaskResult

    class Worker(process):
        _task: Any

        def start(self) -> None:
            task = self._task
            if not _may_be_tried(task, self._task_vars):
                super().start()
                return
            # What is around it is only read.
            own = task.copy(exclude_parent=True)
            own._parent = task._parent
            try:
                with TaskContext(own):
                    answer = executor(
                        self._host,
                        own,
                        self._task_vars.copy(),
                        self._play_context,
                        self._loader,
                        self._shared_loader_obj,
                        self._final_q,
                        self._variable_manager,
                    ).run()
            except _Elsewhere:
                self._task = _decided(task)
                super().start()
            else:
                result = _RawTaskResult(host=self._host, task=own, return_data=answer, task_fields=own.dump_attrs())
                self._final_q.send_task_result(result)

    return Worker


def _may_be_tried(task: Any, variables: dict) -> bool:
    """Whether it may turn out that the task needs no worker, before anything of it is done."""
    if task.loop is not None:
        connection = variables.get("ansible_connection", task.connection)
        return _alone(task, variables) and task.delegate_to is None and connection == "local"
    return bool(task.when) or task.resolved_action in HERE or _alone(task, variables)


def _decided(task: Any) -> Any:
    """The task with the condition met: it is what a worker asks for first."""
    met = copy.copy(task)

    def resolve(*_arguments: Any, **_options: Any) -> bool:
        del met._resolve_conditional
        return True

    met._resolve_conditional = resolve
    return met


def _wake(strategy: Any) -> None:
    """A result ends the wait for it; otherwise Ansible finds it when it looks the next time."""
    arrived = threading.Event()

    class Results(deque):
        def append(self, item: Any) -> None:
            super().append(item)
            arrived.set()

    def sleep(seconds: float) -> None:
        arrived.wait(seconds)
        arrived.clear()

    strategy.deque = Results
    strategy.time = types.SimpleNamespace(sleep=sleep, time=time.time)
