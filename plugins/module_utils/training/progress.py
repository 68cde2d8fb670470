# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""State of a run from its output so far: ranks, iterations, rates, transport. Pure, fed with output as it arrives."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Literal, Mapping, Sequence, TypedDict, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.training import output

if TYPE_CHECKING:

    class Nccl(TypedDict):
        """Transport of NCCL, from the lines of its log."""

        version: str | None
        networks: list[str]
        via: list[str]
        gpudirect: dict[str, bool]
        no_device: bool


LAST_LINES = 40
# If a run prints more iterations, the rest of them is in the log alone.
ITERATIONS_KEPT = 20000
# Whatever ranks print: no run has more of each.
RANKS_KEPT, FAILURES_KEPT, NAMES_KEPT = 10000, 1000, 64


class Progress:
    """Known data of a run in progress or at its end."""

    def __init__(self, hosts_of_ranks: Sequence[str]) -> None:
        self.size = len(hosts_of_ranks)
        self.hosts = hosts_of_ranks
        self.ranks: dict[int, dict[str, Any]] = {}
        self.iterations: list[dict[str, Any]] = []
        self.benchmark: dict[str, str | int | float | None] = {}
        self.nccl: Nccl = {"version": None, "networks": [], "via": [], "gpudirect": {}, "no_device": False}
        self.failures: list[dict[str, Any]] = []
        self.lines = 0
        # Time of the last activity as a number of lines: the caller has the clock.
        self.steps = 0
        self._tails: dict[int | str | None, deque[str]] = {}
        self._rests: dict[str, str] = {}
        self._lines: dict[str, output.Lines] = {}
        # Ranks that report their iterations as events, which have more data than their text.
        self._own: set[int | None] = set()

    def feed(self, host: str, first_rank: int, text: str) -> None:
        """More output of the launcher on one guest; a line that is not whole yet waits for its rest."""
        whole = self._rests.get(host, "") + text
        *lines, self._rests[host] = whole.split("\n")
        # A line without an end would grow with all that follows.
        self._rests[host] = self._rests[host][: output.LONGEST_LINE]
        for raw in lines:
            for line in self._lines.setdefault(host, output.Lines()).of(raw[: output.LONGEST_LINE].rstrip("\r")):
                self._line(first_rank, line)

    def end(self) -> None:
        """Record the end of the output."""
        for host, rest in list(self._rests.items()):
            if rest:
                self.feed(host, 0, "\n")
        for begun in self._lines.values():
            for line in begun.rest():
                self._line(0, line)

    def tail(self, rank: int | None) -> list[str]:
        """Return the last lines of one rank; for None, the lines without a known rank."""
        return list(self._tails.get(rank, ()))

    def last_lines(self) -> list[str]:
        """The last lines of all."""
        return list(self._tails.get("all", ()))

    @property
    def ended(self) -> list[int]:
        """The ranks that reported their end."""
        return sorted(rank for rank, reported in self.ranks.items() if reported.get("end"))

    @property
    def last_iteration(self) -> int | None:
        return max((entry["iteration"] for entry in self.iterations), default=None)

    def reported(self) -> str:
        """Return the progress of the run, in one line for an operator."""
        words = [f"{len(self.ranks)} of {self.size} ranks"] if self.ranks else []
        last = self.last_iteration
        if last is not None:
            now = [entry for entry in self.iterations[-2 * self.size :] if entry["iteration"] == last]
            words.append(f"iteration {last}")
            losses = [entry["loss"] for entry in now if output.number(entry.get("loss"))]
            if losses:
                words.append(f"loss {sum(losses) / len(losses):.4g}")
            rates = [entry["samples_per_s"] for entry in now if output.number(entry.get("samples_per_s"))]
            if rates:
                # One line of a benchmark's rank 0 is the rate of each rank.
                share = self.size if len(rates) == 1 and entry_is_each(now[0]) else 1
                words.append(f"{sum(rates) * share:.1f} samples/s")
        if self.ended:
            words.append(f"{len(self.ended)} done")
        if not words:
            words.append(f"{self.lines} lines of output" if self.lines else "no output yet")
        return ", ".join(words)

    def _line(self, first_rank: int, line: output.Line) -> None:
        self.lines += 1
        rank = line.rank if line.rank is not None else (None if line.local is None else first_rank + line.local)
        text = line.text
        event = output.event(text)
        if event is not None:
            self._event(event, rank)
            return
        place: int | str | None
        # NCCL describes 64 channels of an H100 on as many lines, which would push the error out.
        for place in () if output.is_chatter(text) else ("all", rank):
            if place in self._tails or len(self._tails) < RANKS_KEPT:
                self._tails.setdefault(place, deque(maxlen=LAST_LINES)).append(text[: output.LONGEST_TEXT])
        reported = output.nccl(text)
        if reported is not None:
            self._nccl(*reported)
            return
        row = output.benchmark(text)
        if row is not None:
            self._benchmark(rank, *row)

    def _event(self, event: Mapping[str, Any], rank: int | None) -> None:
        rank = event["rank"] if _is_rank(event.get("rank")) else rank
        kind = event["event"]
        if kind in ("rank", "end") and (rank is None or (rank not in self.ranks and len(self.ranks) >= RANKS_KEPT)):
            return
        known = {name: value for name, value in event.items() if name not in ("event", "rank")}
        if kind == "rank":
            self.ranks.setdefault(cast(int, rank), {}).update(known)
            self.steps += 1
        elif kind == "iteration":
            self._forget_printed(rank)
            self._step(dict(known, rank=rank))
        elif kind == "end":
            self.ranks.setdefault(cast(int, rank), {})["end"] = known
            self.steps += 1
        elif kind == "failed" and len(self.failures) < FAILURES_KEPT:
            self.failures.append(dict(known, rank=rank, reason=str(known.get("reason") or "")))

    def _step(self, entry: dict[str, Any]) -> None:
        self.steps += 1
        if _is_rank(entry.get("iteration")) and len(self.iterations) < ITERATIONS_KEPT:
            self.iterations.append(entry)

    def _forget_printed(self, rank: int | None) -> None:
        """Our own benchmark prints the known line of its first iteration before its event."""
        if rank not in self._own:
            self._own.add(rank)
            self.iterations = [entry for entry in self.iterations if entry["rank"] != rank or not entry_is_each(entry)]

    def _benchmark(self, rank: int | None, what: str, values: Sequence[str | int | float | None]) -> None:
        rank = 0 if rank is None else rank
        if what == "iteration":
            if rank not in self._own:
                self._step({"rank": rank, "iteration": values[0], "samples_per_s": values[1], "unit": "each"})
        elif what == "step":
            self._step({"rank": rank, "iteration": values[0], "samples_per_s": values[1], "loss": values[4]})
        elif what == "each":
            self.benchmark.update(each=values[0], each_dispersion=values[1])
        elif what == "total":
            self.benchmark.update(devices=values[0], total=values[1], total_dispersion=values[2])
        elif what == "sum":
            self.benchmark.update(total=values[0])
        else:
            self.benchmark[what] = values[0]

    def _nccl(self, what: str, values: Sequence[str]) -> None:
        if what == "version":
            self.nccl["version"] = values[0]
        elif what == "network":
            self._name("networks", values[0])
        elif what == "via":
            self._name("via", values[0] + values[1])
        elif what == "gpudirect":
            if len(self.nccl["gpudirect"]) < NAMES_KEPT:
                self.nccl["gpudirect"][values[1]] = values[0] == "Enabled"
        else:
            self.nccl["no_device"] = True

    def _name(self, what: Literal["networks", "via"], name: str) -> None:
        names = self.nccl[what]
        if name not in names and len(names) < NAMES_KEPT:
            self.nccl[what] = sorted([*names, name])


def _is_rank(value: object) -> bool:
    """Return whether it is a valid number of a rank or an iteration."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53


def entry_is_each(entry: Mapping[str, Any]) -> bool:
    """Return whether an iteration belongs to a benchmark, whose rank 0 prints the rate of each rank."""
    return entry.get("unit") == "each"
