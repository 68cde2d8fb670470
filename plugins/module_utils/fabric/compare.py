# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Desired and actual effect of a port on RoCE, and their differences. Pure.

Effects are compared, not configurations: two configurations with the same effect are equal.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Collection, Iterable, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import natural

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Effect, Platform, PortEffect
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking, Port


# Keys of an effect, in display order.
KEYS = (
    "trust",
    "roce_priority",  # the priority that the RoCE DSCP maps to
    "cnp_priority",
    "pfc_mode",
    "pfc",
    "pfc_sends",
    "lossless",
    "roce_queue_shared_with",  # other priorities in the RoCE queue
    "roce_group_shared_with",  # other priorities in the RoCE ingress buffer
    "roce_pauses_own_queue",  # whether PFC of the RoCE priority pauses the RoCE queue
    "ecn",
    "bandwidth_percent",
    "cnp_strict",
    "mtu",
    "watchdog",
    "watchdog_detection_ms",
    "watchdog_recovery_ms",
    "watchdog_action",
    "dcbx",
    "pause",
    "cable_length_m",
)
# Tolerated difference, since platforms round thresholds to hardware units.
TOLERATED = 0.02
TOLERATED_RUNNING = 0.10
LISTS = ("pfc", "lossless")
# In Limits.missing: a platform with a fixed marking probability of 100 %.
PROBABILITY = "probability"


def wanted(intent: Intent, platform: Platform, role: str = "host", speed: int | None = None) -> Effect:
    """The desired {key: value} of a port with this role (host, fabric), without settings that the platform lacks."""
    lossless = intent.mode != "lossy"
    guard, limits = intent.watchdog, intent.ecn.at(speed)
    probability = limits.probability if PROBABILITY not in platform.limits.missing else None
    marking = {"min_kb": limits.min_kb, "max_kb": limits.max_kb, "probability": probability}
    effect: Effect = {
        "trust": intent.trust,
        "roce_priority": intent.priority,
        "cnp_priority": intent.cnp_priority,
        "pfc_mode": "on" if lossless else "off",
        "pfc": intent.lossless,
        "pfc_sends": intent.sends_pauses if lossless else None,
        "lossless": intent.lossless,
        "roce_queue_shared_with": [],
        "roce_group_shared_with": [],
        "roce_pauses_own_queue": True if lossless else None,
        "ecn": marking if intent.ecn.enabled else {},
        "bandwidth_percent": intent.bandwidth_percent,
        "cnp_strict": True,
        # Platforms count headers differently, so their largest MTUs differ a little.
        "mtu": min(intent.mtu, platform.limits.largest_mtu),
        # The PFC watchdog needs PFC.
        "watchdog": guard.enabled if lossless else None,
        "watchdog_detection_ms": guard.detection_ms if lossless and guard.enabled else None,
        "watchdog_recovery_ms": guard.recovery_ms if lossless and guard.enabled else None,
        "watchdog_action": guard.action if lossless and guard.enabled else None,
        "dcbx": None if intent.dcbx == "ignore" or role == "fabric" else intent.dcbx,
        "pause": False,
        "cable_length_m": intent.cable_length_m,
    }
    return {key: value for key, value in effect.items() if value is not None and key not in platform.limits.missing}


def effect(port: Port, intent: Intent) -> PortEffect:
    """The effect of a Port on the RoCE traffic of an intent, by the same keys; None if unknown."""
    roce, cnp = intent.priority, intent.cnp_priority
    queue, group = _at(port.queues, roce), _at(port.groups, roce)
    return {
        # RoCE v2 packets have a DSCP, which takes precedence if a port trusts both.
        "trust": "dscp" if (port.trust, intent.trust) == ("both", "dscp") else port.trust,
        "roce_priority": _at(port.dscp_map, intent.dscp),
        "cnp_priority": _at(port.dscp_map, intent.cnp_dscp),
        "pfc_mode": port.pfc_mode,
        "pfc": _sorted(port.pfc),
        "pfc_sends": port.pfc_sends,
        "lossless": _sorted(port.lossless),
        "roce_queue_shared_with": _others(port.queues, roce, queue),
        "roce_group_shared_with": _others(port.groups, roce, group),
        "roce_pauses_own_queue": _pauses_own(port, roce, queue),
        "ecn": _marking(port.ecn, roce if queue is None else queue),
        "bandwidth_percent": _at(port.shares, roce if queue is None else queue),
        "cnp_strict": None if port.strict is None else _at(port.queues, cnp, cnp) in port.strict,
        "mtu": port.mtu,
        "watchdog": port.watchdog,
        "watchdog_detection_ms": port.watchdog_detection_ms,
        "watchdog_recovery_ms": port.watchdog_recovery_ms,
        "watchdog_action": port.watchdog_action,
        "dcbx": port.dcbx,
        "pause": port.pause,
        "cable_length_m": port.cable_length_m,
    }


