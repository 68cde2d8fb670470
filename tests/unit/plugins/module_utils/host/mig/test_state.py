from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import picture, state
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Rules
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.table import GPUS


def made(gpu, *spots):
    """A state with (profile id, start, compute slices ...)."""
    rules = Rules(GPUS[gpu])
    instances = tuple(state.Instance.planned(rules.profiles[one], start, slices) for one, start, *slices in spots)
    return state.State(rules, True, True, instances)


def test_an_instance_is_one_line_of_the_diff():
    now = made("a100_40gb", (9, 4, 1, 1), (19, 2, 1), (14, 0))
    assert state.lines(now.instances) == ["0-1 2g.10gb", "2 1g.5gb [1c]", "4-7 3g.20gb [1c 1c]"]


def test_free_slots_are_reported_as_regions():
    assert state.free_regions(made("a100_40gb", (19, 0), (19, 1), (19, 5))) == [(2, 3), (6, 2)]
    assert state.free_regions(made("a30")) == [(0, 4)]
    assert state.free_regions(made("a30", (0, 0))) == []


def test_what_is_in_the_way_is_reported_for_the_start_with_the_fewest():
    # As reported of a node whose deletions left these three: four slots are free, but no 3g or 4g fits.
    assert state.blockers(made("a100_40gb", (19, 0), (19, 1), (19, 5))) == [
        {"profile": "4g.20gb", "start": 0, "blocked_by": ["1g.5gb at 0", "1g.5gb at 1"]},
        {"profile": "3g.20gb", "start": 4, "blocked_by": ["1g.5gb at 5"]},
    ]


def test_a_profile_of_which_there_are_enough_is_not_blocked():
    assert state.blockers(made("a100_40gb", (20, 6))) == []


def test_a_picture_has_a_cell_for_every_slot():
    numbers, line = picture.draw(8, made("a100_40gb", (5, 0), (14, 4), (19, 6)).instances)
    assert numbers == "0       1       2       3       4       5       6       7"
    assert line == "[4g.20gb                       ][2g.10gb       ][1g.5gb][-     ]"


def test_a_name_that_is_longer_than_its_slot_does_not_shift_the_others():
    numbers, line = picture.draw(8, made("gb300", (20, 0), (19, 3)).instances)
    assert line == "[1g.35gb+me][-         ][-         ][1g.35gb   ]" + 4 * "[-         ]"
    assert [line[numbers.index(str(slot))] for slot in range(8)] == 8 * ["["]


def test_just_enough_free_slots_in_the_wrong_places_are_blocked_too():
    blocked = state.blockers(made("a100_40gb", (19, 0), (19, 1), (19, 4), (19, 5)))
    assert [one["profile"] for one in blocked] == ["4g.20gb", "3g.20gb"]
