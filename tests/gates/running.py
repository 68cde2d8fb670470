"""Runs the commands of one gate into its log, and ends them all when the gates are interrupted."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from gates import processors
from supervise.runs import PYTHONPATH

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / ".build"
VENV = BUILD / "venv"
LOGS = BUILD / "gates"
# Ansible's tools write caches, virtual environments and copies below the home: they get one of ours.
HOME = BUILD / "home"
# No command of a gate takes this long, unless it hangs.
LIMIT_S = 5000
# Time limit for commands to end after an interrupt of the gates.
STOP_S = 10


class GateFailed(Exception):
    """A gate failed; the text gives the reason if the log of its commands does not."""


class Running:
    """Commands in progress, so that an interrupt leaves none behind."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: set[subprocess.Popen] = set()
        self.stopped = False

    def start(self, argv: list[str], **options) -> subprocess.Popen:
        """Start a command in a process group of its own."""
        with self._lock:
            if self.stopped:
                raise GateFailed("interrupted")
            process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, start_new_session=True, **options)
            self._processes.add(process)
        return process

    def end(self, process: subprocess.Popen) -> None:
        """End a command with whatever it left running, and forget it."""
        _signal_group(process)
        with self._lock:
            self._processes.discard(process)

    def stop(self) -> None:
        """End all that runs, and start nothing more."""
        with self._lock:
            self.stopped = True
            for process in self._processes:
                _signal_group(process)
            left = list(self._processes)
        until = time.monotonic() + STOP_S
        while any(process.poll() is None for process in left) and time.monotonic() < until:
            time.sleep(0.05)
        for process in left:
            _signal_group(process, signal.SIGKILL)


def _signal_group(process: subprocess.Popen, number: signal.Signals = signal.SIGTERM) -> None:
    # The group may have ended by itself, as a command does that cleans up its processes.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


class Gate:
    """Log of one gate, and methods to run commands into it."""

    def __init__(self, name: str, running: Running) -> None:
        self.name = name
        self.running = running
        self.log = LOGS / f"{name}.log"
        LOGS.mkdir(parents=True, exist_ok=True)
        self.log.write_text("")
        # Notes of a passed gate for the reader, such as skipped checks.
        self.notes: list[str] = []
        self.seconds = 0.0
        # Whether it did nothing, which is no success.
        self.left_out = False
        # Seconds of processors of its commands; what a container engine does for them is not in it.
        self.cpu = 0.0
        # Costs of its tests, see gates.costs.
        self.costs = LOGS / f"{name}.costs"
        self.costs.unlink(missing_ok=True)
        # The last line of pytest, for the end of the whole output.
        self.closing = ""

    def call(self, argv: list[str], cwd: Path = ROOT, env: dict[str, str] | None = None) -> str:
        """Run one command; returns its output, raises GateFailed on any exit status but 0."""
        self.write(f"$ {shlex.join(argv)}\n")
        begin = self.log.stat().st_size
        # Into the file and not through a pipe: a child that is left over would keep a pipe open, and us waiting.
        with self.log.open("a") as log:
            process = self.running.start(argv, cwd=cwd, env=env or environment(), stdout=log, stderr=log)
        try:
            self.cpu += processors.used_at_end(process, LIMIT_S)
            status = process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            raise GateFailed(f"{shlex.join(argv[:3])} ... was stopped after {LIMIT_S} s, the limit of a gate") from None
        finally:
            self.running.end(process)
        if status != 0:
            raise GateFailed(f"{shlex.join(argv[:3])} ... ended with status {status}")
        with self.log.open(errors="replace") as log:
            log.seek(begin)
            return log.read()

    def pytest(
        self, python: str, arguments: list[str], env: dict[str, str] | None = None, cwd: Path | None = None
    ) -> None:
        """Run tests; their number is shown beside the gate, the closing line again at the very end.

        With a folder of their own they belong to another project, whose environment lacks the plugins of this one.
        """
        plugin = ["-p", "gates.costs"] if cwd is None else []
        env = {**(env or environment()), "AIREADY_COSTS": str(self.costs)}
        try:
            self.call([python, "-m", "pytest", "-q", *plugin, *arguments], cwd or ROOT, env)
        finally:
            said = self.log.read_text()
            last = said.rstrip().splitlines()[-1]
            if re.search(r" in [0-9.]+s", last):
                self.closing = last
                self.notes.append(last)
            if waited := waited_in(said):
                self.notes.append(waited)

    def note_skipped(self, pattern: re.Pattern[str]) -> None:
        """Note skipped checks beside the gate, in the words of the log."""
        said = pattern.search(self.log.read_text(errors="replace"))
        if said:
            self.notes.append(said[0])

    def write(self, text: str) -> None:
        """Add to the gate's log."""
        with self.log.open("a") as log:
            log.write(text)


def waited_in(log: str) -> str:
    """Where the test waited that reached pytest's limit, innermost first; empty without one."""
    if not re.search(r"Timeout \(.*\)!$", log, re.MULTILINE):
        return ""
    # The main thread comes last.
    dump = log.rpartition("(most recent call first):")[2]
    frames = re.findall(rf'File "{re.escape(str(ROOT))}/([^".]\S*)", line (\d+) in', dump)
    return "a test waited in " + ", ".join(f"{file}:{line}" for file, line in frames[:5])


def environment(venv: Path = VENV, **more: str) -> dict[str, str]:
    """The environment of a command: our tools first, and nothing that depends on the user's home."""
    HOME.mkdir(parents=True, exist_ok=True)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "MOLECULE_"))}
    env.update(
        HOME=str(HOME),
        XDG_CACHE_HOME=str(HOME / ".cache"),
        PATH=os.pathsep.join([str(venv / "bin"), env.get("PATH", os.defpath)]),
        PYTHONDONTWRITEBYTECODE="1",
        PYTHONPATH=PYTHONPATH,
        ANSIBLE_HOME=str(BUILD / "ansible-home"),
        ANSIBLE_LOCAL_TEMP=os.path.join(tempfile.gettempdir(), "ansible-local"),
        ANSIBLE_COLLECTIONS_PATH=str(BUILD / "collections"),
        NO_COLOR="1",
    )
    env.update(more)
    return env


def tool(name: str) -> str:
    """A program of the virtual environment."""
    return str(VENV / "bin" / name)


PYTHON = sys.executable
