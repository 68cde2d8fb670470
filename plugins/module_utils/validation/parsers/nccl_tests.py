# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parse the output of nccl-tests, of old and new versions, of RCCL, and as JSON. Pure.

The header names the columns. The average over all sizes is not used, because small messages do not fill a path: the
figure is the largest out-of-place bus bandwidth among the largest sizes.
"""

from __future__ import annotations

import re
from typing import Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

TOOL = "nccl-tests"
# Number of the largest sizes of a sweep that count, and the least size of the largest one.
TOP_SIZES, LARGE_BYTES = 3, 64 * 2**20
# Bandwidths are printed with two decimals.
ROUNDED = 0.005
SHAPE = ("size", "count", "type", "redop", "root")
HALF = ("time", "algbw", "busbw", "wrong")
WORDS = {"#wrong": "wrong", "error": "wrong", **{name: name for name in (*SHAPE, *HALF[:3])}}
_RANK = re.compile(r"#\s+Rank\s+(\d+)\s+(?:Group\s+\d+\s+)?Pid\s+\d+ on\s+(\S+) device\s+(\d+) \[(\S+?)\] (.*\S)")
_VERSION = re.compile(r"(?:NCCL|RCCL) version\s*:?\s*(\d+\.\d+(?:\.\d+)?)")
_LIBRARY = re.compile(r"# nccl-tests version .*\bnccl-library=(\d+)")
_BOUNDS = re.compile(r"# Out of bounds values : (\d+) (\w+)")
_AVERAGE = re.compile(r"# Avg bus bandwidth\s+: (\S+)")
_TEST = re.compile(r"# (?:Collective test (?:starting|concluded): |nThread.*)(\w+_perf)?")
# A cause precedes its consequences.
_REASON = re.compile(r"Invalid number of GPUs: ")
_FAILED = re.compile(r"Test (?:NCCL|CUDA|MPI) failure|: Test failure |Out of memory")
# In a finished test, these are only warnings.
_WARN = re.compile(r"NCCL WARN ")


@texts.reader(TOOL)
def parse(text: str) -> dict[str, Any]:
    """busbw and algbw in GB/s, bytes, wrong, rows of each size, ranks with their hosts, nodes, version, average."""
    lines = texts.lines(text)
    columns, rows, headers = None, [], 0
    for line in lines:
        found = _header(line)
        if found is not None:
            headers += 1
            columns = found
            continue
        row = _row(line.split(), columns)
        if row is not None:
            rows.append(row)
    about = {
        "ranks": [
            {"rank": int(rank), "host": host, "device": int(device), "pci": pci, "name": name}
            for rank, host, device, pci, name in (found.groups() for found in map(_RANK.search, lines) if found)
        ],
        "version": _first(_VERSION, lines) or version_of(_first(_LIBRARY, lines)),
        "test": _first(_TEST, lines),
        "average": texts.number(_first(_AVERAGE, lines)),
        "tables": headers,
    }
    bounds = next((found for found in map(_BOUNDS.search, lines) if found), None)
    out = (int(bounds.group(1)), bounds.group(2)) if bounds else (None, None)
    signs = (_REASON, _FAILED) if out[1] else (_REASON, _FAILED, _WARN)
    stopped = next((line.strip() for sign in signs for line in lines if sign.search(line)), None)
    return _answer(text, rows, about, out, stopped)


def version_of(code: Any) -> Any:
    """2.28.9 of 22809, the release number of NCCL from 2.9 on; other words are unchanged."""
    if not str(code).isdecimal() or len(str(code)) < 5:
        return code
    return f"{int(code) // 10000}.{int(code) // 100 % 100}.{int(code) % 100}"


def _header(line: str) -> list[str] | None:
    """The names of the columns of a table; None for any other line."""
    words = line.replace("#wrong", " #wrong").split()
    if words[:1] != ["#"] or "size" not in words or "busbw" not in words:
        return None
    names = [WORDS.get(word, word) for word in words[1:]]
    return names if names.count("busbw") in (1, 2) else None


def _row(words: list[str], columns: list[str] | None) -> dict[str, Any] | None:
    """{size, ..., out: {time, algbw, busbw, wrong}, in: ...}; None for a line that is no row."""
    if len(words) < 10 or texts.whole(words[0]) is None or texts.whole(words[1]) is None:
        return None
    if columns is None:
        # A table without its header; the time must then match.
        columns = [*(SHAPE if len(words) == 13 else SHAPE[:4]), *HALF, *HALF]
    if columns[-1] == "timestamp":
        columns, words = columns[:-1], words[:-2]
    if len(words) == len(columns) - 1 and "redop" in columns and texts.is_number(words[columns.index("redop")]):
        # Older versions leave this column empty for operations without a reduction.
        columns = [name for name in columns if name != "redop"]
    if len(words) != len(columns):
        return None
    row: dict[str, Any] = {"out": {}, "in": {}}
    for name, word in zip(columns, words):
        if name not in HALF:
            row[name] = word
            continue
        half = row["in"] if name in row["out"] else row["out"]
        if not texts.is_number(word.rstrip("*")):
            return None
        half[name] = texts.number(word)
        if name == "wrong" and word.endswith("*"):
            row["marked"] = True
    row["size"], row["count"] = texts.whole(row["size"]), texts.whole(row["count"])
    return row


def _answer(
    text: str,
    rows: Sequence[dict[str, Any]],
    about: Mapping[str, Any],
    bounds: tuple[int | None, str | None],
    stopped: str | None,
) -> dict[str, Any]:
    count, word = bounds
    if stopped is not None:
        return texts.failed(TOOL, stopped, text, **about)
    rows = [row for row in rows if row.get("size") is not None and row["out"].get("busbw") is not None]
    if not rows:
        return texts.not_understood(TOOL, text)
    if about["tables"] == 0 and not all(_fits(row) for row in rows):
        return texts.not_understood(TOOL, text, "its table has no header, and its columns do not match")
    sized = [row for row in rows if row["size"] > 0]
    top = sorted(sized, key=lambda row: row["size"])[-TOP_SIZES:]
    if not top:
        return texts.not_understood(TOOL, text, "it has no message size above zero")
    best = max(top, key=lambda row: row["out"]["busbw"])
    alone = all(not row["out"]["busbw"] for row in sized) and any(row["out"]["algbw"] for row in sized)
    if alone and about["tables"] > 1:
        reason = "every rank ran alone. Use nccl-tests built with MPI"
        return texts.failed(TOOL, reason, **about)
    if word is None and about["average"] is None:
        return texts.not_understood(TOOL, text, "the lines below the table are missing, so the test did not finish")
    return texts.figures(
        busbw=best["out"]["busbw"],
        algbw=best["out"]["algbw"],
        bytes=best["size"],
        largest_bytes=top[-1]["size"],
        large=top[-1]["size"] >= LARGE_BYTES,
        wrong=_wrong(rows, count, word),
        # One rank has no peer: its figures are those of a copy within the GPU.
        alone=alone,
        ranks_by_factor=_ranks(best),
        nodes=_nodes(about["ranks"], best),
        rows=rows,
        **about,
    )


def _fits(row: Mapping[str, Any]) -> bool:
    """Whether size, time and bandwidth of a row agree."""
    out = row["out"]
    if not out.get("time") or not out.get("algbw"):
        return True
    return abs(row["size"] / out["time"] / 1e3 - out["algbw"]) <= 0.02 * out["algbw"] + 0.01


def _wrong(rows: Sequence[dict[str, Any]], count: int | None, word: str | None) -> int | None:
    """Number of wrong values; None if they were not verified."""
    if count or word == "FAILED" or any(row.get("marked") for row in rows):
        return max(1, int(count or 0))
    reported = [row[half].get("wrong") for row in rows for half in ("out", "in")]
    reported = [value for value in reported if value is not None]
    if not reported:
        return None
    # Older versions print the largest error here, such as 2e-07, which is correct.
    return int(sum(value for value in reported if value >= 1))


def _ranks(row: Mapping[str, Any]) -> int | None:
    """Number of ranks in an all_reduce, calculated: busbw is 2 (n - 1) / n of algbw.

    Other operations reduce too: reduce has a root (-1 for all_reduce), and reduce_scatter has a busbw below its algbw.
    """
    out = row["out"]
    if not out.get("algbw") or str(row.get("redop", "")).lower() in ("none", ""):
        return None
    rest = 2 - out["busbw"] / out["algbw"]
    if str(row.get("root", "-1")).strip() != "-1" or rest > 1.01:
        return None
    return round(2 / rest) if rest > 0.001 else None


def _nodes(ranks: Sequence[Mapping[str, Any]], row: Mapping[str, Any]) -> int | None:
    """The number of hosts; None if the list of ranks has gaps or does not match the figures of the row.

    Launchers drop and interleave lines, and an incomplete list would have too few hosts.
    """
    count = len(ranks)
    if not count or sorted(str(rank["rank"]) for rank in ranks) != sorted(map(str, range(count))):
        return None
    out, by_factor = row["out"], _ranks(row)
    if by_factor is not None and by_factor != count:
        ratio = out["busbw"] / out["algbw"]
        rounding = ROUNDED * (1 + ratio) / out["algbw"]
        if abs(ratio - 2 * (count - 1) / count) > rounding:
            return None
    return len({rank["host"] for rank in ranks})


def _first(pattern: re.Pattern[str], lines: Sequence[str]) -> str | None:
    return next((found.group(1) for found in map(pattern.search, lines) if found and found.group(1)), None)
