# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read the configuration of Arista EOS as blocks of an interface, a QoS profile and the switch itself. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import vlans
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import CODES, number, numbers, tree
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.unread import strange

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import Line
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Port

# Default traffic classes of code points. Those below 16 differ by family, so they are unknown.
DEFAULT_MAP = {dscp: dscp >> 3 for dscp in range(16, 64)}
# Bytes per unit of thresholds. A segment is a cell of the packet buffer in most families.
UNITS = {"bytes": 1, "kbytes": 1000, "mbytes": 1000000, "segments": 208}
ACTIONS = {"no-drop": "forward", "notify-only": "alert"}
TRUSTS = {"cos": "pcp", "dscp": "dscp", "untrusted": "none"}
KEPT = re.compile(r"(?:interface (?:Ethernet|Port-Channel)|qos |priority-flow-control |class-map |policy-map ).*")
KEPT_IN_PORTS = re.compile(
    r"(?:no |default )?(?:mtu|switchport$|qos|service-pro|service-pol|priority-flow-control|dcbx|flowcontrol).*"
    r"|(?:uc-)?tx-queue \d+"
)

# Known forms of lines that affect RoCE: (block, prefix, whole line).
_SIZE = rf"\d+ (?:{'|'.join(UNITS)}|milliseconds|microseconds)"
FORMS = (
    (r"interface (?:Eth|Port-)|qos profile ", r"qos trust ", rf"qos trust (?:{'|'.join(TRUSTS)})"),
    (
        r"interface (?:Eth|Port-)|qos profile |$",
        r"priority-flow-control ",
        r"priority-flow-control (?:(?:mode )?(?:on|off)|all off|priority [\d ,-]+ (?:no-)?drop|pause watchdog.*)",
    ),
    ("", r"random-detect ecn (?!count)", rf"random-detect ecn .*minimum-threshold {_SIZE} maximum-threshold {_SIZE}.*"),
    (r"interface (?:Eth|Port-)|qos profile ", r"bandwidth (?!guaranteed)", r"bandwidth percent \d+"),
    (r"$", r"qos map dscp ", rf"qos map dscp {CODES}to traffic-class \d+.*"),
    (r"$", r"qos map traffic-class .* to (?:uc-)?tx-queue", r"qos map traffic-class [\d ,-]+ to (?:uc-)?tx-queue \d+"),
    (r"class-map ", r"match dscp ", rf"match dscp {CODES}"),
)


@dataclass
class Queue:
    """The settings of one transmit queue in a block."""

    strict: bool | None = None
    percent: int | None = None
    marking: Marking | None = None


@dataclass
class Block:
    """Settings of an interface or a QoS profile; None and missing keys mean the other one or the default applies."""

    trust: str | None = None
    pfc: str | None = None
    no_drop: set[int] = field(default_factory=set)
    drop: set[int] = field(default_factory=set)
    watchdog: bool | None = None
    timeout: float | None = None
    recovery: float | None = None
    action: str | None = None
    queues: dict[int, Queue] = field(default_factory=dict)
    policy: str | None = None
    profile: str | None = None
    mtu: int | None = None
    routed: bool | None = None
    dcbx: str | None = None
    pauses: set[str] = field(default_factory=set)
    member: bool = False


@dataclass
class Config:
    """The part of a running configuration that affects RoCE."""

    hostname: str | None = None
    version: str | None = None
    model: str | None = None
    dscp_map: dict[int, int] = field(default_factory=lambda: dict(DEFAULT_MAP))
    queues: dict[int, int] = field(default_factory=lambda: {priority: priority for priority in range(8)})
    profiles: dict[str, Block] = field(default_factory=dict)
    interfaces: dict[str, Block] = field(default_factory=dict)
    policies: dict[str, dict[int, int]] = field(default_factory=dict)
    watchdog: dict[str, str] = field(
        default_factory=dict
    )  # timeout, recovery-time, polling-interval in seconds; action
    off: bool = False
    keyword: str = "tx-queue"
    text: str = ""
    unread: list[str] = field(default_factory=list)
    switching: dict[str, vlans.Switching] = field(default_factory=dict)  # {interface: vlans.Switching}
    vlans: set[int] | None = None  # existing VLANs; None: not reported


