"""The twin alone: its package in an environment without Ansible, its command, and all its tests there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gates import pythons, venvs
from gates.running import BUILD, Gate, GateFailed, environment
from gates.tree import clean_copy

# The package must not need these: the collection, Ansible, and the tools of this repository.
ABSENT = ("ansible", "ansible_collections", "supervise", "wire")
LOOK = f"import importlib.util, sys; print(*filter(importlib.util.find_spec, {ABSENT!r}))"
# Expected output of each command.
SAID = {
    "--version": "vsphere-twin ",
    "seeds": "\nlarge ",
    "check small": "small can be served: 2 hosts",
    "faults": "Faults of vCenter:",
    "serve --help": "--state-dir",
}


def twin(gate: Gate) -> None:
    """Install the package from a clean copy, as a user of it does, and use nothing else of this repository."""
    python = pythons.find(sys.version_info.minor) or Path(sys.executable)
    venv = venvs.of_lock(gate, python, "twin-alone", "twin")
    folder = clean_copy("twin") / "tests" / "twin"
    env = _bare(venv)
    own = str(venv / "bin" / "python")
    # Its dependencies are installed by the lock file; `pip check` compares them with the package's requirements.
    gate.call(
        [own, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--force-reinstall", "."],
        folder,
        env,
    )
    gate.call([own, "-m", "pip", "check"], folder, env)
    found = gate.call([own, "-c", LOOK], BUILD, env).strip()
    if found:
        raise GateFailed(f"The twin's environment contains {found}, which the twin must not need.")
    for words, expected in SAID.items():
        if expected not in gate.call([str(venv / "bin" / "vsphere-twin"), *words.split()], BUILD, env):
            raise GateFailed(f"vsphere-twin {words} does not print {expected.strip()!r}.")
    gate.pytest(own, ["-n", str(os.cpu_count() or 2), "--dist", "worksteal"], env, folder)


def _bare(venv: Path) -> dict[str, str]:
    """Return an environment without Ansible, and without a folder of this repository on Python's path."""
    env = environment(venv)
    return {name: value for name, value in env.items() if name != "PYTHONPATH" and not name.startswith("ANSIBLE_")}
