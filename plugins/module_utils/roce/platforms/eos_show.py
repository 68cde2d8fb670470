# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What Arista EOS shows of what runs: its tables and its JSON. Pure."""

from __future__ import annotations

import re

from ansible_collections.aiready.vsphere.plugins.module_utils.roce import lines
from ansible_collections.aiready.vsphere.plugins.module_utils.roce.lines import cleaned, from_json, numbers, part, rows
from ansible_collections.aiready.vsphere.plugins.module_utils.roce.platforms.eos_text import TRUSTS, UNITS
from ansible_collections.aiready.vsphere.plugins.module_utils.roce.state import Marking, Neighbour, Oper

# Counters of `show interfaces | json`, in all classes together.
_COUNTED = {
    "bytes_received": "inOctets",
    "bytes_sent": "outOctets",
    "discards_received": "inDiscards",
    "discards_sent": "outDiscards",
}


def short(name):
    """The name of a port in full, from tables that cut it."""
    cut = re.fullmatch(r"(Et|Po)(\d\S*)", name)
    return name if not cut else {"Et": "Ethernet", "Po": "Port-Channel"}[cut.group(1)] + cut.group(2)


def port_in(command):
    """The port that a command names, where it names one."""
    found = lines.port_in(command, "ethernet|eth?|e|port-channel|po")
    return None if found is None else ("Port-Channel" if found[0].lower().startswith("p") else "Ethernet") + found[1]


PORT = r"((?:Ethernet|Et|Port-Channel|Po)[\w/.]+)"
ENABLED = re.compile(rf"^\s*{PORT}\s+(Yes|No)\s+([\d ,-]*?|none)\s*(Yes|No)\b\s*(.*)$", re.IGNORECASE)
# A dash may stand for a flag that is not set.
FLAGS = re.compile(rf"^\s*{PORT}\s+([EDAW](?: ?[EDAW-])*)(?:\s+([\d ,]+?|-))?(?:\s{{2,}}(.*))?$")
TOTALS = re.compile(rf"^\s*{PORT}\s+(\d+)\s+(\d+)\s*$")


def flow_control(text, oper):
    """`show priority-flow-control`, old table or new with its counters, into {port: Oper}."""
    for line in cleaned(text):
        row, flags, totals = ENABLED.match(line), FLAGS.match(line), TOTALS.match(line)
        if row:
            running = oper.setdefault(short(row.group(1)), Oper())
            _acting(running, row.group(4).lower() == "yes", row.group(3), row.group(5))
        elif totals:
            counters = oper.setdefault(short(totals.group(1)), Oper()).counters
            counters.update(pauses_received=int(totals.group(2)), pauses_sent=int(totals.group(3)))
        elif flags:
            running = oper.setdefault(short(flags.group(1)), Oper())
            _acting(running, "A" in flags.group(2), flags.group(3), flags.group(4))
            running.watchdog = "W" in flags.group(2)


def stuck_queues(text, oper):
    """`show priority-flow-control counters watchdog`: queues that got stuck, and how often they recovered."""
    for line in cleaned(text):
        row = re.match(rf"^\s*{PORT}\s+(?:[UM]C)?(\d)\s+(\d+)\s+(\d+)\s*$", line)
        if row:
            running = oper.setdefault(short(row.group(1)), Oper())
            events = running.counters.get("watchdog_events", 0)
            running.counters["watchdog_events"] = events + int(row.group(3))
            now = [int(row.group(2))] if int(row.group(3)) > int(row.group(4)) else []
            running.storms = sorted({*(running.storms or ()), *now})


def _acting(running, active, priorities, note):
    running.pfc = numbers(priorities) if active else []
    running.pfc_sends = bool(running.pfc)
    if "dcbx disabled" in (note or "").lower():
        running.dcbx = "off"


