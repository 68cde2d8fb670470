"""What arrived counts, and what went wrong is no figure."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import iperf3

from . import texts


def test_what_arrived_is_the_figure():
    found = iperf3.parse(texts.iperf3(30.0))
    known = {key: found[key] for key in ("gbps", "sent_gbps", "retransmits", "cpu_percent", "remote_cpu_percent")}
    assert known == {
        "gbps": 30.0,
        "sent_gbps": 30.3,
        "retransmits": 12,
        "cpu_percent": 41.3,
        "remote_cpu_percent": 88.1,
    }
    assert (found["version"], found["streams"], found["rtt_us"], found["why"]) == ("3.16", 4, 210.0, "")


@pytest.mark.parametrize(
    "version, threads", [("3.6", False), ("3.9", False), ("3.15", False), ("3.16", True), ("3.17.1", True)]
)
def test_versions_that_use_one_core_are_reported(version, threads):
    assert iperf3.parse(texts.iperf3(version=version))["threads"] is threads


def test_warnings_before_the_document_do_no_harm():
    assert iperf3.parse("warning: no route\n" + texts.iperf3(9.5))["gbps"] == 9.5


def test_processes_that_ran_together_add_up():
    reported = iperf3.together([iperf3.parse(texts.iperf3(8.0, "3.7")) for _time in range(4)])
    assert (reported["gbps"], reported["retransmits"], reported["processes"], reported["why"]) == (32.0, 48, 4, "")


def test_one_process_that_failed_spoils_the_sum():
    parts = [iperf3.parse(texts.iperf3(8.0)), iperf3.parse(texts.iperf3(error="error - unable to connect to server"))]
    assert iperf3.together(parts)["error"]["code"] == "no_connection"
    assert iperf3.together([])["understood"] is False


def test_of_udp_what_was_lost_did_not_arrive():
    sent = {"bits_per_second": 10e9, "lost_packets": 20, "packets": 100, "lost_percent": 20.0}
    assert iperf3.parse(texts.iperf3(udp=True, sum_received=None, sum=sent))["gbps"] == 8.0
    assert iperf3.parse(texts.iperf3(9.5, udp=True, sum=sent))["gbps"] == 9.5


@pytest.mark.parametrize("word", ["-nan", "nan", "inf"])
def test_a_number_that_is_none_does_not_spoil_the_document(word):
    text = texts.iperf3(9.5, lost=[1.5]).replace("1.5", word)
    assert (iperf3.parse(text)["gbps"], iperf3.parse(text)["why"]) == (9.5, "")


@pytest.mark.parametrize(
    "end",
    [{"streams": 2}, {"streams": [{"sender": 1}]}, {"sum_sent": []}, {"sum_sent": {"retransmits": "many"}}],
    ids=str,
)
def test_a_document_of_another_shape_keeps_its_figure(end):
    found = iperf3.parse(texts.iperf3(9.5, **end))
    assert (found["gbps"], found["why"]) == (9.5, "")


@pytest.mark.parametrize(
    "text, words",
    [
        (texts.iperf3(9.5) + "\n" + texts.iperf3(1.5), "2 documents"),
        ('{"event":"start","data":{}}\n{"event":"end","data":{}}\n', "--json-stream"),
    ],
)
def test_what_is_more_than_one_document_is_none(text, words):
    found = iperf3.parse(text)
    assert (found["understood"], words in found["why"]) == (False, True)


@pytest.mark.parametrize(
    "text, understood",
    [
        (texts.iperf3(udp=True, sum_received=None, sum={"bits_per_second": 1e9, "lost_percent": None}), False),
        (texts.iperf3(error="error - unable to connect to server: Connection refused"), True),
        (texts.iperf3(error="interrupt - the client has terminated"), True),
        (texts.iperf3() + "\niperf3: error - unable to send control message: Broken pipe\r\n", True),
        (texts.iperf3(0.0), True),
        (texts.iperf3(sum_received={}), False),
        ('{"start": {}}', False),
        (texts.iperf3()[:400], False),
        ("", False),
        ("[  5]   0.00-10.00  sec  11.0 GBytes  9.41 Gbits/sec", False),
    ],
)
def test_what_is_no_figure_says_why(text, understood):
    found = iperf3.parse(text)
    assert (found["understood"], bool(found["why"])) == (understood, True)
    assert "gbps" not in found
