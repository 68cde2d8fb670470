# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read the QoS part of a configuration of Dell OS10 as objects and as slots of ports. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import (
    CODES,
    MOST_PORTS,
    natural,
    numbers,
    tree,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.unread import strange

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Dict, List, Tuple

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import Line

    Key = Tuple[str, str]  # kind and name of an object
    Body = Dict[str, List[str]]  # its lines, each with its sub-lines

KB = 1000
NETWORK, QUEUING = "policy-map type network-qos", "policy-map type queuing"
CLASSES = {NETWORK: "class-map type network-qos", QUEUING: "class-map type queuing"}
WRED, QUEUES = "wred", "qos-map traffic-class"
TRUSTS = {"dscp": "trust dscp-map", "dot1p": "trust dot1p-map"}
# Kinds of objects in order of dependency: a kind refers only to kinds before it.
KINDS = (WRED, *CLASSES.values(), *TRUSTS.values(), QUEUES, NETWORK, QUEUING)
# Settings of a port or the system: (slot, pattern, command to remove), in the order of setting.
# PFC excludes link-level pause. Trust is last, so packets reach only queues that are ready.
SLOTS = (
    ("mtu", r"mtu (\d+)", "no mtu"),
    ("receive", r"flowcontrol receive (on|off)", "flowcontrol receive off"),
    ("transmit", r"flowcontrol transmit (on|off)", "flowcontrol transmit off"),
    ("dcbx", r"dcbx version (\S+)", "no dcbx version"),
    (NETWORK, r"service-policy input type network-qos (\S+)", "no service-policy input type network-qos {value}"),
    ("pfc", r"priority-flow-control mode (on)", "no priority-flow-control mode"),
    (QUEUES, r"qos-map traffic-class (\S+)", "no qos-map traffic-class {value}"),
    (QUEUING, r"service-policy output type queuing (\S+)", "no service-policy output type queuing {value}"),
    ("ets", r"ets mode (on)", "no ets mode"),
    ("trust dot1p-map", r"trust-map dot1p (\S+)", "no trust-map dot1p {value}"),
    ("trust dscp-map", r"trust-map dscp (\S+)", "no trust-map dscp {value}"),
)
SYSTEM = ""  # represents `system qos` among the ports
# Settings of the switch itself: (name, line).
GLOBALS = {"dcbx": "dcbx enable"}
# Known forms of lines that affect RoCE: (block, prefix, whole line).
_PORTS = r"(?i:interface (?:range )?(?:ethernet|port-channel)|system qos)"
FORMS = (
    (_PORTS, "mtu ", r"mtu \d+"),
    (_PORTS, "flowcontrol (?:receive|transmit) ", "flowcontrol (?:receive|transmit) (?:on|off)"),
    (_PORTS, "priority-flow-control mode ", "priority-flow-control mode (?:on|off)"),
    (_PORTS, "ets mode ", "ets mode (?:on|off)"),
    (r"trust dscp-map ", r"qos-group \S+ dscp ", rf"qos-group \d dscp {CODES}"),
    (r"trust dot1p-map ", r"qos-group \S+ dot1p ", r"qos-group \d dot1p [\d,-]+"),
    (r"qos-map traffic-class ", r"queue \S+ qos-group ", r"queue \d qos-group [\d,-]+(?: type ucast)?"),
    (
        r"wred ",
        "random-detect color green ",
        r"random-detect color green minimum-threshold \d+ maximum-threshold \d+ drop-probability \d+",
    ),
    (r"class-map type (?:network-qos|queuing) ", "match (?:qos-group|queue) ", r"match (?:qos-group|queue) [\d,-]+"),
    (r"policy-map type network-qos ", "pfc-cos ", r"pfc-cos [\d,-]+"),
    (r"policy-map type queuing ", "bandwidth ", r"bandwidth percent \d+"),
)


