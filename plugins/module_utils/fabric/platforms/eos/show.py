# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read the running state of Arista EOS from its tables and its JSON. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import lines
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import (
    cleaned,
    from_json,
    numbers,
    part,
    rows,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Neighbour, Oper
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.unread import headless, lacks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Counters of `show interfaces | json`, for all traffic classes together.
_COUNTED = {
    "bytes_received": "inOctets",
    "bytes_sent": "outOctets",
    "discards_received": "inDiscards",
    "discards_sent": "outDiscards",
}


def short(name: str) -> str:
    """Return the full name of a port from tables that shorten it."""
    cut = re.fullmatch(r"(Et|Po)(\d\S*)", name)
    return name if not cut else {"Et": "Ethernet", "Po": "Port-Channel"}[cut.group(1)] + cut.group(2)


def port_in(command: str) -> str | None:
    """Return the port in a command, if it has one."""
    found = lines.port_in(command, "ethernet|eth?|e|port-channel|po")
    return None if found is None else ("Port-Channel" if found[0].lower().startswith("p") else "Ethernet") + found[1]


PORT = r"((?:Ethernet|Et|Port-Channel|Po)[\w/.]+)"
ENABLED = re.compile(rf"^\s*{PORT}\s+(Yes|No)\s+([\d ,-]*?|none)\s*(Yes|No)\b\s*(.*)$", re.IGNORECASE)
# A dash can replace a flag that is not set.
FLAGS = re.compile(rf"^\s*{PORT}\s+([EDAW](?: ?[EDAW-])*)(?:\s+([\d ,]+?|-))?(?:\s{{2,}}(.*))?$")
TOTALS = re.compile(rf"^\s*{PORT}\s+(\d+)\s+(\d+)\s*$")
ROW = re.compile(r"^\s*((?:Ethernet|Et|Port-Channel|Po)\d[\w/.]*)(?:\s|:|$)")


def flow_control(text: str, oper: dict[str, Oper], unread: list[str]) -> None:
    """Read `show priority-flow-control`, the old table or the new one with counters, into {port: Oper}."""
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
            if running.pfc is None:
                unread.append(lacks("show priority-flow-control", f"the priorities of {short(flags.group(1))}"))
        elif ROW.match(line):
            unread.append(lacks("show priority-flow-control", f"the row {' '.join(line.split())!r}"))


def stuck_queues(text: str, oper: dict[str, Oper], unread: list[str]) -> None:
    """Read `show priority-flow-control counters watchdog`: stuck queues and the number of recoveries."""
    for line in cleaned(text):
        row = re.match(rf"^\s*{PORT}\s+(?:[UM]C)?(\d)\s+(\d+)\s+(\d+)\s*$", line)
        if row:
            running = oper.setdefault(short(row.group(1)), Oper())
            events = running.counters.get("watchdog_events", 0)
            running.counters["watchdog_events"] = events + int(row.group(3))
            now = [int(row.group(2))] if int(row.group(3)) > int(row.group(4)) else []
            running.storms = sorted({*(running.storms or ()), *now})
        elif ROW.match(line):
            command = "show priority-flow-control counters watchdog"
            unread.append(lacks(command, f"the row {' '.join(line.split())!r}"))


def _acting(running: Oper, active: bool, priorities: str | None, note: str | None) -> None:
    running.pfc = [] if not active else None if priorities is None else numbers(priorities)
    running.pfc_sends = None if running.pfc is None else bool(running.pfc)
    if "dcbx disabled" in (note or "").lower():
        running.dcbx = "off"


def links(text: str, unread: list[str], port: str | None = None) -> dict[str, dict[str, object]]:
    """Return {port: row of its JSON} of `show interfaces`, as JSON or as text; port: the port in the command."""
    reported = from_json(text)
    found = (
        part(reported, "interfaces") or part(reported, "interfaceStatuses")
        if reported is not None
        else _links_text(text, unread, port)
    )
    return {name: part(found, name) for name in found if name.startswith(("Ethernet", "Port-Channel"))}


def counted(link: Mapping[str, object]) -> dict[str, int]:
    """Return the counters of a port from its row of `show interfaces`."""
    reported = part(link, "interfaceCounters")
    counts = {name: reported.get(key) for name, key in _COUNTED.items()}
    return {name: count for name, count in counts.items() if isinstance(count, int)}


# Link states by word. Another word is unknown and does not mean down.
LINKED = {"connected": True, **dict.fromkeys(("notconnect", "disabled", "errdisabled", "inactive"), False)}
_PROTOCOL = {"up": "connected", **dict.fromkeys(("down", "lowerlayerdown", "notpresent"), "notconnect")}
# Et1  to a host  connected  trunk  a-full  a-100G  100GBASE-CR4
_STATUS = re.compile(
    rf"^\s*{PORT}\s(?:.*\s)?(connected|notconnect|disabled|errdisabled|inactive)\s(?:.*\s(?:a-)?(\d+)G\s)?"
)


def _links_text(text: str, unread: list[str], port: str | None = None) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]]
    row: dict[str, object] | None
    known: str | None
    found, row, known = {}, None if port is None else {}, port
    for line in cleaned(text):
        head = re.match(r"\s*(\S+) is .*?line protocol is (\w+)(?: \((\w+)\))?", line)
        status = _STATUS.match(line)
        size = re.search(r"\bMTU (\d+) bytes(?:.*\bBW (\d+) kbit)?", line)
        if status:
            found[short(status.group(1))] = {
                "interfaceStatus": status.group(2),
                "bandwidth": int(status.group(3) or 0) * 10**9,
            }
        elif head:
            known, state, why = head.groups()
            state = why if why in LINKED else _PROTOCOL.get(state, state)
            row = found[known] = {"interfaceStatus": state}
        elif ROW.match(line):
            known, row = (
                cast("re.Match[str]", ROW.match(line)).group(1),
                {},
            )  # in another form, so the state is unknown
        elif size and (row is None or "mtu" in row):
            # One sentence is enough until the next heading.
            unread += [headless("show interfaces", known)] if row is None or known else []
            row, known = {"mtu": None}, None
        elif size and row is not None:
            if not found and port is not None:
                found[port] = row
            routed = "IP MTU" in line
            row.update(mtu=int(size.group(1)), bandwidth=1000 * int(size.group(2) or 0))
            row["forwardingModel"] = "routed" if routed else "bridged"
    return found


