# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read the output of SONiC commands into rows and numbers. Pure."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import lldpctl
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import LARGEST_RANGE, part
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import brief
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Neighbour, Oper, Port
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.unread import lacks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import List, TypeVar

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Switch

    T = TypeVar("T")
    Table = List[List[str]]  # rows of cells, the header first

CONFIG = "sonic-cfggen -d --print-data"
NAMES = "sonic-db-dump -n COUNTERS_DB -k COUNTERS_PORT_NAME_MAP -y"
HARDWARE = 'sonic-db-dump -n ASIC_DB -k "ASIC_STATE:SAI_OBJECT_TYPE_PORT:*" -y'
MARK = "@ "  # precedes the command whose output follows
# Tables by their unique columns.
KINDS = (
    ("Lossless priorities", "show pfc priority"),
    ("Asymmetric", "show pfc asymmetric"),
    ("DETECTION TIME", "show pfcwd config"),
    ("STORM DETECTED", "show pfcwd stats"),
    ("RX Pause Transitions", "show pfc counters --history"),
    ("PFC0", "show pfc counters"),
    ("RX_OK", "show interfaces counters"),
    ("LocalPort", "show lldp table"),
    ("LLDP neighbors:", "show lldp neighbors"),
    ("Oper", "show interfaces status"),
    ("SONiC Software Version", "show version"),
)
_RULE = re.compile(r"\s*-{2,}(?:\s+-{2,})*\s*$")


def joined(commands: Iterable[str]) -> str:
    """Return one shell command that runs several, each after a line with its name; a failure does not stop it."""
    return " ".join(f"echo '{MARK}{command}'; {command} 2>/dev/null;" for command in commands) + " true"


def separated(texts: Mapping[str, str]) -> dict[str, str]:
    """Return {command: output} with joined outputs split, and without prompt lines."""
    found = {}
    for command, output in texts.items():
        parts = re.split(rf"^{MARK}(.+?)\s*$", output, flags=re.M)
        if parts[0].strip() or len(parts) == 1:
            found[_named(command, parts[0])] = parts[0]
        found.update(zip([name.strip() for name in parts[1::2]], parts[2::2]))
    return found


def silent(texts: Mapping[str, str]) -> list[str]:
    """Return sentences about joined commands that printed nothing, because their error output is lost."""
    parts = [re.split(rf"^{MARK}(.+?)\s*$", output, flags=re.M) for output in texts.values()]
    named = [pair for one in parts for pair in zip(one[1::2], one[2::2])]
    return [
        f"Cannot read `{brief(command)}`. It printed nothing. Run it on the switch to see the reason."
        for command, output in named
        if not output.strip()
    ]


def command_of(output: str) -> str | None:
    """Return the command of an output; None if SONiC does not print it."""
    if tables_of(output):
        return CONFIG
    named = _named("", output)
    if named:
        return named
    return next((command for mark, command in KINDS if mark in output), None)


def tables_of(output: str) -> dict[str, Any]:
    """Return the tables of a configuration in JSON, with any text around it; {} for other texts."""
    start = output.find("{")
    if start < 0:
        return {}
    try:
        tables, _end = json.JSONDecoder().raw_decode(output, start)
    except (ValueError, RecursionError):
        return {}
    return {
        name: rows if "|" in name else {key: row for key, row in rows.items() if isinstance(row, (dict, str))}
        for name, rows in tables.items()
        if isinstance(rows, dict)
    }


def rows(output: str) -> list[list[list[str]]]:
    """Return [[cell, ...]] of each table in an output, header first; the rule below the header defines the columns."""
    found, lines = [], output.splitlines()
    for place, line in enumerate(lines[1:], 1):
        if not _RULE.match(line):
            continue
        spans = [match.span() for match in re.finditer("-+", line)]
        ends = [start for start, _stop in spans[1:]] + [None]
        gaps = [(stop, start) for (_first, stop), (start, _last) in zip(spans, spans[1:])]
        table = [[lines[place - 1][start:end].strip() for (start, _stop), end in zip(spans, ends)]]
        below = lines[place + 1 :]
        for row, after in zip(below, [*below[1:], ""]):
            # Blank lines can be between rows. The line above the next rule is the next header.
            if not row.strip():
                continue
            cells = re.split(r"\s{2,}", row.strip())
            if len(cells) != len(spans):
                # Only the column positions show empty cells.
                cells = [row[start:end].strip() for (start, _stop), end in zip(spans, ends)]
                if any(row[stop:start].strip() for stop, start in gaps):
                    break
            if _RULE.match(after) and len(after.split()) > 1:
                break
            if not _RULE.match(row):
                table.append(cells)
        found.append(table)
    return found


def number(cell: object) -> int | None:
    """Return 1200 for '1,200'; None for 'N/A'."""
    digits = str(cell).replace(",", "").strip()
    return int(digits) if re.fullmatch(r"-?\d+", digits) else None


