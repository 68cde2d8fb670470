# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Capacity of a GPU for a set of vGPUs. Pure, and cached per kind of GPU, since hundreds of GPUs are alike."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import parse
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Rules
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.table import GPUS
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import ANY, MIG, MIXED_SIZE, SAME_SIZE

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import ProfileName
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import Gpu


# Memory slices out of 8 per number of compute slices, as on every board that has 7 (NVIDIA MIG user guide).
_MEMORY_SLICES = {1: 1, 2: 2, 3: 4, 4: 4, 7: 8}
_SHARED = (SAME_SIZE, MIXED_SIZE, MIG, ANY)


def carries(gpu: Gpu, profiles: tuple[str, ...]) -> bool:
    """Return whether a GPU in its mode can carry these profiles, sorted by name, at the same time."""
    return gpu.mode in _SHARED and _together(gpu.mode, profiles)


def together(profiles: tuple[str, ...]) -> bool:
    """Return whether these profiles, sorted by name, can be on one GPU in any mode."""
    return any(_together(mode, profiles) for mode in (ANY, MIXED_SIZE))


def most(gpu: Gpu, profile: str) -> int:
    """Return how many more vGPUs of one profile a GPU can carry beside those that it has."""
    number, load = 0, gpu.carries
    while not gpu.held_by:
        load = tuple(sorted((*load, profile)))
        if not carries(gpu, load):
            break
        number += 1
    return number


@lru_cache(maxsize=None)
def board_in(profile: str) -> str:
    """The board's part of a profile's name."""
    name = parse(profile)
    return name.board if name is not None else ""


@lru_cache(maxsize=None)
def share(profile: str) -> float:
    """Return the share of a GPU that a profile takes, by which VMs are sorted."""
    number = most_alike(profile)
    return 1 / number if number else 1.0


@lru_cache(maxsize=None)
def most_alike(profile: str) -> int:
    """Return how many vGPUs of this profile alone fit on one GPU; by their memory if no table lists them."""
    listed = catalogue.most_per_gpu(profile)
    if listed is not None:
        return listed
    name = parse(profile)
    if name is None or name.gb == 0:
        return 1
    if name.mig_backed:
        return max(1, 7 // name.slices) if name.slices else 1
    return max(1, catalogue.board_memory_gb(profile) // name.gb)


@lru_cache(maxsize=None)
def _together(mode: str, profiles: tuple[str, ...]) -> bool:
    names = [name for name in map(parse, profiles) if name is not None]
    if not profiles:
        return True
    if len(names) < len(profiles) or len({name.board for name in names}) > 1:
        return False
    # A GPU is cut into instances or shared in time, never both (NVIDIA AI Enterprise user guide 5.0, 2.11).
    kinds = {name.mig_backed for name in names}
    if len(kinds) > 1 or (mode == MIG) is not kinds.pop() and mode != ANY:
        return False
    if names[0].mig_backed:
        return _instances(profiles, names)
    if mode == MIXED_SIZE:
        return _mixed(profiles, names)
    # The first vGPU fixes the size for its GPU (NVIDIA AI Enterprise user guide 5.0, 2.1.3.1).
    return len({name.gb for name in names}) == 1 and len(names) <= min(map(most_alike, profiles))


def _instances(profiles: Sequence[str], names: Sequence[ProfileName]) -> bool:
    rows = [row for row in map(catalogue.mig_type, profiles) if row is not None]
    owner = catalogue.board_of(profiles[0])
    if len(rows) < len(profiles) or owner is None or owner.mig_gpu not in GPUS:
        memory = sum(_MEMORY_SLICES.get(cast(int, name.slices), 8) for name in names)
        return sum(cast(int, name.slices) for name in names) <= 7 and memory <= 8
    counts: Counter[int] = Counter()
    for row, number in Counter(rows).items():
        if number > row.max_per_gpu:
            return False
        # Some instances are shared in time by several vGPUs of one type.
        counts[row.mig_profile_id] += -(-number // row.max_per_instance)
    return _rules(owner.mig_gpu).legal(counts)


@lru_cache(maxsize=None)
def _rules(key: str) -> Rules:
    return Rules(GPUS[key])


def _mixed(profiles: Sequence[str], names: Sequence[ProfileName]) -> bool:
    memory_gb = catalogue.board_memory_gb(profiles[0], profiles)
    pieces: list[tuple[int, tuple[int, ...]]] = []
    for profile, number in Counter(profiles).items():
        gb = cast("ProfileName", parse(profile)).gb
        row = catalogue.time_sliced_type(profile)
        places = row.placements if row is not None else None
        limit = row.max_mixed if row is not None else None
        if number > (limit or most_alike(profile)):
            return False
        # Without published placements, any multiple of the size is accepted as one [unsure].
        pieces += [(gb, places or tuple(range(0, memory_gb - gb + 1, gb)))] * number
    return _arranged(sorted(pieces, reverse=True), 0, 0, ())


def _arranged(
    pieces: Sequence[tuple[int, tuple[int, ...]]], at: int, first: int, taken: tuple[tuple[int, int], ...]
) -> bool:
    """Return whether the pieces fit side by side; vCenter does not report placements of running vGPUs, so any
    arrangement counts."""
    if at == len(pieces):
        return True
    gb, places = pieces[at]
    for number in range(first, len(places)):
        start = places[number]
        if all(start + gb <= low or start >= high for low, high in taken):
            alike = at + 1 < len(pieces) and pieces[at + 1] == pieces[at]
            if _arranged(pieces, at + 1, number + 1 if alike else 0, (*taken, (start, start + gb))):
                return True
    return False
