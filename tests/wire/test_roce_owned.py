"""Objects of the collection contain exactly the intent: other content is drift, and one run removes it."""

from __future__ import annotations

import pytest

from .roce_lab import bench

# Additions to an own object, where {name} is the object of the first run, and the name of the object in a change.
STRAYS = {
    "nxos class": (
        "nxos",
        "AIREADY-ROCE-DSCP26",
        ["class-map type qos match-any {name}", "match dscp 24"],
        "class-map {name}",
        ("match-any dscp 24,26", "match-any dscp 26"),
    ),
    "nxos class that matches a CoS too": (
        "nxos",
        "AIREADY-ROCE-DSCP26",
        ["class-map type qos match-any {name}", "match cos 3"],
        "class-map {name}",
        ("match-any dscp 26 cos 3", "match-any dscp 26"),
    ),
    "nxos policy": (
        "nxos",
        "AIREADY-ROCE-IN-26-3-48-6",
        ["class-map type qos match-any Storage", "match dscp 8", "policy-map type qos {name}", "class Storage"]
        + ["set qos-group 3"],
        "policy-map {name}",
        (
            "AIREADY-ROCE-DSCP26: qos-group 3, AIREADY-ROCE-DSCP48: qos-group 6, Storage: qos-group 3",
            "AIREADY-ROCE-DSCP26: qos-group 3, AIREADY-ROCE-DSCP48: qos-group 6",
        ),
    ),
    "nxos queuing": (
        "nxos",
        "AIREADY-ROCE-OUT-3-50-150-1500-100-6",
        ["policy-map type queuing {name}", "class type queuing c-out-8q-q5", "priority level 2"],
        "policy-map {name}",
        ("queue 5: strict", "queue 5: none"),
    ),
    "os10 class": (
        "os10",
        "AIREADY-PFC-3",
        ["class-map type network-qos {name}", "match qos-group 5"],
        "class-map type network-qos {name}",
        None,
    ),
    "os10 trust map": (
        "os10",
        "AIREADY-TRUST-26-3-48-6",
        ["trust dscp-map {name}", "qos-group 3 dscp 24"],
        "trust dscp-map {name}",
        None,
    ),
    "os10 queuing": (
        "os10",
        "AIREADY-OUT-3-50-6-150-1500-100",
        ["class-map type queuing Bulk", "match queue 5", "policy-map type queuing {name}", "class Bulk"]
        + ["bandwidth percent 20"],
        "policy-map type queuing {name}",
        None,
    ),
    "sonic map": (
        "sonic",
        "AIREADY_ROCE_26_3_48_6",
        ['{{"DSCP_TO_TC_MAP": {{"{name}": {{"24": "3"}}}}}}'],
        "DSCP_TO_TC_MAP {name}",
        ("DSCP 24: 3", "DSCP 24: 1"),
    ),
    "eos profile": (
        "eos",
        "AIREADY-ROCE-PFC3-Q3-50-ECN-150-1500-100-CNP6",
        ["qos profile {name}", "   tx-queue 5", "      priority strict"],
        "qos profile {name}",
        None,
    ),
}


@pytest.mark.parametrize("platform, name, lines, path, values", STRAYS.values(), ids=STRAYS.keys())
def test_stray_content_of_our_objects_is_named_and_removed_by_one_run(platform, name, lines, path, values):
    with bench(platform) as lab:
        assert lab.set()["changed"]
        good = lab.device.running()
        assert name in good
        lab.device.load([line.format(name=name) for line in lines])
        assert lab.device.running() != good
        look = {one["path"]: one for one in lab.set(check=True)["switch"]["changes"]}
        found = look[path.format(name=name)]
        if values:
            assert (found["before"], found["after"]) == values
        assert lab.set()["changed"]
        assert lab.now()["lossless"] == [3]
        # Other objects beside own objects stay.
        theirs = ("Storage", "Bulk", "match queue 5", "match dscp 8")
        more = set(lab.device.running().splitlines()) - set(good.splitlines())
        assert [line for line in more if not any(word in line for word in theirs)] == []
        assert not lab.set()["changed"]


def test_leaf_that_classified_another_code_point_has_only_the_requested_one_afterwards():
    other = {"dscp": 24}
    with bench("nxos") as lab:
        lab.set(**other)
        lab.device.load(["class-map type qos match-any AIREADY-ROCE-DSCP26", "match dscp 24"])
        assert lab.set()["changed"]
        running = lab.device.running()
        assert "match dscp 26" in running
        assert "match dscp 24" not in running
        assert lab.device.treatment("Ethernet1/1").priorities[24] == 0
        assert not lab.set()["changed"]
