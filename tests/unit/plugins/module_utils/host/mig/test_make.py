from __future__ import annotations

import random

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.table import GPUS

from . import brute
from .asking import ask
from .device import UUID, Device


def test_a_placement_that_no_order_reaches_is_asked_for():
    device = Device()
    ask(device, layout=["4g", "1g.10gb", "1g", "1g"])
    assert device.layout == {0: (5, (4,)), 4: (19, (1,)), 5: (19, (1,)), 6: (15, (1,))}
    assert [argv[2] for argv in device.commands][:1] == ["15:6"]


ASCENDING = {1: (0, 1, 2, 3, 4, 5, 6), 2: (0, 2, 4), 4: (0, 4), 8: (0,)}


def test_what_a_driver_placed_otherwise_is_kept_when_the_request_is_met_all_the_same():
    device = Device(takes_placement=False, order=ASCENDING)
    device.put(14, 4, 2)
    predicted, _warnings = ask(device, check=True, layout=["2g", "1g"])
    assert predicted["after"]["layout"][-1]["start"] == 6
    made, _warnings = ask(device, layout=["2g", "1g"])
    assert (made["failed"], device.layout) == (False, {4: (14, (2,)), 0: (19, (1,))})
    # What was really made is reported, not what was planned.
    assert made["changes"][0]["after"] == ["0 1g.5gb [1c]", "4-5 2g.10gb [2c]"]


def test_a_start_that_a_driver_does_not_take_is_an_error_and_nothing_stays_behind():
    device = Device(takes_placement=False)
    result, warnings = ask(device, layout=[{"profile": "1g", "start": 2}])
    assert (result["failure"]["code"], device.layout) == ("placement_not_taken", {})
    assert "rejects the placement 19:2" in warnings[0]


def test_a_driver_that_neither_chooses_as_known_nor_takes_placements_is_reported_of():
    device = Device(takes_placement=False, order=ASCENDING)
    device.put(19, 3, 1)
    result, _warnings = ask(device, layout=["4g", {"profile": "1g", "start": 6}])
    assert result["failure"]["code"] == "placement_not_reached"
    # Such a driver cannot be brought back to what was there either.
    assert result["failure"]["restored"] is False
    assert "could not be restored. The GPU now has no instance" in result["msg"]


def test_a_driver_that_takes_no_placement_is_reported_of_and_the_earlier_layout_comes_back():
    device = Device(takes_placement=False)
    device.put(9, 4, 3)
    before = device.layout
    result, warnings = ask(device, layout=["4g", "1g.10gb", "1g", "1g"])
    assert result["failure"]["code"] == "placement_not_taken"
    assert result["failure"]["restored"] is True
    assert device.layout == before
    assert "rejects the placement 15:6" in warnings[0]


def test_a_driver_that_chooses_otherwise_is_asked_for_every_placement():
    device = Device(order=ASCENDING)
    result, _warnings = ask(device, layout=["3g", "2g", "1g"])
    assert not result["failed"], result["msg"]
    assert sorted(profile_id for profile_id, _compute in device.layout.values()) == [9, 14, 19]
    again, _warnings = ask(device, layout=["3g", "2g", "1g"])
    assert not again["changed"]


FULL = "Unable to create a GPU instance on GPU  0 using profile 14: Insufficient Resources\n"


def test_a_step_that_fails_brings_the_earlier_layout_back_and_says_so():
    device = Device()
    device.put(19, 0, 1)
    device.put(9, 4, 1, 1)
    before = device.layout
    device.refusals = [("-cgi", FULL, 23, 1, 1)]
    result, _warnings = ask(device, layout=["4g", "2g", "1g"])
    assert device.layout == before
    assert result["failed"]
    assert result["failure"]["code"] == "insufficient_resources"
    assert result["failure"]["restored"] is True
    assert "The earlier layout is restored." in result["msg"]
    assert result["changed"] is True
    assert result["after"] == result["before"]


def test_when_not_even_that_works_the_message_reports_what_is_there():
    device = Device()
    device.put(9, 4, 3)
    device.refusals = [("-cgi", FULL, 23, 1, 99)]
    result, _warnings = ask(device, layout=["4g", "2g", "1g"])
    assert result["failure"]["restored"] is False
    assert "The earlier layout (4-7 3g.20gb [3c]) could not be restored. The GPU now has" in result["msg"]


def test_a_gpu_that_is_lost_on_the_way_is_reported_with_the_first_reason():
    device = Device()
    device.put(9, 4, 3)
    device.refusals = [
        ("-cgi", "Unable to create a GPU instance on GPU  0 using profile 5: GPU is lost\n", 15, 0, 1),
        ("-lgi", "Failed to display GPU instances: GPU is lost\n", 15, 3, 99),
    ]
    result, _warnings = ask(device, layout=["4g", "2g"])
    assert result["failure"]["code"] == "gpu_lost"
    assert result["failure"]["restored"] is False
    assert "using profile 5: GPU is lost. The current layout could not be read: " in result["msg"]


def test_a_refusal_before_the_first_change_says_that_nothing_was_changed():
    device = Device()
    device.put(9, 4, 3)
    device.refusals = [("-dci", "Unable to destroy compute instance: In use by another client\n", 19, 0, 1)]
    result, _warnings = ask(device, layout=[])
    assert result["failure"]["code"] == "in_use"
    assert "Nothing has changed." in result["msg"]


