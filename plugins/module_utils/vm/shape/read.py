# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Convert vCenter's report on a VM and its host to a shape."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Iterable, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import keys
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.state import Direct, Host, Node, Shape

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.place import Place
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm

VM_PROPERTIES = (
    "config.cpuAllocation.reservation",
    "config.cpuHotAddEnabled",
    "config.latencySensitivity",
)
VM_PROPERTIES_8 = ("config.hardware.autoCoresPerSocket", "config.numaInfo")
HOST_PROPERTIES = (
    "config.product.version",
    "config.sharedPassthruGpuTypes",
    "hardware.cpuInfo",
    "hardware.memorySize",
    "hardware.numaInfo",
)

_MB = 1024 * 1024
# The first network adapter has this key, and ethernet<N> is the one with 4000 + N [unsure: seen so, not documented].
_FIRST_ADAPTER = 4000


def vm_properties(vcenter: VCenter) -> tuple[str, ...]:
    """Return the VM properties to read; vCenter refuses properties that its API does not have yet."""
    return VM_PROPERTIES + (VM_PROPERTIES_8 if vcenter.offers("8.0.0.1") else ())


def with_devices(shape: Shape, devices: Sequence[vim.vm.device.VirtualDevice]) -> Shape:
    """The shape of a VM with these devices."""
    return dataclasses.replace(
        shape,
        direct=tuple(sorted(filter(None, map(direct_of, devices)), key=lambda one: one.key)),
        adapters=tuple(sorted(_adapters(devices))),
    )


def shape_of(row: Row, vm: Vm, host: Host | None) -> Shape:
    """The shape from the row of a VM; vm as the engine read it."""
    devices = row.get("config.hardware.device") or []
    latency = row.get("config.latencySensitivity")
    numa = row.get("config.numaInfo")
    automatic = numa is None or numa.autoCoresPerNumaNode is not False
    shape = Shape(
        vm=vm,
        cpus=vm.cpus,
        cores_per_socket=None if row.get("config.hardware.autoCoresPerSocket") else vm.cores_per_socket or 1,
        memory_mb=vm.memory_mb,
        memory_locked=vm.memory_locked,
        cpu_reserved_mhz=row.get("config.cpuAllocation.reservation") or 0,
        hardware_version=vm.hardware_version,
        latency=str(latency.level) if latency is not None else "normal",
        cores_per_node=None if automatic else numa.coresPerNumaNode,
        # vSphere 8.0 can show such a guest its nodes all the same.
        hides_nodes=bool(row.get("config.cpuHotAddEnabled")) and not getattr(numa, "vnumaOnCpuHotaddExposed", False),
        vmx=keys.known(vm.extra),
        host=host,
    )
    return with_devices(shape, devices)


def _adapters(devices: Iterable[vim.vm.device.VirtualDevice]) -> list[int]:
    """Return the numbers of the network adapters; a new one gets the lowest free number."""
    cards = [one.key for one in devices if isinstance(one, vim.vm.device.VirtualEthernetCard)]
    numbers = [key - _FIRST_ADAPTER for key in cards if key >= 0]
    for _new in range(len(cards) - len(numbers)):
        numbers.append(min(set(range(len(numbers) + 1)) - set(numbers)))
    return numbers


def direct_of(device: vim.vm.device.VirtualDevice) -> Direct | None:
    """A device that belongs to a NUMA node, None for all others."""
    node = getattr(device, "numaNode", None)
    node = node if node is not None and node >= 0 else None
    backing = device.backing
    if isinstance(device, vim.vm.device.VirtualPCIPassthrough):
        types = vim.vm.device.VirtualPCIPassthrough
        if isinstance(backing, types.VmiopBackingInfo):
            return Direct(device.key, "vgpu", backing.vgpu or "vGPU", node=node, device=device)
        if isinstance(backing, types.DynamicBackingInfo):
            ids = tuple((one.vendorId & 0xFFFF, one.deviceId & 0xFFFF) for one in backing.allowedDevice or [])
            label = backing.customLabel or " or ".join(f"{vendor:04x}:{device_id:04x}" for vendor, device_id in ids)
            return Direct(device.key, "pci", label or "PCI device", ids, None, node, device)
        if isinstance(backing, types.DeviceBackingInfo):
            # The vendor is a signed 16-bit number here, and the device a hexadecimal text.
            ids = ((backing.vendorId & 0xFFFF, int(backing.deviceId, 16)),) if backing.deviceId else ()
            return Direct(device.key, "pci", backing.id, ids, backing.id, node, device)
        return Direct(device.key, "pci", "PCI device", node=node, device=device)
    if isinstance(device, vim.vm.device.VirtualSriovEthernetCard):
        function = device.sriovBacking.physicalFunctionBacking if device.sriovBacking is not None else None
        address = function.id if function is not None else None
        name = f"SR-IOV adapter of {address}" if address else "SR-IOV adapter"
        return Direct(device.key, "sriov", name, (), address, node, device)
    if isinstance(device, vim.vm.device.VirtualVmxnet3Vrdma):
        return Direct(device.key, "pvrdma", "PVRDMA adapter", node=node, device=device)
    return None


class Hosts:
    """Hosts of a task; data that many VMs share is computed once."""

    def __init__(self) -> None:
        self._known: dict[str, Host] = {}

    def of(self, place: Place | None) -> Host | None:
        """The facts of a host, None for one that could not be read."""
        if place is None:
            return None
        if place.moid not in self._known:
            self._known[place.moid] = host_of(place)
        return self._known[place.moid]


def host_of(place: Place) -> Host:
    """Return the facts in the row of a host."""
    row = place.row
    numa, processors = row.get("hardware.numaInfo"), row.get("hardware.cpuInfo")
    return Host(
        moid=place.moid,
        name=place.name,
        version=row.get("config.product.version") or "",
        cores=processors.numCpuCores if processors is not None else 0,
        threads=processors.numCpuThreads if processors is not None else 0,
        mhz=math.ceil(processors.hz / 1_000_000) if processors is not None else 0,
        memory_mb=(row.get("hardware.memorySize") or 0) // _MB,
        nodes=tuple(
            Node(
                node.typeId,
                # memorySize came with vSphere 8.0; before, the range reports the same.
                (getattr(node, "memorySize", None) or node.memoryRangeLength) // _MB,
                tuple(node.pciId or []),
            )
            for node in sorted((numa.numaNode if numa is not None else None) or [], key=lambda one: one.typeId)
        ),
        offered=tuple(row.get("config.sharedPassthruGpuTypes") or []),
    )
