# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Memory window that the devices of a VM require. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Collection, Iterable

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import mmio

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.state import Direct


def demand(devices: Iterable[Direct], offered: Collection[str]) -> tuple[list[int], int]:
    """(sizes in GB of the GPUs, number of network ports) among the direct devices of a VM."""
    sizes, ports = [], 0
    for one in devices:
        size = _gpu_gb(one, offered)
        if size is not None:
            sizes.append(size)
        elif one.kind in ("pci", "sriov"):
            ports += 1
    return sizes, ports


def _gpu_gb(one: Direct, offered: Collection[str]) -> int | None:
    """Return the MMIO space of a GPU; for several possible boards, that of the largest; None for other devices."""
    if one.kind == "vgpu":
        return mmio.gpu_mmio_gb(one.name, offered)
    sizes = [mmio.passthrough_mmio_gb(vendor, device) for vendor, device in one.ids]
    return max((size for size in sizes if size is not None), default=None)
