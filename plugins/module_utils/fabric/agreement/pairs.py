# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What the two ends of a cable have to agree on, in both directions. Pure."""

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


# A switch may count what is around a packet of IP: Ethernet header, VLAN tag.
HEADERS = 18
LOST = "packets of RoCE are dropped there under load"


def check(link: Link, one: Side, other: Side, wish: Treatment) -> Iterator[Finding]:
    """The disagreements of two Sides."""
    yield from _flow_control(one, other, wish)
    yield from mtu(one, other, wish)
    yield from _pause(one, other)
    yield from _dcbx(one, other)
    yield from _headroom(link.length_m, one, other, wish)


def _flow_control(one: Side, other: Side, wish: Treatment) -> Iterator[Finding]:
    priority = wish.priority
    if not wish.lossless:
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
            f"does not pause priority {priority}",
            f"{wish.source} wants it lossless, and {LOST} in both directions",
            "pfc",
            one.pfc,
            other,
            "does not either",
            other.pfc,
        )
        return
    for side, peer, mine in ((one, other, 0), (other, one, 1)):
        if not has[mine] and not sends[mine]:
            yield _no_such(side, peer, wish)
            return
    for side, peer, mine in ((one, other, 0), (other, one, 1)):
        # Packets from the peer are safe when this side asks it to wait, and it does.
        if not sends[mine] and has[1 - mine] and not (side.is_switch and not wish.sends_pauses):
            yield _one_way(side, peer, priority, "sends no pauses", "would obey them", "sends")
        elif sends[mine] and not has[1 - mine]:
            yield _one_way(side, peer, priority, "sends pauses", "does not obey them", "obeys")


def _no_such(side: Side, peer: Side, wish: Treatment) -> Finding:
    """One end lacks the priority altogether, or has another one."""
    others = [priority for priority in side.pfc or [] if priority != wish.priority]
    code = "pfc_priority" if others else "pfc_one_sided"
    says = f"pauses {numbers(others)}" if others else "pauses nothing"
    return finding(
        code,
        ERROR,
        side,
        says,
        f"no pause for RoCE ever acts on this cable, and {LOST} in both directions",
        "pfc",
        side.pfc,
        peer,
        f"pauses {numbers(peer.pfc)}",
        peer.pfc,
    )


def _one_way(side: Side, peer: Side, priority: int, does: str, does_not: str, key: str) -> Finding:
    return finding(
        "pfc_one_sided",
        ERROR,
        side,
        f"{does} for priority {priority}",
        f"packets of RoCE from {peer.place} to {side.place} are dropped under load",
        f"pfc_{key}",
        side.sends(priority),
        peer,
        does_not,
        peer.obeys(priority),
    )


def speed(one: Side, other: Side, fastest: WithSpeed | None) -> Iterator[Finding]:
    """Whether a cable between switches is as fast as the fastest adapter (a Side), whose packets it may carry."""
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
            f"has a cable of {slow.speed} Gbit/s to {peer.place}",
            "one flow of RoCE goes by one cable, and gets no more than that",
            "speed",
            slow.speed,
            fastest,
            f"has {fastest.speed} Gbit/s",
            fastest.speed,
        )


def mtu(one: Side, other: Side, wish: Treatment) -> Iterator[Finding]:
    """Whether each carries what the other sends."""
    if one.mtu is None or other.mtu is None:
        return
    # Of equals the host is the smaller one: what it sends has headers around it.
    small, large = cast("list[WithMtu]", sorted((one, other), key=lambda side: (side.mtu, side.is_switch)))
    if small.is_switch and small.mtu < large.mtu:
        # Platforms count different headers: between switches it matters whether what hosts send gets through.
        if large.is_switch and small.mtu >= (wish.host_mtu or large.mtu - HEADERS):
            return
        yield finding(
            "mtu",
            ERROR,
            small,
            f"carries {small.mtu} bytes",
            "large packets vanish there, while a ping works",
            "mtu",
            small.mtu,
            large,
            f"sends up to {large.mtu}",
            large.mtu,
        )
    elif not large.is_switch and small.endpoint.kind == "esxi" and small.mtu < large.mtu:
        yield finding(
            "mtu",
            ERROR,
            small,
            f"carries {small.mtu} bytes",
            "large packets of the guest vanish there, while a ping works",
            "mtu",
            small.mtu,
            large,
            f"sends up to {large.mtu}",
            large.mtu,
        )
    elif large.is_switch and not small.is_switch and large.mtu - small.mtu < HEADERS:
        yield finding(
            "mtu_tight",
            WARNING,
            large,
            f"carries {large.mtu} bytes",
            "switches that count the Ethernet header drop the largest packets",
            "mtu",
            large.mtu,
            small,
            f"sends up to {small.mtu}",
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
                "pauses all traffic of the link (802.3x)",
                "one of the two mechanisms is off at each end, and packets are dropped or everything stands still",
                "pause",
                True,
                peer,
                f"pauses {numbers(peer.pfc)} alone" if peer.pfc else "does not",
                False,
            )


def _dcbx(one: Side, other: Side) -> Iterator[Finding]:
    for host, switch in ((one, other), (other, one)):
        if host.is_switch or not switch.is_switch:
            continue
        agent, tells = host.endpoint, switch.port.dcbx
        if agent.dcbx == "cee" and tells == "ieee":
            breaks = "they never agree on priorities"
            yield _owner("dcbx_mode", host, switch, "speaks DCBX of the kind CEE", "speaks IEEE", breaks)
        if agent.dcbx_owner == "firmware" and tells == "off":
            yield _owner(
                "dcbx_unanswered",
                host,
                switch,
                "leaves its settings to the firmware, which asks the switch",
                "announces nothing",
                "what was set by hand goes away with the next restart",
            )
        if agent.dcbx_owner == "os" and agent.willing and tells in ("ieee", "cee"):
            yield _owner(
                "dcbx_two_owners",
                host,
                switch,
                "is set by its operating system and willing to take other settings",
                "announces its own",
                "two owners overwrite each other",
            )


def _owner(code: str, host: Side, switch: Side, says: str, other_says: str, breaks: str) -> Finding:
    agent = host.endpoint
    value = {"mode": agent.dcbx, "owner": agent.dcbx_owner}
    return finding(code, WARNING, host, says, breaks, "dcbx", value, switch, other_says, switch.port.dcbx)


def _headroom(length: int | None, one: Side, other: Side, wish: Treatment) -> Iterator[Finding]:
    """What an end counts on by default says nothing about a cable: it has to be told how long that is."""
    needs = length or wish.cable_length_m
    for side in (one, other):
        has = side.cable_length_m
        if wish.lossless and has is not None and needs is not None and has < needs:
            yield finding(
                "headroom",
                WARNING,
                side,
                f"keeps headroom for a cable of {has} m",
                "packets that are under way when the pause arrives find no room",
                "cable_length_m",
                has,
                "the cable" if length else wish.source,
                f"has {needs} m" if length else f"wants {needs} m",
                needs,
            )
