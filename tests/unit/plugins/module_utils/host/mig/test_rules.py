from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Excess, Rules, Spot
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.table import GPUS

from . import brute

SEVEN_SLICES = sorted(key for key, gpu in GPUS.items() if gpu.compute_slices == 7)


def rules(key, branch=None):
    return Rules(GPUS[key], branch)


def ids(key, *keys):
    by_key = {profile.key: profile.id for profile in GPUS[key].profiles}
    return [by_key[one] for one in keys]


def everything(key, keys, branch=None):
    """All layouts that the rules allow, by all counts that could be."""
    of = rules(key, branch)
    chosen = [profile for profile in of.gpu.profiles if profile.key in keys]
    found = set()
    for numbers in itertools.product(*(range(profile.max_instances + 1) for profile in chosen)):
        counts = {profile.id: number for profile, number in zip(chosen, numbers, strict=True) if number}
        if counts:
            found.update(
                frozenset((of.profiles[spot.profile_id].key, spot.start) for spot in spots)
                for spots in of.layouts(counts)
            )
    return found


# The MIG user guide's pictures count 18 (19 since R510) maximal layouts for seven slices and 5 for the A30; the other
# figures come from enumerating its placements.
@pytest.mark.parametrize(
    "gpu, keys, branch, layouts, maximal, geometries, of_maximal, largest",
    [
        ("a100_40gb", brute.BASE, None, 297, 19, 37, 14, 12),
        ("a100_40gb", brute.BASE, 470, 296, 18, 36, 13, 11),
        ("a100_40gb", brute.WITH_DOUBLE, None, 722, 78, 77, 38, 28),
        ("a100_40gb", brute.ALL_SEVEN, None, 2318, 239, 127, 64, 44),
        ("h100_80gb_sxm", brute.ALL_SEVEN, None, 2318, 239, 127, 64, 44),
        ("b200", brute.ALL_SEVEN, None, 2318, 239, 127, 64, 44),
        ("a30", brute.A30, None, 25, 5, 9, 4, 4),
        ("a30", brute.A30_ALL, None, 75, 17, 19, 8, 8),
        ("rtx_pro_6000_blackwell", brute.A30, None, 25, 5, 9, 4, 4),
    ],
)
def test_as_many_layouts_are_legal_as_the_guide_pictures(
    gpu, keys, branch, layouts, maximal, geometries, of_maximal, largest
):
    found = everything(gpu, keys, branch)
    assert len(found) == layouts
    every = {brute.geometry(layout) for layout in found}
    assert len(every) == geometries
    assert len([one for one in every if not any(_within(one, other) for other in every - {one})]) == largest
    of = rules(gpu, branch)
    by_key = {profile.key: profile.id for profile in of.gpu.profiles}
    full = []
    for layout in found:
        spots = [Spot(by_key[key], start) for key, start in layout]
        counts = Counter(spot.profile_id for spot in spots)
        if not any(of.more(of.covered(spots), counts, by_key[key]) for key in keys):
            full.append(layout)
    assert len(full) == maximal
    assert len({brute.geometry(layout) for layout in full}) == of_maximal


@pytest.mark.parametrize(
    "gpu, keys, branch, apart",
    [
        ("a100_40gb", brute.ALL_SEVEN, None, ()),
        ("a100_40gb", brute.BASE, 470, ("3g", "4g")),
        ("a30", brute.A30_ALL, None, ()),
        ("rtx_pro_6000_blackwell", brute.A30, None, ()),
    ],
)
def test_the_legal_layouts_are_those_of_brute_force(gpu, keys, branch, apart):
    assert everything(gpu, keys, branch) == brute.layouts(gpu, keys, apart)


@pytest.mark.parametrize("gpu", SEVEN_SLICES)
def test_every_seven_slice_gpu_has_the_same_layouts(gpu):
    assert everything(gpu, brute.BASE) == everything("a100_40gb", brute.BASE)


def test_the_twelve_maximal_geometries_of_seven_slices():
    geometries = {brute.geometry(layout) for layout in everything("a100_40gb", brute.BASE)}
    largest = [one for one in geometries if not any(_within(one, other) for other in geometries if other != one)]
    assert sorted("+".join(reversed(one)) for one in largest) == [
        "1g+1g+1g+1g+1g+1g+1g",
        "2g+1g+1g+1g+1g+1g",
        "2g+2g+1g+1g+1g",
        "2g+2g+2g+1g",
        "3g+1g+1g+1g+1g",
        "3g+2g+1g+1g",
        "3g+2g+2g",
        "3g+3g",
        "4g+1g+1g+1g",
        "4g+2g+1g",
        "4g+3g",
        "7g",
    ]


