"""perftest between the memories of GPUs: what it needs, and what is in its way."""

from __future__ import annotations

import re

import pytest

BW = ("ib_write_bw", "--report_gbits", "-F", "-x", "3", "--tclass", "106", "--use_cuda=0")
FAR = {"gpus": [{"board": "a100_pcie_40gb", "numa_node": 1, "graphics_type": "sharedDirect"}]}
NO_ATS = {"kernel": {"atsSupport": False}}


def with_cuda(pair, peermem=True):
    for guest in pair.guests:
        guest.state["installed"]["perftest-cuda"] = {"version": "25.04.0"}
        guest.state["installed"]["doca-ofed"] = {"version": "25.04-0.6.1"}
        guest.boot(modules_load=["rdma_ucm", *(["nvidia_peermem"] if peermem else [])])
    return pair


@pytest.mark.parametrize(
    "how, low, high", [({}, 91, 94), ({"second": FAR}, 30, 33)], ids=["below one root", "on another root"]
)
def test_bandwidth(pair_of, how, low, high):
    _server, client = with_cuda(pair_of(path="sriov", **how)).meet(*BW)
    assert client.status == 0, client.out
    assert low <= float(re.search(r"(?m)^ 65536 +5000 +[\d.]+ +([\d.]+)", client.out)[1]) <= high
    assert "[pid = 1, dev = 0] device name = [GRID A100-40C]\n" in client.out
    assert "BW average[Gb/sec]" in client.out


@pytest.mark.parametrize(
    "how, peermem, options, text",
    [
        ({"second": NO_ATS}, True, (), "Failed status 4: wr_id 0 syndrom 0x51\n"),
        ({"here": {"extra_config": {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "512"}}},)
        + (True, (), "Failed status 4: "),
        ({}, False, (), "Couldn't allocate MR\n"),
        ({}, True, ("--use_cuda_dmabuf",), "DMA-BUF is not supported on this GPU\n"),
    ],
    ids=["no ATS in the kernel", "no settings of the VM", "no nvidia_peermem", "dma-buf of a vGPU"],
)
def test_what_is_in_its_way(pair_of, how, peermem, options, text):
    _server, client = with_cuda(pair_of(path="sriov", **how), peermem).meet(*BW, *options)
    assert client.status == 1
    assert text in client.out


def test_a_gpu_that_is_not_there(pair_of):
    status, shown = with_cuda(pair_of(path="sriov")).guests[0].run("ib_write_bw", "--use_cuda=3", "10.1.1.6")
    assert (status, shown.splitlines()[1]) == (1, "There are only 1 CUDA devices")


def test_its_unit_is_the_newer_one(pair_of):
    _server, client = with_cuda(pair_of(path="sriov")).meet("ib_write_bw", "-x", "3")
    assert "BW average[MiB/sec]" in client.out
