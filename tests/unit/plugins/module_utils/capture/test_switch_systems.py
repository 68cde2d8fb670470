# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Numbers of autonomous systems in tables and in JSON. The tables are invented, in the layout of each platform."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.anonymise import Scrubber
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.switch_text import SwitchText

EOS = """BGP summary information for VRF default
Router identifier 198.51.100.1, local AS number 15169
  Description              Neighbor     V AS           MsgRcvd   MsgSent  InQ OutQ  Up/Down State   PfxRcd PfxAcc
  canary                   198.51.100.8 4 15169          12345     12346    0    0   10d02h Estab   120    120
                           198.51.100.9 4 3356              10     12346    0    0 00:10:01 Active"""
NXOS = """Neighbor        V    AS    MsgRcvd    MsgSent   TblVer  InQ OutQ Up/Down  State/PfxRcd
198.51.100.8    4 15169      12345      12346     1723    0    0    10w2d 120
2001:db8:1111:2222::9
                4  3356      12345      12346     1723    0    0    10w2d Idle"""
FRR = """Neighbor        V         AS   MsgRcvd   MsgSent   TblVer  InQ OutQ  Up/Down State/PfxRcd   PfxSnt Desc
canary(swp1)    4      15169     12345     12346        0    0    0 10w2d00h           12       13 N/A
swp2            4    3.15169     12345     12346        0    0    0 10w2d00h           12       13 N/A"""
JUNOS = """Peer                     AS      InPkt     OutPkt    OutQ   Flaps Last Up/Dwn State|#Active/Received/Accepted
198.51.100.8          15169      12345      12346       0       3     10w2d0h 120/120/120/0        0/0/0/0
  inet.0: 120/120/120/0
198.51.100.9           3356      12345      12346       0       3     10w2d0h Establ"""
OS10 = """Neighbor          AS              MsgRcvd         MsgSent         Up/Down         State/Pfx
198.51.100.8      15169           12345           12346           1d:02:03        120"""
ONYX = """local AS number           : 15169
Neighbor          V    AS           MsgRcvd   MsgSent   TblVer    InQ    OutQ   Up/Down       State/PfxRcd
198.51.100.8      4    15169        12345     12346     100       0      0      0:10:00:00    ESTABLISHED/120"""
ROUTES = """   Network            Next Hop      Metric LocPrf Weight Path
*> 192.0.2.0/24       198.51.100.8      0             0 15169 3356 64501 i
   192.0.2.0/24       198.51.100.9      0             0 3356 ?"""
JSON = """{"asn": "15169", "peers": {"198.51.100.8": {"peerAsn": 3356, "local-as": 15169, "alias": 15169}}}"""


def switch(text, keep_names=False):
    return SwitchText(Scrubber(Table(bytes(32)), keep_names), (), ()).output(text)


@pytest.mark.parametrize("text", [EOS, NXOS, FRR, JUNOS, OS10, ONYX, ROUTES])
def test_a_table_has_no_number_of_a_public_system(text):
    made = switch(text)
    for original in ("15169", "3356", "canary", "198.51.100"):
        assert original not in made
    for counter in ("12345", "12346", "64501"):
        assert made.count(counter) == text.count(counter)
    assert switch(text, keep_names=True).count("15169") == text.count("15169")


def test_a_table_ends_at_an_empty_line():
    assert switch(f"{NXOS}\n\nqueue 4 15169\n").endswith("\n\nqueue 4 15169\n")


def test_json_has_no_number_of_a_public_system():
    made = switch(JSON)
    assert "3356" not in made
    assert made.count("15169") == 1
    assert switch('{"asn": "65001", "as": 64512}').split() == ["{", '"asn":', '"65001",', '"as":', "64512", "}"]


@pytest.mark.parametrize(
    "line",
    [
        "ip as-path access-list external seq 10 permit ^15169_3356$",
        "ip as-path access-list external permit ^15169_",
        'set policy-options as-path external "15169 .* 3356"',
        "Peer: 198.51.100.8+179 AS 15169 Local: 198.51.100.9+34567 AS 3356",
        "BGP neighbor is 198.51.100.8, remote AS 15169, local AS 3356, external link",
        '"bgp_asn": 15169,',
        "peer-as [3356];",
        "peer-as [ 3356 ];",
        "neighbor 198.51.100.8 (remote-as 3356) is up",
        "neighbor 198.51.100.8 AS(3356), local AS number {15169}",
        "The autonomous system of router bgp 3356.",
        "remote-as=3356 local-as:15169",
    ],
)
def test_a_line_has_no_number_of_a_public_system(line):
    made = switch(line)
    assert "15169" not in made
    assert "3356" not in made


@pytest.mark.parametrize("line", ["as 4 queues", "AS-SET 3356.1.1", "mtu [9214]", "bgp (none)"])
def test_other_numbers_stay(line):
    assert switch(line) == line


def test_a_table_ends_with_its_output():
    text = SwitchText(Scrubber(Table(bytes(32)), False), (), ())
    assert "15169" not in text.output(JUNOS)
    assert text.output("   mtu 9214\n   speed 100000") == "   mtu 9214\n   speed 100000"


def test_a_line_with_the_number_behind_the_words_of_a_header_is_no_header():
    made = switch("Peer AS 15169\n   mtu 9214")
    assert "15169" not in made
    assert made.endswith("\n   mtu 9214")


def test_a_path_in_json_has_no_number_of_a_public_system():
    made = switch('{"asPath": "3356 1299 64501 i", "as_path": [3356, 1299]}')
    assert "3356" not in made
    assert "1299" not in made
    assert "64501" in made


@pytest.mark.parametrize("name", ["AS3356", "AS3356-IN", "as-3356-out", "asn_3356"])
def test_a_name_made_of_a_number_is_replaced(name):
    assert switch(f"route-map {name} permit 10") == "route-map word-001 permit 10"


def test_the_number_of_a_router_stays_a_number():
    first, second = (switch(f"{line} 15169").split()[-1] for line in ("router bgp", "neighbor 198.51.100.8 remote-as"))
    assert first == second
    assert int(first) >= 4200000000
