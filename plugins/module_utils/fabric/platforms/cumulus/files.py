# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read the files behind NVUE of Cumulus Linux into the settings that NVUE would show. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus import text
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus.shows import ANY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus.text import Tree

ALL = "default-global"


def of_files(keys: Mapping[str, str]) -> Tree:
    """Return the NVUE settings of a switch that is configured by the files behind NVUE."""
    qos: Tree
    ports: Tree
    qos, ports = {}, {}
    sources = keys.get("traffic.packet_priority_source_set")
    if sources is not None:
        kinds = {"802.1p" in sources: "l2", "dscp" in sources: "l3"}
        trust = "both" if "802.1p" in sources and "dscp" in sources else kinds.get(True, "port")
        qos.setdefault("mapping", {})[ALL] = {"trust": trust}
    for key, value in keys.items():
        found = re.match(r"traffic\.cos_(\d)\.priority_source\.dscp$", key)
        for dscp in text.numbers(value) if found else ():
            entries = qos.setdefault("mapping", {}).setdefault(ALL, {}).setdefault("dscp", {})
            entries[str(dscp)] = {"switch-priority": cast("re.Match[str]", found).group(1)}
        found = re.match(r"cos_egr_queue\.cos_(\d)\.uc$", key)
        if found:
            entries = qos.setdefault("egress-queue-mapping", {}).setdefault(ALL, {}).setdefault("switch-priority", {})
            entries[found.group(1)] = {"traffic-class": value}
    for group, one in _groups(keys, "pfc"):
        qos.setdefault("pfc", {})[_used(ports, "pfc", group, one)] = {
            "switch-priority": {str(priority): {} for priority in text.numbers(one.get("cos_list", ""))},
            "tx": one.get("tx_enable", "true"),
            "rx": one.get("rx_enable", "true"),
            "cable-length": one.get("cable_length"),
            "port-buffer": one.get("port_buffer_bytes"),
        }
    usual = {key.rpartition(".")[2]: value for key, value in keys.items() if key.startswith("default_ecn_red_conf.")}
    marked = [(ALL, dict(usual, port_set="allports"))] if usual else []
    for group, one in marked + _groups(keys, "ecn_red"):
        profile = qos.setdefault("congestion-control", {})
        profile[_used(ports, "congestion-control", group, one)] = {"traffic-class": _marking_of_file(one)}
    for _group, one in _groups(keys, "pfc_watchdog"):
        for name in text.port_names(one.get("port_set", "")):
            ports.setdefault(name, {}).setdefault("qos", {})["pfc-watchdog"] = {"state": "enable"}
    return {"qos": qos, "interface": dict({ANY: {}}, **ports)}


def _groups(keys: Mapping[str, str], kind: str) -> list[tuple[str, dict[str, str]]]:
    names = re.findall(r"[\w-]+", keys.get(f"{kind}.port_group_list", ""))
    parts = {name: f"{kind}.{name}." for name in names}
    return [
        (name, {key[len(start) :]: value for key, value in keys.items() if key.startswith(start)})
        for name, start in parts.items()
    ]


def _used(ports: Tree, kind: str, group: str, one: Mapping[str, str]) -> str:
    """Return the profile of a group: the profile of all ports, or one that its ports use."""
    if one.get("port_set") in (None, "allports"):
        return ALL
    for name in text.port_names(one["port_set"]):
        ports.setdefault(name, {}).setdefault("qos", {})[kind] = {"profile": group}
    return group


def _marking_of_file(one: Mapping[str, str]) -> Tree:
    what = {
        "ecn": one.get("ecn_enable", "true"),
        "red": one.get("red_enable", "false"),
        "min-threshold": one.get("min_threshold_bytes"),
        "max-threshold": one.get("max_threshold_bytes"),
        "probability": one.get("probability"),
    }
    return {str(queue): what for queue in text.numbers(one.get("egress_queue_list", ""))}
