"""What one measurement is worth: against marks, against the baseline, and by what it says of itself."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import baseline, suite
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.judge import judge

from .world import MOVED, World, row_of


@pytest.mark.parametrize(
    "status, verdict", [("failed", "fail"), ("timeout", "fail"), ("missing", "fail"), ("skipped", "skipped")]
)
def test_how_a_measurement_ended(status, verdict):
    lab = World(2, "sriov")
    lab.set("pair.write_bw_both", ("job-01", "job-02"), status=status, why="Because.")
    row = row_of(lab.judged(), "pair.write_bw_both job-01 > job-02")
    assert (row["verdict"], row["why"], row["measured"]) == (verdict, "Because.", None)


def test_left_out_without_a_reason_is_not_run():
    lab = World(2, "sriov")
    lab.set("pair.write_bw_both", status="skipped")
    assert row_of(lab.judged(), "pair.write_bw_both job-01 > job-02")["verdict"] == "not_run"


def test_a_known_error_is_reported_with_what_to_do():
    lab = World(2, "sriov")
    lab.set("pair.rping", status="failed", why="rping failed.", error="memlock")
    assert "Allow unlimited locked memory" in row_of(lab.judged(), "pair.rping job-01 > job-02")["why"]


def test_more_attempts_are_reported_and_what_came_last_counts():
    lab = World(2, "sriov")
    first = [
        dict(one, status="timeout", why="Late.", readings={})
        for one in lab.measurements()
        if one["check"] == "pair.write_bw"
    ]
    reported = judge([*first, *lab.measurements()], lab.intent, topology=lab.topology)
    row = row_of(reported, "pair.write_bw job-01 > job-02")
    assert (row["verdict"], "2 attempts" in row["why"], row["measured"] > 90) == ("warn", True, True)


@pytest.mark.parametrize(
    "gbps, verdict",
    [(92.0, "pass"), (90.0, "pass"), (89.9, "warn"), (78.0, "warn"), (77.9, "fail"), (0.5, "fail"), (0, "not_run")],
)
def test_bandwidth_against_its_marks(gbps, verdict):
    lab = World(2, "sriov")
    lab.set("pair.write_bw", gbps=gbps)
    row = row_of(lab.judged(), "pair.write_bw job-01 > job-02")
    assert row["verdict"] == verdict
    if verdict != "not_run":
        assert (row["expected"]["low"], row["unit"]) == (90.0, "Gb/s")


@pytest.mark.parametrize(
    "change, check, verdict",
    [
        ({"filling": False, "bytes": 512}, "pair.write_bw", "not_run"),
        ({"mtu": 1024}, "pair.write_bw", "warn"),
        ({"bytes": 4096}, "pair.write_lat", "not_run"),
        ({"large": False, "largest_bytes": 4096}, "cluster.nccl", "not_run"),
        ({"wrong": 3}, "cluster.nccl", "fail"),
        ({"busbw": 0.0, "alone": True}, "cluster.nccl", "fail"),
        ({"transport": None}, "cluster.nccl", "fail"),
        ({"transport": "mixed"}, "cluster.nccl", "fail"),
        ({"busbw": 4.0}, "cluster.nccl", "warn"),
        ({"synchronised": False}, "guest.clock", "fail"),
        ({"offset_s": -0.4}, "guest.clock", "warn"),
        ({"offset_s": None}, "guest.clock", "not_run"),
        ({"addresses": []}, "guest.address", "fail"),
        ({"addresses": ["10.9.9.9"]}, "guest.address", "fail"),
        ({"state": "down"}, "guest.address", "fail"),
        ({"state": "unknown"}, "guest.address", "pass"),
        ({"mtu": 1500}, "guest.mtu", "fail"),
        ({"memlock": {"soft_kb": 64, "hard_kb": 64}}, "guest.memlock", "fail"),
        ({"modules": ["ib_core", "ib_uverbs"]}, "guest.modules", "fail"),
        ({"gid": None, "roce_v2": []}, "guest.gid", "fail"),
        ({"gid": {"index": 3, "address": "10.9.9.9"}}, "guest.gid", "fail"),
        ({"devices": []}, "guest.rdma_device", "fail"),
        ({"nearest": {"GPU0": {"nic": "mlx5_0", "class": "SYS"}}}, "guest.topology", "warn"),
        ({"gpus": [{"ecc": {"uncorrected": 2}}]}, "guest.ecc", "fail"),
        ({"gpus": [{"ecc": {}}]}, "guest.ecc", "skipped"),
        ({"gpus": [{"ecc": {"uncorrected": 0, "unrepairable": True}}]}, "guest.ecc", "fail"),
        ({"gpus": [{"ecc": {"uncorrected": 0, "exceeded": True}}]}, "guest.ecc", "fail"),
        ({"gpus": [{"ecc": {"uncorrected": 0, "pending": True}}]}, "guest.ecc", "warn"),
        ({"gpus": [{"licence": None, "virtualization": "passthrough"}]}, "guest.licence", "not_run"),
        ({"xids": [{"code": 79, "kind": "hardware", "pci": "0000:03:00", "means": "gone"}]}, "guest.xid", "fail"),
        ({"xids": [{"code": 13, "kind": "program", "pci": "0000:03:00", "means": "wrong"}]}, "guest.xid", "warn"),
        ({"gpus": []}, "guest.driver", "fail"),
        ({"gpus": [{"name": "NVIDIA H100 80GB HBM3", "recovery": "Reset"}]}, "guest.driver", "fail"),
        ({"changed": {"rx_prio3_discards": 4}}, "guest.counters", "fail"),
        ({"changed": {"packet_seq_err": 4}}, "guest.counters", "warn"),
        ({"changed": {**MOVED, "np_cnp_sent": 4, "rx_prio3_pause": 9}}, "guest.counters", "pass"),
        ({"changed": {"rx_prio0_pause": 9}}, "guest.counters", "warn"),
        (
            {"changed": {"tx_vport_rdma_unicast_bytes": 10**10, "tx_prio0_bytes": 10**10, "tx_prio3_bytes": 5}},
            "guest.counters",
            "fail",
        ),
        ({"hosts": {"job-01": 1}}, "cluster.hostname", "fail"),
        ({"controllers": ["gloo"]}, "cluster.check_build", "fail"),
        ({"operations": ["mpi"]}, "cluster.check_build", "fail"),
        ({"frameworks": ["mxnet"]}, "cluster.check_build", "fail"),
        ({"frameworks": []}, "cluster.check_build", "fail"),
        ({"answered": 3}, "pair.rping", "fail"),
        ({"packet": 1500}, "pair.ping_mtu", "not_run"),
        ({"disagreements": [{"severity": "warning", "msg": "a"}]}, "fabric.settings", "warn"),
        ({"disagreements": [{"severity": "error", "msg": "a"}]}, "fabric.settings", "fail"),
        ({"paths": []}, "fabric.settings", "not_run"),
    ],
)
def test_single_findings(change, check, verdict):
    lab = World(2, "sriov")
    lab.set(check, **change)
    rows = [row for row in lab.judged()["rows"] if row["check"] == check]
    assert {row["verdict"] for row in rows} == {verdict}


@pytest.mark.parametrize(
    "types, cause",
    [(["roce_v1"], "the RoCE protocol of the adapter of job-02"), (["roce_v1", "roce_v2"], "the address of job-02")],
    ids=["old protocol", "no address"],
)
def test_an_adapter_of_another_protocol_is_reported_from_one_without_an_address(types, cause):
    lab = World(2, "pvrdma")
    lab.set("guest.gid", "job-02", gid=None, roce_v2=[], types=types)
    assert row_of(lab.judged(), "guest.gid job-02")["cause"].startswith(cause)


@pytest.mark.parametrize("wrong, verdict", [(0, "skipped"), (None, "skipped"), (2, "fail")])
def test_one_gpu_alone_says_nothing_of_a_bandwidth_and_whether_it_computes_right(wrong, verdict):
    lab = World(1, "tcp")
    lab.set("cluster.nccl", busbw=0.0, alone=True, nodes=1, wrong=wrong)
    row = row_of(lab.judged(), "cluster.nccl tcp")
    assert (row["verdict"], row["measured"]) == (verdict, None)
    assert ("has one GPU" if verdict == "skipped" else "are wrong") in row["why"]


def test_two_looks_at_counters_are_one_row():
    lab = World(2, "sriov")
    lab.drop("guest.counters")
    for guest in lab.guests:
        lab.add("guest.counters", guest, "before", counters={"out_of_sequence": 5, "port_xmit_data": 1})
        lab.add("guest.counters", guest, "after", counters={"out_of_sequence": 5, "port_xmit_data": 9})
    assert lab.judged()["verdict"]["state"] == "pass"
    lab.set("guest.counters", "job-02", "after", counters={"out_of_sequence": 77})
    assert row_of(lab.judged(), "guest.counters job-02")["verdict"] == "warn"
    lab.drop("guest.counters")
    lab.add("guest.counters", "job-01", "before", counters={"out_of_sequence": 5})
    assert "read only once" in row_of(lab.judged(), "guest.counters job-01")["why"]


def test_counters_of_a_time_in_which_nothing_was_sent_say_nothing():
    lab = World(2, "sriov")
    for check in ("pair.write_lat", "pair.write_bw", "pair.write_bw_both", "pair.iperf3"):
        lab.drop(check)
    assert row_of(lab.judged(), "guest.counters job-01")["verdict"] == "not_run"


def recorded(lab):
    return baseline.record(baseline.EMPTY, lab.judged()["figures"], "run-1", "2026-03-01T08:15:30Z")[0]


def test_a_baseline_is_what_good_rows_had_and_the_same_run_compares_equal():
    lab = World(3, "pvrdma")
    made = recorded(lab)
    keys = {key.split(" ")[1].rstrip(",") for key in made["entries"]}
    assert keys == {
        *("pair.write_lat", "pair.write_bw", "pair.write_bw_both", "pair.iperf3", "cluster.nccl", "cluster.training"),
        *suite.PROGRAMS,
    }
    assert lab.judged(baseline=made)["verdict"]["state"] == "pass"


def test_a_training_of_another_model_or_batch_is_compared_with_none():
    lab = World(2, "pvrdma")
    made = recorded(lab)
    lab.set("cluster.training", batch=128, total=900.0)
    rows = [row for row in lab.judged(baseline=made)["rows"] if row["check"] == "cluster.training"]
    assert [row["why"] for row in rows if "worse than" in row["why"]] == []
    lab.set("cluster.training", batch=32)
    rows = [row for row in lab.judged(baseline=made)["rows"] if row["check"] == "cluster.training"]
    assert [row["id"] for row in rows if "worse than" in row["why"]] != []


@pytest.mark.parametrize(
    "check, change, verdict",
    [
        ("pair.write_bw_both", {"gbps": 168.0}, "pass"),
        ("pair.write_bw_both", {"gbps": 162.0}, "warn"),
        ("pair.iperf3", {"gbps": 25.0}, "pass"),
        ("pair.iperf3", {"gbps": 20.0}, "warn"),
        ("cluster.nccl", {"busbw": 5.0}, "warn"),
    ],
)
def test_a_run_that_is_worse_than_the_baseline_warns(check, change, verdict):
    lab = World(3, "pvrdma")
    made = recorded(lab)
    lab.set(check, **change)
    rows = [row for row in lab.judged(baseline=made)["rows"] if row["check"] == check]
    assert {row["verdict"] for row in rows} == {verdict}
    if verdict == "warn":
        assert "worse than" in rows[0]["why"]
        assert "run-1" in rows[0]["why"]


def test_where_nothing_is_published_the_row_says_so():
    expect = row_of(World(2, "tcp").judged(), "pair.iperf3 job-01 > job-02")["expected"]
    assert (expect["text"], expect["low"]) == ("No threshold is published. This run becomes the baseline", None)


@pytest.mark.parametrize(
    "given, verdict",
    [({}, "fail"), ({"pair.write_bw": {"low": 40}}, "pass"), ({"pair.write_bw": None}, "not_required")],
)
def test_marks_of_the_site(given, verdict):
    lab = World(2, "sriov")
    lab.set("pair.write_bw", gbps=50.0)
    assert row_of(lab.judged(thresholds=given), "pair.write_bw job-01 > job-02")["verdict"] == verdict


OPEN, CLOSED, OLD = (
    {"peermem": None, "open_module": opened, "kernel_dmabuf": kernel}
    for opened, kernel in ((True, True), (False, True), (True, False))
)
GPUDIRECT = {
    "DMA-BUF": (OPEN, "enabled", "pass", "DMA-BUF"),
    "nvidia_peermem": ({**CLOSED, "peermem": "nvidia_peermem"}, "enabled", "pass", "nvidia_peermem"),
    "both": ({**OPEN, "peermem": "nv_peer_mem"}, "enabled", "pass", "DMA-BUF, nv_peer_mem"),
    "a driver that is not open": (CLOSED, "enabled", "fail", "none"),
    "a kernel without DMA-BUF": (OLD, "enabled", "fail", "none"),
    "no driver": ({"peermem": None, "open_module": None, "kernel_dmabuf": True}, "enabled", "not_run", None),
    "no answer": ({}, "enabled", "not_run", None),
    "not required and there": (OPEN, "auto", "not_required", "DMA-BUF"),
    "not required and not there": (CLOSED, "auto", "not_required", "none"),
    "disabled": (OPEN, "disabled", "skipped", None),
}


@pytest.mark.parametrize("reported, requested, verdict, measured", GPUDIRECT.values(), ids=GPUDIRECT)
def test_gpudirect_passes_only_where_the_site_requires_it(reported, requested, verdict, measured):
    lab = World(2, "sriov", gpudirect=requested)
    lab.set("guest.gpudirect", gpudirect=reported)
    rows = [row for row in lab.judged()["rows"] if row["check"] == "guest.gpudirect"]
    assert {(row["verdict"], row["measured"]) for row in rows} == {(verdict, measured)}
