# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read the classes and policies in the configuration of Cisco NX-OS, and their effect on a port. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import vlans
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import CODES, number, numbers, ports, tree
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.unread import strange

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Optional, Set, Tuple

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import Line

    Matches = Tuple[Set[int], Set[int], bool]  # DSCPs, CoS, whether all must match
    NoDrop = Tuple[Optional[int], Optional[int], Optional[str]]  # qos-group, PFC priority or None, its line

UNITS = {"bytes": 1, "kbytes": 1000, "mbytes": 1000000, "packets": 0, "us": 0, "ms": 0}
# Predefined classes of every switch; their names contain the group: c-8q-nq3, c-out-8q-q3, c-nq3, c-out-q3.
PREDEFINED = re.compile(r"c-(?:out-|in-)?(?:\d+q-)?n?q(\d)")
KEPT = re.compile(r"class-map .*|policy-map .*|system qos|priority-flow-control .*|feature lldp")
KEPT_IN_PORTS = re.compile(
    r"(?:no )?(?:mtu |service-policy |priority-flow-control |flowcontrol |lldp dcbx |switchport$).*"
)
# Known forms of lines that affect RoCE: (block, prefix, whole line).
_SIZE = rf"\d+ (?:{'|'.join(UNITS)})"
FORMS = (
    ("interface ", "priority-flow-control mode ", "priority-flow-control mode (?:on|off|auto)(?: send-tlv)?"),
    ("class-map ", "match dscp ", f"match dscp {CODES}"),
    ("class-map ", "match (?:cos|qos-group) ", r"match (?:cos|qos-group) [\d ,-]+"),
    ("policy-map ", "set qos-group ", r"set qos-group \d+"),
    ("policy-map ", "pause ", r"pause (?:no-drop|buffer-size .*pfc-cos \d.*|pfc-cos [\d ,-]+.*)"),
    ("policy-map type queuing ", "bandwidth ", r"bandwidth (?:remaining )?percent \d+"),
    (
        "policy-map type queuing ",
        "random-detect ",
        rf"random-detect minimum-threshold {_SIZE} maximum-threshold {_SIZE}.*",
    ),
)


@dataclass
class Class:
    """One class of a queuing policy."""

    strict: bool = False
    share: int | None = None
    marking: Marking | None = None


@dataclass
class Block:
    """The settings of an interface."""

    mtu: int | None = None
    pfc: str | None = None
    sends_tlv: bool = False
    guard: bool = False
    classifier: str | None = None
    queuing: str | None = None
    dcbx: str | None = None
    pauses: set[str] = field(default_factory=set)


@dataclass
class Config:
    """The part of a running configuration that affects RoCE."""

    hostname: str | None = None
    version: str | None = None
    matches: dict[str, Matches] = field(
        default_factory=dict
    )  # class-map of type qos: ({DSCP}, {CoS}, whether all must match)
    groups: dict[str, int] = field(default_factory=dict)  # class-map of the other types: qos-group
    classifiers: dict[str, list[tuple[str, int]]] = field(default_factory=dict)  # policy: [(class, qos-group)]
    queuing: dict[str, dict[int, Class]] = field(default_factory=dict)  # policy: {queue: Class}
    networks: dict[str, dict[str, NoDrop]] = field(
        default_factory=dict
    )  # policy: {class: (qos-group, PFC priority or None, its line)}
    system: dict[str, str] = field(default_factory=dict)  # {qos, queuing, network-qos: policy}
    interfaces: dict[str, Block] = field(default_factory=dict)
    guard: bool = False
    text: str = ""
    unread: list[str] = field(default_factory=list)
    switching: dict[str, vlans.Switching] = field(default_factory=dict)  # {interface: vlans.Switching}
    vlans: set[int] | None = None  # existing VLANs; None: not reported

    def group_of(self, name: str) -> int | None:
        """Return the qos-group of a class, 0 for default classes."""
        fixed = PREDEFINED.fullmatch(name)
        if fixed:
            return int(fixed.group(1))
        return self.groups.get(name, 0 if name.endswith("default") else None)

    @property
    def pauses(self) -> dict[int, int]:
        """Return {qos-group: PFC priority} of the lossless groups of the switch."""
        classes = self.networks.get(self.system.get("network-qos", ""), {})
        return {group: cos for group, cos, _line in classes.values() if group is not None and cos is not None}


def config_of(texts: Iterable[str]) -> Config:
    """Return the Config of some texts; sections can come from several commands, and twice."""
    found = Config()
    roots = [tree(text) for text in texts]
    lines = [line for root in roots for line in root.children]
    for line in lines:
        words = line.words
        if words[0] in ("switchname", "hostname"):
            found.hostname = words[-1]
        elif words[0] == "version" and words[1:]:
            found.version = words[1]  # `Bios:version` and its number may follow
        elif words[0] == "class-map":
            _class_map(found, line)
        elif line.text == "priority-flow-control watch-dog-interval on":
            found.guard = True
        elif words[0] == "interface" and re.match(r"[Ee]thernet|port-channel|[Vv]ethernet", "".join(words[1:])):
            for name in ports(" ".join(words[1:])):
                _interface(found.interfaces.setdefault(_named(name), Block()), line)
        elif line.text == "system qos":
            for child in line.find("service-policy"):
                found.system[_type(child.words)] = child.words[-1]
    # Classes can follow the policies that use them.
    for line in lines:
        if line.words[0] == "policy-map":
            _policy(found, line)
    found.text = _kept(roots)
    found.unread = list(dict.fromkeys(one for root in roots for one in strange("show running-config", root, FORMS)))
    for text in texts:
        reported = vlans.by_port(
            text, r"interface (ethernet.*|port-channel.*)", lambda name: [_named(one) for one in ports(name)]
        )
        found.switching.update(
            {name: one for name, one in reported.items() if one.reported or name not in found.switching}
        )
    found.vlans = vlans.existing([line.text for line in lines], r"vlan ([\d,-]+)")
    return found


