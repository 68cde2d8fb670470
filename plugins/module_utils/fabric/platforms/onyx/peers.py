# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read LLDP neighbors of NVIDIA Onyx from JSON and text. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import cleaned
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.onyx.json import PORT, by_port, tables
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Neighbour

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.onyx.text import Reading


UNREPORTED = ("", "n/a", r"n\a", "not advertised")  # values that a neighbor does not report


def read_remote(reported: object, into: Reading) -> None:
    for port, what in by_port(reported):
        peers: list[dict[str, str]] = []
        for table in tables(what):
            row = {key: str(value) for key, value in table.items() if not isinstance(value, (dict, list))}
            if not peers or {*row} & {*peers[-1]}:
                peers.append({})
            peers[-1].update(row)
        into.neighbours[port] = [_neighbour(peer) for peer in peers if "Remote chassis id" in peer]


def remote_text(text: str) -> dict[str, list[Neighbour]]:
    found, port = {}, None
    for line in cleaned(text):
        named = PORT.fullmatch(line.strip())
        port = named.group(1) if named else port
        cells = re.split(r"\s{2,}", line.strip())
        if not named and PORT.fullmatch(cells[0]) and len(cells) in (3, 4) and ":" not in cells[0]:
            labels = ("Remote chassis id", "Remote port-id", "Remote system name")
            found[cells[0]] = dict(zip(labels, cells[1:]))
        key, colon, value = (part.strip() for part in line.partition(":"))
        if port and colon and key.startswith("Remote"):
            found.setdefault(port, {})[key] = value
    return {name: [_neighbour(peer)] for name, peer in found.items()}


def _neighbour(peer: Mapping[str, str]) -> Neighbour:
    keys = ("Remote system name", "Remote port-id", "Remote chassis id", "Remote port description")
    # The type of a name can follow the name.
    reported = [peer.get(key, "").partition(" ; ")[0].strip() for key in keys]
    return Neighbour(*(text if text.lower() not in UNREPORTED else None for text in reported))
