# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parse the output of ib_write_bw, ib_write_lat and similar tests, as text and as JSON. Pure.

The average counts: the peak is 0.00 on the server, with many iterations and in tests of a duration. The header names
the columns, because they differ by options and versions.
"""

from __future__ import annotations

import re
from typing import Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

TOOL = "perftest"
# MB/sec of older versions and MiB/sec of newer ones both are 2^20 bytes per second.
MEBIBYTE_GBPS = 8 * 2**20 / 1e9
# Smaller messages do not fill a path, so their bandwidth does not measure it.
FILLING_BYTES = 32768
COLUMNS = (
    ("bytes", r"#bytes"),
    ("level", r"#sl"),
    ("iterations", r"#iterations"),
    ("peak", r"BW peak\s*\[(?P<peak>[^\]]+)\]"),
    ("average", r"BW average\s*\[(?P<unit>[^\]]+)\]"),
    ("port", r"(?:BW|MsgRate) Port\d\s*\[[^\]]+\]"),
    ("mpps", r"MsgRate\s*\[Mpps\]"),
    ("min", r"t_min\s*\[usec\]"),
    ("max", r"t_max\s*\[usec\]"),
    ("typical", r"t_typical\s*\[usec\]"),
    ("avg", r"t_avg\s*\[usec\]"),
    ("stdev", r"t_stdev\s*\[usec\]"),
    ("p999", r"99\.9% percentile\s*\[usec\]"),
    ("p99", r"99% percentile\s*\[usec\]"),
    ("tps", r"tps average"),
    ("cpu", r"CPU_Util\s*\[%\]"),
)
ABOUT = (
    ("device", r"Device\s*: (\S+)"),
    ("qps", r"Number of qps\s*: (\d+)"),
    ("connection", r"Connection type\s*: (\w+)"),
    ("mtu", r"Mtu\s*: (\d+)\[B\]"),
    ("link", r"Link type\s*: (\S+)"),
    ("gid_index", r"GID index\s*: (\d+)"),
    ("rdma_cm", r"rdma_cm QPs\s*: (\w+)"),
)
_NAME = re.compile(r"^\s*(\S+ (?:(?:Bidirectional|Post List|Multicast) )*(?:BW|Latency) Test)\b")
_WAITING = re.compile(r"Waiting for client to connect")
_NO_PEAK = re.compile(r"BW peak won't be measured")
# An aborted sweep has rows of the earlier sizes. Messages at the disconnect do not matter. Newer versions print the
# name of a status instead of its number (https://github.com/linux-rdma/perftest/pull/342).
_BROKEN = re.compile(
    r"[Ff]ailed status \w|Completion with error at|poll CQ failed|Couldn't post (?:send|recv)|Did not get Message for"
)

# Its own error messages if it ends before any measurement.
_COMPLAINT = re.compile(
    r"^\s*(?:\w+: )?(?:Couldn't|Can't|Failed|Unable|Invalid|Unsupported)\b|\bcannot be used\b|not supported"
)


@texts.reader(TOOL)
def parse(text: str) -> dict[str, Any]:
    """The figures of one side of one test.

    Bandwidth: gbps (of the largest message), rows of {bytes, iterations, gbps, peak_gbps, mpps}, filling.
    Latency: usec (typical; the average in tests of a duration), rows of {bytes, usec, min, max, avg, p99, p999, ...}.
    """
    about, rows, columns, unit, cut = {"test": None, "side": "client"}, [], None, None, None
    lines = texts.lines(text)
    for line in lines:
        named = _NAME.match(line)
        if named is not None:
            about["test"] = " ".join(named.group(1).split())
        elif _WAITING.search(line):
            about["side"] = "server"
        for key, pattern in ABOUT:
            found = re.search(pattern, line)
            if found is not None:
                about[key] = _value(key, found.group(1))
        if "#bytes" in line:
            columns, unit = _columns(line)
            continue
        words = line.split()
        # Other lines, such as a warning about the CPU frequency, may be between rows.
        if columns and len(words) == len(columns) and all(texts.is_number(word) for word in words):
            rows.append({name: texts.number(word) for name, word in zip(columns, words) if name != "port"})
        elif columns and words and texts.is_number(words[0]) and len(words) <= len(columns):
            cut = " ".join(words)
    peakless = any(_NO_PEAK.search(line) for line in lines)
    return _answer(text, about, rows, unit, peakless, columns, cut)


def _columns(header: str) -> tuple[list[str], str | None]:
    """(names of the columns in their order, unit of the bandwidth)."""
    places, unit = [], None
    for name, pattern in COLUMNS:
        for found in re.finditer(pattern, header):
            places.append((found.start(), name))
            unit = found.group("unit") if name == "average" else unit
    return [name for _start, name in sorted(places)], unit


def _answer(
    text: str,
    about: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    unit: str | None,
    peakless: bool,
    columns: Sequence[str] | None,
    cut: str | None = None,
) -> dict[str, Any]:
    rows = [row for row in rows if row.get("bytes") is not None]
    error = texts.known(text)
    broken = error["line"] if error else next((line for line in texts.lines(text) if _BROKEN.search(line)), None)
    if broken is not None:
        return texts.failed(about["test"] or TOOL, broken, text, **about)
    if cut is not None:
        return texts.not_understood(TOOL, text, f"a row of its table is cut off: {cut}")
    if not rows:
        said = next((line for line in texts.lines(text) if _COMPLAINT.search(line)), None)
        if said is not None:
            return texts.failed(about["test"] or TOOL, said, text, **about)
        if columns:
            return texts.not_understood(TOOL, text, "the table has no row, so the test did not finish")
        return texts.not_understood(TOOL, text)
    if "average" in rows[-1]:
        return _bandwidth(text, about, rows, unit, peakless)
    if "typical" in rows[-1] or "avg" in rows[-1]:
        return _latency(text, about, rows)
    return texts.not_understood(TOOL, text, "the table has neither bandwidth nor latency")


def _bandwidth(
    text: str, about: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], unit: str | None, peakless: bool
) -> dict[str, Any]:
    factor = {"gb/sec": 1.0, "mb/sec": MEBIBYTE_GBPS, "mib/sec": MEBIBYTE_GBPS}.get((unit or "").lower())
    if factor is None:
        return texts.not_understood(TOOL, text, f"its bandwidth is in {unit or 'no unit'}")
    table: list[dict[str, Any]] = [
        {
            "bytes": int(row["bytes"]),
            "iterations": row.get("iterations"),
            "gbps": _times(row["average"], factor),
            # A peak of zero was not measured.
            "peak_gbps": None if peakless or not row.get("peak") else _times(row["peak"], factor),
            "mpps": row.get("mpps"),
        }
        for row in rows
    ]
    reported = [row for row in table if row["gbps"] is not None]
    # A jumping cycle counter results in negative times.
    if not reported or any(row["gbps"] < 0 for row in reported):
        return texts.not_understood(TOOL, text, "its average is not a number above zero")
    # If a size was measured several times, any of its rows is valid.
    largest = max(reported, key=lambda row: row["bytes"])
    return texts.figures(
        kind="bandwidth",
        gbps=largest["gbps"],
        bytes=largest["bytes"],
        filling=largest["bytes"] >= FILLING_BYTES,
        both_directions="Bidirectional" in (about["test"] or ""),
        rows=table,
        **about,
    )


def _latency(text: str, about: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    table = []
    for row in rows:
        entry = {name: value for name, value in row.items() if name not in ("bytes", "typical", "tps", "level")}
        # A test of a duration has no typical value; a value that is not a number was not measured.
        usec = row["typical"] if "typical" in row else row.get("avg")
        table.append(dict(entry, bytes=int(row["bytes"]), usec=usec))
    reported = [row for row in table if row["usec"] is not None]
    if not reported or not all(row["usec"] > 0 for row in reported):
        return texts.not_understood(TOOL, text, "its latency is not a number above zero")
    smallest = min(reported, key=lambda row: row["bytes"])
    return texts.figures(
        kind="latency",
        usec=smallest["usec"],
        bytes=smallest["bytes"],
        typical="typical" in rows[0],
        p99=smallest.get("p99"),
        rows=table,
        **about,
    )


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else round(value * factor, 6)


def _value(key: str, word: Any) -> Any:
    text = str(word)
    if key in ("qps", "mtu", "gid_index"):
        return texts.whole(text.strip().split("[", maxsplit=1)[0])
    return text == "ON" if key == "rdma_cm" and text in ("ON", "OFF") else text
