"""From measurements to verdicts: what was not measured passes nowhere, and what is broken stops what stands on it."""

from __future__ import annotations

import itertools

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import expected, needs, suite
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.judge import judge

from .world import World, not_right, row_of

PATHS = ("tcp", "pvrdma", "sriov", "passthrough")
KEYS = {
    *("id", "check", "title", "layer", "subject", "variant", "command", "version", "expected", "measured", "unit"),
    *("verdict", "why", "cause", "simulated", "simulated_parts", "evidence", "needs", "began", "seconds"),
}


@pytest.mark.parametrize("path, count", list(itertools.product(PATHS, (1, 2, 3, 4, 5))))
def test_a_good_lab_passes_without_a_warning(path, count):
    reported = World(count, path).judged()
    assert not_right(reported) == {}
    assert reported["verdict"]["state"] == "pass"


@pytest.mark.parametrize("path", PATHS)
def test_rows_have_all_keys_and_stand_in_the_order_of_the_ladder(path):
    rows = World(3, path).judged()["rows"]
    assert {frozenset(row) for row in rows} == {frozenset(KEYS)}
    assert {frozenset(row["expected"]) for row in rows} == {frozenset(("text", "low", "high", "source"))}
    places = [suite.place(row["check"], row["variant"]) for row in rows]
    assert places == sorted(places)
    assert len({row["id"] for row in rows}) == len(rows)


@pytest.mark.parametrize("path", PATHS)
def test_needs_name_rows_that_stand_before(path):
    seen = set()
    for row in World(3, path).judged()["rows"]:
        assert set(row["needs"]) <= seen, row["id"]
        seen.add(row["id"])


@pytest.mark.parametrize("path", PATHS)
def test_nothing_measured_is_nothing_passed(path):
    lab = World(3, path)
    reported = judge([], lab.intent, topology=lab.topology)
    assert {row["verdict"] for row in reported["rows"]} <= {"not_run", "skipped"}
    assert reported["verdict"]["state"] == "incomplete"


@pytest.mark.parametrize("path", PATHS)
def test_a_measurement_without_values_never_passes(path):
    lab = World(3, path)
    empty = [dict(one, readings={}) for one in lab.measurements()]
    reported = judge(empty, lab.intent, topology=lab.topology)
    assert [row["id"] for row in reported["rows"] if row["verdict"] == "pass"] == []


@pytest.mark.parametrize("junk", [None, "broken", -1, float("nan"), [], {}, True])
def test_values_of_the_wrong_kind_never_pass_and_never_break_it(junk):
    lab = World(2, "sriov")
    spoilt = [dict(one, readings=dict.fromkeys(one["readings"], junk)) for one in lab.measurements()]
    reported = judge(spoilt, lab.intent, topology=lab.topology)
    figures = [row for row in reported["rows"] if row["unit"] in ("Gb/s", "us", "GB/s", "img/s", "bytes")]
    assert [row["id"] for row in figures if row["verdict"] == "pass"] == []


@pytest.mark.parametrize("check", suite.CHECKS)
def test_what_is_left_out_is_missed(check):
    """Every check of the ladder: without its measurements the run is not complete."""
    lab = World(3, "sriov")
    lab.drop(check)
    reported = lab.judged()
    rows = {row["verdict"] for row in reported["rows"] if row["check"] == check}
    if suite.of(check).of == "derived":
        assert reported["verdict"]["state"] == "pass"
        return
    if suite.of(check).option:
        assert (reported["verdict"]["state"], rows) == ("pass", {"skipped"})
        return
    assert reported["verdict"]["state"] == "incomplete"
    assert rows == {"not_run"}


