# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The error of an impossible layout: the arithmetic, and the nearest possible layouts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, NoReturn, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Spot

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.planner import RequestedInstance
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Rules

# Maximum of near layouts in one message, so that it stays readable.
NEAREST = 4
REMINDER = (
    "A reboot deletes GPU instances, so a reboot that the mode needs comes before their creation. On ESXi with "
    "vGPU, vSphere creates them itself when a VM starts."
)


def refuse_impossible(
    subject: str, rules: Rules, requests: Sequence[RequestedInstance], problems: Iterable[str], entries: Iterable[Any]
) -> NoReturn:
    """Raise the error of an impossible layout: all its problems, and the nearest possible layouts."""
    sums = _arithmetic(rules, requests)
    reasons = list(problems) + sums
    near = nearest(rules, Counter(requested.profile_id for requested in requests))
    shown = "; ".join(report(rules, counts) + _room_left(rules, counts) for counts in near)
    todo = [f"Choose one of the possible layouts: {shown}."] if near else []
    if problems:
        todo.append(f"The profiles of this GPU are {_all_profiles(rules)}.")
    if sums:
        todo.append(REMINDER)
    raise OperatorError(
        subject,
        f"the layout {', '.join(_entry(entry) for entry in entries)} is impossible",
        f"Problems: {'; '.join(reasons)}",
        " ".join(todo),
        "illegal_layout",
        reasons=reasons,
        nearest=[sorted(Counter(counts).elements()) for counts in near],
    )


def nearest(rules: Rules, asked: Mapping[int, int]) -> list[dict[int, int]]:
    """The largest legal parts of a request: most instances first, then most compute slices; none contains another."""
    ids = sorted(asked)
    parts = [
        dict(zip(ids, numbers))
        for numbers in _parts(rules, asked, ids, cast("int", rules.gpu.memory_slots))
        if any(numbers)
    ]
    parts.sort(key=lambda part: (-sum(part.values()), -_slices(rules, part), sorted(part.items())))
    found: list[dict[int, int]] = []
    for part in parts:
        if len(found) == NEAREST:
            break
        inside = any(all(part[profile_id] <= other[profile_id] for profile_id in ids) for other in found)
        if not inside and rules.legal(part):
            found.append(part)
    return found


def _parts(rules: Rules, asked: Mapping[int, int], ids: Sequence[int], slots: int) -> Iterator[tuple[int, ...]]:
    """The counts of every part of a request that fits into the slots left."""
    if not ids:
        yield ()
        return
    profile = rules.profiles[ids[0]]
    for count in range(min(asked[ids[0]], profile.max_instances, slots // profile.size) + 1):
        for rest in _parts(rules, asked, ids[1:], slots - count * profile.size):
            yield (count, *rest)


def report(rules: Rules, counts: Mapping[int, int]) -> str:
    """4g.20gb + 2 x 1g.5gb (ids 5,19,19)."""
    ids = [profile_id for profile_id in rules.largest_first if counts.get(profile_id)]
    names = [
        rules.profiles[profile_id].name
        if counts[profile_id] == 1
        else f"{counts[profile_id]} x {rules.profiles[profile_id].name}"
        for profile_id in ids
    ]
    numbers = ",".join(str(profile_id) for profile_id in ids for _once in range(counts[profile_id]))
    return f"{' + '.join(names)} (ids {numbers})"


def _arithmetic(rules: Rules, requests: Sequence[RequestedInstance]) -> list[str]:
    counts = Counter(requested.profile_id for requested in requests)
    reasons = []
    excesses = rules.excesses(counts)
    # Too many instances also need too many engines; report engines only where they are the reason.
    without_engines = [excess for excess in excesses if not excess.what.endswith("engines")]
    for excess in without_engines or excesses:
        if excess.what in {profile.name for profile in rules.gpu.profiles}:
            reasons.append(f"{excess.what} fits {_times(excess.there)}, {excess.asked} requested")
        else:
            each = _each(rules, counts, excess.what)
            reasons.append(f"{excess.asked} {excess.what} requested{each}, the GPU has {excess.there}")
    if rules.apart(counts):
        reasons.append("drivers before R510 reject a 4g beside a 3g")
    fixed = [Spot(requested.profile_id, requested.start) for requested in requests if requested.start is not None]
    taken = 0
    for spot in fixed:
        if taken & rules.mask(spot):
            reasons.append(f"{rules.profiles[spot.profile_id].name} at slot {spot.start} overlaps another one")
        taken |= rules.mask(spot)
    if not reasons and not rules.legal(counts):
        reasons.append(f"the sums fit, but there is no placement without overlap: {_starts(rules, counts)}")
    elif not reasons and next(rules.layouts(counts, fixed), None) is None:
        reasons.append("these instances fit, but not with the requested starts")
    return reasons


def _each(rules: Rules, counts: Mapping[int, int], what: str) -> str:
    figure = {"compute slices": "compute_slices", "memory slots": "size"}.get(what)
    if figure is None:
        return ""
    terms = [
        f"{rules.profiles[profile_id].name} {getattr(rules.profiles[profile_id], figure)}"
        + (f" x {counts[profile_id]}" if counts[profile_id] > 1 else "")
        for profile_id in rules.largest_first
        if counts.get(profile_id)
    ]
    return f" ({', '.join(terms)})"


def _starts(rules: Rules, counts: Mapping[int, int]) -> str:
    reported = []
    for profile_id in rules.largest_first:
        if counts.get(profile_id):
            profile = rules.profiles[profile_id]
            starts = " or ".join(str(start) for start in profile.starts)
            reported.append(
                f"{profile.name} covers {profile.size} of {rules.gpu.memory_slots} memory slots from {starts}"
            )
    return ", ".join(reported)


def _room_left(rules: Rules, counts: Mapping[int, int]) -> str:
    """The instances of the same profiles that still fit beside a possible part."""
    best: dict[int, int] = {}
    for spots in rules.layouts(counts):
        for profile_id in counts:
            more = rules.more(rules.covered(spots), counts, profile_id)
            best[profile_id] = max(more, best.get(profile_id, 0))
    added = [
        f"{best[profile_id]} more {rules.profiles[profile_id].name}"
        for profile_id in rules.largest_first
        if best.get(profile_id)
    ]
    return f", with room for {' or '.join(added)}" if added else ""


def _slices(rules: Rules, counts: Mapping[int, int]) -> int:
    return sum(rules.profiles[profile_id].compute_slices * count for profile_id, count in counts.items())


def _all_profiles(rules: Rules) -> str:
    return ", ".join(f"{rules.profiles[profile_id].name} (id {profile_id})" for profile_id in rules.largest_first)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _entry(entry: Any) -> str:
    if not isinstance(entry, dict):
        return str(entry)
    start = "" if entry.get("start") is None else f":{entry['start']}"
    return f"{entry.get('profile')}{start}"
