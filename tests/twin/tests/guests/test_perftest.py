"""perftest: each setting that is broken anywhere shows as the figure, or the complaint, that it would cause."""

from __future__ import annotations

import json
import re

import pytest

from twin_labs.fabric_lab import EOS_LINES
from twin_labs.guest_pair import Running, talk
from vsphere_twin.model import traffic

BW = ("ib_write_bw", "--report_gbits", "-F")
SRIOV = ("-x", "3", "--tclass", "106")
DROPS_EARLY = EOS_LINES.replace(
    "random-detect ecn minimum-threshold 150 kbytes maximum-threshold 1500 kbytes max-mark-probability",
    "random-detect drop minimum-threshold 150 kbytes maximum-threshold 1500 kbytes drop-probability",
)
PFC_OFF = "interface Ethernet2\n no service-profile"
OTHER_CLASS = "qos map dscp 26 to traffic-class 4"


def average(run):
    """The average of a table of bandwidths, which is its fourth column."""
    return float(re.search(r"(?m)^ \d+ +\d+ +[\d.]+ +([\d.]+)", run.out)[1])


def typical(run):
    """The typical latency."""
    return float(re.search(r"(?m)^ \d+ +\d+ +[\d.]+ +[\d.]+ +([\d.]+)", run.out)[1])


def both(pair, *argv, **how):
    server, client = pair.meet(*argv, **how)
    assert (server.status, client.status) == (0, 0), client.out
    return client


FIGURES = {
    "PVRDMA as it should be": ({}, (), 85, 88),
    "two VMs of one host: more than the line": ({"there": {"host": "esx-01.lab.example"}}, (), 130, 145),
    "no tag on a vmkernel adapter: TCP": ({"second": {"options": {}}}, (), 17, 19),
    "a closed firewall: TCP": ({"first": {"rulesets": {}}}, (), 17, 19),
    "no pauses at a port of the switch": ({"leaf": PFC_OFF}, (), 25, 29),
    "RoCE in another class of the switch": ({"leaf": OTHER_CLASS}, (), 25, 29),
    "a port of the switch trusts no DSCP": ({"leaf": "interface Ethernet1\n qos trust cos"}, (), 25, 29),
    "a host without pauses": (
        {"second": {"module_options": {"nmlx5_core": "trust_state=2", "nmlx5_rdma": "dscp_force=26"}}},
        (),
        25,
        29,
    ),
    "a host that stamps no DSCP": (
        {"first": {"module_options": {"nmlx5_core": "pfctx=0x08 pfcrx=0x08 trust_state=2"}}},
        (),
        25,
        29,
    ),
    "a queue that drops early instead of marking": ({"config": DROPS_EARLY}, (), 45, 50),
    "a slower link": ({"speed": 40}, (), 33, 36),
    "guests with small packets": ({"mtu": 1500}, (), 85, 88),
    "a virtual function": ({"path": "sriov"}, SRIOV, 91, 94),
    "a virtual function whose packets have no class": ({"path": "sriov"}, ("-x", "3"), 27, 30),
    "processors that save power": (
        {"second": {"bios": {"vendor": "dell", "attributes": {"SysProfile": "PerfPerWattOptimizedDapc"}}}},
        (),
        83,
        85.5,
    ),
    "three switches": ({"spine": ""}, (), 85, 88),
    "a spine that puts RoCE elsewhere": ({"spine": "class-map ROCE\n no match dscp 26\n match dscp 24"}, (), 25, 29),
    "small messages": ({}, ("-s", "64"), 0.7, 0.9),
    "both directions": ({}, ("-b",), 172, 175),
}


@pytest.mark.parametrize("how, options, low, high", FIGURES.values(), ids=FIGURES)
def test_bandwidth(pair_of, how, options, low, high):
    mtu = how.pop("mtu", 9000) if how.get("mtu") == 1500 else 9000
    client = both(pair_of(mtu=mtu, **how), *BW, *options)
    assert low <= average(client) <= high


@pytest.mark.parametrize("how", [{"leaf": PFC_OFF}, {"config": DROPS_EARLY}, {"speed": 40}], ids=str)
def test_what_hurts_under_load_leaves_the_latency_alone(pair_of, how):
    good = typical(both(pair_of(), "ib_write_lat", "-F"))
    assert abs(typical(both(pair_of(**how), "ib_write_lat", "-F")) - good) < 0.1


