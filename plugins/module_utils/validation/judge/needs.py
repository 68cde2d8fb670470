# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What a rung stands on: which rows it needs, and why it does not count when they did not pass. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence, Union, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import rungs
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.entry import Entry
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import (
    FAIL,
    NOT_RUN,
    SKIPPED,
    guests_of,
)

if TYPE_CHECKING:
    Key = Union[str, tuple[str, str]]

# Needs that are named in a reason; more would not be read.
TOLD = 3
MANY = "*"


def may_run(rows: Sequence[dict[str, Any]], check: str, subject: Mapping[str, Any], variant: str = "") -> str:
    """Why a rung is not to be run after these rows; an empty text where nothing speaks against it."""
    entries = [Entry(row["check"], row["subject"], row["variant"], row) for row in rows]
    return broken(needed(check, subject, variant, Index(entries)))


class Index:
    """Rows by check, and by what they are about."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._at: dict[tuple[str, Key], list[Entry]]
        self._of: dict[str, list[Entry]]
        self._of, self._at = {}, {}
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        self._of.setdefault(entry.check, []).append(entry)
        self._at.setdefault((entry.check, _key(entry.subject)), []).append(entry)

    def of(self, check: str, variant: str = "") -> list[Entry]:
        """All rows of a check."""
        return [one for one in self._of.get(check, ()) if not variant or one.variant == variant]

    def at(self, check: str, keys: Iterable[Key], variant: str = "") -> list[Entry]:
        """The rows of a check about single guests or pairs, and those about many."""
        found = [one for key in [*keys, MANY] for one in self._at.get((check, key), ())]
        return [one for one in found if not variant or one.variant == variant]


def needed(check: str, subject: Mapping[str, Any], variant: str, index: Index) -> list[Entry]:
    """The rows that a row stands on, among the same guests."""
    rung = rungs.of(check, variant)
    if rung is None:
        return []
    guests, pair = set(guests_of(subject)), _key(subject) if "from" in subject else None
    # Ranks of MPI answer each other, so that they need the way back too.
    ways = [pair, pair[::-1]] if pair and rung.program else [pair]
    found = []
    for need in rung.needs:
        name, _colon, wanted = need.partition(":")
        if rung.of == "derived":
            found += [one for one in index.of(name, wanted) if _of_scaling(check, variant, one)]
        elif name.startswith("pair."):
            some = index.at(name, cast("list[Key]", ways), wanted) if pair else index.of(name, wanted)
            found += [one for one in some if pair or _among(one, guests)]
        else:
            found += [one for one in index.at(name, sorted(guests), wanted) if _concerns(one, guests)]
    return found


def _among(one: Entry, guests: set[str]) -> bool:
    """Whether a row about a pair is about two of these guests: what runs on one guest goes over no line."""
    return one.row["verdict"] == SKIPPED or guests.issuperset(guests_of(one.subject))


def _concerns(one: Entry, guests: set[str]) -> bool:
    """Whether a row is about these guests: about some of them, or about all and more."""
    mine = guests_of(one.subject)
    # What was left out for all was left out for each of them.
    return one.row["verdict"] == SKIPPED or guests.issuperset(mine) or guests.issubset(mine)


def _key(subject: Mapping[str, Any]) -> Key:
    if "from" in subject:
        return subject["from"], subject["to"]
    return subject.get("guest", MANY)


def _of_scaling(check: str, variant: str, training: Entry) -> bool:
    """Whether a figure of scaling is made of this training."""
    count, _colon, transport = training.variant.partition(":")
    if check == "cluster.rdma_gain":
        return count == variant
    return training.variant == variant or count == "1"


def broken(needs: Iterable[Entry]) -> str:
    bad = [one.row for one in needs if one.row["verdict"] in (FAIL, NOT_RUN)]
    if not bad:
        return ""
    # What failed says more than what did not run because of it.
    bad = sorted(bad, key=lambda row: row["verdict"] != FAIL)
    words = {FAIL: "failed", NOT_RUN: "was not run"}
    told = "; ".join(f"{row['id']} {words[row['verdict']]}" for row in bad[:TOLD])
    rest = f"; and {len(bad) - TOLD} more" if len(bad) > TOLD else ""
    return f"It does not count, since what it needs did not pass: {told}{rest}."
