# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Build the specification that changes a VM from one shape to the other."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import plan

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Data
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.state import Shape


def reconfiguration(now: Shape, wanted: Shape) -> vim.vm.ConfigSpec:
    """Return the ConfigSpec with the differences. vSphere has a separate task for the hardware version."""
    spec = vim.vm.ConfigSpec()
    _size(spec, now, wanted)
    _reservations(spec, now, wanted)
    if now.latency != wanted.latency:
        spec.latencySensitivity = vim.LatencySensitivity(level=wanted.latency)
    if now.cores_per_node != wanted.cores_per_node:
        # Zero gives the choice back to vSphere.
        spec.virtualNuma = vim.vm.VirtualNuma(coresPerNumaNode=wanted.cores_per_node or 0)
    nodes = {one.key: one.node for one in wanted.direct}
    spec.deviceChange = [
        _moved(cast("vim.vm.device.VirtualDevice", one.device), nodes[one.key])
        for one in now.direct
        if one.key in nodes and nodes[one.key] != one.node
    ]
    spec.extraConfig = [
        # An empty value removes the key.
        vim.option.OptionValue(key=name, value=wanted.vmx.get(name) or "")
        for name in plan.changed_keys(now, wanted)
    ]
    return spec


def _size(spec: Data, now: Shape, wanted: Shape) -> None:
    if now.cpus != wanted.cpus:
        spec.numCPUs = wanted.cpus
    if now.cores_per_socket != wanted.cores_per_socket:
        spec.numCoresPerSocket = wanted.cores_per_socket or 0
    if now.memory_mb != wanted.memory_mb:
        spec.memoryMB = wanted.memory_mb


def _reservations(spec: vim.vm.ConfigSpec, now: Shape, wanted: Shape) -> None:
    if now.memory_locked != wanted.memory_locked:
        spec.memoryReservationLockedToMax = wanted.memory_locked
        if not wanted.memory_locked:
            # The reservation that came with the lock does not go with it.
            spec.memoryAllocation = vim.ResourceAllocationInfo(reservation=wanted.vm.memory_reserved_mb)
    elif not wanted.memory_locked and now.vm.memory_reserved_mb != wanted.vm.memory_reserved_mb:
        spec.memoryAllocation = vim.ResourceAllocationInfo(reservation=wanted.vm.memory_reserved_mb)
    if now.cpu_reserved_mhz != wanted.cpu_reserved_mhz:
        spec.cpuAllocation = vim.ResourceAllocationInfo(reservation=wanted.cpu_reserved_mhz)


def _moved(device: vim.vm.device.VirtualDevice, node: int | None) -> vim.vm.device.VirtualDeviceSpec:
    moved = copy.copy(device)
    moved.numaNode = -1 if node is None else node
    return vim.vm.device.VirtualDeviceSpec(operation="edit", device=moved)
