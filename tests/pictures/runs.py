"""Runs on the twin whose output becomes a picture, and the lines that a picture shows."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rehearse import playbook
from rehearse.__main__ import CALLBACKS, FACES, FOLDER
from vsphere_twin.launch import launch

from .terminal import plain

PREFLIGHT = Path("playbooks") / "preflight.yml"
# Rows of preflight's table that a picture shows of each state.
ROWS = 6
LIMIT_S = 1800


class NoOutput(RuntimeError):
    """A run failed, or its output has none of the lines that a picture shows."""


def rehearsal() -> list[str]:
    """The output of a rehearsal without guests."""
    with tempfile.TemporaryDirectory(prefix="pictures-") as results:
        command = [sys.executable, "-m", "rehearse", "--stages", "infrastructure", "--results", results]
        done = subprocess.run(command, cwd=playbook.ROOT, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    if done.returncode != 0:
        raise NoOutput(f"The rehearsal failed with status {done.returncode}. Its last lines:\n{done.stdout[-2000:]}")
    return done.stdout.splitlines()


def preflight() -> list[str]:
    """The output of preflight on a data centre in factory state, in colour."""
    with (
        tempfile.TemporaryDirectory(prefix="pictures-") as folder,
        launch(seed="factory", faces=FACES) as twin,
    ):
        work = Path(folder)
        playbook.write_endpoint(twin, work)
        colours = {"ANSIBLE_NOCOLOR": "false", "ANSIBLE_FORCE_COLOR": "true"}
        env = playbook.environment(work, **CALLBACKS, **colours, **{FOLDER: str(work / "run")})
        done = playbook.run(playbook.ROOT / PREFLIGHT, env=env)
    if done.status != 0:
        raise NoOutput(f"Preflight failed with status {done.status}. Its last lines:\n{done.output[-2000:]}")
    return done.output.splitlines()


def of_rehearsal(lines: Sequence[str]) -> list[int]:
    """The steps, the stages, the last screen and the summary of a rehearsal."""
    shown = re.compile(r"===|\s*\| (STAGE \[\w+\] ok|Verdict:|\w+ +(ok|skipped|not begun)\b)|The rehearsal |  ok  ")
    return _some([at for at, line in enumerate(lines) if shown.match(plain(line))])


def of_preflight(lines: Sequence[str]) -> list[int]:
    """The first rows of each state in the table, the count of all rows and the verdict."""
    row = re.compile(r'\s*"(?P<state>\w+(?: \w+)*)\s{2,}.*\s{2,}\S.*"')
    by_state: dict[str, list[int]] = {}
    for at, line in enumerate(lines):
        found = row.match(plain(line))
        if found:
            by_state.setdefault(found["state"], []).append(at)
    rest = re.compile(r'STAGE|TASK \[Report the result\]|\s*"msg": "\d|Verdict')
    ends = [at for at, line in enumerate(lines) if rest.match(plain(line))]
    return _some([at for some in by_state.values() for at in some[:ROWS]]) + ends


def _some(found: list[int]) -> list[int]:
    if not found:
        raise NoOutput("The output has none of the lines that the picture shows. Adapt tests/pictures/runs.py.")
    return found
