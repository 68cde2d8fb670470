# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A VM as the states of its parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim

SHAPE, VGPU, PASSTHROUGH = "shape", "vgpu", "passthrough"
ADAPTERS = ("vmxnet3", "pvrdma", "sriov")
# vGPUs come first: their settings are numbered by the keys of devices, and new devices get keys in this order.
DEVICES = (VGPU, PASSTHROUGH, *ADAPTERS)
PARTS = (SHAPE, *DEVICES)


@dataclass(frozen=True)
class ConfigState:
    """Configuration of one VM, in the parts that a task manages."""

    vm: Vm
    # {part: its state}
    parts: dict[str, Any] = field(default_factory=dict)
    # Devices of the VM, as read.
    devices: tuple[vim.vm.device.VirtualDevice, ...] = field(default=(), compare=False, repr=False)

    @property
    def hardware_version(self) -> int:
        """Return the version that the shape requests, if the shape is managed."""
        return self.parts[SHAPE].hardware_version if SHAPE in self.parts else self.vm.hardware_version