@pytest.mark.parametrize(
    "how, options, low, high",
    [
        ({}, (), 3.9, 4.2),
        ({"second": {"options": {}}}, (), 30, 33),
        ({"there": {"host": "esx-01.lab.example"}}, (), 1.8, 2),
        ({"path": "sriov"}, SRIOV, 1.9, 2.1),
        ({"path": "sriov", "spine": ""}, SRIOV, 2.85, 3.0),
        ({"first": {"bios": {"vendor": "dell", "attributes": {"ProcCStates": "Enabled"}}}}, (), 6.3, 6.7),
    ],
    ids=["PVRDMA", "TCP", "one host", "virtual function", "over a spine", "C-states"],
)
def test_latency(pair_of, how, options, low, high):
    assert low <= typical(both(pair_of(**how), "ib_write_lat", "-F", *options)) <= high


def test_reading_comes_from_the_server_and_is_a_little_slower(pair_of):
    pair = pair_of()
    assert 82 < average(both(pair, "ib_read_bw", "--report_gbits", "-F")) < 85
    sent = [traffic.of_device(one.vm, one.vm.nics[1].key)["port_xmit_data"] for one in pair.guests]
    assert sent[0] == 0 < sent[1]


def test_only_the_direction_that_is_broken_is_slow(pair_of):
    pair = pair_of(second={"module_options": {"nmlx5_core": "pfctx=0x08 pfcrx=0x08 trust_state=2"}})
    there = average(both(pair, *BW))
    pair.guests.reverse()
    back = average(both(pair, *BW, to="10.1.1.5"))
    assert there > 80 > 40 > back


def test_large_messages_do_not_pass_where_a_switch_takes_small_packets_only(pair_of):
    pair = pair_of(leaf="interface Ethernet2\n mtu 1500")
    server, client = pair.meet(*BW)
    assert (server.status, client.status) == (1, 1)
    assert " Failed status 12: wr_id 0 syndrom 0x81\n" in client.out
    assert client.waited > 0.5
    assert both(pair, "ib_write_lat", "-F")
    assert both(pair, *BW, "-m", "1024")


COMPLAINTS = {
    "a device that is not there": ({}, ("-d", "mlx5_7"), {}, "IB device mlx5_7 not found\n"),
    "an option of perftest with CUDA": ({}, ("--use_cuda=0",), {}, "unrecognized option '--use_cuda'"),
    "an option that nobody has": ({}, ("--nonsense",), {}, "unrecognized option '--nonsense'"),
    "a row of the GID table that is empty": ({}, ("-x", "9"), {}, "Failed to modify QP"),
    "another network": ({"addresses": ("10.1.1.5/24", "10.7.7.6/24")}, (), {}, "Failed to modify QP"),
    "no rdma_cm": ({}, ("-R",), {"loaded": ["vmw_pvrdma", "ib_uverbs", "ib_core"]}, "rdma_create_event_channel failed"),
    "no verbs": ({}, (), {"loaded": ["vmw_pvrdma", "ib_core"]}, " Did not detect devices \n"),
    "little memory may be locked": ({}, (), {"uid": 1000, "locked": ["* - memlock 64"]}, "Couldn't allocate MR\n"),
}


@pytest.mark.parametrize("how, options, state, text", COMPLAINTS.values(), ids=COMPLAINTS)
def test_what_it_complains_of(pair_of, how, options, state, text):
    pair = pair_of(**how)
    for guest in pair.guests:
        guest.state.update(state)
    server, client = pair.meet("ib_write_bw", *options)
    assert client.status == 1
    assert text in client.out


def test_protocols_that_differ_do_not_meet(pair_of):
    adapter = {"type": "pvrdma", "network": "pg-rdma"}
    ends = [{"adapters": [{**adapter, "protocol": one}], "hardware_version": 17} for one in ("rocev1", "rocev2")]
    _server, client = pair_of(here=ends[0], there=ends[1]).meet("ib_write_bw", "-F")
    assert "Failed status 12" in client.out


@pytest.mark.parametrize(
    "server, client",
    [(("-s", "4096"), ()), ((), ("-q", "4")), (("-R",), ()), ((), ("-D", "2")), (("-b",), ())],
    ids=str,
)
def test_both_sides_need_the_same_options(pair_of, server, client):
    runs = pair_of().meet("ib_write_bw", server=server, client=client)
    assert [one.status for one in runs] == [1, 1]
    assert all(" Failed to exchange data between server and clients\n" in one.out for one in runs)


