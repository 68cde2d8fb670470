# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""vGPU data in the rows of VMs and hosts. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.read import direct_of
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu.state import (
    FIRST_KEY,
    MMIO_SIZE,
    USE_64BIT_MMIO,
    Gpu,
    Host,
    VmState,
    uvm_setting,
)

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm

HOST_PROPERTIES = (
    "config.graphicsConfig",
    "config.graphicsInfo",
    "config.product.version",
    "config.sharedPassthruGpuTypes",
)

_PLAIN = {key.lower(): key for key in (USE_64BIT_MMIO, MMIO_SIZE)}
_PER_DEVICE = re.compile(r"pcipassthru(\d+)\.cfg\.enable_uvm")


def state_of(row: Row, vm: Vm, host: Host | None, cluster: tuple[Host, ...]) -> VmState:
    """The state that the row of a VM reports, with the hosts that it could run on."""
    devices = row.get("config.hardware.device") or []
    passthrough = [device for device in devices if isinstance(device, vim.vm.device.VirtualPCIPassthrough)]
    vgpus = [device for device in passthrough if _is_vgpu(device)]
    return VmState(
        vm=vm,
        devices=tuple(
            sorted(
                (
                    device.key,
                    cast("str", cast("vim.vm.device.VirtualPCIPassthrough.VmiopBackingInfo", device.backing).vgpu),
                )
                for device in vgpus
            )
        ),
        other_keys=tuple(sorted(device.key for device in passthrough if not _is_vgpu(device))),
        beside=tuple(filter(None, (direct_of(device) for device in devices if not _is_vgpu(device)))),
        memory_locked=vm.memory_locked,
        vmx={cast("str", _setting(key)): value for key, value in vm.extra.items() if _setting(key)},
        host=host,
        cluster=cluster,
    )


def host_of(row: Row, cluster: str) -> Host:
    """The facts that the row of a host reports."""
    config = row.get("config.graphicsConfig")
    by_device = {entry.deviceId: entry.graphicsType for entry in (config.deviceType if config else None) or []}
    default = config.hostDefaultGraphicsType if config else ""
    return Host(
        moid=row.moid,
        name=row.get("name", ""),
        cluster=cluster,
        connected=str(row.get("runtime.connectionState")) == "connected",
        version=row.get("config.product.version") or "",
        offered=tuple(sorted(row.get("config.sharedPassthruGpuTypes") or [])),
        gpus=tuple(
            Gpu(
                name=info.deviceName,
                active=info.graphicsType,
                configured=by_device.get(info.pciId, default),
                # Only servers of API 8.0.3 and later have it; older type libraries do not define it.
                mode=getattr(info, "vgpuMode", None) or "",
            )
            for info in row.get("config.graphicsInfo") or []
            if "nvidia" in (info.vendorName or "").lower()
        ),
    )


def _setting(key: str) -> str | None:
    """Our name of a VMX setting that concerns us, None for all others."""
    device = _PER_DEVICE.fullmatch(key)
    return uvm_setting(FIRST_KEY + int(device.group(1))) if device else _PLAIN.get(key)


def _is_vgpu(device: vim.vm.device.VirtualDevice) -> bool:
    """Return whether it is a separate vGPU; one in a vendor's device group belongs to the group (vim25 reference)."""
    grouped = getattr(device, "deviceGroupInfo", None) is not None
    return not grouped and isinstance(device.backing, vim.vm.device.VirtualPCIPassthrough.VmiopBackingInfo)
