"""Possible positions of GPU instances, as arithmetic on the axis of memory slots (NVIDIA MIG user guide)."""

from __future__ import annotations

# Order in which the driver tries the starts of an instance of this many slots on the GPUs with eight slots; the others
# are filled upwards. A model that reproduces the captured runs of nvidia-smi [unsure: model].
PREFERENCE = {1: (6, 4, 5, 0, 1, 2, 3), 2: (4, 0, 2, 6), 4: (4, 0)}
EIGHT_SLOTS = 8
# Before this branch 4g and 3g did not go together (NVIDIA MIG user guide, change notes).
FOUR_WITH_THREE = 510
ENGINES = ("dec", "enc", "jpeg", "ofa")


def profiles(kind, branch):
    """The profiles that a driver of this branch offers on a kind of GPU."""
    return [one for one in kind.profiles if one.first_driver_branch is None or one.first_driver_branch <= branch]


def overlaps(start, size, other, length):
    return start < other + length and other < start + size


def free_starts(kind, taken, profile, branch):
    """The starts at which an instance fits beside the (profile, start) that are taken, in the driver's order."""
    if not _counted(taken, profile) or not _engines_left(kind, taken, profile):
        return []
    if branch < FOUR_WITH_THREE and _four_beside_three(taken, profile):
        return []
    return [
        start
        for start in _preferred(kind, profile)
        if all(not overlaps(start, profile.size, other, one.size) for one, other in taken)
    ]


def room_for(kind, taken, profile, branch):
    """Return how many more instances of a profile fit: the first column of `-lgip`."""
    taken, count = list(taken), 0
    while True:
        # Equal lengths: to take the lowest free start each time gives the most.
        starts = sorted(free_starts(kind, taken, profile, branch))
        if not starts:
            return count
        taken.append((profile, starts[0]))
        count += 1


def instance_id(kind, start, size, branch):
    """The id of the instance at a place: the whole is 0, then the halves, quarters and eighths in order.

    On an A100 with driver 510 the halves have changed places (captured on ESXi); later captures have them in order.
    """
    parts = kind.memory_slots // size
    if kind.memory_slots == EIGHT_SLOTS and branch <= FOUR_WITH_THREE and parts > 1:
        start ^= EIGHT_SLOTS // 2
    return parts - 1 + start // size


def _counted(taken, profile):
    return sum(one.id == profile.id for one, _start in taken) < profile.max_instances


def _engines_left(kind, taken, profile):
    """Return the free media engines, a second budget: those of the whole GPU, shared by all instances."""
    whole = max(kind.profiles, key=lambda one: (one.size, one.compute_slices))
    for engine in ENGINES:
        have = getattr(whole, engine)
        used = [getattr(one, engine) for one, _start in [*taken, (profile, 0)]]
        if have is not None and None not in used and sum(used) > have:
            return False
    special = [one for one, _start in taken if "me" in one.attributes]
    return not (special and "me" in profile.attributes)


def _four_beside_three(taken, profile):
    slices = [one.compute_slices for one, _start in taken] + [profile.compute_slices]
    return 4 in slices and 3 in slices


def _preferred(kind, profile):
    if kind.memory_slots != EIGHT_SLOTS:
        return sorted(profile.starts)
    order = PREFERENCE.get(profile.size, ())
    return sorted(profile.starts, key=lambda start: (order.index(start) if start in order else len(order), start))
