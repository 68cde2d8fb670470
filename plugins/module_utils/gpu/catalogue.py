# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Look things up in the table of boards and their vGPU types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.boards import BOARDS
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import parse

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.boards import Board, MigBacked, TimeSliced

_BY_PREFIX = {board.vsphere_prefix: board for board in BOARDS}
_BY_KEY = {board.key: board for board in BOARDS}
NVIDIA = 0x10DE
# Most time-sliced vGPUs on one GPU (vGPU types of the RTX PRO 6000; the same for other boards is unsure).
_MOST_PER_GPU = 32
_BEFORE_AMPERE = ("t4", "v100")
_BY_PCI = {int(board.pci_device_id, 16): board for board in BOARDS}


def board(key: str) -> Board | None:
    """The board with this key, or None."""
    return _BY_KEY.get(key)


def board_of_pci(vendor_id: int, device_id: int) -> Board | None:
    """The board with these PCI ids, or None when the table does not have it."""
    return _BY_PCI.get(device_id) if vendor_id == NVIDIA else None


def board_of(profile: str) -> Board | None:
    """The board that a profile belongs to, or None when the table does not have it."""
    name = parse(profile)
    return _BY_PREFIX.get(name.board) if name else None


def time_sliced_type(profile: str) -> TimeSliced | None:
    """The TimeSliced row of a profile of the C series, or None."""
    name, owner = parse(profile), board_of(profile)
    if name is None or owner is None or name.mig_backed or name.series != "c":
        return None
    return next((row for row in owner.time_sliced if row.gb == name.gb), None)


def mig_type(profile: str) -> MigBacked | None:
    """The MigBacked row of a profile, or None."""
    name, owner = parse(profile), board_of(profile)
    if name is None or owner is None or not name.mig_backed:
        return None
    wanted = (name.slices, name.gb, name.series, name.media)
    return next((row for row in owner.mig_backed if (row.slices, row.gb, row.series, row.media) == wanted), None)


def is_known(profile: str) -> bool:
    """True when the table lists this very profile."""
    owner = board_of(profile)
    return owner is not None and profile in time_sliced_profiles(owner) + mig_profiles(owner)


def time_sliced_profiles(owner: Board) -> list[str]:
    """All time-sliced profiles of a board, C series first."""
    suffixes = [f"{row.gb}c" for row in owner.time_sliced] + list(owner.other_series)
    return [f"{owner.vsphere_prefix}-{suffix}" for suffix in suffixes]


def mig_profiles(owner: Board) -> list[str]:
    """All MIG-backed profiles of a board."""
    return [
        f"{owner.vsphere_prefix}-{row.slices}-{row.gb}{row.series}{'me' if row.media else ''}"
        for row in owner.mig_backed
    ]


def all_profiles() -> list[str]:
    """Every profile in the table."""
    return [profile for owner in BOARDS for profile in time_sliced_profiles(owner) + mig_profiles(owner)]


def board_memory_gb(profile: str, offered: Iterable[str] = ()) -> int:
    """Memory of the whole GPU behind a profile; for a board that is not in the table, the largest type offered."""
    owner = board_of(profile)
    if owner is not None:
        return owner.memory_gb
    name = parse(profile)
    if name is None:
        return 0
    siblings = [other for other in map(parse, offered) if other is not None and other.board == name.board]
    return max([other.gb for other in siblings] + [name.gb])


def most_per_gpu(profile: str) -> int | None:
    """How many vGPUs of a profile one GPU can hold, or None when the table does not have it."""
    sliced, mig = time_sliced_type(profile), mig_type(profile)
    if sliced is not None:
        return sliced.max_equal
    return mig.max_per_gpu if mig is not None else None


def most_of_size(profile: str) -> int:
    """How many time-sliced vGPUs of the size of a profile fit on one GPU in same-size mode, by its memory."""
    name = parse(profile)
    return max(1, min(_MOST_PER_GPU, board_memory_gb(profile) // name.gb)) if name is not None and name.gb else 1


def has_mixed_size(profile: str) -> bool:
    """True unless the board is older than Ampere (NVIDIA AI Enterprise, vGPU types)."""
    owner = board_of(profile)
    return owner is None or not owner.key.startswith(_BEFORE_AMPERE)


def mixed_size(profile: str, most_alike: int) -> tuple[int, tuple[int, ...]]:
    """The most vGPUs of the size of a profile in mixed-size mode, and their starts; empty if none are published.

    Sizes have starts of their own, whatever the series [unsure: published for the C series]. Without a published number
    it is the largest power of two up to that of the same-size mode, as published for the boards with 24, 40, 48, 80 and
    94 GB [unsure].
    """
    name, owner = parse(profile), board_of(profile)
    rows = owner.time_sliced if owner is not None and name is not None else ()
    row = next((one for one in rows if name is not None and one.gb == name.gb), None)
    number = (row.max_mixed if row is not None else None) or 1 << (most_alike.bit_length() - 1)
    return number, (row.placements if row is not None else None) or ()


def is_whole_gpu(profile: str, offered: Iterable[str] = ()) -> bool:
    """True for a time-sliced profile that takes the whole frame buffer of its GPU."""
    name = parse(profile)
    return name is not None and not name.mig_backed and name.gb == board_memory_gb(profile, offered)


def needs_efi(profile: str) -> bool:
    """True when the GPU's memory window is too large for BIOS firmware: all boards since Volta, but not the T4."""
    owner = board_of(profile)
    if owner is not None:
        return owner.mmio_gb != 0
    name = parse(profile)
    return name is not None and name.family == "nvidia"
