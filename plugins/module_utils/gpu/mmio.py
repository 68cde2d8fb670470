# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""How much 64-bit MMIO space a VM needs for its GPUs. The size is set per VM, not per GPU."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue


def gpu_mmio_gb(profile, offered=()):
    """MMIO space of one GPU: as published, else twice its memory rounded up to a power of two."""
    owner = catalogue.board_of(profile)
    if owner is not None and owner.mmio_gb is not None:
        return owner.mmio_gb
    memory_gb = catalogue.board_memory_gb(profile, offered)
    return 2 * power_of_two(memory_gb) if memory_gb else 0


def vm_mmio_gb(profiles, offered=()):
    """MMIO space for a whole VM: the sum over its vGPUs, rounded up to a power of two; 0 when none is needed."""
    total = sum(gpu_mmio_gb(profile, offered) for profile in profiles)
    return power_of_two(total) if total else 0


def power_of_two(number):
    """The smallest power of two that is not below the number."""
    return 1 << max(0, number - 1).bit_length()
