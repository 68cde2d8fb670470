# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Sessions with switches, on the controller: a command line over network_cli, or a Linux shell over ssh."""

from __future__ import annotations

import ast
import contextlib

from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.executor.task_executor import start_connection
from ansible.module_utils.connection import Connection
from ansible.module_utils.connection import ConnectionError as HelperError
from ansible_collections.aiready.vsphere.plugins.module_utils.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.roce.session import Lost, Refused, Session
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote import SSH_ENDED


def session_of(action, host, platform):
    """The session that the play's connection is."""
    persistent = getattr(action._connection, "socket_path", None) is not None
    if platform.shell == persistent:
        wanted = "ssh" if platform.shell else "ansible.netcommon.network_cli"
        raise OperatorError(
            host,
            f"{platform.title} is reached through {wanted}",
            f"ansible_connection is {action._play_context.connection or action._connection.transport}",
            f"Set ansible_connection to {wanted} for this switch",
            "wrong_connection",
        )
    return ShellSession(action, host) if platform.shell else CliSession(action, host)


class CliSession(Session):
    """A command line; Ansible keeps it open between the tasks of a play."""

    def __init__(self, action, name):
        self.name = name
        self._action = action
        self._device = Connection(action._connection.socket_path)

    def run(self, command, answers=()):
        asked = [pattern for pattern, _typed in answers]
        typed = [text for _pattern, text in answers]
        try:
            text = self._device.get(command=command, prompt=asked or None, answer=typed or None, check_all=False)
        except HelperError as trouble:
            raise self._judged(command, str(trouble)) from trouble
        if text is None:
            raise Lost(command, "the switch closed the session")
        return text

    def reconnect(self):
        with contextlib.suppress(HelperError):  # Ansible's helper process may be gone already.
            self._device.reset()
        connection, task = self._action._connection, self._action._task
        try:
            path = start_connection(self._action._play_context, connection.get_options(), task._uuid)
        except AnsibleError as trouble:
            raise Lost("login", str(trouble)) from trouble
        connection._socket_path = path
        self._device = Connection(path)
        # The helper logs in with the first command.
        self.run("")

    def _judged(self, command, trouble):
        """A refusal, or the end of the connection: an empty line is answered as long as somebody is there."""
        if "timeout triggered" in trouble:
            # What comes later would be taken for the answer to the next command.
            return Lost(command, trouble)
        try:
            self._device.get(command="")
        except HelperError:
            return Lost(command, trouble)
        return Refused(command, complaint(trouble, command))


def complaint(trouble, command):
    """What the switch said, without the echo before it, the prompt after it and the marks of bytes around it."""
    if trouble.startswith(("b'", 'b"')):
        with contextlib.suppress(ValueError, SyntaxError):
            trouble = ast.literal_eval(trouble).decode(errors="replace")
    lines = [line.strip() for line in trouble.replace("\r", "\n").split("\n")]
    lines = [line for line in lines if line and line != command.strip()]
    # The last line is the prompt, unless it is all there is.
    return " ".join(lines[:-1] or lines)


class ShellSession(Session):
    """A Linux shell; each command is one of its own over the same ssh connection."""

    def __init__(self, action, name):
        self.name = name
        self._action = action

    def run(self, command, answers=()):
        try:
            answer = self._action._low_level_execute_command(command, sudoable=True)
        except AnsibleConnectionFailure as trouble:
            raise Lost(command, str(trouble)) from trouble
        if answer["rc"] != 0:
            # With become there is a terminal, which mixes both outputs; ssh adds a line of its own.
            lines = f"{answer['stdout']}\n{answer['stderr']}".splitlines()
            said = [line.strip() for line in lines if line.strip() and not SSH_ENDED.match(line)]
            raise Refused(command, " ".join(said) or f"it ended with {answer['rc']}")
        return answer["stdout"]

    def reconnect(self):
        self._action._connection.reset()
        self.run("true")
