# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Text output of Arista EOS, and unexpected JSON."""

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.eos.platform import Eos


def parsed(text, command=None):
    platform = Eos()
    return platform.parse({command or platform.command_of(text): text})


def test_an_identity_as_text():
    text = "Arista DCS-7060CX-32S-F\nHardware version: 11.00\n\nSoftware image version: 4.28.9M\nArchitecture: i686\n"
    assert (parsed(text).version, parsed(text).model) == ("4.28.9M", "DCS-7060CX-32S-F")


def test_builds_that_name_their_kind_have_a_header_too():
    header = "! device: leaf-01 (cEOSLab, EOS-4.32.1F-1.4321F (engineering build))\n"
    switch = parsed(f"{header}interface Ethernet1\n   mtu 9214\n")
    assert (switch.hostname, switch.model, switch.version) == ("leaf-01", "cEOSLab", "4.32.1F-1.4321F")


def test_links_as_text():
    text = """Ethernet1 is up, line protocol is up (connected)
  IP MTU 1500 bytes (default), BW 25000000 kbit
Ethernet49/1 is administratively down, line protocol is notpresent (disabled)
  Ethernet MTU 9214 bytes , BW 100000000 kbit
Port-Channel7 is down, line protocol is lowerlayerdown (notconnect)
  Ethernet MTU 9214 bytes
Loopback0 is up, line protocol is up (connected)
  IP MTU 65535 bytes
"""
    switch = parsed(text)
    assert {name: (one.up, one.mtu, switch.ports[name].speed) for name, one in switch.oper.items()} == {
        "Ethernet1": (True, 1500, 25),
        "Ethernet49/1": (False, 9214, 100),
        "Port-Channel7": (False, 9214, None),
    }


def test_neighbours_as_a_table():
    text = """Number of table inserts  : 2
Port          Neighbor Device ID       Neighbor Port ID    TTL
---------- ------------------------ ---------------------- ---
Et3/1         esx-01                   vmnic2              120
Po7           spine 01                 Ethernet7           120
"""
    assert {name: (one.system, one.port) for name, (one,) in parsed(text).neighbours.items()} == {
        "Ethernet3/1": ("esx-01", "vmnic2"),
        "Port-Channel7": ("spine 01", "Ethernet7"),
    }


def test_neighbours_in_detail_as_text():
    text = """Interface Ethernet1 detected 2 LLDP neighbors:

  Neighbor b8ce.f600.0001/"vmnic2", age 12 seconds
  - Chassis ID type: MAC address (4)
    Chassis ID     : b8ce.f600.0001
  - Port ID type: Interface name (5)
    Port ID     : "vmnic2"
  - System Name: "esx-01"
  - IEEE802.3 Link Aggregation
    Port ID     : 0
  Neighbor b8ce.f600.0002/b8ce.f600.0002, age 1 seconds
    Chassis ID     : b8ce.f600.0002
Interface Ethernet2 detected 0 LLDP neighbors:
"""
    neighbours = parsed(text).neighbours
    assert [(one.system, one.port, one.chassis) for one in neighbours["Ethernet1"]] == [
        ("esx-01", "vmnic2", "b8ce.f600.0001"),
        (None, None, "b8ce.f600.0002"),
    ]
    assert "Ethernet2" not in neighbours


@pytest.mark.parametrize(
    "command, reported",
    [
        ("show interfaces | json", {"interfaces": {"Ethernet1": None, "Ethernet2": {"mtu": "N/A", "bandwidth": "-"}}}),
        ("show interfaces | json", {"interfaces": ["Ethernet1"]}),
        ("show lldp neighbors detail | json", {"lldpNeighbors": {"Ethernet1": "none"}}),
        ("show lldp neighbors detail | json", {"lldpNeighbors": {"Ethernet1": {"lldpNeighborInfo": [None, 3]}}}),
        ("show lldp neighbors | json", {"lldpNeighbors": [None, {"port": None}]}),
    ],
)
def test_json_of_another_shape_is_read_as_far_as_it_reports_something(command, reported):
    switch = parsed(json.dumps(reported), command)
    assert {one.mtu for one in switch.oper.values()} <= {None}
