# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Findings about the RoCE QoS of one switch port: DSCP, priority, buffer, queue, PFC, ECN. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, cast

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
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Effect, PortEffect


# Settings that must be known before a port counts as correct, in words for people.
NEEDED = {
    "trust": "the trust mode",
    "roce_priority": "the priority of the RoCE DSCP",
    "pfc": "PFC",
    "lossless": "the lossless priorities",
    "ecn": "ECN",
    "mtu": "the MTU",
    "pause": "link-level pause",
    "watchdog": "the watchdog",
}
STALE = "its configuration is not effective"
# Most header bytes that a platform counts in one place and not in another.
COUNTED = 32
ONLY_LOSSLESS = ("pfc", "lossless", "watchdog")


def unknown(side: Side, requested: Treatment) -> list[str]:
    """The relevant settings of a port that are unknown, in words."""
    effect: Effect = effect_of(side, requested)
    return [what for key, what in needed(requested).items() if effect[key] is None]


def needed(requested: Treatment) -> dict[str, str]:
    """{key: words} of all relevant settings."""
    without = {*(() if requested.lossless else ONLY_LOSSLESS), *(() if requested.watchdog else ("watchdog",))}
    return {key: what for key, what in NEEDED.items() if key not in without}


def effect_of(side: Side, requested: Treatment) -> PortEffect:
    """The Port's effect on RoCE."""
    usual = Intent()
    cnp = usual.cnp_dscp if requested.cnp_dscp is None else requested.cnp_dscp
    priority = side.priority_of(cnp) if requested.cnp_priority is None else requested.cnp_priority
    return compare.effect(
        side.port,
        Intent(
            priority=requested.priority,
            dscp=requested.dscp,
            cnp_dscp=cnp,
            cnp_priority=usual.cnp_priority if priority is None else priority,
        ),
    )


def check(side: Side, requested: Treatment, peer: Side | None = None, marking: Side | None = None) -> Iterator[Finding]:
    """The disagreements of a port with the treatment; peer: the other end; marking: a port with ECN."""
    effect = effect_of(side, requested)
    yield from _class_of_roce(side, requested, effect, peer)
    if requested.lossless:
        yield from _lossless(side, requested, effect, peer)
    else:
        yield from _lossy(side, requested, peer)
    yield from _marks(side, requested, effect, marking)
    yield from _notifications(side, requested, effect)
    yield from _acting(side, effect)
    yield from _storms(side, requested)


def _storms(side: Side, requested: Treatment) -> Iterator[Finding]:
    """Queues that the watchdog blocks now: their packets are dropped until the peer stops sending pauses."""
    storms = side.oper.storms if side.oper is not None else None
    if not storms:
        return
    queue = (side.port.queues or {}).get(requested.priority)
    of_roce = queue is None or queue in storms
    queues = f"queue{'s' if storms[1:] else ''} {', '.join(map(str, storms))}"
    says = f"is in a PFC storm, and its watchdog blocks {queues}"
    whose = "RoCE packets" if of_roce else "packets of another priority"
    breaks = f"{whose} are dropped until the peer stops sending pauses"
    yield finding("pfc_storm", ERROR if of_roce else WARNING, side, says, breaks, "storms", storms)


def _class_of_roce(side: Side, requested: Treatment, effect: PortEffect, peer: Side | None) -> Iterator[Finding]:
    """One finding, not two: a port that does not trust the DSCP does not use its DSCP map."""
    trust, priority = effect["trust"], effect["roce_priority"]
    marks = f"RoCE is identified only by DSCP {requested.dscp}"
    if trust not in (None, "dscp", "both"):
        looks = {"pcp": "trusts the VLAN tag (802.1p)", "none": "trusts no marking"}.get(trust, f"trusts {trust}")
        breaks = f"{marks}; packets without a tag get priority 0 and are dropped under load"
        yield finding("trust", ERROR, side, looks, breaks, "trust", trust, *_wants(requested, peer, "dscp"))
    elif priority is not None and priority != requested.priority:
        yield finding(
            "dscp_map",
            ERROR,
            side,
            f"maps DSCP {requested.dscp} to priority {priority}",
            "RoCE packets are not in the PFC priority and are dropped under load"
            if requested.lossless
            else "RoCE packets share a queue with other traffic",
            "roce_priority",
            priority,
            *_wants(requested, peer, requested.priority),
        )


