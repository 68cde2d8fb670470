"""Whether RoCE packets stay in one lossless class from host to host, and what each misconfiguration does to them."""

from __future__ import annotations

import pytest

from twin_labs import host_lab
from twin_labs.fabric_lab import EOS_LINES, HOSTS, NXOS_LINES, TUNED, fabric, switch
from vsphere_twin.model import seed as seeds
from vsphere_twin.switches import cabling

A, B = (f"{host}/vmnic2" for host in HOSTS)
LEAF_A, UP_A, SPINE_A = "leaf-01/Ethernet1", "leaf-01/Ethernet3", "spine-01/Ethernet1/4"
SPINE_B, UP_B, LEAF_B = "spine-01/Ethernet1/3", "leaf-02/Ethernet4", "leaf-02/Ethernet1"


def world_of(leaf="", spine="", other="", options=None, **more):
    """Two leaves and a spine that are set up in full, and lines that were typed after that."""
    options = TUNED if options is None else options
    hosts = [host_lab.esx(HOSTS[0], module_options=options), host_lab.esx(HOSTS[1], module_options=TUNED)]
    return seeds.from_data(
        fabric(
            switch("leaf-01", "eos", EOS_LINES + leaf),
            switch("spine-01", "nxos", NXOS_LINES + spine),
            switch("leaf-02", "eos", EOS_LINES + other),
            hosts=hosts,
            **more,
        )
    )


def look(**how):
    (row,) = cabling.look(world_of(**how))
    return row


def test_a_fabric_that_agrees_is_lossless_from_end_to_end():
    row = look()
    assert (row["a"], row["b"], row["dscp"]) == (A, B, [26])
    assert (row["lossless"], row["ecn"], row["cnp_strict"], row["mtu_fits"], row["mtu"]) == (
        True,
        True,
        True,
        True,
        9000,
    )
    assert row["paths"] == [[LEAF_A, UP_A, SPINE_A, SPINE_B, UP_B, LEAF_B]]
    assert row["why"] == []


@pytest.mark.parametrize(
    "how, broken, at, what",
    [
        ({"options": {**TUNED, "nmlx5_rdma": ""}}, "lossless", A, "RoCE packets have no DSCP of their own"),
        (
            {"options": {**TUNED, "nmlx5_rdma": "dscp_force=34"}},
            "lossless",
            LEAF_A,
            "4 has no lossless buffer",
        ),
        (
            {"options": {**TUNED, "nmlx5_core": "pfctx=0x10 pfcrx=0x10 trust_state=2"}},
            "lossless",
            A,
            "no pause is sent for priority 3",
        ),
        (
            {"options": {**TUNED, "nmlx5_core": "pfctx=0x08 trust_state=2"}},
            "lossless",
            A,
            f"pauses of {LEAF_A} for priority 3 are not heeded",
        ),
        ({"options": {**TUNED, "nmlx5_core": "pfctx=0x08 pfcrx=0x08"}}, "lossless", LEAF_A, f"at {A} it had 0"),
        ({"leaf": "interface Ethernet1\n qos trust cos"}, "lossless", LEAF_A, "DSCP 26 is put into priority 0"),
        ({"leaf": "qos map dscp 26 to traffic-class 4"}, "lossless", LEAF_A, "DSCP 26 is put into priority 4"),
        ({"leaf": "interface Ethernet3\n no service-profile"}, "lossless", UP_A, "no pause is sent for priority 3"),
        ({"spine": "class-map ROCE\n no match dscp 26\n match dscp 24"}, "lossless", SPINE_A, "into priority 0"),
        (
            {"spine": "interface Ethernet1/4\n priority-flow-control mode auto"},
            "lossless",
            SPINE_A,
            "priority 3 has no lossless buffer",
        ),
        (
            {"spine": "policy-map type network-qos ROCE-NQ\n class type network-qos c-8q-nq3\n pause pfc-cos 4"},
            "lossless",
            SPINE_A,
            "no pause is sent for priority 3",
        ),
        (
            {"spine": "policy-map type queuing ROCE-OUT\n class type queuing c-out-8q-q3\n no random-detect"},
            "ecn",
            SPINE_B,
            "queue 3 marks nothing",
        ),
        (
            {
                "spine": "policy-map type queuing ROCE-OUT\n class type queuing c-out-8q-q3\n random-detect "
                "minimum-threshold 1 kbytes maximum-threshold 2 kbytes drop-probability 100 weight 0"
            },
            "ecn",
            SPINE_A,
            "queue 3 drops early instead of marking",
        ),
        (
            {"spine": "interface Ethernet1/3\n no mtu"},
            "mtu",
            SPINE_B,
            "bytes go, the MTU is 1500",
        ),
        (
            {"spine": "policy-map type queuing ROCE-OUT\n class type queuing c-out-8q-q6\n no priority"},
            "cnp",
            SPINE_A,
            "congestion notifications wait in queue 6",
        ),
    ],
    ids=[
        "host marks nothing",
        "host marks another class",
        "host sends pauses for another priority",
        "host heeds no pauses",
        "host trusts PCP",
        "leaf trusts cos",
        "leaf maps into another class",
        "uplink without pauses",
        "spine maps nothing",
        "pauses that wait for DCBX",
        "pauses for another priority",
        "marking on leaves alone",
        "wred without ecn",
        "one hop at 1500",
        "notifications not strict",
    ],
)
def test_each_silent_misconfiguration_is_named_where_it_is(how, broken, at, what):
    row = look(**how)
    assert [why for why in row["why"] if why["at"] == at and what in why["what"]], row["why"]
    flags = {"lossless": row["lossless"], "ecn": row["ecn"], "mtu": row["mtu_fits"], "cnp": row["cnp_strict"]}
    assert flags[broken] is False
    if broken != "lossless":
        assert row["lossless"]


