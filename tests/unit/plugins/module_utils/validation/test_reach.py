"""What reaches the other side: ping, rping, OSU, and processes that start."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import hostnames, ping, rping

from . import texts


@pytest.mark.parametrize(
    "text, where, local, hop",
    [
        (texts.PING.format(lines="8980 bytes from 192.168.50.12", received=5, loss=0) + texts.RTT, "", None, None),
        (
            texts.PING.format(lines="ping: local error: message too long, mtu=1500", received=0, loss=100),
            "local",
            1500,
            None,
        ),
        (
            texts.PING.format(lines="ping: local error: Message too long, mtu=1500", received=0, loss=100),
            "local",
            1500,
            None,
        ),
        (
            texts.PING.format(
                lines="From 192.168.50.1 icmp_seq=1 Frag needed and DF set (mtu = 4000)", received=0, loss=100
            ),
            "hop",
            None,
            4000,
        ),
        (
            texts.PING.format(
                lines="From 192.168.50.1 icmp_seq=1 Frag needed and DF set (mtu = 4000)\n"
                "ping: local error: message too long, mtu=4000",
                received=0,
                loss=100,
            ),
            "hop",
            4000,
            4000,
        ),
        # Switches drop what is too large without a word.
        (texts.PING.format(lines="", received=0, loss=100), "silent", None, None),
        (texts.PING.format(lines="", received=3, loss=40), "some", None, None),
        (
            texts.PING.format(lines="From 192.168.50.11 icmp_seq=1 Destination Host Unreachable", received=0, loss=100),
            "unreachable",
            None,
            None,
        ),
    ],
    ids=[
        "all",
        "local",
        "local in older words",
        "a router",
        "a router whose word was kept",
        "silence",
        "some",
        "nobody",
    ],
)
def test_where_a_ping_of_full_size_ends(text, where, local, hop):
    found = ping.parse(text)
    assert (found["why"], found["packet"], found["where"]) == ("", 9000, where)
    assert (found["local_mtu"], (found["hop"] or {}).get("mtu")) == (local, hop)


@pytest.mark.parametrize(
    "text, understood",
    [
        ("ping: job-02: Name or service not known", True),
        ("ping: bad address 'job-02'", True),
        ("connect: Network is unreachable", True),
        ("PING 192.168.50.12 (192.168.50.12): 8972 data bytes\nping: sendto: Message too long", True),
        ("", False),
        ("5 packets transmitted, 5 received", False),
        # Another language than the one that was asked for.
        ("PING a (192.168.50.12) 8972(9000) Bytes an Daten.\n5 Pakete übertragen, 5 empfangen, 0% packet loss", False),
    ],
)
def test_a_ping_that_says_nothing_of_size_proves_nothing(text, understood):
    found = ping.parse(text)
    assert (found["understood"], bool(found["why"])) == (understood, True)


def test_a_packet_that_did_not_leave_was_not_lost_on_the_way():
    found = ping.parse(texts.PING.format(lines="ping: sendmsg: Message too long", received=0, loss=100))
    assert found["why"] == "ping failed: sendmsg: Message too long."


def test_a_packet_that_the_next_device_drops_is_lost_without_a_word():
    lines = "\n".join(["ping: sendmsg: No buffer space available"] * 5)
    found = ping.parse(texts.PING.format(lines=lines, received=0, loss=100))
    assert (found["why"], found["where"]) == ("", "silent")


def test_a_warning_of_ping_is_no_refusal():
    text = "ping: Warning: source address might be selected on device other than: ens224.\n"
    found = ping.parse(text + texts.PING.format(lines="", received=0, loss=100))
    assert (found["why"], found["where"]) == ("", "silent")


@pytest.mark.parametrize(
    "lines, says",
    [
        ("From 192.168.50.1 icmp_seq=1 Packet filtered", "Packet filtered"),
        ("From 192.168.50.1: icmp_seq=1 Destination Host Prohibited", "Destination Host Prohibited"),
        ("From 192.168.50.1 icmp_seq=1 Destination unreachable: No route", "Destination unreachable: No route"),
    ],
)
def test_who_does_not_let_packets_through_is_named(lines, says):
    found = ping.parse(texts.PING.format(lines=lines, received=0, loss=100))
    assert (found["where"], found["unreachable"]) == ("unreachable", {"address": "192.168.50.1", "says": says})


@pytest.mark.parametrize(
    "begin, packet",
    [
        ("PING fd00::12(fd00::12) from fd00::11 ens224: 8952 data bytes", 9000),
        ("PING job-02(fd00::12 (fd00::12)) 8952 data bytes", 9000),
        ("PING 192.168.50.12 (192.168.50.12): 8972 data bytes", 9000),
        ("PING 192.168.50.12 (192.168.50.12) from 192.168.50.11 ens224: 8972(9000) bytes of data.", 9000),
    ],
)
def test_headers_are_those_of_the_protocol(begin, packet):
    found = ping.parse(f"{begin}\n5 packets transmitted, 5 received, 0% packet loss, time 812ms\n")
    assert (found["why"], found["packet"]) == ("", packet)


@pytest.mark.parametrize(
    "text, answered, side",
    [
        (texts.pings(3), 3, "client"),
        (texts.pings(3, True) + "server DISCONNECT EVENT...\nwait for RDMA_READ_ADV state 9\n", 3, "server"),
        (texts.pings(3) + "client DISCONNECT EVENT...\nwait for RDMA_READ_ADV state 10\n", 3, "client"),
        (texts.pings(3) + "cma event RDMA_CM_EVENT_DISCONNECTED, error 0\n", 3, "client"),
    ],
)
def test_the_usual_end_of_rping_is_no_failure(text, answered, side):
    found = rping.parse(text, 3)
    assert (found["why"], found["answered"], found["side"]) == ("", answered, side)


@pytest.mark.parametrize(
    "text, code, understood",
    [
        (
            "cma event RDMA_CM_EVENT_REJECTED, error -104\nwait for CONNECTED state 4\nconnect error -1\n",
            "rejected",
            True,
        ),
        (
            "cma event RDMA_CM_EVENT_ADDR_ERROR, error -19\nwaiting for addr/route resolution state 1\n",
            "no_device",
            True,
        ),
        ("cma event RDMA_CM_EVENT_UNREACHABLE, error -110\n", "rdma_path", True),
        (texts.pings(1) + "client DISCONNECT EVENT...\n", None, True),
        ("cq completion failed status 12\nwait for RDMA_WRITE_ADV state 10\n", "rdma_path", True),
        (texts.pings(1) + "cq completion failed status 12\n", "rdma_path", True),
        (texts.pings(3) + "data mismatch!\n", None, True),
        ("client DISCONNECT EVENT...\n", None, False),
        ("", None, False),
    ],
)
def test_pings_that_were_not_answered_fail(text, code, understood):
    found = rping.parse(text, 3)
    assert (found["understood"], (found["error"] or {}).get("code")) == (understood, code)
    assert found["why"]


def test_processes_are_counted_by_host():
    found = hostnames.parse(texts.tagged("job-01") + texts.tagged("job-02", 1) + texts.tagged("job-02", 2))
    assert (found["hosts"], found["ranks"]) == ({"job-01": 1, "job-02": 2}, 3)


@pytest.mark.parametrize(
    "lines, ok",
    [
        (["MPI_size = 2, MPI_rank = 0, x platform = job-01", "MPI_size = 2, MPI_rank = 1, x platform = job-02"], True),
        # Each is alone, and believes to be the first of one.
        (["MPI_size = 1, MPI_rank = 0, x platform = job-01", "MPI_size = 1, MPI_rank = 0, x platform = job-02"], False),
        (["ssh: connect to host job-02 port 22: No route to host"], False),
        ([], False),
    ],
)
def test_ranks_that_do_not_belong_together_are_no_start(lines, ok):
    assert bool(hostnames.parse("\n".join(lines))["why"]) is not ok


@pytest.mark.parametrize(
    "lines, hosts",
    [
        (["Warning: Permanently added '[job-02]:12345' (ED25519)", "job-01", "job-02"], {"job-01": 1, "job-02": 1}),
        (["bash: warning: setlocale: LC_ALL: cannot change locale (en_US.UTF-8)", "job-01"], {"job-01": 1}),
        (["[job-01:00042] Warning: could not find environment variable", "job-01"], {"job-01": 1}),
        # Words of any program are no hosts.
        (["Copy input data from the host", "Done"], None),
    ],
)
def test_single_words_between_sentences_are_no_hosts(lines, hosts):
    assert hostnames.parse("\n".join(lines)).get("hosts") == hosts
