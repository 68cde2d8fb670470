"""Bandwidth and latency of RDMA are read from every form in which perftest prints them."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import perftest

from . import texts

ROW = " 65536      5000             92.42              92.40              0.176230"
WIDE = " 65536    7      5000         92.42              92.40              0.176230"
PORTS = f"{ROW}   46.2   0.088   46.2   0.088"


@pytest.mark.parametrize(
    "text, gbps",
    [
        (texts.perftest([ROW], texts.BW_GB), 92.4),
        # 2^20 bytes: 361.46 MB/sec are 3.03 Gb/s. Newer versions call the same MiB.
        (texts.perftest([" 65536 1000 397.24 361.46 0.005783"], texts.BW_MB), 3.032146),
        (texts.perftest([" 65536 1000 397.24 361.46 0.005783"], texts.BW_MIB), 3.032146),
        (texts.perftest([ROW], texts.BW_GB, inside=[texts.CPU_WARNING]), 92.4),
        (texts.perftest([f"{ROW}    12.34"], texts.BW_CPU), 92.4),
        (texts.perftest([WIDE], texts.BW_LEVELS), 92.4),
        (texts.perftest([PORTS], texts.BW_PORTS), 92.4),
        (texts.perftest([" 2 40000 0.073563 0.073361 4.585037"], texts.BW_GB, qps=8), 0.073361),
        (texts.tagged(texts.perftest([ROW], texts.BW_GB)), 92.4),
        (texts.perftest([ROW], texts.BW_GB).replace("\n", "\r\n"), 92.4),
        # Of a sweep, the largest message says what the path carries.
        (texts.perftest([" 2 9 0.07 0.07 4.5", " 4194304 9 98.1 97.9 0.003", ROW], texts.BW_GB), 97.9),
    ],
    ids=[
        *("Gb/s", "MB/s", "MiB/s", "a warning in the table", "processor", "levels", "ports", "six decimals"),
        *("prefix", "terminal", "sweep"),
    ],
)
def test_the_average_is_the_bandwidth(text, gbps):
    found = perftest.parse(text)
    assert (found["understood"], found["why"]) == (True, "")
    assert found["gbps"] == pytest.approx(gbps, abs=1e-5)


def test_a_server_measures_no_peak_and_its_zero_is_none():
    found = perftest.parse(texts.perftest([" 65536 1000 0.00 92.40 0.17"], texts.BW_GB, server=True))
    assert (found["side"], found["gbps"], found["rows"][0]["peak_gbps"]) == ("server", 92.4, None)


def test_what_the_test_says_of_itself():
    found = perftest.parse(texts.perftest([ROW], texts.BW_GB, qps=8, mtu=1024, cm="ON"))
    known = {key: found[key] for key in ("test", "device", "qps", "mtu", "gid_index", "rdma_cm", "link")}
    assert known == {
        "test": "RDMA_Write BW Test",
        "device": "mlx5_0",
        "qps": 8,
        "mtu": 1024,
        "gid_index": 3,
        "rdma_cm": True,
        "link": "Ethernet",
    }


@pytest.mark.parametrize("size, filling", [(512, False), (65536, True)])
def test_small_messages_are_no_bandwidth_of_a_path(size, filling):
    text = texts.perftest([f" {size} 9 19.19 19.15 4.67"], texts.BW_GB)
    assert perftest.parse(text)["filling"] is filling


def test_both_directions_are_reported_from_one():
    text = texts.perftest([ROW], texts.BW_GB, name="RDMA_Write Bidirectional BW Test")
    assert perftest.parse(text)["both_directions"] is True


@pytest.mark.parametrize(
    "head, row, usec, typical",
    [
        (texts.LAT, " 2 1000 2.86 87.64 2.95 3.25 2.72 8.92 87.64", 2.95, True),
        (texts.LAT_TIME, " 2 1000 3.25 153846.15", 3.25, False),
    ],
)
def test_latency_is_the_typical_one_or_the_average_of_a_duration(head, row, usec, typical):
    found = perftest.parse(texts.perftest([row], head, name="RDMA_Write Latency Test"))
    assert (found["kind"], found["usec"], found["bytes"], found["typical"]) == ("latency", usec, 2, typical)


@pytest.mark.parametrize(
    "text, code",
    [
        (
            "Couldn't connect to 192.168.50.12:18515\n Unable to open file descriptor for socket connection",
            "no_connection",
        ),
        ("IB device mlx5_7 not found\n Unable to find the Infiniband/RoCE device", "no_device"),
        ("ib_write_bw: unrecognized option '--use_cuda=0'\n Parser function exited with Error", "no_cuda"),
        ("Failed to modify QP 244 to RTR\n Unable to Connect the HCA's through the link", "wrong_gid"),
        ("Couldn't allocate MR", "memlock"),
        (" Completion with error at client\n Failed status 12: wr_id 0 syndrom 0x81", "rdma_path"),
        (" Completion with error at client\n Failed status 4: wr_id 0 syndrom 0x51", "rdma_protection"),
        (" Completion with error at client\n Failed status RNR retry counter exceeded (13): wr_id 0", "rdma_path"),
        (" Completion with error at client\n Failed status remote access error: wr_id 0", "rdma_protection"),
        # A sweep that broke off has rows of the sizes before.
        (texts.perftest([ROW], texts.BW_GB) + " Failed status 12: wr_id 0 syndrom 0x81\n", "rdma_path"),
        (
            "allocated GPU buffer of a 131072 address at 0x5 for type CUDA_MEM_DEVICE\n"
            "Couldn't allocate MR with error=14\nFailed to create MR\n",
            "no_gpudirect",
        ),
        (" Port number 1 state is Down\n Couldn't set the link layer\n", "port_down"),
    ],
)
def test_what_is_known_of_failures_is_reported(text, code):
    found = perftest.parse(text)
    assert (found["understood"], found["error"]["code"]) == (True, code)
    assert found["why"].startswith(("perftest failed", "RDMA_Write BW Test failed"))
    assert "gbps" not in found


@pytest.mark.parametrize(
    "text, reason",
    [
        # A status that nobody explains ends a sweep all the same.
        (
            texts.perftest([ROW], texts.BW_GB) + " Completion with error at client\n Failed status 9: wr_id 0\n",
            "RDMA_Write BW Test failed: Completion with error at client.",
        ),
        (
            texts.perftest([ROW], texts.BW_GB) + " Failed status Work Request Flushed Error (5): wr_id 0\n",
            "RDMA_Write BW Test failed: Failed status Work Request Flushed Error (5): wr_id 0.",
        ),
        (
            texts.perftest([], texts.BW_GB) + "ethernet_read_keys: Couldn't read remote address\n Unable to read\n",
            "RDMA_Write BW Test failed: ethernet_read_keys: Couldn't read remote address.",
        ),
        (
            "CUDA DMA-BUF cannot be used without CUDA\n Parser function exited with Error\n",
            "perftest failed: CUDA DMA-BUF cannot be used without CUDA.",
        ),
    ],
    ids=["a sweep that broke off", "a status by its name", "no keys", "an option"],
)
def test_what_it_says_of_itself_is_the_reason(text, reason):
    found = perftest.parse(text)
    assert (found["understood"], found["why"], "gbps" in found) == (True, reason, False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        texts.perftest([], texts.BW_GB),
        texts.perftest([ROW], " #bytes #iterations  BW peak[furlong]  BW average[furlong]  MsgRate[Mpps]"),
        texts.perftest([" 65536 5000 nan nan nan"], texts.BW_GB),
        texts.perftest([" 65536 5000 0.00 -92.4 -0.17"], texts.BW_GB),
        texts.perftest([" 65536 5000 1e999 1e999 0.17"], texts.BW_GB),
        texts.perftest([" 2 1000 0 0 0.00 0 0 0 0"], texts.LAT),
        texts.perftest([" 65536 5000 92.4"], texts.BW_GB),
    ],
    ids=[
        "empty",
        "third_party",
        "no row",
        "other unit",
        "no number",
        "below zero",
        "no end",
        "zero latency",
        "half a row",
    ],
)
def test_what_is_not_understood_is_no_zero(text):
    found = perftest.parse(text)
    assert found["understood"] is False
    assert found["why"].startswith("Cannot parse the output of perftest")
    assert "gbps" not in found
    assert "usec" not in found


@pytest.mark.parametrize("row", [" 4194304", " 4194304      5000", " 4194304      5000      9.42      9.40"])
def test_a_row_that_is_cut_off_does_not_leave_the_smaller_sizes_as_the_result(row):
    assert perftest.parse(texts.perftest([ROW], texts.BW_GB))["gbps"] == 92.4
    found = perftest.parse(texts.perftest([ROW, row], texts.BW_GB))
    assert (found["understood"], "gbps" in found) == (False, False)
    assert "a row of its table is cut off" in found["why"]