def queues_of(text, oper, strict, port=None):
    """`show qos interfaces`, whole or of one aspect, into {port: Oper} and {port: {queue: whether it goes first}}.

    port: the one that the command names; some tables leave it to the command.
    """
    name, queue = port, None
    units, marking = {}, {}  # queues of which a table says that they mark, and not from when on
    for line in cleaned(text):
        head, table = (
            re.match(rf"^\s*{PORT}:", line),
            re.match(rf"^\s*{PORT}\s+(COS|DSCP|UNTRUSTED)\b", line, re.IGNORECASE),
        )
        if head or table:
            name, queue = short((head or table).group(1)), None
            running = oper.setdefault(name, Oper())
            running.trust = TRUSTS[table.group(2).lower()] if table else running.trust
            continue
        if name is None:
            continue
        unit = re.search(_UNIT, line, re.IGNORECASE)
        if unit and not re.match(r"\s*(?:\w+-?queue:?\s*)?\d", line):
            units[name] = unit.group(1)  # a header with the unit of the column below it
        trust = re.search(r"trust mode\s*:?\s*(\w+)", line, re.IGNORECASE)
        row = re.match(r"^\s*(?:(?:uc-?)?tx-?queue:?\s*)?(\d)\s*:?(?:\s+(.*))?$", line, re.IGNORECASE)
        if trust:
            oper.setdefault(name, Oper()).trust = TRUSTS.get(trust.group(1).lower())
        elif row:
            queue = int(row.group(1))
            running = oper.setdefault(name, Oper())
            _queue_row(queue, row.group(2) or "", running, strict.setdefault(name, {}), units.get(name))
            if re.search(r"\b(SP|RR)\s+[A-CE-Z]\s*$", line):
                marking.setdefault(name, set()).add(queue)
        elif queue is not None:
            _threshold(queue, line, oper[name])
    for name, queues in marking.items():
        if not queues <= {*(oper[name].ecn or {})}:
            oper[name].ecn = oper[name].ecn or None


_UNIT = r"\b(bytes|kbytes|mbytes|segments|kb|mb)\b"


def _queue_row(queue, rest, running, strict, usual=None):
    order = re.search(r"\b(SP|RR)\b", rest)
    if order:
        strict[queue] = order.group(1) == "SP"
    told = re.search(_UNIT, rest, re.IGNORECASE)
    unit = told.group(1) if told else (usual if not order else None)
    cells = [word for word in rest.split() if not re.fullmatch(_UNIT, word, re.IGNORECASE)]
    if unit and not order and not all(map(str.isdigit, cells[:2])):
        return  # a cell that is no number would make the maximum the minimum
    found = [int(entry) for entry in re.findall(r"\b\d+\b", rest)]
    if unit and len(found) >= 2:
        size = _size(unit)
        chance = found[2] if len(found) > 2 and found[2] <= 100 else None
        running.ecn = {**(running.ecn or {}), queue: Marking(found[0] * size, found[1] * size, chance)}
    elif order:
        running.ecn = running.ecn or {}  # None of its queues marks, unless the thresholds follow.


def _threshold(queue, line, running):
    """Lines such as 'Minimum threshold: 150 kbytes' below a queue."""
    told = re.search(r"(min|max)\w*[ -]threshold\W*(\d+)\s*(\w+)", line, re.IGNORECASE)
    chance = re.search(r"prob\w*\W*(\d+)", line, re.IGNORECASE)
    if not told and not chance:
        return
    old = (running.ecn or {}).get(queue) or Marking(0, 0)
    low, high, odds = old.min_bytes, old.max_bytes, old.probability
    if told and not _size(told.group(3)):
        return
    if told:
        size = int(told.group(2)) * _size(told.group(3))
        low, high = (size, high) if told.group(1).lower() == "min" else (low, size)
    else:
        odds = int(chance.group(1))
    running.ecn = {**(running.ecn or {}), queue: Marking(low, high, odds)}


def _size(unit):
    unit = unit.lower()
    return UNITS.get({"kb": "kbytes", "mb": "mbytes"}.get(unit, unit), 0)


def links(text, port=None):
    """{port: row of its JSON} of `show interfaces`, as JSON or as text; port: the one that the command names."""
    told = from_json(text)
    found = part(told, "interfaces") or part(told, "interfaceStatuses") if told is not None else _links_text(text, port)
    return {name: part(found, name) for name in found if name.startswith(("Ethernet", "Port-Channel"))}


def counted(link):
    """What a port counted, by its row of `show interfaces`."""
    told = part(link, "interfaceCounters")
    counts = {name: told.get(key) for name, key in _COUNTED.items()}
    return {name: count for name, count in counts.items() if isinstance(count, int)}


