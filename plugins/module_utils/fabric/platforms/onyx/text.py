# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read the output of NVIDIA Onyx (MLNX-OS) as data. The nesting of JSON differs between releases. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import cleaned, number, numbers
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.onyx.json import (
    PORT,
    by_port,
    documents,
    from_text,
    scalars,
    tables,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.onyx.peers import (
    read_remote,
    remote_text,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.onyx.preset import (
    Preset,
    preset,
    threshold_bytes,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.onyx.settings import (
    PROMPT,
    existing_vlans,
    ports_of,
    settings,
    switching,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.unread import lacks

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import vlans
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.onyx.settings import Settings
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Neighbour

LIKELY = (
    ("executed_command", None),
    (r"RoCE mode\s*:", "show roce"),
    (r"RoCE PG packets|RoCE TC packets", "show interfaces ethernet counters roce"),
    (r"discard packets", "show interfaces ethernet counters"),
    (
        r"Remote system name|Remote port-id|No lldp remote|Local Interface\s+Device ID",
        "show lldp interfaces ethernet remote",
    ),
    (r"Local global configuration|Chassis sub type", "show lldp local"),
    (r'"TLVs"|"Transmit"', "show lldp interfaces"),
    (r"ECN marked packets|TC-\d", "show interfaces ethernet congestion-control"),
    (r"ETS per TC|S\.Mode", "show dcb ets"),
    (r"PFC admin|Priority Enabled List", "show dcb priority-flow-control"),
    (r"Trust mode|DSCP to switch-priority", "show qos interface"),
    (r"Memory \[%\]|Memory actual", "show traffic pool"),
    (r"Product release", "show version"),
    (r"Operational state|Actual speed", "show interfaces ethernet"),
    (r"prefix-modes|Running database|(?m:^\s*(?:interface \w\S* \S+ \S|traffic pool|dcb pri))", "show running-config"),
)


@dataclass
class Reading:
    """All values of some texts; a value that no text contains is None or empty."""

    version: str | None = None
    model: str | None = None
    hostname: str | None = None
    by_port: dict[str | None, Settings] | None = None  # the same settings by port
    settings: Settings | None = None  # {(kind, ...): value} of the running configuration, without defaults
    preset: Preset | None = None
    pfc_enabled: bool | None = None
    pfc_priorities: list[int] | None = None
    pfc_ports: dict[str, tuple[str | None, bool | None]] = field(
        default_factory=dict
    )  # {port: (admin, whether PFC is effective)}
    qos: dict[str, tuple[str, dict[int, int] | None, dict[int, int] | None]] = field(
        default_factory=dict
    )  # {port: (trust, {DSCP: priority}, {priority: traffic class})}
    ecn: dict[str, dict[int, Marking]] = field(default_factory=dict)  # {port: {traffic class: Marking}}
    ets: dict[str, dict[int, str]] = field(default_factory=dict)  # {port: {traffic class: weight, or strict}}
    pools: dict[str, tuple[str, list[int]]] | None = None  # {name: (type, priorities)}
    interfaces: dict[str, dict[str, str]] = field(default_factory=dict)  # {port: its table}
    neighbours: dict[str, list[Neighbour]] = field(default_factory=dict)
    counters: dict[str, dict[str, int]] = field(default_factory=dict)
    switching: dict[str, vlans.Switching] = field(default_factory=dict)  # {port: vlans.Switching}
    vlans: set[int] | None = None  # existing VLANs; None: not reported
    exceptions: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def likely_command(text: str) -> str | None:
    """Return the command of an output, or None."""
    text = PROMPT.sub("", text)
    for pattern, command in LIKELY:
        if re.search(pattern, text):
            if command is not None:
                return command
            reported = re.search(r"executed_command\W+(show [^'\"]+)", text)
            if reported:
                return reported.group(1).strip()
    return None


def read(text: str, kind: str, into: Reading, port: str | None = None) -> None:
    """Add the output of one kind of command to a Reading; port: the port in the command."""
    if kind == "config":
        named = re.findall(r"(?m)^.*?\binterface (ethernet|port-channel|mlag-port-channel) (\d\S*)", text)
        into.interfaces.update(
            (name, into.interfaces.get(name, {})) for stem, span in named for name in ports_of(stem, span)
        )
        into.settings = {**(into.settings or {}), **settings(text)}
        into.switching, there = {**into.switching, **switching(text)}, existing_vlans(text)
        into.vlans = there if into.switching or len(there) > 1 else into.vlans
        into.hostname = _found(text, r"(?m)^(?:## Hostname:|\s*hostname)\s+(\S+)") or into.hostname
    elif kind == "roce":
        into.preset = preset(text)
    elif kind == "pfc":
        _read_pfc(text, into)
    elif kind == "version":
        pairs = {**_pairs(text), **scalars(documents(text))}
        into.version, into.model = pairs.get("Product release"), pairs.get("Product model")
    else:
        reported = documents(text)
        _TABLES[kind](reported or from_text(text, port), into)
        if kind == "remote" and not reported:
            into.neighbours.update(remote_text(text))
        if kind == "interfaces" and not reported:
            _read_status(text, into)


def _read_pfc(text: str, into: Reading) -> None:
    reported = documents(text)
    pairs = {**_pairs(text), **scalars(reported)}
    state = pairs.get("PFC", "").lower()
    into.pfc_enabled = {"enabled": True, "disabled": False}.get(state.split()[0] if state else "", into.pfc_enabled)
    if "Priority Enabled List" in pairs:
        listed = pairs["Priority Enabled List"]
        if numbers(listed) or listed.lower() in ("", "none", "n/a"):
            into.pfc_priorities = numbers(listed)
        else:
            into.unread.append(lacks("show dcb priority-flow-control", f"the priorities of PFC, {listed!r}"))
    rows = [(port, scalars(what).get("PFC admin"), scalars(what).get("PFC oper")) for port, what in by_port(reported)]
    rows += re.findall(r"(?mi)^\s*((?:Eth|Po|Mpo)\d\S*)\s+(auto|on|off)\s+(enabled|disabled)", text)
    for port, admin, acts in rows:
        into.pfc_ports[port] = (
            None if admin is None else str(admin).lower(),
            {"enabled": True, "disabled": False}.get(str(acts).lower()),
        )


def _read_qos(reported: object, into: Reading) -> None:
    for port, what in by_port(reported):
        known = scalars(what).get("Trust mode")
        if known is None:
            continue
        if known not in TRUSTS:
            into.unread.append(lacks("show qos interface ethernet", f"the trust of {port}, {known!r}"))
        priorities, queues = {}, {}
        for table in tables(what):
            if "switch-priority" in table and "DSCP" in table:
                priority, listed = number(table["switch-priority"]), str(table["DSCP"])
                if priority is None or not re.fullmatch(r"[\d\s,-]*|N/A", listed):
                    row = f"switch-priority {table['switch-priority']} of DSCP {listed}, {port}"
                    into.unread.append(lacks("show qos interface ethernet", row))
                    continue
                priorities.update(dict.fromkeys(numbers(listed), priority))
            for key, row in table.items():
                if not str(key).isdecimal() or "TC" not in scalars(row):
                    continue
                queue = number(scalars(row)["TC"])
                if queue is None:
                    shown = f"the traffic class of priority {key} of {port}, {scalars(row)['TC']!r}"
                    into.unread.append(lacks("show qos interface ethernet", shown))
                else:
                    queues[int(key)] = queue
        into.qos[port] = (known, priorities or None, queues or None)


def _read_congestion(reported: object, into: Reading) -> None:
    port = None
    for table in tables(reported):
        if "Interface ethernet" in table:
            port = f"Eth{table['Interface ethernet']}"
        if not table:
            continue
        named = [PORT.fullmatch(str(key)) for key in table]
        port = next((name.group(1) for name in named if name), port)
        if port is None:
            continue
        into.ecn.setdefault(port, {})
        if number(table.get("ECN marked packets")) is not None:
            into.counters.setdefault(port, {})["ecn_marked"] = cast("int", number(table["ECN marked packets"]))
        queue, mode = re.fullmatch(r"TC-(\d)", str(table.get("header", ""))), str(table.get("Mode", "none")).lower()
        if queue and mode != "none" and not re.search(r"ecn|red", mode):
            into.unread.append(
                lacks("show interfaces ethernet congestion-control", f"the mode of {port}, {queue.group()}, {mode!r}")
            )
        elif queue and mode != "none":
            sizes = (str(table.get(f"{name} threshold", "")) for name in ("Minimum", "Maximum"))
            low, high = (0 if size.endswith("%") else threshold_bytes(size) for size in sizes)
            if low is None or high is None:
                what = f"the thresholds of ECN of {port}, {queue.group()}"
                into.unread.append(lacks("show interfaces ethernet congestion-control", what))
                continue
            into.ecn[port][int(queue.group(1))] = Marking(low, high, mark="ecn" in mode)


def _read_ets(reported: object, into: Reading) -> None:
    """Read percentages as shares; weights alone are converted to percents, because their sum can be any number."""
    for port, what in by_port(reported):
        found = {}
        for table in tables(what):
            for key, inner in table.items():
                row = scalars(inner)
                if str(key).isdecimal() and "S.Mode" in row:
                    found[int(key)] = row
        shared = {queue: row for queue, row in found.items() if row["S.Mode"].lower() != "strict"}
        whole = sum(number(row.get("W")) or 0 for row in shared.values())
        for queue, row in found.items():
            part = number(row.get("W(%)"), round(100 * (number(row.get("W")) or 0) / whole) if whole else 0)
            into.ets.setdefault(port, {})[queue] = f"wrr {part}" if queue in shared else "strict"


def _read_pools(reported: object, into: Reading) -> None:
    for table in tables(reported):
        for name, what in table.items():
            row = scalars(what)
            if {"Type", "Switch Priorities"} <= {*row}:
                into.pools = dict(into.pools or {}, **{name: (row["Type"], numbers(row["Switch Priorities"]))})
        message = scalars(table.get("Exception list", {})).get("message", "N/A")
        into.exceptions += [message] if message != "N/A" and message not in into.exceptions else []


def _read_interfaces(reported: object, into: Reading) -> None:
    for port, what in by_port(reported):
        into.interfaces[port] = {**into.interfaces.get(port, {}), **scalars(what)}


def _read_status(text: str, into: Reading) -> None:
    """Read rows of the table: Eth1/1  Up  100 Gbps."""
    for line in cleaned(text):
        row = re.match(
            r"\s*((?:Eth|Po|Mpo)\d[\d/]*)(?:\s*\([^)]*\))?\s+(?:Enabled\s+|Disabled\s+)?(Up|Down)\b(.*)", line
        )
        if row:
            there = into.interfaces.setdefault(row.group(1), {})
            there["Operational state"] = row.group(2)
            speed = re.search(r"\b(\d+)\s?G", row.group(3))
            there.update({"Actual speed": speed.group(1)} if speed else {})


def _read_lldp(reported: object, into: Reading) -> None:
    into.interfaces.update((port, into.interfaces.get(port, {})) for port, _what in by_port(reported))


def _read_local(reported: object, into: Reading) -> None:
    pairs = scalars(reported)
    into.hostname = pairs.get("System Name", into.hostname)
    described = re.match(r"Mellanox (\w+),[\w-]+,SWv([\d.]+)", pairs.get("System Description", ""))
    if described:
        into.model, into.version = into.model or described.group(1), into.version or described.group(2)


def _read_counters(reported: object, into: Reading) -> None:
    names = {"RoCE PG packets": "roce_packets_received", "RoCE TC packets": "roce_packets_sent"}
    whole = {"packets": "packets", "bytes": "bytes", "discard packets": "discards"}
    for port, what in by_port(reported):
        for way, end in (("Rx", "received"), ("Tx", "sent")):
            for row in (scalars(table[way]) for table in tables(what) if way in table):
                counts = {f"{name}_{end}": number(row.get(key)) for key, name in whole.items()}
                into.counters.setdefault(port, {}).update({key: one for key, one in counts.items() if one is not None})
        row = scalars(what)
        found = {name: number(row.get(key)) for key, name in names.items()}
        into.counters.setdefault(port, {}).update((key, value) for key, value in found.items() if value is not None)


def _pairs(text: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in text.splitlines())
    return {key.strip(): value.strip() for key, colon, value in pairs if colon}


def _found(text: str, pattern: str) -> str | None:
    match = re.search(pattern, text)
    return match.group(1) if match else None


TRUSTS = ("L2", "L3", "both", "port")
_TABLES = {
    "qos": _read_qos,
    "congestion": _read_congestion,
    "ets": _read_ets,
    "pool": _read_pools,
    "interfaces": _read_interfaces,
    "lldp": _read_lldp,
    "local": _read_local,
    "remote": read_remote,
    "counters": _read_counters,
}
