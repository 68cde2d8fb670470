# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Whether what runs on a switch is what was asked for: the operational state, port by port. Pure."""

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


# What the operational state can prove. The configuration is compared elsewhere.
PROVED = ("pfc", "pfc_sends", "trust", "ecn", "mtu", "watchdog", "dcbx")


def gaps(
    switch: Switch, wants: Mapping[str, Effect], intent: Intent, exact: bool = True
) -> tuple[list[str], list[str]]:
    """(gaps, unknown): sentences of what does not run as wanted, and of what the switch does not tell.

    Without exact, other priorities than RoCE's may have flow control too.
    """
    found: dict[str, list[str]]
    unknown: dict[str, list[str]]
    found, unknown = {}, {}
    for name in sorted(wants, key=natural):
        running = switch.oper.get(name) or Oper()
        if running.up is False:
            unknown.setdefault("no link, so that nothing runs there that could be looked at.", []).append(name)
            continue
        told = _running(switch.ports.get(name) or Port(), running, intent)
        for key in [key for key in PROVED if key in wants[name]]:
            if told[key] is None:
                unknown.setdefault(f"the switch does not tell the {key} that runs.", []).append(name)
            elif key == "dcbx" and told[key] == "none":
                unknown.setdefault("no peer speaks DCBX, so that nothing was agreed.", []).append(name)
            elif not _same(key, told[key], wants[name][key], intent.priority, exact):
                sentence = f"{key} should be {_shown(wants[name][key])}, and {_shown(told[key])} runs."
                found.setdefault(sentence, []).append(name)
    return [*switch.exceptions, *_told(found)], _told(unknown)


def dropped(before: Mapping[str, Effect], after: Mapping[str, Effect], intent: Intent) -> list[str]:
    """Sentences of priorities other than RoCE's that were lossless, were to stay so, and are not any more."""
    found: dict[str, list[str]] = {}
    for name in sorted(before, key=natural):
        then, now = (
            {*(effects.get(name, {}).get("lossless") or [])} - {intent.priority} for effects in (before, after)
        )
        if then - now:
            sentence = f"priority {_shown(sorted(then - now))} was lossless and was to stay so; it is not any more."
            found.setdefault(sentence, []).append(name)
    return _told(found)


def stuck(before: Switch, after: Switch, names: Iterable[str]) -> list[str]:
    """Sentences of ports whose watchdog had to act since a switch was read before."""
    found: dict[str, list[str]] = {}
    for name in sorted(names, key=natural):
        then, now = (_events(switch, name) for switch in (before, after))
        if now > then:
            found.setdefault(
                f"the watchdog acted {now - then} times meanwhile: a peer does not stop pausing.", []
            ).append(name)
    return _told(found)


def _events(switch: Switch, name: str) -> int:
    running = switch.oper.get(name)
    return (running.counters.get("watchdog_events") or 0) if running is not None else 0


def _told(sentences: Mapping[str, Iterable[str]]) -> list[str]:
    """Ports about which the same is to be said stand in one sentence."""
    return [f"{ranged(names)}: {sentence}" for sentence, names in sentences.items()]


def _running(port: Port, running: Oper, intent: Intent) -> dict[str, Any]:
    """The effect of what runs; queues are as configured, since switches tell ECN by queue."""
    ecn = effect(Port(queues=port.queues, ecn=running.ecn), intent)["ecn"]
    told = {key: getattr(running, key) for key in PROVED if key != "ecn"}
    if told["pfc"] is not None:
        told["pfc"] = sorted(told["pfc"])
    return dict(told, ecn=ecn)


def _same(key: str, now: Any, want: Any, roce: int, exact: bool) -> bool:
    if key == "ecn":
        return same_marking(now, want, TOLERATED_RUNNING)
    if key == "pfc":
        return same_priorities(now, want, roce, exact)
    if key == "trust" and want == "dscp":
        return now in ("dscp", "both")
    return now == want


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key} {part}" for key, part in value.items()) or "off"
    return str(value)
