"""How fast the line is: what the site or its hosts say, else what guests see; a mark without it is never lost."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import rounds

from .world import World, not_right, row_of

ROW = "pair.write_bw job-01 > job-02"
OF_LINE = {"pair.write_bw": {"low": 0.9, "share": "line"}}


def device(rate, interface="ens224", state="active", **more):
    port = {"port": 1, "state": state, "rate_gbps": rate, "interfaces": [interface]}
    return {"name": "mlx5_0", "ports": [port], **more}


def lab(count=2, path="sriov", **more):
    """A lab whose adapters nobody describes, as without switches."""
    return World(count, path, speed_gb=None, **more)


def test_without_hosts_the_line_is_what_guests_see():
    made = lab()
    row = row_of(made.judged(), ROW)
    assert (row["verdict"], row["expected"]["low"]) == ("pass", 90.0)
    assert not_right(made.judged()) == {}
    made.set("pair.write_bw", gbps=20.0)
    row = row_of(made.judged(), ROW)
    assert (row["verdict"], "20 Gb/s misses the threshold of at least 78 Gb/s (78 % of the" in row["why"]) == (
        "fail",
        True,
    )


@pytest.mark.parametrize(
    "given, low",
    [({}, 90.0), (OF_LINE, 90.0), ({"pair.write_bw": {"low": 0.5, "share": "line"}}, 50.0)],
    ids=["the usual marks", "the site's", "the site's, lower"],
)
def test_marks_are_shares_of_what_guests_see(given, low):
    assert row_of(lab().judged(thresholds=given), ROW)["expected"]["low"] == low


@pytest.mark.parametrize(
    "devices, low",
    [
        ([device(25, "ens192"), device(100)], 90.0),
        ([device(100), device(200)], 180.0),
        ([device(200, "ens192"), device(100)], 90.0),
        ([device(400, state="down"), device(100)], 90.0),
        ([device(10, module="rdma_rxe")], None),
        ([device(None)], None),
    ],
    ids=["a slower one beside it", "two ports", "a faster one beside it", "one that is down", "Soft-RoCE", "no rate"],
)
def test_only_the_port_of_the_data_path_counts(devices, low):
    made = lab()
    made.set("guest.rdma_device", devices=devices)
    assert row_of(made.judged(), ROW)["expected"]["low"] == low


@pytest.mark.parametrize(
    "reported, why",
    [
        ({"interface": None, "devices": [device(100)]}, ""),
        ({"interface": "ens192", "devices": [device(100, "ens192")]}, ""),
        ({"interface": "ens192", "devices": [device(100)]}, "No RDMA device belongs to ens192."),
        ({"interface": None, "devices": [device(100, "ens192")]}, "No RDMA device belongs to ens224."),
        ({"interface": None, "devices": []}, "The guest has no RDMA device."),
    ],
    ids=["as the site says", "as the guest says", "not the guest's", "not the site's", "none at all"],
)
def test_the_device_of_the_guest_is_that_of_its_data_path(reported, why):
    made = lab()
    made.set("guest.rdma_device", "job-01", **reported)
    row = row_of(made.judged(), "guest.rdma_device job-01")
    assert (row["verdict"], row["why"]) == ("fail" if why else "pass", why)


def test_what_hosts_and_site_say_goes_before_what_guests_see():
    made = World(2, "sriov", speed_gb=200)
    assert row_of(made.judged(), ROW)["expected"]["low"] == 180.0


def test_marks_by_speed_follow_from_what_guests_see():
    made = lab()
    made.set("guest.rdma_device", devices=[device(400)])
    made.set("pair.write_bw", gbps=390.0)
    made.set("pair.write_bw_gpu", gbps=375.0)
    row = row_of(made.judged(), "pair.write_bw_gpu job-01 > job-02 (cuda)")
    assert (row["expected"]["low"], row["verdict"]) == (380.0, "fail")


def test_a_slow_link_is_reported_at_its_pairs_and_at_no_other():
    made = lab(4)
    made.set("guest.rdma_device", "job-04", devices=[device(25)])
    for pair in rounds.ordered_pairs(made.guests):
        if "job-04" in pair:
            made.set("pair.write_bw", pair, gbps=23.1)
    rows = {row["id"]: row for row in made.judged()["rows"] if row["check"] == "pair.write_bw"}
    slow = {name: row for name, row in rows.items() if "job-04" in name}
    assert {row["verdict"] for row in slow.values()} == {"fail"}
    assert {row["verdict"] for name, row in rows.items() if name not in slow} == {"pass"}
    why = "The link of job-04 runs at 25 Gb/s, the fastest link at 100 Gb/s."
    assert [name for name, row in slow.items() if why not in row["why"]] == []


@pytest.mark.parametrize("known", [True, False], ids=["they run on two hosts", "nobody knows their hosts"])
def test_more_than_the_line_may_be_a_speed_that_is_wrong(known):
    made = World(4, "sriov", speed_gb=25)
    made.topology = made.topology if known else {}
    reported = made.judged()
    row = row_of(reported, ROW)
    why = "The line speed of 25 Gb/s is wrong, or both guests share a host"
    assert (row["verdict"], why in row["why"]) == ("warn", True)
    assert row["cause"].startswith("between job-01")
    assert reported["causes"] == []


@pytest.mark.parametrize("path", ["pvrdma", "tcp"])
def test_a_mark_of_the_site_that_cannot_be_worked_out_warns(path):
    check = "pair.write_bw" if path == "pvrdma" else "pair.iperf3"
    reported = lab(path=path).judged(thresholds={check: {"low": 0.9, "share": "line"}})
    row = row_of(reported, f"{check} job-01 > job-02")
    assert (row["verdict"], "set site.validation.speed_gb" in row["why"], row["cause"]) == ("warn", True, "")
    # What was not held to its mark is no figure to compare with.
    assert [one for one in reported["figures"] if check in one["key"].split()] == []
    assert "becomes the baseline" not in row["expected"]["text"]


def test_a_share_of_rdma_that_was_not_measured_warns_too():
    made = World(2, "sriov", skip={"pair.write_bw": "slow"})
    row = row_of(made.judged(thresholds={"cluster.nccl": {"low": 0.8, "share": "rdma"}}), "cluster.nccl rdma")
    assert (row["verdict"], "the RDMA bandwidth" in row["why"]) == ("warn", True)


def test_of_usual_marks_the_row_says_why_they_do_not_apply():
    row = row_of(lab(path="pvrdma").judged(), ROW)
    assert (row["verdict"], row["expected"]["low"]) == ("not_required", None)
    assert row["expected"]["text"].startswith("The thresholds are shares of the line speed, which is unknown")
    assert row["expected"]["text"].endswith("This run becomes the baseline")


def test_the_rate_of_pvrdma_is_invented():
    made = lab(path="pvrdma")
    made.set("guest.rdma_device", devices=[device(10, module="vmw_pvrdma")])
    reported = made.judged()
    assert not_right(reported) == {}
    assert row_of(reported, ROW)["expected"]["low"] is None
