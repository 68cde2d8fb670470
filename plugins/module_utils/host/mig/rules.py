# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Valid combinations of instances on a GPU: slots without overlap, counts, compute slices, media engines.

A layout is a set of spots, (profile id, start). Counts are the number of instances per profile id.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Iterable, Iterator, KeysView, Mapping, NamedTuple, Sequence

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.gpu import MigGpu


class Spot(NamedTuple):
    """Position of an instance."""

    profile_id: int
    start: int


class Excess(NamedTuple):
    """A limit that the counts alone exceed: its name, the requested number, the available number."""

    what: str
    asked: int
    there: int


ENGINES = ("dec", "jpeg", "ofa", "enc")
# Drivers before R510 refuse a 4g beside a 3g, though both fit (MIG user guide, change notes).
BRANCH_OF_4G_WITH_3G = 510


class Rules:
    """The rules of one GPU under one driver."""

    def __init__(self, gpu: MigGpu, driver_branch: int | None = None) -> None:
        self.gpu = gpu
        self.profiles = {profile.id: profile for profile in gpu.profiles}
        self._masks = {
            Spot(profile.id, start): ((1 << profile.size) - 1) << start
            for profile in gpu.profiles
            for start in profile.starts
        }
        # Engines are a budget beside the slots: after a +me.all of an RTX PRO 6000 only -me profiles fit.
        self._engines = {
            profile.id: tuple(getattr(profile, engine) or 0 for engine in ENGINES) for profile in gpu.profiles
        }
        # At least the largest total of the instances of any one profile, since a device lists those as possible.
        self.budget = tuple(
            max((self._engines[profile.id][at] * profile.max_instances for profile in gpu.profiles), default=0)
            for at in range(len(ENGINES))
        )
        self._apart = driver_branch is not None and driver_branch < BRANCH_OF_4G_WITH_3G
        by_size = sorted(gpu.profiles, key=lambda profile: (-profile.size, -profile.compute_slices, profile.id))
        self.largest_first = [profile.id for profile in by_size]
        self._plain = [profile.id for profile in by_size if not profile.attributes]

    @property
    def spots(self) -> KeysView[Spot]:
        """Every spot that there is on this GPU."""
        return self._masks.keys()

    def mask(self, spot: Spot) -> int:
        """The slots of a spot as bits."""
        return self._masks[spot]

    def covered(self, spots: Iterable[Spot]) -> int:
        """The slots of all spots as bits."""
        bits = 0
        for spot in spots:
            bits |= self._masks[spot]
        return bits

    def excesses(self, counts: Mapping[int, int]) -> list[Excess]:
        """The limits that these counts break, wherever the instances lie."""
        found = []
        for profile_id, count in counts.items():
            most = self.profiles[profile_id].max_instances
            if count > most:
                found.append(Excess(self.profiles[profile_id].name, count, most))
        found += self._over("compute slices", self._sum(counts, "compute_slices"), self.gpu.compute_slices)
        found += self._over("memory slots", self._sum(counts, "size"), self.gpu.memory_slots)
        for at, engine in enumerate(ENGINES):
            asked = sum(self._engines[profile_id][at] * count for profile_id, count in counts.items())
            found += self._over(f"{engine.upper()} engines", asked, self.budget[at])
        return found

    def apart(self, counts: Mapping[int, int]) -> bool:
        """Return whether the driver is too old for these profiles together."""
        keys = {self.profiles[profile_id].key for profile_id, count in counts.items() if count}
        return self._apart and {"3g", "4g"} <= keys

    def layouts(self, counts: Mapping[int, int], fixed: Sequence[Spot] = ()) -> Iterator[tuple[Spot, ...]]:
        """Every layout with these counts; fixed: spots that have to be in it, which the counts include."""
        counts = {profile_id: count for profile_id, count in counts.items() if count}
        if self.excesses(counts) or self.apart(counts):
            return
        bits = 0
        for spot in fixed:
            if bits & self._masks[spot]:
                return
            bits |= self._masks[spot]
        left = Counter(counts)
        left.subtract(spot.profile_id for spot in fixed)
        groups = [(profile_id, left[profile_id]) for profile_id in self.largest_first if left[profile_id]]
        yield from self._placed(groups, 0, 0, bits, tuple(fixed))

    def legal(self, counts: Mapping[int, int]) -> bool:
        """Return whether any layout has these counts."""
        return next(self.layouts(counts), None) is not None

    def more(self, bits: int, counts: Mapping[int, int], profile_id: int) -> int:
        """Return how many more instances of a profile fit beside the covered slots."""
        profile = self.profiles[profile_id]
        fitting = 0
        # Instances of one profile are equally long, so taking the first that fits yields the most.
        for start in sorted(profile.starts):
            mask = self._masks[Spot(profile_id, start)]
            if not bits & mask:
                bits |= mask
                fitting += 1
        fitting = min(fitting, max(0, profile.max_instances - counts.get(profile_id, 0)))
        while fitting:
            together = Counter(counts)
            together[profile_id] += fitting
            if not self.excesses(together) and not self.apart(together):
                break
            fitting -= 1
        return fitting

    def room(self, bits: int, counts: Mapping[int, int]) -> tuple[int, ...]:
        """Return how many more of each plain profile fit, the largest first: the space that a good layout leaves."""
        return tuple(self.more(bits, counts, profile_id) for profile_id in self._plain)

    def _placed(
        self, groups: Sequence[tuple[int, int]], at: int, first: int, bits: int, spots: tuple[Spot, ...]
    ) -> Iterator[tuple[Spot, ...]]:
        if at == len(groups):
            yield spots
            return
        profile_id, count = groups[at]
        starts = self.profiles[profile_id].starts
        for number in range(first, len(starts)):
            spot = Spot(profile_id, starts[number])
            mask = self._masks[spot]
            if bits & mask:
                continue
            if count == 1:
                yield from self._placed(groups, at + 1, 0, bits | mask, (*spots, spot))
            else:
                rest = [*groups[:at], (profile_id, count - 1), *groups[at + 1 :]]
                yield from self._placed(rest, at, number + 1, bits | mask, (*spots, spot))

    def _sum(self, counts: Mapping[int, int], figure: str) -> int:
        return sum(getattr(self.profiles[profile_id], figure) * count for profile_id, count in counts.items())

    @staticmethod
    def _over(what: str, asked: int, there: int | None) -> list[Excess]:
        return [Excess(what, asked, there)] if there is not None and asked > there else []
