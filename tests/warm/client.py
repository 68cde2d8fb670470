"""Ask a warm server for a playbook, or make others ask it."""

from __future__ import annotations

import array
import atexit
import contextlib
import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO

# Python, Ansible and the collection read these as they are imported: a fork cannot have others.
IMPORTED = (
    "ANSIBLE_ANY_ERRORS_FATAL",
    "ANSIBLE_COLLECTIONS_PATH",
    "ANSIBLE_FORCE_COLOR",
    "ANSIBLE_LOG_PATH",
    "ANSIBLE_NOCOLOR",
    "ANSIBLE_PIPELINING",
    "ANSIBLE_STRATEGY",
    "ANSIBLE_TIMEOUT",
    "HOME",
    "LANG",
    "LC_ALL",
    "NO_COLOR",
    "PYTHONPATH",
    "TZ",
)
# Those of most playbooks of tests.
USUAL = {"ANSIBLE_NOCOLOR": "1", "ANSIBLE_PIPELINING": "true", "ANSIBLE_TIMEOUT": "60"}
# A program that has its own script's work done by a server: it hands its input, output and environment over, passes
# signals on, and ends as reported. Where a fork would not be what a new process is, it becomes the script.
STUB = """\
#!{python}
import array, json, os, signal, socket, sys
env = dict(os.environ)
line = socket.socket(socket.AF_UNIX)
order = {{"program": {program!r}, "argv": sys.argv, "folder": os.getcwd(), "env": env}}
rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
try:
    if any(env.get(name) != value for name, value in {needs!r}.items()):
        raise ValueError
    line.connect({path!r})
    data = json.dumps(order).encode() + b"\\n"
    line.sendall(data[line.sendmsg([data], rights):])
    answers = line.makefile()
    pid = int(answers.readline())
except (OSError, ValueError):
    os.execv(sys.executable, [sys.executable, {script!r}, *sys.argv[1:]])
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, lambda number, frame: os.kill(pid, number))
status = int((answers.readline() or "1").split()[0])
sys.exit(status if status >= 0 else 128 - status)
"""
# Seconds of processors that the server's forks used; they are not children of this process.
used = [0.0]


class NoServer(Exception):
    """The server did not start."""


class Process:
    """A forked playbook, with those parts of subprocess.Popen that callers need."""

    def __init__(self, line: socket.socket, stdout: IO[str]) -> None:
        self._line, self.stdout = line, stdout
        self._lock = threading.Lock()
        self.pid = int(self._said())
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status, negative for the signal that ended it."""
        with self._lock:
            if self.returncode is None:
                if not select.select([self._line], [], [], timeout)[0]:
                    raise subprocess.TimeoutExpired("ansible-playbook", timeout or 0)
                status, seconds = self._said().split()
                self.returncode = int(status)
                used[0] += float(seconds)
                self._line.close()
            return self.returncode

    def poll(self) -> int | None:
        """Its exit status, or None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.wait(timeout=0)
        return None

    def _said(self) -> bytes:
        """The next line of the server's answer."""
        line = b""
        while not line.endswith(b"\n"):
            piece = self._line.recv(1)
            if not piece:
                raise RuntimeError("The warm server ended before the playbook did.")
            line += piece
        return line


def start(command: list[str], folder: Path, env: dict[str, str]) -> Process | None:
    """ansible-playbook with these arguments in a session of its own, its output and errors in stdout.

    None where a fork would not be what a new process is.
    """
    if any(env.get(name) != value for name, value in server().imported.items()):
        return None
    read, write = os.pipe()
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        order = {"program": "playbook", "argv": command, "folder": str(folder), "env": env}
        line = server().order(order, [nothing, write, write])
    finally:
        os.close(nothing)
        os.close(write)
    return Process(line, os.fdopen(read))


class Server:
    """The process that forks; it ends with this one. Its forks are for those whose environment is as this one."""

    def __init__(self, env: dict[str, str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="warm-")
        self.path = str(Path(self._folder.name, "s"))
        self.imported = {name: env.get(name) for name in IMPORTED}
        env = {**env, "ANSIBLE_LOCAL_TEMP": self._folder.name, "ANSIBLE_HOME": self._folder.name}
        env.pop("ANSIBLE_CONFIG", None)
        command = [sys.executable, "-m", "warm.server", self.path]
        # In a session of its own: what interrupts this process ends the server by the end of its input.
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, start_new_session=True
        )
        atexit.register(self.close)
        if not self._process.stdout or self._process.stdout.readline() != b"ready\n":
            raise NoServer("Its own errors are above.")

    def order(self, order: dict, streams: list[int]) -> socket.socket:
        """Hand an order and the streams for its output over; the connection on which the server answers."""
        line = socket.socket(socket.AF_UNIX)
        line.connect(self.path)
        data = json.dumps(order).encode() + b"\n"
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", streams))]
        sent = line.sendmsg([data], rights)
        line.sendall(data[sent:])
        return line

    def stub(self, file: Path, program: str, script: str, needs: dict[str, str | None]) -> None:
        """Write a program that has the server do what the script does, where its environment has what it needs."""
        text = STUB.format(python=sys.executable, program=program, path=self.path, script=script, needs=needs)
        file.write_text(text, encoding="utf-8")
        file.chmod(0o700)

    def close(self) -> None:
        """End it and remove what it wrote."""
        if self._process.poll() is None:
            if self._process.stdin:
                self._process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=10)
            if self._process.poll() is None:
                self._process.send_signal(signal.SIGKILL)
        self._folder.cleanup()


@functools.cache
def server() -> Server:
    """The server of this process, started when it is needed first."""
    return Server({**os.environ, **USUAL})
