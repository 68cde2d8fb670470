# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compute ports from the running configuration of Enterprise SONiC and read its show commands. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import lines, lldpctl, vlans
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking, Neighbour, Oper, Port
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.unread import lacks

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import Line
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Switch

    class Reported(Port):
        """A Port with all RoCE values set, as port_of() creates it."""

        dscp_map: dict[int, int]
        queues: dict[int, int]
        groups: dict[int, int]
        pfc: list[int]
        pfc_queues: dict[int, int]
        lossless: list[int]
        ecn: dict[int, Marking]
        strict: list[int]
        shares: dict[int, int]


FACTORY_MTU, FACTORY_CABLE_M = 9100, 40
LOSSY_GROUP = 7  # the priority group of traffic classes without a mapping
OWN = "AIREADY-"
ASYMMETRIC = "priority-flow-control asymmetric"
PFC, WATCH = "priority-flow-control priority", "priority-flow-control watchdog"
MAPS = ("dscp-tc", "dot1p-tc", "tc-queue", "tc-pg", "tc-dscp", "tc-dot1p", "pfc-priority-queue", "pfc-priority-pg")
# RoCE lines of interfaces: (pattern, the line without its value, which removes it after `no`).
LINES = (
    (r"queue (\d+) wred-policy \S+", r"queue \1 wred-policy"),
    (r"scheduler-policy \S+", "scheduler-policy"),
    (r"cable-length \S+", "cable-length"),
    (r"qos-map (\S+) \S+", r"qos-map \1"),
    (rf"{PFC} (\d+)", rf"{PFC} \1"),
    (rf"{WATCH} on .*", f"{WATCH} on"),
    (rf"{WATCH} action \S+", f"{WATCH} action"),
    (rf"{WATCH} restore-time \S+", f"{WATCH} restore-time"),
    (r"mtu \d+", "mtu"),
    (ASYMMETRIC, ASYMMETRIC),
)
OBJECTS = ("qos map ", "qos wred-policy ", "qos scheduler-policy ")


# Known forms of lines that affect RoCE: (block, prefix, whole line).
_PORTS = r"interface Eth"
FORMS = (
    *((_PORTS, start, "|".join(pattern for pattern, _key in LINES)) for start in ("priority-flow-control ", "mtu ")),
    (_PORTS, "qos-map ", rf"qos-map (?:{'|'.join(MAPS)}) \S+"),
    (_PORTS, "cable-length ", r"cable-length \d+m?"),
    (r"qos map (?:dscp|dot1p|tc|pfc)", r"(?:dscp|dot1p|traffic-class|pfc-priority) ", r"\S+ [\d,-]+ \S+ \d+"),
    (
        r"qos wred-policy ",
        r"green ",
        r"green minimum-threshold \d+ maximum-threshold \d+ drop-probability \d+",
    ),
    (r"qos scheduler-policy ", r"weight ", r"weight \d+"),
    (r"qos scheduler-policy ", r"type ", r"type (?:strict|dwrr|wrr)"),
)


def read(text: str) -> tuple[Line, dict[str, dict[str, str]], dict[str, Line], list[int]]:
    """Return (root of the configuration, {port: {key: line}}, {object: Line}, priorities with lossless buffers)."""
    root = lines.tree(text)
    ports: dict[str, dict[str, str]]
    objects: dict[str, Line]
    ports, objects = {}, {}
    for child in root.children:
        found = re.match(r"interface (Eth(?:ernet)?\s*\d\S*)$", child.text)
        if found:
            name = found.group(1).replace(" ", "")
            ports.setdefault(name, {}).update(keyed(one.text for one in child.children))
        if child.text.startswith(OBJECTS):
            objects[child.text] = child
    return root, ports, objects, headroom(root)


def keyed(texts: Iterable[str]) -> dict[str, str]:
    """Return {the line without its value: the line} of the RoCE lines."""
    found = {}
    for text in texts:
        for pattern, key in LINES:
            match = re.fullmatch(pattern, text)
            if match:
                found[match.expand(key)] = text
                break
    return found


def headroom(root: Line) -> list[int]:
    """Return the priority groups with lossless buffers, which only a restart can create."""
    for child in root.children:
        found = re.match(r"roce enable(?: pfc-priority (\S+))?", child.text)
        if found:
            return lines.numbers(found.group(1) or "3,4")
        if child.text == "buffer init lossless":
            return [3, 4]
    return []


