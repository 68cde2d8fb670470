# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Settings of vm_shape in a VM, and the devices and the host that it depends on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import release as releases
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import keys
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm, is_on

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.keys import Found


@dataclass(frozen=True)
class Node:
    """A NUMA node of a host."""

    number: int
    memory_mb: int
    # The PCI addresses of its devices.
    pci: tuple[str, ...] = ()


@dataclass(frozen=True)
class Host:
    """Host data that the shape of its VMs depends on."""

    moid: str
    name: str
    version: str
    cores: int
    threads: int
    mhz: int
    memory_mb: int
    nodes: tuple[Node, ...] = ()
    # The vGPU profiles that it offers.
    offered: tuple[str, ...] = ()

    @property
    def release(self) -> tuple[int, ...]:
        """The version as numbers that compare, e.g. (8, 0, 3)."""
        return releases.numbers(self.version)

    def node_of(self, address: str) -> int | None:
        """The number of the NUMA node with this PCI address, None where it is not known."""
        return next((node.number for node in self.nodes if address in node.pci), None)


@dataclass(frozen=True)
class Direct:
    """A device that belongs to a NUMA node: a vGPU, a passed-through device, an SR-IOV or PVRDMA adapter."""

    key: int
    # vgpu, pci, sriov or pvrdma
    kind: str
    name: str
    # (vendor, device) of all PCI devices that it may be
    ids: tuple[tuple[int, int], ...] = ()
    # The PCI address on the host, where the device is bound to one.
    address: str | None = None
    # The virtual NUMA node, None where it has none.
    node: int | None = None
    # Complete description from vSphere, which an edit has to return unchanged.
    device: vim.vm.device.VirtualDevice | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Shape:
    """Configuration of one VM."""

    vm: Vm = field(default_factory=Vm)
    cpus: int = 1
    # None: vSphere chooses at power-on.
    cores_per_socket: int | None = 1
    memory_mb: int = 1024
    memory_locked: bool = False
    cpu_reserved_mhz: int = 0
    hardware_version: int = 0
    latency: str = "normal"
    # Cores per virtual NUMA node, None: vSphere chooses.
    cores_per_node: int | None = None
    # True if vCPUs can be added while it runs; the guest then sees one NUMA node only.
    hides_nodes: bool = False
    direct: tuple[Direct, ...] = ()
    # The numbers of the network adapters, as in ethernet0.
    adapters: tuple[int, ...] = ()
    # The known settings of the VMX file, by their names in keys.py.
    vmx: dict[str, str] = field(default_factory=dict)
    host: Host | None = None

    @property
    def vgpus(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.direct if one.kind == "vgpu")

    @property
    def fully_reserved(self) -> bool:
        return self.memory_locked or (self.vm.memory_reserved_mb or 0) >= self.memory_mb

    @property
    def mmio_size_gb(self) -> int | None:
        size = self.vmx.get(keys.MMIO_SIZE, "")
        return int(size) if size.isdecimal() else None

    @property
    def mmio_64bit(self) -> bool:
        return is_on(self.vmx.get(keys.USE_64BIT_MMIO))

    @property
    def gpudirect(self) -> str:
        """enabled, disabled, or partial where only one of its two keys is set."""
        switched = [is_on(self.vmx.get(key)) for key in (keys.ALLOW_P2P, keys.RELAX_ACS)]
        return "enabled" if all(switched) else "partial" if any(switched) else "disabled"

    @property
    def numa_method(self) -> str:
        if keys.NODE_AFFINITY in self.vmx:
            return "affinity"
        return "device" if self.cores_per_node is not None else "none"


def device_nodes(shape: Shape) -> list[str]:
    """The virtual NUMA nodes of the devices that have one, in words that do not depend on device keys."""
    return sorted(f"{one.name}: {one.node}" for one in shape.direct if one.node is not None)


def affinity_nodes(shape: Shape) -> list[int]:
    """The host's NUMA nodes that the VM is held at."""
    parts = [part.strip() for part in shape.vmx.get(keys.NODE_AFFINITY, "").split(",")]
    return [int(part) for part in parts if part.isdecimal()]


def gb(megabytes: int) -> int | float:
    """Megabytes in GB, a whole number where it is one."""
    return megabytes // 1024 if megabytes % 1024 == 0 else round(megabytes / 1024, 3)


def project(shape: Shape) -> dict[str, object]:
    """A shape in the user's terms."""
    return {
        "cpus": shape.cpus,
        "cores_per_socket": shape.cores_per_socket,
        "memory_gb": gb(shape.memory_mb),
        "memory_reservation": "all" if shape.memory_locked else "partial",
        "cpu_reservation_mhz": shape.cpu_reserved_mhz,
        "hardware_version": shape.hardware_version,
        "firmware": shape.vm.firmware,
        "latency_sensitivity": shape.latency,
        "numa_method": shape.numa_method,
        "numa_nodes": affinity_nodes(shape),
        "cores_per_numa_node": shape.cores_per_node,
        "numa_devices": device_nodes(shape),
        "gpudirect": shape.gpudirect,
        "mmio_64bit": shape.mmio_64bit,
        "mmio_size_gb": shape.mmio_size_gb,
        "advanced": {
            name: value for name, value in sorted(shape.vmx.items()) if cast("Found", keys.find(name))[0].owner is None
        },
    }
