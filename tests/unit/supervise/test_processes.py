"""Which processes are whose, and how they are ended."""

from __future__ import annotations

import subprocess
import sys

import pytest

from supervise import processes

pytestmark = pytest.mark.skipif(not processes.SUPPORTED, reason="processes are found in /proc")


def test_gates_are_those_of_the_checkout_that_they_run_in(tmp_path):
    """Gates of one checkout run tests that make others, whose leftovers they adopt."""
    for name in ("one", "another"):
        (tmp_path / name).mkdir()
    (tmp_path / "one" / "gates.py").write_text("import time; print(flush=True); time.sleep(300)")
    process = subprocess.Popen([sys.executable, "-m", "gates"], cwd=tmp_path / "one", stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        assert processes.runs_gates(process.pid, tmp_path / "one")
        assert not processes.runs_gates(process.pid, tmp_path / "another")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_process_that_nobody_can_end_holds_up_no_command(capfd):
    ghost = 1 << 30  # above every number that a process can have
    assert processes.end(lambda: {ghost}, patience_s=0, killed_s=0) is True
    assert f"Processes [{ghost}] cannot be ended." in capfd.readouterr().err
