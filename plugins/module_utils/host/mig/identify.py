# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Which GPU of the table a device is, and the table that the device itself prints."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Iterable, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.boards import BOARDS
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.gpu import MigGpu, MigProfile
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.table import GPUS

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.inventory import FoundGpu
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.listing import ListedPlacement, ListedProfile
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.state import Instance

_NAME = re.compile(r"^(\d+)g\.(\d+)gb(?P<suffix>(?:[+-][a-z.]+)*)$")


def identify(device_id: int | None, name: str) -> MigGpu | None:
    """The entry of the table for a device, or None: by its PCI id first, since names are ambiguous."""
    of_device = (gpu for gpu in GPUS.values() if any(row[0] == device_id for row in gpu.pci))
    return next(of_device, None) or by_model(name)


def by_model(text: str) -> MigGpu | None:
    """The entry for a key of this table or of the vGPU boards, or for a product name; None when there is none."""
    board = next((entry for entry in BOARDS if entry.key == text.lower()), None)
    key = board.mig_gpu if board is not None and board.mig_gpu is not None else text.lower()
    if key in GPUS:
        return GPUS[key]
    for gpu in GPUS.values():
        if any(row[2] is not None and plain_name(row[2]) == plain_name(text) for row in gpu.pci):
            return gpu
    return None


def plain_name(text: str) -> str:
    """A product name for comparison."""
    return " ".join(text.lower().replace("nvidia", " ").split())


def device_table(
    found: FoundGpu,
    known: MigGpu | None,
    listed: Iterable[ListedProfile],
    placements: Iterable[ListedPlacement],
    present: Iterable[Instance] = (),
    driver_branch: int | None = None,
) -> MigGpu:
    """Return the table of a device from its own -lgip and -lgipp; omitted data comes from the known entry.

    No document states whether -lgipp lists occupied starts. So starts of the known entry and of the present instances
    are added to the listed ones. The free counts of -lgip are never used: they read 0 on some hosts.
    """
    starts: dict[int, tuple[set[int], int]] = {row.profile_id: (set(row.starts), row.size) for row in placements}
    for instance in present:
        at, _size = starts.setdefault(instance.profile_id, (set(), instance.size))
        at.add(instance.start)
    profiles: list[MigProfile] | tuple[MigProfile, ...]
    profiles = []
    for row in listed:
        entry = known.profile(row.id) if known is not None else None
        at, size = starts.get(row.id, (set(), None))
        if entry is not None and size in (None, entry.size):
            at, size = at | set(entry.starts), entry.size
        if size is not None:
            profiles.append(_profile(row, entry, tuple(sorted(at)), size))
    profiles = _keyed(profiles)
    slots = max((start + profile.size for profile in profiles for start in profile.starts), default=None)
    slices = max((profile.compute_slices for profile in profiles), default=None)
    if known is None:
        pci = ((found.device_id, found.subsystem, found.name),)
        key = plain_name(found.name).replace(" ", "_")
        known = MigGpu(
            key, "", False, False, False, 0, None, None, None, pci, (), sure=False, note="as the device says"
        )
    return replace(
        known,
        profiles=profiles or _of_driver(known.profiles, driver_branch),
        memory_slots=known.memory_slots or slots,
        compute_slices=known.compute_slices or slices,
    )


def _of_driver(profiles: tuple[MigProfile, ...], branch: int | None) -> tuple[MigProfile, ...]:
    """Return the profiles that a driver of this branch supports; all of them if the branch is unknown."""
    if branch is None:
        return profiles
    return tuple(one for one in profiles if (one.first_driver_branch or 0) <= branch)


def _profile(row: ListedProfile, entry: MigProfile | None, starts: tuple[int, ...], size: int) -> MigProfile:
    match = _NAME.match(row.name.lower())
    slices = int(match[1]) if match else (entry.compute_slices if entry is not None else 0)
    attributes = tuple(re.findall(r"\+([a-z.]+)|(-[a-z.]+)", match["suffix"])) if match else ()
    most = entry.max_instances if entry is not None else (row.total or len(starts))
    return MigProfile(
        row.name, "", row.id, slices, size, starts, most, tuple(plus or minus for plus, minus in attributes),
        row.memory_gib, row.sm, row.ce, row.dec, row.jpeg, row.ofa, row.enc,
        entry.first_driver_branch if entry is not None else None,
        ((entry.name,) if entry is not None and entry.name != row.name else ()) + (entry.aliases if entry else ()),
    )  # fmt: skip


def _keyed(profiles: Sequence[MigProfile]) -> tuple[MigProfile, ...]:
    """The profiles with their short keys; of two 1g the larger is the one with double memory."""
    smallest: dict[int, int] = {}
    for profile in profiles:
        smallest[profile.compute_slices] = min(profile.size, smallest.get(profile.compute_slices, profile.size))
    keyed = []
    for profile in profiles:
        suffix = "".join(entry if entry.startswith("-") else f"+{entry}" for entry in profile.attributes)
        double = "_double" if profile.size > smallest[profile.compute_slices] else ""
        keyed.append(replace(profile, key=f"{profile.compute_slices}g{double}{suffix}"))
    return tuple(keyed)
