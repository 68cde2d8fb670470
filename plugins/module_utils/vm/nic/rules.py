# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Checks before any VM gets a network adapter of any kind. Pure: states go in, problems come out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic import networks
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import is_reserved
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.rules import Problem
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import is_on

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.networks import Fabric, Portgroup
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.params import AdapterRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import HostView, NicState, Placed

# Network adapters of all kinds in one VM (vSphere configuration maximums, the same in 7.0 and 8.0).
MOST_ADAPTERS = 10


def against_host(now: NicState) -> list[Problem]:
    """Return the reasons why the host of the VM cannot be determined."""
    if now.host is None:
        return [
            Problem(
                "no_host",
                "vCenter does not report the host of the VM.",
                "Register the VM on a host, then run the task again.",
            )
        ]
    if not now.host.connected:
        return [
            Problem(
                "host_not_connected",
                f"Its host {now.host.name} is not connected, so its networks cannot be read.",
                "Connect the host, or move the VM to another one.",
            )
        ]
    return []


def against_portgroups(now: Placed, entries: Iterable[AdapterRequest], fabric: Fabric) -> list[Problem]:
    """Return the problems of port groups that are ambiguous, or that no VM on this host can use."""
    found = [_against_name(now, entry.portgroup, entry.switch, fabric) for entry in entries]
    return list(dict.fromkeys(problem for problem in found if problem is not None))


def against_removal(now: NicState, entries: Iterable[AdapterRequest], fabric: Fabric) -> list[Problem]:
    """Names that leave open which of the VM's adapters must go."""
    found = []
    for entry in entries:
        groups = fabric.candidates(entry.portgroup, entry.switch, now.host)
        keys = {group.key for group in groups}
        if len(groups) > 1 and any(adapter.network in keys for adapter in now.adapters):
            found.append(_ambiguous(entry.portgroup, groups, fabric, now.host))
    return list(dict.fromkeys(found))


def against_number(now: NicState, wanted: NicState) -> list[Problem]:
    """Refuse more adapters than the maximum of a VM."""
    total = len(wanted.adapters) + now.others
    if total <= MOST_ADAPTERS or len(wanted.adapters) <= len(now.adapters):
        return []
    return [
        Problem(
            "too_many_adapters",
            f"A VM supports {MOST_ADAPTERS} network adapters; these and its {now.others} others would be {total}.",
            "List fewer adapters, or remove others first.",
        )
    ]


def against_addresses(now: NicState, wanted: NicState) -> list[Problem]:
    """Fixed addresses with which vSphere starts no VM."""
    if any(key.endswith(".checkmacaddress") and not is_on(value) for key, value in now.vm.extra.items()):
        return []
    there = {one.fixed_mac for one in now.adapters}
    new = sorted({one.mac for one in wanted.adapters if one.mac_fixed} - there)
    return [
        Problem(
            "mac_reserved",
            f"The MAC address {mac} is in a range that vSphere assigns itself, and vSphere does not start a VM with "
            "a fixed address from it.",
            "Use an address from 00:50:56:00:00:00 to 00:50:56:3f:ff:ff or of another vendor, or remove `mac`.",
        )
        for mac in new
        if is_reserved(mac)
    ]


def against_reservation(now: NicState, path: str) -> list[Problem]:
    """Memory that is not reserved in full."""
    if now.vm.fully_reserved:
        return []
    return [
        Problem(
            "memory_not_reserved",
            f"Its memory is not reserved in full, which {path} needs.",
            "Reserve it with the module vm_shape and memory_reservation=all, in a task before this one.",
        )
    ]


def against_hardware(now: NicState, least: int, path: str) -> list[Problem]:
    """A hardware version that does not know the device."""
    version = now.vm.hardware_version
    if version == 0 or version >= least:
        return []
    return [
        Problem(
            "hardware_version",
            f"Its hardware version is {version}, and {path} needs {least} or newer.",
            f"Raise it with the module vm_shape and hardware_version={least} or more.",
        )
    ]


def _against_name(now: Placed, name: str, switch: str | None, fabric: Fabric) -> Problem | None:
    requested = f"{name} on {switch}" if switch else name
    found = fabric.candidates(name, switch, now.host)
    elsewhere = fabric.candidates(name, None, now.host) if switch and not found else []
    if elsewhere:
        switches = ", ".join(sorted({fabric.switch_of(group, now.host) for group in elsewhere}))
        return Problem(
            "portgroup_on_other_switch",
            f"The port group {name} is not on {switch}, but on {switches}.",
            "Correct `switch` or `portgroup`.",
        )
    if not found:
        near = ", ".join(fabric.near(name, now.host)) or "none"
        return Problem(
            "portgroup_not_found",
            f"There is no port group {requested} in the datacenter of host {now.host.name}; there are, for example: "
            f"{near}.",
            "Correct `portgroup` and `switch`, or check the user's permissions.",
        )
    if len(found) > 1:
        return _ambiguous(name, found, fabric, now.host)
    return _against_group(now, found[0], fabric)


def _ambiguous(name: str, groups: Sequence[Portgroup], fabric: Fabric, host: HostView | None) -> Problem:
    listed = ", ".join(sorted(_reported(group, fabric, host) for group in groups))
    return Problem(
        "portgroup_ambiguous", f"The port group {name} exists {len(groups)} times: {listed}.", "Set `switch` too."
    )


def _against_group(now: Placed, group: Portgroup, fabric: Fabric) -> Problem | None:
    if group.uplink:
        return Problem(
            "uplink_portgroup",
            f"{group} is the uplink port group of the switch, which accepts no VM.",
            "Name a port group for VMs. Create one on this switch if there is none.",
        )
    if group.opaque:
        return Problem(
            "opaque_network",
            f"{group} is an opaque network, which NSX manages instead of vCenter.",
            "Use a port group of a distributed switch.",
        )
    if not networks.reaches(now.host, group):
        here = ", ".join(fabric.names_at(now.host)) or "none"
        return Problem(
            "portgroup_not_on_host",
            f"Host {now.host.name} is not a member of the switch of {group}; it has the port groups {here}."
            if group.distributed
            else f"Host {now.host.name} does not have {group}; it has the port groups {here}.",
            "Add the host to the switch, choose one of its port groups, or move the VM to another host.",
        )
    return None


def _reported(group: Portgroup, fabric: Fabric, host: HostView | None) -> str:
    switch = fabric.switch_of(group, host)
    return f"{group.name} on {switch}" if switch else f"{group.name}, a standard port group"
