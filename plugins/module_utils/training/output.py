# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Output of trainings, launchers and NCCL, line by line. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Collection, Iterator

# Gloo's launcher: '[0]<stdout>:', maybe with a time in front.
TAGGED = re.compile(r"^(?:\S.*?)?\[(\d{1,9})\]<(stdout|stderr)>: ?(.*)$")
# mpirun: '[1,0]<stdout>:' in front of all that it reads at once, so that there may be several on one line.
PIECE = re.compile(r"\[\d+,(\d{1,9})\]<(stdout|stderr|stddiag)>:")
# torchrun: '[default0]:', with the position of a rank on its host.
TEED = re.compile(r"^\[[A-Za-z]\w*?(\d{1,9})\]: ?(.*)$")
OURS = "AIREADY "
# A rank may print anything. Longer texts are cut before a pattern reads them: Python converts no number of more digits,
# and a pattern may take the square of the length.
LONGEST_LINE, LONGEST_TEXT, LONGEST_OF_NCCL = 65536, 4096, 1024
# Limits of an event; its texts are shown and stored.
LONGEST_WORDS, DEEPEST, MOST_PARTS = 1000, 3, 50
LARGEST = 1e100
# Each rank prints to two streams.
MOST_BEGUN = 10000
NUMBER = r"(-?[\d.]+(?:e[+-]?\d+)?|nan|inf)"
BENCHMARK = (
    ("iteration", re.compile(rf"Iter #(\d+): {NUMBER} (?:img|images)/sec per (GPU|CPU)")),
    ("each", re.compile(rf"Img/sec per (?:GPU|CPU): {NUMBER} \+-{NUMBER}")),
    ("total", re.compile(rf"Total img/sec on (\d+) (?:GPU|CPU)\(s\): {NUMBER} \+-{NUMBER}")),
    ("step", re.compile(rf"(\d+)\s+images/sec: {NUMBER} \+/- {NUMBER} \(jitter = {NUMBER}\)(?:\s+{NUMBER})?")),
    ("sum", re.compile(rf"total images/sec: {NUMBER}")),
    ("model", re.compile(r"Model:\s+(\S+)")),
    ("batch", re.compile(r"Batch size:\s+(\d+)")),
)
# NCCL reports IB as IBext, IBext_v8 and the like if HPC-X is in the image: the same over a plugin.
RDMA, SOCKETS = r"IB\w*", "Socket"
# Network of a connection, and whether it reaches the memory of GPUs; newer versions print a proxy after the number. The
# name of a plugin may have several words, such as AWS Libfabric.
WAY = r"NET/(\w[\w. -]*)/\d+(?:\(\d+\))?(/GDRDMA)?"
NCCL = (
    ("version", re.compile(r"NCCL version (\d+\.\d+(?:\.\d+)?)")),
    ("network", re.compile(r"NCCL INFO Using network (\S(?:.*\S)?)")),
    # Ring before NCCL 2.7.
    ("via", re.compile(rf"NCCL INFO (?:Channel|Ring) \S+ ?: .* via {WAY}")),
    # With sockets NCCL prints the same of NET/Socket, where it means nothing.
    ("gpudirect", re.compile(rf"NET/{RDMA} ?: GPU Direct RDMA (Enabled|Disabled) for HCA \d+ '([^']+)'")),
    ("no_device", re.compile(rf"NCCL INFO NET/{RDMA} ?: No device found")),
)
# Lines in which NCCL describes its setup; a line that names a source or a failure contains more.
CHATTER = re.compile(r"NCCL INFO (?!.*(?:[Ff]ail|[Ee]rror|refused|timed out|\.cc:\d))")


@dataclass(frozen=True)
class Line:
    """One line from a launcher. rank is None if the line has none; then local may have the position."""

    rank: int | None
    local: int | None
    text: str
    stream: str = "stdout"


