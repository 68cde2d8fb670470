# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What one port of a switch does to RoCE on its way: DSCP, priority, buffer, queue, pauses, marks. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Mapping, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import compare
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.sides import (
    ERROR,
    WARNING,
    finding,
    numbers,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.sides import Finding, Side, Treatment


# What has to be known of a port before it may be called right, as a person would ask for it.
NEEDED = {
    "trust": "what it trusts",
    "roce_priority": "the priority of RoCE's DSCP",
    "pfc": "flow control",
    "lossless": "which priorities are lossless",
    "ecn": "ECN",
    "mtu": "the MTU",
    "pause": "link-level pause",
    "watchdog": "the watchdog",
}
STALE = "its configuration does not act"
# The most of headers that a platform counts in one place and not in another.
COUNTED = 32
ONLY_LOSSLESS = ("pfc", "lossless", "watchdog")


def unknown(side: Side, wish: Treatment) -> list[str]:
    """What is not known of a port and decides, in words."""
    effect = effect_of(side, wish)
    return [what for key, what in needed(wish).items() if effect[key] is None]


def needed(wish: Treatment) -> dict[str, str]:
    """{key: words} of all that decides."""
    without = {*(() if wish.lossless else ONLY_LOSSLESS), *(() if wish.watchdog else ("watchdog",))}
    return {key: what for key, what in NEEDED.items() if key not in without}


def effect_of(side: Side, wish: Treatment) -> dict[str, Any]:
    """The Port's effect on RoCE."""
    usual = Intent()
    cnp = usual.cnp_dscp if wish.cnp_dscp is None else wish.cnp_dscp
    priority = side.priority_of(cnp) if wish.cnp_priority is None else wish.cnp_priority
    return compare.effect(
        side.port,
        Intent(
            priority=wish.priority,
            dscp=wish.dscp,
            cnp_dscp=cnp,
            cnp_priority=usual.cnp_priority if priority is None else priority,
        ),
    )


def check(side: Side, wish: Treatment, peer: Side | None = None, marking: Side | None = None) -> Iterator[Finding]:
    """The disagreements of a port with the treatment; peer: the Side it leads to; marking: a port that marks."""
    effect = effect_of(side, wish)
    yield from _class_of_roce(side, wish, effect, peer)
    if wish.lossless:
        yield from _lossless(side, wish, effect, peer)
    else:
        yield from _lossy(side, wish, peer)
    yield from _marks(side, wish, effect, marking)
    yield from _notifications(side, wish, effect)
    yield from _acting(side, effect)
    yield from _storms(side, wish)


def _storms(side: Side, wish: Treatment) -> Iterator[Finding]:
    """Queues that the watchdog holds up now: their packets are dropped until the peer stops pausing."""
    storms = side.oper.storms if side.oper is not None else None
    if not storms:
        return
    queue = (side.port.queues or {}).get(wish.priority)
    of_roce = queue is None or queue in storms
    queues = f"queue{'s' if storms[1:] else ''} {', '.join(map(str, storms))}"
    says = f"has a storm of pauses now, and its watchdog holds up {queues}"
    whose = "RoCE" if of_roce else "another class"
    breaks = f"packets of {whose} are dropped until the peer stops pausing"
    yield finding("pfc_storm", ERROR if of_roce else WARNING, side, says, breaks, "storms", storms)


def _class_of_roce(side: Side, wish: Treatment, effect: Mapping[str, Any], peer: Side | None) -> Iterator[Finding]:
    """A port that does not look at the DSCP has no use for a table of DSCPs: one finding, and not two."""
    trust, priority = effect["trust"], effect["roce_priority"]
    marks = f"RoCE is known by DSCP {wish.dscp} alone"
    if trust not in (None, "dscp", "both"):
        looks = {"pcp": "trusts the VLAN tag (802.1p)", "none": "trusts nothing"}.get(trust, f"trusts {trust}")
        breaks = f"{marks}; packets without a tag get priority 0 and are dropped under load"
        yield finding("trust", ERROR, side, looks, breaks, "trust", trust, *_wants(wish, peer, "dscp"))
    elif priority is not None and priority != wish.priority:
        yield finding(
            "dscp_map",
            ERROR,
            side,
            f"puts DSCP {wish.dscp} into priority {priority}",
            "packets of RoCE are in another class than its pauses, and are dropped under load"
            if wish.lossless
            else "packets of RoCE share a queue with other traffic",
            "roce_priority",
            priority,
            *_wants(wish, peer, wish.priority),
        )


def _wants(wish: Treatment, peer: Side | None, value: int | str) -> tuple[Side | str, str, int | str]:
    """Who is in disagreement with the port, for finding(): the host behind it, or whoever wants it."""
    if peer is not None and not peer.is_switch and value in (peer.pfc or []):
        return peer, f"pauses priority {value}", value
    if peer is not None and value == "dscp" and not peer.is_switch:
        return peer, f"marks by DSCP {wish.dscp}", value
    reads = peer is not None and peer.is_switch and peer.port.trust in ("dscp", "both")
    if reads and value != "dscp" and cast("Side", peer).priority_of(wish.dscp) == value:
        return cast("Side", peer), f"puts it into priority {value}", value
    return wish.source, f"wants {'priority ' if value != 'dscp' else 'trust in '}{value}", value


def _lossless(side: Side, wish: Treatment, effect: Mapping[str, Any], peer: Side | None) -> Iterator[Finding]:
    priority, port, oper = wish.priority, side.port, side.oper
    on = priority in (side.pfc or [])
    running = None if oper is None or oper.up is False else oper.pfc
    if on and port.pfc_mode == "auto" and (running is None or priority not in running):
        silent = peer is not None and not peer.is_switch and peer.endpoint.dcbx not in ("ieee", "cee")
        if running is not None or silent:
            yield finding(
                "pfc_auto",
                ERROR,
                side,
                "leaves flow control to DCBX (auto), and nothing was agreed",
                f"priority {priority} is not paused, although it is configured",
                "pfc_mode",
                "auto",
                peer,
                "speaks no DCBX" if silent else f"pauses {numbers(peer.pfc)}" if peer else "",
                None if peer is None else peer.pfc,
            )
    elif on and running is not None and priority not in running:
        yield finding(
            "pfc_not_acting",
            ERROR,
            side,
            f"is set to pause priority {priority} and acts on {numbers(running)}",
            "packets of RoCE are dropped under load",
            "pfc",
            running,
        )
    others = [one for one in side.pfc or [] if one != priority]
    if on and others:
        yield finding(
            "pfc_more_priorities",
            WARNING,
            side,
            f"pauses {numbers(side.pfc)}",
            "what is not RoCE can stop ports too, and each class takes buffer from the others",
            "pfc",
            side.pfc,
            wish.source,
            f"wants priority {priority} alone",
            [priority],
        )
    yield from _buffers(side, wish, effect, on)
    if on and effect["watchdog"] is False and wish.watchdog:
        yield finding(
            "watchdog_off",
            WARNING,
            side,
            "pauses and has no watchdog",
            "one adapter that never stops to send pauses freezes the fabric",
            "watchdog",
            False,
        )


def _buffers(side: Side, wish: Treatment, effect: Mapping[str, Any], on: bool) -> Iterator[Finding]:
    priority = wish.priority
    if on and effect["lossless"] is not None and priority not in effect["lossless"]:
        yield finding(
            "no_headroom",
            ERROR,
            side,
            f"pauses priority {priority} and keeps no lossless buffer for it",
            "what arrives until the pause acts is dropped",
            "lossless",
            effect["lossless"],
        )
    if effect["roce_pauses_own_queue"] is False and on:
        yield finding(
            "pauses_other_queue",
            ERROR,
            side,
            f"stops another queue than RoCE's when it is asked to pause priority {priority}",
            "packets go on to a peer that has no room for them",
            "pfc_queues",
            (side.port.pfc_queues or {}).get(priority),
        )
    for key, code, what in (
        ("roce_queue_shared_with", "queue_shared", "the queue"),
        ("roce_group_shared_with", "group_shared", "the priority group"),
    ):
        if effect[key]:
            yield finding(
                code,
                WARNING,
                side,
                f"has {numbers(effect[key])} in {what} of RoCE too",
                "other traffic is paused with RoCE, and fills its buffer",
                key,
                effect[key],
            )


def _lossy(side: Side, wish: Treatment, peer: Side | None) -> Iterator[Finding]:
    if side.pfc and wish.priority in side.pfc:
        yield finding(
            "pfc_unwanted",
            WARNING,
            side,
            f"pauses {numbers(side.pfc)}",
            "pauses spread through a fabric that is to do without them",
            "pfc",
            side.pfc,
            wish.source,
            "wants none",
            [],
        )


def _marks(side: Side, wish: Treatment, effect: Mapping[str, Any], marking: Side | None) -> Iterator[Finding]:
    told = effect["ecn"]
    if told is None:
        return
    if told and told.get("mark") is False:
        yield finding(
            "wred_drops",
            ERROR,
            side,
            "drops packets of RoCE early (WRED without ECN)",
            "they are lost where they should be marked",
            "ecn",
            told,
        )
    elif not told and wish.ecn:
        yield finding(
            "ecn_hop",
            ERROR if not wish.lossless else WARNING,
            side,
            "marks nothing",
            "senders do not hear of congestion there, and pauses spread"
            if wish.lossless
            else "senders do not hear of congestion there, and packets are dropped",
            "ecn",
            {},
            marking if marking is not None else wish.source,
            "marks" if marking is not None else "wants ECN at every hop",
            True,
        )


def _notifications(side: Side, wish: Treatment, effect: Mapping[str, Any]) -> Iterator[Finding]:
    """Congestion notifications have a class of their own, which goes first and is never paused."""
    if wish.cnp_dscp is None or effect["trust"] not in ("dscp", "both"):
        return
    priority = effect["cnp_priority"]
    if priority is None:
        return
    subject = f"puts congestion notifications (DSCP {wish.cnp_dscp}) into priority {priority}"
    if priority == wish.priority or (wish.lossless and priority in (side.pfc or [])):
        yield finding(
            "cnp_with_roce",
            ERROR,
            side,
            f"{subject}, which is paused",
            "senders hear of congestion when it is over",
            "cnp_priority",
            priority,
        )
    elif wish.cnp_priority is not None and priority != wish.cnp_priority:
        yield finding(
            "cnp_map",
            WARNING,
            side,
            subject,
            "they wait behind other traffic, and senders slow down too late",
            "cnp_priority",
            priority,
            wish.source,
            f"wants priority {wish.cnp_priority}",
            wish.cnp_priority,
        )
    elif effect["cnp_strict"] is False:
        yield finding(
            "cnp_not_strict",
            WARNING,
            side,
            f"{subject}, whose queue does not go first",
            "they wait behind other traffic, and senders slow down too late",
            "cnp_strict",
            False,
        )


def _acting(side: Side, effect: Mapping[str, Any]) -> Iterator[Finding]:
    """What runs is not what is configured."""
    oper = side.oper
    if oper is None or oper.up is False:
        return
    kinds = ("dscp", "both")
    if (
        oper.trust
        and effect["trust"]
        and oper.trust != effect["trust"]
        and not {oper.trust, effect["trust"]} <= {*kinds}
    ):
        says = f"is set to trust {effect['trust']} and runs with {oper.trust}"
        yield finding("not_acting", ERROR, side, says, STALE, "trust", oper.trust)
    if oper.mtu and effect["mtu"] and oper.mtu < effect["mtu"] - COUNTED:
        says = f"is set to an MTU of {effect['mtu']} and runs with {oper.mtu}"
        yield finding("not_acting", ERROR, side, says, STALE, "mtu", oper.mtu)
    if effect["watchdog"] and oper.watchdog is False:
        yield finding("not_acting", WARNING, side, "has a watchdog that does not run", STALE, "watchdog", False)
