"""Nothing is left of a scenario of molecule and its data centre, however the command ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rehearse import playbook
from supervise import processes, runs

pytestmark = pytest.mark.skipif(shutil.which("molecule") is None, reason="molecule is part of the tools")
PATIENCE_S = 180
# `create` of this scenario starts the data centre as a task that outlives the play.
CREATE = "molecule create -s default"


class Command:
    """A command that is supervised, as those of the Makefile are."""

    def __init__(self, work: Path, program: str):
        clean = {name: value for name, value in os.environ.items() if name not in (runs.RUN, "AIREADY_MAKE")}
        programs = str(Path(sys.executable).parent)
        self.labs = work / "labs"
        self.env = {
            **clean,
            "PATH": os.pathsep.join([programs, clean.get("PATH", os.defpath)]),
            "PYTHONPATH": runs.PYTHONPATH,
            "ANSIBLE_HOME": str(work / "ansible"),
            "MOLECULE_EPHEMERAL_DIRECTORY": str(work / "ephemeral"),
            "AIREADY_LABS": str(self.labs),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "supervise", "sh", "-c", program],
            cwd=playbook.ROOT,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=(work / "log").open("w"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def data_centre(self) -> int:
        """The number of its process, once it answers."""
        endpoint = self.labs / "molecule-lab" / "endpoint.json"
        awaited(lambda: endpoint.exists() or self.process.poll() is not None)
        return json.loads(endpoint.read_text())["pid"]

    def left(self):
        """Processes that have this command's folder of labs in their environment."""
        marks = (b"AIREADY_LABS", os.fsencode(self.labs))
        return [one for one in processes.parents() if processes.environment(one).get(marks[0]) == marks[1]]


def awaited(moment):
    until = time.monotonic() + PATIENCE_S
    while not moment():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.1)


@pytest.fixture
def command(tmp_path):
    # Under nohup a command does not end by it.
    hangup = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    begun = []

    def begin(program):
        begun.append(Command(tmp_path, program))
        return begun[-1]

    yield begin
    signal.signal(signal.SIGHUP, hangup)
    for one in begun:
        one.process.kill()
        one.process.wait()
        for number in one.left():
            os.kill(number, signal.SIGKILL)


def test_a_scenario_that_ends_leaves_no_data_centre(command):
    begun = command(f"{CREATE} && cp -r $AIREADY_LABS/molecule-lab $AIREADY_LABS/seen")
    assert begun.process.wait(PATIENCE_S) == 0
    pid = json.loads((begun.labs / "seen" / "endpoint.json").read_text())["pid"]
    assert pid not in processes.parents()
    assert begun.left() == []


# Each other signal takes the way of SIGINT, see the unit tests of supervise.
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=lambda one: one.name)
def test_a_scenario_that_is_ended_leaves_no_data_centre(command, number):
    begun = command(f"{CREATE} && sleep 600")
    begun.data_centre()
    begun.process.send_signal(number)
    awaited(lambda: not begun.left())
    assert begun.process.wait(PATIENCE_S) != 0


def test_the_next_command_ends_the_data_centre_of_one_of_which_all_was_killed(command):
    begun = command(f"{CREATE} && sleep 600")
    pid = begun.data_centre()
    known = processes.parents()
    front = begun.process.pid
    keeper = next(one for one, parent in known.items() if parent == front)
    (shell,) = [one for one, parent in known.items() if parent == keeper and _word(one, 0) == b"sh"]
    for one in (front, keeper, shell):
        os.kill(one, signal.SIGSTOP)
    for one in (front, keeper, shell):
        os.kill(one, signal.SIGKILL)
    begun.process.wait()
    assert pid in begun.left()
    env = {name: value for name, value in begun.env.items() if name != "AIREADY_LABS"}
    assert subprocess.run([sys.executable, "-m", "supervise", "true"], env=env, check=False).returncode == 0
    assert begun.left() == []


def _word(number, position):
    return Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")[position]