def port_of(here: Mapping[str, str], objects: Mapping[str, Line], buffers: Container[int]) -> Reported:
    """Return the Port that its lines configure."""
    entries = {kind: _map(objects, here, kind) for kind in MAPS}
    port = cast(
        "Reported", Port(trust="dscp" if "qos-map dscp-tc" in here else "pcp" if "qos-map dot1p-tc" in here else "none")
    )
    port.dscp_map = {**dict.fromkeys(range(64), 0), **entries["dscp-tc"]}
    port.queues = {**{at: at for at in range(8)}, **entries["tc-queue"]}
    port.groups = {**dict.fromkeys(range(8), LOSSY_GROUP), **entries["tc-pg"]}
    port.pfc_queues = {**{at: at for at in range(8)}, **entries["pfc-priority-queue"]}
    pausing = {**{at: at for at in range(8)}, **entries["pfc-priority-pg"]}
    port.pfc = sorted(int(key.split()[-1]) for key in here if key.startswith(PFC))
    port.pfc_mode = "on" if port.pfc else "off"
    port.pfc_asymmetric = ASYMMETRIC in here
    port.lossless = [one for one in port.pfc if port.groups[one] == pausing[one] and pausing[one] in buffers]
    port.ecn = {}
    for key, line in here.items():
        if key.startswith("queue "):
            marking = _marking(objects.get(f"qos wred-policy {line.split()[-1]}"))
            port.ecn.update({int(key.split()[1]): marking} if marking else {})
    _scheduled(port, objects.get(f"qos scheduler-policy {here.get('scheduler-policy', '').split(' ')[-1]}"))
    port.mtu = lines.number(here.get("mtu", ""), FACTORY_MTU)
    port.cable_length_m = lines.number(here.get("cable-length", ""), FACTORY_CABLE_M)
    port.watchdog = f"{WATCH} on" in here
    port.watchdog_detection_ms = lines.number(here.get(f"{WATCH} on", ""))
    port.watchdog_recovery_ms = lines.number(here.get(f"{WATCH} restore-time", ""))
    port.watchdog_action = here.get(f"{WATCH} action", f"{WATCH} action drop").split()[-1]
    return port


def switched(shown: str, ports: Mapping[str, Port]) -> None:
    """Set the VLANs of the ports; a port without VLANs is routed, and in a port channel they are unknown."""
    root = lines.tree(shown)
    there = {
        number
        for line in root.children
        for number in lines.numbers("".join(re.findall(r"^interface Vlan ?(\d+)$", line.text)))
    }
    found = vlans.by_port(shown, r"interface (Eth(?:ernet)?\s*\d\S*)", lambda name: [name.replace(" ", "")])
    for name, one in found.items():
        if name not in ports:
            continue
        ports[name].enabled = one.enabled
        if one.member or "hostname" not in {line.words[0] for line in root.children}:
            continue
        untagged = one.access if one.access in there else None
        tagged = (one.allowed or frozenset()) & there
        mode = vlans.TRUNK if tagged else vlans.ACCESS if one.access else vlans.ROUTED
        vlans.put(ports[name], mode, untagged, frozenset(tagged))


def running(switch: Switch, texts: Mapping[str, str]) -> None:
    """Add the values of the show commands to a Switch."""
    for command, text in texts.items():
        if command.startswith("show version"):
            found = re.search(r"Software Version\s*:\s*'?(?:SONiC-OS-)?(\S+?)'?\s*$", text, re.M)
            switch.version = found.group(1) if found else switch.version
            found = re.search(r"HwSKU\s*:\s*(\S+)", text)
            switch.model = found.group(1) if found else switch.model
        elif command.startswith("show interface status"):
            _status(switch, text)
        elif command.startswith("show qos interface"):
            _qos(switch, text, port_in(command))
        elif command.startswith("show lldp neighbor"):
            lldpctl.neighbours(switch, text)
        elif command.startswith("show lldp table"):
            _neighbours(switch, text)


def port_in(command: str) -> str | None:
    """Return the port in a command, if it has one: Eth1/1, or Ethernet0 with native port names."""
    found = lines.port_in(command, "ethernet|eth?|e")
    return None if found is None else ("Eth" if "/" in found[1] else "Ethernet") + found[1]


def entries_of(block: Line | None) -> dict[int, int]:
    """Return {number: number} of the lines of a map, such as dscp 24,26 traffic-class 3."""
    return entries(child.text for child in block.children) if block else {}


