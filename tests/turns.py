"""Tests that take minutes run with one commit in several: `@pytest.mark.turn(3, of=6)`.

The number of commits of HEAD, modulo `of`, selects them, so that consecutive commits run all of them. A test always
runs if its file is named on the command line.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MARKER = "turn(*turns, of): the test runs only with commits whose number, modulo `of`, is one of the turns"


def number_of_commit(root: str | None = None) -> int:
    """How many commits HEAD has; a shallow clone does not have them all, and takes its hash. 0 without git."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", root or str(ROOT), *words], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    try:
        if git("rev-parse", "--is-shallow-repository") == "true":
            return int(git("rev-parse", "HEAD")[:8] or "0", 16)
        return int(git("rev-list", "--count", "HEAD") or 0)
    except FileNotFoundError:
        return 0


def due(*turns: int, of: int, number: int | None = None) -> bool:
    """Return whether it is one of these turns, for this number of commits or that of HEAD."""
    return (number_of_commit() if number is None else number) % of in turns


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", MARKER)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip tests that other commits run."""
    number = number_of_commit()
    named = {Path(argument.partition("::")[0]).resolve() for argument in config.args}
    for item in items:
        for mark in item.iter_markers("turn"):
            if not due(*mark.args, number=number, **mark.kwargs) and item.path not in named:
                item.add_marker(pytest.mark.skip(reason=f"one commit in {mark.kwargs['of']}, or name its file"))
