"""roce_qos on SONiC over ssh: stock switches of several branches, and all failures of a change."""

from __future__ import annotations

import json

import pytest

from .roce_lab import LOSSLESS, NAME, bench, cut_at, ended, unchanged_by

BRANCHES = pytest.mark.parametrize("version", ["202605", "202311", "20240510.24"])


@BRANCHES
def test_another_priority_and_back_again(version):
    with bench("sonic", version=version) as sonic:
        stock = sonic.now()
        assert stock["class"] != 3
        answer = sonic.set()
        assert answer["changed"], answer
        assert sonic.now() == LOSSLESS
        other = {"priority": 5, "dscp": 26, "bandwidth_percent": 70}
        answer = sonic.set(**other)
        assert answer["changed"], answer
        assert sonic.now() == {**LOSSLESS, "class": 5, "lossless": [5]}
        assert not sonic.set(**other)["changed"]
        assert sonic.set()["changed"]
        assert sonic.now() == LOSSLESS
        assert sonic.set(state="absent")["changed"]
        assert "AIREADY" not in sonic.device.running()


def test_what_an_operator_wrote_by_hand_is_left_alone():
    with bench("sonic") as sonic:
        sonic.set()
        # The same under names of an operator.
        tables = json.loads(json.dumps(sonic.device.tables).replace("AIREADY_", "SITE_"))
        sonic.device.change(tables)
        answer = sonic.set(save="never")
        assert answer["switch"]["commands"] == [], answer
        assert not answer["changed"]


def test_maps_that_others_use_are_left_as_they_are():
    with bench("sonic") as sonic:
        before = sonic.device.treatment("Ethernet12")
        sonic.set()
        assert sonic.device.treatment("Ethernet12") == before


def test_what_was_not_saved_is_saved_by_the_next_run_that_may():
    with bench("sonic") as sonic:
        sonic.set(save="never")
        assert "AIREADY" not in sonic.device.startup()
        assert sonic.set(save="always")["changed"]
        assert "AIREADY" in sonic.device.startup()


@pytest.mark.parametrize("prefix", ["config apply-patch", "config pfcwd start"], ids=["the patch", "the watchdog"])
def test_a_refusal_leaves_the_old_state(prefix, calm):
    sonic = calm("sonic")
    assert unchanged_by(sonic, prefix)
    assert sonic.set(check=True)["changed"], "nothing is in the way of the next run"


@pytest.mark.parametrize(
    "prefix, outcome",
    [("config checkpoint", "old"), ("config apply-patch", "old"), ("config pfcwd start", "new")],
    ids=["before anything", "in the middle", "by the last command"],
)
def test_a_cut_session_leaves_the_old_state_or_the_new_one(prefix, outcome):
    with bench("sonic") as sonic:
        before = sonic.device.running()
        answer = cut_at(sonic, prefix)
        if outcome == "old":
            ended(answer, "old", "connection_lost")
            assert sonic.device.running() == before
        else:
            assert not answer["failed"], answer
            assert sonic.now() == LOSSLESS
        assert sonic.set()["changed"] is (outcome == "old")


def test_a_full_disk_leaves_what_runs_and_says_so():
    with bench("sonic") as sonic:
        sonic.twin.world.switch_faults.fail_switch_command("config save", NAME, "No space left on device")
        ended(sonic.set(), "new", "not_saved")
        assert sonic.now() == LOSSLESS
        assert "AIREADY" not in sonic.device.startup()


@pytest.mark.parametrize("feature", ["pfc", "trust", "mtu", "watchdog"])
def test_hardware_that_does_not_follow_is_found_and_the_old_state_comes_back(feature, calm):
    sonic = calm("sonic")
    sonic.switch.dead_features.add(feature)
    answer = sonic.set()
    ended(answer, "old", "not_proved")
    assert f"the running {feature} is" in answer["msg"]


def test_check_mode_asks_the_switch_and_leaves_no_file(calm):
    sonic = calm("sonic")
    answer = sonic.set(check=True)
    assert answer["switch"]["validated"] == "device", answer
    assert not [path for path in sonic.device.files if "aiready" in path]


def test_a_switch_without_any_qos_is_filled_only_when_that_is_allowed():
    with bench("sonic") as sonic:
        kept = ("PORT", "DEVICE_METADATA", "CABLE_LENGTH", "FEATURE", "LOOPBACK_INTERFACE")
        sonic.device.change({name: rows for name, rows in sonic.device.tables.items() if name in kept})
        answer = sonic.set()
        assert answer["failure"]["code"] == "needs_qos_reload", answer
        answer = sonic.set(allow=["qos_reload"])
        assert not answer["failed"], answer
        assert sonic.now() == LOSSLESS
