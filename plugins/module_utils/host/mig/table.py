# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""MIG profiles by GPU: a table for planning without a device, and to check a device's own tables against.

At run time the device reports its tables (nvidia-smi mig -lgip and -lgipp), since names and memory figures drift with
the driver.

Sources: NVIDIA MIG user guide (profiles, placements, first drivers), captured outputs of A100, A30, H100, H200, GH200
and RTX PRO 6000 (ids, engines), the default configurations of NVIDIA mig-parted 0.15 (names per PCI id), NVIDIA
open-gpu-kernel-modules 595.45 (PCI ids, board names, vGPU types per profile). sure=False marks an entry that is derived
from a sibling; its note names the sibling.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.gpu import MigGpu, MigProfile

# Ids of compute instance profiles, the same on every GPU (NVML API reference); 1c_rev1 is the default of 1g_double.
COMPUTE_INSTANCE_PROFILES = {"1c": 0, "2c": 1, "3c": 2, "4c": 3, "7c": 4, "8c": 5, "6c": 6, "1c_rev1": 7}


# key, id, compute slices, size, starts, most instances, attributes, first driver branch: one set for all of these GPUs.
_SEVEN_SLICES: tuple[tuple[str, int, int, int, tuple[int, ...], int, tuple[str, ...], int], ...] = (
    ("1g", 19, 1, 1, (0, 1, 2, 3, 4, 5, 6), 7, (), 450),
    ("1g+me", 20, 1, 1, (0, 1, 2, 3, 4, 5, 6), 1, ("me",), 470),
    ("1g_double", 15, 1, 2, (0, 2, 4, 6), 4, (), 525),
    ("2g", 14, 2, 2, (0, 2, 4), 3, (), 450),
    ("3g", 9, 3, 4, (0, 4), 2, (), 450),
    ("4g", 5, 4, 4, (0,), 1, (), 450),
    ("7g", 0, 7, 8, (0,), 1, (), 450),
)

# SM and engines of the seven profiles, in their order, as the full chips of data centre cards have them.
_GA100: dict[str, Any] = {
    "sm": (14, 14, 14, 28, 42, 56, 98),
    "ce": (1, 1, 1, 2, 3, 4, 7),
    "dec": (0, 1, 1, 1, 2, 2, 5),
    "jpeg": (0, 1, 0, 0, 0, 0, 1),
    "ofa": (0, 1, 0, 0, 0, 0, 1),
}
_GH100: dict[str, Any] = {
    "sm": (16, 16, 26, 32, 60, 64, 132),
    "ce": (1, 1, 1, 2, 3, 4, 8),
    "dec": (1, 1, 1, 2, 3, 4, 7),
    "jpeg": (1, 1, 1, 2, 3, 4, 7),
    "ofa": (0, 1, 0, 0, 0, 0, 1),
}
# Names that some drivers print on cards with 80 GB.
_OF_80GB = {"3g": ("3g.39gb",), "4g": ("4g.39gb",), "7g": ("7g.79gb",)}


def _seven_slices(
    one: int,
    two: int,
    half: int,
    whole: int,
    aliases: Mapping[str, tuple[str, ...]] | None = None,
    **figures: Sequence[Any],
) -> tuple[MigProfile, ...]:
    """The common set with the GB figures of one GPU in its names; figures are tuples in the order of the set."""
    gigabytes = {"1g": one, "1g+me": one, "1g_double": two, "2g": two, "3g": half, "4g": half, "7g": whole}
    profiles = []
    for at, (key, profile_id, slices, size, starts, most, attributes, branch) in enumerate(_SEVEN_SLICES):
        profiles.append(
            MigProfile(
                f"{slices}g.{gigabytes[key]}gb" + "".join(f"+{entry}" for entry in attributes),
                *(key, profile_id, slices, size, starts, most, attributes),
                enc=0,
                first_driver_branch=branch,
                aliases=(aliases or {}).get(key, ()),
                **{name: values[at] for name, values in figures.items()},
            )
        )
    return tuple(profiles)


def _profile(
    name: str,
    key: str,
    profile_id: int,
    slices: int,
    size: int,
    starts: tuple[int, ...],
    most: int,
    figures: tuple[float, int, int, int, int, int, int],
    branch: int,
    attributes: tuple[str, ...] = (),
) -> MigProfile:
    return MigProfile(name, key, profile_id, slices, size, starts, most, attributes, *figures, branch)


