"""roce_qos on Arista EOS and Cisco NX-OS over their command lines, and all failures of a change."""

from __future__ import annotations

import pytest

from .roce_lab import LOSSLESS, NAME, bench, cut_at, ended, unchanged_by
from .rows.roce_qos import port

PLATFORMS = ["eos", "nxos"]
# The largest MTU of EOS.
EXPECTED = {"eos": {**LOSSLESS, "mtu": 9214}, "nxos": LOSSLESS}
BY_HAND = {
    "eos": """
priority-flow-control pause watchdog default timeout 1
qos profile storage
   priority-flow-control on
   priority-flow-control priority 3 no-drop
   tx-queue 3
      no priority
      bandwidth percent 50
      random-detect ecn minimum-threshold 150 kbytes maximum-threshold 1500 kbytes max-mark-probability 100 weight 0
   tx-queue 6
      priority strict
interface Ethernet1
   mtu 9214
   qos trust dscp
   service-profile storage
interface Ethernet2
   mtu 9214
   qos trust dscp
   priority-flow-control on
   priority-flow-control priority 3 no-drop
   tx-queue 3
      no priority
      bandwidth percent 50
      random-detect ecn minimum-threshold 150 kbytes maximum-threshold 1500 kbytes max-mark-probability 100 weight 0
""",
    "nxos": """
class-map type qos match-any Storage
  match dscp 24-31
class-map type qos match-all Signals
  match dscp 48
policy-map type qos Classify
  class Storage
    set qos-group 3
  class Signals
    set qos-group 6
policy-map type network-qos Fabric
  class type network-qos c-8q-nq3
    mtu 9216
    pause pfc-cos 3
policy-map type queuing Out
  class type queuing c-out-8q-q3
    bandwidth remaining percent 50
    random-detect minimum-threshold 150 kbytes maximum-threshold 1500 kbytes drop-probability 100 weight 0 ecn
  class type queuing c-out-8q-q-default
    bandwidth remaining percent 30
  class type queuing c-out-8q-q6
    priority level 1
system qos
  service-policy type network-qos Fabric
  service-policy type queuing output Out
priority-flow-control watch-dog-interval on
interface Ethernet1/1-2
  mtu 9216
  priority-flow-control mode on
  priority-flow-control watch-dog-interval on
  service-policy type qos input Classify
""",
}
# A line in the middle of an edit, the last effective line, and a line of an operator that the intent excludes.
MIDDLE = {"eos": "service-profile", "nxos": "service-policy type queuing"}
LAST = {"eos": "commit timer", "nxos": "end"}
STALE = {
    "eos": ["interface Ethernet1", "   priority-flow-control on", "   priority-flow-control priority 4 no-drop"],
    "nxos": [
        "policy-map type network-qos Fabric",
        "  class type network-qos c-8q-nq4",
        "    pause pfc-cos 4",
        "system qos",
        "  service-policy type network-qos Fabric",
    ],
}


def saved(lab):
    """Return whether startup and running configuration are equal; each is below its own header."""
    return lab.device.startup().splitlines()[2:] == lab.device.running().splitlines()[2:]


def waiting(lab):
    """Return EOS sessions that were neither confirmed nor aborted."""
    return [*lab.device.sessions, *filter(None, [lab.device.awaited])] if lab.platform == "eos" else []