def _named(name: str) -> str:
    return name[0].upper() + name[1:] if name.startswith(("ethernet", "vethernet")) else name


def _type(words: Sequence[str]) -> str:
    return words[words.index("type") + 1] if "type" in words[:-1] else "qos"


def _class_map(found: Config, line: Line) -> None:
    name = line.words[-1]
    if _type(line.words) == "qos":
        codes = {code for text in line.rest("match dscp") for code in numbers(text)}
        priorities = {code for text in line.rest("match cos") for code in numbers(text)}
        found.matches[name] = (codes, priorities, "match-any" not in line.words)
        return
    group = number(next(iter(line.rest("match qos-group")), None), number(next(iter(line.rest("match cos")), None)))
    if group is not None:
        found.groups[name] = group


def _policy(found: Config, line: Line) -> None:
    kind, name = _type(line.words), line.words[-1]
    classes = line.find("class")
    if kind == "qos":
        reported = [(one.words[-1], next(iter(one.rest("set qos-group")), None)) for one in classes]
        found.classifiers[name] = [(one, cast("int", number(group))) for one, group in reported if group is not None]
    elif kind == "network-qos":
        found.networks[name] = {one.words[-1]: _no_drop(found, one) for one in classes}
    elif kind == "queuing":
        queues = {found.group_of(one.words[-1]): _class(one) for one in classes}
        found.queuing[name] = {queue: one for queue, one in queues.items() if queue is not None}


def _no_drop(found: Config, line: Line) -> NoDrop:
    group = found.group_of(line.words[-1])
    if line.get("pause") is None:
        return group, None, None
    pause = cast("Line", line.get("pause")).text
    reported = re.search(r"pfc-cos (\d)", pause)
    cos = int(reported.group(1)) if reported else group
    # A class with an unknown name and without its class-map is assumed to have a group equal to its priority.
    return (cos if group is None else group), cos, pause


def _class(line: Line) -> Class:
    found = Class(strict=line.get("priority") is not None)
    for child in line.children:
        share = re.fullmatch(r"bandwidth (?:remaining )?percent (\d+)", child.text)
        if share:
            found.share = int(share.group(1))
        if child.text.startswith("random-detect"):
            found.marking = marking(child.text) or found.marking
    return found


def marking(text: str) -> Marking | None:
    """Return the Marking of a random-detect line; without the word ecn it drops."""
    low = re.search(r"minimum-threshold (\d+) (\w+)", text)
    high = re.search(r"maximum-threshold (\d+) (\w+)", text)
    if not low or not high:
        return None
    if not {low.group(2), high.group(2)} <= {*UNITS}:
        return None
    chance = re.search(r"drop-probability (\d+)", text)
    least, most = (int(found.group(1)) * UNITS[found.group(2)] for found in (low, high))
    return Marking(least, most, int(chance.group(1)) if chance else None, "ecn" in text.split())


def _interface(found: Block, line: Line) -> None:
    for child in line.children:
        words = child.words
        pfc = re.fullmatch(r"priority-flow-control mode (on|off|auto)( send-tlv)?", child.text)
        if pfc:
            found.pfc, found.sends_tlv = pfc.group(1), pfc.group(2) is not None
        elif words[0] == "mtu":
            found.mtu = number(child.text)
        elif words[0] == "priority-flow-control" and "watch-dog-interval" in words:
            found.guard = words[-1] == "on"
        elif words[0] == "service-policy" and "input" in words and _type(words) == "qos":
            found.classifier = words[-1]
        elif words[0] == "service-policy" and "output" in words and _type(words) == "queuing":
            found.queuing = words[-1]
        elif words[:3] == ["lldp", "dcbx", "version"]:
            found.dcbx = words[-1]
        elif words[0] == "flowcontrol" and words[-1] == "on":
            found.pauses.update(words[1:2])


def mapped(config: Config, policy: str | None) -> tuple[str, dict[int, int]]:
    """Return (trust, {DSCP: qos-group}) of a classifying policy; without one, all packets are in group 0."""
    codes, priorities, decided = False, False, {}
    for name, group in config.classifiers.get(policy or "", ()):
        if name == "class-default":
            decided.update({dscp: group for dscp in range(64) if dscp not in decided})
            continue
        dscps, cos, every = config.matches.get(name, (set(), set(), False))
        codes, priorities = codes or bool(dscps), priorities or bool(cos)
        if cos and every and dscps:
            continue  # Packets without a tag have no CoS to match.
        decided.update({dscp: group for dscp in dscps if dscp not in decided})
    trust = {(True, False): "dscp", (False, True): "pcp", (True, True): "both"}.get((codes, priorities), "none")
    return trust, {dscp: decided.get(dscp, 0) for dscp in range(64)}


def _kept(roots: Iterable[Line]) -> str:
    """Return the QoS lines for a backup, once each."""
    kept: dict[str, list[str]] = {}
    for line in (line for root in roots for line in root.children):
        port = line.words[0] == "interface"
        if not port and not KEPT.fullmatch(line.text):
            continue
        lines = [child.render(2, 1) for child in line.children if not port or KEPT_IN_PORTS.match(f"{child.text}")]
        if lines or not port:
            there = kept.setdefault(line.text, [])
            there += [child for child in lines if child not in there]
    return "\n".join("\n".join([head, *lines]) for head, lines in kept.items())
