"""What stands on something broken is not run: one check, and steps of runs."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation import blocked

KERNEL = {"kernel": "6.1"}
ADDRESS = {"interface": "ens224", "addresses": ["198.51.100.1"], "state": "up"}


def measured(check, readings):
    return {
        "check": check,
        "subject": {"guest": "a"},
        "status": "done" if readings else "failed",
        "why": "" if readings else "gone",
        "readings": readings,
        "variant": "",
        "command": ["uname"],
        "evidence": "kept",
        "simulated": False,
    }


@pytest.mark.parametrize(
    "kernel, address, reason",
    [(KERNEL, ADDRESS, ""), ({}, {}, "guest.kernel a failed"), (KERNEL, {}, "guest.address a failed")],
    ids=["nothing", "the guest", "its address"],
)
def test_what_stands_on_something_broken_is_not_run(kernel, address, reason):
    look = [measured("guest.kernel", kernel), measured("guest.address", address)]
    before = {"measurements": look, "outputs": {one["check"]: "printed" for one in look}}
    seen = {"guests": {"a": {"before": before, "after": {}}}, "intent": {"guests": ["a"], "gpus": "none"}}
    reported = blocked.blocked(seen, "cluster.hostname", ["a"])
    assert reason in reported
    assert bool(reported) is bool(reason)


def pinged(one, other, status):
    return {**measured("pair.ping_mtu", {"packet": 1500, "sent": 3, "received": 3, "where": ""}), "status": status} | {
        "subject": {"from": one, "to": other}
    }


@pytest.mark.parametrize(
    "osu, broken, left",
    [
        (["latency"], (), [["a", "b"], ["c", "a"]]),
        (["latency"], ("b", "a"), [["c", "a"]]),
        (["bandwidth"], (), []),
    ],
    ids=["nothing", "one way", "it is not wanted"],
)
def test_steps_are_left_with_what_may_be_run(osu, broken, left):
    guests = ["a", "b", "c"]
    ways = [(one, other) for one in guests for other in guests if one != other]
    pings = [pinged(*way, "failed" if way == broken else "done") for way in ways]
    skip = dict.fromkeys(("guest.address", "guest.mtu", "cluster.hostname"), "It is not asked here")
    steps = [[{"check": "pair.mpi_lat", "guests": pair}] for pair in (["a", "b"], ["c", "a"])]
    intent = {"guests": guests, "gpus": "none", "osu": osu, "skip": skip}
    reported = blocked.due(steps, {"pairs": {"measurements": pings}, "intent": intent})
    assert [run["guests"] for step in reported for run in step] == left
    assert all(reported)


def test_what_is_left_out_is_not_run():
    intent = {"guests": ["a"], "gpus": "none"}
    assert blocked.blocked({"intent": intent}, "cluster.nccl", ["a"], "tcp") == "The guests have no GPUs."


def test_without_steps_nothing_is_due():
    assert blocked.due([], {"intent": {"guests": ["a"]}}) == []
