"""By turns, the gate of the execution environment builds the image: beside the short part of the oldest core."""

from __future__ import annotations

import pytest

from gates import environments, sanity
from turns import due


@pytest.mark.parametrize("number, expected", [(962, 964), (964, 964), (965, 970), (0, 4)])
def test_the_next_commit_with_the_image_is_named(number, expected):
    assert environments.following(number) == expected
    assert due(environments.TURN, of=environments.EVERY, number=number) == (number == expected)


def test_the_image_is_built_where_the_oldest_core_runs_preflight_only():
    built = [number for number in range(60) if due(environments.TURN, of=environments.EVERY, number=number)]
    assert len(built) == 60 / environments.EVERY
    assert {sanity.turn(number, True) for number in built} == {(True, None)}
