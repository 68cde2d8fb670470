# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Build the specification by which a VM gets and loses passthrough devices."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import plan
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.state import (
    ANY_SYSTEM,
    DVX,
    DYNAMIC,
    GROUP,
    STATIC,
)

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.near import HostDevices
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.offer import Offer
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.state import Asked, Direct, DirectState


def reconfiguration(now: DirectState, wanted: DirectState, offer: Offer) -> vim.vm.ConfigSpec:
    """Return the ConfigSpec from one state to the other, with devices as its host offers them."""
    gone, new = plan.removed(now, wanted), plan.added(now, wanted)
    changes = [_change("remove", device) for one in gone for device in one.devices]
    # Keys below zero ask vSphere to choose; they only have to differ within one specification.
    groups: list[vim.vm.VirtualDeviceGroups.VendorDeviceGroup]
    number, groups = 0, []
    for one in new:
        instance = None
        if one.asked.kind == GROUP:
            instance = -1 - len(groups)
            groups.append(
                vim.vm.VirtualDeviceGroups.VendorDeviceGroup(groupInstanceKey=instance, deviceGroupName=one.asked.group)
            )
        for sequence, device in enumerate(_devices(one, offer, now.host)):
            number += 1
            if instance is not None:
                _join(device, instance, sequence)
            changes.append(_change("add", _placed(device, -number, one.numa_node)))
    for one in plan.moved(now, wanted):
        # A negative node is the API's word for none.
        node = -1 if one.numa_node is None else one.numa_node
        changes += [_change("edit", _edited(device, node)) for device in one.devices]
    spec = vim.vm.ConfigSpec(deviceChange=changes)
    if groups or any(one.asked.kind == GROUP for one in gone):
        kept = [one for one in now.devices if one.asked.kind == GROUP and one not in gone]
        spec.deviceGroups = vim.vm.VirtualDeviceGroups(deviceGroup=[_group(one) for one in kept] + groups)
    return spec


def _devices(one: Direct, offer: Offer, host: HostDevices | None) -> list[vim.vm.device.VirtualDevice]:
    """The API's devices for one that a VM must get: as it had them before, or as its host has them now."""
    if one.devices:
        return [copy.copy(device) for device in one.devices]
    offered = {GROUP: offer.groups.get(one.asked.group), STATIC: offer.targets.get(one.asked.id)}
    if offered.get(one.asked.kind, one) is None:
        raise _went(one, host)
    if one.asked.kind == GROUP:
        return [
            copy.copy(part.device)
            for part in cast("vim.vm.VendorDeviceGroupInfo", offered[GROUP]).componentDeviceInfo or []
        ]
    backing: vim.vm.device.VirtualDevice.BackingInfo
    if one.asked.kind == DVX:
        backing = vim.vm.device.VirtualPCIPassthrough.DvxBackingInfo(deviceClass=one.asked.device_class)
    elif one.asked.kind == DYNAMIC:
        backing = _dynamic(one.asked)
    else:
        backing = _static(cast("vim.vm.PciPassthroughInfo", offered[STATIC]))
    return [vim.vm.device.VirtualPCIPassthrough(backing=backing)]


def _static(info: vim.vm.PciPassthroughInfo) -> vim.vm.device.VirtualPCIPassthrough.DeviceBackingInfo:
    # vendorId is signed in the API and is returned unchanged, the ID of the device as text in hexadecimal.
    return vim.vm.device.VirtualPCIPassthrough.DeviceBackingInfo(
        deviceName=info.pciDevice.deviceName or "",
        id=info.pciDevice.id,
        deviceId=f"{info.pciDevice.deviceId & 0xFFFF:x}",
        systemId=info.systemId or ANY_SYSTEM,
        vendorId=info.pciDevice.vendorId,
    )


def _dynamic(asked: Asked) -> vim.vm.device.VirtualPCIPassthrough.DynamicBackingInfo:
    backing = vim.vm.device.VirtualPCIPassthrough.DynamicBackingInfo(
        deviceName="", allowedDevice=[_allowed(one) for one in asked.allowed]
    )
    if asked.label:
        backing.customLabel = asked.label
    return backing


def _allowed(text: str) -> vim.vm.device.VirtualPCIPassthrough.AllowedDevice:
    vendor, device = (int(part, 16) for part in text.split(":"))
    return vim.vm.device.VirtualPCIPassthrough.AllowedDevice(vendorId=vendor, deviceId=device)


def _placed(device: vim.vm.device.VirtualDevice, key: int, node: int | None) -> vim.vm.device.VirtualDevice:
    device.key = key
    device.controllerKey = device.unitNumber = device.slotInfo = None
    if node is not None:
        device.numaNode = node
    return device


def _join(device: vim.vm.device.VirtualDevice, instance: int, position: int) -> None:
    """Add a device to a group; its sequence is that of the host's template (vim25 reference), or its position."""
    known = device.deviceGroupInfo
    device.deviceGroupInfo = vim.vm.device.VirtualDevice.DeviceGroupInfo(
        groupInstanceKey=instance, sequenceId=known.sequenceId if known else position
    )


def _edited(device: vim.vm.device.VirtualDevice, node: int) -> vim.vm.device.VirtualDevice:
    edited = copy.copy(device)
    edited.numaNode = node
    return edited


def _group(one: Direct) -> vim.vm.VirtualDeviceGroups.VendorDeviceGroup:
    return vim.vm.VirtualDeviceGroups.VendorDeviceGroup(groupInstanceKey=one.instance, deviceGroupName=one.asked.group)


def _went(one: Direct, host: HostDevices | None) -> OperatorError:
    """The VM lost a device while this task ran, and the host had no reason to offer it when it was asked."""
    return OperatorError(
        f"Host {host.name}" if host is not None else "The host",
        f"cannot restore {one.asked} to a VM that lost it meanwhile",
        "The host did not offer the device when the task began.",
        "Run the task again.",
        "device_not_offered",
    )


def _change(operation: str, device: vim.vm.device.VirtualDevice) -> vim.vm.device.VirtualDeviceSpec:
    return vim.vm.device.VirtualDeviceSpec(operation=operation, device=device)