def differing(now: Effect, want: Effect, exact: bool = True) -> list[str]:
    """The keys whose effect is not the desired one; without exact, other priorities may be lossless too."""
    keys = [key for key in KEYS if key in want]
    others = {*(now.get("pfc") or [])} - {want.get("roce_priority")}
    if not exact and others and want.get("pfc_mode") == "off":
        # The other priorities need PFC.
        keys.remove("pfc_mode")
    return [key for key in keys if not _same(key, now.get(key), want, exact)]


def changes(now: Mapping[str, Effect], want: Mapping[str, Effect], exact: bool = True) -> list[Change]:
    """The Changes from {port: effect} to {port: desired effect}; ports with the same difference share one."""
    found: dict[tuple[str, str, str], tuple[object, object, list[str]]] = {}
    for port in sorted(want, key=natural):
        for key in differing(now[port], want[port], exact):
            before, after = now[port].get(key), _after(key, now[port].get(key), want[port], exact)
            found.setdefault((key, repr(before), repr(after)), (before, after, []))[2].append(port)
    ordered = sorted(found.items(), key=lambda entry: KEYS.index(entry[0][0]))
    return [Change(f"{ranged(ports)}.{key}", before, after) for (key, *_shown), (before, after, ports) in ordered]


def same_priorities(now: Collection[int] | None, want: Collection[int], roce: int | None, exact: bool) -> bool:
    """Return whether lists of lossless priorities are the same; without exact, only for the RoCE priority."""
    if now is None or exact:
        return now == want
    return {*want} <= {*now} and (roce in want or roce not in now)


def close(one: float | None, other: float | None, tolerated: float = TOLERATED) -> bool:
    """Return whether two numbers are the same, apart from rounding by hardware."""
    return one is not None and other is not None and abs(one - other) <= tolerated * max(abs(one), abs(other))


def same_marking(now: Mapping[str, Any] | None, want: Mapping[str, Any] | None, tolerated: float = TOLERATED) -> bool:
    """Return whether two ecn effects are the same; a probability that a platform does not report counts as the same."""
    if not now or not want:
        return now is not None and not now and not want
    same = now.get("mark", True) == want.get("mark", True)
    known = None in (now["probability"], want["probability"]) or now["probability"] == want["probability"]
    return same and known and all(close(now[key], want[key], tolerated) for key in ("min_kb", "max_kb"))


def ranged(names: Iterable[str]) -> str:
    """'Ethernet1/1-4, Ethernet1/9': port names with ranges."""
    runs: list[list[Any]] = []
    for name in sorted(names, key=natural):
        stem, number = _split(name)
        if runs and number is not None and runs[-1][0] == stem and runs[-1][2] + 1 == number:
            runs[-1][2] = number
        else:
            runs.append([stem, number, number])
    return ", ".join(_run(*run) for run in runs)


def _run(stem: str, first: int | None, last: int | None) -> str:
    if first is None or first == last:
        return stem if first is None else f"{stem}{first}"
    return f"{stem}{first}-{last}"


def _split(name: str) -> tuple[str, int | None]:
    found = re.fullmatch(r"(.*?)(\d+)", name)
    return (found.group(1), int(found.group(2))) if found else (name, None)


def _same(key: str, now: Any, want: Effect, exact: bool) -> bool:
    if key == "ecn" and now != want[key]:
        return same_marking(now, want[key])
    if key in LISTS:
        return same_priorities(now, want[key], want.get("roce_priority"), exact)
    return now == want[key]


def _after(key: str, before: Any, want: Effect, exact: bool) -> object:
    if key in LISTS and not exact:
        return sorted({*(before or [])} - {want.get("roce_priority")} | {*want[key]})
    return want[key]


def _at(table: Mapping[int, int] | None, key: int, otherwise: int | None = None) -> int | None:
    return otherwise if table is None else table.get(key, otherwise)


def _sorted(values: Iterable[int] | None) -> list[int] | None:
    return None if values is None else sorted(values)


def _others(table: Mapping[int, int] | None, priority: int, place: int | None) -> list[int] | None:
    if table is None or place is None:
        return None
    return sorted(other for other, where in table.items() if where == place and other != priority)


def _pauses_own(port: Port, priority: int, queue: int | None) -> bool | None:
    if port.pfc_queues is None or queue is None:
        return None
    return port.pfc_queues.get(priority) == queue


def _marking(ecn: Mapping[int, Marking] | None, queue: int) -> dict[str, int | bool | None] | None:
    if ecn is None:
        return None
    marking = ecn.get(queue)
    if marking is None:
        return {}
    shown: dict[str, int | bool | None] = {"min_kb": marking.min_bytes // 1000, "max_kb": marking.max_bytes // 1000}
    shown["probability"] = marking.probability
    return shown if marking.mark else dict(shown, mark=False)
