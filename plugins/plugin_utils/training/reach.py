# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Connections to all guests of a run, made as Ansible makes them for a delegated task."""

from __future__ import annotations

import contextlib
import contextvars
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import threading
from concurrent.futures import Future, wait
from concurrent.futures import TimeoutError as NoAnswer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping, Sequence, TypeVar

from ansible import constants as C
from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.action import ActionBase
from ansible.plugins.loader import become_loader, connection_loader
from ansible.template import Templar
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import Completed

if TYPE_CHECKING:
    from ansible.playbook.play_context import PlayContext
    from ansible.playbook.task import Task
    from ansible.plugins import AnsiblePlugin
    from ansible.plugins.connection import ConnectionBase

    T = TypeVar("T")

# Detects a lost guest after this time, regardless of the user's SSH settings.
ALIVE = "-o ServerAliveInterval=5 -o ServerAliveCountMax=3 -o ConnectTimeout=10"
ANSWER_S = 60
# A local connection that does not end on request.
END_S = 5
# Ansible's message for a guest that accepts a command and then stalls, before ssh and the limits of the run time out.
SILENT = re.compile(r"Timeout \((\d+)s\) waiting for privilege escalation")


class UnreachableError(Exception):
    """A guest that no longer answers."""


class Late(str):
    """A guest did not answer within its time limit, for an unknown reason."""


class Guest:
    """One guest, on which one command runs at a time."""

    def __init__(self, name: str, execute: Callable[[tuple[str, ...], str | bytes | None], Mapping[str, Any]]) -> None:
        self.name = name
        self._execute = execute
        self._lock = threading.Lock()
        self._has_answered = False

    def run(self, argv: Iterable[object], data: str | bytes | None = None) -> Completed:
        """Run one command; data goes to its standard input."""
        words = tuple(str(word) for word in argv)
        with self._lock:
            try:
                answer = self._execute(words, data)
            except AnsibleError as trouble:
                raise self._understood(trouble) from None
            self._has_answered = True
        return Completed(words, answer["rc"], answer["stdout"], answer["stderr"])

    def script(self, text: str, *arguments: object, data: str | bytes | None = None) -> Completed:
        """Run a script by /bin/sh."""
        return self.run(["/bin/sh", "-c", text, "sh", *arguments], data)

    def _understood(self, trouble: AnsibleError) -> Exception:
        """The error for one of Ansible's; older versions have other types."""
        text = " ".join(str(trouble).split())
        silent = SILENT.search(text)
        if silent is None:
            return UnreachableError(text) if isinstance(trouble, AnsibleConnectionFailure) else trouble
        reported = f"It gave no answer within {silent.group(1)} seconds."
        if not self._has_answered:
            reported += " It hangs, or waits for a password to become another user, such as ansible_become_password."
        return UnreachableError(reported)


class Guests:
    """All guests of a run, asked side by side."""

    def __init__(self, guests: Iterable[Guest]) -> None:
        self.by_name = {guest.name: guest for guest in guests}
        self._waiting: dict[str, Future[Any]] = {}

    def ask(
        self, names: Iterable[str], work: Callable[[Guest], T], limit_s: float = ANSWER_S, patience_s: float = 0
    ) -> tuple[dict[str, T], dict[str, str]]:
        """({guest: result of work(guest)}, {guest: why it did not answer}); other errors are raised.

        A guest that still owes an answer is given patience_s seconds for it, and is not asked otherwise.
        """
        futures: dict[str, Future[T]] = {}
        lost: dict[str, str] = {}
        wait([self._waiting[name] for name in names if name in self._waiting], patience_s)
        for name in names:
            if name in self._waiting and not self._waiting[name].done():
                lost[name] = "It still does not answer an earlier question."
                continue
            futures[name] = self._waiting[name] = _begin(work, self.by_name[name])
        given = {}
        for name, future in futures.items():
            try:
                given[name] = future.result(limit_s)
            except NoAnswer:
                lost[name] = Late(f"It gave no answer within {limit_s} seconds.")
            except UnreachableError as trouble:
                lost[name] = str(trouble)
        return given, lost

    def hear(self, names: Iterable[str], work: Callable[[Guest], T]) -> tuple[dict[str, T], dict[str, str]]:
        """Late answers of guests, without waiting."""
        given: dict[str, T]
        lost: dict[str, str]
        given, lost = {}, {}
        for name in names:
            before = self._waiting[name]
            if not before.done():
                lost[name] = "It still does not answer an earlier question."
                continue
            self._waiting[name] = _begin(work, self.by_name[name])
            try:
                given[name] = before.result()
            except UnreachableError as trouble:
                lost[name] = str(trouble)
        return given, lost


def _begin(work: Callable[[Guest], T], guest: Guest) -> Future[T]:
    """The future of work(guest). Python waits for threads of a pool at its end, and a guest may never answer."""
    future: Future[T] = Future()
    # Ansible keeps in such a context which task it runs.
    context = contextvars.copy_context()

    def do() -> None:
        try:
            future.set_result(context.run(work, guest))
        except BaseException as trouble:  # noqa: BLE001  (the reader of the answer gets it)
            future.set_exception(trouble)

    threading.Thread(target=do, name=f"asks {guest.name}", daemon=True).start()
    return future


def refuse_lost(lost: Mapping[str, str]) -> None:
    """An error for the first guest without an answer, {guest: why}."""
    for name in sorted(lost):
        raise OperatorError(
            name,
            "cannot take part in the training",
            f"It does not answer: {lost[name]}",
            "Check that it runs and that Ansible reaches it",
            "guest_unreachable",
            host=name,
        )


