# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What shows of Dell OS10 print of ports: links, flow control, neighbours. Pure."""

from __future__ import annotations

import re

from ansible_collections.aiready.vsphere.plugins.module_utils.roce.lines import cleaned, number, numbers
from ansible_collections.aiready.vsphere.plugins.module_utils.roce.state import Neighbour

UNTOLD = ("not advertised", "-")  # of a neighbour


def show_interface(text):
    """{port: {up, mtu, speed, pause, counters}} of `show interface`."""
    found, port, way = {}, None, ""
    for line in cleaned(text):
        head = re.match(r"\s*(Ethernet|Port-channel) ?(\d\S*) is (\w+)(?:.*line protocol is (\w+))?", line)
        if head:
            # Why it is down may stand behind it, in brackets.
            way = ""
            port = found[f"{head.group(1).lower()}{head.group(2)}"] = {"up": (head.group(4) or head.group(3)) == "up"}
        elif port is not None and re.match(r"\s*MTU \d+", line):
            port["mtu"] = number(line)
        elif port is not None and re.match(r"\s*LineSpeed \d+", line):
            port["speed"] = None if "M" in line.split()[1] else number(line) or None
        elif port is not None and re.match(r"\s*Flowcontrol rx", line):
            port["pause"] = " on" in line
        elif port is not None and re.match(r"\s*(?:Input|Output) statistics", line, re.IGNORECASE):
            way = "received" if line.strip().lower().startswith("input") else "sent"
        elif port is not None and way:
            for count, what in re.findall(r"\b(\d+) (packets(?=,)|octets|discarded)", line):
                port.setdefault("counters", {})[f"{what}_{way}"] = int(count)
    return found


# How a port shows whether flow control acts, and that it has no priority.
ACTS = {
    **dict.fromkeys(("true", "on", "up", "enabled"), True),
    **dict.fromkeys(("false", "off", "down", "disabled"), False),
}
NO_PRIORITY = ("", "-", "none", "n/a")


def show_pfc(text):
    """{port: {acts, pfc, pauses_received, pauses_sent}} of `show interface priority-flow-control details`."""
    found, port = {}, None
    for line in cleaned(text):
        head = re.fullmatch(r"\s*(?:interface )?ethernet ?(\d\S*)", line, re.IGNORECASE)
        if head:
            port = found[f"ethernet{head.group(1)}"] = {"received": {}, "sent": {}}
        if port is None:
            continue
        key, colon, value = (part.strip() for part in line.partition(":"))
        row = re.fullmatch(r"\s*([0-7])\s+(\d+)\s+(\d+)", line)
        if colon and re.match(r"oper", key, re.IGNORECASE):
            port["acts"] = ACTS.get(value.lower())
        elif colon and key.lower().startswith("pfc priorit") and (numbers(value) or value.lower() in NO_PRIORITY):
            port["pfc"] = numbers(value)
        elif row:
            port["received"][int(row.group(1))], port["sent"][int(row.group(1))] = int(row.group(2)), int(row.group(3))
    return found


def neighbours(text):
    """{port: [Neighbour]} of `show lldp neighbors`, as a table or in detail."""
    found = {}
    for block in re.split(r"(?m)^-{20,}\s*$", text):
        told = dict(re.findall(r"(?m)^\s*((?:Remote|Local) [\w ]+?)\s*:\s*(.*?)\s*$", block))
        if "Local Port ID" in told:
            keys = ("Remote System Name", "Remote Port ID", "Remote Chassis ID", "Remote Port Description")
            one = Neighbour(*(told.get(key) or None for key in keys))
            found.setdefault(told["Local Port ID"], []).append(one)
    for line in cleaned(text):
        # Names may have blanks, and one that is too long ends in dots right before the next column.
        cells = re.split(r"\s{2,}", re.sub(r"\.\.\.(?=\S)", "...  ", line.strip()))
        cells = cells if len(cells) == 4 else line.split()
        if len(cells) == 4 and re.match(r"(?:ethernet|mgmt)\d", cells[0]):
            system, name, chassis = (cell if cell.lower() not in UNTOLD else None for cell in cells[1:])
            found.setdefault(cells[0], []).append(Neighbour(system, name, chassis))
    return found
