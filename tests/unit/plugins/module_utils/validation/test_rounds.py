"""Whatever the number of guests: all pairs, in few rounds, and nobody in two tests at once."""

from __future__ import annotations

import itertools

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import rounds

COUNTS = range(2, 34)


@pytest.mark.parametrize("count", COUNTS)
def test_every_pair_meets_once_in_as_few_rounds_as_can_be(count):
    guests = [f"job-{number}" for number in range(count)]
    made = rounds.rounds(guests)
    assert len(made) == (count if count % 2 else count - 1)
    met = [frozenset(pair) for pairs in made for pair in pairs]
    assert sorted(map(sorted, met)) == sorted(map(sorted, itertools.combinations(guests, 2)))


@pytest.mark.parametrize("count", COUNTS)
def test_nobody_is_in_two_tests_at_once(count):
    for step in rounds.steps(range(count)):
        busy = [guest for pair in step for guest in pair]
        assert len(busy) == len(set(busy))


@pytest.mark.parametrize("count", COUNTS)
def test_each_direction_is_tested_once(count):
    assert sorted(rounds.ordered_pairs(range(count))) == sorted(itertools.permutations(range(count), 2))


@pytest.mark.parametrize("count", [4, 5, 32, 33])
def test_nobody_is_always_the_first(count):
    firsts = [pair[0] for pairs in rounds.rounds(range(count)) for pair in pairs]
    shares = [firsts.count(guest) for guest in range(count)]
    assert max(shares) - min(shares) <= 1


@pytest.mark.parametrize("count, at_most, met", [(8, 2, 2), (9, 3, 2)])
def test_fewer_rounds_still_test_everybody(count, at_most, met):
    made = rounds.rounds(range(count), at_most)
    others = {guest: [pair for pairs in made for pair in pairs if guest in pair] for guest in range(count)}
    assert len(made) == at_most
    assert min(map(len, others.values())) >= met


def test_no_pairs_and_a_name_twice():
    assert rounds.rounds([]) == rounds.rounds(["job-01"]) == []
    with pytest.raises(ValueError, match="twice"):
        rounds.rounds(["job-01", "job-01"])
