"""Configurations and outputs of Dell OS10 are read in every form."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.os10.platform import CONFIG, Os10
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking, Neighbour, Port

from .os10_lab import BY_HAND, FACTORY, PORTS, SHOWN, commands, differing, switch

SAMPLES = Path(__file__).parent / "samples" / "os10"
PAUSED = """ethernet1/1/1
  Admin Mode : true
  Operstatus: true
  PFC Priorities: 3,4
  Total Rx PFC Frames: 300
  Total Tx PFC Frames: 200
  Cos     Rx        Tx
  -----------------------
  3       300       200
  4       0         0
"""


def sample(name):
    return switch((SAMPLES / name).read_text(encoding="utf-8"))


def test_a_generated_configuration_for_tags_is_understood():
    port = sample("config_qos_dot1p_pfc_ets_ecn.txt").ports["all"]
    assert (port.trust, port.dscp_map) == ("pcp", None)
    # No port of this sample has the queue map.
    assert port.queues == {group: group for group in range(8)}


def test_policies_of_that_configuration_act_where_a_port_has_them():
    text = (
        (SAMPLES / "config_qos_dot1p_pfc_ets_ecn.txt").read_text(encoding="utf-8")
        + """
interface ethernet1/1/7
  priority-flow-control mode on
  service-policy input type network-qos AZLOCAL_PFC
  service-policy output type queuing AZLOCAL_ETS
  qos-map traffic-class AZLOCAL_QOS_MAP
