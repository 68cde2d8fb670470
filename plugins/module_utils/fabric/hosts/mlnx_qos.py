# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parse the output of `mlnx_qos -i <interface>` for an NVIDIA adapter. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Mapping, TypedDict, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts import words
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import cleaned

if TYPE_CHECKING:

    class Class(TypedDict):
        """A traffic class of the adapter."""

        tc: int
        tsa: str | None
        share: int | None
        priorities: list[int]


OWNERS = {"os": "os", "firmware": "firmware", "fw": "firmware"}


def parse(text: str) -> dict[str, Any]:
    """{dcbx_owner, trust, dscp_map, cable_length_m, buffers, pfc, pfc_buffers, classes, lldpad}; only reported keys."""
    found: dict[str, Any]
    rows: dict[str, list[int] | None]
    current: Class | None
    found, rows, current = {}, {}, None
    for line in (line.strip() for line in cleaned(text)):
        name, colon, value = (part.strip() for part in line.partition(":"))
        lowered = name.lower()
        if "lldpad" in line.lower():
            found["lldpad"] = True
        elif lowered == "dcbx mode":
            found["dcbx_owner"] = OWNERS.get(value.split()[0].lower()) if value else None
        elif lowered == "priority trust state":
            found["trust"] = value.split()[0].lower() if value else None
        elif lowered == "cable len":
            found["cable_length_m"] = words.whole(value.rstrip(" m"))
        elif lowered.startswith("receive buffer size"):
            sizes, _equals, largest = value.partition("max_buffer_size=")
            found["buffers"] = [int(size) for size in re.findall(r"\d+", sizes)]
            found["max_buffer"] = words.whole(largest)
        elif re.match(r"prio:\s*\d+\s+dscp:", line):
            priority, dscps = cast("re.Match[str]", re.match(r"prio:\s*(\d+)\s+dscp:(.*)", line)).groups()
            found.setdefault("dscp_map", {}).update((int(dscp), int(priority)) for dscp in re.findall(r"\d+", dscps))
        elif current is None and re.match(r"(?:priority|enabled|buffer):?\s+\S", line):
            # Rows of the table; below a traffic class the same word begins another line. A cell that is not a number
            # would shift the following cells to other priorities.
            head, *cells = line.replace(":", " ").split()
            rows.setdefault(head.lower(), [int(cell) for cell in cells] if all(map(str.isdigit, cells)) else None)
        elif lowered == "pfc configuration":
            # Another adapter, or the same one after a change: the table precedes the classes.
            rows, current = {}, None
        elif lowered in ("tc", "traffic class") and re.match(r"\d", value):
            current = _class(value)
            found.setdefault("classes", {})[current["tc"]] = current
        elif lowered == "priority" and colon and current is not None:
            current["priorities"] += [int(number) for number in re.findall(r"\d+", value)]
    return dict(found, **_pfc(rows))


def _pfc(rows: Mapping[str, list[int] | None]) -> dict[str, list[int] | dict[int, int]]:
    names = rows.get("priority", list(range(8))) or []
    whole = {name: cells for name, cells in rows.items() if cells and names and len(cells) == len(names)}
    if "enabled" not in whole:
        return {}
    reported: dict[str, list[int] | dict[int, int]] = {"pfc": [name for name, on in zip(names, whole["enabled"]) if on]}
    if "buffer" in whole:
        reported["pfc_buffers"] = dict(zip(names, whole["buffer"]))
    return reported


def _class(text: str) -> Class:
    """'3 ratelimit: unlimited, tsa: ets, bw: 50%'."""
    said = dict(re.findall(r"(ratelimit|tsa|bw):\s*([^,\s]+(?: [GM]bps)?)", text))
    share = words.whole(said.get("bw", "").rstrip("%"))
    return {
        "tc": int(cast("re.Match[str]", re.match(r"\d+", text)).group()),
        "tsa": said.get("tsa"),
        "share": share,
        "priorities": [],
    }
