# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Plan the steps from the present instances to the desired ones: keep the most, leave the most space."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Iterable, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import order
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Spot

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Rules


@dataclass(frozen=True)
class RequestedInstance:
    """One desired instance."""

    profile_id: int
    # None leaves the choice to the planner.
    start: int | None = None
    # Compute slices of its compute instances, the largest first; None: whatever is there, or the caller's default.
    compute: tuple[int, ...] | None = None


@dataclass
class Plan:
    """The spots to keep and to remove, and the order of creation."""

    # {spot: desired compute slices, or None}
    layout: dict[Spot, tuple[int, ...] | None] = field(default_factory=dict)
    keep: list[Spot] = field(default_factory=list)
    destroy: list[Spot] = field(default_factory=list)
    create: list[order.Step] = field(default_factory=list)


def plan(
    rules: Rules,
    present: Mapping[Spot, tuple[int, ...]],
    requests: Sequence[RequestedInstance],
    busy: Iterable[Spot] = (),
    placement: str = "where_needed",
) -> Plan | None:
    """Return the plan with the most kept spots, or None if no layout has these instances.

    present: {spot: compute slices}; a spot that is not in the GPU's table is removed. busy: spots in use, which are
    kept before others. placement: the requests name starts where_needed, always, or never; with never, only layouts
    count that the driver reaches by its own choices.
    """
    counts = Counter(requested.profile_id for requested in requests)
    fixed = tuple(Spot(requested.profile_id, requested.start) for requested in requests if requested.start is not None)
    layouts = rules.layouts(counts, fixed)
    if placement == "never":
        layouts = (spots for spots in layouts if _way(rules, spots, present) is not None)
    best = _best(rules, _most_kept(layouts, set(present), set(busy)), present, counts, placement)
    if best is None:
        return None
    spots, steps = best
    return Plan(
        layout=_compute(spots, requests, present),
        keep=sorted(spot for spot in spots if spot in present),
        destroy=sorted(spot for spot in present if spot not in spots),
        create=steps,
    )


def _most_kept(layouts: Iterable[tuple[Spot, ...]], present: set[Spot], busy: set[Spot]) -> list[tuple[Spot, ...]]:
    """Return the layouts that keep most of the used instances, and among them most of the present ones."""
    found: list[tuple[Spot, ...]]
    found, most = [], (-1, -1)
    for spots in layouts:
        kept = present.intersection(spots)
        score = (len(kept & busy), len(kept))
        if score > most:
            found, most = [spots], score
        elif score == most:
            found.append(spots)
    return found


def _best(
    rules: Rules,
    layouts: Iterable[tuple[Spot, ...]],
    present: Mapping[Spot, tuple[int, ...]],
    counts: Mapping[int, int],
    placement: str,
) -> tuple[set[Spot], list[order.Step]] | None:
    """Among these, the layout that leaves the most room, then one that the driver reaches by itself."""
    rooms: dict[int, tuple[int, ...]] = {}
    ranked: list[tuple[tuple[int, ...], tuple[Spot, ...]]] = []
    for spots in layouts:
        bits = rules.covered(spots)
        if bits not in rooms:
            rooms[bits] = rules.room(bits, counts)
        ranked.append((rooms[bits], spots))
    ranked.sort(key=lambda entry: (tuple(-count for count in entry[0]), sorted(entry[1])))
    chosen = None
    for room, spots in ranked:
        if chosen is not None and room != chosen[0]:
            break
        way = _way(rules, spots, present) if placement != "always" else None
        if way is not None:
            return set(spots), [order.Step(spot, False) for spot in way]
        chosen = chosen or (room, spots)
    if chosen is None:
        return None
    _room, spots = chosen
    missing = [spot for spot in spots if spot not in present]
    bits = rules.covered(spot for spot in spots if spot in present)
    if placement == "always":
        return set(spots), [order.Step(spot, True) for spot in order.largest_first(rules, missing)]
    return set(spots), order.steps(rules, bits, missing)


def _way(rules: Rules, spots: Sequence[Spot], present: Mapping[Spot, tuple[int, ...]]) -> list[Spot] | None:
    """Return an order in which the driver's own choices create the missing instances, or None."""
    missing = [spot for spot in spots if spot not in present]
    return order.without_placement(rules, rules.covered(spot for spot in spots if spot in present), missing)


def _compute(
    spots: Iterable[Spot], requests: Sequence[RequestedInstance], present: Mapping[Spot, tuple[int, ...]]
) -> dict[Spot, tuple[int, ...] | None]:
    """Assign requests to spots, so that the existing compute instances can stay."""
    layout: dict[Spot, tuple[int, ...] | None] = {}
    open_requests = []
    for requested in requests:
        if requested.start is None:
            open_requests.append(requested)
        else:
            layout[Spot(requested.profile_id, requested.start)] = requested.compute
    for spot in sorted(set(spots) - set(layout), key=lambda spot: (spot not in present, spot)):
        mine = [requested for requested in open_requests if requested.profile_id == spot.profile_id]
        alike = [requested for requested in mine if requested.compute in (None, present.get(spot))]
        requested = (alike or mine)[0]
        open_requests.remove(requested)
        layout[spot] = requested.compute
    return layout