@pytest.mark.parametrize(
    "check, subject, stopped",
    [
        ("guest.kernel", "job-02", ["guest.mtu job-02", "pair.ping_mtu job-01 > job-02", "cluster.hostname"]),
        ("guest.address", "job-02", ["guest.gid job-02", "pair.ping_mtu job-02 > job-03", "cluster.hostname"]),
        ("guest.gid", "job-02", ["pair.rping job-02 > job-03", "pair.write_bw job-03 > job-02", "cluster.nccl rdma"]),
        ("guest.memlock", "job-02", ["pair.rping job-02 > job-03"]),
        ("pair.rping", ("job-01", "job-02"), ["pair.write_lat job-01 > job-02", "pair.write_bw_gpu job-01 > job-02"]),
        ("cluster.hostname", None, ["cluster.nccl rdma", "cluster.training 3:tcp"]),
    ],
)
def test_a_broken_check_stops_what_stands_on_it_and_says_so(check, subject, stopped):
    lab = World(3, "sriov")
    lab.set(check, subject, status="failed", why="It broke.")
    reported = lab.judged()
    for name in stopped:
        row = next(row for row in reported["rows"] if row["id"].startswith(name))
        assert row["verdict"] == "not_run"
        assert "required checks did not pass" in row["why"]
    others = [row for row in reported["rows"] if row["check"] == "guest.xid" and row["subject"] != {"guest": subject}]
    assert {row["verdict"] for row in others} <= {"pass"}


def test_what_lies_between_guests_stops_no_training_of_a_single_one():
    lab = World(3, "sriov")
    for other in ("job-01", "job-02"):
        lab.set("pair.ping_mtu", (other, "job-03"), status="failed", why="It broke.")
        lab.set("pair.ping_mtu", ("job-03", other), status="failed", why="It broke.")
    rows = {row["id"]: row["verdict"] for row in lab.judged()["rows"] if row["check"] == "cluster.training"}
    alone = {row_id: verdict for row_id, verdict in rows.items() if "(1:" in row_id}
    assert (len(alone), set(alone.values())) == (3, {"pass"})
    assert {verdict for row_id, verdict in rows.items() if row_id not in alone} == {"not_run"}


def test_the_first_broken_check_is_named_and_not_one_that_it_stopped():
    lab = World(3, "sriov")
    lab.set("guest.modules", "job-02", modules=["ib_core"])
    row = row_of(lab.judged(), "pair.rping job-02 > job-03")
    assert "guest.gid job-02 did not run" in row["why"]
    assert row_of(lab.judged(), "guest.gid job-02")["why"].endswith("guest.rdma_device job-02 did not run.")


@pytest.mark.parametrize(
    "path, left_out",
    [
        ("tcp", {"pair.rping", "pair.write_bw", "guest.gid", "fabric.settings", "cluster.rdma_gain"}),
        ("pvrdma", {"pair.write_bw_gpu", "guest.topology"}),
        ("sriov", set()),
    ],
)
def test_what_a_data_path_does_not_have_is_left_out_with_a_reason(path, left_out):
    rows = World(3, path).judged()["rows"]
    skipped = {row["check"]: row["why"] for row in rows if row["verdict"] == "skipped"}
    assert left_out <= set(skipped)
    assert all(skipped.values())


def test_without_gpus_nothing_of_gpus_is_asked():
    lab = World(3, "sriov", gpus="none")
    for check in ("guest.driver", "guest.licence", "guest.xid", "guest.ecc", "guest.topology", "cluster.nccl"):
        lab.drop(check)
    lab.drop("pair.write_bw_gpu")
    lab.drop("cluster.training")
    for guests in (*([guest] for guest in lab.guests), lab.guests):
        lab.train(guests, "tcp", 20.0 * len(guests), device="CPU")
    assert lab.judged()["verdict"]["state"] == "pass"


def test_the_log_reports_of_a_gpu_that_the_driver_shows_no_more():
    lab = World(2, "sriov")
    lab.set("guest.driver", "job-02", status="failed", why="nvidia-smi failed: No devices were found.")
    lab.set("guest.xid", "job-02", xids=[{"code": 79, "kind": "hardware", "pci": "0000:02:00", "means": "gone"}])
    row = row_of(lab.judged(), "guest.xid job-02")
    assert (row["verdict"], "Xid 79" in row["why"]) == ("fail", True)
    assert row_of(lab.judged(), "guest.ecc job-02")["verdict"] == "not_run"


def test_a_site_leaves_a_check_out_with_its_reason():
    lab = World(2, "sriov", skip={"fabric.settings": "the network belongs to others"})
    row = row_of(lab.judged(), "fabric.settings")
    assert (row["verdict"], row["why"]) == ("skipped", "The site skips this check: the network belongs to others.")


