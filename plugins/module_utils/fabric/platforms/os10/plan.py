# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compute the objects of Dell OS10 for the requested effects of its ports; names contain the values. Pure."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import compare
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.os10 import text
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Port

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Effect
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Switch
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.undo.facts import Facts

OWN = "AIREADY-"
LONGEST_NAME = 32
IDENTITY: text.Body = {f"queue {one} qos-group {one}": [] for one in range(8)}
# Keys that do not affect queues.
APART = {"mtu", "pause", "dcbx"}


def set_port(after: text.Config, name: str, port: Port, want: Effect, intent: Intent, exact: bool) -> None:
    """Add the maps, policies and lines that one port lacks for its requested effects."""
    slots = after.ports.setdefault(name, {})
    now = compare.effect(port, intent)
    due = {*compare.differing(now, want, exact)}
    if due & {"trust", "roce_priority", "cnp_priority"}:
        slots[text.TRUSTS["dscp"]] = _trust_map(after, intent)
        slots.pop(text.TRUSTS["dot1p"], None)
    if due & {"roce_queue_shared_with", "roce_pauses_own_queue"} or (
        due - APART and after.slot(name, text.QUEUES) is None
    ):
        slots[text.QUEUES] = _made(after, text.QUEUES, "QUEUES", IDENTITY)
    if due & {"pfc", "lossless", "pfc_mode", "pfc_sends", "roce_pauses_own_queue"}:
        others = set() if exact else {*(port.pfc or [])} - {intent.priority}
        kept = sorted({*want["pfc"], *others})
        if kept:
            slots["pfc"], slots[text.NETWORK] = "on", network_policy(after, kept)
        else:
            slots.pop("pfc", None)
            slots.pop(text.NETWORK, None)
    if due & {"ecn", "bandwidth_percent", "cnp_strict"}:
        slots["ets"], slots[text.QUEUING] = "on", _queuing_policy(after, intent, want)
    if "mtu" in due:
        slots["mtu"] = str(want["mtu"])
    if "pause" in due:
        slots.pop("receive", None)
        slots.pop("transmit", None)
    if "dcbx" in due and want["dcbx"] == "off":
        after.switch.pop("dcbx", None)
    elif "dcbx" in due:
        after.switch["dcbx"], slots["dcbx"] = True, "ieee"


def strays(
    before: text.Config, switch: Switch, wanted: Mapping[str, Effect], intent: Intent, exact: bool
) -> dict[text.Key, text.Body]:
    """Return {(kind, name): requested content} of own objects whose current content differs."""
    ideal = text.Config()
    for name, want in wanted.items():
        # A port without QoS gets every object. State merged keeps other lossless priorities.
        set_port(ideal, name, Port(pfc=switch.ports[name].pfc), want, intent, exact)
    return {key: body for key, body in ideal.objects.items() if before.objects.get(key, body) != body}


def hold_both(between: text.Config, before: text.Config, switch: Switch, wanted: Iterable[str], most: int) -> bool:
    """Return whether ports change their lossless priority; in between they keep both, so no packet is dropped."""
    moved = False
    for name in wanted:
        old, slots = switch.ports[name].pfc or [], between.ports[name]
        new = text.lossless_of(between, slots.get(text.NETWORK))
        both = sorted({*old, *new})
        if old and new and not {*old} <= {*new} and len(both) <= most:
            slots[text.NETWORK], moved = network_policy(between, both), True
    # Existing objects are removed only in the second step.
    between.objects = {**before.objects, **between.objects}
    return moved


def facts(found: text.Config) -> Facts:
    """Return the objects, the slots of ports and the settings of the switch, for restore."""
    reported: Facts = {}
    for (kind, name), body in found.objects.items():
        reported[(f"{kind} {name}",)] = [[line, *below] for line, below in body.items()]
    for port, slots in found.ports.items():
        reported.update({(_place(port), slot): value for slot, value in slots.items()})
    reported.update({(text.GLOBALS[name],): True for name, on in found.switch.items() if on})
    return reported


def with_facts(before: text.Config, then: Facts) -> text.Config:
    """Return the configuration with these facts."""
    after = text.Config(ports={port: {} for port in before.ports})
    places = {_place(port): port for port in before.ports}
    forms = {form: name for name, form in text.GLOBALS.items()}
    for path, value in then.items():
        if path[0] in forms:
            after.switch[forms[path[0]]] = True
        elif len(path) == 1:
            kind, _space, name = path[0].rpartition(" ")
            after.objects[(kind, name)] = {line: below for line, *below in value}
        else:
            port = places.get(path[0], path[0].partition(" ")[2])
            after.ports.setdefault(port, {})[path[1]] = value
    return after


def _place(port: str) -> str:
    return "system qos" if port == text.SYSTEM else f"interface {port}"


def _made(after: text.Config, kind: str, what: str, body: text.Body) -> str:
    """Return the name of an own object with these lines, and create it if it does not exist."""
    name = f"{OWN}{what}"
    if len(name) > LONGEST_NAME:
        name = f"{OWN}{what.partition('-')[0]}-{zlib.crc32(what.encode()):08x}"
    after.objects[(kind, name)] = body
    return name


def _trust_map(after: text.Config, intent: Intent) -> str:
    groups: dict[int, list[int]] = {}
    for dscp in range(64):
        groups.setdefault(intent.dscp_map.get(dscp, 0), []).append(dscp)
    body: text.Body = {f"qos-group {group} dscp {_spelled(dscps)}": [] for group, dscps in sorted(groups.items())}
    what = "-".join(str(part) for pair in sorted(intent.dscp_map.items()) for part in pair)
    return _made(after, text.TRUSTS["dscp"], f"TRUST-{what}", body)


def network_policy(after: text.Config, priorities: Sequence[int]) -> str:
    body: text.Body = {}
    for one in priorities:
        title = _made(after, text.CLASSES[text.NETWORK], f"PFC-{one}", {f"match qos-group {one}": []})
        body[f"class {title}"] = ["pause", f"pfc-cos {one}"]
    return _made(after, text.NETWORK, "LOSSLESS-" + "-".join(map(str, priorities)), body)


def _queuing_policy(after: text.Config, intent: Intent, want: Effect) -> str:
    """Return the policy with RoCE share and marking, and strict CNPs; queues without a class share the rest."""
    share, limits = want["bandwidth_percent"], want["ecn"]
    roce, cnp = (
        _made(after, text.CLASSES[text.QUEUING], f"QUEUE-{one}", {f"match queue {one}": []})
        for one in (intent.priority, intent.cnp_priority)
    )
    lines, tag = [f"bandwidth percent {share}"], "OFF"
    if limits:
        tag = f"{limits['min_kb']}-{limits['max_kb']}-{limits['probability']}"
        sizes = f"minimum-threshold {limits['min_kb']} maximum-threshold {limits['max_kb']}"
        thresholds = f"random-detect color green {sizes} drop-probability {limits['probability']}"
        profile = _made(after, text.WRED, f"ECN-{tag}", {thresholds: [], "random-detect ecn": []})
        lines.append(f"random-detect {profile}")
    body = {f"class {roce}": lines, f"class {cnp}": ["priority"]}
    return _made(after, text.QUEUING, f"OUT-{intent.priority}-{share}-{intent.cnp_priority}-{tag}", body)


def _spelled(values: Iterable[int]) -> str:
    runs: list[list[int]] = []
    for value in values:
        if runs and runs[-1][1] + 1 == value:
            runs[-1][1] = value
        else:
            runs.append([value, value])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
