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


def test_another_package_brings_perftest():
    given = {"ansible_facts": {"os_family": "Debian"}, "validation_intent": {"data_path": "sriov"}}
    assert found("wanted_packages", validation_perftest="perftest-cuda", **given)[-1] == "perftest-cuda"


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
    assert found("parts", validation_guests=GUESTS)["pairs"] == [
        {"name": "job-01", "address": "192.0.2.1", "interface": "ens224"},
        {"name": "job-03", "address": "192.0.2.3", "gid_index": 3},
    ]


def test_runs_are_of_all_guests():
    assert found("parts", validation_guests=GUESTS)["runs"] == [
        {"name": "job-01", "address": "192.0.2.1", "interface": "ens224", "slots": 2},
        {"name": "job-02", "interface": "ens224", "slots": 1},
        {"name": "job-03", "address": "192.0.2.3"},
    ]


def test_guests_are_reported_with_their_place_as_far_as_it_is_known():
    parts = found("parts", validation_guests=GUESTS)
    assert parts["hosts"] == {"job-01": "esx-01"}
    assert parts["places"]["job-02"] == {"gpu": "A100"}
    assert found("me", validation_guests=GUESTS, inventory_hostname="job-02")["slots"] == 1
    assert found("me", validation_guests=GUESTS, inventory_hostname="job-09") == {}


MEASURED = {"job-01": {"__validation_pairs": {"measurements": [1]}}, "job-02": {}, "job-03": {}}


def test_what_was_measured_is_judged_with_what_the_site_and_other_plays_say():
    given = {"validation_guests": GUESTS, "hostvars": MEASURED, "validation_intent": {"data_path": "pvrdma"}}
    seen = found("seen", validation_switches={"before": [1]}, validation_agreement={"why": "none"}, **given)
    assert (seen["pairs"], seen["switches"], seen["agreement"]) == (
        {"measurements": [1]},
        {"before": [1]},
        {"why": "none"},
    )
    assert (seen["intent"], seen["thresholds"], seen["simulated"]) == ({"data_path": "pvrdma"}, {}, [])
    assert [one["variant"] for one in seen["runs"]] == ["", "rdma"]


def test_programs_of_osu_that_the_site_does_not_ask_for_are_not_due():
    assert found("osu_unblocked", validation_guests=GUESTS, hostvars=MEASURED) == []


@pytest.mark.parametrize("judged, state", [(None, "incomplete"), ({}, "incomplete"), ({"state": "pass"}, "pass")])
def test_a_verdict_that_nobody_gave_is_not_complete(judged, state):
    verdict = {"verdict": {"sentence": "Verdict.", **judged}} if judged else {}
    judging = {} if judged is None else {"__validation_judged": {"validation": verdict}}
    reported = found("reported", validation_result_dir="results", **judging)
    assert (reported["state"], reported["failed"]) == (state, state == "incomplete")
