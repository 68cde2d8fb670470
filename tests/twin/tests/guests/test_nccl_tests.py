"""nccl-tests: ranks that come together, the network that they took, and what the ring gets of it."""

from __future__ import annotations

import json
import re

import pytest

from vsphere_twin.model import gpu_errors

SWEEP = ("all_reduce_perf", "-b", "256M", "-e", "1G", "-f", "2", "-g", "1")
INFO = {"NCCL_DEBUG": "INFO"}
DIRECT = {"NCCL_NET_GDR_LEVEL": "PHB", "NCCL_IB_TC": "106"}
SOCKETS = {"NCCL_IB_DISABLE": "1", "NCCL_SOCKET_IFNAME": "ens224"}
PFC_OFF = "interface Ethernet2\n no service-profile"
NO_UVM = {"extra_config": {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "512"}}


def busbw(rank):
    """Of the largest size, out of place."""
    rows = [line.split() for line in rank.out.splitlines() if re.match(r" +\d+ +\d+ +float", line)]
    return float(rows[-1][7])


def peermem(pair):
    for guest in pair.guests:
        guest.state["installed"]["doca-ofed"] = {"version": "25.04-0.6.1"}
        guest.boot(modules_load=["rdma_ucm", "nvidia_peermem"])
    return pair


@pytest.mark.parametrize(
    "how, env, low, high",
    [
        ({}, {}, 5.4, 5.7),
        ({"second": {"rulesets": {}}}, {}, 1.1, 1.2),
        ({"leaf": PFC_OFF}, {}, 1.6, 1.8),
        ({}, SOCKETS, 2.9, 3.1),
        ({}, {"NCCL_IB_DISABLE": "1"}, 0.07, 0.08),
        ({"path": "sriov"}, {"NCCL_IB_TC": "106"}, 5.8, 6.0),
        ({"path": "sriov"}, {}, 1.7, 1.9),
    ],
    ids=[
        "PVRDMA",
        "PVRDMA that fell back",
        "no pauses at a port of the switch",
        "sockets",
        "sockets over the management network",
        "virtual function through the guest's memory",
        "virtual function without a class",
    ],
)
def test_bandwidth(pair_of, how, env, low, high):
    first, second = pair_of(**how).job(*SWEEP, env=env)
    assert (first.status, second.status) == (0, 0), first.out
    assert low <= busbw(first) <= high


def test_gpudirect_nearly_reaches_what_rdma_does(pair_of):
    first, _second = peermem(pair_of(path="sriov")).job(*SWEEP, env={**DIRECT, **INFO})
    assert 10.8 <= busbw(first) <= 11.1
    assert " 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA\n" in first.out
    assert "NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'\n" in first.out


def wrong(rank):
    """#wrong of each size, out of place and in place."""
    rows = [line.split() for line in rank.out.splitlines() if re.match(r" +\d+ +\d+ +float", line)]
    return [(row[8], row[12]) for row in rows]


def test_gpus_that_compute_right_are_wrong_nowhere(pair_of):
    first, second = pair_of().job(*SWEEP)
    assert (first.status, second.status, wrong(first)) == (0, 0, [("0", "0")] * 3)
    assert "# Out of bounds values : 0 OK\n" in first.out


@pytest.mark.parametrize("guest", [0, 1])
def test_a_gpu_that_computes_wrong_fails_every_rank_and_is_counted(pair_of, guest):
    pair = pair_of()
    gpu_errors.set_wrong(pair.world, pair.guests[guest].vm)
    first, second = pair.job(*SWEEP)
    assert (first.status, second.status) == (1, 1)
    assert wrong(first) == [("128", "128"), ("256", "256"), ("512", "512")]
    assert "# Out of bounds values : 12 FAILED\n" in first.out


def test_nobody_sees_wrong_results_who_does_not_check_them(pair_of):
    pair = pair_of()
    gpu_errors.set_wrong(pair.world, pair.guests[0].vm)
    first, second = pair.job(*SWEEP, "-c", "0")
    assert (first.status, second.status, wrong(first)) == (0, 0, [("N/A", "N/A")] * 3)


def test_a_gpu_on_another_root_is_slower(pair_of):
    gpu = {"board": "a100_pcie_40gb", "numa_node": 1, "graphics_type": "sharedDirect"}
    first, _second = peermem(pair_of(path="sriov", second={"gpus": [gpu]})).job(*SWEEP, env=DIRECT)
    assert 3.5 <= busbw(first) <= 4.0


@pytest.mark.parametrize(
    "how, env, lines",
    [
        (
            {},
            {},
            ["NET/IB : Using [0]vmw_pvrdma0:1/RoCE [RO]; OOB ens192:10.1.0.5<0>", "Using network IB"]
            + [
                "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0",
                "GPU Direct RDMA Disabled for HCA 0 'vmw_pvrdma0'",
            ],
        ),
        (
            {},
            {"NCCL_IB_HCA": "=mlx5_0"},
            ["NET/IB : No device found.", "NET/Socket : Using [0]ens192:10.1.0.5<0>", "Using network Socket"]
            + ["NET/Socket : GPU Direct RDMA Disabled for HCA 0 'ens192'", "[send] via NET/Socket/0"],
        ),
        ({}, SOCKETS, ["NCCL_IB_DISABLE set by environment to 1", "NET/Socket : Using [0]ens224:10.1.1.5<0>"]),
    ],
    ids=["RDMA", "a silent fallback", "sockets that were asked for"],
)
def test_the_log_reports_the_network(pair_of, how, env, lines):
    first, second = pair_of(**how).job(*SWEEP, env={**INFO, **env})
    for line in lines:
        assert line in first.out
    assert "Init COMPLETE" in second.out
    assert "busbw" not in second.out


