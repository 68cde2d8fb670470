"""Playbooks that are killed: the power fails, and nothing of them has time for an orderly end."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
import uuid
from pathlib import Path

from rehearse import playbook
from warm import client
from warm.server import NAME

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
    process.stdout.close()


def kill_when(lab, moment, arguments):
    """Start a playbook and kill it as soon as moment() is true, which has to come."""
    latest = time.monotonic() + PATIENCE_S
    with killed_at_the_end(lab, arguments) as process:
        # Nobody reads its output, which must not stop it.
        reader = threading.Thread(target=process.stdout.read)
        reader.start()
        while not (seen := moment()) and process.poll() is None and time.monotonic() < latest:
            time.sleep(0.01)
    reader.join()
    process.stdout.close()
    assert seen, "the moment never came"


@contextlib.contextmanager
def killed_at_the_end(lab, arguments):
    """A playbook that runs until the end of the `with`, and then is killed with all its workers and modules."""
    mark = uuid.uuid4().hex[:15]
    env = {**playbook.environment(lab.work), NAME: mark}
    process = client.start(["ansible-playbook", *arguments], playbook.ROOT, env)
    assert process is not None, "The environment is not that of forks."
    try:
        yield process
    finally:
        kill_all(mark)
        process.wait()


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
    """Forks have the mark as their name, and programs that they started have it in their environment."""
    try:
        named = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").partition(f"({mark}) ")[2]
        # A process that has ended keeps its name until its parent asks for its status.
        if named:
            return named[0] not in "ZX"
        return f"{NAME}={mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False  # ended meanwhile, or somebody else's