def test_link_level_pause_is_seen_at_the_host():
    world = world_of()
    _host, nic = world.fabric.nic(HOSTS[0], "vmnic2")
    nic.pause_rx = nic.pause_tx = True
    (row,) = cabling.look(world)
    assert {"at": A, "what": "no pause is sent for priority 3", "breaks": "lossless"} in row["why"]


def test_all_ways_of_equal_length_are_looked_at():
    cables = [
        [A, LEAF_A],
        [B, LEAF_B],
        ["leaf-01/Ethernet3", "spine-01/Ethernet1/1"],
        ["leaf-02/Ethernet3", "spine-01/Ethernet1/2"],
        ["leaf-01/Ethernet4", "spine-02/Ethernet1/1"],
        ["leaf-02/Ethernet4", "spine-02/Ethernet1/2"],
    ]
    names = {"leaf-01": "eos", "leaf-02": "eos", "spine-01": "nxos", "spine-02": "nxos"}
    lines = {"leaf-01": EOS_LINES, "leaf-02": EOS_LINES, "spine-01": NXOS_LINES, "spine-02": ""}
    world = seeds.from_data(fabric(*(switch(name, kind, lines[name]) for name, kind in names.items()), cables=cables))
    (row,) = cabling.look(world)
    assert len(row["paths"]) == 2
    assert not row["lossless"]
    assert {why["at"].partition("/")[0] for why in row["why"] if "buffer" in why["what"]} == {"spine-02"}
    world.fabric.link("leaf-01", "Ethernet4", up=False)
    (row,) = cabling.look(world)
    assert (len(row["paths"]), row["lossless"]) == (1, True)
    world.fabric.link("leaf-02", "Ethernet1", up=False)
    (row,) = cabling.look(world)
    assert row["why"] == [{"at": A, "what": f"there is no way to {B}", "breaks": "lossless"}]


@pytest.mark.parametrize(
    "lldp, seen, reported",
    [("both", True, True), ("listen", True, False), ("advertise", False, True), ("none", False, False)],
)
def test_a_distributed_switch_listens_and_reports_as_it_is_set(lldp, seen, reported):
    world = world_of()
    host, nic = world.fabric.nic(HOSTS[0], "vmnic2")
    nic.switch.lldp = lldp
    heard = cabling.seen_by(world, host, "vmnic2")
    assert (heard is not None) is seen
    if seen:
        assert (heard.system, heard.port) == ("leaf-01", "Ethernet1")
    neighbours = {port.name: peer for port, peer in world.fabric.switches["leaf-01"].neighbours()}
    assert ("Ethernet1" in neighbours) is reported
    if reported:
        assert (neighbours["Ethernet1"].system, neighbours["Ethernet1"].port) == (HOSTS[0], "vmnic2")


@pytest.mark.parametrize("line", ["no lldp run", "interface Ethernet1\n no lldp transmit"])
def test_a_switch_that_does_not_report_is_not_seen(line):
    world = world_of(leaf=line)
    assert cabling.seen_by(world, world.fabric.nic(HOSTS[0], "vmnic2")[0], "vmnic2") is None