"""
    )
    port = switch(text).ports["ethernet1/1/7"]
    assert (port.pfc_mode, port.pfc, port.lossless, port.pfc_queues) == ("on", [3], [3], {3: 3})
    assert port.ecn == {3: Marking(150_000, 1_500_000, 100)}
    assert port.shares == {0: 48, 3: 50, 7: 2}
    assert port.queues == {0: 0, 1: 0, 2: 0, 3: 3, 4: 0, 5: 0, 6: 0, 7: 7}


def test_fragments_of_a_range_of_ports_are_understood():
    found = sample("config_dscp_pfc_z9332f_fragments.txt")
    assert len(found.ports) == 32
    port = found.ports["ethernet1/1/32"]
    assert (port.mtu, port.pause, port.pfc_mode, port.pfc) == (9216, False, "on", [3])
    # The fragments do not contain the map of this line.
    assert (port.trust, port.dscp_map) == ("dscp", None)


def test_the_factory_treats_nothing():
    port = switch(FACTORY).ports["ethernet1/1/1"]
    assert (port.trust, port.pfc_mode, port.pfc, port.ecn, port.mtu, port.pause) == ("none", "off", [], {}, 1532, False)


@pytest.mark.parametrize("indent", [1, 2, 4])
def test_what_an_operator_wrote_by_hand_is_equal(indent):
    text = BY_HAND.replace("   ", " " * indent)
    assert differing(switch(text)) == []
    assert commands(switch(text)) == []


@pytest.mark.parametrize(
    "change, key",
    [
        (("random-detect ecn", "!"), "ecn"),
        (("pfc-cos 3", "pfc-cos 4"), "pfc"),
        (("match qos-group 3", "match qos-group 5"), "lossless"),
        (("trust-map dscp POINTS", "!"), "trust"),
        (("dscp 24-31", "dscp 24-25,27-31"), "roce_priority"),
        (("      priority\n", "      bandwidth percent 5\n"), "cnp_strict"),
        (("mtu 9216", "mtu 9000"), "mtu"),
        (("flowcontrol receive off", "flowcontrol receive on"), "pause"),
        (("ets mode on", "!"), "bandwidth_percent"),
    ],
    ids=["drops", "pauses another", "holds another", "no trust", "map", "not first", "mtu", "pauses all", "no ets"],
)
def test_each_silent_difference_is_seen(change, key):
    assert change[0] in BY_HAND
    found = [one.path.rpartition(".")[2] for one in differing(switch(BY_HAND.replace(*change)))]
    assert key in found


def test_a_name_of_the_wrong_kind_is_reported_and_does_nothing():
    text = BY_HAND.replace("network-qos PAUSE\n   service", "network-qos POINTS\n   service")
    found = switch(text)
    assert "ethernet1/1/1: POINTS has no effect as policy-map type network-qos. It is a trust" in found.exceptions[0]
    assert found.ports["ethernet1/1/1"].pfc == []


def test_wrong_names_at_ports_that_nobody_asked_for_are_not_in_the_way():
    text = BY_HAND + "interface ethernet1/1/9\n   service-policy input type network-qos POINTS\n"
    os10 = Os10()
    os10.reads(PORTS)
    assert os10.parse({CONFIG: text}).exceptions == []


def test_secrets_are_not_kept():
    text = "username admin password $6$abc role sysadmin\nsnmp-server community secret ro\n" + BY_HAND
    kept = switch(text).config
    assert "$6$" not in kept
    assert "secret" not in kept
    assert "policy-map type network-qos PAUSE" in kept


def test_what_runs_is_read():
    found = switch(BY_HAND, **{"show interface": SHOWN, "show interface priority-flow-control details": PAUSED})
    one, other = (found.oper[name] for name in PORTS)
    assert (one.up, one.mtu, one.pfc, one.pfc_sends) == (True, 9216, [3, 4], True)
    assert one.counters["pauses_received"] == {3: 300, 4: 0}
    assert (other.up, other.mtu, other.pfc) == (False, 1532, None)
    assert [found.ports[name].speed for name in PORTS] == [100, 25]


@pytest.mark.parametrize(
    "text",
    [
        "Loc PortID          Rem Host Name       Rem Port Id             Rem Chassis Id\n"
        + "-" * 83
        + "\nethernet1/1/1       esx-01              vmnic2                  00:0c:29:00:00:01\n",
        "Remote Chassis ID Subtype: Mac address (4)\nRemote Chassis ID: 00:0c:29:00:00:01\n"
        "Remote Port ID: vmnic2\nLocal Port ID: ethernet1/1/1\nRemote System Name: esx-01\n" + "-" * 75 + "\n",
    ],
    ids=["table", "detail"],
)
def test_peers_are_read(text):
    found = switch("", **{"show lldp neighbors": text}).neighbours["ethernet1/1/1"]
    assert found == [Neighbour("esx-01", "vmnic2", "00:0c:29:00:00:01")]


@pytest.mark.parametrize(
    "text, command",
    [
        (BY_HAND, CONFIG),
        (SHOWN, "show interface"),
        (PAUSED, "show interface priority-flow-control details"),
        ("OS Version: 10.5.4.4\nSystem Type: S5248F-ON\n", "show version"),
        ("nothing that is known", None),
    ],
    ids=["config", "interface", "pfc", "version", "none"],
)
def test_the_command_of_a_text_is_recognised(text, command):
    assert Os10().command_of(text) == command


def test_one_class_may_hold_several_priorities():
    text = BY_HAND.replace("match qos-group 3", "match qos-group 3,4").replace("pfc-cos 3", "pfc-cos 3-4")
    port = switch(text).ports["ethernet1/1/1"]
    assert (port.pfc, port.lossless, port.pfc_queues) == ([3, 4], [3, 4], {3: 3, 4: 4})
    assert [str(one) for one in differing(switch(text))] == [
        "ethernet1/1/1-2.pfc: 3, 4 -> 3",
        "ethernet1/1/1-2.lossless: 3, 4 -> 3",
    ]


@pytest.mark.parametrize(
    "head, up",
    [
        ("Ethernet 1/1/2 is up, line protocol is up", True),
        ("Ethernet 1/1/2 is up, line protocol is down(error-disabled[BPDUGUARD])", False),
        ("Ethernet 1/1/2 is administratively down, line protocol is down", False),
        ("  Ethernet 1/1/2 is down, line protocol is down", False),
    ],
)
def test_links_and_why_they_are_down(head, up):
    read = Os10().parse(
        {"show interface": f"{head}\nMTU 9216 bytes, IP MTU 9184 bytes\nLineSpeed 0, Auto-Negotiation on\n"}
    )
    assert (read.oper["ethernet1/1/2"].up, read.ports["ethernet1/1/2"].speed) == (up, None)


@pytest.mark.parametrize(
    "row, peer",
    [
        ("Not Advertised  fortyGigE 0/56      00:01:e8:00:00:01", (None, "fortyGigE 0/56")),
        ("Rack 7 MX750c   NIC.Mezzanine 1A    00:01:e8:00:00:01", ("Rack 7 MX750c", "NIC.Mezzanine 1A")),
        ("esx-01.example...vmnic2             00:01:e8:00:00:01", ("esx-01.example...", "vmnic2")),
        ("esx-01 vmnic2 00:01:e8:00:00:01", ("esx-01", "vmnic2")),
    ],
    ids=["no name", "names with blanks", "a name that was cut", "single blanks"],
)
def test_names_in_the_table_of_neighbours(row, peer):
    table = f"Loc PortID          Rem Host Name   Rem Port Id         Rem Chassis Id\nethernet1/1/20:1 {row}\n"
    table = table.replace("20:1 Not", "20:1    Not").replace("20:1 Rack", "20:1    Rack")
    table = table.replace("20:1 esx-01.", "20:1    esx-01.")
    (found,) = Os10().parse({"show lldp neighbors": table}).neighbours["ethernet1/1/20:1"]
    assert (found.system, found.port, found.chassis) == (*peer, "00:01:e8:00:00:01")


def test_without_a_configuration_a_port_has_only_what_its_state_shows():
    found = Os10().parse({"show interface": SHOWN})
    assert found.ports[PORTS[0]] == Port(mtu=9216, pause=False, speed=100)
    assert found.ports[PORTS[1]] == Port(mtu=1532, pause=True, speed=25)
