# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The specifications of the parts of a VM as pieces of one ConfigSpec. Pure."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Iterable, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim

if TYPE_CHECKING:
    DeviceChanges = list[vim.vm.device.VirtualDeviceSpec]

# vSphere applies device changes in their order: a key that becomes free can be given to a new device.
_ORDER = ("remove", "edit", "add")


def device_changes(pieces: Iterable[vim.vm.ConfigSpec]) -> DeviceChanges:
    """The device changes of several pieces, with keys of new devices that differ within one specification."""
    changes = [change for piece in pieces for change in piece.deviceChange or []]
    changes.sort(key=lambda change: _ORDER.index(str(change.operation)))
    for number, change in enumerate((one for one in changes if one.operation == "add"), start=1):
        change.device.key = -number
    return changes


def devices_after(
    devices: Sequence[vim.vm.device.VirtualDevice], changes: DeviceChanges
) -> list[vim.vm.device.VirtualDevice]:
    """The devices that a VM has after these changes."""
    after = {device.key: device for device in devices}
    for change in changes:
        if change.operation == "remove":
            after.pop(change.device.key, None)
        elif change.operation == "edit" and change.device.key in after:
            after[change.device.key] = _edited(after[change.device.key], change.device)
        else:
            after[change.device.key] = change.device
    return list(after.values())


def merged(pieces: Iterable[vim.vm.ConfigSpec], changes: DeviceChanges, moves: DeviceChanges) -> vim.vm.ConfigSpec:
    """Return one specification from the settings of all pieces and the device changes of all devices.

    moves are edits of devices after these changes. They also give new devices another NUMA node.
    """
    spec = vim.vm.ConfigSpec()
    settings: dict[str, object] = {}
    for piece in pieces:
        settings.update((option.key, option.value) for option in piece.extraConfig or [])
        for name in (info.name for info in piece._GetPropertyList()):
            value = getattr(piece, name)
            if name not in ("deviceChange", "extraConfig") and value not in (None, []):
                setattr(spec, name, value)
    spec.deviceChange = _with_nodes(changes, moves)
    spec.extraConfig = [vim.option.OptionValue(key=key, value=value) for key, value in settings.items()]
    return spec


def _with_nodes(changes: DeviceChanges, moves: Iterable[vim.vm.device.VirtualDeviceSpec]) -> DeviceChanges:
    ours = {change.device.key: change for change in changes if change.operation != "remove"}
    more = []
    for move in moves:
        if move.device.key in ours:
            ours[move.device.key].device.numaNode = move.device.numaNode
        else:
            more.append(move)
    first = sum(change.operation == "remove" for change in changes)
    return [*changes[:first], *more, *changes[first:]]


def _edited(old: vim.vm.device.VirtualDevice, device: vim.vm.device.VirtualDevice) -> vim.vm.device.VirtualDevice:
    """A field that an edit omits stays unchanged, also the NUMA node."""
    node = getattr(old, "numaNode", None)
    if node is None or device.numaNode is not None:
        return device
    edited = copy.copy(device)
    edited.numaNode = node
    return edited