@pytest.mark.parametrize(
    "problem, text",
    [
        ({"problem": "refused", "text": "Connection refused"}, "Couldn't connect to 10.1.1.6:18515\n"),
        ({"problem": "gone", "text": ""}, "Failed to exchange data"),
        ({"problem": "name", "text": "Name or service not known"}, "Name or service not known"),
    ],
    ids=["nobody listens", "gone", "no such name"],
)
def test_a_client_that_meets_nobody(pair_of, problem, text):
    guest = pair_of().guests[0]
    first = guest.ask("ib_write_bw", "10.1.1.6")
    assert first["meet"]["connect"] == ["10.1.1.6", 18515]
    then = guest.ask("ib_write_bw", "10.1.1.6", again=first["again"], met={**problem, "peer": "10.1.1.6"})
    assert then["status"] == 1
    assert text in then["stderr"]


def test_a_server_whose_client_dies_has_no_result(pair_of):
    pair = pair_of()
    server = Running(pair.guests[1], ["ib_write_bw"]).go_on(None)
    client = Running(pair.guests[0], ["ib_write_bw", "10.1.1.6"]).go_on(None)
    said = server.says, client.says
    server.go_on(said[1])
    client.go_on(said[0])
    server.go_on(None)
    assert server.status == 1
    assert "65536 " not in server.out


def test_the_server_waits_as_reported_and_shows_no_peak(pair_of):
    server, client = pair_of().meet("ib_send_bw", "-p", "19000", "-n", "1000")
    assert server.out.startswith("\n************************************\n* Waiting for client to connect... *\n***")
    assert re.search(r"(?m)^ 65536      1000             0\.00 ", server.out)
    assert " RX depth        : 512\n" in server.out
    assert "    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n" in client.out
    assert average(server) == average(client)


def test_a_table_has_the_columns_of_the_real_one(pair_of):
    client = both(pair_of(), *BW)
    rows = [line for line in client.out.splitlines() if line.startswith(" 65536")]
    assert len(rows) == 1
    assert re.fullmatch(r" 65536      5000             \d\d\.\d\d              \d\d\.\d\d  \t\t   0\.\d{6}", rows[0])
    assert " Device         : vmw_pvrdma0\n Number of qps   : 1\t\tTransport type : IB\n" in client.out.replace(
        " Dual-port       : OFF\t\t", " "
    )
    latency = both(pair_of(), "ib_write_lat", "-F").out.splitlines()
    assert re.fullmatch(
        r" 2       1000          [\d.]+ +[\d.]+ +[\d.]+ +\t +[\d.]+ +\t[\d.]+ +\t\t[\d.]+ +\t\t[\d.]+ +", latency[-2]
    )


def test_all_sizes(pair_of):
    client = both(pair_of(), "ib_write_bw", "-a", "-F")
    sizes = [int(line.split()[0]) for line in client.out.splitlines() if re.match(r" \d+ +5000 ", line)]
    assert sizes == [1 << power for power in range(1, 24)]


def test_a_duration_is_waited_for_and_shows_no_peak(pair_of):
    client = both(pair_of(), *BW, "-D", "3")
    assert client.waited == 3.0
    assert client.out.startswith(" WARNING: BW peak won't be measured in this run.\n")
    assert re.search(r"(?m)^ 65536 +\d{6} +0\.00 ", client.out)


def test_queue_pairs_have_an_address_each(pair_of):
    client = both(pair_of(), *BW, "-q", "4")
    assert client.out.count(" local address:") == client.out.count(" remote address:") == 4
    assert "\n 65536      20000 " in client.out


def test_json_keeps_the_last_size_only(pair_of):
    pair = pair_of()
    pair.guests[0].state["cwd"] = "/home/ops"
    client = both(pair, *BW, "-a", "--out_json", "--out_json_file=result.json")
    found = json.loads(client.files["/home/ops/result.json"]["own"])
    assert found["results"]["MsgSize"] == 8388608
    assert found["test_info"]["Device"] == "vmw_pvrdma0"
    assert abs(found["results"]["BW_average"] - 86.8) < 1


def test_the_same_runs_give_the_same_figures(pair_of):
    figures = [[average(both(pair, *BW)) for _again in range(3)] for pair in (pair_of(), pair_of())]
    assert figures[0] == figures[1]
    assert len(set(figures[0])) > 1


def test_two_tests_at_one_port_share_it(pair_of):
    guests = pair_of(each=2).guests
    pairs = []
    for first, second, address in ((0, 1, "10.1.1.6"), (2, 3, "10.1.1.8")):
        server = Running(guests[second], [*BW]).go_on(None)
        pairs.append((server, Running(guests[first], [*BW, address]).go_on(None)))
    talk(*pairs)
    # The second one finds the first under way; one after the other both have the whole port.
    assert [round(average(client) / 10) for _server, client in pairs] == [9, 4]
