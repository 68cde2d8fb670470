"""What arrived counts, and what went wrong is no figure."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation import iperf3

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
def test_versions_that_use_one_core_are_told(version, threads):
    assert iperf3.parse(texts.iperf3(version=version))["threads"] is threads


def test_warnings_before_the_document_do_no_harm():
    assert iperf3.parse("warning: no route\n" + texts.iperf3(9.5))["gbps"] == 9.5


def test_processes_that_ran_together_add_up():
    told = iperf3.together([iperf3.parse(texts.iperf3(8.0, "3.7")) for _time in range(4)])
    assert (told["gbps"], told["retransmits"], told["processes"], told["why"]) == (32.0, 48, 4, "")


def test_one_process_that_failed_spoils_the_sum():
    parts = [iperf3.parse(texts.iperf3(8.0)), iperf3.parse(texts.iperf3(error="error - unable to connect to server"))]
    assert iperf3.together(parts)["error"]["code"] == "no_connection"
    assert iperf3.together([])["understood"] is False


@pytest.mark.parametrize(
    "text, understood",
    [
        (texts.iperf3(error="error - unable to connect to server: Connection refused"), True),
        (texts.iperf3(error="interrupt - the client has terminated"), True),
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
