# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""NVIDIA boards and their vGPU types: a table, generated once and kept by hand from here on.

Sources: names and MIG profiles from the type tables of the open GPU kernel driver 595.45.04; numbers per GPU from the
vGPU pages of NVIDIA AI Enterprise; placements from a public catalogue of the vGPU 19 guide; MMIO from table 18 of the
vGPU page of NVIDIA AI Enterprise Infra 6.2; types of the RTX A5000 from a published list of the types that a Linux host
offers. What is marked unsure could not be confirmed on hardware.
"""

from __future__ import annotations

from typing import NamedTuple


class TimeSliced(NamedTuple):
    """A time-sliced type of the C series."""

    gb: int
    max_equal: int
    max_mixed: int | None
    placements: tuple[int, ...] | None


class MigBacked(NamedTuple):
    """A type that lives on a GPU instance of a GPU in MIG mode."""

    slices: int
    gb: int
    series: str
    media: bool
    mig_profile: str
    mig_profile_id: int
    max_per_gpu: int
    max_per_instance: int
    esxi_from: str | None


class Board(NamedTuple):
    """A GPU as vSphere names it in its profiles."""

    key: str
    title: str
    pci_device_id: str
    product: str | None
    nvidia_prefix: str
    vsphere_prefix: str
    # Key of the GPU in the tables of MIG profiles; None where the GPU has no MIG.
    mig_gpu: str | None
    memory_gb: int
    # MMIO space in GB that one GPU takes in a VM; 0 fits below 4 GB, None is not published.
    mmio_gb: int | None
    time_sliced: tuple[TimeSliced, ...]
    mig_backed: tuple[MigBacked, ...]
    other_series: tuple[str, ...]
    mark: str


# fmt: off
# Time-sliced types of the C series: GB, most per GPU of equal size, most per GPU in mixed-size mode, placements in that
# mode. None: not known, or the board has no such mode. Placements are published for one board of a memory size; the
# others of that size share them here [unsure].
_SLICED_A100_40 = (
    TimeSliced(40, 1, 1, (0,)),
    TimeSliced(20, 2, 2, (0, 20)),
    TimeSliced(10, 4, 4, (0, 10, 20, 30)),
    TimeSliced(8, 5, 4, (0, 12, 20, 32)),
    TimeSliced(5, 8, 8, (0, 5, 10, 15, 20, 25, 30, 35)),
    TimeSliced(4, 10, 8, (0, 6, 10, 16, 20, 26, 30, 36)),
)
_SLICED_A100_80 = (
    TimeSliced(80, 1, 1, (0,)),
    TimeSliced(40, 2, 2, (0, 40)),
    TimeSliced(20, 4, 4, (0, 20, 40, 60)),
    TimeSliced(16, 5, 4, (0, 24, 40, 64)),
    TimeSliced(10, 8, 8, (0, 10, 20, 30, 40, 50, 60, 70)),
    TimeSliced(8, 10, 8, (0, 12, 20, 32, 40, 52, 60, 72)),
    TimeSliced(4, 20, 16, (0, 6, 10, 16, 20, 26, 30, 36, 40, 46, 50, 56, 60, 66, 70, 76)),
)
_SLICED_24 = (
    TimeSliced(24, 1, 1, (0,)),
    TimeSliced(12, 2, 2, (0, 12)),
    TimeSliced(8, 3, 2, (0, 16)),
    TimeSliced(6, 4, 4, (0, 6, 12, 18)),
    TimeSliced(4, 6, 4, (0, 8, 12, 20)),
)
_SLICED_48 = (
    TimeSliced(48, 1, 1, (0,)),
    TimeSliced(24, 2, 2, (0, 24)),
    TimeSliced(16, 3, 2, (0, 32)),
    TimeSliced(12, 4, 4, (0, 12, 24, 36)),
    TimeSliced(8, 6, 4, (0, 16, 24, 40)),
    TimeSliced(6, 8, 8, (0, 6, 12, 18, 24, 30, 36, 42)),
    TimeSliced(4, 12, 8, (0, 8, 12, 20, 24, 32, 36, 44)),
)
_SLICED_16 = (
    TimeSliced(16, 1, None, None),
    TimeSliced(8, 2, None, None),
    TimeSliced(4, 4, None, None),
)
_SLICED_H100_80 = (
    TimeSliced(80, 1, 1, (0,)),
    TimeSliced(40, 2, 2, (0, 40)),
    TimeSliced(20, 4, 4, (0, 20, 40, 60)),
    TimeSliced(16, 5, 4, (0, 24, 40, 64)),
    TimeSliced(10, 8, 8, (0, 10, 20, 30, 40, 50, 60, 70)),
    TimeSliced(8, 10, 8, (0, 12, 20, 32, 40, 52, 60, 72)),
    TimeSliced(5, 16, 16, (0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75)),
    TimeSliced(4, 20, 16, (0, 6, 10, 16, 20, 26, 30, 36, 40, 46, 50, 56, 60, 66, 70, 76)),
)
_SLICED_H100_94 = (
    TimeSliced(94, 1, 1, (0,)),
    TimeSliced(47, 2, 2, (0, 47)),
    TimeSliced(23, 4, 4, (0, 24, 47, 71)),
    TimeSliced(15, 6, 4, (0, 32, 47, 79)),
    TimeSliced(11, 8, 8, (0, 12, 23, 36, 47, 59, 70, 83)),
    TimeSliced(6, 15, 8, (0, 17, 23, 41, 47, 64, 70, 88)),
    TimeSliced(4, 23, 16, (0, 7, 11, 19, 23, 31, 35, 43, 47, 54, 58, 66, 70, 78, 82, 90)),
)
_SLICED_H100_64 = (
    TimeSliced(64, 1, None, None),
    TimeSliced(32, 2, None, None),
    TimeSliced(16, 4, None, None),
    TimeSliced(8, 8, None, None),
    TimeSliced(4, 16, None, None),
)
_SLICED_141 = (
    TimeSliced(141, 1, 1, None),
    TimeSliced(70, 2, 2, None),
    TimeSliced(35, 4, 4, None),
    TimeSliced(28, 5, 5, None),
    TimeSliced(17, 8, 8, None),
    TimeSliced(14, 10, 10, None),
    TimeSliced(8, 16, 16, None),
    TimeSliced(7, 20, 20, None),
    TimeSliced(4, 32, 32, None),
)
_SLICED_H20_96 = (
    TimeSliced(96, 1, 1, None),
    TimeSliced(48, 2, 2, None),
    TimeSliced(32, 3, None, None),
    TimeSliced(24, 4, 2, None),
    TimeSliced(16, 6, 4, None),
    TimeSliced(12, 8, 4, None),
    TimeSliced(8, 12, None, None),
    TimeSliced(6, 16, 8, None),
    TimeSliced(4, 24, 8, None),
)
_SLICED_GH200_96 = (
    TimeSliced(96, 1, None, None),
)
_SLICED_GH200_144 = (
    TimeSliced(144, 1, None, None),
)
_SLICED_B200 = (
    TimeSliced(180, 1, None, None),
)
_SLICED_B300 = (
    TimeSliced(269, 1, None, None),
)
_SLICED_GB200 = (
    TimeSliced(189, 1, None, None),
)
_SLICED_V100_32 = (
    TimeSliced(32, 1, None, None),
    TimeSliced(16, 2, None, None),
    TimeSliced(8, 4, None, None),
    TimeSliced(4, 8, None, None),
)
_SLICED_RTX_PRO_96 = (
    TimeSliced(96, 1, 1, (0,)),
    TimeSliced(48, 2, 2, (0, 48)),
    TimeSliced(32, 3, 3, (0, 32, 64)),
    TimeSliced(24, 4, 4, (0, 24, 48, 72)),
    TimeSliced(16, 6, 6, (0, 16, 32, 48, 64, 80)),
    TimeSliced(12, 8, 8, (0, 12, 24, 36, 48, 60, 72, 84)),
    TimeSliced(8, 12, 12, (0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88)),
)

# MIG-backed types: compute slices, GB, series, media engines, MIG profile and its id, most per GPU, most per GPU
# instance, first ESXi release (None: any that knows the board).
_MIG_40 = (
    MigBacked(7, 40, "c", False, "7g.40gb", 0, 1, 1, None),
    MigBacked(4, 20, "c", False, "4g.20gb", 5, 1, 1, None),
    MigBacked(3, 20, "c", False, "3g.20gb", 9, 2, 1, None),
    MigBacked(2, 10, "c", False, "2g.10gb", 14, 3, 1, None),
    MigBacked(1, 10, "c", False, "1g.10gb", 15, 4, 1, "8.0.3"),
    MigBacked(1, 5, "c", False, "1g.5gb", 19, 7, 1, None),
    MigBacked(1, 5, "c", True, "1g.5gb+me", 20, 1, 1, "8.0.3"),
)
_MIG_80 = (
    MigBacked(7, 80, "c", False, "7g.80gb", 0, 1, 1, None),
    MigBacked(4, 40, "c", False, "4g.40gb", 5, 1, 1, None),
    MigBacked(3, 40, "c", False, "3g.40gb", 9, 2, 1, None),
    MigBacked(2, 20, "c", False, "2g.20gb", 14, 3, 1, None),
    MigBacked(1, 20, "c", False, "1g.20gb", 15, 4, 1, "8.0.3"),
    MigBacked(1, 10, "c", False, "1g.10gb", 19, 7, 1, None),
    MigBacked(1, 10, "c", True, "1g.10gb+me", 20, 1, 1, "8.0.3"),
)
_MIG_A30 = (
    MigBacked(4, 24, "c", False, "4g.24gb", 0, 1, 1, None),
    MigBacked(2, 12, "c", False, "2g.12gb", 5, 2, 1, None),
    MigBacked(2, 12, "c", True, "2g.12gb+me", 6, 1, 1, "8.0.3"),
    MigBacked(1, 6, "c", False, "1g.6gb", 14, 4, 1, None),
    MigBacked(1, 6, "c", True, "1g.6gb+me", 21, 1, 1, "8.0.3"),
)
_MIG_94 = (
    MigBacked(7, 94, "c", False, "7g.94gb", 0, 1, 1, None),
    MigBacked(4, 47, "c", False, "4g.47gb", 5, 1, 1, None),
    MigBacked(3, 47, "c", False, "3g.47gb", 9, 2, 1, None),
    MigBacked(2, 24, "c", False, "2g.24gb", 14, 3, 1, None),
    MigBacked(1, 24, "c", False, "1g.24gb", 15, 4, 1, "8.0.3"),
    MigBacked(1, 12, "c", False, "1g.12gb", 19, 7, 1, None),
    MigBacked(1, 12, "c", True, "1g.12gb+me", 20, 1, 1, "8.0.3"),
)
_MIG_64 = (
    MigBacked(7, 64, "c", False, "7g.64gb", 0, 1, 1, None),
    MigBacked(4, 32, "c", False, "4g.32gb", 5, 1, 1, None),
    MigBacked(3, 32, "c", False, "3g.32gb", 9, 2, 1, None),
    MigBacked(2, 16, "c", False, "2g.16gb", 14, 3, 1, None),
    MigBacked(1, 16, "c", False, "1g.16gb", 15, 4, 1, "8.0.3"),
    MigBacked(1, 8, "c", False, "1g.8gb", 19, 7, 1, None),
    MigBacked(1, 8, "c", True, "1g.8gb+me", 20, 1, 1, "8.0.3"),
)
_MIG_141 = (
    MigBacked(7, 141, "c", False, "7g.141gb", 0, 1, 1, None),
    MigBacked(4, 71, "c", False, "4g.71gb", 5, 1, 1, None),
    MigBacked(3, 71, "c", False, "3g.71gb", 9, 2, 1, None),
    MigBacked(2, 35, "c", False, "2g.35gb", 14, 3, 1, None),
    MigBacked(1, 35, "c", False, "1g.35gb", 15, 4, 1, "8.0.3"),
    MigBacked(1, 18, "c", False, "1g.18gb", 19, 7, 1, None),
    MigBacked(1, 18, "c", True, "1g.18gb+me", 20, 1, 1, "8.0.3"),
)
_MIG_H20_96 = (
    MigBacked(7, 96, "c", False, "7g.96gb", 0, 1, 1, None),
    MigBacked(4, 48, "c", False, "4g.48gb", 5, 1, 1, None),
    MigBacked(3, 48, "c", False, "3g.48gb", 9, 2, 1, None),
    MigBacked(2, 24, "c", False, "2g.24gb", 14, 3, 1, None),
    MigBacked(1, 24, "c", False, "1g.24gb", 15, 4, 1, "8.0.3"),
    MigBacked(1, 12, "c", False, "1g.12gb", 19, 7, 1, None),
    MigBacked(1, 12, "c", True, "1g.12gb+me", 20, 1, 1, "8.0.3"),
)
_MIG_GH200_96 = (
    MigBacked(7, 96, "c", False, "7g.96gb", 0, 1, 1, None),
    MigBacked(4, 48, "c", False, "4g.48gb", 5, 1, 1, None),
    MigBacked(3, 48, "c", False, "3g.48gb", 9, 2, 1, None),
    MigBacked(2, 24, "c", False, "2g.24gb", 14, 3, 1, None),
    MigBacked(1, 24, "c", False, "1g.24gb", 15, 4, 1, None),
    MigBacked(1, 12, "c", False, "1g.12gb", 19, 7, 1, None),
    MigBacked(1, 12, "c", True, "1g.12gb+me", 20, 1, 1, None),
)
_MIG_GH200_144 = (
    MigBacked(7, 144, "c", False, "7g.144gb", 0, 1, 1, None),
    MigBacked(4, 72, "c", False, "4g.72gb", 5, 1, 1, None),
    MigBacked(3, 72, "c", False, "3g.72gb", 9, 2, 1, None),
    MigBacked(2, 36, "c", False, "2g.36gb", 14, 3, 1, None),
    MigBacked(1, 36, "c", False, "1g.36gb", 15, 4, 1, None),
    MigBacked(1, 18, "c", False, "1g.18gb", 19, 7, 1, None),
    MigBacked(1, 18, "c", True, "1g.18gb+me", 20, 1, 1, None),
)
_MIG_B200 = (
    MigBacked(7, 180, "c", False, "7g.180gb", 0, 1, 1, None),
    MigBacked(4, 90, "c", False, "4g.90gb", 5, 1, 1, None),
    MigBacked(3, 90, "c", False, "3g.90gb", 9, 2, 1, None),
    MigBacked(2, 45, "c", False, "2g.45gb", 14, 3, 1, None),
    MigBacked(1, 45, "c", False, "1g.45gb", 15, 4, 1, "8.0.3"),
    MigBacked(1, 23, "c", False, "1g.23gb", 19, 7, 1, None),
    MigBacked(1, 23, "c", True, "1g.23gb+me", 20, 1, 1, "8.0.3"),
)
_MIG_B300 = (
    MigBacked(7, 269, "c", False, "7g.269gb", 0, 1, 1, None),
    MigBacked(4, 135, "c", False, "4g.135gb", 5, 1, 1, None),
    MigBacked(3, 135, "c", False, "3g.135gb", 9, 2, 1, None),
    MigBacked(2, 67, "c", False, "2g.67gb", 14, 3, 1, None),
    MigBacked(1, 67, "c", False, "1g.67gb", 15, 4, 1, "8.0.3"),
    MigBacked(1, 34, "c", False, "1g.34gb", 19, 7, 1, None),
    MigBacked(1, 34, "c", True, "1g.34gb+me", 20, 1, 1, "8.0.3"),
)
_MIG_GB200 = (
    MigBacked(7, 189, "c", False, "7g.186gb", 0, 1, 1, None),
    MigBacked(4, 95, "c", False, "4g.93gb", 5, 1, 1, None),
    MigBacked(3, 95, "c", False, "3g.93gb", 9, 2, 1, None),
    MigBacked(2, 47, "c", False, "2g.47gb", 14, 3, 1, None),
    MigBacked(1, 47, "c", False, "1g.47gb", 15, 4, 1, None),
    MigBacked(1, 24, "c", False, "1g.23gb", 19, 7, 1, None),
    MigBacked(1, 24, "c", True, "1g.23gb+me", 20, 1, 1, None),
)
_MIG_RTX_PRO_96 = (
    MigBacked(4, 96, "a", False, "4g.96gb+gfx", 32, 1, 1, None),
    MigBacked(4, 96, "c", False, "4g.96gb+gfx", 32, 1, 1, None),
    MigBacked(4, 96, "q", False, "4g.96gb+gfx", 32, 1, 1, None),
    MigBacked(4, 48, "a", False, "4g.96gb+gfx", 32, 2, 2, None),
    MigBacked(4, 48, "c", False, "4g.96gb+gfx", 32, 2, 2, None),
    MigBacked(4, 48, "q", False, "4g.96gb+gfx", 32, 2, 2, None),
    MigBacked(4, 32, "a", False, "4g.96gb+gfx", 32, 3, 3, None),
    MigBacked(4, 32, "c", False, "4g.96gb+gfx", 32, 3, 3, None),
    MigBacked(4, 32, "q", False, "4g.96gb+gfx", 32, 3, 3, None),
    MigBacked(4, 24, "a", False, "4g.96gb+gfx", 32, 4, 4, None),
    MigBacked(4, 24, "c", False, "4g.96gb+gfx", 32, 4, 4, None),
    MigBacked(4, 24, "q", False, "4g.96gb+gfx", 32, 4, 4, None),
    MigBacked(2, 48, "a", False, "2g.48gb+gfx", 35, 2, 1, None),
    MigBacked(2, 48, "c", False, "2g.48gb+gfx", 35, 2, 1, None),
    MigBacked(2, 48, "q", False, "2g.48gb+gfx", 35, 2, 1, None),
    MigBacked(2, 24, "a", False, "2g.48gb+gfx", 35, 4, 2, None),
    MigBacked(2, 24, "c", False, "2g.48gb+gfx", 35, 4, 2, None),
    MigBacked(2, 24, "q", False, "2g.48gb+gfx", 35, 4, 2, None),
    MigBacked(2, 16, "a", False, "2g.48gb+gfx", 35, 6, 3, None),
    MigBacked(2, 16, "c", False, "2g.48gb+gfx", 35, 6, 3, None),
    MigBacked(2, 16, "q", False, "2g.48gb+gfx", 35, 6, 3, None),
    MigBacked(2, 12, "a", False, "2g.48gb+gfx", 35, 8, 4, None),
    MigBacked(2, 12, "c", False, "2g.48gb+gfx", 35, 8, 4, None),
    MigBacked(2, 12, "q", False, "2g.48gb+gfx", 35, 8, 4, None),
    MigBacked(1, 24, "a", False, "1g.24gb+gfx", 47, 4, 1, None),
    MigBacked(1, 24, "c", False, "1g.24gb+gfx", 47, 4, 1, None),
    MigBacked(1, 24, "q", False, "1g.24gb+gfx", 47, 4, 1, None),
    MigBacked(1, 12, "a", False, "1g.24gb+gfx", 47, 8, 2, None),
    MigBacked(1, 12, "c", False, "1g.24gb+gfx", 47, 8, 2, None),
    MigBacked(1, 12, "q", False, "1g.24gb+gfx", 47, 8, 2, None),
    MigBacked(1, 8, "a", False, "1g.24gb+gfx", 47, 12, 3, None),
    MigBacked(1, 8, "c", False, "1g.24gb+gfx", 47, 12, 3, None),
    MigBacked(1, 8, "q", False, "1g.24gb+gfx", 47, 12, 3, None),
    MigBacked(1, 6, "a", False, "1g.24gb+gfx", 47, 16, 4, None),
    MigBacked(1, 6, "q", False, "1g.24gb+gfx", 47, 16, 4, None),
    MigBacked(1, 4, "a", False, "1g.24gb+gfx", 47, 24, 6, None),
    MigBacked(1, 4, "q", False, "1g.24gb+gfx", 47, 24, 6, None),
    MigBacked(1, 3, "a", False, "1g.24gb+gfx", 47, 32, 8, None),
    MigBacked(1, 3, "b", False, "1g.24gb+gfx", 47, 32, 8, None),
    MigBacked(1, 3, "q", False, "1g.24gb+gfx", 47, 32, 8, None),
    MigBacked(1, 2, "a", False, "1g.24gb+gfx", 47, 48, 12, None),
    MigBacked(1, 2, "b", False, "1g.24gb+gfx", 47, 48, 12, None),
    MigBacked(1, 2, "q", False, "1g.24gb+gfx", 47, 48, 12, None),
)

# Types of the other series (Q workstation, B PC, A applications); a digit after the letter is part of the name.
_OTHER_48 = (
    "1q", "2q", "3q", "4q", "6q", "8q", "12q", "16q", "24q", "48q", "1b", "2b", "3b", "1a", "2a", "3a", "4a", "6a",
    "8a", "12a", "16a", "24a", "48a",
)
_OTHER_24 = (
    "1q", "2q", "3q", "4q", "6q", "8q", "12q", "24q", "1b", "2b", "3b", "1a", "2a", "3a", "4a", "6a", "8a", "12a",
    "24a",
)
_OTHER_16 = (
    "1q", "2q", "4q", "8q", "16q", "1b", "2b", "3b", "1a", "2a", "4a", "8a", "16a",
)
_OTHER_T4 = (
    "1q", "2q", "4q", "8q", "16q", "1b", "1b4", "2b", "2b4", "1a", "2a", "4a", "8a", "16a",
)
_OTHER_RTX_PRO_96 = (
    "3q", "4q", "6q", "8q", "12q", "16q", "24q", "32q", "48q", "96q", "2b", "3b", "3a", "4a", "6a", "8a", "12a",
    "16a", "24a", "32a", "48a", "96a",
)

BOARDS = (
    Board(
        "a100_pcie_40gb", "A100 PCIe 40GB", "0x20f1", "NVIDIA A100-PCIE-40GB",
        "GRID A100", "grid_a100", "a100_40gb", 40, 128,
        _SLICED_A100_40, _MIG_40, (), "",
    ),
    Board(
        "a100_hgx_40gb", "A100 HGX/SXM4 40GB", "0x20b0", "NVIDIA A100-SXM4-40GB",
        "GRID A100X", "grid_a100x", "a100_40gb", 40, 128,
        _SLICED_A100_40, _MIG_40, (), "",
    ),
    Board(
        "a100_pcie_80gb", "A100 PCIe 80GB and A100X card", "0x20b5", "NVIDIA A100 80GB PCIe",
        "GRID A100D", "grid_a100d", "a100_80gb", 80, 256,
        _SLICED_A100_80, _MIG_80, (), "",
    ),
    Board(
        "a100_hgx_80gb", "A100 HGX/SXM4 80GB", "0x20b2", "NVIDIA A100-SXM4-80GB",
        "GRID A100DX", "grid_a100dx", "a100_80gb", 80, 256,
        _SLICED_A100_80, _MIG_80, (), "",
    ),
    Board(
        "a800_pcie_40gb", "A800 PCIe 40GB", "0x20f6", "NVIDIA A800 40GB Active",
        "GRID A800", "grid_a800", "a800_40gb", 40, 128,
        _SLICED_A100_40, _MIG_40, (), "unsure: MMIO taken from the A100 of the same memory size",
    ),
    Board(
        "a800_pcie_80gb", "A800 PCIe 80GB", "0x20f5", "NVIDIA A800 80GB PCIe",
        "GRID A800D", "grid_a800d", "a800_80gb", 80, 256,
        _SLICED_A100_80, _MIG_80, (), "unsure: MMIO taken from the A100 of the same memory size",
    ),
    Board(
        "a800_hgx_80gb", "A800 HGX/SXM4 80GB", "0x20f3", "NVIDIA A800-SXM4-80GB",
        "GRID A800DX", "grid_a800dx", "a800_80gb", 80, 256,
        _SLICED_A100_80, _MIG_80, (), "unsure: MMIO taken from the A100 of the same memory size",
    ),
    Board(
        "a30", "A30", "0x20b7", "NVIDIA A30",
        "NVIDIA A30", "nvidia_a30", "a30", 24, 64,
        _SLICED_24, _MIG_A30, (), "",
    ),
    Board(
        "a40", "A40", "0x2235", "NVIDIA A40",
        "NVIDIA A40", "nvidia_a40", None, 48, 128,
        _SLICED_48, (), _OTHER_48, "",
    ),
    Board(
        "a10", "A10", "0x2236", "NVIDIA A10",
        "NVIDIA A10", "nvidia_a10", None, 24, 64,
        _SLICED_24, (), _OTHER_24, "",
    ),
    Board(
        "a16", "A16 (four GPUs per board; maxima are per GPU)", "0x25b6", "NVIDIA A16",
        "NVIDIA A16", "nvidia_a16", None, 16, None,
        _SLICED_16, (), _OTHER_16, "sure for equal-size; mixed-size maxima not found",
    ),
    Board(
        "a2", "A2", "0x25b6", "NVIDIA A2",
        "NVIDIA A2", "nvidia_a2", None, 16, None,
        _SLICED_16, (), _OTHER_16, "sure for names; maxima by division",
    ),
    Board(
        "t4", "T4", "0x1eb8", "Tesla T4",
        "GRID T4", "grid_t4", None, 16, 0,
        _SLICED_16, (), _OTHER_T4, "Turing has no mixed-size mode",
    ),
    Board(
        "rtx_a6000", "RTX A6000", "0x2230", "NVIDIA RTX A6000",
        "NVIDIA RTXA6000", "nvidia_rtxa6000", None, 48, 128,
        _SLICED_48, (), _OTHER_48, "",
    ),
    Board(
        "rtx_a5000", "RTX A5000", "0x2231", "NVIDIA RTX A5000",
        "NVIDIA RTXA5000", "nvidia_rtxa5000", None, 24, 64,
        _SLICED_24, (), _OTHER_24,
        "unsure: 3b, maxima and placements taken from the A10, which has the same chip and memory size",
    ),
    Board(
        "l4", "L4", "0x27b8", "NVIDIA L4",
        "NVIDIA L4", "nvidia_l4", None, 24, 64,
        _SLICED_24, (), _OTHER_24, "",
    ),
    Board(
        "l2", "L2", "0x27b6", "NVIDIA L2",
        "NVIDIA L2", "nvidia_l2", None, 24, 64,
        _SLICED_24, (), _OTHER_24, "",
    ),
    Board(
        "l40", "L40", "0x26b5", "NVIDIA L40",
        "NVIDIA L40", "nvidia_l40", None, 48, 128,
        _SLICED_48, (), _OTHER_48, "",
    ),
    Board(
        "l40s", "L40S", "0x26b9", "NVIDIA L40S",
        "NVIDIA L40S", "nvidia_l40s", None, 48, 128,
        _SLICED_48, (), _OTHER_48, "unsure: MMIO taken from the L40",
    ),
    Board(
        "l20", "L20", "0x26ba", "NVIDIA L20",
        "NVIDIA L20", "nvidia_l20", None, 48, 128,
        _SLICED_48, (), _OTHER_48, "",
    ),
    Board(
        "rtx_6000_ada", "RTX 6000 Ada", "0x26b1", "NVIDIA RTX 6000 Ada Generation",
        "NVIDIA RTX6000-Ada", "nvidia_rtx6000-ada", None, 48, 128,
        _SLICED_48, (), _OTHER_48, "",
    ),
    Board(
        "h100_pcie_80gb", "H100 PCIe 80GB", "0x2331", "NVIDIA H100 PCIe",
        "NVIDIA H100", "nvidia_h100", "h100_80gb_pcie", 80, 256,
        _SLICED_H100_80, _MIG_80, (), "NVIDIA page prints 6 for the 16C type, 80/16 and the H800 page say 5",
    ),
    Board(
        "h100_sxm_80gb", "H100 SXM5 80GB (also 0x2336)", "0x2330", "NVIDIA H100 80GB HBM3",
        "NVIDIA H100XM", "nvidia_h100xm", "h100_80gb_sxm", 80, 256,
        _SLICED_H100_80, _MIG_80, (), "NVIDIA page prints 6 for the 16C type, 80/16 and the H800 page say 5",
    ),
    Board(
        "h100_nvl_94gb", "H100 NVL 94GB", "0x2321", "NVIDIA H100 NVL",
        "NVIDIA H100L", "nvidia_h100l", "h100_94gb", 94, 256,
        _SLICED_H100_94, _MIG_94, (), "",
    ),
    Board(
        "h100_sxm_94gb", "H100 SXM5 94GB", "0x2339", "NVIDIA H100",
        "NVIDIA H100XL", "nvidia_h100xl", "h100_94gb", 94, 256,
        _SLICED_H100_94, _MIG_94, (), "",
    ),
    Board(
        "h100_sxm_64gb", "H100 SXM5 64GB", "0x2337", None,
        "NVIDIA H100XS", "nvidia_h100xs", "h100_64gb", 64, 256,
        _SLICED_H100_64, _MIG_64, (), "sure for equal-size",
    ),
    Board(
        "h800_pcie_80gb", "H800 PCIe 80GB", "0x2322", "NVIDIA H800 PCIe",
        "NVIDIA H800", "nvidia_h800", "h800_80gb", 80, 256,
        _SLICED_H100_80, _MIG_80, (), "",
    ),
    Board(
        "h800_sxm_80gb", "H800 SXM5 80GB", "0x2324", "NVIDIA H800",
        "NVIDIA H800XM", "nvidia_h800xm", "h800_80gb", 80, 256,
        _SLICED_H100_80, _MIG_80, (), "",
    ),
    Board(
        "h800_nvl_94gb", "H800 NVL 94GB", "0x233a", "NVIDIA H800 NVL",
        "NVIDIA H800L", "nvidia_h800l", "h800_94gb", 94, 256,
        _SLICED_H100_94, _MIG_94, (), "unsure: numbers taken from the H100 NVL",
    ),
    Board(
        "h200_sxm", "H200 SXM5 141GB", "0x2335", "NVIDIA H200",
        "NVIDIA H200X", "nvidia_h200x", "h200_141gb", 141, 512,
        _SLICED_141, _MIG_141, (), "",
    ),
    Board(
        "h200_nvl", "H200 NVL 141GB", "0x233b", "NVIDIA H200 NVL",
        "NVIDIA H200", "nvidia_h200", "h200_141gb", 141, 512,
        _SLICED_141, _MIG_141, (), "",
    ),
    Board(
        "h20_96gb", "H20 96GB", "0x2329", "NVIDIA H20",
        "NVIDIA H20", "nvidia_h20", "h20_96gb", 96, 256,
        _SLICED_H20_96, _MIG_H20_96, (), "32C and 8C rows by division only",
    ),
    Board(
        "h20_141gb", "H20 141GB (HBM3e)", "0x232c", "NVIDIA H20-3e",
        "NVIDIA H20X", "nvidia_h20x", "h20_141gb", 141, 512,
        _SLICED_141, _MIG_141, (), "",
    ),
    Board(
        "gh200_96gb", "GH200 96GB", "0x2342", "NVIDIA GH200 480GB",
        "NVIDIA GH200", "nvidia_gh200", "gh200_96gb", 96, None,
        _SLICED_GH200_96, _MIG_GH200_96, (), "sure for names; not a vSphere platform",
    ),
    Board(
        "gh200_144gb", "GH200 144GB", "0x2348", "NVIDIA GH200 144G HBM3e",
        "NVIDIA GH200L", "nvidia_gh200l", "gh200_144gb", 144, None,
        _SLICED_GH200_144, _MIG_GH200_144, (), "sure for names; not a vSphere platform",
    ),
    Board(
        "b200", "B200 (HGX)", "0x2901", "NVIDIA B200",
        "NVIDIA B200X", "nvidia_b200x", "b200", 180, None,
        _SLICED_B200, _MIG_B200, (), "sure for names",
    ),
    Board(
        "b300", "B300 (HGX)", "0x3182", "NVIDIA B300 SXM6 AC",
        "NVIDIA B300X", "nvidia_b300x", "b300", 269, None,
        _SLICED_B300, _MIG_B300, (), "sure for names",
    ),
    Board(
        "gb200", "GB200", "0x2941", "NVIDIA GB200",
        "NVIDIA GB200", "nvidia_gb200", "gb200", 189, None,
        _SLICED_GB200, _MIG_GB200, (), "sure for names; not a vSphere platform; sizes as in 1g.24gb..7g.189gb",
    ),
    Board(
        "v100_sxm2_16gb", "V100 SXM2 16GB", "0x1db1", None,
        "GRID V100X", "grid_v100x", None, 16, 64,
        _SLICED_16, (), (), "sure for prefix and counts; Volta has no mixed-size mode; not in the driver sources",
    ),
    Board(
        "v100_sxm2_32gb", "V100 SXM2 32GB", "0x1db5", None,
        "GRID V100DX", "grid_v100dx", None, 32, 64,
        _SLICED_V100_32, (), (), "sure for prefix and counts; Volta has no mixed-size mode; not in the driver sources",
    ),
    Board(
        "v100_pcie_16gb", "V100 PCIe 16GB", "0x1db4", None,
        "GRID V100", "grid_v100", None, 16, 64,
        _SLICED_16, (), (), "sure for prefix and counts; Volta has no mixed-size mode; not in the driver sources",
    ),
    Board(
        "v100_pcie_32gb", "V100 PCIe 32GB", "0x1db6", None,
        "GRID V100D", "grid_v100d", None, 32, 64,
        _SLICED_V100_32, (), (), "sure for prefix and counts; Volta has no mixed-size mode; not in the driver sources",
    ),
    Board(
        "v100s_pcie_32gb", "V100S PCIe 32GB", "0x1df6", None,
        "GRID V100S", "grid_v100s", None, 32, 64,
        _SLICED_V100_32, (), (), "sure for prefix and counts; Volta has no mixed-size mode; not in the driver sources",
    ),
    Board(
        "v100_fhhl_16gb", "V100 FHHL 16GB", "0x1db3", None,
        "GRID V100L", "grid_v100l", None, 16, 64,
        _SLICED_16, (), (), "sure for prefix and counts; Volta has no mixed-size mode; not in the driver sources",
    ),
    Board(
        "rtx_pro_6000_server", "RTX PRO 6000 Blackwell Server Edition", "0x2bb5",
        "NVIDIA RTX PRO 6000 Blackwell Server Edition",
        "NVIDIA RTX Pro 6000 Blackwell DC", "nvidia_rtx_pro_6000_blackwell_dc", "rtx_pro_6000_blackwell", 96, None,
        _SLICED_RTX_PRO_96, _MIG_RTX_PRO_96, _OTHER_RTX_PRO_96,
        "names sure (driver tables); MIG-backed on vSphere 9 only, several per instance from 9.0.1 [unsure]",
    ),
)
# fmt: on