def config_of(text: str) -> Config:
    """Return the Config of a text."""
    found, root = Config(), tree(text)
    # Some releases have a suffix: EOS-4.32.1F-37265360.4321F (engineering build).
    header = re.search(r"^\s*! device: (\S+) \(([^,]+), EOS-([^)\s]+)", text or "", re.MULTILINE)
    if header:
        found.hostname, found.model, found.version = header.groups()
    classes = {}
    for line in root.children:
        words = line.words
        if words[0] == "hostname":
            found.hostname = words[-1]
        elif words[:2] == ["qos", "profile"]:
            found.profiles[line.text[len("qos profile ") :]] = block_of(line)
        elif words[0] == "interface" and re.match(r"Ethernet|Port-Channel", "".join(words[1:])):
            found.interfaces["".join(words[1:])] = block_of(line)
        elif words[0] == "class-map":
            classes[words[-1]] = [code for codes in line.rest("match dscp") for code in numbers(codes)]
        elif words[0] == "policy-map":
            found.policies[words[-1]] = _policy(line, classes)
        else:
            _global(found, line.text)
    if any(line.text.startswith("uc-tx-queue ") for _above, line in root.walk()):
        found.keyword = "uc-tx-queue"
    found.text = _kept(root)
    found.unread = strange("show running-config", root, FORMS)
    found.switching = vlans.by_port(text, r"interface ((?:Ethernet|Port-Channel)\S+)", lambda name: [name])
    found.vlans = vlans.existing([line.text for line in root.children], r"vlan ([\d,-]+)")
    return found


def _global(found: Config, text: str) -> None:
    mapped = re.fullmatch(r"qos map dscp (.+?) to traffic-class (\d+).*", text)
    if mapped:
        found.dscp_map.update(dict.fromkeys(numbers(mapped.group(1)), int(mapped.group(2))))
    queued = re.fullmatch(r"qos map traffic-class (.+?) to (uc-)?tx-queue (\d+)", text)
    if queued:
        found.queues.update(dict.fromkeys(numbers(queued.group(1)), int(queued.group(3))))
        found.keyword = f"{queued.group(2) or ''}tx-queue"
    if text == "priority-flow-control all off":
        found.off = True
    guard = re.fullmatch(
        r"priority-flow-control pause watchdog (?:default )?(timeout|recovery-time|polling-interval|action) (\S+).*",
        text,
    )
    if guard:
        found.watchdog[guard.group(1)] = guard.group(2)


def _policy(line: Line, classes: Mapping[str, Sequence[int]]) -> dict[int, int]:
    """Return {DSCP: traffic class} of a policy map; access lists are not evaluated."""
    decided: dict[int, int | None] = {}
    for entry in line.find("class"):
        chosen = range(64) if entry.words[-1] == "class-default" else classes.get(entry.words[-1], ())
        target = number(next(iter(entry.rest("set traffic-class")), None))
        for dscp in chosen:
            decided.setdefault(dscp, target)
    return {dscp: target for dscp, target in decided.items() if target is not None}


def block_of(line: Line) -> Block:
    """Return the Block of an interface or a profile."""
    found = Block()
    for child in line.children:
        queue = re.fullmatch(r"(?:uc-)?tx-queue (\d+)", child.text)
        if queue:
            found.queues[int(queue.group(1))] = _queue(child)
        else:
            _setting(found, child.text)
    return found


def _setting(found: Block, text: str) -> None:
    words = text.split()
    if text in ("no qos trust", "no switchport", "switchport", "no priority-flow-control pause watchdog"):
        found.trust = "none" if text == "no qos trust" else found.trust
        found.routed = text.startswith("no") if text.endswith("switchport") else found.routed
        found.watchdog = False if text.endswith("watchdog") else found.watchdog
    elif words[0] in ("no", "default"):
        return
    elif words[:2] == ["qos", "trust"]:
        found.trust = TRUSTS.get(words[-1], words[-1])
    elif words[0] == "mtu":
        found.mtu = number(text)
    elif words[0] == "service-profile":
        found.profile = text[len("service-profile ") :]
    elif words[0] == "service-policy" and "input" in words[:-1]:
        found.policy = words[-1]
    elif words[:2] == ["dcbx", "mode"]:
        found.dcbx = words[-1]
    elif words[0] == "flowcontrol" and words[-1] != "off":
        found.pauses.update(words[1:2])
    elif words[0] == "channel-group":
        found.member = True
    elif words[0] == "priority-flow-control":
        _flow_control(found, text)


