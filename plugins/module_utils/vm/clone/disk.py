# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The first disk of a new VM, and how it grows."""

from __future__ import annotations

import copy
import math
from typing import Iterable

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim

KB_OF_GB = 1024**2
# Largest virtual disk (configuration maximums of vSphere: 62 TB).
MOST_GB = 62 * 1024


def first(devices: Iterable[vim.vm.device.VirtualDevice]) -> vim.vm.device.VirtualDisk | None:
    """The disk at the lowest unit of the first SCSI, NVMe or SATA controller that has one."""
    devices = list(devices)
    families = (
        vim.vm.device.VirtualSCSIController,
        vim.vm.device.VirtualNVMEController,
        vim.vm.device.VirtualAHCIController,
    )
    controllers: dict[int | None, tuple[int, int]] = {
        device.key: (rank, device.busNumber)
        for rank, family in enumerate(families)
        for device in devices
        if isinstance(device, family)
    }
    disks = [
        device
        for device in devices
        if isinstance(device, vim.vm.device.VirtualDisk) and device.controllerKey in controllers
    ]
    return min(disks, key=lambda disk: (*controllers[disk.controllerKey], disk.unitNumber), default=None)


def gb(disk: vim.vm.device.VirtualDisk) -> float:
    """The size of a disk in GB; a whole number where it is one."""
    whole, rest = divmod(disk.capacityInKB, KB_OF_GB)
    return whole if not rest else round(disk.capacityInKB / KB_OF_GB, 2)


def refusal(disk: vim.vm.device.VirtualDisk | None, disk_gb: int) -> tuple[str, str, str] | None:
    """Return why a disk cannot get the requested size: the cause, the fix and the code of the failure."""
    if not disk_gb:
        return None
    if disk is None:
        return (
            "It has no disk on a SCSI, NVMe or SATA controller",
            "Set disk_gb to 0, or use a template with such a disk",
            "no_first_disk",
        )
    if disk.capacityInKB > disk_gb * KB_OF_GB:
        least = math.ceil(disk.capacityInKB / KB_OF_GB)
        return (
            f"Its first disk has {gb(disk)} GB, disk_gb is {disk_gb}, and vSphere cannot shrink disks",
            f"Set disk_gb to {least} or more, or to 0 to keep the size",
            "disk_would_shrink",
        )
    return None


def growth(disk: vim.vm.device.VirtualDisk | None, disk_gb: int) -> list[vim.vm.device.VirtualDeviceSpec]:
    """The change of a ConfigSpec that gives a disk the requested size; none where it has it."""
    size = disk_gb * KB_OF_GB
    if disk is None or size <= disk.capacityInKB:
        return []
    # CloneVM_Task accepts the device unchanged from the template, file included.
    larger = copy.copy(disk)
    larger.capacityInKB = size
    larger.capacityInBytes = size * 1024  # type: ignore[assignment]
    return [vim.vm.device.VirtualDeviceSpec(operation="edit", device=larger)]


def more_bytes(disk: vim.vm.device.VirtualDisk | None, disk_gb: int, kind: str) -> int:
    """Return the bytes that the growth takes on a datastore at once; 0 for a thin disk. kind: the option `disk` of the
    task."""
    if kind == "thin" or (kind == "template" and (disk is None or getattr(disk.backing, "thinProvisioned", False))):
        return 0
    return max(0, disk_gb * KB_OF_GB - (disk.capacityInKB if disk is not None else 0)) * 1024
