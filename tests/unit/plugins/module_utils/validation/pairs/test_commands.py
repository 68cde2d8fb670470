"""Both sides of a test get the same options, exactly as the programs want them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import commands
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import params as names

from .ends import ends, request

WRITE = "-d vmw_pvrdma0 -i 1 -x 0 -p PORT -F"
ROWS = {
    "MTU": (
        names.PING,
        {"mtu": 9000},
        [],
        ["ping -n -M do -c 5 -i 0.2 -W 2 -I ens224 -s 8972 10.0.112.12"],
    ),
    "MTU of the interface": (
        names.PING,
        {"messages": 2},
        [],
        ["ping -n -M do -c 2 -i 0.2 -W 2 -I ens224 -s 8972 10.0.112.12"],
    ),
    "RDMA connects": (
        names.RPING,
        {},
        ["rping -s -a 10.0.112.12 -p PORT -v -C 5"],
        ["rping -c -a 10.0.112.12 -p PORT -v -C 5"],
    ),
    "latency": (
        names.LATENCY,
        {},
        [f"ib_write_lat {WRITE} -s 2 -n 1000"],
        [f"ib_write_lat {WRITE} -s 2 -n 1000 10.0.112.12"],
    ),
    "bandwidth": (
        names.BANDWIDTH,
        {"qps": 4, "seconds": 10, "traffic_class": 104},
        [f"ib_write_bw {WRITE} -s 1048576 --report_gbits -q 4 -D 10 --tclass=104"],
        [f"ib_write_bw {WRITE} -s 1048576 --report_gbits -q 4 -D 10 --tclass=104 10.0.112.12"],
    ),
    "both directions at once": (
        names.BOTH,
        {},
        [f"ib_write_bw {WRITE} -s 1048576 --report_gbits -q 1 -D 5 -b"],
        [f"ib_write_bw {WRITE} -s 1048576 --report_gbits -q 1 -D 5 -b 10.0.112.12"],
    ),
    "memory of GPUs": (
        names.OF_GPU,
        {},
        [f"ib_write_bw {WRITE} -s 1048576 --report_gbits -q 1 -D 5 --use_cuda=0 --use_cuda_dmabuf"],
        [f"ib_write_bw {WRITE} -s 1048576 --report_gbits -q 1 -D 5 --use_cuda=0 --use_cuda_dmabuf 10.0.112.12"],
    ),
    "memory of GPUs, the older way": (
        names.OF_GPU,
        {"gpu_memory": "peermem"},
        [f"ib_write_bw {WRITE} -s 1048576 --report_gbits -q 1 -D 5 --use_cuda=0"],
        [f"ib_write_bw {WRITE} -s 1048576 --report_gbits -q 1 -D 5 --use_cuda=0 10.0.112.12"],
    ),
    "TCP": (
        names.TCP,
        {},
        ["iperf3 -s -1 -B 10.0.112.12 -p PORT"],
        ["iperf3 -J -c 10.0.112.12 -B 10.0.112.11 -p PORT -t 5 -P 4"],
    ),
}


@pytest.mark.parametrize("check, changes, servers, clients", ROWS.values(), ids=ROWS.keys())
def test_commands_of_a_check(check, changes, servers, clients):
    client, server = ends()
    (test,) = commands.runs(check, request(**changes), server, client)
    assert [commands.shown(argv) for argv in test.servers] == servers
    assert [commands.shown(argv) for argv in test.clients] == clients


def test_streams_of_iperf3_are_shared_out_to_its_processes():
    client, server = ends()
    (test,) = commands.runs(names.TCP, request(streams=8), server, client, processes=4)
    assert (len(test.servers), len(test.clients), test.clients[0][-2:]) == (4, 4, ("-P", "2"))


@pytest.mark.parametrize("check, option", [(names.LATENCY, "latency_sizes"), (names.BANDWIDTH, "sizes")])
def test_each_size_is_a_run_of_its_own_the_smallest_first(check, option):
    client, server = ends()
    found = commands.runs(check, request(**{option: [4096, 8]}), server, client)
    assert [test.clients[0][test.clients[0].index("-s") + 1] for test in found] == ["8", "4096"]


def test_a_command_line_keeps_its_words_and_leaves_the_port_to_the_guest():
    assert commands.line(["iperf3", "-p", commands.PORT, "a b", "$HOME"]) == "iperf3 -p \"$port\" 'a b' '$HOME'"
    assert commands.line(["iperf3", "-p", commands.PORT], 18520) == "iperf3 -p 18520"


@pytest.mark.parametrize("mtu, payload", [(9000, 8972), (29, 1), (28, 0), (20, 0)])
def test_a_packet_has_the_size_of_the_mtu_with_its_headers(mtu, payload):
    client, server = ends()
    (test,) = commands.runs(names.PING, request(), server, replace(client, mtu=mtu))
    argv = [str(word) for word in test.clients[0]]
    assert argv[argv.index("-s") + 1] == str(payload)
