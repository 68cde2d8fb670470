# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Capacity of a GPU for a set of vGPUs. Pure, and cached per kind of GPU, since hundreds of GPUs are alike."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Iterable, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import parse
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.order import default_spot
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Rules
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.table import GPUS
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import ANY, MIG, MIXED_SIZE, SAME_SIZE

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.boards import MigBacked
    from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import ProfileName
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Spot
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import Gpu


# Memory slices out of 8 per number of compute slices, as on every board that has 7 (NVIDIA MIG user guide).
_MEMORY_SLICES = {1: 1, 2: 2, 3: 4, 4: 4, 7: 8}
_SHARED = (SAME_SIZE, MIXED_SIZE, MIG, ANY)


def carries(gpu: Gpu, profiles: tuple[str, ...]) -> bool:
    """Return whether a GPU in its mode can carry these profiles, sorted by name, with those that it has among them."""
    return gpu.mode in _SHARED and _together(gpu.mode, profiles, gpu.carries, gpu.maxima)


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
    return catalogue.most_of_size(profile)


def published(gpu: Gpu, profile: str) -> bool:
    """Return whether a vendor publishes how many vGPUs of a profile a GPU in its mode can carry, and where."""
    mig = catalogue.mig_type(profile)
    if mig is not None:
        # Which profiles share an instance is not published.
        return mig.max_per_instance == 1
    if gpu.mode == MIXED_SIZE and catalogue.has_mixed_size(profile):
        row = catalogue.time_sliced_type(profile)
        return row is not None and bool(row.max_mixed and row.placements)
    return catalogue.most_per_gpu(profile) is not None


@lru_cache(maxsize=None)
def _together(
    mode: str, profiles: tuple[str, ...], there: tuple[str, ...] = (), maxima: tuple[tuple[str, int], ...] = ()
) -> bool:
    """there: those of running VMs. vCenter does not report their starts and vSphere does not move them."""
    own = dict(maxima)
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
        if any(number > own.get(profile, number) for profile, number in Counter(profiles).items()):
            return False
        return _instances(profiles, names, there, own)
    if mode == MIXED_SIZE and catalogue.has_mixed_size(profiles[0]):
        return _mixed(profiles, there, own)
    # The first vGPU fixes the size for its GPU (NVIDIA AI Enterprise user guide 5.0, 2.1.3.1).
    limit = min(own.get(profile, most_alike(profile)) for profile in profiles)
    return len({name.gb for name in names}) == 1 and len(names) <= limit


def _instances(
    profiles: Sequence[str], names: Sequence[ProfileName], there: Sequence[str], own: Mapping[str, int]
) -> bool:
    rows = [row for row in map(catalogue.mig_type, profiles) if row is not None]
    owner = catalogue.board_of(profiles[0])
    if len(rows) < len(profiles) or owner is None or owner.mig_gpu not in GPUS:
        memory = sum(_MEMORY_SLICES.get(cast(int, name.slices), 8) for name in names)
        return sum(cast(int, name.slices) for name in names) <= 7 and memory <= 8
    listed = (row for row, profile in zip(rows, profiles) if profile not in own)
    if any(number > row.max_per_gpu for row, number in Counter(listed).items()):
        return False
    rules = _rules(owner.mig_gpu)
    running = _counts(row for row in map(catalogue.mig_type, there) if row is not None)
    return next(rules.layouts(_counts(rows), _spots(rules, running)), None) is not None


def _counts(rows: Iterable[MigBacked]) -> Counter[int]:
    """Return the number of instances per MIG profile: several vGPUs of one type share some of them in time."""
    counts: Counter[int] = Counter()
    for row, number in Counter(rows).items():
        counts[row.mig_profile_id] += -(-number // row.max_per_instance)
    return counts


def _spots(rules: Rules, running: Counter[int]) -> tuple[Spot, ...]:
    """Return the instances of running VMs, the largest first at the start that the driver prefers [unsure: order]."""
    spots: list[Spot] = []
    for profile_id in sorted(running.elements(), key=rules.largest_first.index):
        spot = default_spot(rules, rules.covered(spots), profile_id)
        if spot is None:
            return ()
        spots.append(spot)
    return tuple(spots)


@lru_cache(maxsize=None)
def _rules(key: str) -> Rules:
    return Rules(GPUS[key])


def _mixed(profiles: tuple[str, ...], there: tuple[str, ...], own: Mapping[str, int]) -> bool:
    sizes = {profile: cast("ProfileName", parse(profile)).gb for profile in profiles}
    memory_gb = catalogue.board_memory_gb(profiles[0], profiles)
    places: dict[int, tuple[int, ...]] = {}
    for profile, gb in sizes.items():
        limit, starts = catalogue.mixed_size(profile, most_alike(profile))
        limit = own.get(profile, limit)
        if limit > len(starts):
            starts = ()
        if sum(sizes[one] == gb for one in profiles) > limit:
            return False
        # Without published placements, any multiple of the size is accepted as one [unsure].
        places[gb] = starts or tuple(range(0, memory_gb - gb + 1, gb))
    running = sorted((sizes[profile] for profile in there), reverse=True)
    taken = _first_places(running, places)
    wanted = Counter(sizes[profile] for profile in profiles)
    wanted.subtract(running[: len(taken)])
    pieces = [(gb, places[gb]) for gb in sorted(wanted.elements(), reverse=True)]
    return _arranged(pieces, 0, 0, taken)


def _first_places(sizes: Sequence[int], places: Mapping[int, tuple[int, ...]]) -> tuple[tuple[int, int], ...]:
    """Return the memory of running VMs, the largest first at the first free start [unsure: order]; empty if they do
    not fit so."""
    taken: list[tuple[int, int]] = []
    for gb in sizes:
        start = next((one for one in places[gb] if _is_free(one, gb, taken)), None)
        if start is None:
            return ()
        taken.append((start, start + gb))
    return tuple(taken)


def _is_free(start: int, gb: int, taken: Iterable[tuple[int, int]]) -> bool:
    return all(start + gb <= low or start >= high for low, high in taken)


def _arranged(
    pieces: Sequence[tuple[int, tuple[int, ...]]], at: int, first: int, taken: tuple[tuple[int, int], ...]
) -> bool:
    """Return whether the pieces fit side by side in any arrangement: VMs can be powered on in any order."""
    if at == len(pieces):
        return True
    gb, places = pieces[at]
    fitting = [number for number in range(first, len(places)) if _is_free(places[number], gb, taken)]
    # The first start is the best one for pieces of one size: it ends first.
    for number in fitting[:1] if pieces[at] == pieces[-1] else fitting:
        start = places[number]
        alike = at + 1 < len(pieces) and pieces[at + 1] == pieces[at]
        if _arranged(pieces, at + 1, number + 1 if alike else 0, (*taken, (start, start + gb))):
            return True
    return False