class Lines:
    """Yield lines without the prefix of their launcher, in the order of their completion."""

    def __init__(self) -> None:
        self._begun: dict[tuple[str, str], str] = {}

    def of(self, raw: str) -> Iterator[Line]:
        """The lines that one line of a launcher ends."""
        parts = PIECE.split(raw)
        if len(parts) == 1:
            yield line(raw)
            return
        before, pieces = parts[0], list(zip(parts[1::3], parts[2::3], parts[3::3]))
        # The time that horovodrun adds in front is not used.
        if before.strip() and not before.endswith(":"):
            yield Line(None, None, before)
        for rank, stream, text in pieces[:-1]:
            if (rank, stream) in self._begun or len(self._begun) < MOST_BEGUN:
                self._begun[rank, stream] = (self._begun.get((rank, stream), "") + text)[:LONGEST_LINE]
        rank, stream, text = pieces[-1]
        yield Line(int(rank), None, self._begun.pop((rank, stream), "") + text, stream)

    def rest(self) -> Iterator[Line]:
        """Yield lines that began and never ended."""
        for (rank, stream), text in sorted(self._begun.items()):
            yield Line(int(rank), None, text, stream)
        self._begun.clear()


def line(raw: str) -> Line:
    """A line of Gloo's launcher, of torchrun, or of none."""
    tagged = TAGGED.match(raw)
    if tagged is not None:
        return Line(int(tagged.group(1)), None, tagged.group(3), tagged.group(2))
    teed = TEED.match(raw)
    if teed is not None:
        return Line(None, int(teed.group(1)), teed.group(2))
    return Line(None, None, raw)


def event(text: str) -> dict[str, Any] | None:
    """Return the event of a training script of this collection as a dictionary; None for any other line."""
    at = text.find(OURS)
    if at < 0 or text[:at].strip():
        return None
    try:
        reported = json.loads(text[at + len(OURS) :])
    except (ValueError, RecursionError):
        # A rank that was killed leaves half a line.
        return None
    return plain(reported) if isinstance(reported, dict) and isinstance(reported.get("event"), str) else None


def plain(value: Any, depth: int = 0) -> Any:
    """Convert a value from a rank to one that can be counted and written as JSON; other values become a word."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value if abs(value) < LARGEST else str(value)[:LONGEST_WORDS]
    if isinstance(value, str):
        return value[:LONGEST_WORDS]
    if isinstance(value, (dict, list)) and depth >= DEEPEST:
        return "..."
    if isinstance(value, dict):
        return {key[:LONGEST_WORDS]: plain(one, depth + 1) for key, one in list(value.items())[:MOST_PARTS]}
    return [plain(one, depth + 1) for one in value[:MOST_PARTS]] if isinstance(value, list) else value


def number(value: object) -> bool:
    """Return whether a value of an event is a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def benchmark(text: str) -> tuple[str, list[str | int | float | None]] | None:
    """Return (kind, values) of a line in one of the known formats of benchmarks; None for any other line."""
    text = text[:LONGEST_TEXT].strip()
    for what, pattern in BENCHMARK:
        found = pattern.match(text)
        if found is not None:
            return what, [_value(group) for group in found.groups()]
    return None


def nccl(text: str) -> tuple[str, list[str]] | None:
    """Return (kind, values) of a line of NCCL's log; None for any other line."""
    text = text[:LONGEST_OF_NCCL]
    for what, pattern in NCCL:
        found = pattern.search(text)
        if found is not None:
            return what, list(found.groups(""))
    return None


def is_chatter(text: str) -> bool:
    """Return whether a line of NCCL's log explains no failure."""
    return CHATTER.search(text[:LONGEST_OF_NCCL]) is not None


def is_rdma(network: str) -> bool:
    """Return whether a network of NCCL is RDMA, by its name."""
    return re.fullmatch(RDMA, network) is not None


def transport(networks: Collection[str]) -> str | None:
    """Return rdma, tcp or mixed, by the names of networks; None if there is none, or an unknown one."""
    rdma = [name for name in networks if is_rdma(name)]
    if not networks or any(name != SOCKETS and name not in rdma for name in networks):
        return None
    if len(rdma) == len(networks):
        return "rdma"
    return "mixed" if rdma else "tcp"


def _value(text: str | None) -> str | int | float | None:
    if text is None or text in ("GPU", "CPU"):
        return text
    try:
        return plain(int(text) if text.isdecimal() else float(text))
    except ValueError:
        return text
