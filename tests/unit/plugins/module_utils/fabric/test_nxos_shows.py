# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Output of Cisco NX-OS of several releases and families, as JSON and as text."""

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.nxos import show
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.nxos.platform import Nxos


def parsed(text, command=None):
    platform = Nxos()
    return platform.parse({command or platform.command_of(text): text})


def test_the_release_is_not_that_of_the_bios():
    assert parsed("version 9.3(8) Bios:version 05.47 \ninterface Ethernet1/1\n  mtu 9216\n").version == "9.3(8)"


QUEUES = """
Egress Queuing for Ethernet1/7 [System]
|                    QOS GROUP 5                  |
|                   Tx Pkts |      11|       0|
| WRED/AFD & Tail Drop Pkts |       4|       1|
|       WD & Tail Drop Pkts |       2|       0|
|                 CONTROL QOS GROUP               |
| WRED/AFD & Tail Drop Pkts |      90|       0|
Port Egress Statistics
WRED Non ECN Drop Pkts                          7
Ingress Queuing for Ethernet1/7
TxPPP:                  150,   RxPPP:                    0
PFC_COS QOS_Group   TxPause             TxCount   RxPause             RxCount
      0         0  Inactive                   0  Inactive                   0
      5         5    Active                 150  Inactive                   3
Egress Queuing for ii1/1/1 [System]
|                    QOS GROUP 5                  |
|            Dropped Pkts |     800|
"""


def test_queues_of_newer_releases():
    oper, unread = {}, []
    show.queuing(QUEUES, oper, unread)
    assert unread == []
    counters = oper["Ethernet1/7"].counters
    assert list(oper) == ["Ethernet1/7"]
    assert counters["drops"] == {5: 5}
    assert "ecn_marked" not in counters
    assert counters["pauses_sent"] == {0: 0, 5: 150}
    assert counters["pauses_received"] == {0: 0, 5: 3}


def test_watchdogs_and_policies_of_links_inside_belong_to_no_port():
    guards = "Ethernet1/7 Interface PFC watchdog: [Enabled]\n| Shutdown| 1|\n"
    guards += "ii1/1/2 Interface PFC watchdog: [Disabled]\n| Shutdown| 9|\n"
    running = parsed(guards).oper["Ethernet1/7"]
    assert (running.watchdog, running.counters) == (True, {"watchdog_events": 1})
    policies = (
        "Ethernet1/7\n  Service-policy (qos) input: A\n    Class-map (qos): B (match-any)\n      Match: dscp 26\n"
    )
    policies += "Vlan100\n  Service-policy (qos) input: C\n    Class-map (qos): D (match-any)\n      Match: cos 3\n"
    oper = parsed(policies).oper
    assert {name: one.trust for name, one in oper.items()} == {"Ethernet1/7": "dscp"}


def test_an_identity_as_text():
    text = """Cisco Nexus Operating System (NX-OS) Software
  BIOS: version 05.40
 NXOS: version 10.2(5) [Maintenance Release]
  cisco Nexus9000 C93180YC-FX Chassis
  Device name: leaf-04
"""
    switch = parsed(text)
    assert (switch.hostname, switch.version, switch.model) == ("leaf-04", "10.2(5)", "Nexus9000 C93180YC-FX")


def test_an_older_release_names_its_build_too():
    reported = {"host_name": "leaf-05", "kickstart_ver_str": "7.3(1)D1(1) [build 7.3(1)D1(0.10)]"}
    assert parsed(json.dumps(reported), "show version | json").version == "7.3(1)D1(1)"


def test_links_as_text():
    text = """Ethernet1/1 is up
admin state is up, Dedicated Interface
  MTU 9216 bytes, BW 100000000 Kbit , DLY 10 usec
Ethernet1/2/3 is down (Link not connected)
  MTU 1500 bytes,  BW 25000000 Kbit,, BW 25000000 Kbit, DLY 10 usec
port-channel7 is down (No operational members)
  MTU 9216 bytes, BW 100000 Kbit, DLY 10 usec
Vlan1 is down (Administratively down), line protocol is down
  MTU 1500 bytes, BW 1000000 Kbit, DLY 10 usec
Vlan20 is administratively down (Administratively down), line protocol is down, autostate enabled
  MTU 1500 bytes, BW 1000000 Kbit, DLY 10 usec,
"""
    switch = parsed(text)
    assert switch.unread == []
    assert {name: (one.up, one.mtu, switch.ports[name].speed) for name, one in switch.oper.items()} == {
        "Ethernet1/1": (True, 9216, 100),
        "Ethernet1/2/3": (False, 1500, 25),
        "port-channel7": (False, 9216, None),
    }


AS_TEXT = """Chassis id: b8ce.f600.0001
Port id: b8ce.f600.0001
Local Port id: Eth1/1
Port Description: null
System Name: {}
Management Address: not advertised
"""
AS_JSON = {"chassis_id": "b8ce.f600.0001", "port_id": "b8ce.f600.0001", "l_port_id": "Eth1/1", "port_desc": "null"}


@pytest.mark.parametrize(
    "text",
    [
        AS_TEXT.format("null"),
        AS_TEXT.format("null").replace("\n", "\r\n"),
        json.dumps({"TABLE_nbor_detail": {"ROW_nbor_detail": dict(AS_JSON, sys_name="null")}}),
    ],
    ids=["text", "CRLF", "JSON"],
)
def test_what_a_neighbour_does_not_report_is_no_name(text):
    (peer,) = parsed(text, "show lldp neighbors detail").neighbours["Ethernet1/1"]
    assert (peer.system, peer.port, peer.description) == ("b8ce.f600.0001", "b8ce.f600.0001", None)


def test_neighbours_as_text():
    text = AS_TEXT.format("esx-01") + AS_TEXT.format("esx-02").replace("Eth1/1", "Eth1/2")
    assert {name: peers[0].system for name, peers in parsed(text).neighbours.items()} == {
        "Ethernet1/1": "esx-01",
        "Ethernet1/2": "esx-02",
    }


def test_the_last_column_of_a_table_of_neighbours_is_the_port_and_not_what_the_peer_can_do():
    text = """Device ID            Local Intf      Hold-time  Capability  Port ID
leaf-02              Eth1/1          120        BR          Ethernet1/9
esx-01               Eth1/2          120                    b8ce.f600.0001
esx-02               Eth1/3          120        B,R
esx-03               Eth1/4          120                    B
esx-04               Eth1/5          120        eth0
leaf-03              Eth1/6          120        BR          port 6 left
"""
    found = parsed(text, "show lldp neighbors").neighbours
    assert {name: (peer.system, peer.port) for name, (peer,) in found.items()} == {
        "Ethernet1/1": ("leaf-02", "Ethernet1/9"),
        "Ethernet1/2": ("esx-01", "b8ce.f600.0001"),
        "Ethernet1/3": ("esx-02", None),
        "Ethernet1/4": ("esx-03", "B"),
        "Ethernet1/5": ("esx-04", "eth0"),
        "Ethernet1/6": ("leaf-03", "port 6 left"),
    }
