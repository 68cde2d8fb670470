# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The specification that a reconfiguration of a VM needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu.state import VmState


def reconfiguration(now: VmState, wanted: VmState) -> vim.vm.ConfigSpec:
    """Return the ConfigSpec from one state to the other."""
    spec = vim.vm.ConfigSpec()
    gone = [device for device in now.devices if device not in wanted.devices]
    new = [device for device in wanted.devices if device not in now.devices]
    spec.deviceChange = [_device("remove", key, profile) for key, profile in gone] + [
        # Keys below zero ask vSphere to choose; they only have to differ within one specification.
        _device("add", -number, profile)
        for number, (key, profile) in enumerate(new, start=1)
    ]
    if now.memory_locked != wanted.memory_locked:
        spec.memoryReservationLockedToMax = wanted.memory_locked
        if not wanted.memory_locked:
            # The reservation that came with the lock does not go with it.
            spec.memoryAllocation = vim.ResourceAllocationInfo(reservation=wanted.vm.memory_reserved_mb)
    changed = [key for key in sorted(set(now.vmx) | set(wanted.vmx)) if now.vmx.get(key) != wanted.vmx.get(key)]
    spec.extraConfig = [_setting(key, wanted.vmx.get(key)) for key in changed]
    return spec


def _device(operation: str, key: int, profile: str) -> vim.vm.device.VirtualDeviceSpec:
    return vim.vm.device.VirtualDeviceSpec(
        operation=operation,
        device=vim.vm.device.VirtualPCIPassthrough(
            key=key,
            backing=vim.vm.device.VirtualPCIPassthrough.VmiopBackingInfo(vgpu=profile),
        ),
    )


def _setting(key: str, value: str | None) -> vim.option.OptionValue:
    # An empty value removes the key.
    return vim.option.OptionValue(key=key, value=value or "")
