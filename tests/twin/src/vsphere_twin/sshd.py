"""Common parts of every SSH server of the twin: keys, one thread with an event loop, and threads for blocking calls."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading

import asyncssh

asyncssh.set_log_level(logging.WARNING)
MOST_COMMANDS = 64  # at a time, over all machines of a face


class Keyring:
    """The one key that lets its owner in everywhere, and the machines' own keys as OpenSSH keeps them."""

    def __init__(self, directory):
        key = asyncssh.generate_private_key("ssh-ed25519", comment="operator of the twin")
        self.key_file, self.known_hosts_file = directory / "ssh_key", directory / "known_hosts"
        self.key_file.touch(mode=0o600)
        self.key_file.write_bytes(key.export_private_key("openssh"))
        self.known_hosts_file.touch()
        self.authorised = asyncssh.import_authorized_keys(key.export_public_key("openssh").decode())

    def know(self, lines):
        """Add keys of machines."""
        with self.known_hosts_file.open("a", encoding="utf-8") as known:
            known.writelines(lines)


class Doors:
    """The SSH servers of some machines, each on a port of its own."""

    def __init__(self, keyring, address, name):
        self.keyring = keyring
        self.address = address
        self.loop = asyncio.new_event_loop()
        self.endpoints = {}
        self._thread = threading.Thread(target=self.loop.run_forever, name=name, daemon=True)
        self._workers = concurrent.futures.ThreadPoolExecutor(MOST_COMMANDS, thread_name_prefix=f"{name}-work")
        self._servers = []

    @property
    def open(self):
        """Return whether the thread runs."""
        return self._thread.is_alive()

    def start(self, machines):
        """Listen for each machine: {name: options of asyncssh.listen}."""
        self._thread.start()
        self.keyring.know(self.call(self._listen_all(machines)))

    def stop(self, hang_up):
        """Close every socket, the connections, and the threads."""
        if not self.open:
            self.loop.close()
            return
        hang_up()
        self.call(self._close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()
        self._workers.shutdown(wait=False, cancel_futures=True)

    def call(self, work):
        """The result of a coroutine, for any other thread."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    async def work(self, function, *arguments):
        """The result of a function that may block."""
        return await self.loop.run_in_executor(self._workers, function, *arguments)

    async def _listen_all(self, machines):
        return [await self._listen(name, options) for name, options in machines.items()]

    async def _listen(self, name, options):
        key = asyncssh.generate_private_key("ssh-ed25519")
        server = await asyncssh.listen(
            self.address,
            0,
            server_host_keys=[key],
            server_version="OpenSSH_8.8",
            allow_scp=False,
            agent_forwarding=False,
            keepalive_interval=0,
            line_editor=False,
            **options,
        )
        self._servers.append(server)
        port = server.get_port()
        self.endpoints[name] = (self.address, port)
        return f"[{self.address}]:{port} {key.export_public_key('openssh').decode().strip()}\n"

    async def _close(self):
        for server in self._servers:
            server.close()
        await asyncio.gather(*(server.wait_closed() for server in self._servers))
        # Pending tasks of the connections end with them.
        for task in [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]:
            task.cancel()
        await asyncio.sleep(0)
