# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Findings about the RoCE QoS of one adapter of a host or guest. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.sides import (
    ERROR,
    WARNING,
    finding,
    numbers,
)

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.sides import Finding, Side, Treatment


NEEDED = {
    "trust": "the trust mode",
    "pfc": "PFC",
    "mtu": "the MTU",
    "pause": "link-level pause",
    "ecn": "the reaction to ECN marks",
    "cnp_dscp": "the CNP DSCP",
}
DSCP = "the RoCE DSCP"
# Settings that the host decides for its guests, since it keeps the adapter.
OF_THE_HOST = ("trust", "pfc", "pause", "ecn", "cnp_dscp")
FIRMWARE_AGENT = "the firmware"


def unknown(side: Side, requested: Treatment, behind_host: bool = False, stamped_by: Side | None = None) -> list[str]:
    """The relevant settings of an adapter that are unknown, in words."""
    found = [NEEDED[key] for key in _keys(requested, behind_host) if getattr(side.endpoint, key) is None]
    if side.endpoint.dscps() is None and stamped_by is None:
        found.insert(0, DSCP)
    return found


def needed(requested: Treatment, behind_host: bool = False) -> list[str]:
    """All relevant settings, in words."""
    return [DSCP, *(NEEDED[key] for key in _keys(requested, behind_host))]


def _keys(requested: Treatment, behind_host: bool) -> list[str]:
    return [
        key
        for key in NEEDED
        if (requested.lossless or key != "pfc")
        and (requested.ecn or key not in ("ecn", "cnp_dscp"))
        and not (behind_host and key in OF_THE_HOST)
    ]


def check(
    side: Side, requested: Treatment, peer: Side | None = None, stamped_by: Side | None = None
) -> Iterator[Finding]:
    """The disagreements of an adapter with the treatment; stamped_by: the host's adapter that marks for a guest."""
    adapter = side.endpoint
    yield from _marks(side, requested, peer, stamped_by)
    yield from _class(side, requested)
    if requested.lossless:
        yield from _pauses(side, requested)
    yield from _notifications(side, requested, peer)
    if requested.ecn and adapter.ecn is not None and requested.priority not in adapter.ecn:
        yield finding(
            "ecn_host",
            WARNING if requested.lossless else ERROR,
            side,
            f"does not react to ECN marks for priority {requested.priority}",
            "it does not slow down when switches mark its packets",
            "ecn",
            adapter.ecn,
        )
    for device, mtu in sorted(adapter.vmkernel.items()):
        if adapter.mtu is not None and mtu > adapter.mtu:
            yield finding(
                "mtu",
                ERROR,
                side,
                f"has MTU {adapter.mtu}",
                "large packets are dropped there, although a ping works",
                "mtu",
                adapter.mtu,
                f"{side.owner} {device}",
                f"sends packets of up to {mtu} bytes",
                mtu,
            )
    if adapter.pending:
        yield finding(
            "waits_for_restart",
            WARNING,
            side,
            f"has settings that are pending reboot ({', '.join(adapter.pending)})",
            "the checked values change with the next restart",
            "pending",
            adapter.pending,
        )
    agents = [*adapter.agents, *([FIRMWARE_AGENT] if adapter.dcbx_owner == "firmware" else [])]
    if len(agents) > 1:
        yield finding(
            "two_lldp_agents",
            WARNING,
            side,
            f"sends LLDP from {' and '.join(agents)}",
            "they overwrite each other's settings, and PFC turns off after a restart",
            "agents",
            agents,
        )


def _fate(dscp: int, peer: Side | None) -> str:
    """What the switch behind the adapter does to packets whose DSCP is not the RoCE DSCP."""
    goes = peer.priority_of(dscp) if peer is not None and peer.is_switch else None
    if goes is None:
        return "switches do not treat them as RoCE and drop them under load"
    into = f"{cast('Side', peer).place} maps them to priority {goes}"
    if goes in (cast("Side", peer).pfc or ()):
        return f"{into}, which is lossless there, but switches without this mapping drop them under load"
    return f"{into} and drops them under load"


