# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Input and report of the playbook fabric_check, from the results of switches and guests. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import switches as site_switches
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.directpath import WHOLE
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.training import GUEST as FACTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SWITCH, GUEST = "__fabric_check_switch", "__fabric_check_guest"
# Problems that the verdict names.
NAMED = 3


def read(
    variables: Mapping[str, Mapping[str, Any]],
    groups: Mapping[str, Sequence[str]],
    site: Mapping[str, Any] | None = None,
    check_mode: bool = False,
) -> dict[str, Any]:
    """{switches, guests, unread, known, host_ports, fabric_ports, waiting}; variables are hostvars."""
    switches = {name: variables[name] for name in groups.get("switches") or ()}
    guests = {name: variables[name] for name in groups.get("training_guests") or ()}
    hosts = {name: variables[name] for name in groups.get("esxi_hosts") or ()}
    # Switches that a limit excludes were not read, so they are not missing.
    asked = [name for name, own in switches.items() if SWITCH in own]
    # Ports of the inventory and of the cables of the site.
    named = None if site is None else site_switches.switches(site, asked, variables)
    found = {name: own[SWITCH]["switch"] for name, own in switches.items() if "switch" in own.get(SWITCH, {})}
    adapters = {
        name: dict(own[GUEST]["guest"], **_direct(own, site))
        for name, own in guests.items()
        if "guest" in own.get(GUEST, {})
    }
    unread = [name for name in asked if name not in found]
    unread += [name for name, own in guests.items() if GUEST in own and name not in adapters]
    return {
        "switches": list(found.values()),
        "guests": list(adapters.values()),
        "unread": unread,
        "known": list(switches),
        **{ports: _ports(ports, asked, named, variables) for ports in ("host_ports", "fabric_ports")},
        "waiting": _waiting(switches, hosts) if check_mode else [],
    }


def _direct(own: Mapping[str, Any], site: Mapping[str, Any] | None) -> dict[str, Any]:
    """{direct: {host, nic}} of a guest that has the only port of the site in passthrough mode, else nothing."""
    network, host = (site or {}).get("network") or {}, (own.get(FACTS) or {}).get("host")
    nics = network.get("nics") or []
    if network.get("path") not in WHOLE or len(nics) != 1 or not host:
        return {}
    return {"direct": {"host": host, "nic": nics[0]}}


def _ports(
    ports: str,
    asked: Iterable[str],
    named: Mapping[str, Mapping[str, Any]] | None,
    variables: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """{switch: ports} of the site, or without a site of the variables of the role switch."""
    if named is not None:
        return {name: named[name][ports] for name in asked}
    return {name: variables[name].get(f"switch_{ports}", []) for name in asked}


def _waiting(switches: Mapping[str, Mapping[str, Any]], hosts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Switches and hosts that check mode did not change; their differences are no errors."""
    found = [name for name, own in switches.items() if (own.get("__switch_look") or {}).get("changed")]
    return found + [name for name, own in hosts.items() if own.get("esxi_host_undone")]


def report(comparison: Mapping[str, Any], seen: Mapping[str, Any]) -> dict[str, Any]:
    """{agreed, lines, verdict} of the result of roce_agreement_info; seen is the result of read()."""
    waiting, unread, switches = seen["waiting"], seen["unread"], seen["switches"]
    lines = _planned(comparison["summary"], waiting)
    levels = (
        [line.split()[0] for line in lines] if waiting else [one["severity"] for one in comparison["disagreements"]]
    )
    errors, warnings = levels.count("error"), levels.count("warning")
    counts = ((switches, "switch", "switches"), (comparison["paths"], "cable with RoCE", "cables with RoCE"))
    counted = [_counted(len(some), one, many) for some, one, many in counts]
    counted += [_counted(errors, "error", "errors"), _counted(warnings, "warning", "warnings")]
    planned = sum(1 for line in lines if line.startswith("planned "))
    later = "1 line is" if planned == 1 else f"{planned} lines are"
    later = f"{later} about {', '.join(waiting)}, which this run will change first."
    agreed = bool(comparison["agreed"] and not unread and switches)
    return {
        "agreed": agreed,
        "verdict": _agreement(comparison["paths"]) if agreed else _disagreement(seen, lines),
        "lines": [
            *lines,
            *(f"unknown  {name} could not be read." for name in unread),
            f"{', '.join(counted)}.",
            *([later] if waiting else ()),
        ],
    }


def _planned(summary: Iterable[str], waiting: Sequence[str]) -> list[str]:
    """Mark lines about devices that the run will change first as planned, not as errors."""
    if not waiting:
        return list(summary)
    names = "|".join(map(re.escape, waiting))
    level = re.compile(rf"^(?:error|warning) +(?=.*(?<![\w.-])(?:{names})(?![\w-]))")
    return [level.sub("planned  ", line) for line in summary]


def _agreement(paths: Sequence[Any]) -> str:
    if paths:
        return "Switches, hosts and guests have the same RoCE QoS, as far as their settings are known."
    return (
        "No cable was compared. LLDP shows no cable between these devices, and no cable is listed. List the cables in "
        "fabric_check_cables, or in site.fabric.cables."
    )


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _disagreement(seen: Mapping[str, Any], lines: Sequence[str]) -> str:
    if seen["switches"] or seen["unread"]:
        reported = "The RoCE QoS of switches, hosts and guests differs, or a device could not be read. See above."
        unread = [f"{name} could not be read." for name in seen["unread"]]
        found = [line.partition(" ")[2].strip() for line in lines if line.startswith("error ")] + unread
        more = [f"{len(found) - NAMED} more."] if len(found) > NAMED else []
        # The table of a run has this message and not the lines above it.
        return " ".join([reported, *found[:NAMED], *more])
    if seen["known"]:
        return "No switch was compared. Each switch failed before this task, or the limit excludes it. See above."
    return "No switch was compared. The group switches of the inventory is empty. Add the switches."
