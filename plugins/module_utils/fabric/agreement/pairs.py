# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Findings about settings that both ends of a cable must agree on, in both directions. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.sides import (
    ERROR,
    WARNING,
    finding,
    numbers,
)

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.cabling import Link
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.sides import Finding, Side, Treatment

    class WithMtu(Side):
        """A Side whose MTU is known."""

        @property
        def mtu(self) -> int: ...

    class WithSpeed(Side):
        """A Side whose speed is known."""

        @property
        def speed(self) -> int: ...


# Some switches count the Ethernet header and the VLAN tag around an IP packet.
HEADERS = 18
LOST = "RoCE packets are dropped there under load"


def check(link: Link, one: Side, other: Side, requested: Treatment) -> Iterator[Finding]:
    """The disagreements of two Sides."""
    yield from _flow_control(one, other, requested)
    yield from mtu(one, other, requested)
    yield from _pause(one, other)
    yield from _dcbx(one, other)
    yield from _headroom(link.length_m, one, other, requested)


def _flow_control(one: Side, other: Side, requested: Treatment) -> Iterator[Finding]:
    priority = requested.priority
    if not requested.lossless:
        return
    has = [side.obeys(priority) for side in (one, other)]
    sends = [side.sends(priority) for side in (one, other)]
    if None in has + sends:
        return
    if not any(has + sends):
        yield finding(
            "pfc_missing",
            ERROR,
            one,
            f"has no PFC on priority {priority}",
            f"{requested.source} sets it lossless, but {LOST} in both directions",
            "pfc",
            one.pfc,
            other,
            "has none either",
            other.pfc,
        )
        return
    for side, peer, mine in ((one, other, 0), (other, one, 1)):
        if not has[mine] and not sends[mine]:
            yield _no_such(side, peer, requested)
            return
    for side, peer, mine in ((one, other, 0), (other, one, 1)):
        # Packets from the peer are safe if this side sends pauses and the peer obeys them.
        if not sends[mine] and has[1 - mine] and not (side.is_switch and not requested.sends_pauses):
            yield _one_way(side, peer, priority, "sends no pauses", "would obey them", "sends")
        elif sends[mine] and not has[1 - mine]:
            yield _one_way(side, peer, priority, "sends pauses", "does not obey them", "obeys")


def _no_such(side: Side, peer: Side, requested: Treatment) -> Finding:
    """One end has no PFC, or has it on another priority only."""
    others = [priority for priority in side.pfc or [] if priority != requested.priority]
    code = "pfc_priority" if others else "pfc_one_sided"
    says = f"has PFC on {numbers(others)}" if others else "has no PFC"
    return finding(
        code,
        ERROR,
        side,
        says,
        f"no pause for RoCE takes effect on this cable, and {LOST} in both directions",
        "pfc",
        side.pfc,
        peer,
        f"has PFC on {numbers(peer.pfc)}",
        peer.pfc,
    )


def _one_way(side: Side, peer: Side, priority: int, does: str, does_not: str, key: str) -> Finding:
    return finding(
        "pfc_one_sided",
        ERROR,
        side,
        f"{does} for priority {priority}",
        f"RoCE packets from {peer.place} to {side.place} are dropped under load",
        f"pfc_{key}",
        side.sends(priority),
        peer,
        does_not,
        peer.obeys(priority),
    )


def speed(one: Side, other: Side, fastest: WithSpeed | None) -> Iterator[Finding]:
    """A finding if a cable between switches is slower than the fastest adapter (a Side)."""
    if not (one.is_switch and other.is_switch) or fastest is None:
        return
    known = cast("list[WithSpeed]", [side for side in (one, other) if side.speed])
    slow = min(known, key=lambda side: side.speed, default=None)
    if slow is not None and slow.speed < fastest.speed:
        peer = other if slow is one else one
        yield finding(
            "slow_cable",
            WARNING,
            slow,
            f"is connected to {peer.place} at {slow.speed} Gbit/s",
            "one RoCE flow uses one cable and is limited to its speed",
            "speed",
            slow.speed,
            fastest,
            f"has {fastest.speed} Gbit/s",
            fastest.speed,
        )


