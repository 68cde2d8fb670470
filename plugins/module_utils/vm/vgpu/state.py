# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The part of a VM, and of the hosts it could run on, that its vGPUs depend on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import release as releases
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm, is_on

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.state import Direct

USE_64BIT_MMIO = "pciPassthru.use64bitMMIO"
MMIO_SIZE = "pciPassthru.64bitMMIOSizeGB"
# The end of the settings that switch CUDA unified memory on, device by device.
UVM = ".cfg.enable_uvm"

# vSphere gives PCI passthrough devices keys from here on, and pciPassthru<N> in the VMX file is the device with key
# 13000 + N [unsure: seen so, not documented], which is why every reconfiguration is followed by a reading.
FIRST_KEY = 13000


@dataclass(frozen=True)
class Gpu:
    """An NVIDIA device as its host reports it."""

    name: str
    # basic, shared, sharedDirect or direct; 'active' is in force, 'configured' holds after the next restart.
    active: str
    configured: str
    # none, sameSize, mixedSize or multiInstanceGpu; empty before vSphere 8.0 U3.
    mode: str = ""


@dataclass(frozen=True)
class Host:
    """A host with the profiles that it offers."""

    moid: str
    name: str
    cluster: str
    connected: bool
    version: str
    offered: tuple[str, ...] = ()
    gpus: tuple[Gpu, ...] = ()

    @property
    def release(self) -> tuple[int, ...]:
        """The version as numbers that compare, e.g. (8, 0, 3)."""
        return releases.numbers(self.version)


@dataclass(frozen=True)
class VmState:
    """Configuration of one VM."""

    vm: Vm = field(default_factory=Vm)
    # (device key, profile), ordered by key
    devices: tuple[tuple[int, str], ...] = ()
    # keys of the other PCI passthrough devices, which share the numbering
    other_keys: tuple[int, ...] = ()
    # all devices besides the vGPUs that ask for a part of the memory window (shape.state.Direct)
    beside: tuple[Direct, ...] = ()
    memory_locked: bool = False
    # the VMX settings that concern us
    vmx: dict[str, str] = field(default_factory=dict)
    host: Host | None = None
    # all hosts of the VM's cluster, its own included
    cluster: tuple[Host, ...] = ()

    @property
    def profiles(self) -> list[str]:
        return sorted(profile for key, profile in self.devices)

    @property
    def mmio_size_gb(self) -> int | None:
        size = self.vmx.get(MMIO_SIZE, "")
        return int(size) if size.isdecimal() else None

    @property
    def mmio_64bit(self) -> bool:
        return is_on(self.vmx.get(USE_64BIT_MMIO))


def device_name(key: int) -> str:
    """The name that the VMX file has for a PCI passthrough device."""
    return f"pciPassthru{key - FIRST_KEY}"


def uvm_setting(key: int) -> str:
    """The VMX setting that switches CUDA unified memory on for the vGPU with this device key."""
    return f"{device_name(key)}{UVM}"


def uvm_settings(vmx: Mapping[str, str]) -> dict[str, str]:
    """The unified memory settings among VMX settings, as {VMX device name: value}."""
    return {name[: -len(UVM)]: value for name, value in vmx.items() if name.endswith(UVM)}


def settings(state: VmState) -> dict[str, object]:
    """Return the settings in the user's terms."""
    return {
        "profiles": state.profiles,
        "memory_reservation": "all" if state.memory_locked else "partial",
        "mmio_64bit": state.mmio_64bit,
        "mmio_size_gb": state.mmio_size_gb,
        "unified_memory": sorted(name for name, value in uvm_settings(state.vmx).items() if is_on(value)),
    }
