# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What `iperf3 -J` prints. Pure."""

from __future__ import annotations

import math
import re

from ansible_collections.aiready.vsphere.plugins.module_utils.validation import text as texts

TOOL = "iperf3"
# Before it, one process used one core for all its streams; faster paths need several processes then.
THREADS_SINCE = (3, 16)


def parse(text):
    """gbps (what arrived), sent_gbps, retransmits, processors of both ends in percent, version, streams, ..."""
    found = texts.from_json(text)
    if found is None:
        return texts.not_understood(TOOL, text)
    about = _about(found.get("start"))
    if found.get("error"):
        return texts.failed(TOOL, str(found["error"]).replace("error - ", "", 1), str(found["error"]), **about)
    end = found.get("end")
    if not isinstance(end, dict):
        return texts.not_understood(TOOL, text, "the part `end` is missing, so it did not come to its end")
    arrived, sent = _rate(end.get("sum_received")), _rate(end.get("sum_sent"))
    if arrived is None and about["protocol"] == "UDP":
        arrived = _rate(end.get("sum"))
    if arrived is None:
        return texts.not_understood(TOOL, text, "it does not tell what was received")
    if arrived <= 0:
        return texts.failed(TOOL, "nothing was received", **about)
    use = end.get("cpu_utilization_percent") if isinstance(end.get("cpu_utilization_percent"), dict) else {}
    return texts.figures(
        gbps=arrived,
        reverse_gbps=_rate(end.get("sum_received_bidir_reverse")),
        sent_gbps=sent,
        seconds=(end.get("sum_received") or {}).get("seconds"),
        retransmits=(end.get("sum_sent") or {}).get("retransmits"),
        cpu_percent=_one(use.get("host_total")),
        remote_cpu_percent=_one(use.get("remote_total")),
        rtt_us=_rtt(end.get("streams")),
        interval_gbps=_intervals(found.get("intervals")),
        **about,
    )


def together(parts):
    """The sum of several processes that ran at the same time, as versions without threads need."""
    parts = list(parts)
    bad = next((part for part in parts if part["why"]), None)
    if bad is not None or not parts:
        return bad or texts.not_understood(TOOL, "")
    told = dict(parts[0], processes=len(parts), interval_gbps=[])
    for name in ("gbps", "sent_gbps", "retransmits", "streams", "cpu_percent", "remote_cpu_percent"):
        values = [part[name] for part in parts if part[name] is not None]
        told[name] = round(sum(values), 6) if values else None
    return told


def _about(start):
    start = start if isinstance(start, dict) else {}
    version = re.search(r"(\d+)\.(\d+)(?:\.\d+)?", str(start.get("version") or ""))
    test = start.get("test_start") if isinstance(start.get("test_start"), dict) else {}
    numbers = (int(version.group(1)), int(version.group(2))) if version else None
    return {
        "version": version.group(0) if version else None,
        "threads": numbers >= THREADS_SINCE if numbers else None,
        "protocol": test.get("protocol"),
        "streams": test.get("num_streams"),
        "mss": start.get("tcp_mss") or start.get("tcp_mss_default"),
        "processes": 1,
    }


def _rate(part):
    rate = part.get("bits_per_second") if isinstance(part, dict) else None
    return round(rate / 1e9, 6) if isinstance(rate, (int, float)) and math.isfinite(rate) else None


def _rtt(streams):
    means = [(one.get("sender") or {}).get("mean_rtt") for one in streams or [] if isinstance(one, dict)]
    means = [mean for mean in means if isinstance(mean, (int, float)) and mean > 0]
    return round(sum(means) / len(means), 1) if means else None


def _intervals(intervals):
    rates = [_rate(one.get("sum")) for one in intervals or [] if isinstance(one, dict)]
    return [rate for rate in rates if rate is not None]


def _one(value):
    return round(value, 1) if isinstance(value, (int, float)) else None
