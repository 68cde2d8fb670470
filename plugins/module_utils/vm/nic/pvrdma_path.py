# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Check whether PVRDMA adapters find RDMA on a host: without it they silently fall back to TCP. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable

from ansible_collections.aiready.vsphere.plugins.module_utils.host.pvrdma import OPTION, RULESET
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.rules import Problem

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import Switch
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import HostView

# The driver of the ports whose RDMA driver is loaded apart (nmlx5_rdma).
_ETHERNET_DRIVER = "nmlx5_core"
HOST_PROPERTIES = ("config.firewall", "configManager")
_UP = ("active", "activeDefer")


def against(host: HostView, uuids: Iterable[str], vmknic: str) -> list[Problem]:
    """Return the reasons why PVRDMA over these distributed switches cannot use RDMA on a host; vmknic is the host's
    tag."""
    problems = []
    if not host.firewall.get(RULESET, False):
        problems.append(
            Problem(
                "pvrdma_firewall",
                f"The firewall ruleset {RULESET} of host {host.name} is closed, so peers cannot negotiate RDMA.",
                "Open it with the module pvrdma_host.",
            )
        )
    switches = [host.by_uuid(uuid) for uuid in sorted(uuids)]
    for switch in (one for one in switches if one is not None):
        problems += [*_against_tag(host, switch, vmknic), *_against_uplinks(host, switch)]
    return problems


def doubts(host: HostView, uuids: Iterable[str], vmknic: str) -> list[str]:
    """Return conditions that are no error but leave the adapters on TCP for now."""
    found = []
    adapter = host.network.adapter(vmknic)
    for switch in filter(None, (host.by_uuid(uuid) for uuid in sorted(uuids))):
        rdma = host.network.rdma_of(switch.uplinks[0]) if len(switch.uplinks) == 1 else None
        if rdma is not None and rdma.state not in _UP:
            found.append(
                f"the RDMA device {rdma.device} of {rdma.port} on host {host.name} is {rdma.state}; check the "
                "cable and the switch"
            )
        if adapter is not None and adapter.switch == switch.name and adapter.mtu > switch.mtu:
            found.append(
                f"{vmknic} on host {host.name} has MTU {adapter.mtu}, but {switch.name} has only {switch.mtu}; "
                "see vmkernel_mtu"
            )
    return found


def _against_tag(host: HostView, switch: Switch, vmknic: str) -> list[Problem]:
    if not vmknic:
        there = ", ".join(one.device for one in host.network.on_switch(switch.name)) or "none yet"
        return [
            Problem(
                "pvrdma_tag_missing",
                f"Host {host.name} has no VMkernel adapter for PVRDMA: its option {OPTION} is empty.",
                f"Name an adapter on {switch.name} with the module pvrdma_host (there: {there}).",
            )
        ]
    adapter = host.network.adapter(vmknic)
    if adapter is None:
        return [
            Problem(
                "pvrdma_tag_unknown",
                f"The option {OPTION} of host {host.name} names {vmknic}, which does not exist.",
                f"Name an adapter on {switch.name} with the module pvrdma_host.",
            )
        ]
    if adapter.switch != switch.name:
        return [
            Problem(
                "pvrdma_tag_elsewhere",
                f"The option {OPTION} of host {host.name} names {vmknic}, which is on {adapter.switch or 'no switch'} "
                f"and not on {switch.name}.",
                f"Use a port group of {adapter.switch or 'its switch'}, or name an adapter on {switch.name} with the "
                "module pvrdma_host.",
            )
        ]
    return []


def _against_uplinks(host: HostView, switch: Switch) -> list[Problem]:
    if not switch.uplinks:
        return [
            Problem(
                "hca_missing",
                f"{switch.name} has no uplink on host {host.name}.",
                "Connect the RDMA port of this host to the switch as its uplink.",
            )
        ]
    if len(switch.uplinks) > 1:
        return [
            Problem(
                "hca_not_sole_uplink",
                f"{switch.name} has {len(switch.uplinks)} uplinks on host {host.name} ({', '.join(switch.uplinks)}), "
                "and PVRDMA has no teaming.",
                "Remove the other uplinks, so that the RDMA port is the only one.",
            )
        ]
    uplink = switch.uplinks[0]
    if host.network.rdma_of(uplink) is not None:
        return []
    port = host.network.port(uplink)
    driver = port.driver if port is not None else "unknown"
    if driver == _ETHERNET_DRIVER:
        todo = (
            "Load the module nmlx5_rdma on the host (esxcli system module set -m nmlx5_rdma -e true) and "
            "restart the host."
        )
    else:
        todo = "Use a port that supports RoCE, such as a ConnectX, as the only uplink of the switch."
    return [
        Problem(
            "no_rdma_device",
            f"{uplink}, the uplink of {switch.name} on host {host.name}, has no RDMA device (its driver is {driver}).",
            todo,
        )
    ]
