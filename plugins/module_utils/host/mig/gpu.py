# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A kind of GPU as MIG sees it: its profiles, and where their instances may lie."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MigProfile:
    """A profile of GPU instances. Unknown values are None."""

    name: str
    # Short and the same on every GPU: 1g, 1g+me, 1g_double, 2g, ...
    key: str
    # Profile ID for nvidia-smi. It means different profiles on different GPUs.
    id: int
    compute_slices: int
    # Memory slots that an instance covers, and the slots at which it may begin.
    size: int
    starts: tuple[int, ...]
    max_instances: int
    # me, gfx, me.all or -me: the suffix of the name describes the media engines.
    attributes: tuple[str, ...] = ()
    memory_gib: float | None = None
    sm: int | None = None
    ce: int | None = None
    dec: int | None = None
    jpeg: int | None = None
    ofa: int | None = None
    enc: int | None = None
    first_driver_branch: int | None = None
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class MigGpu:
    """A GPU that can be partitioned. Slots, slices and profiles are empty if only the device itself reports them."""

    key: str
    architecture: str
    # Ampere keeps the mode in its InfoROM; Hopper and later forget it when the driver is unloaded.
    mode_survives_reboot: bool
    enable_needs_gpu_reset: bool
    esxi_enable_needs_host_reboot: bool
    memory_gb: int
    memory_slots: int | None
    compute_slices: int | None
    min_driver: str | None
    # (device id, subsystem id or None, product name or None)
    pci: tuple[tuple[int | None, int | None, str | None], ...]
    profiles: tuple[MigProfile, ...]
    # False where the table is derived from a sibling or incomplete.
    sure: bool = True
    note: str = ""

    def profile(self, profile_id: int) -> MigProfile | None:
        """The profile with this id, or None."""
        return next((entry for entry in self.profiles if entry.id == profile_id), None)