def listed(cell: object) -> list[int] | None:
    """Return the numbers of a cell with only numbers, [] for an empty cell; None for other words."""
    text = str(cell or "").strip().lower()
    return [] if text in NOTHING else numbers(text) if re.fullmatch(r"\d[\d\s,-]*", text) else None


def numbers(cell: object) -> list[int]:
    """Return [3, 4] for '3,4' or '3-4'."""
    found: set[int] = set()
    for first, last in re.findall(r"(\d+)(?:\s*-\s*(\d+))?", str(cell or "")):
        found.update(range(int(first), min(int(last or first), int(first) + LARGEST_RANGE) + 1))
    return sorted(found)


def read(switch: Switch, texts: Mapping[str, str]) -> None:
    """Add the values of show commands to a Switch."""
    for command, output in texts.items():
        if command.endswith(" counters"):
            switch.counted[command] = output
        for mark, reader in _READERS.items():
            if command.startswith(mark):
                for table in rows(output):
                    reader(switch, table)
        if command.startswith("show lldp neighbors"):
            lldpctl.neighbours(switch, output)
        if command.startswith("show version"):
            found = re.search(r"Software Version:\s*(?:SONiC[.-])?(\S+)", output)
            switch.version = found.group(1) if found else switch.version


def read_hardware(switch: Switch, texts: Mapping[str, str]) -> None:
    """Read the settings of the switch chip by port name; they have priority over show commands."""
    names = part(tables_of(texts.get(NAMES, "")), "COUNTERS_PORT_NAME_MAP", "value")
    objects = tables_of(texts.get(HARDWARE, ""))
    for name, place in names.items():
        reported = part(objects, f"ASIC_STATE:SAI_OBJECT_TYPE_PORT:{place}", "value")
        bits = number(reported.get("SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL", ""))
        if bits is not None:
            oper = _oper(switch, name)
            oper.pfc = [priority for priority in range(8) if bits & 1 << priority]
            oper.pfc_sends = True if oper.pfc else None
        scheme = reported.get("SAI_PORT_ATTR_QOS_DSCP_TO_TC_MAP")
        if scheme is not None:
            _oper(switch, name).trust = "none" if scheme in ("oid:0x0", "") else "dscp"


# Cells without a value.
NOTHING = ("", "n/a", "-", "none")


def _priorities(switch: Switch, table: Table) -> None:
    for name, cell in [row[:2] for row in table[1:] if len(row) > 1]:
        port = switch.ports.setdefault(name, Port())
        if listed(cell) is None:
            switch.unread.append(lacks("show pfc priority", f"the priorities of {name}, {cell!r}"))
            continue
        port.pfc = listed(cell)
        port.pfc_mode = "on" if port.pfc else "off"
        _oper(switch, name).pfc = list(port.pfc or ())


def _asymmetric(switch: Switch, table: Table) -> None:
    for name, cell in [row[:2] for row in table[1:] if len(row) > 1]:
        port = switch.ports.setdefault(name, Port())
        port.pfc_asymmetric = _known(switch, "show pfc asymmetric", name, cell, {"on": True, "off": False}.get)


def _known(switch: Switch, command: str, name: str, cell: str, reader: Callable[[str], T | None]) -> T | None:
    """Return the value of a cell; an unreadable cell is reported."""
    found = reader(cell.lower())
    if found is None and cell.lower() not in NOTHING:
        switch.unread.append(lacks(command, f"the row of {name}, {cell!r}"))
    return found


def _counters(switch: Switch, table: Table) -> None:
    header = table[0]
    key = {"rx": "pauses_received", "tx": "pauses_sent"}.get(header[0].lower()[-2:])
    if "Priority" in header:
        return
    if key is None:
        switch.unread.append(lacks("show pfc counters", "the table without Rx or Tx in its header"))
        return
    # The header contains the priority of each column.
    priorities = [number(name.lower().replace("pfc", "")) for name in header[1:]]
    for row in table[1:]:
        counted = {priority: number(cell) for priority, cell in zip(priorities, row[1:]) if priority is not None}
        lost = [cell for cell in row[1:] if number(cell) is None and cell.lower() not in NOTHING]
        if lost or None in priorities:
            what = ", ".join(map(repr, lost)) or "whose column names are unknown"
            switch.unread.append(lacks("show pfc counters", f"pauses of {row[0]}, {what}"))
        counted = {priority: count for priority, count in counted.items() if count is not None}
        if counted:
            _oper(switch, row[0]).counters[key] = counted


def _history(switch: Switch, table: Table) -> None:
    names = [name.lower() for name in table[0]]
    if "priority" not in names:
        return
    for row in table[1:]:
        cells = dict(zip(names, row))
        oper = _oper(switch, cells.get("port", row[0]))
        priority = number(cells.get("priority", "").lower().replace("pfc", ""))
        count = number(cells.get("rx pause transitions", ""))
        if None in (priority, count):
            switch.unread.append(lacks("show pfc counters --history", f"the row {' '.join(row)!r}"))
        else:
            oper.counters.setdefault("pauses_received", {})[priority] = count


