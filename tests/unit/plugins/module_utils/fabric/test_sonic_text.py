from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.sonic import platform, text
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.sonic import tables as sonic_tables
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.sonic.platform import Sonic
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking

SAMPLES = Path(__file__).with_name("samples") / "sonic"
PLATFORM = Sonic()


def parsed(name, noise=False):
    capture = (SAMPLES / f"{name}.txt").read_text()
    if noise:
        capture = (
            f"admin@leaf-03:~$ {PLATFORM.command_of(capture)}\r\n" + capture.replace("\n", "\r\n") + "admin@leaf-03:~$ "
        )
    return PLATFORM.parse({PLATFORM.command_of(capture): capture})


NOISY = pytest.mark.parametrize("noise", [False, True], ids=["alone", "with prompts and CRLF"])


@NOISY
def test_pauses_by_priority(noise):
    oper = parsed("show_pfc_counters", noise).oper
    assert sorted(oper) == ["Ethernet0", "Ethernet4", "Ethernet8"]
    assert oper["Ethernet0"].counters["pauses_received"][0] == 1200
    assert oper["Ethernet8"].counters["pauses_sent"] == dict(enumerate([1810, 811, 812, 813, 814, 815, 816, 817]))


@NOISY
def test_priorities(noise):
    ports = parsed("show_pfc_priority", noise).ports
    assert {name: (port.pfc_mode, port.pfc) for name, port in ports.items()} == {
        "Ethernet0": ("on", [3, 4]),
        "Ethernet4": ("on", [3, 4]),
    }


@NOISY
def test_the_watchdog(noise):
    switch = parsed("show_pfcwd_config", noise)
    port = switch.ports["Ethernet8"]
    assert (port.watchdog_action, port.watchdog_detection_ms, port.watchdog_recovery_ms) == ("drop", 600, 600)
    assert all(oper.watchdog for oper in switch.oper.values())


@NOISY
def test_history_goes_on_after_blank_lines(noise):
    oper = parsed("show_pfc_counters_history", noise).oper
    assert {name: one.counters["pauses_received"][3] for name, one in oper.items()} == {
        "Ethernet0": 23,
        "Ethernet4": 43,
        "Ethernet8": 83,
    }


def test_an_asymmetric_port_is_named_and_a_complaint_is_not_an_output():
    assert PLATFORM.command_of((SAMPLES / "show_pfc_asymmetric_Ethernet0.txt").read_text()) == "show pfc asymmetric"
    assert PLATFORM.command_of((SAMPLES / "show_pfc_cannot_find_intf.txt").read_text()) is None


@NOISY
def test_tables_of_a_stock_switch(noise):
    port = parsed("qos_json_arista7260_t0_one_port", noise).ports["Ethernet40"]
    assert (port.trust, port.pfc, port.dscp_map[26], port.dscp_map[48]) == ("dscp", [3, 4], 1, 6)
    assert (port.groups[3], port.groups[1], port.pfc_queues[3]) == (3, 0, 3)
    assert port.ecn[3] == Marking(2000000, 10000000, 5)
    assert (port.strict, port.shares[3], port.shares[0]) == ([], 15, 14)


def test_tables_of_buffers_alone():
    port = parsed("buffers_json_mellanox2700_one_port").ports["Ethernet8"]
    assert (port.cable_length_m, port.trust, port.pfc, port.lossless, port.mtu) == (5, None, None, None, None)


def test_ports_without_a_map_are_reported_too():
    switch = parsed("config_db_qos_default_AZURE_one_port")
    assert len(switch.ports) == 32
    assert (switch.ports["Ethernet0"].trust, switch.ports["Ethernet96"].cable_length_m) == ("none", 300)


OTHERS = """\
@ show version

SONiC Software Version: SONiC.202311.1
SONiC OS Version: 12
@ show interfaces status
  Interface    Lanes    Speed    MTU    FEC    Alias    Vlan    Oper    Admin             Type    Asym PFC
-----------  -------  -------  -----  -----  -------  ------  ------  -------  ---------------  ----------
  Ethernet0  0,1,2,3     100G   9100     rs    etp1   routed      up       up   QSFP28 or later         off
  Ethernet4  4,5,6,7     100G   9216     rs    etp2   routed    down       up              N/A         off
@ show pfcwd stats -e
      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP    TX LAST OK/DROP    RX LAST OK/DROP
-----------  -----------  -------------------------  ------------  ------------  -----------------  -----------------
Ethernet0:3  operational                        3/3           0/0           0/0                0/0                0/0
@ sonic-db-dump -n COUNTERS_DB -k COUNTERS_PORT_NAME_MAP -y
{"COUNTERS_PORT_NAME_MAP": {"type": "hash", "value": {"Ethernet0": "oid:0x1", "Ethernet4": "oid:0x2"}}}
@ sonic-db-dump -n ASIC_DB -k "ASIC_STATE:SAI_OBJECT_TYPE_PORT:*" -y
{"ASIC_STATE:SAI_OBJECT_TYPE_PORT:oid:0x1": {"type": "hash", "value": {
 "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL": "8", "SAI_PORT_ATTR_QOS_DSCP_TO_TC_MAP": "oid:0x14"}}}
@ show lldp table
Capability codes: (R) Router, (B) Bridge, (O) Other
LocalPort    RemoteDevice    RemotePortID    Capability    RemotePortDescr
-----------  --------------  --------------  ------------  -----------------
Ethernet0    esx-01          vmnic2          B             port 2 on vds-roce
--------------------------------------------------
Total entries displayed:  1
"""


