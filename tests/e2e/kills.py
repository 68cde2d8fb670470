"""Playbooks that are killed: the power fails, and nothing of them has time for an orderly end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
import uuid
from pathlib import Path

from rehearse import playbook

MARK = "KILLED_MARK"
PATIENCE_S = 900


def kill_in(lab, tasks, pause_s, arguments):
    """Start a playbook and kill it with all its workers and modules, at once, some time after its n-th task began."""
    seen = 0
    with killed_at_the_end(lab, arguments) as process:
        for line in process.stdout:
            seen += line.startswith("TASK")
            if seen == tasks:
                time.sleep(pause_s)
                break


def kill_when(lab, moment, arguments):
    """Start a playbook and kill it as soon as moment() is true, which has to come."""
    latest = time.monotonic() + PATIENCE_S
    with killed_at_the_end(lab, arguments, stdout=subprocess.DEVNULL) as process:
        while not (seen := moment()) and process.poll() is None and time.monotonic() < latest:
            time.sleep(0.01)
    assert seen, "the moment never came"


@contextlib.contextmanager
def killed_at_the_end(lab, arguments, stdout=subprocess.PIPE):
    """A playbook that runs until the end of the `with`, and then is killed with all its workers and modules."""
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        ["ansible-playbook", *arguments],
        cwd=playbook.ROOT,
        env={**playbook.environment(lab.work), MARK: mark},
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        kill_all(mark)
        process.wait()
        if process.stdout:
            process.stdout.close()


def kill_all(mark):
    """SIGKILL for every process that carries the mark, until none is left."""
    while True:
        carriers = [pid for pid in pids() if carries(pid, mark)]
        if not carriers:
            return
        for pid in carriers:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.05)


def pids():
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def carries(pid, mark):
    try:
        return f"{MARK}={mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False  # ended meanwhile, or somebody else's