def test_a_site_that_leaves_out_what_sends_has_no_counters_to_look_at():
    tests = ("pair.write_lat", "pair.write_bw", "pair.write_bw_both", "pair.write_bw_gpu", "pair.iperf3")
    lab = World(2, "sriov", skip=dict.fromkeys((*tests, "cluster.nccl"), "it is in use"))
    for check in (*tests, "cluster.nccl"):
        lab.drop(check)
    reported = lab.judged()
    row = row_of(reported, "guest.counters job-01")
    why = "The site skips all tests that send traffic while the counters are read."
    assert (row["verdict"], row["why"]) == ("skipped", why)
    assert reported["verdict"]["state"] == "pass"


def test_figures_of_a_check_that_nobody_expected_are_not_lost():
    lab = World(2, "sriov")
    lab.add("pair.write_bw", ("job-01", "job-02"), "8 pairs", gbps=97.0, bytes=65536)
    assert row_of(lab.judged(), "pair.write_bw job-01 > job-02 (8 pairs)")["verdict"] == "pass"
    lab.add("pair.unheard_of", ("job-01", "job-02"), speed=1)
    assert row_of(lab.judged(), "pair.unheard_of job-01 > job-02")["verdict"] == "not_run"


def test_the_ladder_says_what_may_run_after_what_was_found():
    lab = World(3, "sriov")
    lab.set("guest.gid", "job-02", gid=None, roce_v2=[])
    below = {spec.check for spec in suite.SUITE[: suite.place("pair.ping_mtu")]}
    rows = [row for row in lab.judged()["rows"] if row["check"] in (*below, "pair.ping_mtu")]
    assert needs.may_run(rows, "pair.rping", {"from": "job-01", "to": "job-03"}) == ""
    assert "guest.gid job-02 failed" in needs.may_run(rows, "pair.rping", {"from": "job-01", "to": "job-02"})


@pytest.mark.parametrize(
    "given, nodes, transports",
    [
        ({"data_path": "pvrdma"}, [1, 3], ["rdma", "tcp"]),
        ({"data_path": "tcp", "nodes": [1, 2, 3, 9]}, [1, 2, 3], ["tcp"]),
        ({"data_path": "sriov", "gpus": "none"}, [1, 3], ["tcp"]),
    ],
)
def test_what_follows_from_an_intent(given, nodes, transports):
    reported = expected.intent_of({"guests": ["a", "b", "c"], **given})
    assert (reported["nodes"], reported["transports"]) == (nodes, transports)


def test_the_same_measurements_give_the_same_rows():
    lab = World(4, "pvrdma")
    assert lab.judged() == lab.judged()
    turned = judge(list(reversed(lab.measurements())), lab.intent, topology=lab.topology)
    assert turned["rows"] == lab.judged()["rows"]


def hop(one, other, port):
    return {"between": [one, other], "ports": [{"switch": "leaf-01", "port": port}]}


@pytest.mark.parametrize(
    "hops, known, left_out",
    [
        ([hop("a", "b", "1"), hop("a", "b", "2"), hop("a", "c", "3")], "abc", []),
        ([hop("a", "b", "1"), hop("a", "b", "2")], "ab", ["fabric.counters esx-c"]),
        ([], "ab", ["fabric.counters esx-c"]),
        ([], "abc", []),
    ],
    ids=["all are on a path", "one is on none", "one has no port", "all have ports"],
)
def test_a_host_whose_port_nobody_reported_is_left_out_by_name(hops, known, left_out):
    places = {name: {"host": f"esx-{name}"} for name in "abc"}
    for name in known:
        places[name].update(switch="leaf-01", port=name)
    intent = expected.intent_of({"guests": ["a", "b", "c"], "data_path": "sriov", "hops": hops})
    rows = [one for one in expected.rows(intent, places) if one["check"] == "fabric.counters"]
    assert [one["id"] for one in rows if one["skip"]] == left_out
    assert len(rows) == 3


@pytest.mark.parametrize(
    "checks, timed",
    [
        (None, False),
        ({}, False),
        ({"pairs": {}, "jobs": []}, False),
        ({"pairs": {"a": 1}}, True),
        ({"jobs": ["a"]}, True),
    ],
)
def test_pods_measure_under_load_if_they_have_pairs_or_jobs(checks, timed):
    assert suite.is_timed(checks) is timed