def test_a_run_that_was_killed_half_way_is_finished_by_the_next():
    device = Device()
    # An instance without its compute instance, and one that nobody asked for.
    device.put(9, 4)
    device.put(19, 0, 1)
    result, _warnings = ask(device, layout=["3g", "2g"])
    assert not result["failed"]
    assert device.layout == {4: (9, (3,)), 0: (14, (2,))}


class Killed(Exception):
    """The controller is gone, after the last command took effect."""


class Mortal:
    """A device whose controller dies with a command that changes something, after it took effect."""

    def __init__(self, device, commands):
        self._device = device
        self._left = commands

    def run(self, argv):
        done = self._device.run(argv)
        if {"-mig", "-cgi", "-cci", "-dgi", "-dci"} & set(argv):
            self._left -= 1
            if not self._left:
                raise Killed
        return done


@pytest.mark.parametrize("commands", range(1, 12))
def test_wherever_a_run_is_killed_the_next_one_ends_the_same(commands):
    def world():
        device = Device()
        device.put(9, 0, 1, 1)
        device.put(19, 4, 1)
        device.put(19, 5, 1)
        return device

    requested = ["4g", {"profile": "2g", "compute": ["1c", "1c"]}, "1g"]
    whole = world()
    ask(whole, layout=requested)
    assert len(whole.commands) >= 8
    device = world()
    if commands <= len(whole.commands):
        with pytest.raises(Killed):
            ask(Mortal(device, commands), layout=requested)
    result, _warnings = ask(device, layout=requested)
    assert not result["failed"], result["msg"]
    assert device.layout == whole.layout


@pytest.mark.parametrize("model", ["a100_40gb", "h100_80gb_sxm", "a30"])
def test_any_layout_is_reached_from_any_other(model):
    chosen = random.Random(7)
    keys = brute.ALL_SEVEN if model != "a30" else brute.A30_ALL
    layouts = sorted(brute.layouts(model, keys), key=sorted)
    ids = {profile.key: profile.id for profile in GPUS[model].profiles}
    for _round in range(60):
        device = Device(model=model)
        present, wanted = chosen.choice(layouts), chosen.choice(layouts)
        for key, start in present:
            device.put(ids[key], start, *chosen.choice([(), (1,)]))
        result, _warnings = ask(device, layout=[ids[key] for key, _start in wanted])
        assert not result["failed"], result["msg"]
        assert sorted(profile_id for profile_id, _compute in device.layout.values()) == sorted(
            ids[key] for key, _start in wanted
        )
        assert all(
            compute == (GPUS[model].profile(profile_id).compute_slices,)
            for profile_id, compute in device.layout.values()
        )


def test_without_placements_what_is_idle_is_moved_where_the_layout_needs_it():
    """Beside a 3g at 0 the large 1g would have to lie at 6, where the driver puts none by itself."""
    device = Device(takes_placement=False)
    device.put(9, 0, 3)
    result, warnings = ask(device, layout=["3g", "1g_double", "1g", "1g"])
    assert not result["failed"], result["msg"]
    assert {start: profile_id for start, (profile_id, _compute) in device.layout.items()}[4] == 9
    assert "rejects the placement 15:6" in warnings[0]


def test_without_placements_what_is_in_use_is_not_moved():
    device = Device(takes_placement=False)
    used = device.put(9, 0, 3)
    device.processes = [("/usr/bin/train", 77, used)]
    result, _warnings = ask(device, layout=["3g", "1g_double", "1g", "1g"])
    assert result["failure"]["code"] == "placement_not_taken"
    assert device.instances == {used: [9, 0, [3]]}
    assert not any("-dci" in argv and str(used) in argv for argv in device.commands)


def test_a_refusal_for_want_of_room_is_not_taken_for_an_unknown_placement():
    device = Device()
    device.refusals = [("15:6", FULL, 23, 0, 99)]
    result, warnings = ask(device, layout=["4g", "1g_double", "1g", "1g"])
    assert result["failure"]["code"] == "insufficient_resources"
    assert warnings == []


def test_only_a_request_with_a_start_can_fail_for_its_start():
    device = Device()
    device.refusals = [("-cgi", "Failed to create GPU instances: Invalid Argument\n", 2, 0, 1)]
    result, warnings = ask(device, layout=["3g"])
    assert (result["failure"]["code"], warnings, device.layout) == ("invalid_argument", [], {})


def test_a_driver_with_other_preferences_is_asked_for_every_start():
    device = Device(order={1: (0, 1, 2, 3, 4, 5, 6), 2: (0, 2, 4), 4: (0, 4), 8: (0,)})
    result, warnings = ask(device, layout=["3g", "1g"])
    assert (result["failed"], warnings) == (False, [])
    starts = [argv[argv.index("-cgi") + 1] for argv in device.commands if "-cgi" in argv]
    assert starts[0] == "9"
    assert len(starts) > 1
    assert all(":" in one for one in starts[1:])


def test_a_missing_compute_instance_that_fills_is_the_drivers_default():
    """The default of a 1g with double memory has an id of its own (NVML API reference)."""
    device = Device()
    number = device.put(15, 0)
    ask(device, layout=["1g_double"])
    assert device.commands == [["mig", "-cci", "-gi", str(number), "-i", UUID]]
