# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Neighbours in the output of lldpctl, which several platforms use. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Neighbour

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Switch


def neighbours(switch: Switch, output: str) -> None:
    """Add the neighbours of an output to a Switch; each block is one neighbour."""
    peers: list[Neighbour] | None = None
    keys = {"ChassisID": "chassis", "SysName": "system", "PortID": "port", "PortDescr": "description"}
    for line in output.splitlines():
        key, _colon, value = (piece.strip() for piece in line.partition(":"))
        if key == "Interface":
            peers = switch.neighbours.setdefault(value.split(",")[0].strip(), [])
            peers.append(Neighbour())
        elif peers and key in keys and getattr(peers[-1], keys[key]) is None:
            # Some values start with the kind of the name: mac 0c:42:..., ifname Ethernet0.
            named = re.sub(r"^(?:mac|ifname|ifalias|local|ip)\s+", "", value)
            setattr(peers[-1], keys[key], named or None)
