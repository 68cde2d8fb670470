"""Trainings: rates and how they vary, the way that gradients took, and what follows from several of them."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.judge import judge

from .world import World, row_of


@pytest.mark.parametrize(
    "device, given, verdict",
    [
        ("GPU", {}, "warn"),
        ("CPU", {}, "pass"),
        ("CPU", {"spread": {"cpu_half_percent": 5}}, "warn"),
        ("GPU", {"spread": {"half_percent": None, "range_percent": None}}, "pass"),
    ],
)
def test_a_good_mean_does_not_hide_iterations_that_vary(device, given, verdict):
    lab = World(2, "tcp")
    lab.train(lab.guests, "tcp", 2900.0, (0.7, 1.2, 1.1, 1.0, 1.2, 0.8), device)
    row = row_of(lab.judged(thresholds=given), "cluster.training 2:tcp")
    assert (row["verdict"], row["measured"]) == (verdict, 2900.0)


@pytest.mark.parametrize(
    "values, required",
    [
        ({"transport": "tcp"}, "training on 2 guests over TCP"),
        ({"transport": None, "device": "CPU"}, "training on 2 guests over TCP"),
        ({"transport": None}, "training on 2 guests"),
    ],
    ids=["NCCL named it", "no NCCL", "NCCL named none"],
)
def test_a_training_is_not_said_to_go_over_what_nobody_named(values, required):
    lab = World(2, "sriov")
    lab.set("cluster.training", tuple(lab.guests), "2:tcp", **values)
    assert row_of(lab.judged(), "cluster.training 2:tcp")["expected"]["text"].split(";")[0] == required


@pytest.mark.parametrize(
    "values, transport, verdict",
    [
        ({"transport": "rdma"}, "rdma", "pass"),
        ({"transport": "tcp"}, "rdma", "fail"),
        ({"transport": None}, "rdma", "fail"),
        ({"transport": None, "device": "CPU"}, "rdma", "skipped"),
        ({"transport": "rdma"}, "tcp", "fail"),
        ({"transport": None}, "tcp", "pass"),
    ],
)
def test_a_training_has_to_go_the_way_it_was_to_go(values, transport, verdict):
    lab = World(2, "sriov")
    lab.set("cluster.training", tuple(lab.guests), f"2:{transport}", **values)
    assert row_of(lab.judged(), f"cluster.training 2:{transport}")["verdict"] == verdict


@pytest.mark.parametrize(
    "networks, verdict",
    [
        (["IB"], "pass"),
        (["IBext_v8"], "pass"),
        (["IBext_v8", "Socket"], "fail"),
        (["Socket"], "fail"),
        (["UCX"], "fail"),
    ],
)
def test_the_network_of_a_training_is_known_by_its_name(networks, verdict):
    lab = World(2, "sriov")
    lab.set("cluster.training", tuple(lab.guests), "2:rdma", nccl={"networks": networks})
    assert row_of(lab.judged(), "cluster.training 2:rdma")["verdict"] == verdict


def test_the_result_of_training_run_is_understood():
    lab = World(2, "sriov")
    lab.drop("cluster.training")
    rates = [(number, rank, 700.0) for number in range(4) for rank in (0, 1)]
    result = {
        "verdict": {"state": "passed"},
        "throughput": {"mean": 1400.0, "spread": 1.0},
        "nccl": {"networks": ["IB"], "version": "2.22.3"},
        "ranks": [{"rank": rank, "device": "NVIDIA A100-40C"} for rank in (0, 1)],
        "iterations": [
            {"iteration": number, "rank": rank, "samples_per_s": rate, "seconds": 0.1} for number, rank, rate in rates
        ],
    }
    lab.add("cluster.training", lab.guests, "2:rdma", **result)
    reported = lab.judged()
    assert row_of(reported, "cluster.training 2:rdma")["verdict"] == "pass"
    (training,) = reported["trainings"]
    known = {key: training[key] for key in ("nodes", "ranks", "transport", "images_per_s", "spread")}
    assert known == {"nodes": 2, "ranks": 2, "transport": "rdma", "images_per_s": 1400.0, "spread": 0.0}
    assert training["iterations"][0] == {"iteration": 0, "seconds": 0.1, "images_per_s": 1400.0}


def test_a_training_that_failed_is_no_rate_to_compare():
    lab = World(2, "sriov")
    lab.set(
        "cluster.training", tuple(lab.guests), verdict={"state": "failed", "reason": "Rank 1 died", "host": "job-02"}
    )
    row = row_of(lab.judged(), "cluster.training 2:rdma")
    assert (row["verdict"], row["why"], row["cause"]) == ("fail", "Rank 1 died", "job-02")
    assert row_of(lab.judged(), "cluster.efficiency 2:rdma")["verdict"] == "not_run"


def broken(reason="Rank 1 on job-02 failed first: it was killed by signal 9", host="job-02", code="rank_failed"):
    return {"state": "failed", "code": code, "reason": reason, "host": host}


@pytest.mark.parametrize(
    "values, measured, why",
    [
        ({}, 10.5, "Rank 1 on job-02 failed first: it was killed by signal 9."),
        (
            {"wrong": 3},
            10.5,
            "3 values of the result are wrong. Rank 1 on job-02 failed first: it was killed by signal 9.",
        ),
        ({"alone": True, "nodes": 1, "busbw": 0.0}, None, "1 of 2 ranks took part. Rank 1"),
        ({"large": False}, None, "Rank 1 on job-02 failed first"),
    ],
    ids=["all figures are there", "wrong values", "one rank", "small messages"],
)
def test_nccl_of_a_run_that_failed_fails_whatever_its_table_says(values, measured, why):
    lab = World(2, "sriov")
    lab.set("cluster.nccl", verdict=broken(), **values)
    row = row_of(lab.judged(), "cluster.nccl rdma")
    assert (row["verdict"], row["measured"], row["why"][: len(why)]) == ("fail", measured, why)


def test_nccl_of_a_run_that_failed_names_the_guest_and_of_one_gpu_is_not_left_out():
    lab = World(2, "sriov")
    lab.set("cluster.nccl", verdict=broken())
    reported = lab.judged()
    assert row_of(reported, "cluster.nccl rdma")["cause"].startswith("job-02 (esx-02 vmnic2, leaf-01")
    # A figure of a run that failed is none to compare with later.
    assert not any("nccl" in one["key"] for one in reported["figures"])
    alone = World(1, "sriov")
    alone.set("cluster.nccl", verdict=broken("It did not end within 60 seconds", None, "too_long"), alone=True, nodes=1)
    row = row_of(alone.judged(), "cluster.nccl rdma")
    assert (row["verdict"], row["why"], row["cause"]) == ("fail", "It did not end within 60 seconds.", "")


def test_sockets_are_reported_once_although_the_run_failed_of_them_too():
    lab = World(2, "sriov")
    lab.set(
        "cluster.nccl", verdict=broken("NCCL used Socket instead of RDMA", None, "fell_back_to_tcp"), transport="tcp"
    )
    row = row_of(lab.judged(), "cluster.nccl rdma")
    assert (row["verdict"], row["why"].count("instead of RDMA")) == ("fail", 1)
    assert row["cause"] == "NCCL on sockets"
    lab.set("cluster.nccl", transport="rdma")
    assert row_of(lab.judged(), "cluster.nccl rdma")["why"] == "NCCL used Socket instead of RDMA."


def test_efficiency_and_gain_are_worked_out_from_trainings():
    reported = World(4, "sriov").judged()
    assert row_of(reported, "cluster.efficiency 4:rdma")["measured"] == 100.0
    assert row_of(reported, "cluster.efficiency 4:tcp")["measured"] == 90.0
    assert row_of(reported, "cluster.rdma_gain 4")["measured"] == pytest.approx(11.11)


def test_simulated_figures_are_counted_and_nothing_real_is_claimed():
    lab = World(2, "sriov")
    made = [dict(one, simulated=one["check"] in ("pair.write_bw", "cluster.training")) for one in lab.measurements()]
    reported = judge(made, lab.intent, topology=lab.topology)
    assert row_of(reported, "cluster.efficiency 2:rdma")["simulated"] is True
    assert reported["verdict"]["counts"]["simulated"] == 9
    assert "prove nothing about real hardware" in reported["verdict"]["sentence"]
    assert "RDMA write bandwidth" in reported["simulated"]


def test_a_guest_alone_has_no_network_so_that_either_transport_will_do():
    lab = World(3, "sriov")
    for guest in lab.guests:
        lab.drop("cluster.training", guest)
        lab.add("cluster.training", guest, "1:tcp", total=1480.0, iterations=[1480.0] * 4, device="GPU", devices=1)
    reported = lab.judged()
    assert reported["verdict"]["state"] == "pass"
    assert [row["id"] for row in reported["rows"] if "(1:" in row["id"]] == [
        f"cluster.training {guest} (1:tcp)" for guest in lab.guests
    ]
    assert row_of(reported, "cluster.efficiency 3:rdma")["measured"] == 100.0


def test_a_guest_that_did_not_train_alone_is_missed():
    lab = World(2, "sriov")
    lab.drop("cluster.training", "job-02")
    reported = lab.judged()
    assert row_of(reported, "cluster.training job-02 (1:rdma)")["verdict"] == "not_run"
    assert reported["verdict"]["state"] == "incomplete"


def test_of_two_guests_the_slower_one_is_the_bad_one():
    lab = World(2, "sriov")
    lab.train(["job-02"], "rdma", 1100.0)
    reported = lab.judged()
    assert row_of(reported, "cluster.training job-01 (1:rdma)")["verdict"] == "pass"
    row = row_of(reported, "cluster.training job-02 (1:rdma)")
    assert (row["verdict"], row["cause"][:7]) == ("warn", "job-02 ")


def test_whoever_ran_it_says_which_guests_took_part():
    lab = World(4, "sriov", nodes=[1, 2, 4])
    lab.train(["job-03", "job-04"], "rdma", 2960.0)
    lab.train(["job-03", "job-04"], "tcp", 2600.0)
    row = row_of(lab.judged(), "cluster.training 2:rdma")
    assert (row["verdict"], row["subject"]) == ("pass", {"guests": ["job-03", "job-04"]})


def test_a_run_of_nccl_without_a_variant_is_the_expected_one():
    lab = World(3, "sriov")
    made = [dict(one, variant="") if one["check"] == "cluster.nccl" else one for one in lab.measurements()]
    reported = judge(made, lab.intent, topology=lab.topology)
    assert row_of(reported, "cluster.nccl")["verdict"] == reported["verdict"]["state"] == "pass"