@contextlib.contextmanager
def opened(action: ActionBase, names: Iterable[str], task_vars: dict[str, Any]) -> Iterator[Guests]:
    """The guests with these names in the inventory; their connections are gone afterwards."""
    # Short, since the path of a control socket may only have about 100 characters.
    folder = tempfile.mkdtemp(prefix="run-", dir="/tmp")
    reaches: list[_Reach] = []
    try:
        for name in names:
            reaches.append(_Reach(action, name, task_vars, folder))
        yield Guests([Guest(reach.name, reach.execute) for reach in reaches])
    finally:
        for reach in reaches:
            reach.close(folder)
        shutil.rmtree(folder, ignore_errors=True)


class _Reach(ActionBase):
    """An action for each guest, because Ansible itself runs commands with become."""

    def __init__(self, action: ActionBase, name: str, task_vars: dict[str, Any], folder: str) -> None:
        self.name = name
        task, variables = _delegated(action, name, task_vars)
        templar = Templar(loader=action._loader, variables=variables)
        context = action._play_context.copy()
        context.remote_addr = str(templar.template(variables.get("ansible_host", name)))
        connection = _connection(task, context, variables, templar)
        super().__init__(task, connection, context, action._loader, templar, action._shared_loader_obj)
        _keep_apart(connection, folder)

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        raise NotImplementedError

    def execute(self, argv: Sequence[str], data: str | bytes | None) -> dict[str, Any]:
        """The answer of one command, whose words arrive as they are."""
        return self._low_level_execute_command(
            shlex.join(argv), sudoable=self._connection.become is not None, in_data=data
        )

    def close(self, folder: str) -> None:
        """End the connection, also where something still waits for an answer over it."""
        with contextlib.suppress(AnsibleError, OSError):
            if self._connection.transport == "ssh":
                _end_sharing(self._connection.get_option("ssh_executable"), folder)
            self._connection.close()


def _delegated(action: ActionBase, name: str, task_vars: dict[str, Any]) -> tuple[Task, dict[str, Any]]:
    """The task and the variables that it would have if it was delegated to a guest."""
    if name not in task_vars.get("hostvars", {}):
        raise OperatorError(
            f"Guest {name}",
            "is not a host of the inventory",
            "The inventory has no host of this name",
            "Add it to the inventory, or use its name in the inventory",
            "unknown_host",
            host=name,
        )
    task, manager = action._task.copy(), action._task.get_variable_manager()
    task.delegate_to = name
    if manager is None:
        return task, dict(task_vars["hostvars"][name])
    templar = Templar(loader=action._loader, variables=task_vars)
    found, given = manager.get_delegated_vars_and_hostname(templar, task, task_vars)
    return task, found["ansible_delegated_vars"][given]


def _connection(task: Task, context: PlayContext, variables: Mapping[str, Any], templar: Templar) -> ConnectionBase:
    kind = str(templar.template(variables.get("ansible_connection", task.connection or context.connection or "ssh")))
    kind = "ssh" if kind in ("smart", "") else kind
    connection = connection_loader.get(kind, context, os.devnull, task_uuid=task._uuid)
    if connection is None:
        raise AnsibleError(f"the connection plugin '{kind}' was not found")
    _become(connection, task, context, variables, templar)
    keys = task.dump_attrs()
    keys["timeout"] = context.timeout
    keys.pop("retries", None)
    if context.password:
        keys["password"] = context.password
    connection.set_options(task_keys=keys, var_options=_options("connection", connection, variables, templar))
    with contextlib.suppress(AttributeError):
        connection._shell.set_options(
            task_keys=keys, var_options=_options("shell", connection._shell, variables, templar)
        )
    if connection.become is not None:
        if context.become_pass:
            keys["become_pass"] = context.become_pass
        become = connection.become
        become.set_options(task_keys=keys, var_options=_options("become", become, variables, templar))
    context.set_attributes_from_plugin(connection)
    return connection


def _become(
    connection: ConnectionBase, task: Task, context: PlayContext, variables: Mapping[str, Any], templar: Templar
) -> None:
    wanted = variables.get("ansible_become")
    wanted = task.become if wanted is None else boolean(templar.template(wanted), strict=False)
    method = str(templar.template(variables.get("ansible_become_method") or task.become_method or "sudo"))
    plugin = become_loader.get(method) if wanted else None
    connection.set_become_plugin(plugin)
    if plugin is not None:
        context.set_become_plugin(plugin.name)


def _options(kind: str, plugin: AnsiblePlugin, variables: Mapping[str, Any], templar: Templar) -> dict[str, Any]:
    names = C.config.get_plugin_vars(kind, plugin._load_name)
    return {name: templar.template(variables[name]) for name in names if name in variables}


def _end_sharing(program: str, folder: str) -> None:
    """End all that is kept open in this folder. Ansible's reset would let a command that hangs go on."""
    for socket in Path(folder).iterdir():
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(
                [program, "-o", f"ControlPath={socket}", "-O", "exit", "guest"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=END_S,
                check=False,
            )


def _keep_apart(connection: ConnectionBase, folder: str) -> None:
    """A connection of ssh of its own, with a watch on it. One that the play made before might never notice a death."""
    if getattr(connection, "transport", "") != "ssh":
        return
    with contextlib.suppress(KeyError):
        connection.set_option("control_path_dir", folder)
        connection.set_option("control_path", "")
        connection.set_option("ssh_extra_args", f"{ALIVE} {connection.get_option('ssh_extra_args') or ''}".strip())