@dataclass
class Config:
    """Objects are {(kind, name): {line: lines below it}}, ports {name: {slot: value}}."""

    objects: dict[Key, Body] = field(default_factory=dict)
    ports: dict[str, dict[str, str]] = field(default_factory=dict)
    switch: dict[str, bool] = field(default_factory=dict)
    hostname: str | None = None
    unread: list[str] = field(default_factory=list)

    def copy(self) -> Config:
        """Return an independent copy."""
        return Config(
            {key: {line: list(below) for line, below in body.items()} for key, body in self.objects.items()},
            {name: dict(slots) for name, slots in self.ports.items()},
            dict(self.switch),
            self.hostname,
        )

    def slot(self, port: str, name: str) -> str | None:
        """Return the effective value of a port: its own value, or that of the system."""
        own = self.ports.get(port, {}).get(name)
        return self.ports.get(SYSTEM, {}).get(name) if own is None else own

    def named(self, kind: str, name: str | None) -> Body | None:
        """Return the lines of an object, or None."""
        return self.objects.get((kind, name)) if name is not None else None

    def lacks(self, name: str | None) -> bool:
        """Return whether no object has this name, so it can be in another part of the configuration."""
        return name is not None and name not in {one for _kind, one in self.objects}

    def classes(self, kind: str, name: str | None) -> list[tuple[list[int], list[str]]]:
        """Return [(numbers that a class matches, its lines)] of a policy."""
        found: list[tuple[list[int], list[str]]] = []
        for header, below in (self.named(kind, name) or {}).items():
            matched = self.named(CLASSES[kind], header.partition(" ")[2]) if header.startswith("class ") else None
            for line in matched or {}:
                match = re.fullmatch(r"match (?:qos-group|queue) (.+)", line)
                found += [(numbers(match.group(1)), below)] if match else []
        return found

    def table(self, kind: str, name: str | None) -> dict[int, int]:
        """Return {code point or qos-group: qos-group or queue} of a map."""
        found: dict[int, int] = {}
        for line in self.named(kind, name) or {}:
            match = re.fullmatch(r"(?:qos-group|queue) (\d) (?:dscp|dot1p|qos-group) (\S+)(?: type ucast)?", line)
            if match:
                found.update(dict.fromkeys(numbers(match.group(2)), int(match.group(1))))
        return found

    def marking(self, name: str) -> Marking | None:
        """Return the Marking of a WRED profile."""
        pattern = r"random-detect color green minimum-threshold (\d+) maximum-threshold (\d+) drop-probability (\d+)"
        body = self.named(WRED, name) or {}
        for line in body:
            match = re.fullmatch(pattern, line)
            if match:
                low, high, probability = (int(one) for one in match.groups())
                return Marking(low * KB, high * KB, probability, "random-detect ecn" in body)
        return None


def config(text: str) -> Config:
    """Return the Config of a running configuration, or of a part of it, with any indentation."""
    root = tree(text)
    found = Config(unread=strange("show running-configuration", root, FORMS))
    for line in root.children:
        words = _plain(line.text)
        for kind in KINDS:
            match = re.fullmatch(rf"{kind}(?: match-any| match-all)? (\S+)(?: match-any| match-all)?", words)
            if match:
                found.objects.setdefault((kind, match.group(1)), {}).update(_body(line))
        span = re.fullmatch(r"interface (?:range )?((?:ethernet|port-channel).*)", words)
        if span or words == "system qos":
            slots = _slots(line)
            for name in port_names(span.group(1)) if span else [SYSTEM]:
                found.ports.setdefault(name, {}).update(slots)
        if words in GLOBALS.values():
            found.switch.update((name, True) for name, form in GLOBALS.items() if form == words)
        named = re.fullmatch(r"hostname (\S+)", words)
        found.hostname = named.group(1) if named else found.hostname
    return found


def kept(text: str) -> str:
    """Return the QoS lines of a running configuration for a backup."""
    heads = (*KINDS, "system qos", "interface ethernet", "interface port-channel", "interface range")
    found = []
    for line in tree(text).children:
        if line.text in GLOBALS.values():
            found.append(line.text)
        elif line.text.startswith("interface"):
            line.children = [one for one in line.children if _slot_of(one.text)]
            found += [line.render(1)] if line.children else []
        elif line.text.startswith(heads):
            found.append(line.render(1))
    return "\n".join(found)


def commands(before: Config, after: Config) -> list[str]:
    """Return the commands from one Config to another: create objects, use them, remove unused ones."""
    found = [form for name, form in GLOBALS.items() if after.switch.get(name) and not before.switch.get(name)]
    for kind in KINDS:
        for key in sorted(key for key in after.objects if key[0] == kind):
            found += _changed_object(key, before.objects.get(key), after.objects[key])
    found += _changed_ports(before, after)
    for kind in reversed(KINDS):
        gone = sorted(key for key in before.objects if key[0] == kind and key not in after.objects)
        found += [f"no {key[0]} {key[1]}" for key in gone]
    found += [f"no {form}" for name, form in GLOBALS.items() if before.switch.get(name) and not after.switch.get(name)]
    return found


