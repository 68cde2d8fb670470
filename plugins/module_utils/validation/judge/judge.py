# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Turn measurements into rows and the verdict. Pure; suite.py has the order, thresholds.py the thresholds.

A missing measurement never passes. The result of a check with a failed dependency does not count and names it.
"""

from __future__ import annotations

from typing import Any, Iterable, Iterator, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import (
    causes,
    check_cluster,
    check_fabric,
    check_guest,
    check_mpi,
    check_pair,
    check_stack,
    compare,
    expected,
    needs,
    reference,
    spread,
    suite,
    summary,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import places as locations
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.entry import (
    Entry,
    blank,
    finish,
    guard,
    settle,
    trouble,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import (
    NOT_RUN,
    SKIPPED,
    About,
    Found,
    guests_of,
    listing,
    mapping,
    number,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import counters

LOOKS = {
    **check_guest.LOOKS,
    **check_stack.LOOKS,
    **check_fabric.LOOKS,
    **check_pair.LOOKS,
    **check_mpi.LOOKS,
    **check_cluster.LOOKS,
}
COUNTERS = ("guest.counters", "fabric.counters")
# Tests that send traffic between both readings of the counters.
TIMED = ("pair.write_bw", "pair.write_bw_both", "pair.write_lat", "pair.iperf3")


def judge(
    measurements: Iterable[Mapping[str, Any]],
    intent: Mapping[str, Any],
    thresholds: Mapping[str, Any] | None = None,
    baseline: Mapping[str, Any] | None = None,
    topology: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """{rows, verdict, simulated, trainings, thresholds, references, causes, figures}.

    figures are the input of baseline.record. topology has the format of the validation result.
    """
    whole = dict(expected.intent_of(intent), hops=listing(mapping(topology).get("hops")))
    course = _Course(measurements, whole, thresholds, baseline, locations.of(topology))
    course.run()
    rows = [one.row for one in course.ordered()]
    found = causes.name(course.ordered(), course.intent, course.places)
    for one in course.ordered():
        guard(one)
    return {
        "rows": rows,
        "verdict": summary.verdict(rows),
        "simulated": summary.simulated(rows),
        "trainings": summary.trainings(course.ordered()),
        "thresholds": summary.thresholds(rows),
        "references": reference.rows(course.ordered(), course.intent, topology, course.below, course.given),
        "causes": found,
        "figures": compare.figures(course.ordered(), course.intent),
    }


class _Course:
    """One evaluation, check by check."""

    def __init__(
        self,
        measurements: Iterable[Mapping[str, Any]],
        intent: Mapping[str, Any],
        thresholds: Mapping[str, Any] | None,
        baseline: Mapping[str, Any] | None,
        places: Mapping[str, Mapping[str, Any]],
    ) -> None:
        self.intent, self.places = intent, places
        self.given, self.baseline = thresholds or {}, baseline
        self._measured = _by_row(measurements)
        self._index = needs.Index()
        self._entries: list[Entry] = []
        # The least that RDMA sent from one guest to another, and the traffic of each switch port.
        self.below: dict[str, Any] = {check_fabric.SENT: {}, check_fabric.CARRIED: self._carried()}

    def _carried(self) -> dict[tuple[str, str], int]:
        found: dict[Any, int] = {}
        for attempts in self._measured.values():
            one = attempts[-1]
            if one["check"] == "fabric.counters":
                port = one["subject"].get("switch"), one["subject"].get("port")
                found[port] = counters.octets(mapping(mapping(one.get("readings")).get("changed")))
        return found

    def ordered(self) -> list[Entry]:
        """All rows in the order of the check suite; unknown checks are last."""
        return sorted(self._entries, key=lambda entry: entry.place)

    def run(self) -> None:
        wanted = [Entry(row["check"], row["subject"], row["variant"]) for row in self._matched()]
        skips = {one["id"]: one["skip"] for one in expected.rows(self.intent, self.places)}
        named = {expected.row_id(one.check, one.subject, one.variant) for one in wanted}
        more = [entry for key, entry in self._extra() if key not in named]
        for place in sorted({entry.place for entry in [*wanted, *more]}):
            mine = [entry for entry in [*wanted, *more] if entry.place == place]
            for entry in mine:
                self._look(entry, skips)
            compare.others(mine, self.given)
            for entry in mine:
                finish(entry)
                # Dependent rows need the final verdict.
                guard(entry)
                self._index.add(entry)
                self._entries.append(entry)
            if mine[0].check == "pair.write_bw":
                # Dependent rows need the result of this analysis.
                causes.fallback(self._entries, self.intent, self.places)
                reported = [number(entry.row["measured"]) for entry in mine]
                middle = spread.median([one for one in reported if one is not None])
                self.below["rdma_gbs"] = middle / 8 if middle else None

    def _matched(self) -> Iterator[dict[str, Any]]:
        """The expected rows. A row without a variant takes that of its only measurement. For trainings on one guest,
        any measurement counts."""
        alone: set[str]
        by_subject: dict[tuple[str, Any], list[tuple[str, str]]]
        by_subject, alone = {}, set()
        for key, attempts in self._measured.items():
            one = attempts[-1]
            by_subject.setdefault((one["check"], _subject_key(one["subject"])), []).append((key, one["variant"]))
            if one["check"] == "cluster.training" and one["variant"].startswith("1:"):
                alone.update(guests_of(one["subject"]))
        for row in expected.rows(self.intent, self.places):
            there = by_subject.get((row["check"], _subject_key(row["subject"])), [])
            exact = row["id"] in self._measured
            of_one = row["check"] == "cluster.training" and row["variant"].startswith("1:")
            if not exact and of_one and row["subject"].get("guest") in alone:
                continue
            if not exact and len(there) == 1 and (not row["variant"] or row["check"] == "cluster.nccl"):
                yield dict(row, variant=there[0][1])
            else:
                yield row

    def _extra(self) -> Iterator[tuple[str, Entry]]:
        """Unexpected measurements, so that none is lost, except those that do not apply and switch ports on no path of
        the run."""
        for key, attempts in self._measured.items():
            one = attempts[-1]
            spec = suite.of(one["check"], one["variant"])
            if one["check"] == "fabric.counters":
                continue
            if spec is None or not suite.left_out(spec, self.intent):
                yield key, Entry(one["check"], one["subject"], one["variant"])

    def _look(self, entry: Entry, skips: Mapping[str, str]) -> None:
        key = expected.row_id(entry.check, entry.subject, entry.variant)
        attempts = self._measured.get(key, [])
        last = attempts[-1] if attempts else {}
        if "guests" in entry.subject and last:
            # The measurement names the guests that took part.
            entry.subject = last["subject"]
        entry.row = blank(entry, key, last, self.intent)
        entry.values = mapping(last.get("readings"))
        skip = skips.get(key, "")
        if not skip and entry.check in COUNTERS and self._nothing_timed():
            skip = "The site skips all tests that send traffic while the counters are read."
        if skip:
            settle(entry, SKIPPED, skip)
            return
        below = needs.needed(entry.check, entry.subject, entry.variant, self._index)
        entry.row["needs"] = [one.row["id"] for one in below]
        broken = needs.broken(below) or self._untimed(entry)
        spec = suite.of(entry.check)
        if spec is not None and spec.of == "derived":
            last = compare.derived(entry, self._index.of("cluster.training"))
            entry.row.update(simulated=last["simulated"], simulated_parts=last["simulated_parts"])
        if broken:
            settle(entry, NOT_RUN, broken)
            return
        if not last:
            why = "The check did not run."
            if entry.check in COUNTERS:
                why = "The counters were not read before and after the timed runs."
            settle(entry, NOT_RUN, why)
            return
        self._judge(entry, last, attempts)

    def _judge(self, entry: Entry, last: Mapping[str, Any], attempts: Sequence[Mapping[str, Any]]) -> None:
        status, why = last.get("status") or "done", str(last.get("why") or "")
        if status == "skipped":
            settle(entry, SKIPPED if why else NOT_RUN, why or "The check was skipped without a reason.")
            return
        if status != "done":
            entry.found = Found()
            entry.found.fail(*trouble(entry, status, why, self.places))
            return
        about = About(
            *(entry.check, entry.subject, entry.variant, self.intent, self.places),
            below=self.below,
            simulated=bool(last.get("simulated")),
        )
        values = mapping(last.get("readings"))
        look = LOOKS.get(entry.check, _plain)
        entry.found = last["found"] if "found" in last else look(values, about)
        if entry.found.skip:
            settle(entry, SKIPPED, entry.found.skip)
            return
        if entry.found.measured is None and not entry.found.remarks:
            settle(entry, NOT_RUN, entry.found.note or "Nothing was measured. The output contains no figure.")
            return
        failed = [one for one in attempts[:-1] if one.get("status") in ("failed", "timeout")]
        if failed and not entry.check.startswith("guest."):
            entry.found.warn(
                f"It took {len(failed) + 1} attempts. The previous attempt failed: {failed[-1].get('why')}"
            )
        compare.marks(entry, about, values, self.given, self.baseline)
        if entry.check in check_fabric.SENDS:
            pair = entry.subject.get("from"), entry.subject.get("to")
            sent = self.below[check_fabric.SENT]
            sent[pair] = sent.get(pair, 0) + counters.sent(values)

    def _untimed(self, entry: Entry) -> str:
        """Counters without traffic between both readings prove nothing."""
        if entry.check not in COUNTERS:
            return ""
        mine = set(guests_of(entry.subject))
        for check in TIMED:
            for one in self._index.of(check):
                if one.row["measured"] is not None and (not mine or mine & set(guests_of(one.subject))):
                    return ""
        return "No test sent traffic while the counters were read."

    def _nothing_timed(self) -> bool:
        """Whether the site skips all tests that send traffic."""
        rows = [one.row["verdict"] for check in TIMED for one in self._index.of(check)]
        return bool(rows) and set(rows) == {SKIPPED}


def _plain(values: Mapping[str, Any], about: About) -> Found:
    """An unknown check has no figure to compare."""
    return Found(None, note=f"The check {about.check} does not exist.")


def _by_row(measurements: Iterable[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """{id of a row: its measurements in their order}."""
    found: dict[str, list[dict[str, Any]]] = {}
    for given in compare.looks(measurements, COUNTERS):
        one = dict(given, variant=str(given.get("variant") or ""), subject=mapping(given.get("subject")))
        found.setdefault(expected.row_id(one["check"], one["subject"], one["variant"]), []).append(one)
    return found


def _subject_key(subject: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(sorted((key, tuple(value) if isinstance(value, list) else value) for key, value in subject.items()))
