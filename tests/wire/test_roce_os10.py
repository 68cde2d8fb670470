"""roce_qos on OS10 over its command line: with and without transactions, and all failures of a change."""

from __future__ import annotations

import pytest

from .roce_lab import LOSSLESS, bench, cut_at, ended, unchanged_by

OTHER = {"priority": 4, "dscp": 34}
BY_HAND = [
    "wred MARK",
    "random-detect color green minimum-threshold 150 maximum-threshold 1500 drop-probability 100",
    "random-detect ecn",
    "class-map type network-qos NQ3",
    "match qos-group 3",
    "class-map type queuing Q3",
    "match queue 3",
    "class-map type queuing Q6",
    "match queue 6",
    "trust dscp-map POINTS",
    "qos-group 3 dscp 24-31",
    "qos-group 6 dscp 48-55",
    "policy-map type network-qos PAUSE",
    "class NQ3",
    "pause",
    "pfc-cos 3",
    "policy-map type queuing OUT",
    "class Q3",
    "bandwidth percent 50",
    "random-detect MARK",
    "class Q6",
    "priority",
    "system qos",
    "trust-map dscp POINTS",
    "interface range ethernet1/1/1-1/1/4",
    "mtu 9216",
    "service-policy input type network-qos PAUSE",
    "service-policy output type queuing OUT",
    "priority-flow-control mode on",
    "ets mode on",
]


@pytest.mark.parametrize("transaction", ["auto", "never"])
def test_another_priority_and_nothing_of_it_is_left(transaction):
    with bench("os10") as os10:
        factory = os10.device.running()
        assert os10.set(transaction=transaction)["changed"]
        assert os10.now() == LOSSLESS
        assert os10.set(transaction=transaction, **OTHER)["changed"]
        reported = os10.device.treatment("ethernet1/1/1")
        assert (reported.priorities[34], sorted(reported.no_drop), reported.priorities[26]) == (4, [4], 0)
        assert not os10.set(transaction=transaction, **OTHER)["changed"]
        assert os10.set(transaction=transaction, state="absent")["changed"]
        assert os10.device.running().replace(" mtu 9216\n", "") == factory


def test_what_an_operator_wrote_by_hand_is_left_alone():
    with bench("os10", BY_HAND) as os10:
        answer = os10.set()
        assert not answer["changed"], answer
        assert answer["switch"]["commands"] == []


def test_objects_of_an_operator_stay_when_ports_leave_them():
    with bench("os10", BY_HAND) as os10:
        assert os10.set(mode="lossy")["changed"]
        assert os10.now() == {**LOSSLESS, "lossless": []}
        assert os10.now(3) == LOSSLESS
        assert "policy-map type network-qos PAUSE" in os10.device.running()


@pytest.mark.parametrize(
    "prefix, transaction",
    [
        ("policy-map type queuing AIREADY", "never"),
        ("trust-map dscp AIREADY", "never"),
        ("trust-map dscp AIREADY", "auto"),
    ],
    ids=["object", "port", "port in a transaction"],
)
def test_a_refused_line_in_the_middle_leaves_the_old_state(prefix, transaction):
    with bench("os10", BY_HAND) as os10:
        assert unchanged_by(os10, prefix, transaction=transaction, **OTHER)


def test_a_refused_commit_leaves_the_old_state(calm):
    assert unchanged_by(calm("os10"), "commit")


@pytest.mark.parametrize("transaction", ["auto", "never"])
def test_a_cut_session_leaves_the_old_state(transaction, calm):
    reported = cut_at(calm("os10"), "priority-flow-control mode on", transaction=transaction)
    ended(reported, "old", "connection_lost")


def test_a_session_that_is_cut_by_the_commit_leaves_the_new_state():
    with bench("os10") as os10:
        answer = cut_at(os10, "commit")
        assert not answer.get("failed"), answer
        assert os10.now() == LOSSLESS
        assert os10.device.startup() == os10.device.running()


def test_a_full_disk_leaves_what_runs_and_says_so():
    with bench("os10") as os10:
        os10.switch.full_flash = True
        ended(os10.set(), "new", "not_saved")
        assert os10.now() == LOSSLESS
        assert "AIREADY" not in os10.device.startup()


@pytest.mark.parametrize("feature", ["pfc", "mtu"])
def test_hardware_that_does_not_follow_is_found_and_the_old_state_comes_back(feature, calm):
    os10 = calm("os10")
    os10.switch.dead_features.add(feature)
    answer = os10.set()
    ended(answer, "old", "not_proved")
    assert f"the running {feature} is" in answer["msg"]


def test_check_mode_sends_no_line(calm):
    os10 = calm("os10")
    os10.switch.lines.clear()
    assert os10.set(check=True)["switch"]["validated"] == "computed"
    assert not [line for line in os10.switch.lines if not line.startswith(("show", "terminal"))]
