# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""How many GPU devices of one kind hosts have, use and could give: the request for a device, and the numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import capacity
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import DIRECT

if TYPE_CHECKING:
    from typing import Iterable

    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import Gpu, Host


@dataclass(frozen=True)
class Wanted:
    """One device: a vGPU of a profile, or without a profile a whole GPU by its PCI ids and its label."""

    profile: str = ""
    # Four hexadecimal digits each.
    vendor_id: str = ""
    device_id: str = ""
    label: str = ""

    @property
    def text(self) -> str:
        """Name of the device in messages."""
        if self.profile:
            return self.profile
        return f"{self.vendor_id}:{self.device_id}" + (f" with label {self.label}" if self.label else "")

    def is_of(self, gpu: Gpu) -> bool:
        """Return whether a GPU is of the board of this device."""
        if self.profile:
            return gpu.board == capacity.board_in(self.profile)
        same = (gpu.vendor_id, gpu.device_id) == (self.vendor_id, self.device_id)
        return same and self.label in ("", gpu.label)


@dataclass(frozen=True)
class Numbers:
    """Devices in use, devices that still fit, and devices that fit if none is in use."""

    used: int = 0
    free: int = 0
    most: int = 0
    # Devices that vCenter reserves for a profile; only vCenter knows them.
    reserved: int = 0

    def __add__(self, other: Numbers) -> Numbers:
        return Numbers(
            self.used + other.used, self.free + other.free, self.most + other.most, self.reserved + other.reserved
        )


def numbers(host: Host, wanted: Wanted) -> Numbers:
    """Return the numbers of one host by the model of this collection."""
    found = total(_of_gpu(host, gpu, wanted) for gpu in host.gpus if wanted.is_of(gpu))
    return Numbers(found.used, 0, found.most) if host.out_of_use else found


def total(each: Iterable[Numbers]) -> Numbers:
    """Return the sum."""
    return sum(each, Numbers())


def _of_gpu(host: Host, gpu: Gpu, wanted: Wanted) -> Numbers:
    if not wanted.profile:
        direct = gpu.mode == DIRECT
        return Numbers(int(direct and bool(gpu.held_by)), int(direct and not gpu.held_by), int(direct))
    used = gpu.carries.count(wanted.profile)
    if wanted.profile not in host.offered:
        return Numbers(used)
    return Numbers(used, capacity.most(gpu, wanted.profile), capacity.most(emptied(gpu), wanted.profile))


def emptied(gpu: Gpu) -> Gpu:
    """Return the GPU without any VM."""
    return replace(gpu, carries=(), held_by="")
