"""What traffic leaves behind: counters of guests, of the ports of hosts, and of switches."""

from __future__ import annotations

import json

import pytest

from twin_labs.guest_pair import LEAF
from vsphere_twin.esxcli import commandline
from vsphere_twin.guests.programs import counters

from .test_perftest import average

BW = ("ib_write_bw", "-F", "-x", "3", "--tclass", "106")
PFC_OFF = "interface Ethernet2\n no service-profile"


def statistic(guest):
    (row,) = json.loads(guest.run("rdma", "-j", "statistic", "show", "link", "mlx5_0/1")[1])
    return row


def port(pair, number):
    return {
        key: value
        for key, value in pair.world.fabric.switches[LEAF].ports[f"Ethernet{number}"].counters.items()
        if value
    }


def test_a_good_way_loses_nothing(pair_of):
    pair = pair_of(path="sriov")
    pair.meet(*BW)
    for guest in pair.guests:
        row = statistic(guest)
        assert [row[name] for name in ("out_of_sequence", "packet_seq_err", "local_ack_timeout_err")] == [0, 0, 0]
    assert port(pair, 1) == {"rx_packets_3": 80000, "rx_bytes_3": 327680000}
    assert port(pair, 2) == {"tx_packets_3": 80000, "tx_bytes_3": 327680000, "ecn_marked_3": 1}


def test_what_is_lost_is_counted_by_both_ends_and_where_it_was_lost(pair_of):
    pair = pair_of(path="sriov", leaf=PFC_OFF)
    pair.meet(*BW)
    sender, receiver = (statistic(guest) for guest in pair.guests)
    assert (sender["packet_seq_err"], receiver["out_of_sequence"]) == (14, 14)
    assert port(pair, 2)["tx_drops_3"] == 320


@pytest.mark.parametrize(
    "spine, at, counter",
    [
        ("class-map ROCE\n no match dscp 26\n match dscp 24", "Ethernet1/1", "rx_drops_0"),
        ("interface Ethernet1/2\n priority-flow-control mode off", "Ethernet1/2", "tx_drops_3"),
    ],
    ids=["another class", "no pauses heeded"],
)
def test_drops_are_counted_at_the_port_of_the_spine_that_is_to_blame(pair_of, spine, at, counter):
    pair = pair_of(path="sriov", spine=spine)
    pair.meet(*BW)
    lost = {
        (name, one.name): key
        for name, switch in pair.world.fabric.switches.items()
        for one in switch.ports.values()
        for key, value in one.counters.items()
        if "drops" in key and value
    }
    assert lost == {("spine-01", at): counter}


def test_latency_loses_nothing_anywhere(pair_of):
    pair = pair_of(path="sriov", leaf=PFC_OFF)
    pair.meet("ib_write_lat", "-F", "-x", "3", "--tclass", "106")
    assert statistic(pair.guests[1])["out_of_sequence"] == 0


def test_several_senders_are_marked_and_slow_down(pair_of):
    pair = pair_of(path="sriov")
    pair.meet(*BW, "-b")
    sender, receiver = (statistic(guest) for guest in pair.guests)
    assert sender["rp_cnp_handled"] == receiver["np_cnp_sent"] == receiver["np_ecn_marked_roce_packets"] == 240


def test_without_marks_there_are_pauses(pair_of):
    config = "qos profile ROCE\n tx-queue 3\n no random-detect ecn"
    pair = pair_of(path="sriov", leaf=config)
    pair.meet(*BW, "-b")
    assert port(pair, 1)["tx_pause_3"] == 32


def test_retries_that_ended_are_counted(pair_of):
    pair = pair_of(path="sriov", leaf="interface Ethernet2\n mtu 1500")
    pair.meet(*BW)
    assert statistic(pair.guests[0])["req_transport_retries_exceeded"] == 1


def test_pvrdma_counts_nothing_in_the_guest(pair_of):
    pair = pair_of()
    pair.meet("ib_write_bw", "-F")
    assert pair.guests[0].run("rdma", "statistic") == (0, "")
    assert not [path for path in pair.guests[0].trees["/sys/class/infiniband"] if "counters" in path]


def test_the_kernel_shows_the_same_in_its_files(pair_of):
    pair = pair_of(path="sriov", leaf=PFC_OFF)
    pair.meet(*BW)
    files = pair.guests[1].files
    assert files["/sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence"] == "14\n"
    assert files["/sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data"] == f"{327680000 // 4}\n"


def test_ethtool_answers_for_functions_of_a_connectx_and_lets_the_real_one_do_the_rest(pair_of):
    pair = pair_of(path="sriov")
    pair.meet(*BW)
    status, shown = pair.guests[0].run("ethtool", "-S", "ens224")
    assert status == 0
    assert "     tx_vport_rdma_unicast_packets: 80000\n" in shown
    assert "phy" not in shown  # the port is not the guest's
    assert pair.guests[0].ask("ethtool", "-i", "ens224")["pass_on"]
    assert pair_of().guests[0].ask("ethtool", "-S", "ens224")["pass_on"]


@pytest.mark.parametrize(
    "how, sent, by_rdma", [({}, 80000, 80000), ({"second": {"rulesets": {}}}, 80000, 0)], ids=["RDMA", "TCP"]
)
def test_hosts_count_what_their_ports_carry_and_what_of_it_was_rdma(pair_of, how, sent, by_rdma):
    pair = pair_of(**how)
    pair.meet("ib_write_bw", "-F")
    host = pair.guests[0].vm.host
    shown = [
        commandline.main(pair.world, host, words.split())[0]
        for words in ("network nic stats get -n vmnic1", "rdma device stats get -d vmrdma0")
    ]
    assert [f"Packets sent: {count}\n" in text for count, text in zip((sent, by_rdma), shown, strict=True)] == [
        True,
        True,
    ]


@pytest.mark.parametrize("path", ["sriov", "pvrdma"])
def test_a_port_that_discards_what_it_has_to_send_counts_it_and_no_switch_does(pair_of, path):
    pair = pair_of(path=path)
    host = pair.guests[0].vm.host
    (nic,) = (one for one in host.ports if one.device == "vmnic1")
    nic.discards = True
    pair.meet(*(BW if path == "sriov" else ("ib_write_bw", "-F")))
    lost = nic.counters["tx_discards"]
    assert lost > 0
    # What a VM sees to which the whole port was passed through, and what the host shows.
    assert counters._whole_port(nic)["tx_discards_phy"] == lost
    shown = commandline.main(pair.world, host, ["network", "nic", "stats", "get", "-n", "vmnic1"])[0]
    assert f"Transmit packets dropped: {lost}\n" in shown
    at_switches = [one.counters for switch in pair.world.fabric.switches.values() for one in switch.ports.values()]
    assert [key for one in at_switches for key, value in one.items() if "drops" in key and value] == []


def test_a_port_that_discards_slows_a_stream_down(pair_of):
    pair = pair_of(path="sriov")
    (nic,) = (one for one in pair.guests[0].vm.host.ports if one.device == "vmnic1")
    options = (*BW, "--report_gbits")
    fine = average(pair.meet(*options)[1])
    nic.discards = True
    assert average(pair.meet(*options)[1]) < 0.5 * fine


def test_a_restart_of_the_vm_forgets_its_counters(pair_of):
    pair = pair_of(path="sriov", leaf=PFC_OFF)
    pair.meet(*BW)
    pair.guests[0].vm.booted = object()
    assert statistic(pair.guests[0])["packet_seq_err"] == 0
