# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The request that changes the graphics of a host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.graphics import Device, Graphics


def config(current: vim.host.GraphicsConfig, now: Graphics, wanted: Graphics) -> vim.host.GraphicsConfig:
    """Return the whole configuration: the present one with the desired changes. A device without changes is omitted."""
    kept = {entry.deviceId: entry for entry in current.deviceType or []}
    changed = [
        _device(after, kept.get(after.id), before.mode != after.mode)
        for before, after in zip(now.devices, wanted.devices)
        if (before.configured, before.mode) != (after.configured, after.mode) and after.own
    ]
    return vim.host.GraphicsConfig(
        hostDefaultGraphicsType=wanted.default_type,
        sharedPassthruAssignmentPolicy=wanted.policy,
        deviceType=list({**kept, **{entry.deviceId: entry for entry in changed}}.values()),
    )


def _device(
    device: Device, kept: vim.host.GraphicsConfig.DeviceType | None, mode_changed: bool
) -> vim.host.GraphicsConfig.DeviceType:
    entry = vim.host.GraphicsConfig.DeviceType(deviceId=device.id, graphicsType=device.configured)
    mode = device.mode if mode_changed else getattr(kept, "vgpuMode", None)
    if mode:
        # Only type libraries from 8.0.3 on have it.
        entry.vgpuMode = mode
    return entry
