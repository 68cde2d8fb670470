"""Seconds of processors: of one command with everything that it started, and of the whole machine."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

POLL_S = 0.1
TICKS = os.sysconf("SC_CLK_TCK")
# Fields of /proc/PID/stat after the name of the program: user, system, and both of the children that ended.
OWN = slice(11, 15)


def used_at_end(process: subprocess.Popen, limit_s: float) -> float:
    """Wait until a command ends, leave its exit status to be read, and return what it and its children used."""
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        try:
            if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
                fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
                return sum(map(int, fields[OWN])) / TICKS
        except OSError:
            # An interrupt of the gates has ended and read it.
            return 0.0
        time.sleep(POLL_S)
    raise subprocess.TimeoutExpired(process.args, limit_s)


def of_machine() -> float:
    """Return what all processes of this machine have used since it started, without what other machines took."""
    with Path("/proc/stat").open(encoding="utf-8") as lines:
        user, nice, system, _idle, _wait, irq, softirq = map(int, lines.readline().split()[1:8])
    return (user + nice + system + irq + softirq) / TICKS
