"""What the role validation works out of its guests: programs, pairs, runs, and when it fails."""

from __future__ import annotations

import pytest

from unit.roles.variables import value_of


def found(name, **given):
    return value_of("validation", f"__validation_{name}", **{"validation_intent": {}, "validation_guests": [], **given})


@pytest.mark.parametrize(
    "family, path, packages",
    [
        ("Debian", "tcp", ["iputils-ping", "iperf3", "ethtool"]),
        ("Debian", "sriov", ["iputils-ping", "iperf3", "ethtool", "rdmacm-utils", "perftest"]),
        ("RedHat", "pvrdma", ["iputils", "iperf3", "ethtool", "librdmacm-utils", "perftest"]),
        ("Suse", "sriov", []),
    ],
)
def test_programs_for_rdma_are_installed_where_the_data_path_is_one(family, path, packages):
    facts = {"os_family": family}
    assert found("wanted_packages", ansible_facts=facts, validation_intent={"data_path": path}) == packages


def test_programs_that_are_held_are_there_and_removed_ones_are_missing():
    lines = ["ii iperf3", "hi ethtool", "rc iputils-ping"]
    given = {"ansible_facts": {"os_family": "Debian"}, "__validation_packages": {"stdout_lines": lines}}
    assert found("missing", **given) == ["iputils-ping"]


GUESTS = [
    {"name": "job-01", "address": "192.0.2.1", "interface": "ens224", "device": "", "slots": 2, "host": "esx-01"},
    {"name": "job-02", "interface": "ens224", "slots": 1, "gpu": "A100"},
    {"name": "job-03", "address": "192.0.2.3", "gid_index": 3, "host": ""},
]


def test_pairs_are_of_guests_with_an_address_and_say_only_what_is_known():
    assert found("in_pairs", validation_guests=GUESTS) == [
        {"name": "job-01", "address": "192.0.2.1", "interface": "ens224"},
        {"name": "job-03", "address": "192.0.2.3", "gid_index": 3},
    ]


def test_runs_are_of_all_guests():
    assert found("in_runs", validation_guests=GUESTS) == [
        {"name": "job-01", "address": "192.0.2.1", "interface": "ens224", "slots": 2},
        {"name": "job-02", "interface": "ens224", "slots": 1},
        {"name": "job-03", "address": "192.0.2.3"},
    ]


def test_guests_are_reported_with_their_place_as_far_as_it_is_known():
    assert found("hosts", validation_guests=GUESTS) == {"job-01": "esx-01"}
    assert found("places", validation_guests=GUESTS)["job-02"] == {"gpu": "A100"}
    assert found("me", validation_guests=GUESTS, inventory_hostname="job-02")["slots"] == 1
    assert found("me", validation_guests=GUESTS, inventory_hostname="job-09") == {}


@pytest.mark.parametrize("judged, state", [(None, "incomplete"), ({}, "incomplete"), ({"state": "pass"}, "pass")])
def test_a_verdict_that_nobody_gave_is_not_complete(judged, state):
    judging = {} if judged is None else {"validation": {"verdict": judged} if judged else {}}
    assert found("verdict", __validation_judged=judging)["state"] == state


@pytest.mark.parametrize(
    "fail_on, failing",
    [("fail", ["fail", "incomplete"]), ("warn", ["fail", "incomplete", "warn"]), ("never", [])],
)
def test_the_role_fails_from_the_verdict_on_that_the_site_names(fail_on, failing):
    states = ("pass", "warn", "fail", "incomplete")
    bad = [state for state in states if state in found("bad", validation_fail_on=fail_on)[fail_on]]
    assert sorted(bad) == sorted(failing)
