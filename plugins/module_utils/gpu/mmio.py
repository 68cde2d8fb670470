# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""How much 64-bit MMIO space a VM needs for its GPUs. The size is set per VM, not per GPU."""

from __future__ import annotations

from typing import Iterable

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue

# Room for the windows of one passed-through network port or virtual function. Those of a ConnectX take some MB; that
# the firmware needs no more than this around them is [unsure], which is why mmio_size_gb overrides the sum.
DIRECT_PORT_GB = 1


def gpu_mmio_gb(profile: str, offered: Iterable[str] = ()) -> int:
    """MMIO space of one GPU: as published, else twice its memory rounded up to a power of two."""
    owner = catalogue.board_of(profile)
    if owner is not None and owner.mmio_gb is not None:
        return owner.mmio_gb
    memory_gb = catalogue.board_memory_gb(profile, offered)
    return 2 * power_of_two(memory_gb) if memory_gb else 0


def power_of_two(number: int) -> int:
    """The smallest power of two that is not below the number."""
    return 1 << max(0, number - 1).bit_length()


def passthrough_mmio_gb(vendor_id: int, device_id: int) -> int | None:
    """MMIO space of a GPU that is passed through whole; None for a PCI device that is no known GPU."""
    owner = catalogue.board_of_pci(vendor_id, device_id)
    if owner is None:
        return None
    return owner.mmio_gb if owner.mmio_gb is not None else 2 * power_of_two(owner.memory_gb)


def window_gb(gpu_sizes: Iterable[int], direct_ports: int) -> int:
    """MMIO space for GPUs of these sizes together with passed-through network ports; 0 when no GPU needs any."""
    total = sum(gpu_sizes)
    return power_of_two(total + direct_ports * DIRECT_PORT_GB) if total else 0
