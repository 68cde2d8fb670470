"""What anybody can see of processes while something happens, in a guest or on this machine."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time

import docker.errors

from .lab import LIMIT_S, until

# Adds what is new to a file until it shall end; a machine that restarts meanwhile keeps it. It knows no secret itself.
LOOK = """
import os, sys, time
file, end, pause = sys.argv[1:]
seen = set()
with open(file, "ab", 0) as reported:
    while not os.path.exists(end):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            for what in ("cmdline", "environ"):
                try:
                    with open(f"/proc/{pid}/{what}", "rb") as source:
                        text = source.read()
                except OSError:
                    continue
                if text not in seen:
                    seen.add(text)
                    reported.write(text + b"\\n")
        time.sleep(float(pause))
"""
# An engine of a guest that is stuck with a container answers nothing about it.
CONTAINERS = "command -v docker >/dev/null && timeout 60 docker ps -aq | xargs -r timeout 60 docker inspect"
DECOY = "a-word-of-no-meaning"


class Processes:
    """Arguments and environments of a guest's processes, and what its engine reports of containers, while it lasts."""

    def __init__(self, guest):
        self._guest, self._ended = guest, threading.Event()
        self._file, self._end = f"/var/tmp/seen-{id(self)}", f"/var/tmp/end-{id(self)}"
        self._containers = set()

    def __enter__(self):
        self._guest.put(self._file, b"")
        self._threads = [threading.Thread(target=self._watch), threading.Thread(target=self._inspect)]
        for thread in self._threads:
            thread.start()
        try:
            self.prove()
        except BaseException:
            self.__exit__()  # else its threads would keep Python from its end
            raise
        return self

    def prove(self):
        """It sees what is shown."""
        decoy = f"{DECOY}-{time.monotonic_ns()}"

        def seen():
            self._guest.run(["sh", "-c", "sleep 0.2; :", decoy])
            return decoy in self._read()

        until(seen)

    def __exit__(self, *_problem):
        self._ended.set()
        self._guest.put(self._end, b"")
        for thread in self._threads:
            thread.join(LIMIT_S)
            assert not thread.is_alive(), f"{thread.name} does not end"
        self.text, self.containers = self._read(), "".join(sorted(self._containers))
        self._guest.run(["rm", "-f", self._file, self._end])

    def _read(self):
        return self._guest.read(self._file) or ""

    def _watch(self):
        while not self._ended.is_set():
            with contextlib.suppress(docker.errors.APIError):  # the machine restarts
                self._guest.run(["python3", "-c", LOOK, self._file, self._end, "0.03"])
            self._ended.wait(0.1)

    def _inspect(self):
        while not self._ended.wait(0.5):
            with contextlib.suppress(docker.errors.APIError):
                self._containers.add(self._guest.run(["sh", "-c", CONTAINERS])[1])


class OwnProcesses:
    """The same of this machine, where Ansible runs."""

    def __init__(self, folder):
        self._file, self._end = folder / "seen", folder / "end"

    def __enter__(self):
        self._process = subprocess.Popen([sys.executable, "-c", LOOK, str(self._file), str(self._end), "0.5"])
        return self

    def __exit__(self, *_problem):
        self._end.touch()
        self._process.wait()
        self.text = self._file.read_text(errors="replace")
