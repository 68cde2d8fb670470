# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Order of creation in which each instance gets its desired start.

Without a placement in the request the driver takes the first free start of a fixed preference per size. The preference
is a model: it reproduces all thirteen captured runs (A100, A30, H100, H200, GH200, RTX PRO 6000), but NVIDIA does not
document it. So every step is read back. If no order leads to the layout, the request names the start.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Collection, Iterable, NamedTuple

from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Spot

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.gpu import MigGpu, MigProfile
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Rules


class Step(NamedTuple):
    """The next instance to create, and whether the request names its start."""

    spot: Spot
    explicit: bool


# Size of the instance: starts in the order in which the driver tries them; ascending on GPUs with other than 8 slots.
_EIGHT_SLOTS = {1: (6, 4, 5, 0, 1, 2, 3), 2: (4, 0, 2, 6), 4: (4, 0), 8: (0,)}


def preference(gpu: MigGpu, profile: MigProfile) -> tuple[int, ...]:
    """The starts of a profile in the order in which the driver tries them."""
    order = _EIGHT_SLOTS.get(profile.size, ()) if gpu.memory_slots == 8 else ()
    return tuple(start for start in order if start in profile.starts) or tuple(sorted(profile.starts))


def default_spot(rules: Rules, bits: int, profile_id: int) -> Spot | None:
    """Return the expected spot of the driver for the next instance of a profile, or None if it has no space."""
    profile = rules.profiles[profile_id]
    for start in preference(rules.gpu, profile):
        spot = Spot(profile_id, start)
        if not bits & rules.mask(spot):
            return spot
    return None


def without_placement(rules: Rules, bits: int, spots: Iterable[Spot]) -> list[Spot] | None:
    """An order in which the driver's own choices lead to these spots, largest first where it can; None if none does."""
    return _search(rules, bits, frozenset(spots), set())


def steps(rules: Rules, bits: int, spots: Collection[Spot]) -> list[Step]:
    """The steps that make these spots beside the covered slots, with as few explicit placements as possible.

    The explicit ones come first: should the driver not take a placement, then little was done when that shows.
    """
    for count in range(len(spots)):
        for explicit in combinations(sorted(spots), count):
            rest = without_placement(rules, bits | rules.covered(explicit), set(spots) - set(explicit))
            if rest is not None:
                return [Step(spot, True) for spot in explicit] + [Step(spot, False) for spot in rest]
    return [Step(spot, True) for spot in sorted(spots)]


def largest_first(rules: Rules, spots: Iterable[Spot]) -> list[Spot]:
    """The spots in an order that is good without knowing the driver's choices."""
    return sorted(spots, key=lambda spot: (rules.largest_first.index(spot.profile_id), spot.start))


def _search(rules: Rules, bits: int, left: frozenset[Spot], dead: set[frozenset[Spot]]) -> list[Spot] | None:
    if not left:
        return []
    if left in dead:
        return None
    for profile_id in rules.largest_first:
        if not any(spot.profile_id == profile_id for spot in left):
            continue
        spot = default_spot(rules, bits, profile_id)
        if spot in left:
            rest = _search(rules, bits | rules.mask(spot), left - {spot}, dead)
            if rest is not None:
                return [spot, *rest]
    dead.add(left)
    return None
