# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Counters of adapters: `ethtool -S`, `rdma statistic` and the difference of two readings. Pure."""

from __future__ import annotations

import re
from typing import Any, Iterable, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts import words
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

# The kind of a counter by its name: the first matching pattern. Names differ by driver and version.
# Drops of the kernel stack (rx_dropped, tx_dropped) are not here: they include unwanted packets and those of TCP.
DROPS, PERHAPS, RESENT, PAUSES, MARKS, ERRORS = "drops", "perhaps", "resent", "pauses", "marks", "errors"
# Kinds that count losses: without one of them, drops are unknown.
LOSSES = (DROPS, PERHAPS, RESENT)
# Largest size of an RDMA packet in bytes: its path MTU.
LARGEST_PACKET = 4096
KINDS = (
    (
        DROPS,
        r"(?:rx|tx)_(?:total_|stat_)?discards?(?:_phy|_pkts)?|(?:rx|tx)_discard_packets_cos\d|"
        r"ip[46](?:In|Out)Discards|(?:rx|tx)_prio\d_(?:buf_|cong_)?discards?(?:_phy)?|(?:rx|tx)_(?:drops|lost)_\d|"
        r"rx_buffer_passed_thres_phy|port_xmit_discards|roce_drops|outbound_drops|"
        r"(?:rx|tx)_roce_discards?(?:_pkts)?",
    ),
    # Of RoCE or of TCP; the counter does not separate them.
    (
        PERHAPS,
        r"Receive packets dropped|Transmit packets dropped|Receive (?:missed|FIFO|over) errors|"
        r"(?:rx_)?out_of_buffer|rx_steer_missed_packets|rx_(?:missed|fifo|over)_errors|rx_no_dma_resources|res_oob_drop_count|discards_(?:received|sent)",
    ),
    (
        RESENT,
        r"out_of_sequence|packet_seq_err|implied_nak_seq_err|roce_adp_retrans(?:_to)?|(?:req_)?(?:transport_)?"
        r"retr(?:y|ies)_exceeded(?:_err)?|max_retry_exceeded|seq_err_naks_rcvd|to_retransmits|Error packets received|"
        r"local_ack_timeout_err|oos_drop_count|out_of_seq_request|rcvd_seq_err|duplicate_request",
    ),
    (PAUSES, r"(?:rx|tx)_(?:prio\d_|global_)?pause(?:_ctrl_phy|_frames?|_storm\w*)?|pauses_(?:sent|received)"),
    (MARKS, r"np_ecn_marked_roce_packets|\w*cnp\w*|\w*ecn_mark\w*"),
    (
        ERRORS,
        r"(?:rx|tx)_(?:symbol_err|crc_errors|pcs_symbol_err)(?:_phy)?|symbol_error(?:_counter)?|Receive CRC errors|"
        r"link_down(?:ed|_events)(?:_phy)?|link_error_recovery|port_rcv_errors|watchdog_events|rx_icrc_encapsulated|"
        r"excessive_buffer_overrun_errors",
    ),
)
# RDMA traffic by the names of one source, and the bytes of each unit. InfiniBand words have four bytes.
_CARRIED = (
    (("port_xmit_data", "port_rcv_data"), 4),
    (("tx_vport_rdma_unicast_bytes", "rx_vport_rdma_unicast_bytes"), 1),
    (("port_xmit_packets", "port_rcv_packets"), LARGEST_PACKET),
    (("roce_packets_sent", "roce_packets_received"), LARGEST_PACKET),
    (("packets_sent", "packets_received"), LARGEST_PACKET),
    (("bytes_sent", "bytes_received"), 1),
)
# Pause durations in microseconds, not numbers of frames.
_DURATION = re.compile(r"pause_duration|pause_transition")
# Prefixes and suffixes of a name: the queue number, and the counting part of the adapter.
_AROUND = re.compile(r"^\[\d+\]:? *|^port\.|\.nic$")
_ETHTOOL = re.compile(r"\s+([\w. :\[\]()/#-]*?\S)\s*: (\d+)\s*$")
_OTHER = re.compile(r"\s+([\w. :\[\]()/#-]*?\S)\s*: (?!\d+\s*$)(\S.*?)\s*$")
_HEAD = "NIC statistics:"
_WORD = re.compile(r"[\w.-]+")


