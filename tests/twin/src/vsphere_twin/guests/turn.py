"""Let one of several processes on this machine build a shared file, and the others wait for it."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path


@contextlib.contextmanager
def turn(say):
    """Admit one process at a time, so that none repeats a build or uses half of one."""
    # Commands have folders of their own for temporary files, and this is one for all of them.
    with Path(f"/tmp/aiready-lab-{os.getuid()}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another process makes what labs need on this machine; waiting for it.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
