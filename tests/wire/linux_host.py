"""A Linux system for tests: OpenSSH reaches a real /bin/sh, whose tools print what they printed somewhere else."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
from subprocess import DEVNULL, PIPE

from vsphere_twin.sshd import Doors, Keyring

from . import drive_action

TOOLS = ("dcb", "ethtool")  # these may be installed where the tests run, and so are always replaced


class LinuxHost:
    """files: {path: text} of /sys and /etc; tools: {tool with its arguments: what it prints, or (what, rc)}."""

    def __init__(self, folder, files, tools):
        self.commands = []
        self._folder = folder
        self._bin = folder / "bin"
        self._bin.mkdir(parents=True)
        listed = "\n".join(f"{path}:{line}" for path, text in files.items() for line in text.splitlines())
        self._tool("grep", {"": listed})
        for name in {*TOOLS, *(call.split()[0] for call in tools)}:
            calls = {call: said for call, said in tools.items() if call.split()[0] == name}
            self._tool(name, calls or {"": ("Operation not supported", 1)})

    def _tool(self, name, calls):
        """A program that knows these calls by their beginnings."""
        cases = []
        for call, said in calls.items():
            text, rc = said if isinstance(said, tuple) else (said, 0)
            pattern = f"{shlex.quote(call)}*" if call else "*"
            cases.append(f"{pattern}) printf '%s\\n' {shlex.quote(text)}; exit {rc};;")
        script = self._bin / name
        script.write_text(f'#!/bin/sh\ncase "{name} $*" in\n' + "\n".join(cases) + "\n*) exit 1;;\nesac\n")
        script.chmod(0o755)

    async def _serve(self, process):
        self.commands.append(process.command)
        env = {"PATH": f"{self._bin}:/usr/bin:/bin", "HOME": "/"}
        shell = await asyncio.create_subprocess_exec(
            "/bin/sh", "-c", process.command, env=env, stdin=DEVNULL, stdout=PIPE, stderr=PIPE
        )  # fmt: skip
        out, err = await shell.communicate()
        process.stdout.write(out.decode())
        process.stderr.write(err.decode())
        process.exit(shell.returncode)

    @contextlib.contextmanager
    def running(self):
        """Ansible's connection to it."""
        keyring = Keyring(self._folder)
        doors = Doors(keyring, "127.0.0.1", "linux")
        doors.start({"linux": {"process_factory": self._serve, "authorized_client_keys": keyring.authorised}})
        try:
            with drive_action.ssh(doors.endpoints["linux"], keyring.key_file, keyring.known_hosts_file) as connection:
                yield connection
        finally:
            doors.stop(lambda: None)

    def act(self, module, params, check=False):
        """The answer of a module that runs on it."""
        with self.running() as connection:
            return drive_action.act(connection, module, params, check)