@texts.reader("ethtool -S")
def ethtool(text: str) -> dict[str, Any]:
    """{name: number} of `ethtool -S`.

    vmxnet3 reports every queue with the same names, below a line with its number: they are summed.
    """
    found: dict[str, int] = {}
    for line in texts.lines(text):
        pair = _ETHTOOL.match(line)
        if line.strip() == _HEAD:
            found = {}
        elif pair is not None and not pair.group(1).endswith("Queue#"):
            found[pair.group(1)] = found.get(pair.group(1), 0) + int(pair.group(2))
    if re.search(r"no stats available|Cannot get stats", text or ""):
        return texts.failed("ethtool -S", texts.last_line(text), text)
    if not found or _HEAD not in text:
        return texts.not_understood("ethtool -S", text)
    unread = [one for one in map(_OTHER.match, texts.lines(text)) if one and kind(one.group(1)) is not None]
    if unread:
        why = f"the value of {unread[0].group(1).strip()} is not a count: {unread[0].group(2)}"
        return texts.not_understood("ethtool -S", text, why)
    return texts.figures(counters=found)


@texts.reader("rdma statistic")
def rdma(text: str) -> dict[str, Any]:
    """{device/port: {name: number}} of `rdma statistic`, as lines or as JSON. A line may continue in the next lines."""
    said = texts.lines(text)
    found: dict[str, Any]
    found, link = _of_json("\n".join(said)), None
    for line in said if not found else ():
        reported = line.split()
        if len(reported) > 1 and reported[0] == "link" and "/" in reported[1]:
            link, reported = reported[1], reported[2:]
            found[link] = []
        elif not all(_WORD.fullmatch(word) for word in reported):
            link = None
        if link is not None:
            found[link] += reported
    for name, reported in found.items():
        if isinstance(reported, list):
            found[name] = {key: int(value) for key, value in zip(reported, reported[1:]) if value.isdecimal()}
    if not any(found.values()):
        return texts.not_understood("rdma statistic", text)
    return texts.figures(counters=found)


def delta(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """{name: change} of changed counters, the names that were read twice, and the counters that disappeared or were
    reset."""
    before, after = ({name: now for name, now in look.items() if _is_counter(name, now)} for look in (before, after))
    changed, lost = {}, []
    for name, was in before.items():
        now = after.get(name)
        if now is None or now < was:
            lost.append(name)
        elif now > was:
            changed[name] = now - was
    # A new counter has an unknown start time.
    lost += [name for name in after if name not in before]
    known = sorted(set(before).difference(lost))
    return {"changed": dict(sorted(changed.items())), "known": known, "lost": sorted(lost)}


def table(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Both readings as readable lines: name, before, after."""
    names = sorted({*before, *after})
    return "".join(f"{name} {before.get(name, '-')} {after.get(name, '-')}\n" for name in names)


def octets(changed: Mapping[str, int]) -> int:
    """Bytes that an adapter or port carried in both directions, by the counters that include RDMA; a packet counts
    with its largest size."""
    reported = {name: now for name, now in changed.items() if _is_number(now)}
    return max((sum(reported.get(name, 0) for name in names) * width for names, width in _CARRIED), default=0)


def sent(values: Mapping[str, Any]) -> int:
    """Bytes that a bandwidth test sent, by the rows of its table."""
    rows: Any = values.get("rows") if isinstance(values.get("rows"), list) else []
    pairs: list[tuple[Any, Any]] = [(row.get("bytes"), row.get("iterations")) for row in rows if isinstance(row, dict)]
    return sum(int(size * times) for size, times in pairs if _is_number(size) and _is_number(times))


def reports_of_traffic(known: Iterable[str]) -> bool:
    """Whether the counters report the RDMA traffic."""
    return any({*names} & {*known} for names, _width in _CARRIED)


def kind(name: str) -> str | None:
    """drops, resent, pauses, marks or errors; None for a counter that shows no problem."""
    if _DURATION.search(name):
        return None
    plain = _AROUND.sub("", name.strip())
    return next((what for what, pattern in KINDS if re.fullmatch(pattern, plain)), None)


def sorted_out(changed: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """{kind: {name: change}} of the counters that show a problem."""
    found: dict[str, dict[str, int]] = {}
    for name, value in changed.items():
        what = kind(name)
        if what is not None and value:
            found.setdefault(what, {})[name] = value
    return found


def by_priority(changed: Mapping[str, int], pattern: str) -> dict[int, int]:
    """{priority: change} of counters such as tx_prio3_packets, by a pattern with one group for the priority."""
    found: dict[int, int] = {}
    for name, value in changed.items():
        match = re.fullmatch(pattern, name)
        if match is not None:
            found[int(match.group(1))] = found.get(int(match.group(1)), 0) + value
    return found


def _of_json(text: str) -> dict[str, Any]:
    listed, found = words.from_json(text), {}
    for one in listed if isinstance(listed, list) else [listed]:
        if isinstance(one, dict) and one.get("ifname"):
            name = f"{one['ifname']}/{one.get('port', 1)}"
            found[name] = {key: value for key, value in one.items() if _is_counter(key, value)}
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < float("inf")


def _is_counter(key: str, value: Any) -> bool:
    return key not in ("ifindex", "port") and isinstance(value, int) and not isinstance(value, bool) and value >= 0
