"""Seconds of processors of a command."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gates import processors

# The second process belongs to the first one, which waits for it.
SPINS = "import time\nwhile time.process_time() < 0.2: pass\n"
STARTS = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {SPINS!r}], check=True)\nsys.exit(3)\n"


def test_children_count_and_the_status_stays():
    process = subprocess.Popen([sys.executable, "-c", STARTS])
    assert processors.used_at_end(process, 60) >= 0.2
    assert process.wait() == 3


def test_ended_and_read_command_has_no_figure():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert processors.used_at_end(process, 60) == 0.0


def test_command_over_its_limit_is_reported():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            processors.used_at_end(process, 0.3)
    finally:
        process.communicate(b"\n")


def test_machine_uses_at_least_what_this_test_uses():
    before = processors.of_machine()
    subprocess.run([sys.executable, "-c", SPINS], check=True)
    assert processors.of_machine() - before >= 0.1
