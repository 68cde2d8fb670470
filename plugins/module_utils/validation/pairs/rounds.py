# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Order of the pairs, so that no guest is in two tests at once. Pure."""

from __future__ import annotations

from typing import Iterable, Sequence, cast


def rounds(guests: Iterable[str], at_most: int | None = None) -> list[list[tuple[str, str]]]:
    """Rounds of pairs, each pair once: as many rounds as guests, or one less where their number is even.

    One guest keeps its position and all others rotate (the circle method). With at_most, only the first rounds run:
    each guest is then tested with that many others.
    """
    names = list(guests)
    if len(set(names)) != len(names):
        raise ValueError("a guest is listed twice")
    if len(names) < 2:
        return []
    seats = list(range(len(names) + len(names) % 2))
    made = []
    for number in range(len(seats) - 1):
        turned = [seats[0], *seats[number + 1 :], *seats[1 : number + 1]]
        pairs = zip(turned[: len(seats) // 2], reversed(turned[len(seats) // 2 :]))
        # With an odd number, one guest waits in each round.
        made.append([_named(names, *pair) for pair in pairs if max(pair) < len(names)])
    return made if at_most is None else made[:at_most]


def _named(names: Sequence[str], one: int, other: int) -> tuple[str, str]:
    """A pair by names. The order alternates over the circle, so that no guest is always the first."""
    behind = (one - other) % len(names)
    turned = behind > len(names) / 2 or (behind == len(names) / 2 and one < other)
    return (names[other], names[one]) if turned else (names[one], names[other])


def directions(pair: tuple[str, str]) -> list[tuple[str, str]]:
    """Both directions of a pair; they run one after the other, because they share both guests."""
    return cast("list[tuple[str, str]]", [tuple(pair), tuple(reversed(pair))])


def steps(guests: Iterable[str], at_most: int | None = None) -> list[list[tuple[str, str]]]:
    """The tests that run at the same time, step by step: [[(from, to), ...], ...], both directions of each pair."""
    made = []
    for pairs in rounds(guests, at_most):
        for turn in (0, 1):
            made.append([directions(pair)[turn] for pair in pairs])
    return made


def ordered_pairs(guests: Iterable[str], at_most: int | None = None) -> list[tuple[str, str]]:
    """All ordered pairs that are tested, in their order."""
    return [pair for step in steps(guests, at_most) for pair in step]


# Alias for the tests of pairs.
tested = ordered_pairs