def by_hand(platform):
    return [line for line in BY_HAND[platform].splitlines() if line]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_all_the_ways_of_one_switch(platform):
    """Lossy, back to lossless, another priority, then absent; the contract of all modules starts at defaults."""
    expected = EXPECTED[platform]
    with bench(platform) as lab:
        factory = lab.device.running()
        requests = [
            ({"mode": "lossy"}, {**expected, "lossless": []}),
            ({}, expected),
            ({"priority": 5, "dscp": 34, "cnp_dscp": 50}, {**expected, "class": 0 if platform == "nxos" else 3}),
        ]
        for requested, effect in requests:
            answer = lab.set(**requested)
            assert answer["changed"], answer
            if "priority" not in requested:
                assert (lab.now(1), lab.now(2)) == (effect, effect)
        again = lab.set(**requested)
        assert not again["changed"], again
        reported = lab.device.treatment(port(platform, 1))
        assert (reported.priorities[34], reported.priorities[50]) == (5, 6)
        assert sorted(reported.pauses_sent & reported.no_drop) == [5]
        assert list(reported.marking) == [5]
        assert saved(lab)
        assert lab.set(state="absent")["changed"]
        left = [line for line in lab.device.running().splitlines() if "mtu" not in line]
        assert left == [line for line in factory.splitlines() if "mtu" not in line]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_what_an_operator_wrote_by_hand_is_left_alone(platform):
    with bench(platform, by_hand(platform)) as lab:
        before = lab.device.running()
        answer = lab.set()
        assert (answer["changed"], answer["switch"]["commands"]) == (False, [])
        assert lab.device.running() == before


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_stale_lossless_priority_is_removed(platform):
    with bench(platform, STALE[platform]) as lab:
        assert lab.set()["changed"]
        assert lab.now() == EXPECTED[platform]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_refused_line_in_the_middle_leaves_the_old_state(platform, calm):
    lab = calm(platform)
    assert unchanged_by(lab, MIDDLE[platform])
    assert not waiting(lab), "nothing is in the way of the next run"


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_session_that_is_cut_in_the_middle_leaves_the_old_state(platform, calm):
    lab = calm(platform)
    ended(cut_at(lab, MIDDLE[platform]), "old", "connection_lost")
    assert not waiting(lab)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_session_that_is_cut_by_the_last_line_leaves_the_new_state_for_good(platform):
    with bench(platform) as lab:
        answer = cut_at(lab, LAST[platform])
        assert not answer.get("failed"), answer
        assert lab.now() == EXPECTED[platform]
        assert not waiting(lab), "the switch does not take it back later"
        assert saved(lab)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_full_flash_leaves_what_runs_and_says_so(platform):
    with bench(platform) as lab:
        lab.switch.full_flash = True
        ended(lab.set(), "new", "not_saved")
        assert lab.now() == EXPECTED[platform]
        assert not saved(lab)
        lab.switch.full_flash = False
        assert lab.set(save="always")["changed"], "what runs is not what a restart comes back with"
        assert saved(lab)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("feature", ["pfc", "ecn", "trust", "watchdog", "mtu"])
def test_hardware_that_does_not_follow_is_found_and_the_old_state_comes_back(platform, feature, calm):
    if (platform, feature) == ("eos", "watchdog"):
        pytest.skip("the table of this release does not report which watchdogs run")
    lab = calm(platform)
    lab.switch.dead_features.add(feature)
    # EOS switches have the largest MTU by default.
    answer = lab.set(mtu=9000) if feature == "mtu" else lab.set()
    ended(answer, "old", "not_proved")
    assert feature in answer["msg"]


@pytest.mark.parametrize("platform, judge", [("eos", "device"), ("nxos", "computed")])
def test_check_mode_says_who_judged(platform, judge, calm):
    assert calm(platform).set(check=True)["switch"]["validated"] == judge


def test_eos_judges_a_line_in_check_mode_and_forgets_it(calm):
    lab = calm("eos")
    lab.twin.world.switch_faults.fail_switch_command("service-profile", NAME)
    answer = lab.set(check=True)
    assert answer["failed"]
    assert answer["failure"]["code"] == "would_be_refused"
    assert not waiting(lab)


def test_eos_takes_the_word_for_queues_that_its_family_knows():
    with bench("eos") as lab:
        lab.switch.model = "DCS-7060CX2-32S"
        assert lab.set()["changed"]
        assert lab.now() == EXPECTED["eos"]
        assert "uc-tx-queue 3" in lab.device.running()
        assert not lab.set()["changed"]


def test_an_old_eos_is_reported_in_its_own_words():
    with bench("eos", version="4.13.7M") as lab:
        assert lab.set()["changed"]
        assert lab.now()["lossless"] == [3]
        assert not lab.set()["changed"]


def test_eos_does_not_hide_that_flow_control_is_off_everywhere():
    with bench("eos", ["priority-flow-control all off"]) as lab:
        before = lab.device.running()
        answer = lab.set()
        ended(answer, "old", "not_proved")
        assert "all off" in answer["msg"]
        assert lab.device.running() == before


def test_nxos_keeps_what_ports_that_were_not_named_rely_on():
    with bench("nxos", [*by_hand("nxos"), "interface Ethernet1/3", "  priority-flow-control mode on"]) as lab:
        answer = lab.set(priority=5, dscp=34)
        assert answer["failed"], answer
        assert answer["failure"]["code"] == "lossless_for_others"
        assert lab.set(state="absent")["changed"]
        assert sorted(lab.device.treatment("Ethernet1/3").pauses_sent) == [3]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_counters_neighbours_and_state_are_reported(platform):
    with bench(platform, by_hand(platform)) as lab:
        reported = lab.module("roce_qos_info", {"ports": [port(platform, 1)]}, False)["switch"]
        one = reported["ports"][port(platform, 1)]
        assert (reported["platform"], reported["hostname"], reported["unsaved"]) == (platform, NAME, False)
        assert (one["running"]["pfc"], one["running"]["trust"], one["speed"]) == ([3], "dscp", 100)
        assert {"pauses_received", "pauses_sent"} <= set(one["running"]["counters"])
