# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read VMs with their hosts and clusters in one request, and turn the rows into states."""

from __future__ import annotations

import re

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.vgpu_state import (
    FIRST_KEY,
    MMIO_SIZE,
    POWER_ON_AGAIN,
    USE_64BIT_MMIO,
    Gpu,
    Host,
    VmState,
    is_on,
    uvm_setting,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import properties
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim

VM_PROPERTIES = [
    "name",
    "config.changeVersion",
    "config.extraConfig",
    "config.firmware",
    "config.hardware.device",
    "config.instanceUuid",
    "config.memoryAllocation.reservation",
    "config.memoryReservationLockedToMax",
    "config.template",
    "guest.toolsRunningStatus",
    "runtime.connectionState",
    "runtime.host",
    "runtime.powerState",
]
HOST_PROPERTIES = [
    "name",
    "config.graphicsConfig",
    "config.graphicsInfo",
    "config.product.version",
    "config.sharedPassthruGpuTypes",
    "parent",
    "runtime.connectionState",
]
POWER = {"poweredOn": "on", "poweredOff": "off", "suspended": "suspended"}

_PLAIN = {key.lower(): key for key in (USE_64BIT_MMIO, MMIO_SIZE)}
_PER_DEVICE = re.compile(r"pcipassthru(\d+)\.cfg\.enable_uvm")


def read_with_hosts(vcenter, refs):
    """{moid: (row of the VM, VmState)} of these VMs as far as they exist, with the hosts that they could run on."""
    rows = properties.retrieve(
        vcenter,
        select={"VirtualMachine": VM_PROPERTIES, "HostSystem": HOST_PROPERTIES, "ComputeResource": ["name"]},
        start=refs,
        walk=[("VirtualMachine", "runtime.host"), ("HostSystem", "parent"), ("ComputeResource", "host")],
        skip_gone=True,
    )
    clusters = {row.moid: row.get("name", "") for row in rows if row.kind.endswith("ComputeResource")}
    hosts, members = {}, {}
    for row in rows:
        if row.kind == "HostSystem":
            parent = _moid(row.get("parent"))
            hosts[row.moid] = host_of(row, clusters.get(parent, ""))
            members.setdefault(parent, []).append(hosts[row.moid])
    cluster_of = {host.moid: tuple(group) for group in members.values() for host in group}
    states = {}
    for row in rows:
        if row.kind == "VirtualMachine":
            host = _moid(row.get("runtime.host"))
            states[row.moid] = (row, vm_of(row, hosts.get(host), cluster_of.get(host, ())))
    return states


def read_again(vcenter, refs, before):
    """{moid: VmState} of these VMs; hosts are taken over from the states known before, given by MoID."""
    rows = properties.retrieve(vcenter, select={"VirtualMachine": VM_PROPERTIES}, start=refs, skip_gone=True)
    return {row.moid: vm_of(row, before[row.moid].host, before[row.moid].cluster) for row in rows}


def vm_of(row, host, cluster):
    """The state that the row of a VM tells."""
    # A VMX file does not tell upper from lower case: whoever set a key first has fixed how it is spelled.
    extra = {option.key.lower(): str(option.value) for option in row.get("config.extraConfig") or []}
    passthrough = [
        device
        for device in row.get("config.hardware.device") or []
        if isinstance(device, vim.vm.device.VirtualPCIPassthrough)
    ]
    vgpus = [device for device in passthrough if _is_vgpu(device)]
    return VmState(
        devices=tuple(sorted((device.key, device.backing.vgpu) for device in vgpus)),
        other_keys=tuple(sorted(device.key for device in passthrough if not _is_vgpu(device))),
        memory_locked=bool(row.get("config.memoryReservationLockedToMax")),
        memory_reserved_mb=row.get("config.memoryAllocation.reservation"),
        vmx={_setting(key): value for key, value in extra.items() if _setting(key) and value != ""},
        power=POWER.get(str(row.get("runtime.powerState")), "off"),
        power_on_again=is_on(extra.get(POWER_ON_AGAIN)),
        firmware=row.get("config.firmware") or "",
        template=bool(row.get("config.template")),
        connection=str(row.get("runtime.connectionState") or "unknown"),
        tools_running=row.get("guest.toolsRunningStatus") == "guestToolsRunning",
        change_version=row.get("config.changeVersion") or "",
        host=host,
        cluster=cluster,
    )


def host_of(row, cluster):
    """The facts that the row of a host tells."""
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
                # Only servers of API 8.0.3 and later have it, and older type libraries do not know it.
                mode=getattr(info, "vgpuMode", None) or "",
            )
            for info in row.get("config.graphicsInfo") or []
            if "nvidia" in (info.vendorName or "").lower()
        ),
    )


def _setting(key):
    """Our name of a VMX setting that concerns us, None for all others."""
    device = _PER_DEVICE.fullmatch(key)
    return uvm_setting(FIRST_KEY + int(device.group(1))) if device else _PLAIN.get(key)


def _is_vgpu(device):
    return isinstance(device.backing, vim.vm.device.VirtualPCIPassthrough.VmiopBackingInfo)


def _moid(ref):
    return ref._GetMoId() if ref is not None else None
