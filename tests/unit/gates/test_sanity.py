"""Commits take turns in what they run with the oldest core."""

from __future__ import annotations

import pytest

from gates.sanity import WITH_GUESTS, modules_of_others, turn


@pytest.mark.parametrize(
    "number, required, expected",
    [
        (0, True, (True, "all")),
        (3, True, (True, "all")),
        (3, False, (True, "auto")),
        (4, True, (True, None)),
        (4, False, (True, None)),
        (5, True, (False, "infrastructure")),
        (5, False, (False, "infrastructure")),
    ],
)
def test_a_commit_runs_its_part(number, required, expected):
    assert turn(number, required) == expected


@pytest.mark.parametrize("first", range(WITH_GUESTS))
def test_consecutive_commits_run_preflight_and_the_rehearsal_with_guests(first):
    preflights, stages = zip(*(turn(number, True) for number in range(first, first + WITH_GUESTS)), strict=True)
    assert sum(preflights) == 2
    assert set(stages) == {"all", "infrastructure", None}


def test_one_of_consecutive_commits_runs_the_newest_modules_of_other_collections():
    chosen = [modules_of_others(number) for number in range(WITH_GUESTS)]
    assert [bool(files) for files in chosen] == [False, False, True]
    assert "tests/wire/test_third_party_modules.py" in chosen[2]
    assert turn(2, True) == (False, "infrastructure")
