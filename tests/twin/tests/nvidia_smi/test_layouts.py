"""Where instances may lie: the counts that the MIG guide's pictures and a brute force by hand agree on."""

from __future__ import annotations

import pytest

from vsphere_twin.model import mig_layout
from vsphere_twin.model.boards import GPUS

FIVE = {"1g", "2g", "3g", "4g", "7g"}
SEVEN = {*FIVE, "1g_double", "1g+me"}
# (layouts, layouts to which nothing can be added, sets of profiles)
COUNTS = {
    "A100, five profiles": ("a100_40gb", FIVE, 999, (297, 19, 37)),
    "A100 before R510": ("a100_40gb", FIVE, 509, (296, 18, 36)),
    "H100 with double memory": ("h100_80gb_sxm", {*FIVE, "1g_double"}, 999, (722, 78, 77)),
    "H100, all": ("h100_80gb_sxm", SEVEN, 999, (2318, 239, 127)),
    "A30": ("a30", {"1g", "2g", "4g"}, 999, (25, 5, 9)),
    "A30 with media engines": ("a30", {"1g", "2g", "4g", "1g+me", "2g+me"}, 999, (75, 17, 19)),
    "RTX PRO 6000": ("rtx_pro_6000_blackwell", {"1g", "2g", "4g"}, 999, (25, 5, 9)),
}


@pytest.mark.parametrize("key,names,branch,counts", COUNTS.values(), ids=COUNTS)
def test_exactly_the_legal_layouts_can_be_made(key, names, branch, counts):
    kind = GPUS[key]
    rows = [one for one in kind.profiles if one.key in names]
    found = _reachable(kind, rows, branch)
    full = [one for one in found if not any(mig_layout.free_starts(kind, list(one), row, branch) for row in rows)]
    sets = {tuple(sorted(row.id for row, _start in one)) for one in found}
    assert (len(found), len(full), len(sets)) == counts


@pytest.mark.parametrize(
    "taken,free",
    [
        ([(19, 4), (19, 6)], {19: 5, 20: 1, 15: 2, 14: 2, 9: 1, 5: 1, 0: 0}),
        ([(9, 0), (20, 4), (19, 6)], {19: 1, 20: 0, 15: 0, 14: 0, 9: 0, 5: 0, 0: 0}),
    ],
)
def test_room_is_counted_as_real_drivers_count_it(taken, free):
    kind = GPUS["h100_80gb_sxm"]
    there = [(kind.profile(profile_id), start) for profile_id, start in taken]
    assert {one.id: mig_layout.room_for(kind, there, one, 999) for one in kind.profiles} == free


def _reachable(kind, rows, branch):
    seen, todo = set(), [()]
    while todo:
        layout = todo.pop()
        for row in rows:
            for start in mig_layout.free_starts(kind, list(layout), row, branch):
                larger = tuple(sorted((*layout, (row, start)), key=lambda one: (one[1], one[0].id)))
                if larger not in seen:
                    seen.add(larger)
                    todo.append(larger)
    return seen
