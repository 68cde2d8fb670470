# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""PCI devices in passthrough mode or with virtual functions: configured and active state. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Collection, Iterable

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.host import device_mode


@dataclass(frozen=True)
class Given:
    """The passthrough state of one device."""

    id: str
    capable: bool
    configured: bool
    active: bool
    label: str = ""
    sriov_capable: bool = False
    # Virtual functions: configured, present, and the maximum of the firmware.
    vfs_configured: int = 0
    vfs_active: int = 0
    vfs_max: int = 0
    # The device that has to go along, by the host's own account; mostly the device itself.
    dependent: str = ""
    # None before vSphere 9.1.
    mode: device_mode.Mode | None = None


def devices_of(infos: Iterable[Any] | None) -> dict[str, Given]:
    """{address: Given} from config.pciPassthruInfo."""
    return {info.id: _given(info) for info in infos or []}


def _given(info: Any) -> Given:
    configured = bool(getattr(info, "sriovEnabled", False))
    active = bool(getattr(info, "sriovActive", False))
    return Given(
        id=info.id,
        capable=bool(info.passthruCapable),
        configured=bool(info.passthruEnabled),
        active=bool(info.passthruActive),
        # Servers before 7.0.2 have no labels, and older type libraries do not know them.
        label=getattr(info, "hardwareLabel", None) or "",
        sriov_capable=bool(getattr(info, "sriovCapable", False)),
        vfs_configured=(getattr(info, "numVirtualFunctionRequested", 0) or 0) if configured else 0,
        vfs_active=(getattr(info, "numVirtualFunction", 0) or 0) if active else 0,
        vfs_max=getattr(info, "maxVirtualFunctionSupported", 0) or 0,
        dependent=info.dependentDevice or "",
        mode=device_mode.mode_of(info),
    )


@dataclass(frozen=True)
class DeviceRequest:
    """One PCI device. None keeps a setting."""

    id: str
    state: str | None
    label: str | None
    sriov_vfs: int | None
    take_from_vgpu: bool
    device_mode: str | None = None


def requested_one(now: Given, entry: DeviceRequest, apply_now: bool) -> Given:
    """The state of a device after one entry of a task."""
    wanted = now
    to_host = entry.device_mode is not None
    # The host sets the state of a device whose mode it selects.
    if entry.state is not None and not (to_host and now.mode is not None and now.mode.of_the_host):
        enabled = entry.state == "enabled"
        wanted = replace(
            wanted,
            configured=enabled,
            active=enabled if apply_now and enabled != now.configured else now.active,
            mode=device_mode.fixed(now.mode),
        )
    if to_host:
        wanted = replace(wanted, mode=device_mode.of_the_host(now.mode))
    if entry.label is not None:
        wanted = replace(wanted, label=entry.label)
    if entry.sriov_vfs is not None:
        wanted = replace(wanted, vfs_configured=entry.sriov_vfs)
    return wanted


def compare(now: Given, wanted: Given) -> list[Change]:
    """The changes of one device."""
    changes = []
    if now.configured != wanted.configured:
        needs = None if wanted.active == wanted.configured else "reboot"
        changes.append(Change(f"passthrough.{now.id}", _word(now.configured), _word(wanted.configured), needs))
    if wanted.mode is not None and device_mode.leaves_host(now.mode, wanted.mode):
        fixed = device_mode.DIRECT if wanted.configured else wanted.mode.current
        changes.append(Change(f"passthrough.{now.id}.device_mode", device_mode.SYSTEM, fixed))
    elif device_mode.enters_host(now.mode, wanted.mode):
        fixed = device_mode.DIRECT if now.configured else now.mode.current if now.mode is not None else ""
        changes.append(Change(f"passthrough.{now.id}.device_mode", fixed, device_mode.SYSTEM))
    if now.label != wanted.label:
        changes.append(Change(f"passthrough.{now.id}.label", now.label or None, wanted.label or None))
    if now.vfs_configured != wanted.vfs_configured:
        needs = None if wanted.vfs_active == wanted.vfs_configured else "reboot"
        changes.append(Change(f"sriov.{now.id}", now.vfs_configured, wanted.vfs_configured, needs))
    return changes


def pending(devices: Collection[Given]) -> list[dict[str, str]]:
    """Devices whose state waits for a restart."""
    waiting = [f"passthrough.{one.id}" for one in devices if one.configured != one.active]
    waiting += [f"sriov.{one.id}" for one in devices if one.vfs_configured != one.vfs_active]
    return [{"what": what, "needs": "reboot"} for what in waiting]


def project(device: Given, name: str) -> dict[str, Any]:
    """A device as a user sees it."""
    return {
        "id": device.id,
        "name": name,
        "configured": _word(device.configured),
        "active": _word(device.active),
        "label": device.label or None,
        "sriov_vfs": {"configured": device.vfs_configured, "active": device.vfs_active, "max": device.vfs_max},
        "device_mode": device_mode.project(device.mode),
    }


def _word(enabled: bool) -> str:
    return "enabled" if enabled else "disabled"
