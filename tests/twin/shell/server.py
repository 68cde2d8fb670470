"""SSH in front of the shells: one port per host, one thread with an event loop for all of them."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import threading

import asyncssh

from .interpreter import HungUp, Output, Shell

LOG = logging.getLogger(__name__)
USER = "root"
asyncssh.set_log_level(logging.WARNING)
MOST_COMMANDS = 64  # at a time, over all hosts


class Shells:
    """The SSH servers of all hosts of a world."""

    def __init__(self, world, directory, address="127.0.0.1"):
        self._world = world
        self._address = address
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="twin-ssh", daemon=True)
        self._watch = threading.Thread(target=self._drop_the_unreachable, name="twin-ssh-watch", daemon=True)
        self._workers = concurrent.futures.ThreadPoolExecutor(MOST_COMMANDS, thread_name_prefix="twin-shell")
        self._servers, self._stopping = [], False
        self.connections = {}  # connection: host
        self.endpoints = {}
        self.authorised_keys = None
        self.key_file, self.known_hosts_file = directory / "ssh_key", directory / "known_hosts"
        self.password = next(iter(world.users.values()), "")

    def start(self):
        """Make keys, listen, and write down what clients need to know."""
        key = asyncssh.generate_private_key("ssh-ed25519", comment="root of the twin")
        self.key_file.touch(mode=0o600)
        self.key_file.write_bytes(key.export_private_key("openssh"))
        self.authorised_keys = asyncssh.import_authorized_keys(key.export_public_key("openssh").decode())
        self._thread.start()
        known = [self._call(self._listen(host)) for host in self._world.of_kind("HostSystem")]
        self.known_hosts_file.write_text("".join(known), encoding="utf-8")
        self._watch.start()

    def stop(self):
        """Close every door and connection, and end the threads."""
        if not self._thread.is_alive():
            self._loop.close()
            return
        self._stopping = True
        with self._world.changed:
            self._world.changed.notify_all()
        self._watch.join()
        self.hang_up()
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._workers.shutdown(wait=False, cancel_futures=True)

    def hang_up(self, host=None):
        """Close all connections, or those of one host, without a word."""
        self._loop.call_soon_threadsafe(self._abort, host)

    def lets_in(self, host):
        """Whether the host answers on its SSH port now."""
        with self._world.lock:
            service = next((one for one in host.services if one.key == "TSM-SSH"), None)
            return host.running_esxi and service is not None and service.running

    def _call(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _listen(self, host):
        key = asyncssh.generate_private_key("ssh-ed25519")
        server = await asyncssh.listen(
            self._address,
            0,
            server_factory=lambda: _Door(self, host),
            server_host_keys=[key],
            process_factory=self._serve(host),
            server_version="OpenSSH_8.8",
            allow_scp=False,
            agent_forwarding=False,
            keepalive_interval=0,
            line_editor=False,
        )
        self._servers.append(server)
        port = server.get_port()
        self.endpoints[host.name] = (self._address, port)
        return f"[{self._address}]:{port} {key.export_public_key('openssh').decode().strip()}\n"

    async def _close(self):
        for server in self._servers:
            server.close()
        await asyncio.gather(*(server.wait_closed() for server in self._servers))
        # What the connections still have to do ends with them.
        for task in [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]:
            task.cancel()
        await asyncio.sleep(0)

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
            return await self._loop.run_in_executor(self._workers, _run, shell, process.command, self._input(process))
        return await self._interactive(shell, process)

    def _input(self, process):
        """What a program that asks for input gets: all that comes, and nothing from a terminal where nobody types."""
        if process.get_terminal_type() is not None:
            return str
        return lambda: asyncio.run_coroutine_threadsafe(process.stdin.read(), self._loop).result()

    async def _interactive(self, shell, process):
        """Lines one after the other, as from a person or a pipe."""
        last = Output()
        async for line in process.stdin:
            last = await self._loop.run_in_executor(self._workers, _run, shell, line.rstrip("\r\n"), str)
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
    """Who may come in: root with its key or password, while the host answers and is not locked down."""

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
        # Lockdown keeps out whoever is no exception user (VMware vSphere Security, lockdown mode behavior).
        return self._host.lockdown == "lockdownDisabled"


def _run(shell, line, stdin):
    try:
        return shell.run(line, stdin)
    except HungUp:
        raise
    except Exception:
        # A defect of the twin must be seen as one, and not as a host that hung up.
        LOG.exception("The twin's shell failed at: %s", line)
        return Output("", 255, "The twin failed; its log says where.\n")
