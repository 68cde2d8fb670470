# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What keeps GPUs of a host from giving more devices: each cause with the devices that it costs. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Iterable, Iterator

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import parse
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.model import emptied, gives_whole, shared
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import capacity
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import (
    ANY,
    DIRECT,
    MIG,
    MIXED_SIZE,
    NONE,
    overhead_mb,
)

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.model import Wanted
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import Gpu, Host


# Causes in the order of the result, each with its fix.
FIXES = {
    "host_out_of_use": "Connect the host, or end its maintenance mode.",
    "driver_missing": "Install the host driver with nvaie_vib.",
    "graphics_type": "Set the graphics type to shared_direct with host_graphics.",
    "in_passthrough": "Disable passthrough of the GPU with pci_passthrough.",
    "not_in_passthrough": "Enable passthrough of the GPU with pci_passthrough.",
    "mig_off": "Enable MIG on the GPU with mig_partition.",
    "mig_on": "Disable MIG on the GPU with mig_partition.",
    "not_offered": "Check the driver, its branch and the BIOS of the host: it does not offer this profile.",
    "in_use": "Power off VMs that use the GPU.",
    "other_size": "Power off the VMs with the other profile, or set the mixed-size mode.",
    "mixed_memory": "Power off VMs that use the memory of the GPU.",
    "mig_slices": "Power off VMs that use MIG slices of the GPU.",
    "memory": "Free memory on the host, or request less memory per VM.",
}


@dataclass(frozen=True)
class Block:
    """A cause, the devices that it costs, and the GPUs or VMs that it is about."""

    cause: str
    lost: int
    gpus: tuple[str, ...]
    detail: str = ""

    @property
    def text(self) -> str:
        """The cause in a few words, for the table."""
        words = self.cause.replace("_", " ").replace("mig ", "MIG ")
        return f"{words} {self.lost}" + (f" ({self.detail})" if self.detail else "")


def blocks(host: Host, wanted: Wanted) -> list[Block]:
    """Return the causes for one device on one host, each once."""
    mine = [gpu for gpu in host.gpus if wanted.is_of(gpu)]
    if host.out_of_use:
        lost = sum(_whole(gpu, wanted) for gpu in mine)
        return [Block("host_out_of_use", lost, tuple(gpu.id for gpu in mine), host.out_of_use)] if mine else []
    each = [(gpu, found) for gpu in mine for found in _of_gpu(host, gpu, wanted)]
    return [
        Block(cause, sum(lost for dummy, lost, word in rows), tuple(gpu for gpu, dummy, word in rows), _joined(rows))
        for cause in FIXES
        for rows in [[(gpu.id, lost, word) for gpu, (name, lost, word) in each if name == cause]]
        if rows
    ]


def memory_block(host: Host, free: int, memory_mb: int) -> Block | None:
    """Return the cause memory, if the memory of the host is enough for fewer VMs with one device each."""
    if not memory_mb:
        return None
    vms = max(0, host.memory_free_mb) // (memory_mb + overhead_mb(memory_mb, 0))
    if vms >= free:
        return None
    return Block("memory", free - vms, (), f"{max(0, host.memory_free_mb) // 1024} GB free")


def _joined(rows: Iterable[tuple[str, int, str]]) -> str:
    return ", ".join(dict.fromkeys(word for dummy, lost, word in rows if word))


def _of_gpu(host: Host, gpu: Gpu, wanted: Wanted) -> Iterator[tuple[str, int, str]]:
    """Yield (cause, devices, detail) of one GPU."""
    cause = _mode_block(host, gpu, wanted)
    if cause:
        used = gpu.carries.count(wanted.profile) if wanted.profile else 0
        users = ", ".join(sorted(set(gpu.carries))) if cause == "not_in_passthrough" else ""
        yield cause, _whole(gpu, wanted) - used, users
        return
    if gpu.held_by:
        yield "in_use", 1 if not wanted.profile else _whole(gpu, wanted), gpu.held_by
        return
    if not wanted.profile:
        return
    used, free = gpu.carries.count(wanted.profile), capacity.most(shared(gpu), wanted.profile)
    if used:
        yield "in_use", used, ""
    lost = capacity.most(shared(emptied(gpu)), wanted.profile) - used - free
    others = ", ".join(sorted(set(gpu.carries) - {wanted.profile}))
    if lost > 0:
        yield {MIG: "mig_slices", MIXED_SIZE: "mixed_memory"}.get(gpu.mode, _by_profile(wanted)), lost, others


def _by_profile(wanted: Wanted) -> str:
    """Before 8.0 Update 3, vCenter does not report the mode: the profile shows it."""
    name = parse(wanted.profile)
    return "mig_slices" if name is not None and name.mig_backed else "other_size"


def _mode_block(host: Host, gpu: Gpu, wanted: Wanted) -> str:
    """Return the cause in the mode of the GPU or in the host; empty if both suit."""
    if not wanted.profile:
        return "" if gives_whole(gpu) else "not_in_passthrough"
    name, gpu = parse(wanted.profile), shared(gpu)
    if gpu.mode == DIRECT:
        return "in_passthrough"
    if gpu.mode == NONE:
        return "driver_missing" if gpu.graphics in ("", "basic") else "graphics_type"
    if gpu.mode != ANY and name is not None and name.mig_backed is not (gpu.mode == MIG):
        return "mig_off" if name.mig_backed else "mig_on"
    return "" if wanted.profile in host.offered else "not_offered"


def _whole(gpu: Gpu, wanted: Wanted) -> int:
    """Return how many devices one GPU of this board gives at most."""
    return dict(gpu.maxima).get(wanted.profile) or capacity.most_alike(wanted.profile) if wanted.profile else 1