def _wants(requested: Treatment, peer: Side | None, value: int | str) -> tuple[Side | str, str, int | str]:
    """The other end for finding(): the host or switch behind the port, or the source of the desired state."""
    if peer is not None and not peer.is_switch and value in (peer.pfc or []):
        return peer, f"has PFC on priority {value}", value
    if peer is not None and value == "dscp" and not peer.is_switch:
        return peer, f"marks RoCE with DSCP {requested.dscp}", value
    reads = peer is not None and peer.is_switch and peer.port.trust in ("dscp", "both")
    if reads and value != "dscp" and cast("Side", peer).priority_of(requested.dscp) == value:
        return cast("Side", peer), f"maps it to priority {value}", value
    return requested.source, f"sets {'priority' if value != 'dscp' else 'trust'} {value}", value


def _lossless(side: Side, requested: Treatment, effect: PortEffect, peer: Side | None) -> Iterator[Finding]:
    priority, port, oper = requested.priority, side.port, side.oper
    on = priority in (side.pfc or [])
    running = None if oper is None or oper.up is False else oper.pfc
    if on and port.pfc_mode == "auto" and (running is None or priority not in running):
        silent = peer is not None and not peer.is_switch and peer.endpoint.dcbx not in ("ieee", "cee")
        if running is not None or silent:
            yield finding(
                "pfc_auto",
                ERROR,
                side,
                "leaves PFC to DCBX (auto), but nothing was negotiated",
                f"PFC on priority {priority} is configured but not effective",
                "pfc_mode",
                "auto",
                peer,
                "sends no DCBX" if silent else f"has PFC on {numbers(peer.pfc)}" if peer else "",
                None if peer is None else peer.pfc,
            )
    elif on and running is not None and priority not in running:
        yield finding(
            "pfc_not_acting",
            ERROR,
            side,
            f"has PFC configured on priority {priority} but effective on {numbers(running)}",
            "RoCE packets are dropped under load",
            "pfc",
            running,
        )
    others = [one for one in side.pfc or [] if one != priority]
    if on and others:
        yield finding(
            "pfc_more_priorities",
            WARNING,
            side,
            f"has PFC on {numbers(side.pfc)}",
            "traffic other than RoCE can also pause ports, and each lossless priority takes buffer from the others",
            "pfc",
            side.pfc,
            requested.source,
            f"sets PFC on priority {priority} only",
            [priority],
        )
    yield from _buffers(side, requested, effect, on)
    if on and effect["watchdog"] is False and requested.watchdog:
        yield finding(
            "watchdog_off",
            WARNING,
            side,
            "has PFC but no PFC watchdog",
            "one adapter that sends pauses without end can block the fabric",
            "watchdog",
            False,
        )


def _buffers(side: Side, requested: Treatment, effect: Effect, on: bool) -> Iterator[Finding]:
    priority = requested.priority
    if on and effect["lossless"] is not None and priority not in effect["lossless"]:
        yield finding(
            "no_headroom",
            ERROR,
            side,
            f"has PFC on priority {priority} but no lossless buffer for it",
            "packets that arrive before the pause takes effect are dropped",
            "lossless",
            effect["lossless"],
        )
    if effect["roce_pauses_own_queue"] is False and on:
        yield finding(
            "pauses_other_queue",
            ERROR,
            side,
            f"stops a queue other than the RoCE queue when it receives a pause for priority {priority}",
            "it continues to send packets to a peer whose buffer is full",
            "pfc_queues",
            (side.port.pfc_queues or {}).get(priority),
        )
    for key, code, what in (
        ("roce_queue_shared_with", "queue_shared", "queue"),
        ("roce_group_shared_with", "group_shared", "priority group"),
    ):
        if effect[key]:
            yield finding(
                code,
                WARNING,
                side,
                f"also has {numbers(effect[key])} in the RoCE {what}",
                "other traffic is paused together with RoCE and fills its buffer",
                key,
                effect[key],
            )