def mtu(one: Side, other: Side, requested: Treatment) -> Iterator[Finding]:
    """A finding if an end does not carry the packets that the other sends."""
    if one.mtu is None or other.mtu is None:
        return
    # With equal values the host counts as smaller, since headers are added to its packets.
    small, large = cast("list[WithMtu]", sorted((one, other), key=lambda side: (side.mtu, side.is_switch)))
    if small.is_switch and small.mtu < large.mtu:
        # Platforms count different headers, so between switches only the MTU of the hosts matters.
        if large.is_switch and small.mtu >= (requested.host_mtu or large.mtu - HEADERS):
            return
        yield finding(
            "mtu",
            ERROR,
            small,
            f"has MTU {small.mtu}",
            "large packets are dropped there, although a ping works",
            "mtu",
            small.mtu,
            large,
            f"sends packets of up to {large.mtu} bytes",
            large.mtu,
        )
    elif not large.is_switch and small.endpoint.kind == "esxi" and small.mtu < large.mtu:
        yield finding(
            "mtu",
            ERROR,
            small,
            f"has MTU {small.mtu}",
            "large packets of the guest are dropped there, although a ping works",
            "mtu",
            small.mtu,
            large,
            f"sends packets of up to {large.mtu} bytes",
            large.mtu,
        )
    elif large.is_switch and not small.is_switch and large.mtu - small.mtu < HEADERS:
        yield finding(
            "mtu_tight",
            WARNING,
            large,
            f"has MTU {large.mtu}",
            "switches that count the Ethernet header drop the largest packets",
            "mtu",
            large.mtu,
            small,
            f"sends packets of up to {small.mtu} bytes",
            small.mtu,
        )


def _pause(one: Side, other: Side) -> Iterator[Finding]:
    for side, peer in ((one, other), (other, one)):
        if not side.pause:
            continue
        if peer.pause is False or (peer.pause is None and peer.pfc):
            yield finding(
                "pause",
                ERROR,
                side,
                "uses link-level pause (802.3x) for all traffic",
                "each end uses only one of the two pause mechanisms, so packets are dropped or all traffic stops",
                "pause",
                True,
                peer,
                f"uses only PFC on {numbers(peer.pfc)}" if peer.pfc else "does not",
                False,
            )


def _dcbx(one: Side, other: Side) -> Iterator[Finding]:
    for host, switch in ((one, other), (other, one)):
        if host.is_switch or not switch.is_switch:
            continue
        agent, reports = host.endpoint, switch.port.dcbx
        if agent.dcbx == "cee" and reports == "ieee":
            breaks = "they cannot negotiate priorities"
            yield _owner("dcbx_mode", host, switch, "uses DCBX mode CEE", "uses DCBX mode IEEE", breaks)
        if agent.dcbx_owner == "firmware" and reports == "off":
            yield _owner(
                "dcbx_unanswered",
                host,
                switch,
                "leaves DCBX to the firmware, which expects settings from the switch",
                "sends no DCBX",
                "manual settings are lost with the next restart",
            )
        if agent.dcbx_owner == "os" and agent.willing and reports in ("ieee", "cee"):
            yield _owner(
                "dcbx_two_owners",
                host,
                switch,
                "is configured by its operating system and in DCBX willing mode",
                "announces its own settings",
                "both overwrite each other's settings",
            )


def _owner(code: str, host: Side, switch: Side, says: str, other_says: str, breaks: str) -> Finding:
    agent = host.endpoint
    value = {"mode": agent.dcbx, "owner": agent.dcbx_owner}
    return finding(code, WARNING, host, says, breaks, "dcbx", value, switch, other_says, switch.port.dcbx)


def _headroom(length: int | None, one: Side, other: Side, requested: Treatment) -> Iterator[Finding]:
    """Compare the headroom with a given cable length; the default of an end does not reflect its real cable."""
    needs = length or requested.cable_length_m
    for side in (one, other):
        has = side.cable_length_m
        if requested.lossless and has is not None and needs is not None and has < needs:
            yield finding(
                "headroom",
                WARNING,
                side,
                f"reserves headroom for a cable of {has} m",
                "packets in flight when the pause arrives are dropped",
                "cable_length_m",
                has,
                "the cable" if length else requested.source,
                f"is {needs} m long" if length else f"sets {needs} m",
                needs,
            )
