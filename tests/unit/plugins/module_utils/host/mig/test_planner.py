from __future__ import annotations

import random
from collections import Counter

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import order
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.planner import RequestedInstance, plan
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Rules, Spot
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.table import GPUS

from . import brute

# Pairs of a present layout and a requested geometry that one test looks at.
PAIRS = 3000


def keyed(gpu):
    return {profile.key: profile.id for profile in GPUS[gpu].profiles}


def spots_of(gpu, layout):
    by_key = keyed(gpu)
    return {Spot(by_key[key], start) for key, start in layout}


def requests_of(gpu, geometry):
    by_key = keyed(gpu)
    return [RequestedInstance(by_key[key]) for key in geometry]


def made_by(rules, present, made):
    """What is there when a driver with the modelled preference carries out a plan."""
    spots = set(present) - set(made.destroy)
    for step in made.create:
        bits = rules.covered(spots)
        spot = step.spot if step.explicit else order.default_spot(rules, bits, step.spot.profile_id)
        assert spot == step.spot
        assert not bits & rules.mask(spot)
        spots.add(spot)
    return spots


@pytest.mark.parametrize(
    "gpu, keys",
    [
        ("a100_40gb", brute.BASE),
        ("a100_40gb", brute.ALL_SEVEN),
        ("h100_80gb_sxm", brute.WITH_DOUBLE),
        ("a30", brute.A30_ALL),
        ("rtx_pro_6000_blackwell", brute.A30),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{len(value)} profiles",
)
def test_as_many_instances_stay_as_brute_force_finds_possible(gpu, keys):
    rules = Rules(GPUS[gpu])
    layouts = sorted(brute.layouts(gpu, keys), key=sorted)
    by_geometry = {}
    for layout in layouts:
        by_geometry.setdefault(brute.geometry(layout), []).append(layout)
    pairs = [(present, geometry) for present in [frozenset(), *layouts] for geometry in by_geometry]
    # Every pair of the small sets, and of the large ones always the same choice.
    chosen = pairs if len(pairs) <= PAIRS else random.Random(1).sample(pairs, PAIRS)
    for present, geometry in chosen:
        most = max(len(present & layout) for layout in by_geometry[geometry])
        spots = spots_of(gpu, present)
        made = plan(rules, dict.fromkeys(spots, ()), requests_of(gpu, geometry))
        assert len(made.keep) == most, (present, geometry)
        assert brute.geometry({(rules.profiles[spot.profile_id].key, spot.start) for spot in made.layout}) == geometry
        assert made_by(rules, spots, made) == set(made.layout)


@pytest.mark.parametrize("gpu", [key for key, gpu in GPUS.items() if gpu.profiles])
def test_the_most_instances_of_every_profile_can_be_planned(gpu):
    rules = Rules(GPUS[gpu])
    for profile in GPUS[gpu].profiles:
        made = plan(rules, {}, [RequestedInstance(profile.id)] * profile.max_instances)
        assert len(made.layout) == profile.max_instances
        assert made_by(rules, (), made) == set(made.layout)


def test_seven_of_77_geometries_need_an_explicit_placement():
    rules = Rules(GPUS["a100_40gb"])
    geometries = {brute.geometry(layout) for layout in brute.layouts("a100_40gb", brute.WITH_DOUBLE)}
    assert len(geometries) == 77
    unreachable = [
        one for one in geometries if plan(rules, {}, requests_of("a100_40gb", one), placement="never") is None
    ]
    assert sorted("+".join(one) for one in unreachable) == [
        "1g+1g+1g+1g+1g+1g+1g_double",
        "1g+1g+1g+1g+1g_double+1g_double",
        "1g+1g+1g+1g+1g_double+2g",
        "1g+1g+1g_double+1g_double+1g_double",
        "1g+1g+1g_double+1g_double+2g",
        "1g+1g+1g_double+2g+2g",
        "1g+1g+1g_double+4g",
    ]
    for geometry in unreachable:
        made = plan(rules, {}, requests_of("a100_40gb", geometry))
        assert [step.spot for step in made.create if step.explicit] == [Spot(15, 6)]
        assert made_by(rules, (), made) == set(made.layout)


def test_every_base_geometry_has_an_order():
    rules = Rules(GPUS["a100_40gb"])
    for geometry in {brute.geometry(layout) for layout in brute.layouts("a100_40gb", brute.BASE)}:
        assert plan(rules, {}, requests_of("a100_40gb", geometry), placement="never") is not None


@pytest.mark.parametrize("gpu, keys", [("a100_40gb", brute.WITH_DOUBLE), ("a30", brute.A30)])
def test_of_the_layouts_that_keep_the_most_the_one_with_the_most_room_is_taken(gpu, keys):
    rules = Rules(GPUS[gpu])
    layouts = sorted(brute.layouts(gpu, keys), key=sorted)
    chosen = random.Random(2)
    for _round in range(60):
        present = chosen.choice([frozenset(), chosen.choice(layouts)])
        geometry = brute.geometry(chosen.choice([one for one in layouts if len(one) < 4]))
        alike = [layout for layout in layouts if brute.geometry(layout) == geometry]
        most = max(len(present & layout) for layout in alike)
        best = max(brute.room(gpu, keys, layout) for layout in alike if len(present & layout) == most)
        made = plan(rules, dict.fromkeys(spots_of(gpu, present), ()), requests_of(gpu, geometry))
        layout = frozenset((rules.profiles[spot.profile_id].key, spot.start) for spot in made.layout)
        assert brute.room(gpu, keys, layout) == best, (sorted(present), geometry)


def test_the_most_room_is_left():
    rules = Rules(GPUS["a100_40gb"])
    made = plan(rules, {}, [RequestedInstance(14), RequestedInstance(19)])
    # Slots 0-3 stay whole for a 4g or a 3g.
    assert set(made.layout) == {Spot(14, 4), Spot(19, 6)}


def test_a_3g_goes_where_it_strands_no_compute_slice():
    rules = Rules(GPUS["a100_40gb"])
    assert set(plan(rules, {}, [RequestedInstance(9)]).layout) == {Spot(9, 4)}


def test_what_is_in_use_is_kept_before_what_is_not():
    rules = Rules(GPUS["a100_40gb"])
    # Of a 3g and two 1g in the other half, one side has to go for a 4g beside one of the 1g.
    present = dict.fromkeys([Spot(9, 4), Spot(19, 0), Spot(19, 1)], ())
    requests = [RequestedInstance(5), RequestedInstance(9)]
    assert plan(rules, present, requests).keep == [Spot(9, 4)]
    present = dict.fromkeys([Spot(19, 1), Spot(19, 5), Spot(19, 6)], ())
    requests = [RequestedInstance(5), RequestedInstance(19)]
    assert plan(rules, present, requests, busy=[Spot(19, 5)]).keep == [Spot(19, 5)]
    assert plan(rules, present, requests, busy=[Spot(19, 6)]).keep == [Spot(19, 6)]


def test_a_wanted_start_is_met_even_when_something_has_to_go():
    rules = Rules(GPUS["a100_40gb"])
    made = plan(rules, {Spot(9, 4): (3,)}, [RequestedInstance(9, start=0)])
    assert (made.keep, made.destroy) == ([], [Spot(9, 4)])
    assert [step.spot for step in made.create] == [Spot(9, 0)]
    assert made.create[0].explicit


def test_the_request_with_the_compute_instances_that_are_there_gets_their_instance():
    rules = Rules(GPUS["a100_40gb"])
    present = {Spot(9, 0): (1, 1, 1), Spot(9, 4): (3,)}
    made = plan(rules, present, [RequestedInstance(9, compute=(3,)), RequestedInstance(9, compute=(1, 1, 1))])
    assert made.layout == {Spot(9, 0): (1, 1, 1), Spot(9, 4): (3,)}


def test_an_instance_of_an_unknown_profile_has_to_go():
    rules = Rules(GPUS["a100_40gb"])
    made = plan(rules, {Spot(99, 0): ()}, [RequestedInstance(19)])
    assert made.destroy == [Spot(99, 0)]


def test_nothing_to_do_is_an_empty_plan():
    rules = Rules(GPUS["a30"])
    made = plan(rules, {Spot(5, 0): (2,)}, [RequestedInstance(5, compute=(2,))])
    assert (made.keep, made.destroy, made.create) == ([Spot(5, 0)], [], [])


def test_an_impossible_request_has_no_plan():
    rules = Rules(GPUS["a100_40gb"])
    assert plan(rules, {}, [RequestedInstance(9), RequestedInstance(9), RequestedInstance(19)]) is None
    assert plan(rules, {}, [RequestedInstance(19, start=6), RequestedInstance(19, start=6)]) is None


def test_always_explicit_does_not_depend_on_the_driver():
    rules = Rules(GPUS["a100_40gb"])
    made = plan(rules, {}, [RequestedInstance(9), RequestedInstance(14), RequestedInstance(19)], placement="always")
    assert [step.explicit for step in made.create] == [True, True, True]
    assert Counter(step.spot.profile_id for step in made.create) == {9: 1, 14: 1, 19: 1}


def test_without_placements_a_plan_is_found_wherever_any_layout_is_reached_by_the_drivers_choices():
    rules = Rules(GPUS["a100_40gb"])
    layouts = sorted(brute.layouts("a100_40gb", brute.WITH_DOUBLE), key=sorted)
    chosen = random.Random(5)
    found = []
    for _round in range(400):
        present, wanted = chosen.choice(layouts), brute.geometry(chosen.choice(layouts))
        there = spots_of("a100_40gb", present)
        reached = []
        for layout in (one for one in layouts if brute.geometry(one) == wanted):
            spots = spots_of("a100_40gb", layout)
            if order.without_placement(rules, rules.covered(spots & there), spots - there) is not None:
                reached.append(len(spots & there))
        made = plan(rules, dict.fromkeys(there, ()), requests_of("a100_40gb", wanted), placement="never")
        assert (None if made is None else len(made.keep)) == max(reached, default=None)
        found.append(made is not None)
    assert {True, False} == set(found)


def test_one_instance_in_use_counts_more_than_two_that_are_idle():
    rules = Rules(GPUS["a100_40gb"])
    present = {Spot(19, 0): (1,), Spot(19, 2): (1,), Spot(19, 4): (1,)}
    requests = [RequestedInstance(9), RequestedInstance(19), RequestedInstance(19)]
    assert plan(rules, present, requests).keep == [Spot(19, 0), Spot(19, 2)]
    assert plan(rules, present, requests, busy=[Spot(19, 4)]).keep == [Spot(19, 4)]


def test_the_same_start_twice_is_no_plan():
    assert plan(Rules(GPUS["a100_40gb"]), {}, [RequestedInstance(19, 6), RequestedInstance(19, 6)]) is None


def test_an_instance_that_stays_gets_the_request_that_it_meets_already():
    rules = Rules(GPUS["a100_40gb"])
    made = plan(
        rules, {Spot(9, 4): (1, 1, 1)}, [RequestedInstance(9, None, (1, 1, 1)), RequestedInstance(9, None, (3,))]
    )
    assert made.layout == {Spot(9, 4): (1, 1, 1), Spot(9, 0): (3,)}


def test_an_instance_that_stays_is_left_as_it_is_where_a_request_allows_that():
    rules = Rules(GPUS["a100_40gb"])
    made = plan(rules, {Spot(9, 4): (1, 1, 1)}, [RequestedInstance(9, None, (3,)), RequestedInstance(9)])
    assert made.layout == {Spot(9, 4): None, Spot(9, 0): (3,)}
