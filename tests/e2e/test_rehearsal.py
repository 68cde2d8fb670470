"""The rehearsal can fail, and leaves nothing behind. That it passes is what CI asks it itself, after the tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from rehearse import __main__ as rehearsal
from rehearse import center
from supervise.runs import PYTHONPATH

MARK = "REHEARSAL_MARK"


def _heed():
    """The tests themselves may run under nohup or in the background of a script, which is inherited."""
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def mark():
    """A mark that every process of a rehearsal inherits."""
    return uuid.uuid4().hex


@pytest.fixture
def start(mark, tmp_path):
    """Start `python -m rehearse` as make does; what is left of it is killed at the end."""
    started = []

    def start():
        process = subprocess.Popen(
            [sys.executable, "-m", "rehearse", "--stages", "infrastructure", "--results", str(tmp_path)],
            env={**os.environ, "PYTHONPATH": PYTHONPATH, MARK: mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=_heed,  # noqa: PLW1509
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def left_behind(mark):
    """The processes that carry the mark."""
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            carries = f"{MARK}={mark}".encode() in environ.read_bytes()
        except OSError:
            continue  # ended meanwhile, or somebody else's
        if carries:
            found.append(environ.parent.name)
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_interrupted_rehearsal_stops_everything_that_it_started(start, mark, number):
    process = start()
    seen = []
    for line in process.stdout:
        seen.append(line)
        if "STAGE [hosts]" in line:
            process.send_signal(number)
            break
    output = "".join([*seen, *process.stdout])
    process.wait()
    assert process.returncode == 130, output
    assert "was interrupted" in output
    assert "Traceback" not in output
    # Killed processes are gone a moment after their parent.
    until = time.monotonic() + 120
    while (left := left_behind(mark)) and time.monotonic() < until:
        time.sleep(0.05)
    assert left == []


def test_proof_of_the_rehearsal_fails_for_vms_that_were_not_made(lab):
    with pytest.raises(rehearsal.RehearsalFailed, match="job-01 has not been created; job-02 has not been created"):
        center.proof(lab().twin)
    with pytest.raises(rehearsal.RehearsalFailed, match="Not all paths between hosts are lossless with DSCP 26: "):
        center.lossless(lab().twin)
    with pytest.raises(rehearsal.RehearsalFailed):
        rehearsal._play(
            {**os.environ, "PATH": str(Path(sys.executable).parent), "ANSIBLE_COLLECTIONS_PATH": "/nowhere"}
        )
