# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Modules that run on the controller and send commands over the play's connection: no Python on the target."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable, Mapping, NoReturn

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.errors import UnsupportedError
from ansible.plugins.action import ActionBase
from ansible_collections.aiready.vsphere.plugins.module_utils.core import plain_text
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import failure, journal

if TYPE_CHECKING:
    from ansible.module_utils.errors import AnsibleValidationError

# Line that ssh appends to standard error of commands in a terminal.
SSH_ENDED = re.compile(r"Shared connection to \S+ closed\.")
_STATUS = "aiready-status"
_ENDED = re.compile(rf"{_STATUS} (\d{{1,3}})\s*\Z")
# Bytes of the line with the status.
_ROOM = 32


@dataclass(frozen=True)
class Completed:
    """A command that ended."""

    argv: tuple[str, ...]
    rc: int
    stdout: str
    stderr: str

    @property
    def command(self) -> str:
        return shlex.join(self.argv)

    @property
    def text(self) -> str:
        """Both outputs without line ends and terminal codes: a task with become has a terminal."""
        lines = f"{self.stdout}\n{self.stderr}".splitlines()
        return "\n".join(line.rstrip() for line in lines if line.strip() and not SSH_ENDED.match(line))


class Remote:
    """Runs commands on the host of the task, with its become settings."""

    def __init__(self, action: ActionBase) -> None:
        self._action = action

    def run(self, argv: Iterable[str], stdin: str = "") -> Completed:
        """Run one command with unchanged arguments; Ansible reports a host that is unreachable."""
        argv = tuple(str(argument) for argument in argv)
        # A terminal is requested only if become may need one, because it mixes the two outputs.
        answer = self._action._low_level_execute_command(
            shlex.join(argv),
            sudoable=self._action._connection.become is not None,
            in_data=stdin.encode() if stdin else None,
        )
        return Completed(argv, answer["rc"], answer["stdout"], answer["stderr"])

    def run_limited(self, argv: Iterable[str], most: int) -> Completed:
        """The same, but the host itself ends the output after so many bytes: nobody holds more of it in memory."""
        argv = tuple(str(argument) for argument in argv)
        # The status of a command in a pipe is lost, so it is the last line of the output.
        line = f"({shlex.join(argv)}; echo {_STATUS} $?) | head -c {most + _ROOM}"
        answer = self._action._low_level_execute_command(line, sudoable=self._action._connection.become is not None)
        found = _ENDED.search(answer["stdout"])
        if found is None:
            return Completed(argv, answer["rc"] or 1, answer["stdout"], answer["stderr"])
        return Completed(argv, int(found[1]), answer["stdout"][: found.start()], answer["stderr"])


class Left(Exception):
    """The end of a module, with its result."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.answer = answer
        super().__init__(answer.get("msg", ""))


class RemoteModule:
    """The part of AnsibleModule that runner.run and the modules need, for an action plugin."""

    def __init__(self, action: ActionBase, arguments: Mapping[str, Any], relations: Mapping[str, Any]) -> None:
        self.check_mode = action._task.check_mode
        self._diff = action._task.diff
        self._display = action._display
        # The place of the journal of changes, see module_utils/core/journal.py.
        self.journal = ""
        self.argument_spec = arguments
        checked = ArgumentSpecValidator(arguments, **relations).validate(dict(action._task.args))
        problems = [_reported(error) for error in checked.errors.errors]
        fail_if_invalid(self, problems)
        self.params = checked.validated_parameters

    def warn(self, message: str) -> None:
        self._display.warning(plain_text.shown(message))

    def exit_json(self, **answer: Any) -> NoReturn:
        raise Left(answer)

    def fail_json(self, msg: str, **answer: Any) -> NoReturn:
        raise Left(dict(answer, msg=plain_text.shown(msg), failed=True))


def _reported(error: AnsibleValidationError) -> str:
    if isinstance(error, UnsupportedError):
        return f"There is no parameter {error.msg}"
    return error.msg if error.msg.endswith(".") else f"{error.msg}."


class RemoteAction(ActionBase):
    """An action plugin that works as a module: a subclass has its arguments and its work."""

    TRANSFERS_FILES = False
    ARGUMENTS: Mapping[str, Any] = {}
    RELATIONS: Mapping[str, Any] = {}

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        try:
            module = RemoteModule(self, self.ARGUMENTS, self.RELATIONS)
            module.journal = journal.place(self, task_vars or {})
            self.work(module, Remote(self))
        except Left as end:
            result.update(end.answer)
        return failure.answer(result, self._task, task_vars or {}, self._display.verbosity)

    def work(self, module: RemoteModule, remote: Remote) -> None:
        """Run the module, and leave by module.exit_json or module.fail_json."""
        raise NotImplementedError