def _lossy(side: Side, requested: Treatment, peer: Side | None) -> Iterator[Finding]:
    if side.pfc and requested.priority in side.pfc:
        yield finding(
            "pfc_unwanted",
            WARNING,
            side,
            f"has PFC on {numbers(side.pfc)}",
            "pauses spread through a fabric that is configured without PFC",
            "pfc",
            side.pfc,
            requested.source,
            "sets no PFC",
            [],
        )


def _marks(side: Side, requested: Treatment, effect: PortEffect, marking: Side | None) -> Iterator[Finding]:
    reported = effect["ecn"]
    if reported is None:
        return
    if reported and reported.get("mark") is False:
        yield finding(
            "wred_drops",
            ERROR,
            side,
            "drops RoCE packets early (WRED without ECN)",
            "congestion drops packets instead of marking them",
            "ecn",
            reported,
        )
    elif not reported and requested.ecn:
        yield finding(
            "ecn_hop",
            ERROR if not requested.lossless else WARNING,
            side,
            "does not mark packets (ECN is off)",
            "senders are not notified of congestion there, and pauses spread"
            if requested.lossless
            else "senders are not notified of congestion there, and packets are dropped",
            "ecn",
            {},
            marking if marking is not None else requested.source,
            "marks them" if marking is not None else "sets ECN on every hop",
            True,
        )


def _notifications(side: Side, requested: Treatment, effect: PortEffect) -> Iterator[Finding]:
    """Congestion notifications need their own class, with strict priority and without PFC."""
    if requested.cnp_dscp is None or effect["trust"] not in ("dscp", "both"):
        return
    priority = effect["cnp_priority"]
    if priority is None:
        return
    subject = f"maps congestion notifications (DSCP {requested.cnp_dscp}) to priority {priority}"
    if priority == requested.priority or (requested.lossless and priority in (side.pfc or [])):
        yield finding(
            "cnp_with_roce",
            ERROR,
            side,
            f"{subject}, which PFC pauses",
            "notifications are delayed until the congestion is over",
            "cnp_priority",
            priority,
        )
    elif requested.cnp_priority is not None and priority != requested.cnp_priority:
        yield finding(
            "cnp_map",
            WARNING,
            side,
            subject,
            "they wait behind other traffic, and senders slow down too late",
            "cnp_priority",
            priority,
            requested.source,
            f"sets priority {requested.cnp_priority}",
            requested.cnp_priority,
        )
    elif effect["cnp_strict"] is False:
        yield finding(
            "cnp_not_strict",
            WARNING,
            side,
            f"{subject}, whose queue is not strict priority",
            "they wait behind other traffic, and senders slow down too late",
            "cnp_strict",
            False,
        )


def _acting(side: Side, effect: PortEffect) -> Iterator[Finding]:
    """Differences between the configured and the running state."""
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
        says = f"is configured to trust {effect['trust']} but runs with {oper.trust}"
        yield finding("not_acting", ERROR, side, says, STALE, "trust", oper.trust)
    if oper.mtu and effect["mtu"] and oper.mtu < effect["mtu"] - COUNTED:
        says = f"is configured with MTU {effect['mtu']} but runs with {oper.mtu}"
        yield finding("not_acting", ERROR, side, says, STALE, "mtu", oper.mtu)
    if effect["watchdog"] and oper.watchdog is False:
        yield finding(
            "not_acting", WARNING, side, "has a watchdog that is configured but not running", STALE, "watchdog", False
        )
