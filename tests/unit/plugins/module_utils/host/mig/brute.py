"""Layouts by brute force: every set of (profile, start) that does not overlap, found without the planner's code."""

from __future__ import annotations

import functools

from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.table import GPUS

BASE = ("1g", "2g", "3g", "4g", "7g")
WITH_DOUBLE = ("1g", "1g_double", "2g", "3g", "4g", "7g")
ALL_SEVEN = ("1g", "1g+me", "1g_double", "2g", "3g", "4g", "7g")
A30 = ("1g", "2g", "4g")
A30_ALL = ("1g", "1g+me", "2g", "2g+me", "4g")


@functools.cache
def layouts(gpu_key, keys, apart=()):
    """Every layout of some profiles, as frozensets of (key, start); apart: keys that never come together."""
    gpu = GPUS[gpu_key]
    chosen = [profile for profile in gpu.profiles if profile.key in keys]
    places = [(profile, start) for profile in chosen for start in profile.starts]
    found = set()

    def grow(at, layout, used):
        if at == len(places):
            if layout and not (apart and {key for key, _start in layout} >= set(apart)):
                found.add(frozenset(layout))
            return
        grow(at + 1, layout, used)
        profile, start = places[at]
        slots = set(range(start, start + profile.size))
        same = sum(key == profile.key for key, _start in layout)
        media = sum("me" in key for key, _start in layout)
        full = same >= profile.max_instances or ("me" in profile.key and media)
        if not slots & used and not full:
            grow(at + 1, [*layout, (profile.key, start)], used | slots)

    grow(0, [], set())
    return frozenset(found)


def room(gpu_key, keys, layout):
    """How many more of each profile without attributes some larger layout has, the largest profile first."""
    gpu = GPUS[gpu_key]
    plain = [one for one in gpu.profiles if one.key in keys and not one.attributes]
    plain.sort(key=lambda one: (-one.size, -one.compute_slices))
    larger = [other for other in layouts(gpu_key, keys) if layout < other]
    return tuple(
        max(
            (len(other - layout) for other in larger if {key for key, _start in other - layout} == {one.key}), default=0
        )
        for one in plain
    )


def geometry(layout):
    """The profiles of a layout, sorted."""
    return tuple(sorted(key for key, _start in layout))
