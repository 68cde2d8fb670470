# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parse the output of `ping -M do -s SIZE`, which proves the MTU of a path. Pure."""

from __future__ import annotations

import re
from typing import Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

TOOL = "ping"
HEADERS, HEADERS_OF_6 = 28, 48
_BEGIN = re.compile(r"PING \S+(?: \([^)]*\))?.*? (\d+)(?:\((\d+)\))?(?: data)? bytes")
_OF_6 = re.compile(r"[0-9a-fA-F]*:[0-9a-fA-F]*:")
_SUMMARY = re.compile(r"(\d+) packets transmitted, (\d+)(?: packets)? received")
_LOCAL = re.compile(r"local error: message too long,? mtu[ =:]*(\d+)", re.IGNORECASE)
_HOP = re.compile(r"From (\S+?):? .*?(?:Frag needed and DF set|Packet too big:?).*?mtu[ =]*(\d+)", re.IGNORECASE)
_UNREACHABLE = re.compile(
    r"From (\S+?):? .*?(Destination \w+ (?:Unreachable|Prohibited|Unknown)|Destination unreachable: .*\S|"
    r"Packet filtered|Time to live exceeded|Time exceeded: .*\S)"
)
_RTT = re.compile(r"(?:rtt|round-trip) min/avg/max(?:/\w+)? = [\d.]+/([\d.]+)/")
# Newer kernels report to a sender that the next device dropped a packet: it is lost like one that a switch drops.
_DROPPED = "sendmsg: No buffer space available"
_REFUSED = re.compile(rf"^(?:ping|connect): ((?!local error|warning|{_DROPPED}).*)$", re.IGNORECASE)


@texts.reader(TOOL)
def parse(text: str) -> dict[str, Any]:
    """sent, received, payload, packet (with headers), rtt_ms, local_mtu, hop {address, mtu}, where.

    where is '' if all packets were answered, local (the MTU of the guest is too small), hop (a router reports its
    MTU), or silent: a packet of this size is dropped on the path without a report, as switches do.
    """
    found: dict[str, Any] = {
        "payload": None,
        "packet": None,
        "local_mtu": None,
        "hop": None,
        "rtt_ms": None,
        "unreachable": None,
    }
    sent = received = refused = None
    for line in texts.lines(text):
        begin, summary, local, hop = (one.search(line) for one in (_BEGIN, _SUMMARY, _LOCAL, _HOP))
        away, rtt, no = _UNREACHABLE.search(line), _RTT.search(line), _REFUSED.match(line.strip())
        if begin is not None:
            found["payload"] = int(begin.group(1))
            headers = HEADERS_OF_6 if _OF_6.search(line) else HEADERS
            found["packet"] = int(begin.group(2)) if begin.group(2) else int(begin.group(1)) + headers
        if summary is not None:
            sent, received = int(summary.group(1)), int(summary.group(2))
        if local is not None:
            found["local_mtu"] = int(local.group(1))
        if hop is not None:
            found["hop"] = {"address": hop.group(1), "mtu": int(hop.group(2))}
        if away is not None:
            found["unreachable"] = {"address": away.group(1), "says": away.group(2)}
        if rtt is not None:
            found["rtt_ms"] = texts.number(rtt.group(1))
        refused = no.group(1) if no is not None and refused is None else refused
    reported = dict(found, sent=sent, received=received)
    if refused is not None and not received:
        return texts.failed(TOOL, refused, text, **dict(reported, where=""))
    if sent is None or found["payload"] is None:
        return texts.not_understood(TOOL, text, "" if sent is None else "the packet size is missing")
    if not sent and found["local_mtu"] is None:
        return texts.not_understood(TOOL, text, "it sent no packet")
    return texts.figures(**dict(reported, where=_where(found, sent, received)))


def _where(found: Mapping[str, Any], sent: int, received: int | None) -> str:
    # After a router has reported its MTU, the kernel of the sender rejects larger packets itself.
    if found["hop"] is not None:
        return "hop"
    if found["local_mtu"] is not None:
        return "local"
    if received == 0:
        return "unreachable" if found["unreachable"] else "silent"
    return "" if received == sent else "some"
