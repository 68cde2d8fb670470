"""A lab is known by its process: what it leaves is removed only when that is surely gone."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from twin.guests import lab as labs


def test_a_process_that_runs_lives():
    assert labs.lives(labs.owner()) is True


def test_a_process_that_has_ended_does_not():
    ended = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    told = labs.owner(ended.pid)
    assert labs.lives(told) is True
    ended.communicate()
    assert labs.lives(told) is False


def test_another_process_with_the_same_number_is_not_the_owner():
    number, started, space = labs.owner().split(":", 2)
    assert labs.lives(f"{number}:{int(started) - 1}:{space}") is False


@pytest.mark.parametrize("told", ["", "1", "x:1:y", f"{os.getpid()}:1:another boot:pid:[1]"], ids=repr)
def test_what_cannot_be_seen_from_here_is_not_judged(told):
    assert labs.lives(told) is None