FAILURES = {
    "a row of the GID table that is empty": ({}, {"NCCL_IB_GID_INDEX": "9"}, "ibv_modify_qp failed", "system error"),
    "packets that do not fit": ({"leaf": "interface Ethernet2\n mtu 1500"}, {}, "with status=12 ", "system error"),
    "an interface that nobody has": (
        {},
        {"NCCL_SOCKET_IFNAME": "bond0"},
        "no socket interface found",
        "internal error",
    ),
}
# What one guest lacks: it says so itself, and the other one sees a connection that ends.
FAILURES_OF_ONE = {
    "no unified memory": (
        {"here": NO_UVM},
        {},
        0,
        "Cuda failure 801 'operation not supported'",
        "unhandled cuda error",
    ),
    "GPUDirect that the host does not let through": (
        {"path": "sriov", "second": {"kernel": {"atsSupport": False}}},
        DIRECT,
        1,
        "with status=4 ",
        "system error",
    ),
}


@pytest.mark.parametrize("how, env, warning, kind", FAILURES.values(), ids=FAILURES)
def test_how_it_fails(pair_of, how, env, warning, kind):
    pair = pair_of(**how)
    for rank in pair.job(*SWEEP, env={**INFO, **env}):
        assert rank.status == 3
        assert warning in rank.out
        assert f"{kind} (run with NCCL_DEBUG=INFO for details) / '" in rank.out


@pytest.mark.parametrize("how, env, number, warning, kind", FAILURES_OF_ONE.values(), ids=FAILURES_OF_ONE)
def test_one_fails_and_the_other_is_left_alone(pair_of, how, env, number, warning, kind):
    pair = pair_of(**how)
    if "NCCL_NET_GDR_LEVEL" in env:
        peermem(pair)
    ranks = pair.job(*SWEEP, env={**INFO, **env})
    assert [rank.status for rank in ranks] == [3, 3]
    guilty, other = ranks[number], ranks[1 - number]
    assert warning in guilty.out
    assert f"{kind} (run with NCCL_DEBUG=INFO for details) / '" in guilty.out
    assert warning not in other.out
    assert "Connection closed by remote peer" in other.out


def test_ofed_takes_pvrdma_away_and_nccl_goes_on_without_a_word(pair_of):
    first, _second = peermem(pair_of()).job(*SWEEP, env=INFO)
    assert first.status == 0
    assert "Using network Socket\n" in first.out


def test_a_slow_gpu_slows_all_of_them(pair_of):
    pair = pair_of()
    assert busbw(pair.job(*SWEEP)[0]) > 5
    pair.guests[1].now += 21 * 60
    assert busbw(pair.job(*SWEEP)[0]) < 1.3


def test_a_rank_waits_for_the_others(pair_of):
    pair = pair_of()
    env = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2", "PMIX_NAMESPACE": "1@1"}
    answer = pair.guests[0].ask(*SWEEP, env=env)
    assert (answer["again_s"], answer["stdout"]) == (0.3, "")


def test_without_a_gpu_there_is_nothing_to_test(pair_of):
    pair = pair_of()
    pair.guests[0].state["loaded"].remove("nvidia_uvm")
    pair.guests[0].state["loaded"].remove("nvidia")
    status, shown = pair.guests[0].run(*SWEEP)
    assert status == 2
    assert "no CUDA-capable device is detected" in shown


def test_more_ranks_than_gpus(pair_of):
    status, shown = pair_of().guests[0].run("all_reduce_perf", "-g", "2")
    assert (status, shown.splitlines()[0]) == (1, "Invalid number of GPUs: 2 requested but only 1 were found.")


def test_small_messages_make_the_average_say_little(pair_of):
    first, _second = pair_of().job("all_reduce_perf", "-b", "8", "-e", "128M", "-f", "2")
    average = float(re.search(r"# Avg bus bandwidth    : (\S+)", first.out)[1])
    assert average < 0.5 * busbw(first)


@pytest.mark.parametrize("floor, status", [("5", 0), ("9", 1)])
def test_a_least_bandwidth_decides_the_status(pair_of, floor, status):
    assert pair_of().job(*SWEEP, env={"NCCL_TESTS_MIN_BW": floor})[0].status == status


def test_files_of_its_own(pair_of):
    first, second = pair_of().job(*SWEEP, "-J", "/tmp/r.json", env={**INFO, "NCCL_DEBUG_FILE": "/tmp/nccl.%h.%p"})
    assert "NCCL INFO" not in first.out
    assert "Init COMPLETE" in second.files["/tmp/nccl.job-02.1"]
    found = json.loads(first.files["/tmp/r.json"])
    assert [one["size"] for one in found["results"]] == [1 << 28, 1 << 29, 1 << 30]
