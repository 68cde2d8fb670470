"""Processes as /proc shows them: whose they are, and how all of them are ended."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

PROC = Path("/proc")
SUPPORTED = sys.platform == "linux"
# Programs that go on with all that they started: a container engine is a service.
SERVICES = ("dockerd", "containerd", "containerd-shim")
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
# How long a process may take to end after SIGTERM: a lab removes its containers meanwhile.
PATIENCE_S = 40
# How long after SIGKILL: nobody can end a process that waits for a dead disk, or one of another user.
KILLED_S = 10
PAUSE_S = 0.05


def adopt() -> None:
    """Become the parent of every descendant that loses its own, also of those with a session of their own."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(number: int) -> None:
    """Have the kernel send a signal to this process when its parent ends."""
    _prctl(PR_SET_PDEATHSIG, number)


def _prctl(option: int, value: int) -> None:
    if SUPPORTED and ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl failed")


def parents() -> dict[int, int]:
    """{number: number of the parent} of every process that runs; zombies have ended."""
    found = {}
    for folder in PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            state, parent = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
            if state not in "ZX":
                found[int(folder.name)] = int(parent)
    return found


def descendants(number: int) -> set[int]:
    """All processes below this one, but services and what is below them."""
    children: dict[int, list[int]] = {}
    for one, parent in parents().items():
        children.setdefault(parent, []).append(one)
    found, ahead = set(), [number]
    while ahead:
        for one in children.get(ahead.pop(), []):
            if not is_service(one):
                found.add(one)
                ahead.append(one)
    return found


def is_service(number: int) -> bool:
    """Whether a process stays, see SERVICES."""
    try:
        return (PROC / str(number) / "comm").read_text().strip() in SERVICES
    except OSError:
        return False


def runs_gates(number: int, root: Path) -> bool:
    """Whether a process is `python -m gates` of a checkout, which may run without supervision."""
    process = PROC / str(number)
    try:
        return b"\0-m\0gates\0" in (process / "cmdline").read_bytes() and (process / "cwd").samefile(root)
    except OSError:
        return False


def environment(number: int) -> dict[bytes, bytes]:
    """The environment that a process of this user was started with."""
    try:
        rows = (PROC / str(number) / "environ").read_bytes().split(b"\0")
    except OSError:
        return {}
    return {name: value for name, equals, value in (row.partition(b"=") for row in rows) if equals}


def end(find: Callable[[], Iterable[int]], patience_s: float = PATIENCE_S, killed_s: float = KILLED_S) -> bool:
    """End all processes that find() returns until it returns none: SIGTERM, later SIGKILL. Whether one was killed.

    Those that outlive SIGKILL are named and left.
    """
    until, killed = time.monotonic() + patience_s, False
    asked: set[int] = set()
    while left := set(find()):
        late = time.monotonic() > until
        for one in left if late else left - asked:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(one, signal.SIGKILL if late else signal.SIGTERM)
        asked, killed = asked | left, killed or late
        reap()
        if time.monotonic() > until + killed_s:
            print(f"Processes {sorted(left)} cannot be ended.", file=sys.stderr, flush=True)
            break
        time.sleep(PAUSE_S)
    reap()
    return killed


def reap() -> dict[int, int]:
    """{number: wait status} of children that ended."""
    found = {}
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            found[ended[0]] = ended[1]
    return found
