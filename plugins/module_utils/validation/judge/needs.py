# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Dependencies of a check: the rows that it needs, and the reason if they did not pass. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence, Union, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import suite
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.entry import Entry
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import (
    FAIL,
    NOT_RUN,
    SKIPPED,
    guests_of,
)

if TYPE_CHECKING:
    Key = Union[str, tuple[str, str]]

# Number of dependencies that a reason names.
SHOWN = 3
MANY = "*"


def may_run(rows: Sequence[dict[str, Any]], check: str, subject: Mapping[str, Any], variant: str = "") -> str:
    """Reason for which a check must not run after these rows; an empty text if it may run."""
    entries = [Entry(row["check"], row["subject"], row["variant"], row) for row in rows]
    return broken(needed(check, subject, variant, Index(entries)))


class Index:
    """Rows by check and by subject."""

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
        """The rows of a check for single guests or pairs, and those for all guests."""
        found = [one for key in [*keys, MANY] for one in self._at.get((check, key), ())]
        return [one for one in found if not variant or one.variant == variant]


def needed(check: str, subject: Mapping[str, Any], variant: str, index: Index) -> list[Entry]:
    """The rows that a row depends on, for the same guests."""
    spec = suite.of(check, variant)
    if spec is None:
        return []
    guests, pair = set(guests_of(subject)), _key(subject) if "from" in subject else None
    # MPI ranks answer each other, so they also need the reverse direction.
    ways = [pair, pair[::-1]] if pair and spec.program else [pair]
    found = []
    for need in spec.needs:
        name, _colon, wanted = need.partition(":")
        if spec.of == "derived":
            found += [one for one in index.of(name, wanted) if _of_scaling(check, variant, one)]
        elif name.startswith("pair."):
            some = index.at(name, cast("list[Key]", ways), wanted) if pair else index.of(name, wanted)
            found += [one for one in some if pair or _among(one, guests)]
        else:
            found += [one for one in index.at(name, sorted(guests), wanted) if _concerns(one, guests)]
    return found


def _among(one: Entry, guests: set[str]) -> bool:
    """Whether a pair row is of two of these guests: a run on one guest does not use the network."""
    return one.row["verdict"] == SKIPPED or guests.issuperset(guests_of(one.subject))


def _concerns(one: Entry, guests: set[str]) -> bool:
    """Whether a row concerns these guests: some of them, or all and more."""
    mine = guests_of(one.subject)
    # A check skipped for all guests is skipped for each of them.
    return one.row["verdict"] == SKIPPED or guests.issuperset(mine) or guests.issubset(mine)


def _key(subject: Mapping[str, Any]) -> Key:
    if "from" in subject:
        return subject["from"], subject["to"]
    return subject.get("guest", MANY)


def _of_scaling(check: str, variant: str, training: Entry) -> bool:
    """Whether a scaling figure is derived from this training."""
    count, _colon, transport = training.variant.partition(":")
    if check == "cluster.rdma_gain":
        return count == variant
    return training.variant == variant or count == "1"


def broken(needs: Iterable[Entry]) -> str:
    bad = [one.row for one in needs if one.row["verdict"] in (FAIL, NOT_RUN)]
    if not bad:
        return ""
    # A failed row explains more than a row that did not run because of it.
    bad = sorted(bad, key=lambda row: row["verdict"] != FAIL)
    words = {FAIL: "failed", NOT_RUN: "did not run"}
    reported = "; ".join(f"{row['id']} {words[row['verdict']]}" for row in bad[:SHOWN])
    rest = f"; and {len(bad) - SHOWN} more" if len(bad) > SHOWN else ""
    return f"The result does not count, because required checks did not pass: {reported}{rest}."
