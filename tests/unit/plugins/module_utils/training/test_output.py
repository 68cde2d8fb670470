"""What is printed is understood, whoever printed it and however it was cut."""

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.training import output, result

from .runs import request
from .samples import progress, read


def tagged(text, launcher, rank=0):
    """As a launcher hands lines of one rank on."""
    prefix = {
        "mpirun": f"[1,{rank}]<stdout>:",
        "mpirun of Open MPI 5": f"[1,{rank}]<stdout>: ",
        "gloo": f"[{rank}]<stdout>:",
        "gloo with time": f"Sun Mar  1 08:15:30 2026[{rank}]<stdout>:",
        "torchrun": f"[default{rank}]:",
        "none": "",
    }[launcher]
    return "".join(f"{prefix}{line}\n" for line in text.splitlines())


LAUNCHERS = ("none", "mpirun", "mpirun of Open MPI 5", "gloo", "gloo with time", "torchrun")


@pytest.mark.parametrize("launcher", LAUNCHERS)
@pytest.mark.parametrize(
    "sample, rates, total",
    [
        ("torch_benchmark", [1705.8, 1787.9, 1786.1], 14296.0),
        ("keras_benchmark", [448.0, 1486.4, 1488.6], 2975.0),
        ("noisy_benchmark", [240.1, 248.1, 247.6, 186.1, 243.2], 3728.3),
        ("tf_cnn", [154.4, 154.2, 154.8], 308.27),
    ],
)
def test_known_benchmarks_are_read(launcher, sample, rates, total):
    seen = progress(tagged(read(sample), launcher))
    assert [entry["samples_per_s"] for entry in seen.iterations] == rates
    assert seen.benchmark["total"] == total


@pytest.mark.parametrize("cut", [1, 7, 50])
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_pieces_make_the_same_lines(launcher, cut):
    text = tagged(read("torch_benchmark"), launcher)
    assert progress(text, cut=cut).iterations == progress(text).iterations


def test_words_of_two_ranks_on_one_line_are_reported_apart():
    """mpirun hands on what it reads, and Python without a buffer writes words."""
    text = (
        "[1,0]<stdout>:Iter #0: 5.0[1,1]<stdout>:hello[1,0]<stdout>: img/sec per GPU[1,1]<stdout>:\n"
        "[1,0]<stdout>:\n[1,1]<stdout>:by"
    )
    seen = progress(text)
    assert [(entry["rank"], entry["samples_per_s"]) for entry in seen.iterations] == [(0, 5.0)]
    assert seen.tail(1) == ["hello", "by"]


def event(**data):
    return "AIREADY " + json.dumps(data) + "\n"


def trained(weights=("a", "a"), losses=((2.3, 0.6), (2.3, 0.7))):
    """What two ranks of our own training print."""
    lines = []
    for rank in (0, 1):
        lines.append(event(event="rank", rank=rank, size=2, host=f"job-0{rank + 1}", engine="horovod 0.28.1"))
        for iteration in range(3):
            rate = 100.0 + 10 * rank + iteration
            lines.append(
                event(event="iteration", rank=rank, iteration=iteration, loss=2.0, samples_per_s=rate, seconds=0.1)
            )
    for rank in (0, 1):
        first, last = losses[rank]
        lines.append(event(event="end", rank=rank, weights=weights[rank], loss_first=first, loss_last=last))
    return "".join(lines)


def test_own_trainings_are_read():
    seen = progress(trained())
    assert seen.ended == [0, 1]
    assert result.loss(seen) == {"first": 2.3, "last": 0.6}
    assert result.weights(seen) == {"ranks": {"0": "a", "1": "a"}, "equal": True}
    # Without the first iteration: 211 + 1 and 212 + 2 over both ranks.
    assert result.throughput(seen, 2)["mean"] == 213.0
    assert seen.reported() == "2 of 2 ranks, iteration 2, loss 2, 214.0 samples/s, 2 done"


def test_a_benchmark_that_prints_for_people_too_counts_each_iteration_once():
    lines = [event(event="rank", rank=0, size=1, host="job-01")]
    for iteration, rate in enumerate((100.0, 200.0, 220.0)):
        lines.append(f"Iter #{iteration}: {rate:.1f} img/sec per GPU\n")
        lines.append(event(event="iteration", rank=0, iteration=iteration, loss=2.0, samples_per_s=rate, seconds=0.1))
    seen = progress("".join(lines), hosts=("job-01",))
    assert [entry["samples_per_s"] for entry in seen.iterations] == [100.0, 200.0, 220.0]
    assert result.throughput(seen, 1) == {
        "mean": 210.0,
        "spread": 10.0,
        "iterations": 2,
        "how": "sum over the ranks of each iteration",
    }


