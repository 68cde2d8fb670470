# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import compare
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Ecn, Intent, Thresholds, Watchdog
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Limits, Platform
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking, Port

EVERYTHING = Platform()
IDENTITY = {number: number for number in range(8)}
ECN = {3: Marking(150000, 1500000, 100)}
RIGHT = Port(
    trust="dscp",
    dscp_map={dscp: dscp >> 3 for dscp in range(64)},
    queues=IDENTITY,
    groups=IDENTITY,
    pfc_mode="on",
    pfc=[3],
    pfc_queues=IDENTITY,
    pfc_sends=True,
    lossless=[3],
    ecn=ECN,
    strict=[6],
    shares={3: 50},
    mtu=9216,
    watchdog=True,
    pause=False,
)


def gaps(port, requested=None, exact=True, role="host"):
    requested = requested or Intent()
    want = compare.wanted(requested, EVERYTHING, role, port.speed)
    return compare.differing(compare.effect(port, requested), want, exact)


def test_a_port_that_does_all_of_it_differs_in_nothing():
    assert gaps(RIGHT) == []


@pytest.mark.parametrize(
    "difference, keys",
    [
        ({"trust": "pcp"}, ["trust"]),
        ({"trust": None}, ["trust"]),
        ({"dscp_map": {26: 1, 48: 6}}, ["roce_priority"]),
        ({"dscp_map": {26: 3}}, ["cnp_priority"]),
        ({"pfc_mode": "auto"}, ["pfc_mode"]),
        ({"pfc": [3, 4]}, ["pfc"]),
        ({"pfc": [4]}, ["pfc"]),
        ({"pfc_sends": False}, ["pfc_sends"]),
        ({"lossless": []}, ["lossless"]),
        ({"queues": {**IDENTITY, 1: 3}}, ["roce_queue_shared_with"]),
        ({"groups": {**IDENTITY, 4: 3}}, ["roce_group_shared_with"]),
        ({"queues": {0: 0}}, ["roce_queue_shared_with", "roce_pauses_own_queue"]),
        ({"pfc_queues": {**IDENTITY, 3: 4}}, ["roce_pauses_own_queue"]),
        ({"ecn": {}}, ["ecn"]),
        ({"ecn": {3: Marking(150000, 1500000, 100, mark=False)}}, ["ecn"]),
        ({"ecn": {3: Marking(300000, 1500000, 100)}}, ["ecn"]),
        ({"ecn": {3: Marking(145000, 1500000, 100)}}, ["ecn"]),
        ({"ecn": {3: Marking(150000, 1600000, 100)}}, ["ecn"]),
        ({"ecn": None}, ["ecn"]),
        ({"ecn": {3: Marking(150000, 1500000, 5)}}, ["ecn"]),
        ({"shares": {3: 40}}, ["bandwidth_percent"]),
        ({"strict": []}, ["cnp_strict"]),
        ({"mtu": 1500}, ["mtu"]),
        ({"watchdog": False}, ["watchdog"]),
        ({"pause": True}, ["pause"]),
    ],
)
def test_each_thing_that_is_not_right_is_found_alone(difference, keys):
    assert gaps(replace(RIGHT, **difference)) == keys


@pytest.mark.parametrize(
    "difference",
    [
        {"trust": "both"},
        {"ecn": {3: Marking(149000, 1520000, 100), 0: Marking(1, 2)}},
        {"ecn": {3: Marking(150000, 1500000, None)}},
        {"ecn": {3: Marking(147000, 1470000, 100)}},
        {"strict": [6, 7]},
        {"queues": {3: 5, 6: 7, 0: 0}, "pfc_queues": {3: 5}, "ecn": {5: ECN[3]}, "shares": {5: 50}, "strict": [7]},
    ],
    ids=[
        "both is dscp too",
        "rounded, and other queues",
        "no probability reported",
        "two percent",
        "more strict queues",
        "other queues",
    ],
)
def test_what_has_the_same_effect_is_equal(difference):
    assert gaps(replace(RIGHT, **difference)) == []


def test_without_lossless_traffic_no_priority_may_be_paused_and_nothing_is_watched():
    lossy = Intent(mode="lossy")
    assert gaps(RIGHT, lossy) == ["pfc_mode", "pfc", "lossless"]
    assert gaps(replace(RIGHT, pfc_mode="off", pfc=[], lossless=[], watchdog=False, pfc_sends=None), lossy) == []


def test_without_ecn_nothing_may_mark():
    assert gaps(RIGHT, Intent(ecn=Ecn(False))) == ["ecn"]
    assert gaps(replace(RIGHT, ecn={}), Intent(ecn=Ecn(False))) == []


def test_another_priority_is_looked_at_in_its_own_queue():
    requested = Intent(priority=4, dscp=34)
    there = replace(RIGHT, pfc=[4], lossless=[4], ecn={4: ECN[3]}, shares={4: 50})
    assert gaps(there, requested) == []
    assert gaps(RIGHT, requested) == ["pfc", "lossless", "ecn", "bandwidth_percent"]


