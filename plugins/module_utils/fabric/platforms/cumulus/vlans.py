# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compute the VLANs of ports of Cumulus Linux from the bridges of the ports and of their bonds. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import vlans
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import part
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus import text

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus.text import Tree
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Port


def switched(settings: Tree, name: str, port: Port) -> None:
    """Set the VLANs of a port, or of its bond; a port outside all bridges is routed."""
    state = part(settings, "interface", name, "link", "state")
    port.enabled = False if "down" in state and "up" not in state else port.enabled
    bonds = [one for one, own in part(settings, "interface").items() if name in part(own, "bond", "member")]
    for one in (name, *bonds):
        for domain in part(settings, "interface", one, "bridge", "domain"):
            own = part(settings, "interface", one, "bridge", "domain", domain)
            there = {vlans.FIRST, *text.numbers(part(settings, "bridge", "domain", domain, "vlan"))}
            if text.number(own.get("access")) is not None:
                access = text.number(own["access"])
                vlans.put(port, vlans.ACCESS, access if access in there else None)
                return
            native = text.number(own.get("untagged", vlans.FIRST))
            carried = {*text.numbers(part(own, "vlan"))} - {"all"} or there
            vlans.put(port, vlans.TRUNK, native if native in there else None, frozenset(carried & there))
            return
    vlans.put(port, vlans.ROUTED)
