"""nccl-tests are read in all their forms, and the way that NCCL took is taken from its log alone."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import nccl_log, nccl_tests

from . import texts
from .texts import MIB, OLD_HEAD, nccl_row

SWEEP = [nccl_row(8, 0.001), nccl_row(MIB, 2.0), nccl_row(256 * MIB, 10.4), nccl_row(512 * MIB, 10.6)]
OLD = [nccl_row(256 * MIB, 12.2, 1.875, wrong="5e-07", root=False)]


@pytest.mark.parametrize(
    "text, busbw",
    [
        (texts.nccl_tests(SWEEP), 10.6),
        (texts.tagged(texts.nccl_tests(SWEEP)), 10.6),
        (texts.nccl_tests(OLD, OLD_HEAD), 22.875),
        (texts.nccl_tests(SWEEP, head="", rccl=True), 10.6),
        (texts.nccl_tests([*SWEEP[:2], "...", *SWEEP[2:]]), 10.6),
        # Of the largest sizes the best: one that was disturbed says nothing of the path.
        (texts.nccl_tests([*SWEEP, nccl_row(1024 * MIB, 4.0)]), 10.6),
    ],
    ids=["new", "prefix", "old", "no head", "a gap", "a disturbed size"],
)
def test_the_large_sizes_count_and_never_the_average(text, busbw):
    found = nccl_tests.parse(text)
    assert (found["why"], found["large"], found["wrong"]) == ("", True, 0)
    assert found["busbw"] == pytest.approx(busbw, abs=0.01)


def test_ranks_are_reported_with_their_hosts():
    found = nccl_tests.parse(texts.nccl_tests(SWEEP, ranks=("job-01", "job-02")))
    assert [(one["rank"], one["host"]) for one in found["ranks"]] == [(0, "job-01"), (1, "job-02")]
    assert (found["nodes"], found["ranks_by_factor"]) == (2, 2)


@pytest.mark.parametrize(
    "text, wrong",
    [
        (texts.nccl_tests([nccl_row(512 * MIB, 10.6, wrong="3")]), 6),
        (texts.nccl_tests(SWEEP, bounds="2 FAILED"), 2),
        (texts.nccl_tests([nccl_row(512 * MIB, 10.6, wrong="N/A")]), None),
        (texts.nccl_tests([nccl_row(512 * MIB, 10.6, wrong="4e-01*", root=False)], OLD_HEAD), 1),
    ],
)
def test_wrong_values_are_counted_and_unchecked_ones_are_not_right(text, wrong):
    assert nccl_tests.parse(text)["wrong"] == wrong


def test_a_table_without_an_operation_is_read():
    """An alltoall before 2.13 leaves the column empty."""
    row = nccl_row(512 * MIB, 10.6, 0.875, root=False)
    found = nccl_tests.parse(texts.nccl_tests([row.replace("     sum", "        ")], OLD_HEAD))
    assert (found["why"], found["algbw"], found["busbw"]) == ("", 10.6, pytest.approx(9.28, abs=0.01))
    assert found["ranks_by_factor"] is None


def test_half_a_row_is_none_of_a_table_without_an_operation():
    rows = [nccl_row(512 * MIB, 10.6), nccl_row(1024 * MIB, 11.0).rsplit(None, 1)[0]]
    assert nccl_tests.parse(texts.nccl_tests(rows))["largest_bytes"] == 512 * MIB


def test_a_time_behind_each_row_does_no_harm():
    head = texts.NEW_HEAD.replace("#wrong\n", "#wrong            timestamp\n")
    rows = [f"{nccl_row(512 * MIB, 10.6)}  2026-03-01 08:15:30"]
    assert nccl_tests.parse(texts.nccl_tests(rows, head))["busbw"] == 10.6


@pytest.mark.parametrize(
    "factor, root, ranks",
    [(1.0, "-1", 2), (1.875, "-1", 16), (0.875, "-1", None), (1.0, " 0", None)],
    ids=["two", "sixteen", "reduce_scatter", "reduce"],
)
def test_ranks_are_counted_by_the_arithmetic_of_an_all_reduce_alone(factor, root, ranks):
    row = nccl_row(512 * MIB, 10.6, factor).replace("     -1", f"     {root}")
    assert nccl_tests.parse(texts.nccl_tests([row]))["ranks_by_factor"] == ranks


def test_a_sweep_of_small_messages_says_nothing_of_the_path():
    assert nccl_tests.parse(texts.nccl_tests([nccl_row(MIB, 2.0)]))["large"] is False


def test_ranks_that_ran_alone_are_found_by_their_arithmetic():
    text = texts.nccl_tests([nccl_row(512 * MIB, 180.0, factor=0.0)], ranks=("job-01",))
    assert "built with MPI" in nccl_tests.parse(text + text.replace("job-01", "job-02"))["why"]


def test_one_rank_by_itself_is_reported_as_such():
    """Forms of 2.19: `[0000:00:06]` without a function, releases as one number, bandwidths such as 3e+06."""
    rows = [nccl_row(512 * MIB, 1496.4, factor=0.0), nccl_row(1024 * MIB, 1506.8, factor=0.0)]
    head = "# nccl-tests version 2.19.6 nccl-headers=22809 nccl-library=22809\n"
    head += "#  Rank  0 Group  0 Pid   2268 on     job-01 device  0 [0000:00:06] NVIDIA H100 80GB HBM3\n"
    text = head + texts.nccl_tests(rows, average=0).replace("NCCL version 2.22.3+cuda12.6\n", "")
    found = nccl_tests.parse(text.replace("1506.80    0.00      0\n", "  3e+06    0.00      0\n"))
    assert (found["alone"], found["busbw"], found["wrong"]) == (True, 0.0, 0)
    assert (found["version"], found["nodes"], found["why"]) == ("2.28.9", 1, "")
    assert (found["ranks"][0]["pci"], found["rows"][-1]["in"]["algbw"]) == ("0000:00:06", 3e6)


@pytest.mark.parametrize(
    "code, version", [("22809", "2.28.9"), (23007, "2.30.7"), ("2.27.5", "2.27.5"), (2708, 2708), (None, None)]
)
def test_releases_of_nccl_as_one_number(code, version):
    assert nccl_tests.version_of(code) == version


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        texts.nccl_tests([]),
        # Killed before its end.
        texts.nccl_tests(SWEEP).split("# Out of")[0],
        # Without a head, columns that do not fit to each other are no columns.
        texts.nccl_tests([nccl_row(512 * MIB, 10.6).replace("50648", "60648")], head=""),
        texts.nccl_tests([nccl_row(0, 0.0)]),
    ],
)
def test_what_is_not_understood_has_no_figure(text):
    found = nccl_tests.parse(text)
    assert found["understood"] is False
    assert "busbw" not in found


def test_a_test_that_failed_says_so():
    text = texts.nccl_tests(SWEEP) + "job-02: Test NCCL failure common.cu:958 'remote process exited'\n"
    found = nccl_tests.parse(text)
    assert (found["understood"], "busbw" in found) == (True, False)
    assert "Test NCCL failure" in found["why"]


WARNING = "job-02:9:9 [0] NCCL WARN socketProgress: Connection refused, retrying\n"


def test_a_warning_is_a_reason_only_where_the_test_did_not_come_to_its_end():
    whole = texts.nccl_tests(SWEEP)
    assert nccl_tests.parse(WARNING + whole)["busbw"] == pytest.approx(10.6, abs=0.01)
    assert "Connection refused" in nccl_tests.parse(WARNING + whole.split("# Out of")[0])["why"]


def test_the_reason_is_reported_and_not_what_follows_from_it():
    text = "Invalid number of GPUs: 2 requested but only 1 were found.\n .. job-01 pid 9: Test failure common.cu:1454\n"
    assert "2 requested but only 1 were found" in nccl_tests.parse(text)["why"]


def log(*lines, host="job-01"):
    return "".join(f"{host}:4744:4763 [0] NCCL INFO {line}\n" for line in lines)


USING = "NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB ens192:10.0.112.11<0>"
LOCAL = ("Channel 00 : 0[4000] -> 1[5000] via P2P/IPC", "Channel 00 : 1[5000] -> 0[4000] via P2P/IPC")
COMPLETE = "comm 0x7f46e80012d0 rank {} nranks 2 cudaDev 0 busId 4000 - Init COMPLETE"
SEND, RECEIVE = "Channel 00/0 : 0[0] -> 1[0] [send] via {}", "Channel 01/0 : 1[0] -> 0[0] [receive] via {}"
SOCKETS = (
    *("NET/IB : No device found.", "NET/Socket : Using [0]ens192:10.0.112.12<0>", "Using network Socket"),
    "NET/Socket : GPU Direct RDMA Disabled for HCA 0 'ens192'",
)


@pytest.mark.parametrize(
    "text, transport, gpudirect",
    [
        (log(USING, "Using network IB", SEND.format("NET/IB/0"), RECEIVE.format("NET/IB/0")), "rdma", "none"),
        (log("Using network IB", SEND.format("NET/IB/0/GDRDMA"), RECEIVE.format("NET/IB/0")), "rdma", "some"),
        (log("Using network IB", SEND.format("NET/IB/0(3)/GDRDMA(PCI)/Shared")), "rdma", "all"),
        (log("Using network IBext_v8", SEND.format("NET/IBext_v8/0/GDRDMA")), "rdma", "all"),
        (log("Using network IB", "NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'"), "rdma", "all"),
        (log(*SOCKETS), "tcp", None),
        # The network was chosen, and connections go another way all the same.
        (log("Using network IB", SEND.format("NET/Socket/0")), "tcp", None),
        (log("Using network IB", SEND.format("NET/IB/0"), RECEIVE.format("NET/Socket/0")), "mixed", "none"),
        (log("Using network AWS Libfabric", SEND.format("NET/AWS Libfabric/0/GDRDMA")), None, None),
        (log(SEND.format("P2P/CUMEM")), "local", None),
        (
            log(USING, "Ring 00 : 3 -> 0 [receive] via NET/IB/0/GDRDMA", "Ring 00 : 0[0] -> 1[1] via P2P/IPC"),
            "rdma",
            "all",
        ),
        (log("Using network IB", *LOCAL, COMPLETE.format(0), COMPLETE.format(1)), "local", None),
        # The other rank may have gone another way.
        (log("Using network IB", *LOCAL, COMPLETE.format(0)), "rdma", None),
    ],
    ids=[
        *("staged", "one way only", "through a proxy", "plugin", "by device", "sockets", "chosen and not used"),
        *("mixed", "unknown plugin", "one machine", "before 2.7", "one machine before 2.20", "one rank of two"),
    ],
)
def test_the_way_is_asserted_from_the_log(text, transport, gpudirect):
    found = nccl_log.parse(text)
    assert (found["transport"], found["gpudirect"]) == (transport, gpudirect)


def test_hosts_on_sockets_are_named():
    found = nccl_log.parse(log(USING, "Using network IB") + log(*SOCKETS, host="job-02"))
    assert (found["on_sockets"], found["no_device"], found["transport"]) == (["job-02"], True, "mixed")
    assert [(one["device"], one["host"]) for one in found["devices"]] == [("mlx5_0", "job-01")]


def test_a_network_that_nobody_knows_is_named_and_blames_no_host():
    found = nccl_log.parse(log("Using network AWS Libfabric", SEND.format("NET/AWS Libfabric/0/GDRDMA")))
    assert (found["networks"], found["on_sockets"]) == (["AWS Libfabric"], [])
    assert "the unknown network AWS Libfabric" in found["why"]


def test_on_one_machine_a_network_is_chosen_and_not_used():
    alone = log(*SOCKETS, "comm 0x341a9740 rank 0 nRanks 1 nNodes 1 localRanks 1 localRank 0 MNNVL 0")
    assert (nccl_log.parse(alone)["transport"], nccl_log.parse(alone)["on_sockets"]) == ("local", [])
    of_two = log("comm 0x341a9700 rank 0 nRanks 2 nNodes 2 localRanks 1 localRank 0 MNNVL 0")
    assert nccl_log.parse(of_two + alone)["transport"] == "tcp"


def test_using_without_a_device_is_none():
    found = nccl_log.parse(log("NET/IB : Using [RO]; OOB eth0:10.0.112.11<0>", "Using network Socket"))
    assert (found["no_device"], found["devices"]) == (True, [])


@pytest.mark.parametrize(
    "devices, names",
    [
        ("[0]={[0] mlx5_2:1/RoCE, [1] mlx5_3:1/RoCE} [1]={[2] mlx5_0:1/RoCE}", ["mlx5_2", "mlx5_3", "mlx5_0"]),
        ("[0]mlx5_0:1:2/RoCE [1]mlx5_1:1::3/RoCE", ["mlx5_0", "mlx5_1"]),
        ("[0]mlx5_0:1/IB/SHARP [1]mlx5_bond_0:1/RoCE", ["mlx5_0", "mlx5_bond_0"]),
    ],
    ids=["adapters used as one", "rails and planes", "a switch that computes"],
)
def test_devices_are_read_of_any_version(devices, names):
    found = nccl_log.parse(log(f"NET/IB : Using {devices} [RO]; OOB ens192:10.0.112.11<0>", "Using network IB"))
    assert ([one["device"] for one in found["devices"]], found["no_device"]) == (names, False)


def test_the_mtu_and_gid_of_connections_are_read():
    text = log("Using network IB", "NET/IB: NCCL Dev 0 IbDev 0 Port 1 qpn 34 mtu 3 GID 1 (0/19001EACFFFF0000)")
    found = nccl_log.parse(text)
    assert (found["mtus"], found["gids"]) == ([1024], [1])


@pytest.mark.parametrize(
    "line, code",
    [
        ("job-02:9:9 [1] init.cc:426 NCCL WARN Cuda failure 'operation not supported'", "uvm_off"),
        ("RuntimeError: NCCL error: unhandled cuda error (run with NCCL_DEBUG=INFO for details)", "nccl_cuda"),
        ("job-02:9:9 [1] NCCL WARN Call to ibv_modify_qp failed with error Invalid argument", "wrong_gid"),
        ("job-02:9:9 [1] NCCL WARN NET/IB: Got completion with status=12 opcode=0 vendor err 129", "rdma_path"),
        ("job-02:9:9 [1] NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory", "memlock"),
    ],
)
def test_known_errors_of_nccl_are_named(line, code):
    found = nccl_log.parse(log(USING, "NCCL version 2.27.5+cuda12.9") + line + "\n")
    assert (found["error"]["code"], bool(found["why"])) == (code, True)


def test_an_error_that_means_nothing_is_none():
    text = log(USING, "Using network IB", "Call to ibv_set_ece failed with error Operation not supported errno 95")
    assert (nccl_log.parse(text)["why"], nccl_log.parse(text)["error"]) == ("", None)


def test_what_it_was_reported_by_its_environment_is_known():
    text = log(*SOCKETS, "NCCL_IB_DISABLE set by environment to 1.", "NCCL_IB_HCA set to =mlx5_7")
    assert nccl_log.parse(text)["settings"] == {"NCCL_IB_DISABLE": "1", "NCCL_IB_HCA": "=mlx5_7"}


@pytest.mark.parametrize("text", ["", "hello", log("NCCL_SOCKET_IFNAME set to ens192")])
def test_a_log_that_does_not_say_proves_nothing(text):
    found = nccl_log.parse(text)
    assert found["understood"] is False
    assert found.get("transport") is None


FAILED = "job-02:9:9 [1] NCCL WARN Call to ibv_modify_qp failed with error Invalid argument"


@pytest.mark.parametrize(
    "end, why, code",
    [((), "ibv_modify_qp", "wrong_gid"), ((COMPLETE.format(0),), "", None)],
    ids=["did not end", "ended all the same"],
)
def test_an_error_counts_where_the_log_does_not_end(end, why, code):
    found = nccl_log.parse(log(USING, "Using network IB", SEND.format("NET/IB/0"), *end) + FAILED + "\n")
    assert (found["transport"], found["complete"]) == ("rdma", bool(end))
    assert why in found["why"]
    assert (found["error"] or {}).get("code") == code