def test_unequal_weights_and_missing_ranks_are_no_success():
    assert result.weights(progress(trained(weights=("a", "b"))))["equal"] is False
    assert result.weights(progress(trained().rpartition("AIREADY")[0]))["equal"] is None


@pytest.mark.parametrize("text", ["AIREADY {half", "AIREADY []", 'AIREADY {"no": 1}', 'said AIREADY {"event": "end"}'])
def test_what_only_looks_like_an_event_is_none(text):
    assert output.event(text) is None


def test_numbers_that_are_none_can_be_written_as_json():
    seen = progress('AIREADY {"event": "iteration", "rank": 0, "iteration": 1, "loss": NaN}\n')
    assert json.loads(json.dumps(seen.iterations, allow_nan=False)) == [{"iteration": 1, "loss": "nan", "rank": 0}]


def test_rdma_is_reported_from_sockets():
    rdma, sockets = progress(read("nccl_rdma")).nccl, progress(read("nccl_sockets")).nccl
    assert (rdma["networks"], rdma["via"], rdma["gpudirect"]) == (["IB"], ["IB", "IB/GDRDMA"], {"mlx5_0": False})
    assert (sockets["networks"], sockets["no_device"], sockets["gpudirect"]) == (["Socket"], True, {})
    assert sockets["version"] == "2.22.3"


@pytest.mark.parametrize("network", ["IBext", "IBext_v7", "IBext_v8", "IBext_v10"])
def test_the_plugin_of_hpcx_is_rdma_as_what_nccl_has_itself(network):
    seen = progress(read("nccl_rdma").replace("NET/IB", f"NET/{network}").replace("network IB", f"network {network}"))
    reported = (seen.nccl["networks"], seen.nccl["via"], seen.nccl["gpudirect"])
    assert reported == ([network], [network, f"{network}/GDRDMA"], {"mlx5_0": False})
    assert list(result.shortcomings(OVER_RDMA, seen)) == []


OVER_RDMA = request(data_path="pvrdma", gpus="all", builtin=None, command=["all_reduce_perf"])


@pytest.mark.parametrize(
    "lines, why",
    [
        (
            ("NET/IBext_v8 : No device found.", "Using network Socket"),
            "Socket instead of RDMA because it found no device",
        ),
        (("Using network IBext_v8", "Using network Socket"), "Socket instead of RDMA"),
        (("Using network Socket",), "Socket instead of RDMA"),
        (("Using network UCX",), "UCX instead of RDMA"),
        (("Using network IB", "Using network IBext_v8"), ""),
    ],
    ids=["a plugin without a device", "one rank only", "all ranks", "one that nobody knows", "two names"],
)
def test_a_run_that_was_not_over_rdma_alone_is_no_success(lines, why):
    seen = progress("".join(f"job-01:1:1 [0] NCCL INFO {line}\n" for line in lines))
    wanted = [("fell_back_to_tcp", f"NCCL used {why}")] if why else []
    assert list(result.shortcomings(OVER_RDMA, seen)) == wanted


def test_gpudirect_of_a_connection_through_a_proxy_is_read():
    line = "NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IBext_v8/0(3)/GDRDMA(PCI)/Shared"
    assert output.nccl(line) == ("via", ["IBext_v8", "/GDRDMA"])


@pytest.mark.parametrize(
    "line, reported",
    [
        ("NCCL INFO Using network AWS Libfabric", ("network", ["AWS Libfabric"])),
        ("NCCL INFO Channel 00 : 1[0] -> 2[0] [send] via NET/AWS Libfabric/1", ("via", ["AWS Libfabric", ""])),
        ("NCCL INFO Ring 00 : 3 -> 0 [receive] via NET/IB/0/GDRDMA", ("via", ["IB", "/GDRDMA"])),
    ],
    ids=["a name of two words", "the same of a connection", "before 2.7"],
)
def test_names_of_networks_and_connections_of_any_version_are_read(line, reported):
    assert output.nccl(line) == reported


@pytest.mark.parametrize(
    "networks, transport",
    [
        ([], None),
        (["IB"], "rdma"),
        (["IB", "IBext_v8"], "rdma"),
        (["Socket"], "tcp"),
        (["IBext", "Socket"], "mixed"),
        (["UCX"], None),
        (["IB", "UCX"], None),
    ],
)
def test_names_of_networks_say_what_they_are(networks, transport):
    assert output.transport(networks) == transport


def test_rate_of_a_benchmark_leaves_out_the_iteration_that_compiles():
    reported = result.throughput(progress(read("keras_benchmark")), 2)
    assert (reported["mean"], reported["iterations"]) == (2975.0, 2)


def test_half_a_last_line_is_not_lost():
    assert progress("[1,0]<stdout>:the end").tail(0) == ["the end"]
