# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""How many GPU devices of one kind hosts have, use and could give: the request for a device, and the numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import capacity
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import DIRECT, NONE, SAME_SIZE

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


# Origin of the maximum that the model used: a vendor's document, a default without one, or the option of the task.
PUBLISHED, UNSURE, GIVEN = "published", "unsure", "most_per_gpu"


def basis(hosts: Iterable[Host], wanted: Wanted) -> str:
    """Return the origin of the model's maximum for one device; the least certain one of the GPUs."""
    gpus = [gpu for host in hosts for gpu in host.gpus if wanted.is_of(gpu)]
    if wanted.profile and any(wanted.profile in dict(gpu.maxima) for gpu in gpus):
        return GIVEN
    if wanted.profile and not all(capacity.published(shared(gpu), wanted.profile) for gpu in gpus):
        return UNSURE
    return PUBLISHED


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
        there = gives_whole(emptied(gpu))
        held = gpu.mode == DIRECT and bool(gpu.held_by)
        return Numbers(int(held), int(gives_whole(gpu) and not held), int(there))
    used = gpu.carries.count(wanted.profile)
    if wanted.profile not in host.offered:
        return Numbers(used)
    most = capacity.most(shared(emptied(gpu)), wanted.profile)
    return Numbers(used, capacity.most(shared(gpu), wanted.profile), most)


def emptied(gpu: Gpu) -> Gpu:
    """Return the GPU without any VM."""
    return replace(gpu, carries=(), held_by="")


def gives_whole(gpu: Gpu) -> bool:
    """Return whether the GPU is in passthrough mode, or the host puts it there at the power-on of a VM."""
    return gpu.mode == DIRECT or _picks(gpu)


def shared(gpu: Gpu) -> Gpu:
    """Return the GPU as the power-on of a VM with vGPUs binds it: out of passthrough, if the host picks the mode."""
    return replace(gpu, mode=SAME_SIZE) if gpu.mode in (DIRECT, NONE) and _picks(gpu) else gpu


def _picks(gpu: Gpu) -> bool:
    """The host picks the mode of a GPU without VMs, if it has the driver."""
    return gpu.selects and not gpu.carries and not gpu.held_by and gpu.graphics != "basic"
