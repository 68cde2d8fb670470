"""The record of a run: what was moved, the rates, losses and weights of ranks, and what an operator should know."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.training import output, result, verdict
from ansible_collections.aiready.vsphere.plugins.module_utils.training.progress import Progress

from .runs import planned, request

DONE = {"state": "passed", "code": "", "reason": ""}


def run(*events, hosts=("job-01", "job-02")):
    """What is known of a run whose ranks reported these events, as (rank, event, values)."""
    seen = Progress(list(hosts))
    for rank, event, values in events:
        seen.feed("job-01", 0, f"{output.OURS}{json.dumps({'event': event, 'rank': rank, **values})}\n")
    return seen


def step(rank, iteration, rate, **more):
    return rank, "iteration", {"iteration": iteration, "samples_per_s": rate, **more}


def end(rank, **values):
    return rank, "end", values


def test_rdma_counters_are_words_of_four_bytes():
    text = "net ens224 100 200\nrdma mlx5_0/1 10 20\nnet broken 1\nnet ens192 x 1\nnet ens192 1 x\nother a 1 2\n"
    assert result.counters(text) == {"net": {"ens224": (100, 200)}, "rdma": {"mlx5_0/1": (40, 80)}}


def test_traffic_is_what_came_in_between_without_the_loopback_and_what_is_idle():
    before = {"net": {"lo": (0, 0), "ens192": (5, 5), "ens224": (100, 200)}, "rdma": {"mlx5_0": (40, 40)}}
    after = {"net": {"lo": (9, 9), "ens192": (5, 5), "ens224": (150, 200)}, "rdma": {"mlx5_0": (0, 100), "new": (1, 0)}}
    assert result.traffic(before, after) == [
        {"name": "ens224", "kind": "net", "rx_bytes": 50, "tx_bytes": 0},
        {"name": "mlx5_0", "kind": "rdma", "rx_bytes": 0, "tx_bytes": 60},
        {"name": "new", "kind": "rdma", "rx_bytes": 1, "tx_bytes": 0},
    ]


def test_the_interface_that_carried_most_counts_both_directions():
    moved = [{"name": "a", "rx_bytes": 10, "tx_bytes": 0}, {"name": "b", "rx_bytes": 6, "tx_bytes": 6}]
    assert (result.carried_by(moved), result.carried_by([])) == ("b", None)


def test_the_rate_is_the_sum_over_ranks_without_the_first_iteration():
    seen = run(*(step(rank, number, 10 * number + rank) for number in (1, 2, 3) for rank in (0, 1)), step(0, 4, 99))
    # Of iteration 4 only one rank reported.
    assert result.throughput(seen, 2) == {
        "mean": 51.0,
        "spread": 10.0,
        "iterations": 2,
        "how": "sum over the ranks of each iteration",
    }


def test_the_rate_of_each_rank_counts_for_all_of_them():
    seen = run(step(0, 1, 5, unit="each"), step(0, 2, 7, unit="each"))
    reported = result.throughput(seen, 2)
    assert (reported["mean"], reported["iterations"], reported["how"]) == (
        14.0,
        1,
        "rank 0 reported the rate of each rank",
    )


@pytest.mark.parametrize("total, how", [(120.5, "as the benchmark reported"), (None, "not reported")])
def test_without_iterations_the_rate_is_what_the_benchmark_printed(total, how):
    seen = run()
    seen.benchmark = {"total": total}
    assert result.throughput(seen, 2) == {"mean": total, "spread": None, "iterations": 0, "how": how}


@pytest.mark.parametrize(
    "digests, equal",
    [(("a", "a"), True), (("a", "b"), False), (("a",), None), (("a", ""), None)],
    ids=["equal", "different", "one is missing", "one is empty"],
)
def test_weights_are_compared_where_all_ranks_reported(digests, equal):
    seen = run(*(end(rank, weights=digest) for rank, digest in enumerate(digests)))
    kept = {str(rank): digest for rank, digest in enumerate(digests) if digest}
    assert result.weights(seen) == {"ranks": kept, "equal": equal}


@pytest.mark.parametrize(
    "events, first, last",
    [
        ([end(0, loss_first=2.5, loss_last=0.5), end(1, loss_first=9, loss_last=8)], 2.5, 0.5),
        ([end(0), end(1, loss_first=9, loss_last=8)], 9, 8),
        ([step(0, 1, 5, loss=3.0), step(0, 2, 5, loss=1.0), end(0)], 3.0, 1.0),
        ([step(0, 1, 5)], None, None),
    ],
    ids=["rank 0", "the first rank that reported", "iterations", "nobody"],
)
def test_the_loss_is_that_of_rank_0_or_of_the_first_one_that_reported(events, first, last):
    assert result.loss(run(*events)) == {"first": first, "last": last}


def test_there_is_an_entry_for_each_rank_also_for_one_that_said_nothing():
    about = {"engine": "horovod", "framework": "pytorch", "device": "GPU"}
    seen = run(
        (0, "rank", {**about, "device_name": "NVIDIA A100"}), step(0, 1, 4.0), step(0, 2, 5.0), end(0, weights="a")
    )
    first, second = result.ranks(seen, planned().places)
    assert first == {
        "rank": 0,
        "host": "job-01",
        "began": True,
        "ended": True,
        "iterations": 2,
        "samples_per_s": 4.5,
        "engine": "horovod",
        "framework": "pytorch",
        "device": "NVIDIA A100",
    }
    nothing = dict.fromkeys(("samples_per_s", "engine", "framework", "device"))
    assert second == {"rank": 1, "host": "job-02", "began": False, "ended": False, "iterations": 0, **nothing}


def test_a_device_without_a_name_is_shown_by_its_kind():
    seen = run((0, "rank", {"device": "CPU"}))
    assert result.ranks(seen, planned().places)[0]["device"] == "CPU"


LEARNED = {"loss_first": 2.0, "loss_last": 1.0, "weights": "a"}


@pytest.mark.parametrize(
    "events, codes",
    [
        ([end(0, **LEARNED), end(1, **LEARNED)], []),
        ([end(0, **LEARNED)], ["ranks_missing"]),
        ([end(0, **LEARNED), end(1, **{**LEARNED, "weights": "b"})], ["weights_differ"]),
        ([end(0, **{**LEARNED, "loss_last": 2.0}), end(1, **LEARNED)], ["loss_did_not_fall"]),
        ([end(0, weights="a"), end(1, weights="a")], ["loss_did_not_fall"]),
    ],
    ids=["learned", "a rank is missing", "weights", "loss", "no loss"],
)
def test_a_run_that_ended_well_has_to_have_trained(events, codes):
    assert [code for code, _sentence in result.shortcomings(request(), run(*events))] == codes


def test_a_command_of_the_user_need_not_report_like_ours():
    assert list(result.shortcomings(request(builtin=None, command=["train"]), run())) == []


@pytest.mark.parametrize(
    "networks, no_device, reported",
    [
        (["IB"], False, []),
        (["Socket"], False, ["NCCL used Socket instead of RDMA"]),
        (["IB", "Socket"], True, ["NCCL used Socket instead of RDMA because it found no device"]),
    ],
)
def test_gpus_on_a_path_for_rdma_have_to_use_it(networks, no_device, reported):
    seen = run()
    seen.nccl.update(networks=networks, no_device=no_device)
    given = request(builtin=None, command=["train"], data_path="sriov", gpus="all", interface="ens224")
    assert [sentence for _code, sentence in result.shortcomings(given, seen)] == reported
    assert list(result.shortcomings(replace(given, gpus="none"), seen)) == []
    assert list(result.shortcomings(replace(given, hosts=given.hosts[:1]), seen)) == []


def moved(name, much=10):
    return [{"name": name, "kind": "net", "rx_bytes": much, "tx_bytes": 0}]


ITERATIONS = [{"iteration": 1, "rank": 0, "samples_per_s": 10.0}]


@pytest.mark.parametrize(
    "much, iterations, networks, reported",
    [
        (10, ITERATIONS, [], True),
        (10, [], ["Socket"], True),
        (10**7, [], [], True),
        (10**7 - 1, [], [], False),
    ],
    ids=["a training", "nccl-tests", "a program of the user", "a program that exchanges nothing"],
)
def test_another_interface_that_carried_the_run_is_remarked(much, iterations, networks, reported):
    made = planned()
    wanted = made.places[0].interface
    traffic = {"job-01": moved("ens192", much), "job-02": moved(wanted, much)}
    seen = run()
    seen.iterations = list(iterations)
    seen.nccl["networks"] = networks
    said = [f"On job-01, ens192 carried more data than {wanted}, the interface of the data path."]
    assert result.remarks(made.request, seen, made.places, traffic) == (said if reported else [])
    assert result.remarks(made.request, seen, made.places[:1], traffic) == []


def test_ranks_without_gpus_on_a_path_for_rdma_are_remarked():
    made = planned(data_path="pvrdma", interface="ens224")
    assert result.remarks(made.request, run(), made.places, {"job-01": moved("vmw_pvrdma0")}) == [
        "Without GPUs the run does not use NCCL, so it sent nothing over RDMA."
    ]


def test_rates_that_vary_are_remarked():
    made = planned()
    steady = run(*(step(rank, number, 100) for number in range(5) for rank in (0, 1)))
    uneven = run(*(step(rank, number, 100 + 20 * (number % 2)) for number in range(5) for rank in (0, 1)))
    assert result.remarks(made.request, steady, made.places, {}) == []
    assert result.remarks(made.request, uneven, made.places, {}) == ["The rate varied by 9 % between iterations."]


def test_secrets_of_an_image_are_named_without_their_values():
    images = {"job-01": {"environment": {"API_TOKEN": "abc", "PATH": "/bin"}}, "job-02": None}
    assert list(result.not_taken(images)) == [
        "The image sets API_TOKEN. No rank gets it, because it looks like a secret."
    ]
    assert list(result.not_taken({"job-01": {"environment": {"PATH": "/bin"}}})) == []


def test_the_record_has_the_run_its_guests_and_its_verdict():
    made = planned()
    image = {"id": "sha256:1", "digests": ["images.example.com/horovod@sha256:2"], "environment": {}}
    times = {"began": "2026-03-01T08:15:30Z", "ended": "2026-03-01T08:16:30Z", "seconds": 60.0}
    seen = run(step(0, 1, 5.0), end(0, **LEARNED), end(1, **LEARNED))
    traffic = {"job-01": moved("ens224")}
    reported = result.record(made, seen, {"job-01": None, "job-02": image}, traffic, times, DONE, {"log": "a.log"})
    assert {
        key: reported[key] for key in ("run", "began", "ended", "seconds", "verdict", "training", "log", "file")
    } == {
        "run": "20260301-081530-6ed2",
        **times,
        "verdict": DONE,
        "training": "small",
        "log": "a.log",
        "file": None,
    }
    assert reported["image"] == {"name": made.request.image, "id": "sha256:1", "digests": image["digests"]}
    assert [(host["name"], host["carried_by"], host["rdma_device"]) for host in reported["hosts"]] == [
        ("job-01", "ens224", None),
        ("job-02", None, None),
    ]
    assert reported["hosts"][0]["traffic"] == traffic["job-01"]
    assert (reported["launcher"], reported["controller"]) == (made.request.launcher, made.request.controller)


def test_torchrun_has_no_controller_and_is_its_own_launcher():
    made = planned(engine="torchrun", launcher=None, controller=None)
    reported = result.record(made, run(), {}, {}, {"began": "", "ended": "", "seconds": 0}, DONE, {})
    assert (reported["engine"], reported["launcher"], reported["controller"]) == ("torchrun", "torchrun", None)
    assert reported["image"] == {"name": made.request.image, "id": None, "digests": []}


class Course:
    """A run whose launcher ended well, and whose ranks reported these events."""

    why = ""
    lost: dict = {}
    answers: dict = {}

    def __init__(self, *events):
        self.seen, self.statuses = run(*events), {"job-01": 0}


def test_a_run_without_a_result_is_not_explained_by_lines_of_its_log():
    course = Course(end(0, **LEARNED))
    course.seen.feed("job-01", 1, "a line of the log\n")
    reported = verdict.judge(planned(), course, "/runs/1/log")
    assert (reported["state"], reported["code"], reported["lines"], reported["known"]) == (
        "failed",
        "ranks_missing",
        [],
        None,
    )