def _ampere(key: str, slots: int | None, slices: int | None, **rest: Any) -> MigGpu:
    return MigGpu(key, "ampere", True, True, True, memory_slots=slots, compute_slices=slices, **rest)


def _hopper(key: str, slots: int | None, slices: int | None, **rest: Any) -> MigGpu:
    return MigGpu(key, "hopper", False, False, False, memory_slots=slots, compute_slices=slices, **rest)


def _blackwell(key: str, slots: int | None, slices: int | None, **rest: Any) -> MigGpu:
    return MigGpu(key, "blackwell", False, False, False, memory_slots=slots, compute_slices=slices, **rest)


# Figures: memory GiB, SM, CE, DEC, JPEG, OFA (and ENC for the GPUs whose profiles are listed one by one).
_ENTRIES = (
    _ampere(
        "a100_40gb",
        memory_gb=40,
        min_driver="450.80.02",
        pci=(
            (0x20B0, None, "NVIDIA A100-SXM4-40GB"),
            (0x20B0, 0x1450, "NVIDIA A100-PG509-200"),
            (0x20B1, None, None),
            (0x20F1, None, "NVIDIA A100-PCIE-40GB"),
        ),
        slots=8,
        slices=7,
        profiles=_seven_slices(
            5,
            10,
            20,
            40,
            memory_gib=(4.75, 4.75, 9.62, 9.62, 19.5, 19.5, 39.25),
            **_GA100,
        ),
    ),
    _ampere(
        "a800_40gb",
        memory_gb=40,
        min_driver=None,
        pci=(
            (0x20F6, None, "NVIDIA A800 40GB Active"),
            (0x20BD, None, "NVIDIA A800-SXM4-40GB"),
        ),
        slots=8,
        slices=7,
        profiles=_seven_slices(
            5,
            10,
            20,
            40,
            **_GA100,
        ),
        sure=False,
        note="derived from A100 40GB",
    ),
    _ampere(
        "a100_80gb",
        memory_gb=80,
        min_driver="450.80.02",
        pci=(
            (0x20B2, None, "NVIDIA A100-SXM4-80GB"),
            (0x20B2, 0x1625, "NVIDIA PG509-210"),
            (0x20B5, None, "NVIDIA A100 80GB PCIe"),
            (0x20B8, None, None),
        ),
        slots=8,
        slices=7,
        profiles=_seven_slices(
            10,
            20,
            40,
            80,
            memory_gib=(9.5, 9.5, 19.5, 19.5, 39.25, 39.25, 78.5),
            **_GA100,
            aliases=_OF_80GB,
        ),
        note="DEC of 1g is 0 in one capture and 1 in a mock",
    ),
    _ampere(
        "a800_80gb",
        memory_gb=80,
        min_driver=None,
        pci=(
            (0x20F3, None, "NVIDIA A800-SXM4-80GB"),
            (0x20F5, None, "NVIDIA A800 80GB PCIe"),
            (0x20F5, 0x179A, "NVIDIA A800 80GB PCIe LC"),
            (0x20FD, None, "NVIDIA AX800"),
        ),
        slots=8,
        slices=7,
        profiles=_seven_slices(
            10,
            20,
            40,
            80,
            **_GA100,
            aliases=_OF_80GB,
        ),
        sure=False,
        note="derived from A100 80GB",
    ),
    _ampere(
        "pg506_96gb",
        memory_gb=96,
        min_driver=None,
        pci=((0x20B6, None, "NVIDIA PG506-232"),),
        slots=8,
        slices=7,
        profiles=_seven_slices(12, 24, 48, 96),
        sure=False,
        note="names and sizes inferred from sibling parts",
    ),
    _ampere(
        "a100_64gb",
        memory_gb=64,
        min_driver=None,
        pci=((0x20B3, None, "NVIDIA A100-SXM-64GB"),),
        slots=8,
        slices=7,
        profiles=_seven_slices(8, 16, 32, 64),
        sure=False,
        note="names and sizes inferred from sibling parts",
    ),
    _ampere(
        "a30",
        memory_gb=24,
        min_driver="460.73.01",
        pci=(
            (0x20B7, None, "NVIDIA A30"),
            (0x20B9, None, None),
        ),
        slots=4,
        slices=4,
        profiles=(
            _profile("1g.6gb", "1g", 14, 1, 1, (0, 1, 2, 3), 4, (5.81, 14, 1, 1, 0, 0, 0), 460),
            _profile("1g.6gb+me", "1g+me", 21, 1, 1, (0, 1, 2, 3), 1, (5.81, 14, 1, 1, 1, 1, 0), 470, ("me",)),
            _profile("2g.12gb", "2g", 5, 2, 2, (0, 2), 2, (11.69, 28, 2, 2, 0, 0, 0), 460),
            _profile("2g.12gb+me", "2g+me", 6, 2, 2, (0, 2), 1, (11.69, 28, 2, 2, 1, 1, 0), 525, ("me",)),
            _profile("4g.24gb", "4g", 0, 4, 4, (0,), 1, (23.44, 56, 4, 4, 1, 1, 0), 460),
        ),
    ),
    _hopper(
        "h100_80gb_sxm",
        memory_gb=80,
        min_driver="525.85.12",
        pci=(
            (0x2330, None, "NVIDIA H100 80GB HBM3"),
            (0x2336, None, None),
        ),
        slots=8,
        slices=7,
        profiles=_seven_slices(
            10,
            20,
            40,
            80,
            memory_gib=(9.75, 9.75, 19.62, 19.62, 39.5, 39.5, 79.25),
            **_GH100,
            aliases=_OF_80GB,
        ),
    ),
    _hopper(
        "h100_80gb_pcie",
        memory_gb=80,
        min_driver="525.85.12",
        pci=((0x2331, None, "NVIDIA H100 PCIe"),),
        slots=8,
        slices=7,
        profiles=_seven_slices(
            10,
            20,
            40,
            80,
            ofa=(0, 1, 0, 0, 0, 0, 1),
            aliases=_OF_80GB,
        ),
        note="SM and engine counts are not known",
    ),
    _hopper(
        "h800_80gb",
        memory_gb=80,
        min_driver=None,
        pci=(
            (0x2322, None, "NVIDIA H800 PCIe"),
            (0x2324, None, "NVIDIA H800"),
        ),
        slots=8,
        slices=7,
        profiles=_seven_slices(10, 20, 40, 80),
        sure=False,
        note="derived from its H100 sibling",
    ),
    _hopper(
        "h100_64gb",
        memory_gb=64,
        min_driver="525.85.12",
        pci=((0x2337, None, None),),
        slots=8,
        slices=7,
        profiles=_seven_slices(8, 16, 32, 64, sm=(16, 16, 26, 32, 60, 64, 132)),
        sure=False,
        note="names and sizes inferred from sibling parts",
    ),
    _hopper(
        "h100_94gb",
        memory_gb=94,
        min_driver="525.85.12",
        pci=(
            (0x2321, None, "NVIDIA H100 NVL"),
            (0x2339, None, "NVIDIA H100"),
        ),
        slots=8,
        slices=7,
        profiles=_seven_slices(
            12,
            24,
            47,
            94,
            memory_gib=(10.75, 10.75, 21.62, 21.62, 46.38, 46.38, 93.12),
            **_GH100,
        ),
    ),
    _hopper(
        "h800_94gb",
        memory_gb=94,
        min_driver=None,
        pci=((0x233A, None, "NVIDIA H800 NVL"),),
        slots=8,
        slices=7,
        profiles=_seven_slices(12, 24, 47, 94),
        sure=False,
        note="derived from its H100 sibling",
    ),
    _hopper(
        "h100_96gb",
        memory_gb=96,
        min_driver="525.85.12",
        pci=(
            (0x233D, None, None),
            (0x2338, None, None),
        ),
        slots=8,
        slices=7,
        profiles=_seven_slices(12, 24, 48, 96, sm=(16, 16, 26, 32, 60, 64, 132)),
        note="names and ids are sure, some figures are not known",
    ),
    _hopper(
        "gh200_96gb",
        memory_gb=96,
        min_driver="525.85.12",
        pci=(
            (0x2342, None, "NVIDIA GH200 120GB"),
            (0x2342, 0x1809, "NVIDIA GH200 480GB"),
        ),
        slots=8,
        slices=7,
        profiles=_seven_slices(
            12,
            24,
            48,
            96,
            memory_gib=(11.0, 11.0, 23.0, 23.0, 46.5, 46.5, 93.0),
            **_GH100,
        ),
    ),
    _hopper(
        "gh200_144gb",
        memory_gb=144,
        min_driver=None,
        pci=((0x2348, None, "NVIDIA GH200 144G HBM3e"),),
        slots=8,
        slices=7,
        profiles=_seven_slices(
            18,
            36,
            72,
            144,
            memory_gib=(17.5, 17.5, 35.25, 35.25, None, None, None),
            **_GH100,
        ),
        note="names and ids are sure, some figures are not known",
    ),
    _hopper(
        "h20_96gb",
        memory_gb=96,
        min_driver="535.161.07",
        pci=((0x2329, None, "NVIDIA H20"),),
        slots=8,
        slices=7,
        profiles=_seven_slices(
            12,
            24,
            48,
            96,
            memory_gib=(11.75, 11.75, None, None, None, None, None),
            sm=(8, 8, None, None, None, None, None),
        ),
        note="names and ids are sure, some figures are not known",
    ),
    _hopper(
        "h200_141gb",
        memory_gb=141,
        min_driver="550.90.07",
        pci=(
            (0x2335, None, "NVIDIA H200"),
            (0x233B, None, "NVIDIA H200 NVL"),
        ),
        slots=8,
        slices=7,
        profiles=_seven_slices(
            18,
            35,
            71,
            141,
            memory_gib=(16.0, 16.0, 32.5, 32.5, 69.75, 69.75, 140.0),
            **_GH100,
        ),
        note="captured on SXM; NVL taken to be equal",
    ),
    _hopper(
        "h20_141gb",
        memory_gb=141,
        min_driver=None,
        pci=((0x232C, None, "NVIDIA H20-3e"),),
        slots=8,
        slices=7,
        profiles=_seven_slices(18, 35, 71, 141),
        sure=False,
        note="derived from its H200 sibling",
    ),
    _blackwell(
        "b200",
        memory_gb=180,
        min_driver="570.133.20",
        pci=((0x2901, None, "NVIDIA B200"),),
        slots=8,
        slices=7,
        profiles=_seven_slices(
            23,
            45,
            90,
            180,
            memory_gib=(22.0, 22.0, 44.25, 44.25, None, None, None),
            sm=(18, 18, 30, 36, None, None, None),
            ce=(2, 2, 2, 4, 6, 8, 16),
            dec=(1, 1, 1, 2, 3, 4, 7),
            jpeg=(1, 1, 1, 2, 3, 4, 7),
            ofa=(0, 1, 0, 0, 0, 0, 1),
        ),
        note="names and ids are sure, figures of 3g and larger are not",
    ),
    _blackwell(
        "gb200",
        memory_gb=186,
        min_driver="570.133.20",
        pci=((0x2941, None, "NVIDIA GB200"),),
        slots=8,
        slices=7,
        profiles=_seven_slices(
            23,
            47,
            93,
            186,
            memory_gib=(22.0, 22.0, 45.5, 45.5, None, None, None),
            sm=(18, 18, 32, 38, None, None, None),
            ce=(2, 2, 2, 4, 6, 8, 16),
            ofa=(0, 1, 0, 0, 0, 0, 1),
            aliases={
                "1g": ("1g.24gb",),
                "1g+me": ("1g.24gb+me",),
                "3g": ("3g.95gb",),
                "4g": ("4g.95gb",),
                "7g": ("7g.189gb",),
            },
        ),
        note="ids are sure; names change with unit and driver",
    ),
    _blackwell(
        "b300",
        memory_gb=269,
        min_driver="580.82.07",
        pci=((0x3182, None, "NVIDIA B300 SXM6 AC"),),
        slots=8,
        slices=7,
        profiles=_seven_slices(34, 67, 135, 269),
        note="names are sure, ids inferred from the common set",
    ),
    _blackwell(
        "gb300",
        memory_gb=278,
        # Same as B300, which has the same GPU. NVIDIA's guide requires 595.58.03, but only for the DGX Station, and
        # racks with GB300 run 580.173.02 (public capture of a compute tray).
        min_driver="580.82.07",
        pci=((0x31C2, None, "NVIDIA GB300"),),
        slots=8,
        slices=7,
        profiles=_seven_slices(35, 70, 139, 278),
        note="names and ids are sure, some figures are not known",
    ),
    _blackwell(
        "rtx_pro_6000_blackwell",
        memory_gb=96,
        min_driver="575.51.03",
        pci=(
            (0x2BB5, None, "NVIDIA RTX PRO 6000 Blackwell Server Edition"),
            (0x2BB1, None, "NVIDIA RTX PRO 6000 Blackwell Workstation Edition"),
            (0x2BB4, None, "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition"),
        ),
        slots=12,
        slices=4,
        profiles=(
            _profile("1g.24gb", "1g", 14, 1, 3, (0, 3, 6, 9), 4, (23.62, 46, 1, 1, 1, 0, 1), 575),
            _profile("1g.24gb+me", "1g+me", 21, 1, 3, (0, 3, 6, 9), 1, (23.62, 46, 1, 1, 1, 1, 1), 575, ("me",)),
            _profile("1g.24gb+gfx", "1g+gfx", 47, 1, 3, (0, 3, 6, 9), 4, (23.62, 46, 1, 1, 1, 0, 1), 575, ("gfx",)),
            _profile(
                "1g.24gb+me.all", "1g+me.all", 65, 1, 3, (0, 3, 6, 9), 1, (23.62, 46, 1, 4, 4, 1, 4), 575, ("me.all",)
            ),
            _profile("1g.24gb-me", "1g-me", 67, 1, 3, (0, 3, 6, 9), 4, (23.62, 46, 1, 0, 0, 0, 0), 575, ("-me",)),
            _profile("2g.48gb", "2g", 5, 2, 6, (0, 6), 2, (47.38, 94, 2, 2, 2, 0, 2), 575),
            _profile("2g.48gb+gfx", "2g+gfx", 35, 2, 6, (0, 6), 2, (47.38, 94, 2, 2, 2, 0, 2), 575, ("gfx",)),
            _profile("2g.48gb+me.all", "2g+me.all", 64, 2, 6, (0, 6), 1, (47.38, 94, 2, 4, 4, 1, 4), 575, ("me.all",)),
            _profile("2g.48gb-me", "2g-me", 66, 2, 6, (0, 6), 2, (47.38, 94, 2, 0, 0, 0, 0), 575, ("-me",)),
            _profile("4g.96gb", "4g", 0, 4, 12, (0,), 1, (95.12, 188, 4, 4, 4, 1, 4), 575),
            _profile("4g.96gb+gfx", "4g+gfx", 32, 4, 12, (0,), 1, (95.12, 188, 4, 4, 4, 1, 4), 575, ("gfx",)),
        ),
    ),
    _blackwell(
        "rtx_pro_5000_blackwell",
        memory_gb=48,
        min_driver="575.57.08",
        pci=(
            (0x2BB3, 0x204D, "NVIDIA RTX PRO 5000 Blackwell"),
            (0x2BB3, 0x227A, "NVIDIA RTX PRO 5000 72GB Blackwell"),
        ),
        slots=None,
        slices=None,
        profiles=(),
        sure=False,
        note="the MIG user guide contradicts itself on the number of instances; no ids, no placements",
    ),
    _blackwell(
        "rtx_pro_4500_blackwell",
        memory_gb=32,
        min_driver="575.64",
        pci=((0x2C31, None, "NVIDIA RTX PRO 4500 Blackwell"),),
        slots=None,
        slices=None,
        profiles=(),
        sure=False,
        note="two instances; no ids, no placements",
    ),
    _blackwell(
        "rtx_6000d",
        memory_gb=84,
        min_driver=None,
        pci=((0x2BB9, None, "NVIDIA RTX 6000D"),),
        slots=None,
        slices=2,
        profiles=(),
        sure=False,
        note="vGPU types -1-42 and -2-84 imply two instances; no ids, no placements",
    ),
)

GPUS = {entry.key: entry for entry in _ENTRIES}