def lossless_of(found: Config, policy: str | None) -> list[int]:
    """Return the priorities that a policy pauses."""
    pausing = [below for _groups, below in found.classes(NETWORK, policy) if "pause" in below]
    return sorted(one for below in pausing for line in below if "pfc-cos" in line for one in numbers(line.split()[-1]))


def port_names(text: str) -> list[str]:
    """Return ['ethernet1/1/1', 'ethernet1/1/2'] for 'ethernet1/1/1-1/1/2'; more can follow after commas."""
    found: list[str] = []
    for part in re.sub(r"(?<=[a-z]) ", "", text).replace(" ", "").split(","):
        match = re.fullmatch(r"([a-z-]*?)((?:\d+[/:])*)(\d+)(?:-(?:[a-z-]*)(?:\d+[/:])*(\d+))?", part)
        if match:
            kind, place, first, last = match.groups()
            kind = kind or (cast("re.Match[str]", re.match(r"[a-z-]*", found[-1])).group() if found else "ethernet")
            end = min(int(last or first), int(first) + MOST_PORTS)
            found += [f"{kind}{place}{index}" for index in range(int(first), end + 1)]
    return found


def _plain(text: str) -> str:
    """Return a line without quotes; typed configurations can contain Ethernet 1/1/1."""
    words = text.replace('"', "")
    return words.lower() if words.lower().startswith("interface ") else words


def _body(line: Line) -> Body:
    """Return {line: sub-lines} without lines that begin with `no`."""
    kept_lines = [one for one in line.children if not one.text.startswith("no ")]
    return {one.text.replace('"', ""): [below.text.replace('"', "") for below in one.children] for one in kept_lines}


def _slot_of(text: str) -> tuple[str, str] | None:
    words = text.replace('"', "")
    for slot, pattern, _undone in SLOTS:
        match = re.fullmatch(pattern, words)
        if match:
            return slot, match.group(1)
    return None


def _slots(line: Line) -> dict[str, str]:
    found = dict(filter(None, (_slot_of(one.text) for one in line.children)))
    return {slot: value for slot, value in found.items() if value != "off"}


def _changed_object(key: Key, before: Body | None, after: Body) -> list[str]:
    if before == after:
        return []
    before = before or {}
    inner = [f"no {line}" for line in before if line not in after]
    for line, below in after.items():
        there = before.get(line)
        if there is None and not below:
            inner.append(line)
        elif there != below:
            gone = [f"no {one}" for one in there or [] if one not in below]
            inner += [line, *gone, *(one for one in below if one not in (there or [])), "exit"]
    return [f"{key[0]} {key[1]}", *inner, "exit"]


def _changed_ports(before: Config, after: Config) -> list[str]:
    """Return the commands of changed ports; ports with the same changes share them."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for name in sorted({*before.ports, *after.ports}, key=natural):
        lines = _changed_slots(before.ports.get(name, {}), after.ports.get(name, {}))
        if lines:
            alike.setdefault(tuple(lines), []).append(name)
    return [
        line for lines, names in alike.items() for span in _spans(names) for line in (_header(span), *lines, "exit")
    ]


def _changed_slots(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    made: list[str]
    undone: list[str]
    made, undone = [], []
    for slot, pattern, gone in SLOTS:
        old, new = before.get(slot), after.get(slot)
        # PFC excludes link-level pause: pause is removed before PFC is set, and set after PFC is removed.
        apart = slot in ("receive", "transmit")
        if new is None and old is not None:
            (made if apart else undone).append(gone.format(value=old))
        elif new != old:
            (undone if apart else made).append(f"{pattern[: pattern.index('(')]}{new}")
    return made + undone[::-1]


def _header(span: str) -> str:
    if span == SYSTEM:
        return "system qos"
    return f"interface range {span}" if re.search(r"\d-\d", span) else f"interface {span}"


def _spans(names: Iterable[str]) -> list[str]:
    runs: list[list[Any]] = []  # place, first, last; for other ports: name, None, None
    for name in names:
        match = re.fullmatch(r"(ethernet)((?:\d+[/:])*)(\d+)", name)
        if match and runs and runs[-1][0] == match.group(2) and runs[-1][2] + 1 == int(match.group(3)):
            runs[-1][2] = int(match.group(3))
        else:
            runs.append([match.group(2), int(match.group(3)), int(match.group(3))] if match else [name, None, None])
    return [
        stem if first is None else f"ethernet{stem}{first}" + (f"-{stem}{last}" if last > first else "")
        for stem, first, last in runs
    ]