def identity(text: str) -> tuple[str | None, str | None]:
    """Return (version, model) of `show version`, as JSON or as text."""
    reported = from_json(text)
    if reported is not None:
        return reported.get("version"), reported.get("modelName")
    version = re.search(r"(?m)^\s*Software image version:\s*(\S+)", text)
    model = re.search(r"(?m)^\s*Arista (\S+)", text)
    return version and version.group(1), model and model.group(1)


def neighbours(text: str, unread: list[str]) -> dict[str, list[Neighbour]]:
    """Read `show lldp neighbors`, with detail or without, as JSON or as text."""
    whole = from_json(text)
    if whole is None:
        return _neighbours_text(text, unread)
    reported = whole.get("lldpNeighbors")
    if isinstance(reported, list):
        return _brief(reported)
    found = {}
    for name in part(reported):
        found[name] = [_neighbour(one) for one in rows(part(reported, name).get("lldpNeighborInfo"))]
    return {name: many for name, many in found.items() if many}


def _neighbours_text(text: str, unread: list[str]) -> dict[str, list[Neighbour]]:
    """Read blocks below `Interface Ethernet1 detected 1 LLDP neighbors:`, or rows of the table."""
    found: dict[str, list[Neighbour]]
    peers: list[Neighbour] | None
    known: str | None
    found, peers, table, known, many = {}, None, False, None, 0
    for line in cleaned(text):
        head = re.match(r"\s*Interface (\S+) detected (\d+) LLDP neighbors", line)
        reported = re.match(r"\s*(?:- )?(Chassis ID|Port ID|System Name|Port Description)\s*:\s*(.+)", line)
        cells = re.split(r"\s{2,}", line.strip())
        table = table or cells[0] == "Port" and "Neighbor Port ID" in line
        if head:
            known, many = head.group(1), int(head.group(2))
            peers = found.setdefault(known, [])
        elif re.match(r"\s*Neighbor \S+/", line):
            # More neighbors than the heading announces belong to another port.
            if peers is None or len(peers) >= many:
                unread += [headless("show lldp neighbors", known)]
                peers = []
            else:
                peers.append(Neighbour())
        elif peers and reported and getattr(peers[-1], _SHOWN[reported.group(1)]) is None:
            # The aggregation lines further down also have a Port ID.
            setattr(peers[-1], _SHOWN[reported.group(1)], reported.group(2).strip().strip('"') or None)
        elif table and len(cells) == 4 and cells[3].isdecimal():
            found.setdefault(short(cells[0]), []).append(Neighbour(system=cells[1], port=cells[2]))
    return {name: many for name, many in found.items() if many}


_SHOWN = {"Chassis ID": "chassis", "Port ID": "port", "System Name": "system", "Port Description": "description"}


def _neighbour(one: object) -> Neighbour:
    one = part(one)
    port = part(one, "neighborInterfaceInfo")
    name = port.get("interfaceId_v2") or port.get("interfaceId") or ""
    return Neighbour(
        system=one.get("systemName") or None,
        port=str(name).strip('"') or None,
        chassis=one.get("chassisId") or None,
        description=port.get("interfaceDescription") or one.get("systemDescription") or None,
    )


def _brief(reported: Iterable[object]) -> dict[str, list[Neighbour]]:
    found: dict[str, list[Neighbour]] = {}
    for row in map(part, reported):
        one = Neighbour(system=row.get("neighborDevice"), port=row.get("neighborPort"))
        found.setdefault(short(str(row.get("port") or "")), []).append(one)
    return found