def _flow_control(found: Block, text: str) -> None:
    mode = re.fullmatch(r"priority-flow-control(?: mode)? (on|off)", text)
    if mode:
        found.pfc = mode.group(1)
    priority = re.fullmatch(r"priority-flow-control priority ([\d ,-]+?) (no-drop|drop)", text)
    if priority:
        kind, other = (found.no_drop, found.drop) if priority.group(2) == "no-drop" else (found.drop, found.no_drop)
        kind.update(numbers(priority.group(1)))
        other.difference_update(kind)
    if text == "priority-flow-control pause watchdog":
        found.watchdog = True
    guard = "priority-flow-control pause watchdog port "
    if text.startswith(f"{guard}action "):
        found.action = text.split()[-1]
    if text.startswith(f"{guard}timer "):
        times = dict(re.findall(r"(timeout|recovery-time) ([\d.]+)", text))
        found.timeout = seconds(times.get("timeout"))
        found.recovery = seconds(times.get("recovery-time"))


def seconds(text: str | None) -> float | None:
    """Return 1.5 for '1.5'; None if the value is no number."""
    return float(text) if text and re.fullmatch(r"\d+(?:\.\d+)?", text) else None


def _queue(line: Line) -> Queue:
    found = Queue()
    for child in line.children:
        share = re.fullmatch(r"bandwidth percent (\d+)", child.text)
        if share:
            found.percent = int(share.group(1))
        elif child.text == "priority strict":
            found.strict = True
        elif child.text == "no priority":
            found.strict = False
        elif child.text.startswith("random-detect "):
            found.marking = _marking(child.text) or found.marking
    return found


def _marking(text: str) -> Marking | None:
    limits = re.search(r"minimum-threshold (\d+) (\w+) maximum-threshold (\d+) (\w+)", text)
    if not limits:
        return None
    chance = re.search(r"(?:max-mark|drop)-probability (\d+)", text)
    low, high = (int(limits.group(at)) * UNITS.get(limits.group(at + 1), 0) for at in (1, 3))
    # Thresholds in time (latency) cannot be converted to bytes without the speed. 0 never equals a requested value.
    return Marking(low, high, int(chance.group(1)) if chance else None, " ecn " in f"{text} ")


def _kept(root: Line) -> str:
    """Return the QoS lines for a backup."""
    kept = []
    for line in root.children:
        if not KEPT.fullmatch(line.text):
            continue
        lines = [child for child in line.children if line.words[0] != "interface" or KEPT_IN_PORTS.match(child.text)]
        if line.children and not lines:
            continue
        kept.append(line.text)
        kept += [child.render(3, 1) for child in lines]
    return "\n".join(kept)


def content(block: Block) -> str:
    """Return the settings of a profile on one line."""
    usual = vars(Block())
    reported = {key: value for key, value in vars(block).items() if value != usual[key]}
    return ", ".join(f"{key}: {_short(value)}" for key, value in reported.items())


def _short(value: object) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key} {_short(one)}" for key, one in sorted(value.items()))
    if hasattr(value, "__dict__"):
        return " ".join(f"{key}={_short(one)}" for key, one in vars(value).items() if one is not None)
    return " ".join(map(str, sorted(value))) if isinstance(value, (set, frozenset)) else str(value)


def put_vlans(config: Config, name: str, port: Port, link: Mapping[str, object]) -> None:
    """Set the VLANs of a port; a member of a port channel has those of the port channel."""
    one = config.switching.get(name) or vlans.Switching()
    above = config.switching.get(f"Port-Channel{one.member}") if one.member else None
    lines = replace(above, enabled=one.enabled) if above else one
    if (
        lines.mode is None
        and (lines.reported or link.get("forwardingModel") == "bridged")
        and not (one.member and not above)
    ):
        lines = replace(lines, mode=vlans.ACCESS)
    if lines.mode is None and link.get("forwardingModel") == "routed":
        lines = replace(lines, mode=vlans.ROUTED)
    vlans.settle(port, lines, config.vlans)
