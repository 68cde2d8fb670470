# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compare current and requested content of classes and policies of Cisco NX-OS that the collection owns. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.nxos import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Effect

OURS = "AIREADY-ROCE"


def strays(config: text.Config, wanted: Mapping[str, Effect], intent: Intent) -> dict[str, tuple[str, str]]:
    """Return {own object: (current content, requested content)} of objects that differ."""
    found = {}
    for dscp in intent.dscp_map:
        there = config.matches.get(class_name(dscp))
        if there is not None and there != only(dscp):
            found[f"class-map {class_name(dscp)}"] = (_matched(there), _matched(only(dscp)))
    name, expected = classifier_name(intent), classified(intent)
    if config.classifiers.get(name) not in (None, expected):
        found[f"policy-map {name}"] = (_groups(config.classifiers[name]), _groups(expected))
    for name, lines in queuings(intent, wanted):
        asked = held(name, lines)
        if config.queuing.get(name) not in (None, asked):
            holds = config.queuing[name]
            queues = sorted(queue for queue in {*holds, *asked} if holds.get(queue) != asked.get(queue))
            found[f"policy-map {name}"] = cast(
                "tuple[str, str]",
                tuple(", ".join(_queue_text(one, queue) for queue in queues) for one in (holds, asked)),
            )
    return found


def queuings(intent: Intent, wanted: Mapping[str, Effect]) -> list[tuple[str, list[str]]]:
    """Return the queuing policies of the requested effects, once each."""
    return sorted(dict(queuing(intent, want) for want in wanted.values()).items())


def held(name: str, lines: Sequence[str]) -> dict[int, text.Class]:
    return text.config_of(["\n".join([f"policy-map type queuing {name}", *lines])]).queuing[name]


def beside_queues(there: Mapping[int, text.Class], held: Mapping[int, text.Class]) -> list[int]:
    """Return the queues whose class must be removed first, because a class keeps its existing lines."""

    def more(one: text.Class, other: text.Class | None) -> bool:
        return (
            other is None
            or one.strict > other.strict
            or any(getattr(one, key) is not None and getattr(other, key) is None for key in ("share", "marking"))
        )

    return [queue for queue in sorted(there) if more(there[queue], held.get(queue))]


def queue_class(queue: int) -> str:
    return f"c-out-8q-q{queue or '-default'}"


def _queue_text(policy: Mapping[int, text.Class], queue: int) -> str:
    one = policy.get(queue)
    if one is None:
        return f"queue {queue}: none"
    marks = f", ECN {one.marking.min_bytes}-{one.marking.max_bytes} B" if one.marking else ""
    return f"queue {queue}: {'strict' if one.strict else f'{one.share} %'}{marks}"


def class_name(dscp: int) -> str:
    return f"{OURS}-DSCP{dscp}"


def only(dscp: int) -> text.Matches:
    return {dscp}, set(), False


def beside(there: text.Matches | None, dscp: int) -> list[str]:
    """Return the match lines of a class beside one code point."""
    codes, priorities, _every = there or (set(), set(), False)
    lines = [f"match dscp {','.join(map(str, sorted(codes - {dscp})))}"] if codes - {dscp} else []
    return lines + ([f"match cos {','.join(map(str, sorted(priorities)))}"] if priorities else [])


def _matched(reported: text.Matches) -> str:
    codes, priorities, every = reported
    lines = [f"dscp {','.join(map(str, sorted(codes)))}"] if codes else []
    lines += [f"cos {','.join(map(str, sorted(priorities)))}"] if priorities else []
    return f"match-{'all' if every else 'any'} {' '.join(lines) or 'nothing'}"


def classified(intent: Intent) -> list[tuple[str, int]]:
    return [(class_name(dscp), group) for dscp, group in intent.dscp_map.items()]


def _groups(classes: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name}: qos-group {group}" for name, group in classes)


def classifier_name(intent: Intent) -> str:
    return "-".join([OURS, "IN", *(f"{dscp}-{group}" for dscp, group in intent.dscp_map.items())])


def queuing(intent: Intent, want: Effect) -> tuple[str, list[str]]:
    """Return (name, lines) of the queuing policy of a port."""
    share, ecn = want["bandwidth_percent"], want.get("ecn")
    values = [ecn["min_kb"], ecn["max_kb"], ecn["probability"]] if ecn else ["OFF"]
    name = "-".join(map(str, [OURS, "OUT", intent.priority, share, *values, intent.cnp_priority]))
    lines = [
        f"  class type queuing c-out-8q-q{intent.cnp_priority}",
        "    priority level 1",
        f"  class type queuing c-out-8q-q{intent.priority}",
        f"    bandwidth remaining percent {share}",
    ]
    if ecn:
        lines.append(
            f"    random-detect minimum-threshold {ecn['min_kb']} kbytes maximum-threshold {ecn['max_kb']} kbytes "
            f"drop-probability {ecn['probability']} weight 0 ecn"
        )
    other = ["  class type queuing c-out-8q-q-default", f"    bandwidth remaining percent {100 - share}"]
    return name, [*lines, *other]
