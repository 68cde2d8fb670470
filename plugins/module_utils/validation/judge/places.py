# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Placement of each guest: host, adapter, switch port. From the topology of a site. Pure."""

from __future__ import annotations

from typing import Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import listing, mapping, number


def of(topology: Any) -> dict[str, dict[str, Any]]:
    """{guest: {host, nic, switch, port, speed_gb, gpu}}; unknown keys are missing."""
    topology = mapping(topology)
    hosts = {mapping(host).get("name"): mapping(host) for host in listing(topology.get("hosts"))}
    on = {vm: name for name, host in hosts.items() for vm in listing(host.get("vms"))}
    vms = {mapping(vm).get("name"): mapping(vm) for vm in listing(topology.get("vms"))}
    found = {}
    for name in [*vms, *(vm for vm in on if vm not in vms)]:
        vm = vms.get(name, {})
        host = vm.get("host") or on.get(name)
        nic = _nic(hosts.get(host, {}), vm.get("nic"))
        place = {
            "host": host,
            "nic": nic.get("name") or vm.get("nic"),
            "switch": nic.get("switch"),
            "port": nic.get("port"),
            "speed_gb": number(nic.get("speed_gb")),
            "gpu": vm.get("gpu"),
        }
        found[name] = {key: value for key, value in place.items() if value}
    return found


def _nic(host: Mapping[str, Any], name: str | None) -> dict[str, Any]:
    """The adapter of a VM; if none is named, the only adapter of the host with a cable to a switch."""
    nics = [mapping(nic) for nic in listing(host.get("nics"))]
    named = [nic for nic in nics if name and nic.get("name") == name]
    cabled = [nic for nic in nics if nic.get("switch")]
    return (named or (cabled if len(cabled) == 1 and not name else []) or [{}])[0]
