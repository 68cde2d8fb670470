# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Sessions with switches, on the controller: a command line over network_cli, or a Linux shell over ssh."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import signal
import socket
import struct
import time
from typing import TYPE_CHECKING, Iterable

from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.executor.task_executor import start_connection
from ansible.module_utils.connection import Connection, recv_data, send_data
from ansible.module_utils.connection import ConnectionError as HelperError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Lost, NoLogin, Refused, Session
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import SSH_ENDED

if TYPE_CHECKING:
    from ansible.plugins.action import ActionBase
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Platform

# Extra time of Ansible's helper beyond its limit for a command, and its time to end on request.
SLACK_S, END_S = 30, 5
# Messages of netcommon's libssh and paramiko, and of OpenSSH, for a session that was not opened.
NO_LOGIN = re.compile(
    r"ssh connection failed|ssh connect failed|authenticity of host|not accept the host key|"
    r"connect to host|Could not resolve|Permission denied|Authentication fail|key verification failed|"
    r"kex_exchange_identification",
    re.IGNORECASE,
)


def session_of(action: ActionBase, host: str, platform: Platform) -> CliSession | ShellSession:
    """The session over the connection of the play."""
    persistent = getattr(action._connection, "socket_path", None) is not None
    if platform.shell == persistent:
        wanted = "ssh" if platform.shell else "ansible.netcommon.network_cli"
        raise OperatorError(
            host,
            f"cannot connect to {platform.title}",
            f"ansible_connection is {action._play_context.connection or action._connection.transport}, not {wanted}",
            f"Set ansible_connection to {wanted} for this switch",
            "wrong_connection",
        )
    return ShellSession(action, host) if platform.shell else CliSession(action, host)


class Helper(Connection):
    """Ansible's helper process of a command line, which may have died or may not answer."""

    def __init__(self, socket_path: str, limit_s: float) -> None:
        super().__init__(socket_path)
        self.limit_s = limit_s
        self.process = 0  # the number of the helper process, where the system reports it

    def send(self, data: str) -> str:
        try:
            with self._line() as line:
                send_data(line, data.encode())
                answer = recv_data(line)
        except OSError as trouble:
            raise HelperError(f"Ansible's helper process at {self.socket_path} does not answer: {trouble}") from trouble
        if answer is None:
            raise HelperError(f"Ansible's helper process at {self.socket_path} ended before it answered")
        return answer.decode("utf-8", "surrogateescape")

    def end(self) -> None:
        """Close the session. A helper that does not close it within some seconds is killed; its socket is removed.

        The old helper removes the socket last: a new one must not be started before.
        """
        answered = False
        self.limit_s = END_S
        with contextlib.suppress(HelperError):
            self.reset()
            answered = True
        until = time.monotonic() + END_S
        while (self.process or answered) and os.path.exists(self.socket_path) and time.monotonic() < until:
            time.sleep(0.02)
        if self.process and os.path.exists(self.socket_path):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self.process, signal.SIGKILL)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.socket_path)

    def _line(self) -> socket.socket:
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.settimeout(self.limit_s)
        try:
            line.connect(self.socket_path)
            # None of this is in `socket` on a system that reports it in another way.
            with contextlib.suppress(AttributeError):
                self.process = struct.unpack("3i", line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        except OSError as trouble:
            line.close()
            if isinstance(trouble, (ConnectionRefusedError, FileNotFoundError)):
                self.process = 0  # it is gone; its number may be another's by now
            raise
        return line


class CliSession(Session):
    """A command line; Ansible keeps it open between the tasks of a play."""

    def __init__(self, action: ActionBase, name: str) -> None:
        self.name = name
        self._action = action
        self._open(action._connection.socket_path)

    def run(self, command: str, answers: Iterable[tuple[str, str]] = ()) -> str:
        asked = [pattern for pattern, _typed in answers]
        typed = [text for _pattern, text in answers]
        try:
            text = self._device.get(command=command, prompt=asked or None, answer=typed or None, check_all=False)
        except HelperError as trouble:
            judged = self._judged(command, str(trouble))
            if isinstance(judged, Lost):
                self._device.end()
            raise judged from trouble
        if text is None:
            self._device.end()
            raise Lost(command, "the switch closed the session")
        return text

    def reconnect(self) -> None:
        self._device.end()
        connection, task = self._action._connection, self._action._task
        try:
            path = start_connection(self._action._play_context, connection.get_options(), task._uuid)
        except AnsibleError as trouble:
            raise Lost("login", str(trouble)) from trouble
        connection._socket_path = path
        self._open(path)
        # The helper logs in with the first command.
        self.run("")

    def _open(self, path: str) -> None:
        limit = self._action._connection.get_option("persistent_command_timeout")
        self._device = Helper(path, float(limit) + SLACK_S)

    def _judged(self, command: str, trouble: str) -> Lost | Refused:
        """A rejection, or the end of the connection: a live switch answers an empty line."""
        if NO_LOGIN.search(trouble):
            return NoLogin(command, trouble)
        if "timeout triggered" in trouble:
            # A later answer would be taken for the answer to the next command.
            return Lost(command, trouble)
        try:
            self._device.get(command="")
        except HelperError:
            return Lost(command, trouble)
        return Refused(command, complaint(trouble, command))


def complaint(trouble: str, command: str) -> str:
    """The output of the switch, without the echo before it, the prompt after it and the marks of bytes around it."""
    if trouble.startswith(("b'", 'b"')):
        with contextlib.suppress(ValueError, SyntaxError):
            trouble = ast.literal_eval(trouble).decode(errors="replace")
    lines = [line.strip() for line in trouble.replace("\r", "\n").split("\n")]
    lines = [line for line in lines if line and line != command.strip()]
    # The last line is the prompt, unless it is all there is.
    return " ".join(lines[:-1] or lines)


class ShellSession(Session):
    """A Linux shell; each command is one of its own over the same ssh connection."""

    def __init__(self, action: ActionBase, name: str) -> None:
        self.name = name
        self._action = action

    def run(self, command: str, answers: Iterable[tuple[str, str]] = ()) -> str:
        try:
            answer = self._action._low_level_execute_command(command, sudoable=True)
        except AnsibleConnectionFailure as trouble:
            kind = NoLogin if NO_LOGIN.search(str(trouble)) else Lost
            raise kind(command, str(trouble)) from trouble
        if answer["rc"] != 0:
            # With become there is a terminal, which mixes both outputs; ssh adds a line of its own.
            lines = f"{answer['stdout']}\n{answer['stderr']}".splitlines()
            said = [line.strip() for line in lines if line.strip() and not SSH_ENDED.match(line)]
            raise Refused(command, " ".join(said) or f"it ended with {answer['rc']}")
        return answer["stdout"]

    def reconnect(self) -> None:
        self._action._connection.reset()
        self.run("true")
