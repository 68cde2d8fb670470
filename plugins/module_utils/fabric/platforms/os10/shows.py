# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read links, PFC and LLDP neighbors from the show commands of Dell OS10. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import cleaned, number, numbers
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Neighbour
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.unread import again, headless, lacks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypedDict

    class Interface(TypedDict, total=False):
        """A port of `show interface`."""

        up: bool | None
        mtu: int
        speed: int | None
        pause: bool
        counters: dict[str, int]

    class Acting(TypedDict, total=False):
        """A port of `show interface priority-flow-control details`."""

        acts: bool
        pfc: list[int]
        received: dict[int, int]
        sent: dict[int, int]


LINKS, PAUSES = "show interface", "show interface priority-flow-control details"
UNREPORTED = ("not advertised", "-")  # values that a neighbor does not report


_LINKED = {"up": True, **dict.fromkeys(("down", "administratively"), False)}


def show_interface(text: str, unread: list[str]) -> dict[str, Interface]:
    """Return {port: {up, mtu, speed, pause, counters}} of `show interface`."""
    found: dict[str, Interface]
    port: Interface | None
    known: str | None
    seen: set[str]
    found, port, way, known, seen = {}, None, "", None, set()
    for line in cleaned(text):
        head = re.match(r"\s*(Ethernet|Port-channel) ?(\d\S*) is (\w+)(?:.*line protocol is (\w+))?", line)
        key = re.match(r"\s*(MTU|LineSpeed|Flowcontrol|Input statistics|Output statistics)\b", line, re.IGNORECASE)
        if head:
            # The cause of a down link can follow in brackets.
            way, known, seen = "", f"{head.group(1).lower()}{head.group(2)}", set()
            port = found[known] = {"up": _LINKED.get(head.group(4) or head.group(3))}
            if port["up"] is None:
                unread.append(lacks(LINKS, f"the state of {known}, {head.group(4) or head.group(3)!r}"))
        elif re.match(r"\s*[A-Za-z][\w-]* ?\d\S* is \w", line):
            port, known, seen = None, line.split(" is ")[0].strip(), set()  # such as a VLAN
        elif key and known is None or (key and again(seen, key.group(1).lower())):
            unread += [headless(LINKS, known)] if port is not None or known is None else []
            port, known = None, known or "a port without a name"
        elif key and port is not None and len(key.group(1).split()) == 1:
            _setting(port, line.split(), known, unread)
        elif key:
            way = "received" if key.group(1).lower().startswith("input") else "sent"
        elif port is not None and way:
            for count, what in re.findall(r"\b(\d+) (packets(?=,)|octets|discarded)", line):
                port.setdefault("counters", {})[f"{what}_{way}"] = int(count)
    return found


def _setting(port: Interface, words: Sequence[str], name: str | None, unread: list[str]) -> None:
    """Read one line of a port: MTU 9216 bytes, LineSpeed 100G, Flowcontrol rx on tx off."""
    key, value = words[0].lower(), words[1].strip(",") if words[1:] else ""
    if key == "mtu" and value.isdecimal():
        port["mtu"] = int(value)
    elif key == "linespeed" and (re.match(r"\d", value) or value == "auto"):
        port["speed"] = None if "M" in value else number(value) or None
    elif key == "flowcontrol" and re.match(r"rx (?:on|off) tx (?:on|off)$", " ".join(words[1:])):
        port["pause"] = "on" in words
    else:
        unread.append(lacks(LINKS, f"{' '.join(words)!r} of {name}"))


# Words of a port for effective PFC, and for no priority.
ACTS = {
    **dict.fromkeys(("true", "on", "up", "enabled"), True),
    **dict.fromkeys(("false", "off", "down", "disabled"), False),
}
NO_PRIORITY = ("", "-", "none", "n/a")


def show_pfc(text: str, unread: list[str]) -> dict[str, Acting]:
    """Return {port: {acts, pfc, received, sent}} of `show interface priority-flow-control details`."""
    found: dict[str, Acting]
    port: Acting | None
    known: str | None
    seen: set[str]
    found, port, known, seen = {}, None, None, set()
    for line in cleaned(text):
        head = re.fullmatch(r"\s*(?:interface )?ethernet ?(\d\S*)", line, re.IGNORECASE)
        key, colon, value = (part.strip() for part in line.partition(":"))
        row = re.fullmatch(r"\s*([0-7])\s+(\S+)\s+(\S+)", line)
        kind = next((one for one in ("oper", "pfc priorit") if colon and key.lower().startswith(one)), None)
        kind = row.group(1) if row else kind
        if head:
            known, seen = f"ethernet{head.group(1)}", set()
            port = found[known] = {"received": {}, "sent": {}}
        elif kind is not None and known is None or (kind is not None and again(seen, kind)):
            unread += [headless(PAUSES, known)] if port is not None or known is None else []
            port, known = None, known or "a port without a name"
        elif port is None or kind is None:
            continue
        elif kind == "oper" and value.lower() in ACTS:
            port["acts"] = ACTS[value.lower()]
        elif kind == "pfc priorit" and (numbers(value) or value.lower() in NO_PRIORITY):
            port["pfc"] = numbers(value)
        elif row and row.group(2).isdecimal() and row.group(3).isdecimal():
            port["received"][int(kind)], port["sent"][int(kind)] = int(row.group(2)), int(row.group(3))
        else:
            unread.append(lacks(PAUSES, f"{' '.join(line.split())!r} of {known}"))
    return found


def neighbours(text: str, unread: list[str]) -> dict[str, list[Neighbour]]:
    """Return {port: [Neighbour]} of `show lldp neighbors`, as a table or in detail."""
    found: dict[str, list[Neighbour]] = {}
    for block in re.split(r"(?m)^-{20,}\s*$", text):
        reported = dict(re.findall(r"(?m)^\s*((?:Remote|Local) [\w ]+?)\s*:\s*(.*?)\s*$", block))
        if "Local Port ID" in reported:
            keys = ("Remote System Name", "Remote Port ID", "Remote Chassis ID", "Remote Port Description")
            one = Neighbour(*(reported.get(key) or None for key in keys))
            found.setdefault(reported["Local Port ID"], []).append(one)
        elif reported:
            unread.append(headless("show lldp neighbors", list(found)[-1] if found else None))
    for line in cleaned(text):
        # Names can contain spaces. A long name ends in dots directly before the next column.
        cells = re.split(r"\s{2,}", re.sub(r"\.\.\.(?=\S)", "...  ", line.strip()))
        cells = cells if len(cells) == 4 else line.split()
        if len(cells) == 4 and re.match(r"(?:ethernet|mgmt)\d", cells[0]):
            system, name, chassis = (cell if cell.lower() not in UNREPORTED else None for cell in cells[1:])
            found.setdefault(cells[0], []).append(Neighbour(system, name, chassis))
    return found
