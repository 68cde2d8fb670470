"""The gates that need a container engine: tests on guests that are real Linux, and some scenarios of roles."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile

from gates.running import BUILD, PYTHON, Gate, GateFailed, environment, tool

# Where no engine can be had, nothing is tried on guests, and this is said; with AIREADY_ENGINE=required it fails.
# Failed tasks that are told once more, and how much of each.
TOLD, LONGEST = 5, 3000
SKIPPED = re.compile(r"no guests: [^\"\n]+")


def guests(gate: Gate) -> None:
    """One pytest in one process: all tests share a lab, whose guests are up once."""
    _make_images(gate)
    gate.pytest(PYTHON, ["--durations=15", "-rs", "tests/guests"])
    gate.note_skipped(SKIPPED)


def molecule(gate: Gate) -> None:
    """Every scenario of the roles, from nothing: what an earlier run left would be taken for done."""
    state = BUILD / "molecule"
    shutil.rmtree(state, ignore_errors=True)
    env = environment(ANSIBLE_HOME=str(state / "ansible-home"), MOLECULE_EPHEMERAL_DIRECTORY=str(state / "ephemeral"))
    # The labs' folders go with the command that runs the gates.
    env["AIREADY_LABS"] = tempfile.gettempdir()
    try:
        gate.call([tool("molecule"), "test", "--all"], env=env)
    except GateFailed as failure:
        # Scenarios that were to come fill the end of the log, which is all that may be seen of it.
        raise GateFailed("\n".join([*_failures(gate.log.read_text(errors="replace")), str(failure)])) from None
    gate.note_skipped(SKIPPED)


def _failures(log: str) -> list[str]:
    """What tasks failed of, each with its task: the last few, cut where they are long."""
    found, task = [], ""
    for line in log.splitlines():
        if line.startswith("TASK ["):
            task = line.rstrip("* ")
        elif line.startswith(("fatal: [", "failed: [")):
            found.append(f"{task}\n{line[:LONGEST]}")
    return found[-TOLD:]


def _make_images(gate: Gate) -> None:
    """Beforehand, and not within the time that a test has; without an engine the tests say what is missing."""
    required = os.environ.get("AIREADY_ENGINE") == "required"
    with contextlib.nullcontext() if required else contextlib.suppress(GateFailed):
        gate.call([PYTHON, "-m", "vsphere_twin.guests", "setup" if required else "images"])
