"""Two processes watch a command: whichever of the three is killed, another one ends what is left.

The front has the terminal and passes signals on. The keeper has a session of its own, starts the command, and is the
parent of everything that the command leaves. Where both are killed, the next command of the checkout does their work.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

from . import processes
from .runs import Run, inside

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
# How long a command may take to end after an interrupt, such as to remove containers. A second signal ends it.
GRACE_S = 60
TICK_S = 0.5
# The number of the make that runs the command: where it was killed, nobody waits for the command.
MAKE = "AIREADY_MAKE"


def run(argv: list[str]) -> int:
    """The exit status of a command, when nothing of it is left."""
    if not processes.SUPPORTED or inside():
        os.execvp(argv[0], argv)
    make = int(os.environ.pop(MAKE, "0") or 0)
    mine = Run.begin()
    processes.adopt()
    # What nohup ignores stays ignored; an interrupt that a shell has jobs in the background ignore is meant here.
    stops = {one for one in STOPS if one != signal.SIGHUP or signal.getsignal(one) is not signal.SIG_IGN}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*stops, signal.SIGCHLD})
    front = os.getpid()
    keeper = os.fork()
    if keeper == 0:
        try:
            status = _keep(argv, mine, stops, before, front)
        except Exception as problem:  # noqa: BLE001 - nothing may go on in the place of the front
            print(f"The command could not be supervised: {problem!r}", file=sys.stderr, flush=True)
            status = 1
        os._exit(status)
    status = _wait(keeper, stops, lambda: os.kill(keeper, signal.SIGTERM), make)
    if status < 0:  # the keeper was killed
        processes.end(lambda: processes.descendants(front))
    mine.close()
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return _as_shells_say(status)


def _keep(argv: list[str], mine: Run, stops: set, before: set, front: int) -> int:
    os.setsid()
    mine.kept_by(os.getpid())
    processes.adopt()
    processes.die_with_parent(signal.SIGTERM)
    command = os.fork()
    if command == 0:
        _become(argv, mine, before)
    if os.getppid() != front:
        os.kill(os.getpid(), signal.SIGTERM)
    until: list[float] = []

    def stop() -> None:
        if until:  # a second signal
            os.killpg(command, signal.SIGKILL)
        else:
            until.append(time.monotonic() + GRACE_S)
            os.killpg(command, signal.SIGINT)

    def late() -> None:
        if until and time.monotonic() > until[0]:
            os.killpg(command, signal.SIGKILL)

    status = _wait(command, stops, stop, 0, late)
    processes.end(lambda: processes.descendants(os.getpid()))
    if os.getppid() != front:
        mine.close()
    return _as_shells_say(status)


def _become(argv: list[str], mine: Run, mask: set) -> None:
    """Be the command, which begins as from a shell."""
    try:
        os.setsid()
        processes.die_with_parent(signal.SIGINT)
        for one in (signal.SIGINT, signal.SIGQUIT):
            signal.signal(one, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.execvpe(argv[0], argv, mine.environment())
    except OSError as problem:
        print(f"{argv[0]} cannot be started: {problem.strerror}.", file=sys.stderr, flush=True)
    finally:
        os._exit(127)


def _wait(child: int, stops: set, stop, make: int, tick=lambda: None) -> int:
    """The exit status of a child, or the negative number of the signal that ended it."""
    while True:
        got = signal.sigtimedwait({*stops, signal.SIGCHLD}, TICK_S)
        ended = processes.reap()
        if child in ended:
            return os.waitstatus_to_exitcode(ended[child])
        with contextlib.suppress(ProcessLookupError):
            if got is not None and got.si_signo in stops:
                stop()
            elif make and not _lives(make):
                make = 0
                stop()
            tick()


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _as_shells_say(status: int) -> int:
    return status if status >= 0 else 128 - status


def self_supervised() -> int | None:
    """Run this program once more under supervision; its exit status, or None where this process is that one already."""
    if not processes.SUPPORTED or inside():
        return None
    return run([sys.executable, *sys.orig_argv[1:]])