def _marks(side: Side, requested: Treatment, peer: Side | None, stamped_by: Side | None) -> Iterator[Finding]:
    if side.endpoint.stamps is False:
        yield finding(
            "stamps_nothing",
            WARNING,
            side,
            "does not set a DSCP on RoCE packets itself",
            "host packets have no DSCP, guest packets only that of the guest; unmarked packets are dropped under load",
            "stamps",
            False,
            requested.source,
            f"uses DSCP {requested.dscp} for RoCE",
            requested.dscp,
        )
    dscps = side.endpoint.dscps()
    if stamped_by is not None or dscps is None:
        return
    where = [dscp for dscp in dscps if dscp != requested.dscp]
    if dscps == [0]:
        yield finding(
            "marks_nothing",
            ERROR,
            side,
            "sets no DSCP on RoCE packets",
            "switches treat them like other traffic and drop them under load",
            "dscp",
            0,
            requested.source,
            f"uses DSCP {requested.dscp} for RoCE",
            requested.dscp,
        )
    elif where:
        yield finding(
            "dscp_differs",
            ERROR,
            side,
            f"sets DSCP {', '.join(map(str, where))} on RoCE packets",
            _fate(where[0], peer),
            "dscp",
            where[0] if len(where) == 1 else where,
            requested.source,
            f"uses DSCP {requested.dscp} for RoCE",
            requested.dscp,
        )
    bare = side.endpoint.without_ect()
    if bare and requested.ecn:
        yield finding(
            "not_ecn_capable",
            WARNING,
            side,
            f"does not set the ECN-capable bits ({', '.join(bare)})",
            "switches drop its packets instead of marking them, unless the adapter sets the bits itself",
            "traffic_class",
            [mark["traffic_class"] for mark in side.endpoint.marks or []],
        )


def _class(side: Side, requested: Treatment) -> Iterator[Finding]:
    adapter = side.endpoint
    if adapter.trust == "pcp":
        yield finding(
            "trust",
            ERROR,
            side,
            "trusts the VLAN tag (802.1p)",
            f"DSCP {requested.dscp} does not select its PFC priority and buffer",
            "trust",
            "pcp",
            requested.source,
            "sets trust dscp",
            "dscp",
        )
        return
    priority = side.priority_of(requested.dscp)
    if priority is not None and priority != requested.priority:
        yield finding(
            "dscp_map",
            ERROR,
            side,
            f"maps DSCP {requested.dscp} to priority {priority}",
            f"it continues to send RoCE while priority {requested.priority} is paused",
            "dscp_map",
            priority,
            requested.source,
            f"sets priority {requested.priority}",
            requested.priority,
        )


def _pauses(side: Side, requested: Treatment) -> Iterator[Finding]:
    adapter = side.endpoint
    others = [one for one in adapter.pfc or [] if one != requested.priority]
    if others and requested.priority in cast("list[int]", adapter.pfc):
        yield finding(
            "pfc_more_priorities",
            WARNING,
            side,
            f"has PFC on {numbers(adapter.pfc)}",
            "traffic other than RoCE can also pause ports",
            "pfc",
            adapter.pfc,
            requested.source,
            f"sets PFC on priority {requested.priority} only",
            [requested.priority],
        )
    set_to = {*(adapter.pfc_obeys or [])} & {*(adapter.pfc_sends or [])}
    if adapter.pfc is not None and requested.priority in set_to.difference(adapter.pfc):
        yield finding(
            "pfc_not_acting",
            ERROR,
            side,
            f"has PFC configured on priority {requested.priority} but effective on {numbers(adapter.pfc)}",
            "RoCE packets are dropped under load",
            "pfc",
            adapter.pfc,
        )


def _notifications(side: Side, requested: Treatment, peer: Side | None) -> Iterator[Finding]:
    """Findings about the CNP DSCP; hops.py checks how switches treat notifications with the right DSCP."""
    dscp = side.endpoint.cnp_dscp
    if dscp is None or dscp == requested.cnp_dscp:
        return
    goes = peer.priority_of(dscp) if peer is not None and peer.is_switch else None
    fate = f"{cast('Side', peer).place} maps them to priority {goes}, where" if goes is not None else "on the way"
    yield finding(
        "cnp_dscp",
        WARNING,
        side,
        f"sends congestion notifications with DSCP {dscp}",
        f"{fate} they wait behind other traffic, and senders slow down too late",
        "cnp_dscp",
        dscp,
        requested.source,
        f"uses DSCP {requested.cnp_dscp} for them",
        requested.cnp_dscp,
    )
