"""Results of the tasks of role validation in the forms that its modules read, and the verdict."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.results import fabric, parts, seen, verdict

GUESTS = [{"name": "a", "address": "192.0.2.1", "host": "esx-01"}, {"name": "b", "address": ""}]


def ran(item, **result):
    return {"item": item, "changed": True, **result}


VARIABLES = {
    "a": {
        "__validation_before": {"measurements": [1], "outputs": {}, "changed": False},
        "__validation_pairs": {"measurements": [2]},
        "__validation_hostname": {"run": 1},
        "__validation_osu_runs": [ran({"check": "pair.mpi_lat", "guests": ["a", "b"]})],
        "__validation_alone": {"results": [ran({"guests": ["a"], "variant": "1:tcp"})]},
        "__validation_training": {"results": [ran({"guests": ["a", "b"], "variant": "2:tcp"}), {"skipped": True}]},
    },
    "b": {
        "__validation_after": {"unreachable": True, "msg": "gone"},
        "__validation_alone": {"skipped": True},
        "__validation_osu_runs": [ran({"check": "pair.mpi_bw", "guests": ["b", "a"]})],
    },
    "c": {"__validation_before": {"measurements": [3]}},
}


def test_guests_are_known_by_what_each_module_needs_of_them():
    assert parts(GUESTS) == {
        "names": ["a", "b"],
        "hosts": {"a": "esx-01"},
        "pairs": [{"name": "a", "address": "192.0.2.1"}],
        "runs": [{"name": "a", "address": "192.0.2.1"}, {"name": "b"}],
        "places": {"a": {"address": "192.0.2.1", "host": "esx-01"}, "b": {"address": ""}},
    }


def test_looks_are_those_of_the_guests_of_the_validation_with_what_is_judged():
    found = seen(VARIABLES, GUESTS, "tcp")
    assert found["guests"] == {
        "a": {"before": {"measurements": [1], "outputs": {}}, "after": {}},
        "b": {"before": {}, "after": {"unreachable": True, "msg": "gone"}},
    }
    assert (found["pairs"], found["hosts"]) == ({"measurements": [2]}, {"a": "esx-01"})


def test_runs_are_those_of_all_guests_then_of_loops():
    runs = seen(VARIABLES, GUESTS, "rdma")["runs"]
    assert [(one["check"], one["variant"], one["guests"]) for one in runs] == [
        ("cluster.hostname", "", ["a", "b"]),
        ("cluster.nccl", "rdma", ["a", "b"]),
        ("pair.mpi_lat", "", ["a", "b"]),
        ("pair.mpi_bw", "", ["b", "a"]),
        ("cluster.training", "1:tcp", ["a"]),
        ("cluster.training", "2:tcp", ["a", "b"]),
    ]
    assert [one["run"] for one in runs[:3]] == [{"run": 1}, {}, {"changed": True}]


def test_runs_of_loops_can_be_left_out():
    checks = [one["check"] for one in seen(VARIABLES, GUESTS, "tcp", looped=False)["runs"]]
    assert checks == ["cluster.hostname", "cluster.nccl"]


def test_without_guests_nothing_is_seen():
    assert seen({}, [], "tcp")["guests"] == {}


@pytest.mark.parametrize(
    "fail_on, failing",
    [("fail", ["fail", "incomplete"]), ("warn", ["fail", "incomplete", "warn"]), ("never", [])],
)
def test_a_run_fails_from_the_verdict_on_that_the_site_names(fail_on, failing):
    states = ("pass", "warn", "fail", "incomplete")
    reported = {
        state: verdict({"validation": {"verdict": {"state": state, "sentence": "S"}}}, fail_on, "r") for state in states
    }
    assert sorted(state for state, one in reported.items() if one["failed"]) == sorted(failing)


def test_a_verdict_is_reported_with_what_is_not_right_and_the_folder():
    mtu = {"id": "guest.mtu a", "why": "It is 1500.", "expected": "9000 bytes"}
    wrong = [mtu, {"id": "pair.iperf3", "why": "It is slow."}]
    judged = {"validation": {"verdict": {"state": "fail", "sentence": "Verdict: fail."}, "not_right": wrong}}
    reported = ["guest.mtu a: It is 1500. Expected: 9000 bytes.", "pair.iperf3: It is slow."]
    lines = ["Verdict: fail.", *reported, "Results: results"]
    assert verdict(judged, "fail", "results") == {"state": "fail", "failed": True, "lines": lines}


@pytest.mark.parametrize("judged", [None, {}, {"validation": {}}])
def test_without_a_verdict_nothing_passes(judged):
    assert verdict(judged, "never", "r")["state"] == "incomplete"
    assert verdict(judged, "fail", "r")["failed"]


def test_answers_of_switches_are_those_of_switches_that_answered():
    variables = {
        "localhost": {"__fabric_check": {"agreed": True}, "__fabric_check_hosts": {"hosts": [1]}},
        "leaf-01": {
            "__fabric_check_switch": {"switch": {"name": "leaf-01"}},
            "__validate_switch": {"switch": {"n": 2}},
        },
        "leaf-02": {"__fabric_check_switch": {"unreachable": True}},
        "leaf-03": {},
    }
    assert fabric(variables, {"switches": ["leaf-01", "leaf-02", "leaf-03"]}) == {
        "host_ports": [1],
        "agreement": {"agreed": True},
        "switches": {"before": [{"name": "leaf-01"}], "after": [{"n": 2}]},
    }


@pytest.mark.parametrize(
    "own, switches, why",
    [
        ({"site": {"fabric": {"agreement": "skip"}}}, ["leaf-01"], "The site skips this check"),
        ({"site": {"fabric": None}}, [], "the group switches is empty"),
        ({"__fabric_check": {"skipped": True}}, ["leaf-01"], "A limit, a tag or switch_state"),
    ],
)
def test_a_fabric_that_was_not_compared_has_the_reason(own, switches, why):
    found = fabric({"localhost": own, "leaf-01": {}}, {"switches": switches})
    assert list(found["agreement"]) == ["why"]
    assert why in found["agreement"]["why"]
    assert found["host_ports"] == []
