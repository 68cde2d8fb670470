# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Hosts whose VMkernel adapters for PVRDMA do not reach each other: VMs on them would use TCP, silently. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.host import reach

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import Host


def compared(hosts: Sequence[Host]) -> list[Host]:
    """Return the hosts; those that differ from most others are not ready for PVRDMA on their switch."""
    reasons: dict[tuple[str, str], str] = {}
    for switch in sorted({name for host in hosts for name in host.pvrdma}):
        # A host that accepts no VM is no reference for the others.
        able = [host for host in hosts if host.vmknic is not None and not host.out_of_use]
        ready = [host for host in able if host.pvrdma.get(switch) == ""]
        ends = {cast(reach.End, host.vmknic): host for host in ready}
        for trouble in reach.troubles(list(ends)):
            # If two ends share an address, both are unusable.
            alike = [cast(reach.End, trouble.other)] if trouble.code == reach.DUPLICATE else []
            for end in (trouble.end, *alike):
                reasons.setdefault((ends[end].moid, switch), _reason(trouble, end))
    return [
        replace(host, pvrdma={name: why or reasons.get((host.moid, name), "") for name, why in host.pvrdma.items()})
        for host in hosts
    ]


def _reason(trouble: reach.Trouble, end: reach.End) -> str:
    """Return the reason for one host, without the host name in front of it."""
    if end is trouble.other:
        trouble = replace(trouble, end=end, other=trouble.end)
    second = f", while {trouble.other.place} {trouble.other_says}" if trouble.other is not None else ""
    return f"its PVRDMA adapter {end.device} {trouble.says}{second}"
