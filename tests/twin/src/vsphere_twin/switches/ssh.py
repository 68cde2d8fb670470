"""SSH in front of the switches: one port for each, terminals that echo and page, and single commands."""

from __future__ import annotations

import contextlib
import logging
from collections import Counter

import asyncssh

from ..shell.interpreter import HungUp, Output
from ..sshd import Doors
from .dialogue import Reply
from .linux import LinuxShell, ShellDialogue
from .terminal import Keys, converse

LOG = logging.getLogger(__name__)
COMPLAINT = "% Error: the command could not be carried out"  # where a plan and a platform have no better words


class SwitchDoors:
    """The SSH servers of all switches of a world."""

    def __init__(self, world, keyring, address="127.0.0.1"):
        self._world = world
        self._doors = Doors(keyring, address, "twin-switches")
        self.endpoints = self._doors.endpoints
        self.authorised_keys = keyring.authorised
        self.connections = {}  # connection: switch
        self.sessions = Counter()  # logins by the switch's name
        self.arrivals = Counter()  # connections by the switch's name, let in or not
        for switch in world.fabric.switches.values():
            switch.hang_ups.append(self._ender(switch))

    def start(self):
        """Listen."""
        self._doors.start(
            {
                switch.name: {
                    "server_factory": self._door(switch),
                    "process_factory": self._serve(switch),
                    "errors": "replace",
                }
                for switch in self._world.fabric.switches.values()
            }
        )

    def stop(self):
        """Close every door and connection, and end the threads."""
        self._doors.stop(self.hang_up)

    def hang_up(self, switch=None):
        """Silently close all connections, or those of one switch."""
        if self._doors.open:
            self._doors.loop.call_soon_threadsafe(self._abort, switch)

    def _ender(self, switch):
        return lambda: self.hang_up(switch)

    def _door(self, switch):
        return lambda: _Door(self, switch)

    def _abort(self, only):
        for connection, switch in list(self.connections.items()):
            if only is None or switch is only:
                connection.abort()

    def _serve(self, switch):
        async def serve(process):
            user = process.get_extra_info("username")
            try:
                if switch.device.interactive:
                    rc = await self._interactive(switch, user, process)
                else:
                    rc = await self._linux(switch, user, process)
            except HungUp:
                process.get_extra_info("connection").abort()
                return
            with contextlib.suppress(BrokenPipeError, ConnectionError):
                process.exit(rc)

        return serve

    async def _interactive(self, switch, user, process):
        dialogue = switch.device.dialogue(user)
        try:
            if process.command is not None:
                dialogue.page_lines = 0
                for line in process.command.splitlines():
                    reply, _prompt = await self._doors.work(carry_out, switch, dialogue, line)
                    _write(process, reply.text)
                    if reply.close:
                        break
                return 0
            await converse(process, dialogue, self._typed(switch, dialogue))
            return 0
        finally:
            with self._world.lock:
                dialogue.left()

    def _typed(self, switch, dialogue):
        async def typed(text, is_answer):
            return await self._doors.work(answer if is_answer else carry_out, switch, dialogue, text)

        return typed

    async def _linux(self, switch, user, process):
        if process.command is None and process.get_terminal_type() is not None:
            dialogue = ShellDialogue(switch, user)
            await converse(process, dialogue, self._typed(switch, dialogue))
            return dialogue.shell.status
        shell = LinuxShell.of(switch, user)

        def emit(stdout, stderr):
            self._doors.loop.call_soon_threadsafe(_show, process, Output(stdout, 0, stderr))

        shell.emit = emit
        if process.command is not None:
            output = await self._doors.work(_run, shell, process.command, self._input(process))
            _show(process, output)
            return output.rc
        keys, output = Keys(process.stdin, None), Output()
        while (line := await keys.line()) is not None:
            output = await self._doors.work(_run, shell, line, str)
            _show(process, output)
            if line.split()[:1] == ["exit"]:
                break
        return output.rc

    def _input(self, process):
        """Return the input of a program: all that arrives, and nothing from a terminal without input."""
        if process.get_terminal_type() is not None:
            return str
        return lambda: self._doors.call(process.stdin.read())


class _Door(asyncssh.SSHServer):
    """Authentication: the users of the switch, with their password or the lab's key, while it accepts connections."""

    def __init__(self, doors, switch):
        self._doors, self._switch, self._connection = doors, switch, None

    def connection_made(self, conn):
        self._connection = conn
        self._doors.arrivals[self._switch.name] += 1
        if self._switch.refusing:
            conn.abort()
            return
        self._doors.connections[conn] = self._switch

    def connection_lost(self, exc):
        self._doors.connections.pop(self._connection, None)

    def begin_auth(self, username):
        if username in self._switch.users:
            self._connection.set_authorized_keys(self._doors.authorised_keys)
        return True

    def auth_completed(self):
        self._doors.sessions[self._switch.name] += 1

    def password_auth_supported(self):
        return True

    def validate_password(self, username, password):
        user = self._switch.users.get(username)
        return user is not None and password == user.password


def carry_out(switch, dialogue, line):
    """(reply to a line that was typed, the prompt after it), with whatever a test planned for that line."""
    with switch.world.lock:
        if isinstance(dialogue, ShellDialogue):  # its programs have their own lines and faults
            return dialogue.run(line), dialogue.prompt()
        switch.lines.append(line.strip())
        fault = switch.faults.take(line)
        if fault is not None and fault.without_effect:
            return _troubled(dialogue, fault)
        reply = _safely(dialogue.run, line)
        switch.world.fabric.settle()
        return (reply, dialogue.prompt()) if fault is None else _troubled(dialogue, fault)


def answer(switch, dialogue, text):
    """Handle the input after a question."""
    with switch.world.lock:
        reply = _safely(dialogue.answer, text)
        switch.world.fabric.settle()
        return reply, dialogue.prompt()


def _troubled(dialogue, fault):
    if fault.hangs_up:
        raise HungUp
    text = fault.text or getattr(dialogue, "COMPLAINT", COMPLAINT)
    return Reply(text if text.endswith("\n") else f"{text}\n"), dialogue.prompt()


def _safely(act, text):
    try:
        return act(text)
    except HungUp:
        raise
    except Exception:
        # A defect of the twin must be seen as one, and not as a switch that hung up.
        LOG.exception("The twin's switch failed at: %s", text)
        return Reply("% Error: the twin failed; its log says where.\n")


def _run(shell, line, stdin):
    try:
        return shell.run(line, stdin)
    except HungUp:
        raise
    except Exception:
        LOG.exception("The twin's shell failed at: %s", line)
        return Output("", 255, "The twin failed; its log says where.\n")


def _show(process, output):
    _write(process, output.stdout)
    if process.get_terminal_type() is not None:
        _write(process, output.stderr)
    else:
        with contextlib.suppress(BrokenPipeError, ConnectionError):
            process.stderr.write(output.stderr)


def _write(process, text):
    """Text as the other side gets it: a terminal has its own ends of lines."""
    with contextlib.suppress(BrokenPipeError, ConnectionError):
        process.stdout.write(text if process.get_terminal_type() is None else text.replace("\n", "\r\n"))