def test_shows_that_were_joined_are_taken_apart():
    switch = PLATFORM.parse({text.joined(["show version"]): OTHERS})
    assert switch.version == "202311.1"
    one, other = switch.oper["Ethernet0"], switch.oper["Ethernet4"]
    assert (one.up, one.mtu, one.pfc, one.trust, one.watchdog) == (True, 9100, [3], "dscp", True)
    assert (other.up, other.mtu, other.watchdog) == (False, 9216, False)
    assert one.counters == {"watchdog_events": 3}
    (peer,) = switch.neighbours["Ethernet0"]
    assert (peer.system, peer.port, peer.description) == ("esx-01", "vmnic2", "port 2 on vds-roce")


def test_what_the_chip_was_reported_counts_for_more_than_the_configuration():
    tables = json.loads((SAMPLES / "qos_json_arista7260_t0_one_port.txt").read_text())
    shown = OTHERS.replace("Ethernet0", "Ethernet40").replace('"8"', '"0"')
    switch = PLATFORM.parse({text.CONFIG: json.dumps(tables), "all": shown})
    assert switch.ports["Ethernet40"].pfc == [3, 4]
    assert switch.oper["Ethernet40"].pfc == []


def test_what_follows_the_table_of_neighbours_is_none():
    table = (
        "LocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr\n"
        "-----------  --------------  -----------------  ------------  -----------------\n"
        "Ethernet0    esx-01          b8:ce:f6:00:00:01  BR            vmnic2\n"
        "Ethernet4                    b8:ce:f6:00:00:02  R\n"
        "--------------------------------------------------\n"
        "Total entries displayed:  2\n"
    )
    neighbours = PLATFORM.parse({"show lldp table": table}).neighbours
    assert {name: [one.system for one in peers] for name, peers in neighbours.items()} == {
        "Ethernet0": ["esx-01"],
        "Ethernet4": [None],
    }


def test_a_link_that_is_not_reported_is_not_down():
    table = "  Interface    Oper\n-----------  ------\n  Ethernet0     N/A\n  Ethernet4    down\n"
    oper = PLATFORM.parse({"show interfaces status": table}).oper
    assert {name: one.up for name, one in oper.items()} == {"Ethernet0": None, "Ethernet4": False}


@pytest.mark.parametrize(
    "version, branch",
    [
        ("20230531.09", 202305),
        ("202311.1", 202311),
        ("azure_leaf_202305.10-dirty-20240326.03", 202305),
        ("master.5-dirty-20240326.03", 999999),
        ("HEAD.32-21ea29a", 999999),
        (None, 999999),
    ],
)
def test_the_day_of_a_build_is_no_branch(version, branch):
    assert platform._branch(version) == branch


@pytest.mark.parametrize(
    "tables",
    [
        {"QUEUE": {"Ethernet0|3": "x"}, "WRED_PROFILE": {"W": 3}},
        {"QUEUE": {"Ethernet0|3": {"scheduler": "S", "wred_profile": "W"}}, "WRED_PROFILE": {"W": {"ecn": None}}},
        {"PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "A"}}, "DSCP_TO_TC_MAP": {"A": "all"}},
        {"BUFFER_PG": {"Ethernet0|3-4": "lossless"}, "DEVICE_METADATA": "none"},
    ],
)
def test_tables_of_another_shape_are_read_as_far_as_they_report_something(tables):
    port = PLATFORM.parse({text.CONFIG: json.dumps(dict(tables, PORT={"Ethernet0": {"mtu": "9100"}}))}).ports[
        "Ethernet0"
    ]
    assert (port.mtu, port.ecn or {}, port.lossless or []) == (9100, {}, [])


BUFFERS = {
    "BUFFER_PG": {
        "Ethernet0|0": {"profile": "ingress_lossy_profile"},
        "Ethernet0|3-4": {"profile": "[BUFFER_PROFILE|pg_lossless_100000_5m_profile]"},
        "Ethernet0,Ethernet4|5": {"profile": "own"},
        "Ethernet4|6": {"profile": "NULL"},
        "Ethernet8|2": {"profile": "none"},
        "Ethernet8": {"profile": "own"},
    },
    "BUFFER_PROFILE": {
        "ingress_lossy_profile": {"size": "0"},
        "own": {"xoff": "1"},
        "none": {"xoff": "0", "headroom_type": "static"},
        "grows": {"headroom_type": "dynamic"},
    },
}


@pytest.mark.parametrize(
    "reference, has",
    [
        ("own", True),
        ("[BUFFER_PROFILE|own]", True),
        ("none", False),
        ("grows", True),
        ("ingress_lossy_profile", False),
        ("pg_lossless_100000_5m_profile", True),
        ("NULL", True),
        ("other", False),
        ("", False),
        (None, False),
    ],
)
def test_profiles_with_headroom(reference, has):
    assert sonic_tables.is_lossless(BUFFERS, reference) is has


@pytest.mark.parametrize("name, groups", [("Ethernet0", [3, 4, 5]), ("Ethernet4", [5, 6]), ("Ethernet8", [])])
def test_priority_groups_with_headroom(name, groups):
    assert sonic_tables.lossless_groups(BUFFERS, name) == groups
