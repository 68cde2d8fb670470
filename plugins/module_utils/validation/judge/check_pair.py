# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Checks between two guests, in one direction. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import line as lines
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.check_guest import (
    JUMBO,
    LARGEST_PATH_MTU,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import (
    Found,
    mapping,
    number,
    short,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.spread import where

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import About

# More than this share of the line speed is not possible.
LINE = 1.01
# The check whose figure counts both directions together.
BOTH = "pair.write_bw_both"


def ping(values: Mapping[str, Any], about: About) -> Found:
    """Whether packets of the full MTU arrive, and if not, where they are lost."""
    wanted = about.intent["mtu"]
    packet, sent, received = (number(values.get(key)) for key in ("packet", "sent", "received"))
    text = f"packets of {wanted} bytes" if wanted else "packets of the full MTU"
    answer = Found(packet, low=wanted, expected=text, source="the site")
    if packet is None or received is None:
        return Found(None, expected=text)
    if wanted and packet < wanted:
        return Found(
            None, expected=text, note=f"Packets of {short(packet)} bytes do not test an MTU of {short(wanted)}."
        )
    place, (sender, receiver) = values.get("where"), _ends(about)
    hop, local = mapping(values.get("hop")), number(values.get("local_mtu"))
    lost = f"No packet of {short(packet)} bytes arrived, and no router reported the loss"
    smaller = number(values.get("passes"))
    if place == "local":
        answer.measured = local
        answer.fail(f"{about.subject['from']} sends packets of at most {short(local)} bytes.", sender, "mtu_local")
    elif place == "hop":
        answer.measured = number(hop.get("mtu"))
        answer.fail(
            f"The router {hop.get('address')} on the path forwards at most {short(hop.get('mtu'))} bytes.",
            f"the router {hop.get('address')} between {sender} and {receiver}",
            "mtu_path",
        )
    elif place == "unreachable":
        answer.measured = 0
        answer.fail("The receiver is unreachable.", f"between {sender} and {receiver}", "unreachable")
    elif place == "silent" and "passes" in values and not smaller:
        answer.measured = 0
        why = "No packet of any size arrives."
        answer.fail(why, f"between {sender} and {receiver}", "unreachable")
    elif place == "silent":
        answer.measured = smaller or 0
        if smaller:
            lost = f"Packets of {short(smaller)} bytes arrive, packets of {short(packet)} bytes are dropped silently"
        answer.fail(f"{lost}.", f"the MTU on the path between {sender} and {receiver}", "mtu_path")
    elif place == "some" and sent:
        answer.warn(
            f"{short(sent - received)} of {short(sent)} packets were lost.", f"between {sender} and {receiver}", "loss"
        )
    elif place != "" or not sent or received < sent:
        return Found(None, expected=text)
    return answer


def rping(values: Mapping[str, Any], about: About) -> Found:
    """Whether all RDMA pings were answered."""
    answered, count = number(values.get("answered")), number(values.get("count"))
    answer = Found(answered or None, expected=f"{short(count)} answers" if count else "answers", low=count)
    if answered and count and answered < count:
        answer.fail(f"{short(answered)} of {short(count)} RDMA pings were answered.", _between(about), "rping")
    return answer


def latency(values: Mapping[str, Any], about: About) -> Found:
    """Half a round trip of a small message."""
    usec = number(values.get("usec"))
    answer = Found(usec if usec and usec > 0 else None)
    if answer.measured is not None and number(values.get("bytes")) and values["bytes"] > 64:
        return Found(None, note=f"Messages of {short(values['bytes'])} bytes do not measure latency.")
    worst = number(values.get("p99"))
    if answer.measured and worst:
        answer.note = f"99 % took at most {short(worst)} us."
    return answer


def bandwidth(values: Mapping[str, Any], about: About) -> Found:
    """The received bandwidth, checked for implausible figures: more than the line, small packets, small messages."""
    measured = number(values.get("gbps"))
    if measured is not None and values.get("filling") is False:
        size = short(values.get("bytes"))
        return Found(None, note=f"Messages of {size} bytes do not fill the path, so this is not its bandwidth.")
    both = about.check == BOTH
    if measured and values.get("both_directions") is (not both):
        named = "one direction" if both else "both directions together"
        return Found(None, note=f"The output is of a test of {named}.")
    answer = Found(measured if measured else None)
    line = lines.speed(about)
    if measured and line and not both and measured > LINE * line:
        answer.warn(*_too_much(measured, line, about))
    for guest, rate in lines.slower(about).items() if measured else ():
        why = f"The link of {guest} runs at {short(rate)} Gb/s, the fastest link at {short(line)} Gb/s."
        answer.warn(why, f"the link of {where(guest, about.places)}", "slow_link")
    path_mtu, mtu = number(values.get("mtu")), number(about.intent["mtu"])
    if measured and path_mtu and mtu and mtu >= JUMBO and path_mtu < LARGEST_PATH_MTU:
        why = f"RDMA uses a path MTU of {short(path_mtu)}, but {LARGEST_PATH_MTU} fits into an MTU of {short(mtu)}."
        answer.warn(why, f"the MTU of an adapter {_between(about)}", "path_mtu")
    if "retransmits" in values:
        _tcp(values, answer)
    return answer


def _too_much(measured: float, line: float, about: About) -> tuple[str, str, str]:
    """(why, cause, code) of more than the line speed. A shared host is reported only if the placement shows it."""
    # Sorted, so that both directions name the same location.
    one, other = sorted(about.guests)
    host = mapping(about.places.get(one)).get("host")
    more = f"{short(measured)} Gb/s exceed the line speed"
    if host and host == mapping(about.places.get(other)).get("host"):
        why = f"{more}. The traffic does not use the network."
        return why, f"the host {host}, which runs {one} and {other}", "shared_host"
    why = f"{more}. The line speed of {short(line)} Gb/s is wrong, or both guests share a host."
    return why, f"between {where(one, about.places)} and {where(other, about.places)}", "over_line"


def _tcp(values: Mapping[str, Any], answer: Found) -> None:
    words = []
    if number(values.get("retransmits")):
        words.append(f"{short(values['retransmits'])} segments retransmitted")
    cpu = max(number(values.get(key)) or 0 for key in ("cpu_percent", "remote_cpu_percent"))
    if cpu:
        words.append(f"the busier side used {short(cpu)} % of one core")
    if values.get("threads") is False and number(values.get("processes")) == 1:
        words.append(f"iperf3 {values.get('version')} uses one core for all streams")
    answer.note = f"{'; '.join(words)}.".capitalize() if words else ""


def _ends(about: About) -> tuple[str, str]:
    return where(about.subject["from"], about.places), where(about.subject["to"], about.places)


def _between(about: About) -> str:
    return "between {} and {}".format(*_ends(about))


# The function that reads the values of each check.
LOOKS = {
    "pair.ping_mtu": ping,
    "pair.rping": rping,
    "pair.write_lat": latency,
    "pair.write_bw": bandwidth,
    "pair.write_bw_both": bandwidth,
    "pair.write_bw_gpu": bandwidth,
    "pair.iperf3": bandwidth,
}
