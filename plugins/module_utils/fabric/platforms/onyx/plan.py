# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compute the settings of NVIDIA Onyx for the requested effects of its ports. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import compare
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.onyx import settings as lines

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Set

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Effect
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Port, Switch

POOL = "aiready-roce"
# {effect: kinds of port settings that cause it}
OF = {
    "trust": {"trust"},
    "roce_priority": {"map"},
    "cnp_priority": {"map"},
    "pfc_mode": {"pfc"},
    "pfc": {"pfc"},
    "pfc_sends": set(),
    "lossless": {"pfc"},
    "roce_queue_shared_with": {"bind"},
    "ecn": {"ecn"},
    "bandwidth_percent": {"ets"},
    "cnp_strict": {"ets"},
}


def set_port(after: lines.Settings, name: str, port: Port, want: Effect, intent: Intent, exact: bool) -> None:
    """Add the settings that one port lacks for its requested effects."""
    now: Effect = compare.effect(port, intent)
    due = compare.differing(now, want, exact)
    queues = cast("dict[int, int]", port.queues)
    roce, cnp = (queues.get(one, one) for one in (intent.priority, intent.cnp_priority))
    if "roce_queue_shared_with" in due:
        for priority in (intent.priority, *now["roce_queue_shared_with"]):
            _to(after, ("bind", name, priority), priority)
        roce = intent.priority
    if "trust" in due:
        after[("trust", name)] = {"dscp": "L3", "both": "both"}[want["trust"]]
    left = now["roce_priority"] if port.trust in ("dscp", "both") else None
    if "roce_priority" in due and left not in (None, intent.cnp_priority):
        # The previous RoCE traffic class stops marking.
        after.pop(("ecn", name, queues.get(left)), None)
    for key, dscp, priority in (
        ("roce_priority", intent.dscp, intent.priority),
        ("cnp_priority", intent.cnp_dscp, intent.cnp_priority),
    ):
        if key in due:
            _to(after, ("map", name, dscp), priority)
    if "pfc_mode" in due or ("pfc" in due and want["pfc_mode"] == "on"):
        after[("pfc", name)] = want["pfc_mode"]
    if "ecn" in due and want["ecn"]:
        limits = want["ecn"]
        after[("ecn", name, roce)] = f"ecn minimum-absolute {limits['min_kb']} maximum-absolute {limits['max_kb']}"
    elif "ecn" in due:
        after.pop(("ecn", name, roce), None)
    if {"bandwidth_percent", "cnp_strict"} & {*due}:
        _schedule(after, name, port, roce, cnp, want)
    if "mtu" in due:
        after[("mtu", name)] = want["mtu"]
    if "watchdog" in due and want["watchdog"]:
        after[("watchdog", name)] = "pfc-wd"
    elif "watchdog" in due or (want.get("pfc_mode") == "off" and "pfc_mode" in due):
        after.pop(("watchdog", name), None)
    if "pause" in due:
        for way in ("receive", "send"):
            after.pop(("flow", name, way), None)


def _to(after: lines.Settings, key: lines.Key, value: int | str) -> None:
    if lines.is_default(key, value):
        after.pop(key, None)
    else:
        after[key] = value


def _schedule(after: lines.Settings, name: str, port: Port, roce: int, cnp: int, want: Effect) -> None:
    """Divide the rest between the other queues, so the sum is 100 and weights equal percents."""
    strict = {*(port.strict or []), cnp} - {roce}
    others = [queue for queue in range(8) if queue not in strict and queue != roce]
    rest = 100 - want["bandwidth_percent"]
    ends = [rest * place // len(others) for place in range(len(others) + 1)]
    shares = {queue: ends[place + 1] - ends[place] for place, queue in enumerate(others)}
    _to(after, ("ets", name, cnp), "strict")
    for queue, share in {**shares, roce: want["bandwidth_percent"]}.items():
        _to(after, ("ets", name, queue), f"wrr {max(share, 1)}")


def set_switch(
    after: lines.Settings, before: lines.Settings, switch: Switch, wanted: Collection[str], intent: Intent, exact: bool
) -> None:
    """Set the shared settings of ports: PFC priorities and the pool of their packets."""
    used = flow_control(after, switch, wanted)
    if not used:
        stale = {key[1] for key in before if key[0] == "pfc_priority"}
        for key in [("pfc_enabled",), *(("pfc_priority", one) for one in stale)]:
            after.pop(key, None)
        drop_pools(after, set())
    else:
        there = {key[1] for key in before if key[0] == "pfc_priority"}
        stale = there - {*intent.lossless} if exact else there & {intent.priority} - {*intent.lossless}
        if not intent.lossless and used - {*wanted}:
            stale = set()  # Ports outside the task need them.
        for priority in stale:
            after.pop(("pfc_priority", priority))
        drop_pools(after, {*there, *intent.lossless} - stale)
    if used and intent.lossless:
        after[("pfc_enabled",)] = "dcb priority-flow-control enable"
        after[("pfc_priority", intent.priority)] = "enable"
        _pool_for(after, intent.priority)
        for priority in strays(after, intent)[1]:
            del after[("member", priority)]
    for name in wanted:
        for priority in stale - {intent.priority, intent.cnp_priority}:
            # The queue of the previous RoCE priority returns to its default.
            after.pop(("ecn", name, priority), None)
            for key in [key for key, what in after.items() if key[:2] == ("map", name) and what == priority]:
                after.pop(key)


def flow_control(after: lines.Settings, switch: Switch, wanted: Container[str]) -> set[str]:
    """Return the ports that still use PFC."""
    set_on = {key[1] for key, what in after.items() if key[0] == "pfc" and what != "off"}
    agreed = {name for name, oper in switch.oper.items() if oper.pfc and name not in wanted}
    return set_on | {name for name in agreed if ("pfc", name) in after or switch.ports[name].pfc_mode == "auto"}


def drop_pools(after: lines.Settings, kept: Set[int]) -> None:
    for pool in [key[1] for key in after if key[0] == "pool" and key[1].startswith(POOL)]:
        members = {key for key, what in after.items() if key[0] == "member" and what == pool}
        if not {key[1] for key in members} & kept:
            for key in [*members, ("pool", pool), ("memory", pool)]:
                after.pop(key, None)


def strays(settings: lines.Settings, intent: Intent) -> tuple[str, list[int]]:
    """Return (own pool with the RoCE priority, its other priorities without PFC); ('', []) without such priorities."""
    pool = settings.get(("member", intent.priority), "") if intent.lossless else ""
    paused = {key[1] for key in settings if key[0] == "pfc_priority"} | {intent.priority}
    if not pool.startswith(POOL):
        return "", []
    members = (key[1] for key, what in settings.items() if key[0] == "member" and what == pool)
    stray = sorted(priority for priority in members if priority not in paused)
    return (pool, stray) if stray else ("", [])


def _pool_for(after: lines.Settings, priority: int) -> None:
    holder = after.get(("member", priority))
    if holder is not None and after.get(("pool", holder)) == "lossless":
        return
    name = f"{POOL}-{priority}"
    taken = sum(float(what) for key, what in after.items() if key[0] == "memory")
    after[("pool", name)] = "lossless"
    after[("member", priority)] = name
    if taken <= 50:
        after[("memory", name)] = "50.00"