def entries(texts: Iterable[str]) -> dict[int, int]:
    found = {}
    for text in texts:
        match = re.fullmatch(r"\S+ (\S+) \S+ (\d+)", text)
        if match:
            found.update(dict.fromkeys(lines.numbers(match.group(1)), int(match.group(2))))
    return found


def _map(objects: Mapping[str, Line], here: Mapping[str, str], kind: str) -> dict[int, int]:
    return entries_of(objects.get(f"qos map {kind} {here.get(f'qos-map {kind}', '').split(' ')[-1]}"))


def _marking(block: Line | None) -> Marking | None:
    reported = {line.words[0]: line.text for line in block.children} if block else {}
    figures = [int(one) for one in re.findall(r"\d+", reported.get("green", ""))]
    if len(figures) != 3:
        return None
    marks = reported.get("ecn", "").split()[-1:] in (["green"], ["all"])
    return Marking(figures[0] * 1000, figures[1] * 1000, figures[2], marks)


def _scheduled(port: Port, block: Line | None) -> None:
    port.strict, weights = [], {}
    for queue in block.find("queue") if block else ():
        reported = {line.words[0]: line.words[-1] for line in queue.children}
        number = lines.number(queue.text)
        if number is None:
            continue
        if reported.get("type") == "strict":
            port.strict.append(number)
        else:
            weights[number] = lines.number(reported.get("weight", 1)) or 1
    port.shares = {queue: round(100 * weight / sum(weights.values())) for queue, weight in weights.items()}


PORT = re.compile(r"Eth(?:ernet)?\d\S*")


def _status(switch: Switch, text: str) -> None:
    """Read rows of the table; some releases have a second port name in the last column."""
    columns = {}
    for line in lines.cleaned(text):
        words = line.split()
        if words[:1] == ["Name"] and "MTU" in words:
            columns = {name: line.index(name) for name in ("Oper", "Reason", "Speed", "MTU") if name in line}
        elif words and PORT.fullmatch(words[0]) and len(words) > 3:
            oper = switch.oper.setdefault(words[0], Oper())
            reported = {name: line[at:].split()[:1] for name, at in columns.items()}
            shown = reported.get("Oper") or [word for word in words[1:-2] if word in ("up", "down")][-1:]
            oper.up = {"up": True, "down": False}.get("".join(shown))
            if oper.up is None:
                switch.unread.append(lacks("show interface status", f"the state of {words[0]}, {' '.join(shown)!r}"))
            oper.mtu = lines.number("".join(reported.get("MTU", words[-1:])))
            speed = "".join(reported.get("Speed", words[-2:-1]))
            port = switch.ports.setdefault(words[0], Port())
            port.speed = int(speed) // 1000 or port.speed if speed.isdecimal() else port.speed


def _qos(switch: Switch, text: str, port: str | None = None) -> None:
    """Read the output; port: the port in the command, because the output for one port does not contain it."""
    oper = _no_qos(switch, port) if port is not None and "pfc-" in text else None
    for line in lines.cleaned(text):
        words = line.split()
        if len(words) == 1 and PORT.fullmatch(words[0]):
            port, oper = words[0], _no_qos(switch, words[0])
        key, colon, value = (part.strip() for part in line.partition(":"))
        if oper is None or not colon:
            continue
        if key == "pfc-priority":
            oper.pfc = lines.numbers(value) if re.fullmatch(r"[\d\s,-]*", value) else None
            if oper.pfc is None:
                switch.unread.append(lacks("show qos interface", f"the priorities of {port}, {value!r}"))
        elif key == "pfc-asymmetric":
            switch.ports.setdefault(cast("str", port), Port()).pfc_asymmetric = {"on": True, "off": False}.get(value)
        elif key == "watchdog-detect-time":
            oper.watchdog = True
        elif key in ("dscp-tc-map", "dot1p-tc-map"):
            oper.trust = "dscp" if key == "dscp-tc-map" or oper.trust == "dscp" else "pcp"


def _no_qos(switch: Switch, name: str) -> Oper:
    oper = switch.oper.setdefault(name, Oper())
    oper.pfc, oper.watchdog, oper.trust = [], False, "none"
    return oper


def _neighbours(switch: Switch, text: str) -> None:
    for line in lines.cleaned(text):
        words = line.split()
        if len(words) > 2 and PORT.fullmatch(words[0]):
            switch.neighbours.setdefault(words[0], []).append(Neighbour(system=words[1], port=words[2]))
