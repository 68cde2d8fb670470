# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read LLDP neighbors of Cisco NX-OS from tables, blocks and JSON. Pure."""

from __future__ import annotations

import re

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import cleaned, from_json
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.nxos.show import long, tables_of
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Neighbour
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.unread import headless


def neighbours(text: str, unread: list[str]) -> dict[str, list[Neighbour]]:
    """Return {port: [Neighbour]} of `show lldp neighbors`, with detail or without, as JSON or as text."""
    found: dict[str, list[Neighbour]]
    reported, found = from_json(text), {}
    if reported is None:
        shown = [*_neighbours_text(text), *_neighbours_table(text)]
    else:
        shown = tables_of(reported, ("ROW_nbor_detail", "ROW_nbor"))
    for whole in shown:
        # A value that the peer does not report is the word null.
        row = {key: value for key, value in whole.items() if str(value).strip() not in ("", "null", "not advertised")}
        if "l_port_id" not in row:
            unread.append(headless("show lldp neighbors", None if not found else list(found)[-1]))
            continue
        one = Neighbour(
            system=row.get("sys_name") or row.get("chassis_id"),
            port=row.get("port_id"),
            chassis=row.get("chassis_id"),
            description=row.get("port_desc") or row.get("sys_desc"),
        )
        found.setdefault(long(str(row["l_port_id"])), []).append(one)
    return found


def _neighbours_text(text: str) -> list[dict[str, str]]:
    found = []
    keys = {
        "Port id": "port_id",
        "Local Port id": "l_port_id",
        "Local Intf": "l_port_id",
        "Port Description": "port_desc",
        "System Name": "sys_name",
    }
    for line in cleaned(text):
        key, _colon, value = (part.strip() for part in line.partition(":"))
        if key == "Chassis id":
            found.append({"chassis_id": value})
        elif key in keys and found:
            # A second local port belongs to another neighbor whose first line is missing.
            if keys[key] == "l_port_id" and "l_port_id" in found[-1]:
                found.append({})
            found[-1].setdefault(keys[key], value)
    return found


_NEAR = re.compile(
    r"^(?P<system>\S.*?)?\s+(?P<port>(?:Eth|Ethernet|Po|port-channel|Veth|Vethernet|mgmt)[\d/.]+)\s+\d+"
    r"(?:\s+(?P<rest>\S.*?))?\s*$",
    re.IGNORECASE,
)


def _neighbours_table(text: str) -> list[dict[str, str]]:
    """Read rows of the table; a long name is on its own line above the rest of its row."""
    found: list[dict[str, str]]
    column: int | None
    row: re.Match[str] | None
    found, above, column = [], "", None
    for line in cleaned(text):
        row = _NEAR.match(line) if column is not None else None
        if re.match(r"\s*Device ID\s+Local Intf", line):
            column = line.index("Port ID") if "Port ID" in line else len(line)
        elif row and column is not None:
            reported = (row.group("rest") or "").split(None, 1)
            # Without capabilities, the port is the only word after the time.
            alone = len(reported) == 1 and row.start("rest") < column and re.fullmatch("[RBTCWPSO,]+", reported[0])
            found.append(
                {
                    "sys_name": row.group("system") or above,
                    "l_port_id": row.group("port"),
                    "port_id": reported[-1] if reported and not alone else "",
                }
            )
        above = line.strip() if column is not None and not row and len(line.split()) == 1 else ""
    return found