def _watchdog(switch: Switch, table: Table) -> None:
    names = [name.lower() for name in table[0]]
    if "action" not in names:
        switch.unread.append(lacks("show pfcwd config", "the watchdog, whose column names are unknown"))
        return
    for row in table[1:]:
        cells = dict(zip(names, row))
        name, action = cells.get("port", row[0]), cells.get("action", "").lower()
        port = switch.ports.setdefault(name, Port())
        port.watchdog = _oper(switch, name).watchdog = action not in ("", "n/a")
        port.watchdog_action = action if port.watchdog else None
        times = [cells.get(f"{kind} time", "") for kind in ("detection", "restoration")]
        port.watchdog_detection_ms, port.watchdog_recovery_ms = (
            _known(switch, "show pfcwd config", name, time, number) for time in times
        )


def _watched(switch: Switch, table: Table) -> None:
    """Read the watched queues; with queues without storms, the command shows all of them."""
    watched = {row[0].split(":")[0] for row in table[1:]}
    for name in {*switch.oper, *watched}:
        _oper(switch, name).watchdog = name in watched
        # A queue without a storm has a row only if the command requests all queues.
        _oper(switch, name).storms = _oper(switch, name).storms or ([] if name in watched else None)


def _storms(switch: Switch, table: Table) -> None:
    names = [name.lower() for name in table[0]]
    for row in table[1:]:
        cells = dict(zip(names, row))
        events = number(cells.get("storm detected/restored", "").split("/")[0])
        name, _colon, queue = cells.get("queue", row[0]).partition(":")
        if events is not None:
            counters = _oper(switch, name).counters
            counters["watchdog_events"] = counters.get("watchdog_events", 0) + events
        state = _known(switch, "show pfcwd stats", name, cells.get("status", ""), _STORMED.get)
        if events is None:
            switch.unread.append(lacks("show pfcwd stats", f"the row {' '.join(row)!r}"))
        # The state is stormed until the watchdog restores the queue: operational.
        if number(queue) is not None and state is not None:
            oper = _oper(switch, name)
            stuck = {cast("int", number(queue))} if state else set()
            oper.storms = sorted({*(oper.storms or ()), *stuck})


_STORMED = {"operational": False, "stormed": True}


def _links(switch: Switch, table: Table) -> None:
    names, command = [name.lower() for name in table[0]], "show interfaces status"
    for row in table[1:]:
        cells = dict(zip(names, row))
        oper = _oper(switch, cells.get("interface", row[0]))
        oper.up = _known(switch, command, row[0], cells.get("oper", ""), {"up": True, "down": False}.get)
        oper.mtu = _known(switch, command, row[0], cells.get("mtu", ""), number)
        speed = _known(switch, command, row[0], cells.get("speed", ""), re.compile(r"(\d+)([gm])").fullmatch)
        if speed:
            port = switch.ports.setdefault(cells.get("interface", row[0]), Port())
            port.speed = int(speed.group(1)) // (1 if speed.group(2) == "g" else 1000) or port.speed


def _passed(switch: Switch, table: Table) -> None:
    """Read the counters of ports for all traffic classes; N/A if the switch chip does not count them."""
    names = [name.lower() for name in table[0]]
    for row in table[1:] if "rx_ok" in names else ():
        cells = dict(zip(names, row))
        name = cells.get("iface", row[0])
        counts = {
            what: _known(switch, "show interfaces counters", name, cells.get(key, ""), number)
            for what, key in _COUNTED.items()
        }
        counters = {what: count for what, count in counts.items() if count is not None}
        _oper(switch, name).counters.update(counters)


def _neighbours(switch: Switch, table: Table) -> None:
    names = [name.lower() for name in table[0]]
    # The rule below the table is followed by the number of entries.
    for row in table[1:] if "localport" in names else ():
        cells = dict(zip(names, row))
        switch.neighbours.setdefault(cells["localport"], []).append(
            Neighbour(
                system=cells.get("remotedevice") or None,
                port=cells.get("remoteportid") or None,
                description=cells.get("remoteportdescr") or None,
            )
        )


_COUNTED = {
    "packets_received": "rx_ok",
    "packets_sent": "tx_ok",
    "discards_received": "rx_drp",
    "discards_sent": "tx_drp",
}
_READERS = {
    "show pfc priority": _priorities,
    "show pfc asymmetric": _asymmetric,
    "show pfc counters": _counters,
    "show pfc counters --history": _history,
    "show pfcwd config": _watchdog,
    "show pfcwd stats": _storms,
    "show pfcwd stats -e": _watched,
    "show interfaces status": _links,
    "show interfaces counters": _passed,
    "show lldp table": _neighbours,
}


def _oper(switch: Switch, name: str) -> Oper:
    return switch.oper.setdefault(name, Oper())


def _named(command: str, output: str) -> str:
    """Return the command in the first line of a capture, after the prompt."""
    found = re.search(r"^\S+@\S+[#$]\s*(?:sudo\s+)?(\S.*?)\s*$", output, re.M)
    return " ".join(found.group(1).split()) if found else command
