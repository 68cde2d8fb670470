"""Ansible's helper of a network connection is a fork of the worker that asks for it, not a new Python for each task."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import subprocess
import sys
import time
from types import SimpleNamespace

# A helper that ends keeps its socket for 0.1 s. A new Python takes longer than that to start; a fork can meet it.
TRIES = 5
ENDING_S = 0.1


def install() -> None:
    """Change how this process and its forks start helpers."""
    from ansible.executor import task_executor

    # The module needs no more of the library than this.
    task_executor.subprocess = SimpleNamespace(PIPE=subprocess.PIPE, Popen=Helper)
    with contextlib.suppress(ImportError):
        nxos = importlib.import_module("ansible_collections.cisco.nxos.plugins.terminal.nxos").TerminalModule
        nxos.terminal_stderr_re = [bounded(one) for one in nxos.terminal_stderr_re]


def bounded(pattern: re.Pattern[bytes]) -> re.Pattern[bytes]:
    """The pattern without the search of a whole line from each of its characters, which JSON on one line makes slow.

    Ansible only asks whether a pattern of an error is found: one character before its words is as good as all of them.
    """
    start = re.match(rb"\((\.\+)(?=[a-z )])", pattern.pattern)
    if start is None:
        return pattern
    return re.compile(b"(." + pattern.pattern[start.end() :], pattern.flags)


class Helper:
    """Those parts of subprocess.Popen that Ansible uses for its helper."""

    def __init__(self, command: list[str], stdin: int, stdout: int, stderr: int, env: dict[str, str]) -> None:
        pipes = [os.pipe() for _stream in (stdin, stdout, stderr)]
        self._pid = os.fork()
        if self._pid == 0:
            _become(command[1:], env, [pipes[0][0], pipes[1][1], pipes[2][1]], [pipes[0][1], pipes[1][0], pipes[2][0]])
        for number in (pipes[0][0], pipes[1][1], pipes[2][1]):
            os.close(number)
        self.stdin = os.fdopen(pipes[0][1], "wb")
        self._said = [os.fdopen(pipes[1][0], "rb"), os.fdopen(pipes[2][0], "rb")]
        self.returncode = 0

    def communicate(self) -> tuple[bytes, bytes]:
        """Wait for its end; its output and its errors."""
        self.stdin.close()
        output, errors = (stream.read() for stream in self._said)
        for stream in self._said:
            stream.close()
        self.returncode = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        return output, errors


def _become(argv: list[str], env: dict[str, str], streams: list[int], others: list[int]) -> None:
    from warm.server import forget_folders, leave, redirect

    code = 1
    try:
        forget_folders()
        for number in others:
            os.close(number)
        os.environ.clear()
        os.environ.update(env)
        redirect(streams)
        sys.argv = argv
        _connect(argv)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        leave(code)


def _connect(argv: list[str]) -> None:
    from ansible.cli.scripts import ansible_connection_cli_stub
    from ansible.module_utils.connection import ConnectionError as Ending

    task, output = sys.stdin.buffer.read(), sys.stdout
    for left in reversed(range(TRIES)):
        sys.stdin, sys.stdout = io.TextIOWrapper(io.BytesIO(task)), output
        try:
            ansible_connection_cli_stub.main(argv)
            return
        except Ending:
            if not left:
                raise
            time.sleep(ENDING_S)