def _within(one, other):
    return not Counter(one) - Counter(other)


@pytest.mark.parametrize(
    "taken, free",
    [
        # Both from the -lgip of an H100 with these instances (driver 580.173.02).
        ([("1g", 4), ("1g", 6)], {"1g": 5, "1g+me": 1, "1g_double": 2, "2g": 2, "3g": 1, "4g": 1, "7g": 0}),
        (
            [("3g", 0), ("1g+me", 4), ("1g", 6)],
            {"1g": 1, "1g+me": 0, "1g_double": 0, "2g": 0, "3g": 0, "4g": 0, "7g": 0},
        ),
    ],
)
def test_what_still_fits_is_what_the_driver_counts_as_free(taken, free):
    of = rules("h100_80gb_sxm")
    by_key = {profile.key: profile.id for profile in of.gpu.profiles}
    spots = [Spot(by_key[key], start) for key, start in taken]
    counts = Counter(spot.profile_id for spot in spots)
    bits = of.covered(spots)
    assert {key: of.more(bits, counts, by_key[key]) for key in free} == free


def test_media_engines_are_a_budget_beside_the_slots():
    of = rules("rtx_pro_6000_blackwell")
    all_media, plain, none = ids("rtx_pro_6000_blackwell", "1g+me.all", "1g", "1g-me")
    assert not of.legal({all_media: 1, plain: 1})
    assert of.legal({all_media: 1, none: 3})
    assert Excess("DEC engines", 5, 4) in of.excesses({all_media: 1, plain: 1})


def test_a_gpu_that_lists_no_profiles_has_no_engines_to_give():
    of = Rules(replace(GPUS["a30"], profiles=()))
    assert (of.budget, list(of.spots), of.largest_first) == ((0, 0, 0, 0), [], [])


def test_only_one_instance_of_an_a30_has_the_media_engines():
    of = rules("a30")
    small, large = ids("a30", "1g+me", "2g+me")
    assert of.legal({small: 1})
    assert not of.legal({small: 1, large: 1})


def test_a_4g_lies_beside_a_3g_from_r510_on():
    four, three = ids("a100_40gb", "4g", "3g")
    assert not rules("a100_40gb", 470).legal({four: 1, three: 1})
    assert rules("a100_40gb", 510).legal({four: 1, three: 1})
    assert rules("a100_40gb").legal({four: 1, three: 1})


def test_a_wanted_start_narrows_the_layouts():
    of = rules("a100_40gb")
    (three,) = ids("a100_40gb", "3g")
    assert list(of.layouts({three: 1}, [Spot(three, 0)])) == [(Spot(three, 0),)]
    assert list(of.layouts({three: 1}, [Spot(three, 0), Spot(three, 0)])) == []


def test_engines_never_forbid_what_the_count_of_a_profile_allows():
    """Some drivers list a decoder for each 1g of an A100, though the whole GPU has five."""
    gpu = GPUS["a100_40gb"]
    profiles = tuple(replace(one, dec=1) if one.key == "1g" else one for one in gpu.profiles)
    assert Rules(replace(gpu, profiles=profiles)).legal({19: 7})


def test_starts_that_overlap_have_no_layout_though_the_instances_would_fit():
    rules = Rules(GPUS["a100_40gb"])
    assert rules.legal({9: 1, 5: 1})
    assert list(rules.layouts({9: 1, 5: 1}, (Spot(9, 0), Spot(5, 0)))) == []


def test_what_still_fits_regards_engines_and_not_just_free_slots():
    rules = Rules(GPUS["rtx_pro_6000_blackwell"])
    all_engines = Spot(65, 0)
    taken = rules.mask(all_engines)
    assert rules.more(taken, {65: 1}, 14) == 0
    assert rules.more(taken, {65: 1}, 67) == 3


def test_what_still_fits_regards_what_an_old_driver_refuses_together():
    gpu = GPUS["a100_40gb"]
    left = [Rules(gpu, branch).more(0b1111, {5: 1}, 9) for branch in (470, 510, None)]
    assert left == [0, 1, 1]


def test_every_layout_is_listed_once():
    found = [frozenset(spots) for spots in Rules(GPUS["a100_40gb"]).layouts({19: 3})]
    assert (len(found), len(set(found))) == (35, 35)
