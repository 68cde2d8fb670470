"""What lies apart is named, and the narrowest place that the bad ones share."""

from __future__ import annotations

import itertools

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import spread

from .world import names, topology

GUESTS = names(6)
PAIRS = list(itertools.permutations(GUESTS, 2))


def places(per_switch=3, hosts=6):
    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import places as locations

    reported = locations.of(topology(GUESTS, per_switch))
    for number, guest in enumerate(GUESTS):
        if hosts < 6:
            mate = GUESTS[number % hosts]
            reported[guest] = dict(reported[mate])
    return reported


def test_dispersion_is_that_of_benchmarks():
    reported = spread.dispersion([199.4, 248.1, 247.6, 246.4, 246.4, 248.3, 186.1, 243.2, 237.1, 244.8])
    assert (round(reported["half"], 1), round(reported["band"], 1), round(reported["half_share"], 2)) == (
        42.0,
        84.0,
        0.18,
    )
    assert (reported["range"], round(reported["range_share"], 3)) == (62.2, 0.265)
    assert spread.dispersion([1.0]) is spread.dispersion([float("nan"), 2.0]) is None


@pytest.mark.parametrize(
    "figures, better, bad",
    [
        ({"a": 92.0, "b": 92.1, "c": 91.9, "d": 60.0}, "high", ["d"]),
        ({"a": 2.4, "b": 2.5, "c": 9.0}, "low", ["c"]),
        # Better than the others is no fault.
        ({"a": 92.0, "b": 92.1, "c": 99.0}, "high", []),
        # All the same, and one a little less: not enough to say anything.
        ({"a": 92.0, "b": 92.0, "c": 92.0, "d": 90.0}, "high", []),
        # They lie so far apart that none is apart.
        ({"a": 50.0, "b": 90.0, "c": 70.0, "d": 60.0, "e": 80.0}, "high", []),
        ({"a": 92.0, "b": 10.0}, "high", []),
        ({"a": 92.0, "b": 92.0, "c": 20.0, "d": 30.0, "e": 91.0, "f": 93.0}, "high", ["c", "d"]),
        ({"a": 92.0, "b": None, "c": 92.0, "d": float("nan"), "e": 50.0}, "high", ["e"]),
    ],
)
def test_outliers_against_the_median_of_the_others(figures, better, bad):
    assert [one["key"] for one in spread.outliers(figures, better)] == bad


@pytest.mark.parametrize(
    "bad, level, name",
    [
        ([pair for pair in PAIRS if "job-03" in pair], "guest", "job-03"),
        ([pair for pair in PAIRS if pair[1] == "job-03"], "guest", "job-03"),
        ([pair for pair in PAIRS if pair[0] == "job-03"], "guest", "job-03"),
        ([("job-01", "job-04"), ("job-04", "job-01")], "pair", "job-01 - job-04"),
        ([("job-01", "job-04")], "pair", "job-01 > job-04"),
        (PAIRS, "all", "all"),
        ([pair for pair in PAIRS if {"job-02", "job-05"} & set(pair)], "guests", "job-02, job-05"),
        # Three guests at each of two switches: all that goes from one to the other.
        ([pair for pair in PAIRS if (pair[0] < "job-04") != (pair[1] < "job-04")], "link", "leaf-01 - leaf-02"),
        ([pair for pair in PAIRS if pair[0] > "job-03" and pair[1] > "job-03"], None, None),
        ([], None, None),
    ],
    ids=[
        "guest",
        "receives",
        "sends",
        "pair",
        "direction",
        "all",
        "two guests",
        "uplink",
        "nothing shared",
        "none bad",
    ],
)
def test_the_narrowest_place_in_common(bad, level, name):
    found = spread.common(bad, PAIRS, places())
    assert (found and found["level"], found and found["name"]) == (level, name)


def test_a_direction_is_reported():
    bad = [pair for pair in PAIRS if pair[1] == "job-03"]
    text = spread.common(bad, PAIRS, places())["text"]
    assert text == "job-03 (esx-03 vmnic2, leaf-01 Ethernet3), only when it receives"


def test_a_port_with_several_guests_is_narrower_than_all_of_them():
    """Six guests on three hosts: of both on one host all is bad."""
    bad = [pair for pair in PAIRS if {"job-02", "job-05"} & set(pair)]
    found = spread.common(bad, PAIRS, places(hosts=3))
    assert (found["level"], found["name"]) == ("port", "leaf-01 Ethernet2")
    assert "job-02, job-05" in found["text"]


def test_a_host_where_ports_are_not_known():
    reported = {guest: {"host": f"esx-{number % 3}"} for number, guest in enumerate(GUESTS)}
    bad = [pair for pair in PAIRS if {"job-02", "job-05"} & set(pair)]
    assert spread.common(bad, PAIRS, reported)["level"] == "host"


def test_with_two_guests_nobody_can_say_which_one_it_is():
    found = spread.common([("job-01", "job-02")], [("job-01", "job-02"), ("job-02", "job-01")], places())
    assert (found["level"], found["sure"]) == ("pair", False)
    assert "not enough to identify" in found["text"]


def test_without_a_map_guests_are_named_all_the_same():
    bad = [pair for pair in PAIRS if "job-03" in pair]
    assert spread.common(bad, PAIRS)["text"] == "job-03"


def test_one_good_pair_of_many_does_not_clear_a_guest():
    bad = [pair for pair in PAIRS if "job-03" in pair][1:]
    assert spread.common(bad, PAIRS, places())["name"] == "job-03"
