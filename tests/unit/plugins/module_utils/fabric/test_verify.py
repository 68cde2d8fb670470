# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import compare, verify
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Platform
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking, Oper, Port, Switch

RUNS = Oper(
    up=True,
    trust="dscp",
    pfc=[3],
    pfc_sends=True,
    ecn={3: Marking(156000, 1560000, 100)},
    mtu=9216,
    watchdog=True,
)
IDENTITY = {number: number for number in range(8)}


def look(running, requested=None, role="host", **switch):
    requested = requested or Intent()
    there = Switch("eos", ports={"swp1": Port(queues=IDENTITY)}, oper={"swp1": running} if running else {}, **switch)
    return verify.gaps(there, {"swp1": compare.wanted(requested, Platform(), role)}, requested)


def test_what_runs_as_wanted_is_proved_with_the_rounding_of_hardware():
    assert look(RUNS) == ([], [])


@pytest.mark.parametrize(
    "difference, says",
    [
        ({"pfc": []}, "swp1: the running pfc is none instead of 3."),
        ({"pfc": [4, 3]}, "swp1: the running pfc is 3, 4 instead of 3."),
        ({"pfc_sends": False}, "swp1: the running pfc_sends is off instead of on."),
        ({"trust": "pcp"}, "swp1: the running trust is pcp instead of dscp."),
        ({"mtu": 1500}, "swp1: the running mtu is 1500 instead of 9216."),
        ({"watchdog": False}, "swp1: the running watchdog is off instead of on."),
        ({"ecn": {}}, "swp1: the running ecn is off instead of min_kb 150, max_kb 1500, probability 100."),
        (
            {"ecn": {3: Marking(150000, 1500000, 100, mark=False)}},
            "swp1: the running ecn is min_kb 150, max_kb 1500, probability 100, mark False "
            "instead of min_kb 150, max_kb 1500, probability 100.",
        ),
    ],
)
def test_what_runs_otherwise_is_reported_with_port_and_value(difference, says):
    assert look(replace(RUNS, **difference)) == ([says], [])


def test_merged_lets_other_priorities_have_flow_control():
    wants = {"swp1": compare.wanted(Intent(), Platform())}
    for pfc, gap in (([3, 4], []), ([4], ["swp1: the running pfc is 4 instead of 3."])):
        there = Switch("eos", ports={"swp1": Port(queues=IDENTITY)}, oper={"swp1": replace(RUNS, pfc=pfc)})
        assert verify.gaps(there, wants, Intent(), exact=False) == (gap, [])


@pytest.mark.parametrize("now, reported", [([3, 4], False), ([4], False), ([3], True), (None, True)])
def test_what_merged_was_to_leave_and_is_gone_is_reported(now, reported):
    said = verify.dropped({"swp1": {"lossless": [3, 4]}}, {"swp1": {"lossless": now}}, Intent())
    assert said == (["swp1: priority 4 must stay lossless, but is lossy after the change."] if reported else [])


def test_a_port_that_trusts_tags_too_is_right_only_where_nobody_asked_for_both():
    assert look(replace(RUNS, trust="both")) == ([], [])
    assert look(RUNS, Intent(trust="both"))[0] == ["swp1: the running trust is dscp instead of both."]


def test_hardware_may_round_a_tenth_and_no_more():
    assert look(replace(RUNS, ecn={3: Marking(136000, 1640000, 100)})) == ([], [])
    assert look(replace(RUNS, ecn={3: Marking(130000, 1500000, 100)}))[0]


def test_a_queue_by_another_name_is_found_by_the_map_of_the_port():
    there = Switch(
        "eos",
        ports={"swp1": Port(queues={3: 5})},
        oper={"swp1": replace(RUNS, ecn={5: RUNS.ecn[3]})},
    )
    assert verify.gaps(there, {"swp1": compare.wanted(Intent(), Platform())}, Intent()) == ([], [])


@pytest.mark.parametrize(
    "running, says",
    [
        (replace(RUNS, up=False), "swp1: no link"),
        (replace(RUNS, pfc=None), "swp1: the switch does not report the running pfc."),
        (replace(RUNS, ecn=None), "swp1: the switch does not report the running ecn."),
    ],
)
def test_what_cannot_be_seen_is_never_taken_for_right(running, says):
    found, unknown = look(running)
    assert found == []
    assert unknown[0].startswith(says)
    assert len(unknown) == 1


def test_a_switch_that_reports_nothing_proves_nothing():
    found, unknown = look(None)
    assert found == []
    assert len(unknown) == 6


def test_agreeing_needs_a_peer():
    requested = Intent(dcbx="ieee")
    assert look(replace(RUNS, dcbx="ieee"), requested) == ([], [])
    assert look(replace(RUNS, dcbx="none"), requested) == ([], ["swp1: no peer sends DCBX, so nothing was negotiated."])
    assert look(replace(RUNS, dcbx="cee"), requested)[0] == ["swp1: the running dcbx is cee instead of ieee."]


def test_exceptions_of_the_switch_are_gaps():
    assert look(RUNS, exceptions=["Eth1/1: trust differs from the preset."])[0] == [
        "Eth1/1: trust differs from the preset."
    ]


def test_ports_with_the_same_to_say_stand_in_one_sentence():
    names = ["swp1", "swp2", "swp3"]
    oper = {name: replace(RUNS, mtu=1500) for name in names[:2]} | {"swp3": Oper(up=False)}
    there = Switch("eos", ports={name: Port(queues=IDENTITY) for name in names}, oper=oper)
    found, unknown = verify.gaps(there, {name: compare.wanted(Intent(), Platform()) for name in names}, Intent())
    assert found == ["swp1-2: the running mtu is 1500 instead of 9216."]
    assert unknown == ["swp3: no link, so the running state is unknown."]


@pytest.mark.parametrize("then, now, reported", [(0, 2, True), (2, 2, False), (5, 0, False), (None, None, False)])
def test_a_watchdog_that_acts_during_a_change_is_a_gap(then, now, reported):
    before, after = (Switch("eos", oper={"swp1": Oper(counters={"watchdog_events": count})}) for count in (then, now))
    said = ["swp1: the PFC watchdog was triggered 2 times. A peer does not stop sending pauses."]
    assert verify.stuck(before, after, ["swp1", "swp2"]) == (said if reported else [])
