"""A test with a turn runs with its commits, and always if its file is named."""

from __future__ import annotations

import subprocess
import sys

import pytest

import turns
from supervise.runs import PYTHONPATH

FILE = """
import pytest
@pytest.mark.turn({given})
def test_of_a_turn():
    pass
"""


@pytest.mark.parametrize("number, expected", [(0, False), (2, True), (3, False), (5, True), (8, True)])
def test_turns_select_commits(number, expected):
    assert turns.due(2, 5, of=6, number=number) is expected


@pytest.mark.parametrize(
    "after, named, expected",
    [(0, False, "1 passed"), (1, False, "1 skipped"), (1, True, "1 passed")],
)
def test_a_test_runs_in_its_turn_or_by_its_name(tmp_path, after, named, expected):
    turn = (turns.number_of_commit() + after) % 6
    (tmp_path / "test_one.py").write_text(FILE.format(given=f"{turn}, of=6"))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "turns", "test_one.py" if named else "."]
    env = {"PYTHONPATH": PYTHONPATH, "PATH": "/usr/bin:/bin"}
    ran = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert expected in ran.stdout, ran.stdout