def test_merged_leaves_other_lossless_priorities():
    there = replace(RIGHT, pfc=[3, 4], lossless=[3, 4])
    assert gaps(there, exact=False) == []
    assert gaps(replace(there, pfc=[4]), exact=False) == ["pfc"]
    assert gaps(replace(there, pfc=None), exact=False) == ["pfc"]


def test_merged_takes_the_priority_of_roce_alone_from_what_is_lossless():
    lossy = Intent(mode="lossy")
    there = replace(RIGHT, pfc=[3, 4], lossless=[3, 4])
    assert gaps(there, lossy, exact=False) == ["pfc", "lossless"]
    assert gaps(replace(there, pfc=[4], lossless=[4]), lossy, exact=False) == []
    # Nobody else needs flow control.
    assert gaps(RIGHT, lossy, exact=False) == ["pfc_mode", "pfc", "lossless"]
    want = compare.wanted(lossy, EVERYTHING)
    found = compare.changes({"a": compare.effect(there, lossy)}, {"a": want}, exact=False)
    assert [(change.path, change.after) for change in found] == [("a.pfc", [4]), ("a.lossless", [4])]


def test_merged_says_what_will_be_there_in_the_end():
    now = {"a": compare.effect(replace(RIGHT, pfc=[4]), Intent())}
    (change,) = compare.changes(now, {"a": {"pfc": [3]}}, exact=False)
    assert (change.before, change.after) == ([4], [3, 4])


def test_only_host_facing_ports_are_reported_who_owns_dcbx():
    requested = Intent(dcbx="ieee")
    assert gaps(RIGHT, requested) == ["dcbx"]
    assert gaps(RIGHT, requested, role="fabric") == []
    assert gaps(RIGHT, Intent()) == []


def test_times_of_the_watchdog_count_only_where_they_are_given():
    slow = replace(RIGHT, watchdog_detection_ms=400)
    assert gaps(slow) == []
    assert gaps(slow, Intent(watchdog=Watchdog(detection_ms=200))) == ["watchdog_detection_ms"]
    three = Watchdog(detection_ms=400, recovery_ms=800, action="drop")
    assert gaps(slow, Intent(watchdog=three)) == ["watchdog_recovery_ms", "watchdog_action"]
    lossy = replace(slow, pfc_mode="off", pfc=[], lossless=[])
    assert gaps(lossy, Intent(mode="lossy", watchdog=three)) == []
    off = Intent(watchdog=replace(three, enabled=False))
    assert gaps(replace(slow, watchdog=False), off) == []


def test_thresholds_follow_the_speed_of_the_port():
    requested = Intent(ecn=Ecn(by_speed={400: Thresholds(600, 6000)}))
    assert gaps(replace(RIGHT, speed=100), requested) == []
    assert gaps(replace(RIGHT, speed=400), requested) == ["ecn"]


def test_what_a_platform_does_not_have_is_neither_wanted_nor_missed():
    class Poor(Platform):
        limits = Limits(missing={"watchdog": "It has none."}, largest_mtu=9214)

    want = compare.wanted(Intent(), Poor())
    assert "watchdog" not in want
    assert want["mtu"] == 9214


def test_where_nobody_chooses_the_probability_none_is_wanted():
    class Fixed(Platform):
        limits = Limits(missing={"probability": "It marks all."})

    want = compare.wanted(Intent(), Fixed())
    assert want["ecn"] == {"min_kb": 150, "max_kb": 1500, "probability": None}
    assert compare.differing(compare.effect(RIGHT, Intent()), want) == []


def test_what_is_not_known_before_and_after_is_no_change():
    now = {"a": compare.effect(Port(), Intent())}
    assert compare.changes(now, now) == []


def test_ports_that_change_alike_are_one_change():
    now = {f"Ethernet1/{number}": compare.effect(Port(mtu=1500), Intent()) for number in (10, 2, 1, 4)}
    now["Ethernet1/3"] = compare.effect(Port(mtu=9000), Intent())
    found = compare.changes(now, {name: {"mtu": 9216} for name in now})
    assert [str(change) for change in found] == [
        "Ethernet1/1-2, Ethernet1/4, Ethernet1/10.mtu: 1500 -> 9216",
        "Ethernet1/3.mtu: 9000 -> 9216",
    ]


@pytest.mark.parametrize(
    "names, short",
    [
        (["swp2", "swp1", "swp3"], "swp1-3"),
        (["Ethernet1", "Ethernet10", "Ethernet9"], "Ethernet1, Ethernet9-10"),
        (["swp1s0", "swp1s1", "swp2"], "swp1s0-1, swp2"),
        (["eth1/1/1", "eth1/2/1"], "eth1/1/1, eth1/2/1"),
        (["management"], "management"),
        ([], ""),
    ],
)
def test_ports_in_short(names, short):
    assert compare.ranged(names) == short
