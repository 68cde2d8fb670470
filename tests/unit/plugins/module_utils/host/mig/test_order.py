from __future__ import annotations

import itertools

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import order
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Rules, Spot
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.table import GPUS

from . import brute

# Captured runs: what was asked for, in which order, and where it came to lie. None: Insufficient Resources.
RUNS = [
    ("a100_40gb", [19, 14, 5], [6, 4, 0]),
    ("a100_40gb", [19, 19, 14, 9], [6, 4, 0, None]),
    ("a100_40gb", [9, 19, 14, 19], [4, 0, 2, 1]),
    ("a100_40gb", [14, 19, 19, 19, 19, 19], [4, 6, 0, 1, 2, 3]),
    ("h100_80gb_sxm", [19] * 7, [6, 4, 5, 0, 1, 2, 3]),
    ("h200_141gb", [19, 19], [6, 4]),
    ("gh200_96gb", [15, 15, 15], [4, 0, 2]),
    ("a30", [14, 14, 5], [0, 1, 2]),
    ("rtx_pro_6000_blackwell", [14] * 4, [0, 3, 6, 9]),
    ("rtx_pro_6000_blackwell", [5, 14, 14], [0, 6, 9]),
]


@pytest.mark.parametrize("gpu, request_ids, starts", RUNS, ids=[f"{gpu} {ids}" for gpu, ids, _starts in RUNS])
def test_the_driver_places_as_it_did_in_captured_runs(gpu, request_ids, starts):
    rules, bits, found = Rules(GPUS[gpu]), 0, []
    for profile_id in request_ids:
        spot = order.default_spot(rules, bits, profile_id)
        found.append(spot.start if spot else None)
        bits |= rules.mask(spot) if spot else 0
    assert found == starts


def test_an_order_that_is_taken_blindly_fails_where_a_3g_has_to_lie_at_slot_4():
    rules = Rules(GPUS["a100_40gb"])
    ids = {profile.key: profile.id for profile in rules.gpu.profiles}
    geometries = {brute.geometry(layout) for layout in brute.layouts("a100_40gb", brute.BASE)}
    orders = {order for geometry in geometries for order in itertools.permutations(geometry)}
    failing = [geometry for geometry in orders if not reached(rules, [ids[key] for key in geometry])]
    assert (len(orders), len(failing)) == (113, 15)
    assert {tuple(sorted(one)) for one in failing} == {
        ("1g", "1g", "2g", "3g"),
        ("1g", "1g", "1g", "1g", "3g"),
        ("2g", "2g", "3g"),
    }


def reached(rules, profile_ids):
    """Whether the driver has room for each, in this order."""
    bits = 0
    for profile_id in profile_ids:
        spot = order.default_spot(rules, bits, profile_id)
        if spot is None:
            return False
        bits |= rules.mask(spot)
    return True


def test_an_order_is_found_that_leads_to_a_layout():
    rules = Rules(GPUS["a100_40gb"])
    spots = {Spot(9, 4), Spot(14, 2), Spot(19, 0), Spot(19, 1)}
    steps = order.steps(rules, 0, spots)
    assert not any(step.explicit for step in steps)
    bits = 0
    for step in steps:
        assert order.default_spot(rules, bits, step.spot.profile_id) == step.spot
        bits |= rules.mask(step.spot)
    assert {step.spot for step in steps} == spots


def test_what_no_order_reaches_is_placed_explicitly_and_first():
    rules = Rules(GPUS["a100_40gb"])
    spots = {Spot(15, 6), Spot(5, 0), Spot(19, 4), Spot(19, 5)}
    assert order.without_placement(rules, 0, spots) is None
    steps = order.steps(rules, 0, spots)
    assert [step.spot for step in steps if step.explicit] == [Spot(15, 6)]
    assert steps[0].explicit


def test_slots_that_are_taken_change_the_choice_of_the_driver():
    rules = Rules(GPUS["a100_40gb"])
    assert order.default_spot(rules, rules.mask(Spot(9, 4)), 9) == Spot(9, 0)
    assert order.default_spot(rules, rules.mask(Spot(0, 0)), 19) is None
