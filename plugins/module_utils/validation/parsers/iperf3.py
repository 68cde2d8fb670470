# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parse the output of `iperf3 -J`. Pure."""

from __future__ import annotations

import re
from typing import Any, Iterable, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import listing, mapping, number
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

TOOL = "iperf3"
# Before this version, one process used one core for all its streams, so fast paths need several processes.
THREADS_SINCE = (3, 16)
# An error while both ends exchange their results follows a whole document, which then lacks those of the other end
# (https://github.com/esnet/iperf/issues/1143).
_ERROR = re.compile(r"(?m)^iperf3: error - (.+)$")
_DOCUMENT = re.compile(r'(?m)^\s*\{\s*"start"\s*:')


@texts.reader(TOOL)
def parse(text: str) -> dict[str, Any]:
    """gbps (received), sent_gbps, retransmits, CPU load of both ends in percent, version, streams, ..."""
    found = texts.from_json(text)
    if found is None:
        return texts.not_understood(TOOL, text)
    if "event" in found:
        return texts.not_understood(TOOL, text, "it is the output of --json-stream instead of -J")
    documents = len(_DOCUMENT.findall(text))
    if documents > 1:
        return texts.not_understood(TOOL, text, f"it has {documents} documents of separate runs")
    about = _about(found.get("start"))
    if found.get("error"):
        return texts.failed(TOOL, str(found["error"]).replace("error - ", "", 1), str(found["error"]), **about)
    late = _ERROR.search(text)
    if late is not None:
        return texts.failed(TOOL, late.group(1), late.group(1), **about)
    end = found.get("end")
    if not isinstance(end, dict):
        return texts.not_understood(TOOL, text, "the part `end` is missing, so the test did not finish")
    arrived, sent = _rate(end.get("sum_received")), _rate(end.get("sum_sent"))
    if arrived is None and about["protocol"] == "UDP":
        arrived = _not_lost(end.get("sum"))
    if arrived is None:
        return texts.not_understood(TOOL, text, "the received rate is missing")
    if arrived <= 0:
        return texts.failed(TOOL, "no data was received", **about)
    use = mapping(end.get("cpu_utilization_percent"))
    return texts.figures(
        gbps=arrived,
        reverse_gbps=_rate(end.get("sum_received_bidir_reverse")),
        sent_gbps=sent,
        seconds=number(mapping(end.get("sum_received")).get("seconds")),
        retransmits=number(mapping(end.get("sum_sent")).get("retransmits")),
        cpu_percent=_one(use.get("host_total")),
        remote_cpu_percent=_one(use.get("remote_total")),
        rtt_us=_rtt(end.get("streams")),
        interval_gbps=_intervals(found.get("intervals")),
        **about,
    )


def together(parts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The sum of several processes that ran at the same time, for versions without threads."""
    parts = list(parts)
    bad = next((part for part in parts if part["why"]), None)
    if bad is not None or not parts:
        return bad or texts.not_understood(TOOL, "")
    reported = dict(parts[0], processes=len(parts), interval_gbps=[])
    for name in ("gbps", "sent_gbps", "retransmits", "streams", "cpu_percent", "remote_cpu_percent"):
        values = [part[name] for part in parts if part[name] is not None]
        reported[name] = round(sum(values), 6) if values else None
    return reported


def _about(start: Any) -> dict[str, Any]:
    start = mapping(start)
    version = re.search(r"(\d+)\.(\d+)(?:\.\d+)?", str(start.get("version") or ""))
    test = mapping(start.get("test_start"))
    numbers = (int(version.group(1)), int(version.group(2))) if version else None
    return {
        "version": version.group(0) if version else None,
        "threads": numbers >= THREADS_SINCE if numbers else None,
        "protocol": test.get("protocol"),
        "streams": number(test.get("num_streams")),
        "mss": start.get("tcp_mss") or start.get("tcp_mss_default"),
        "processes": 1,
    }


def _rate(part: Any) -> float | None:
    rate = number(mapping(part).get("bits_per_second"))
    return round(rate / 1e9, 6) if rate is not None else None


def _not_lost(part: Any) -> float | None:
    """The received rate of UDP, if only the sent rate and the loss are reported."""
    rate, lost = _rate(part), number(mapping(part).get("lost_percent"))
    return round(rate * (1 - lost / 100), 6) if rate is not None and lost is not None else None


def _rtt(streams: Any) -> float | None:
    means = [number(mapping(mapping(one).get("sender")).get("mean_rtt")) for one in listing(streams)]
    means = [mean for mean in means if mean]
    return round(sum(cast("list[float]", means)) / len(means), 1) if means else None


def _intervals(intervals: Any) -> list[float]:
    rates = [_rate(mapping(one).get("sum")) for one in listing(intervals)]
    return [rate for rate in rates if rate is not None]


def _one(value: Any) -> float | None:
    return round(value, 1) if number(value) is not None else None
