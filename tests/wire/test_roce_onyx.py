"""roce_qos on Onyx over its command line: both forms of configuration, and all failures of a change."""

from __future__ import annotations

import pytest

from .roce_lab import LOSSLESS, bench, cut_at, ended, unchanged_by

OTHER = {"priority": 5, "dscp": 26}
OLD = "3.6.5000"
BY_HAND = [
    "traffic pool roce type lossless",
    "traffic pool roce memory percent 50.00",
    "traffic pool roce map switch-priority 3",
    "interface ethernet 1/1-1/4 qos trust L3",
    "interface ethernet 1/1-1/4 traffic-class 3 congestion-control ecn minimum-absolute 150 maximum-absolute 1500",
    "interface ethernet 1/1-1/4 traffic-class 3 dcb ets wrr 50",
    "interface ethernet 1/1-1/4 traffic-class 6 dcb ets strict",
    "interface ethernet 1/1-1/4 mtu 9216 force",
    "dcb priority-flow-control enable force",
    "dcb priority-flow-control priority 3 enable",
    "interface ethernet 1/1-1/4 dcb priority-flow-control mode on force",
    "interface ethernet 1/1-1/4 pfc-wd",
]


@pytest.mark.parametrize("version", [None, OLD], ids=["preset", "lines"])
def test_another_priority_and_back_again(version):
    with bench("onyx", version=version) as onyx:
        assert onyx.set()["changed"]
        assert onyx.now() == LOSSLESS
        assert onyx.set(**OTHER)["changed"]
        assert onyx.now() == {**LOSSLESS, "class": 5, "lossless": [5]}
        assert not onyx.set(**OTHER)["changed"]
        assert onyx.set()["changed"]
        assert onyx.now() == LOSSLESS
        assert onyx.set(state="absent")["changed"]
        assert "priority-flow-control" not in onyx.device.running()
        assert "pool" not in onyx.device.running()


def test_what_an_operator_wrote_by_hand_is_left_alone():
    with bench("onyx", BY_HAND) as onyx:
        answer = onyx.set()
        assert not answer["changed"], answer
        assert answer["switch"]["commands"] == []


def test_from_half_of_it_only_the_rest_is_sent():
    with bench("onyx", BY_HAND[:8]) as onyx:
        sent = onyx.set()["switch"]["commands"]
        assert onyx.now() == LOSSLESS
        assert not [line for line in sent if "traffic pool" in line or "congestion" in line or "mtu" in line]


def test_what_contradicts_the_preset_is_reported_and_undone():
    with bench("onyx", ["roce lossless", "interface ethernet 1/3 qos trust L2"]) as onyx:
        before = onyx.device.running()
        answer = onyx.set()
        ended(answer, "old", "not_proved")
        assert "Eth1/3: qos trust L2" in answer["msg"]
        assert onyx.device.running() == before


@pytest.mark.parametrize(
    "version, prefix",
    [(None, "interface ethernet 1/1-1/2 pfc-wd"), (OLD, "dcb priority-flow-control priority 3")],
    ids=["preset", "lines"],
)
def test_a_refused_line_in_the_middle_leaves_the_old_state(version, prefix, calm):
    assert unchanged_by(calm("onyx", version), prefix)


def test_a_cut_session_leaves_the_old_state(calm):
    ended(cut_at(calm("onyx"), "roce lossless"), "old", "connection_lost")


def test_a_session_that_is_cut_by_the_last_line_leaves_the_new_state():
    with bench("onyx") as onyx:
        answer = cut_at(onyx, "interface ethernet 1/1-1/2 mtu")
        assert not answer.get("failed"), answer
        assert onyx.now() == LOSSLESS
        assert onyx.device.startup() == onyx.device.running()


def test_a_full_disk_leaves_what_runs_and_says_so():
    with bench("onyx") as onyx:
        onyx.switch.full_flash = True
        ended(onyx.set(), "new", "not_saved")
        assert onyx.now() == LOSSLESS
        assert "roce" not in onyx.device.startup()


@pytest.mark.parametrize("feature", ["pfc", "ecn", "trust", "mtu"])
def test_hardware_that_does_not_follow_is_found_and_the_old_state_comes_back(feature, calm):
    onyx = calm("onyx", OLD)
    onyx.switch.dead_features.add(feature)
    answer = onyx.set()
    ended(answer, "old", "not_proved")
    assert f"the running {feature} is" in answer["msg"]


def test_check_mode_sends_no_line(calm):
    onyx = calm("onyx")
    onyx.switch.lines.clear()
    assert onyx.set(check=True)["switch"]["validated"] == "computed"
    assert not [line for line in onyx.switch.lines if not line.startswith(("show", "enable", "no cli"))]