_LINKED = {"up": "connected", "down": "notconnect"}
# Et1  to a host  connected  trunk  a-full  a-100G  100GBASE-CR4
_STATUS = re.compile(
    rf"^\s*{PORT}\s(?:.*\s)?(connected|notconnect|disabled|errdisabled|inactive)\s(?:.*\s(?:a-)?(\d+)G\s)?"
)


def _links_text(text, port=None):
    found, row = {}, {}
    for line in cleaned(text):
        head = re.match(r"\s*(\S+) is .*?line protocol is (\w+)(?: \((\w+)\))?", line)
        status = _STATUS.match(line)
        if status:
            found[short(status.group(1))] = {
                "interfaceStatus": status.group(2),
                "bandwidth": int(status.group(3) or 0) * 10**9,
            }
            continue
        size = re.search(r"\bMTU (\d+) bytes(?:.*\bBW (\d+) kbit)?", line)
        if head:
            row = found[head.group(1)] = {"interfaceStatus": _LINKED.get(head.group(2), head.group(3))}
        elif size:
            if not found and port is not None:
                found[port] = row
            routed = "IP MTU" in line
            row.update(mtu=int(size.group(1)), bandwidth=1000 * int(size.group(2) or 0))
            row["forwardingModel"] = "routed" if routed else "bridged"
    return found


def identity(text):
    """(version, model) of `show version`, as JSON or as text."""
    told = from_json(text)
    if told is not None:
        return told.get("version"), told.get("modelName")
    version = re.search(r"(?m)^\s*Software image version:\s*(\S+)", text)
    model = re.search(r"(?m)^\s*Arista (\S+)", text)
    return version and version.group(1), model and model.group(1)


def neighbours(text):
    """`show lldp neighbors`, with detail or without, as JSON or as text."""
    whole = from_json(text)
    if whole is None:
        return _neighbours_text(text)
    told = whole.get("lldpNeighbors")
    if isinstance(told, list):
        return _brief(told)
    found = {}
    for name in part(told):
        found[name] = [_neighbour(one) for one in rows(part(told, name).get("lldpNeighborInfo"))]
    return {name: many for name, many in found.items() if many}


def _neighbours_text(text):
    """Blocks under `Interface Ethernet1 detected 1 LLDP neighbors:`, or rows of the table."""
    found, peers, table = {}, None, False
    for line in cleaned(text):
        head = re.match(r"\s*Interface (\S+) detected \d+ LLDP neighbors", line)
        told = re.match(r"\s*(?:- )?(Chassis ID|Port ID|System Name|Port Description)\s*:\s*(.+)", line)
        cells = re.split(r"\s{2,}", line.strip())
        table = table or cells[0] == "Port" and "Neighbor Port ID" in line
        if head:
            peers = found.setdefault(head.group(1), [])
        elif peers is not None and re.match(r"\s*Neighbor \S+/", line):
            peers.append(Neighbour())
        elif peers and told and getattr(peers[-1], _TOLD[told.group(1)]) is None:
            # What is told of aggregation further down has a Port ID too.
            setattr(peers[-1], _TOLD[told.group(1)], told.group(2).strip().strip('"') or None)
        elif table and len(cells) == 4 and cells[3].isdecimal():
            found.setdefault(short(cells[0]), []).append(Neighbour(system=cells[1], port=cells[2]))
    return {name: many for name, many in found.items() if many}


_TOLD = {"Chassis ID": "chassis", "Port ID": "port", "System Name": "system", "Port Description": "description"}


def _neighbour(one):
    one = part(one)
    port = part(one, "neighborInterfaceInfo")
    name = port.get("interfaceId_v2") or port.get("interfaceId") or ""
    return Neighbour(
        system=one.get("systemName") or None,
        port=str(name).strip('"') or None,
        chassis=one.get("chassisId") or None,
        description=port.get("interfaceDescription") or one.get("systemDescription") or None,
    )


def _brief(told):
    found = {}
    for row in map(part, told):
        one = Neighbour(system=row.get("neighborDevice"), port=row.get("neighborPort"))
        found.setdefault(short(str(row.get("port") or "")), []).append(one)
    return found
