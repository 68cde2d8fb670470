"""What came of a test is reported with its reason, and never as a figure that nobody measured."""

from __future__ import annotations

import base64

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import measured
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import commands, outcome
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import params as names

from .ends import BANDWIDTH, LATENCY, RPING, TCP, ends, pinged, request


def ran(check, client, server=None, processes=1, **changes):
    """One test with these outputs: texts of clients, each ended with 0 unless it is (status, text)."""
    source, target = ends()
    (test,) = commands.runs(check, request(**changes), target, source, processes)
    sides = []
    for given in (server or [], client):
        pairs = [one if isinstance(one, tuple) else (0, one) for one in given]
        sides.append({str(number): pair for number, pair in enumerate(pairs, start=1)})
    return outcome.Ran(test, outcome.Side(sides[0], (18515,)), outcome.Side(sides[1]))


GOOD = {
    "ping": (names.PING, [pinged(9000)], {"received": 5, "packet": 9000}),
    "rping": (names.RPING, [RPING + "client DISCONNECT EVENT...\n"], {"answered": 5}),
    "latency": (names.LATENCY, [LATENCY], {"usec": 2.25}),
    "bandwidth": (names.BANDWIDTH, [BANDWIDTH], {"gbps": 92.31}),
    "TCP": (names.TCP, [TCP], {"gbps": 6.0, "retransmits": 3}),
}


@pytest.mark.parametrize("check, texts, values", GOOD.values(), ids=GOOD.keys())
def test_figures_of_a_test_that_went_well(check, texts, values):
    status, why, found = outcome.judged([ran(check, texts)], 5)
    assert (status, why) == ("done", "")
    assert {key: found[key] for key in values} == values
    assert not set(measured.APART) & set(found)


def test_processes_of_iperf3_are_summed_up():
    assert outcome.judged([ran(names.TCP, [TCP] * 4, processes=4)], 5)[2]["gbps"] == 24.0


def test_packets_that_are_lost_are_a_figure():
    status, _why, values = outcome.judged([ran(names.PING, [(1, pinged(9000, 0))])], 5)
    assert (status, values["received"], values["where"]) == ("done", 0, "silent")


BAD = {
    "it did not end": (
        names.BANDWIDTH,
        [(124, "")],
        [(None, "")],
        ("timeout", "ib_write_bw timed out. It normally takes 5 seconds."),
    ),
    "it was killed": (
        names.BANDWIDTH,
        [(137, "")],
        [(None, "")],
        ("timeout", "ib_write_bw timed out. It normally takes 5 seconds."),
    ),
    "a wrong GID": (
        names.BANDWIDTH,
        [(1, "Failed to modify QP 123 to RTR\n Unable to Connect the HCA's through the link\n")],
        [(1, "Failed to modify QP 123 to RTR\n")],
        (
            "failed",
            "perftest failed: Failed to modify QP 123 to RTR. The server reports: Failed to modify QP 123 to RTR.",
        ),
    ),
    "a refused connection": (
        names.RPING,
        [(0, "cma event RDMA_CM_EVENT_REJECTED, error 8\n")],
        [(None, "")],
        ("failed", "rping failed: cma event RDMA_CM_EVENT_REJECTED, error 8."),
    ),
    "one of several processes": (
        names.TCP,
        [(1, '{"start": {}, "error": "error - unable to connect to server: Connection refused"}')],
        [(None, "")],
        ("failed", "iperf3 failed: unable to connect to server: Connection refused."),
    ),
}


@pytest.mark.parametrize("check, client, server, reported", BAD.values(), ids=BAD.keys())
def test_a_test_that_went_wrong_says_why_and_has_no_figure(check, client, server, reported):
    status, why, values = outcome.judged([ran(check, client, server)], 5)
    assert (status, why) == reported
    assert not {"gbps", "usec"} & {key for key, value in values.items() if value is not None}


def test_outputs_of_a_guest_are_read_whole():
    output = base64.b64encode("zwölf\nlines".encode()).decode()
    reported = outcome.side(f"port 1 18516\nended\nstatus 1 none\noutput 1 {output}\nstatus 2 137\noutput 2 \n")
    assert reported.outputs == {"1": (None, "zwölf\nlines"), "2": (137, "")}
    assert (reported.ports, reported.ended, reported.trouble, reported.late) == ((18516,), True, "", True)


def test_evidence_has_every_command_with_its_port_and_all_that_was_printed():
    text = outcome.evidence([ran(names.BANDWIDTH, [BANDWIDTH], [(None, "waits\n")])], "job-01", "job-02")
    assert text.startswith("### job-02: ib_write_bw -d vmw_pvrdma0 -i 1 -x 0 -p 18515 ")
    assert "### stopped by the test\nwaits\n" in text
    assert "### job-01: ib_write_bw" in text
    assert BANDWIDTH.rstrip() in text
