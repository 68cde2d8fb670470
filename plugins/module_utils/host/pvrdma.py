# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The host side of PVRDMA, and the path that it needs so that it does not fall back to TCP. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import Network

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import Rdma, Switch

OPTION = "Net.PVRDMAVmknic"
RULESET = "pvrdma"


@dataclass(frozen=True)
class Pvrdma:
    """Option and ruleset, and the network that they are about."""

    vmknic: str
    firewall: bool
    network: Network

    @property
    def switch(self) -> Switch | None:
        """The switch of the adapter, where there are both."""
        adapter = self.network.adapter(self.vmknic)
        return self.network.switch(adapter.switch) if adapter is not None else None

    @property
    def uplink(self) -> str | None:
        """The only port of that switch."""
        switch = self.switch
        return switch.uplinks[0] if switch is not None and len(switch.uplinks) == 1 else None

    @property
    def rdma(self) -> Rdma | None:
        return self.network.rdma_of(self.uplink) if self.uplink is not None else None


@dataclass(frozen=True)
class PvrdmaRequest:
    """The VMkernel adapter of PVRDMA. firewall: enabled, disabled, unchanged, or None for the state's own."""

    vmknic: str
    state: str
    firewall: str | None = None


def want(subject: str, now: Pvrdma, requested: PvrdmaRequest) -> Pvrdma:
    """The desired host side; rejects a path on which RDMA cannot work."""
    present = requested.state == "present"
    firewall = {None: present, "enabled": True, "disabled": False, "unchanged": now.firewall}[requested.firewall]
    if not present:
        return replace(now, vmknic="", firewall=firewall)
    wanted = replace(now, vmknic=requested.vmknic, firewall=firewall)
    problem = _problem(wanted)
    if problem is not None:
        found, todo = problem
        raise OperatorError(subject, f"cannot set up PVRDMA over {requested.vmknic}", found, todo, "pvrdma_path")
    return wanted


def doubts(state: Pvrdma) -> list[str]:
    """Return conditions that are no error but leave PVRDMA on TCP for now."""
    if state.vmknic and state.rdma is None:
        return [f"{state.uplink} has no RDMA device, so PVRDMA uses TCP until its RDMA module is loaded."]
    if state.vmknic and state.rdma is not None and state.rdma.state not in ("active", "activeDefer"):
        return [f"the RDMA device {state.rdma.device} of {state.uplink} is {state.rdma.state}; check cable and switch."]
    return []


def compare(now: Pvrdma, wanted: Pvrdma) -> list[Change]:
    """Option and ruleset; both take effect at once."""
    changes = []
    if now.vmknic != wanted.vmknic:
        changes.append(Change(OPTION, now.vmknic or None, wanted.vmknic or None))
    if now.firewall != wanted.firewall:
        changes.append(Change(f"firewall.{RULESET}", _word(now.firewall), _word(wanted.firewall)))
    return changes


def project(state: Pvrdma) -> dict[str, Any]:
    """The host side as a user sees it."""
    rdma = state.rdma
    return {
        "vmknic": state.vmknic or None,
        "firewall": state.firewall,
        "switch": state.switch.name if state.switch is not None else None,
        "uplink": state.uplink,
        "rdma": None if rdma is None else {"name": rdma.device, "state": rdma.state, "mtu": rdma.mtu},
    }


def _problem(state: Pvrdma) -> tuple[str, str] | None:
    """The reason why RDMA cannot work over the adapter; vSphere itself reports no error."""
    adapter, switch = state.network.adapter(state.vmknic), state.switch
    if adapter is None:
        there = ", ".join(f"{one.device} on {one.switch}" for one in state.network.vmkernel) or "none"
        return f"There is no such VMkernel adapter; there are: {there}", "Correct `vmknic`, or create the adapter"
    if switch is None or not switch.distributed:
        return (
            f"It is on {adapter.switch or 'an unknown switch'}, which is not a distributed switch",
            "Choose an adapter on the distributed switch of the RDMA ports",
        )
    if len(switch.uplinks) != 1:
        there = ", ".join(switch.uplinks) or "none"
        return (
            f"Its switch {switch.name} has {len(switch.uplinks)} uplinks on this host ({there}); PVRDMA has no teaming",
            "Remove the other uplinks of the switch, so that only the RDMA port is left",
        )
    return None


def _word(enabled: bool) -> str:
    return "enabled" if enabled else "disabled"
