"""SSH in front of the shells: one port per host."""

from __future__ import annotations

import contextlib
import logging
import threading

import asyncssh

from ..sshd import Doors
from .interpreter import HungUp, Output, Shell

LOG = logging.getLogger(__name__)
USER = "root"


class Shells:
    """The SSH servers of all hosts of a world."""

    def __init__(self, world, keyring, address="127.0.0.1"):
        self._world = world
        self._doors = Doors(keyring, address, "twin-ssh")
        self._watch = threading.Thread(target=self._drop_the_unreachable, name="twin-ssh-watch", daemon=True)
        self._stopping = False
        self.connections = {}  # connection: host
        self.endpoints = self._doors.endpoints
        self.authorised_keys = keyring.authorised
        self.password = next(iter(world.users.values()), "")

    def start(self):
        """Listen, and write the connection data for clients."""
        self._doors.start(
            {
                host.name: {"server_factory": self._door(host), "process_factory": self._serve(host)}
                for host in self._world.of_kind("HostSystem")
            }
        )
        self._watch.start()

    def stop(self):
        """Close every door and connection, and end the threads."""
        if self._doors.open:
            self._stopping = True
            with self._world.changed:
                self._world.changed.notify_all()
            self._watch.join()
        self._doors.stop(self.hang_up)

    def hang_up(self, host=None):
        """Silently close all connections, or those of one host."""
        self._doors.loop.call_soon_threadsafe(self._abort, host)

    def lets_in(self, host):
        """Return whether the host answers on its SSH port now."""
        with self._world.lock:
            service = next((one for one in host.services if one.key == "TSM-SSH"), None)
            return host.running_esxi and service is not None and service.running

    def _door(self, host):
        return lambda: _Door(self, host)

    def _serve(self, host):
        async def serve(process):
            try:
                output = await self._answer(host, process)
            except HungUp:
                process.get_extra_info("connection").abort()
                return
            with contextlib.suppress(BrokenPipeError, ConnectionError):
                process.stdout.write(output.stdout)
                (process.stderr if process.get_terminal_type() is None else process.stdout).write(output.stderr)
            process.exit(output.rc)

        return serve

    async def _answer(self, host, process):
        shell = Shell(self._world, host)
        if process.command is not None:
            return await self._doors.work(_run, shell, process.command, self._input(process))
        return await self._interactive(shell, process)

    def _input(self, process):
        """Return the input of a program: all that arrives, and nothing from a terminal without input."""
        if process.get_terminal_type() is not None:
            return str
        return lambda: self._doors.call(process.stdin.read())

    async def _interactive(self, shell, process):
        """Lines one after the other, as from a person or a pipe."""
        last = Output()
        async for line in process.stdin:
            last = await self._doors.work(_run, shell, line.rstrip("\r\n"), str)
            process.stdout.write(last.stdout)
            process.stderr.write(last.stderr)
            if line.split()[:1] == ["exit"]:
                break
        return Output("", last.rc)

    def _abort(self, only):
        for connection, host in list(self.connections.items()):
            if only is None or host is only:
                connection.abort()

    def _drop_the_unreachable(self):
        world = self._world
        with world.changed:
            while not self._stopping:
                for host in list(self.connections.values()):
                    if not host.running_esxi:
                        self.hang_up(host)
                world.changed.wait(1.0)


class _Door(asyncssh.SSHServer):
    """Authentication: root with its key or password, while the host answers and is not in lockdown mode."""

    def __init__(self, shells, host):
        self._shells, self._host, self._connection = shells, host, None

    def connection_made(self, conn):
        self._connection = conn
        if not self._shells.lets_in(self._host):
            conn.abort()
            return
        self._shells.connections[conn] = self._host

    def connection_lost(self, exc):
        self._shells.connections.pop(self._connection, None)

    def begin_auth(self, username):
        if username == USER and self._open():
            self._connection.set_authorized_keys(self._shells.authorised_keys)
        return True

    def password_auth_supported(self):
        return True

    def validate_password(self, username, password):
        return self._open() and username == USER and password == self._shells.password

    def _open(self):
        # Lockdown mode rejects all but its exception users (VMware vSphere Security, lockdown mode behavior).
        return self._host.lockdown == "lockdownDisabled" or USER in self._host.lockdown_exceptions


def _run(shell, line, stdin):
    try:
        return shell.run(line, stdin)
    except HungUp:
        raise
    except Exception:
        # A defect of the twin must be seen as one, and not as a host that hung up.
        LOG.exception("The twin's shell failed at: %s", line)
        return Output("", 255, "The twin failed; its log says where.\n")
