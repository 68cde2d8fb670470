# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compare the operational state of each port with the desired state. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.compare import (
    TOLERATED_RUNNING,
    effect,
    ranged,
    same_marking,
    same_priorities,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import natural
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Oper, Port

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Effect
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Switch


# Settings that the operational state can prove. compare.py compares the configuration.
PROVED = ("pfc", "pfc_sends", "trust", "ecn", "mtu", "watchdog", "dcbx")


def gaps(
    switch: Switch, wants: Mapping[str, Effect], intent: Intent, exact: bool = True
) -> tuple[list[str], list[str]]:
    """(gaps, unknown): sentences about settings that do not run as desired, and about settings that are not reported.

    Without exact, priorities other than that of RoCE may have PFC too.
    """
    found: dict[str, list[str]]
    unknown: dict[str, list[str]]
    found, unknown = {}, {}
    for name in sorted(wants, key=natural):
        running = switch.oper.get(name) or Oper()
        if running.up is False:
            unknown.setdefault("no link, so the running state is unknown.", []).append(name)
            continue
        reported = _running(switch.ports.get(name) or Port(), running, intent)
        for key in [key for key in PROVED if key in wants[name]]:
            if reported[key] is None:
                unknown.setdefault(f"the switch does not report the running {key}.", []).append(name)
            elif key == "dcbx" and reported[key] == "none":
                unknown.setdefault("no peer sends DCBX, so nothing was negotiated.", []).append(name)
            elif not _same(key, reported[key], wants[name][key], intent.priority, exact):
                sentence = f"the running {key} is {_shown(reported[key])} instead of {_shown(wants[name][key])}."
                found.setdefault(sentence, []).append(name)
    return [*switch.exceptions, *_reported(found)], _reported(unknown)


def dropped(before: Mapping[str, Effect], after: Mapping[str, Effect], intent: Intent) -> list[str]:
    """Sentences about priorities other than that of RoCE that must stay lossless but did not."""
    found: dict[str, list[str]] = {}
    for name in sorted(before, key=natural):
        then, now = (
            {*(effects.get(name, {}).get("lossless") or [])} - {intent.priority} for effects in (before, after)
        )
        if then - now:
            sentence = f"priority {_shown(sorted(then - now))} must stay lossless, but is lossy after the change."
            found.setdefault(sentence, []).append(name)
    return _reported(found)


def stuck(before: Switch, after: Switch, names: Iterable[str]) -> list[str]:
    """Sentences about ports whose PFC watchdog was triggered since the previous read."""
    found: dict[str, list[str]] = {}
    for name in sorted(names, key=natural):
        then, now = (_events(switch, name) for switch in (before, after))
        if now > then:
            found.setdefault(
                f"the PFC watchdog was triggered {now - then} times. A peer does not stop sending pauses.", []
            ).append(name)
    return _reported(found)


def _events(switch: Switch, name: str) -> int:
    running = switch.oper.get(name)
    return (running.counters.get("watchdog_events") or 0) if running is not None else 0


def _reported(sentences: Mapping[str, Iterable[str]]) -> list[str]:
    """One sentence for all ports with the same problem."""
    return [f"{ranged(names)}: {sentence}" for sentence, names in sentences.items()]


def _running(port: Port, running: Oper, intent: Intent) -> Effect:
    """The running effect; queues are the configured ones, since switches report ECN by queue."""
    ecn = effect(Port(queues=port.queues, ecn=running.ecn), intent)["ecn"]
    reported = {key: getattr(running, key) for key in PROVED if key != "ecn"}
    if reported["pfc"] is not None:
        reported["pfc"] = sorted(reported["pfc"])
    return dict(reported, ecn=ecn)


def _same(key: str, now: Any, want: Any, roce: int, exact: bool) -> bool:
    if key == "ecn":
        return same_marking(now, want, TOLERATED_RUNNING)
    if key == "pfc":
        return same_priorities(now, want, roce, exact)
    if key == "trust" and want == "dscp":
        return now in ("dscp", "both")
    return now == want


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key} {part}" for key, part in value.items()) or "off"
    return str(value)
