"""The gates that need a container engine: tests on guests that are real Linux, and some scenarios of roles."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile

import yaml

from gates import forks
from gates.running import BUILD, PYTHON, ROOT, Gate, GateFailed, environment, tool
from guests import engines
from turns import due

# Without a container engine no guest is tested, and the gate reports that; with AIREADY_ENGINE=required it fails.
# Number of failed tasks to repeat in the report, and their maximum length.
SHOWN, LONGEST = 5, 3000
SKIPPED = re.compile(r"no guests: [^\"\n]+")


def guests(gate: Gate) -> None:
    """Run one pytest in one process: all tests share a lab, whose guests start once."""
    _make_images(gate)
    if due(engines.TURN, of=engines.EVERY):
        _make_images(gate, "engines")
    else:
        gate.notes.append(f"without DeepSpeed and Ray: only one commit out of {engines.EVERY} trains with them")
    gate.pytest(PYTHON, ["--durations=15", "-rs", "tests/guests"])
    gate.note_skipped(SKIPPED)


def molecule(gate: Gate) -> None:
    """Run every scenario of the roles, from nothing: remains of an earlier run would count as done.

    Its playbooks are forks of a warm server. Without this gate, molecule starts processes.
    """
    state = BUILD / "molecule"
    shutil.rmtree(state, ignore_errors=True)
    env = environment(ANSIBLE_HOME=str(state / "ansible-home"), MOLECULE_EPHEMERAL_DIRECTORY=str(state / "ephemeral"))
    # The labs' folders go with the command that runs the gates.
    env["AIREADY_LABS"] = tempfile.gettempdir()
    try:
        with forks.playbooks(env, state / "bin", _of_scenarios()) as forking:
            gate.call([tool("molecule"), "test", "--all"], env=forking)
    except GateFailed as failure:
        # Scenarios that were to come fill the end of the log, which is all that may be seen of it.
        raise GateFailed("\n".join([*_failures(gate.log.read_text(errors="replace")), str(failure)])) from None
    gate.note_skipped(SKIPPED)


def _of_scenarios() -> dict[str, str]:
    """Return the variables that the configuration of molecule adds to the environment of its playbooks."""
    text = (ROOT / "extensions" / "molecule" / "config.yml").read_text(encoding="utf-8")
    added = yaml.safe_load(text)["ansible"]["env"]
    return {name: value.replace("${MOLECULE_PROJECT_DIRECTORY}", str(ROOT)) for name, value in added.items()}


def _failures(log: str) -> list[str]:
    """Return the reasons of failed tasks, each with its task: the last few, shortened."""
    found, task = [], ""
    for line in log.splitlines():
        if line.startswith("TASK ["):
            task = line.rstrip("* ")
        elif line.startswith(("fatal: [", "failed: [")):
            found.append(f"{task}\n{line[:LONGEST]}")
    return found[-SHOWN:]


def _make_images(gate: Gate, word: str = "") -> None:
    """Build images beforehand, outside the time limit of a test; without an engine the tests report what is missing."""
    required = os.environ.get("AIREADY_ENGINE") == "required"
    with contextlib.nullcontext() if required else contextlib.suppress(GateFailed):
        gate.call([PYTHON, "-m", "vsphere_twin.guests", word or ("setup" if required else "images")])
