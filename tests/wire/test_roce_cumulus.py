"""roce_qos on Cumulus Linux over ssh: the syntax of every release, and all failures of a change."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus.platform import Cumulus

from .roce_lab import LOSSLESS, NAME, bench, cut_at, ended, unchanged_by

PRESET = {**LOSSLESS, "trust": "both"}
BY_HAND = [
    "nv set qos traffic-pool default-lossy memory-percent 50",
    "nv set qos traffic-pool default-lossless memory-percent 50",
    "nv set qos mapping default-global trust l3",
    "nv set qos egress-queue-mapping default-global switch-priority 0-2,4-5,7 traffic-class 0",
    "nv set qos pfc default-global switch-priority 3",
    "nv set qos pfc default-global tx enable",
    "nv set qos pfc default-global rx enable",
    "nv set qos congestion-control default-global traffic-class 3 min-threshold 150000",
    "nv set qos congestion-control default-global traffic-class 3 max-threshold 1500000",
    "nv set qos congestion-control default-global traffic-class 3 probability 100",
    "nv set qos congestion-control default-global traffic-class 3 ecn enable",
    "nv set qos egress-scheduler default-global traffic-class 0,3 mode dwrr",
    "nv set qos egress-scheduler default-global traffic-class 0,3 bw-percent 50",
    "nv set qos egress-scheduler default-global traffic-class 1-2,4-7 mode strict",
    "nv set interface swp1-4 qos pfc-watchdog state enable",
]


@pytest.mark.parametrize("version", ["5.5.0", "5.14.0", "5.15.0"])
def test_another_priority_and_back_again(version):
    with bench("cumulus", version=version) as cumulus:
        answer = cumulus.set()
        assert answer["changed"], answer
        assert cumulus.now() == PRESET
        other = {"priority": 4, "dscp": 26, "bandwidth_percent": 70}
        assert cumulus.set(**other)["changed"]
        assert cumulus.now() == {**PRESET, "class": 4, "lossless": [4]}
        assert not cumulus.set(**other)["changed"]
        assert cumulus.set()["changed"]
        assert cumulus.now() == PRESET
        assert cumulus.set(state="absent")["changed"]
        assert "roce" not in cumulus.device.running()


def test_an_old_release_has_the_preset():
    with bench("cumulus", version="4.4.5") as cumulus:
        answer = cumulus.set(watchdog={"state": "disabled"})
        assert answer["changed"], answer
        assert cumulus.now() == PRESET


def test_what_an_operator_wrote_by_hand_is_left_alone():
    with bench("cumulus", BY_HAND) as cumulus:
        answer = cumulus.set()
        assert not answer["changed"], answer
        assert answer["switch"]["commands"] == []


def test_ports_that_obey_pauses_and_send_none():
    with bench("cumulus") as cumulus:
        assert cumulus.set(mode="semi_lossless")["changed"]
        now = cumulus.device.treatment("swp1")
        assert (now.pauses_sent, now.pauses_heeded) == (frozenset(), frozenset({3}))


def test_a_revision_that_somebody_left_is_not_applied():
    with bench("cumulus") as cumulus:
        revision = cumulus.module.connection.exec_command("sudo nv set interface swp4 link mtu 1500")
        assert revision[0] == 0
        before = cumulus.device.running()
        for check in (True, False):
            answer = cumulus.set(check=check)
            assert answer["failed"], answer
            assert answer["failure"]["code"] == "pending_revision"
        assert cumulus.device.running() == before
        assert b"mtu 1500" in cumulus.module.connection.exec_command("sudo nv config diff -o commands")[1]


class Killed(BaseException):
    """A kill from outside, which nothing catches."""


def killed(*arguments):
    raise Killed


def test_what_a_killed_run_left_to_be_confirmed_is_not_taken_for_the_new_state(monkeypatch):
    with bench("cumulus") as cumulus:
        with monkeypatch.context() as patch:
            patch.setattr(Cumulus, "confirm", killed)
            with pytest.raises(Killed):
                cumulus.set()
        assert cumulus.device.revisions.waiting is not None
        look = cumulus.set(check=True)
        assert [change["path"] for change in look["switch"]["changes"]] == ["confirmation"]
        assert cumulus.device.revisions.waiting is not None
        assert cumulus.set()["changed"], "what ran would have gone back by itself"
        assert cumulus.device.revisions.waiting is None
        assert cumulus.now() == PRESET
        assert not [path for path in cumulus.device.files if "aiready" in path]


def test_an_apply_that_somebody_else_has_to_confirm_is_left_to_them():
    with bench("cumulus") as cumulus:
        for command in ("nv set interface swp4 link mtu 1500", "nv config apply -y --confirm 5"):
            assert cumulus.module.connection.exec_command(f"sudo {command}")[0] == 0
        before = cumulus.device.running()
        ended(cumulus.set(), "unchanged", "pending_confirmation")
        assert cumulus.device.running() == before
        assert cumulus.device.revisions.waiting is not None


@pytest.mark.parametrize("prefix", ["nv set qos roce mode", "nv config apply -y"], ids=["a line", "the whole"])
def test_a_refusal_leaves_the_old_state_and_no_revision(prefix, calm):
    cumulus = calm("cumulus")
    assert unchanged_by(cumulus, prefix)
    assert cumulus.set(check=True)["changed"], "nothing is in the way of the next run"


@pytest.mark.parametrize(
    "prefix, outcome",
    [("nv set qos roce mode", "old"), ("nv config apply -y", "new")],
    ids=["before it was applied", "when it was applied"],
)
def test_a_cut_session_leaves_the_old_state_or_the_new_one(prefix, outcome):
    with bench("cumulus") as cumulus:
        before = cumulus.device.running()
        answer = cut_at(cumulus, prefix)
        if outcome == "old":
            ended(answer, "old", "connection_lost")
            assert cumulus.device.running() == before
        else:
            assert not answer["failed"], answer
            assert cumulus.now() == PRESET
        assert cumulus.set()["changed"] is (outcome == "old")


def test_a_full_disk_leaves_what_runs_and_says_so():
    with bench("cumulus", ["nv set system config auto-save state disabled"], "5.15.0") as cumulus:
        cumulus.switch.full_flash = True
        ended(cumulus.set(), "new", "not_saved")
        assert cumulus.now() == PRESET
        assert "roce" not in cumulus.device.startup()


@pytest.mark.parametrize("feature", ["pfc", "ecn", "trust", "mtu"])
def test_hardware_that_does_not_follow_is_found_and_the_old_state_comes_back(feature, calm):
    cumulus = calm("cumulus")
    cumulus.switch.dead_features.add(feature)
    answer = cumulus.set(mtu=9000)
    ended(answer, "old", "not_proved")
    assert f"the running {feature} is" in answer["msg"]


def test_check_mode_asks_the_switch_and_leaves_no_revision(calm):
    cumulus = calm("cumulus")
    assert cumulus.set(check=True)["switch"]["validated"] == "device"
    shown = cumulus.module.connection.exec_command("sudo nv config diff -o commands")[1].splitlines()
    # The SSH client can add its own line.
    assert [line for line in shown if line.strip() and not line.startswith(b"Shared connection to ")] == []


def test_the_switch_is_named_and_reached_by_one_session():
    with bench("cumulus") as cumulus:
        cumulus.set()
        assert cumulus.twin.switch_sessions[NAME] == 1
