# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The desired RoCE QoS: that of an intent, or else that of most of the fabric. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Iterable, Sequence, TypeVar

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.sides import Treatment
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.sides import Side

    U = TypeVar("U")


def of_intent(requested: Intent, sides: Iterable[Side]) -> Treatment:
    """The Treatment of an Intent."""
    return Treatment(
        dscp=requested.dscp,
        priority=requested.priority,
        cnp_dscp=requested.cnp_dscp,
        cnp_priority=requested.cnp_priority,
        lossless=bool(requested.lossless),
        sends_pauses=requested.sends_pauses,
        ecn=requested.ecn.enabled,
        watchdog=requested.watchdog.enabled,
        host_mtu=_host_mtu(sides),
        cable_length_m=requested.cable_length_m,
        from_intent=True,
    )


def of_fabric(sides: Sequence[Side]) -> Treatment:
    """The Treatment of most RoCE Sides; hosts count first, since they mark RoCE packets."""
    usual = Intent()
    hosts = [side for side in sides if not side.is_switch]
    switches = [side for side in sides if side.is_switch]
    stamps = [dscp for side in hosts for dscp in side.endpoint.dscps() or [] if dscp]
    dscp = _most(stamps, usual.dscp)
    priority = _priority(hosts, switches, dscp)
    notes = [side.endpoint for side in hosts]
    cnp_dscp = _most([one.cnp_dscp for one in notes if one.cnp_dscp is not None], usual.cnp_dscp)
    return Treatment(
        dscp=dscp,
        priority=priority,
        cnp_dscp=cnp_dscp,
        cnp_priority=_most([one.cnp_priority for one in notes if one.cnp_priority is not None], None),
        lossless=any(priority in (side.pfc or []) for side in sides),
        sends_pauses=not switches or any(side.sends(priority) for side in switches),
        ecn=any(marking.mark for side in switches for marking in (side.port.ecn or {}).values()),
        host_mtu=_host_mtu(sides),
    )


def as_data(requested: Treatment) -> dict[str, object]:
    """The desired state, as part of a result."""
    return {
        "source": "intent" if requested.from_intent else "fabric",
        "dscp": requested.dscp,
        "priority": requested.priority,
        "cnp_dscp": requested.cnp_dscp,
        "cnp_priority": requested.cnp_priority,
        "lossless": requested.lossless,
        "ecn": requested.ecn,
    }


def _priority(hosts: Sequence[Side], switches: Sequence[Side], dscp: int) -> int:
    paused = [side.pfc[0] for side in hosts if side.pfc and len(side.pfc) == 1]
    if not paused:
        # Without hosts: the priority that switches map the RoCE DSCP to, if it is lossless.
        mapped = [side.priority_of(dscp) for side in switches]
        paused = [one for one, side in zip(mapped, switches) if one is not None and one in (side.pfc or [])]
    return _most(paused, Intent().priority)


def _host_mtu(sides: Iterable[Side]) -> int | None:
    return max((side.mtu for side in sides if not side.is_switch and side.mtu is not None), default=None)


def _most(values: Sequence[int], usual: U) -> int | U:
    """The most frequent value; the usual one on a tie or without values."""
    if not values:
        return usual
    counted = Counter(values)
    return min(counted, key=lambda value: (-counted[value], value != usual, value))
