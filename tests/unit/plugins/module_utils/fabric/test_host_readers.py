# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What tools of hosts print, as they printed it somewhere, and as other releases may."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts import (
    endpoint,
    esxi,
    linux_text,
    mlnx_qos,
    tlv_text,
    words,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.host import module_state, network

SAMPLES = Path(__file__).parent / "samples"


def sample(name):
    return (SAMPLES / name).read_text()


def test_settings_that_the_system_owns_are_read_from_mlnx_qos():
    reported = mlnx_qos.parse(sample("linux_host/mlnx_qos_os_controlled_trust_dscp_pfc3.txt"))
    assert reported["dscp_map"] == {dscp: dscp >> 3 for dscp in range(64)}
    assert {key: reported[key] for key in ("dcbx_owner", "trust", "cable_length_m", "pfc")} == {
        "dcbx_owner": "os",
        "trust": "dscp",
        "cable_length_m": 7,
        "pfc": [3],
    }
    assert reported["classes"][1] == {"tc": 1, "tsa": "vendor", "share": None, "priorities": [0]}
    assert "buffers" not in reported


def test_settings_that_the_firmware_owns_are_read_from_mlnx_qos_with_buffers_and_shares():
    reported = mlnx_qos.parse(sample("linux_host/mlnx_qos_dcbx_fw_controlled_cx5.txt"))
    assert reported["dcbx_owner"] == "firmware"
    assert reported["buffers"] == [130944, 130944, 0, 0, 0, 0, 0, 0]
    assert reported["max_buffer"] == 262016
    assert reported["pfc_buffers"] == {**dict.fromkeys(range(8), 0), 3: 1}
    assert reported["classes"][0]["priorities"] == [0, 1, 2, 4, 5, 7]
    assert [reported["classes"][tc]["share"] for tc in (0, 3, 6)] == [50, 50, None]


@pytest.mark.parametrize(
    "text, found",
    [
        pytest.param(
            "Priority trust state: pcp\r\nPFC configuration:\r\n\tpriority 0 1 2 3\r\n\tenabled 0 0 0 0\r\n",
            {"trust": "pcp", "pfc": []},
            id="trust in VLAN tags has no map",
        ),
        pytest.param(
            "PFC configuration:\n priority 0 1 2 3 4 5 6 7\n enabled 0 0 0 1 1 0 0 0\n", {"pfc": [3, 4]}, id="two"
        ),
        pytest.param(
            "Warning: lldpad is running, it may overwrite your settings\nPriority trust state: dscp",
            {"lldpad": True, "trust": "dscp"},
            id="the warning of lldpad",
        ),
        pytest.param(
            "tc: 5 ratelimit: 10 Gbps, tsa: strict\n\t priority:  5",
            {"classes": {5: {"tc": 5, "tsa": "strict", "share": None, "priorities": [5]}}},
            id="limited",
        ),
        pytest.param("Interface doesn't exist", {}, id="a complaint"),
    ],
)
def test_mlnx_qos_of_other_releases_is_read(text, found):
    assert mlnx_qos.parse(text) == found


def test_what_a_peer_says_of_dcbx_is_read_from_lldptool():
    reported = tlv_text.parse(sample("linux_host/lldptool_tni_ieee_fragment.txt"))
    assert (reported["willing"], reported["pfc"]) == (True, [1, 2, 5, 7])
    assert reported["apps"] == [{"priority": 2, "selector": 2, "protocol": 3260}]
    assert reported["dscp_map"] == {}


def test_settings_are_read_from_niccli():
    reported = tlv_text.parse(sample("linux_host/niccli_get_qos_bnxt_thor2.txt"))
    assert (reported["pfc"], reported["dscp_map"]) == ([3], {26: 3, 48: 7})
    assert reported["classes"] == {**dict.fromkeys(range(8), 0), 3: 1, 7: 2}
    assert reported["schedule"] == {0: "ets", 1: "ets", 2: "strict"}


@pytest.mark.parametrize(
    "text, pfc",
    [("IEEE 8021QAZ PFC TLV\n\tPFC enabled: none", []), ("IEEE 8021QAZ PFC TLV\n\tPFC enabled: 3 4", [3, 4])],
    ids=["none", "two"],
)
def test_flow_control_of_a_peer_is_read(text, pfc):
    assert tlv_text.parse(text)["pfc"] == pfc


def test_an_app_in_the_newer_form_of_lldptool_is_read():
    reported = tlv_text.parse("IEEE 8021QAZ APP TLV\n\tApp# 0 Prio 3 Sel 5 P-ID 26")
    assert reported["dscp_map"] == {26: 3}


def test_two_neighbours_at_one_port_are_reported_apart():
    one = "Chassis ID TLV\n\tMAC: 00:00:00:00:00:0{0}\nPort ID TLV\n\tIfname: Ethernet1/{0}\nEnd of LLDPDU TLV\n"
    reported = tlv_text.parse(one.format(1) + one.format(2))
    assert [neighbour.port for neighbour in reported["neighbours"]] == ["Ethernet1/1", "Ethernet1/2"]


@pytest.mark.parametrize(
    "reported",
    [
        {
            "lldp": {
                "interface": [
                    {
                        "ens1": {
                            "chassis": {"leaf-01": {"id": {"type": "mac", "value": "aa:bb"}}},
                            "port": {"id": {"type": "ifname", "value": "Ethernet1"}},
                        }
                    }
                ]
            }
        },
        {
            "lldp": {
                "interface": {
                    "ens1": {"chassis": {"leaf-01": {"id": {"value": "aa:bb"}}}, "port": {"id": {"value": "Ethernet1"}}}
                }
            }
        },
        {
            "lldp": {
                "interface": [
                    {
                        "ens1": {
                            "chassis": {"id": {"value": "aa:bb"}, "name": "leaf-01"},
                            "port": {"id": {"value": "Ethernet1"}},
                        }
                    }
                ]
            }
        },
        {
            "lldp": [
                {
                    "interface": [
                        {
                            "name": "ens1",
                            "chassis": [{"id": [{"type": "mac", "value": "aa:bb"}], "name": [{"value": "leaf-01"}]}],
                            "port": [{"id": [{"type": "ifname", "value": "Ethernet1"}], "descr": []}],
                        }
                    ]
                }
            ]
        },
    ],
    ids=["a list", "one port alone", "name as a key", "lists everywhere"],
)
def test_neighbours_are_read_from_lldpcli_in_every_shape(reported):
    found = tlv_text.neighbours_of(reported)
    seen = {port: [(one.system, one.port, one.chassis) for one in ones] for port, ones in found.items()}
    assert seen == {"ens1": [("leaf-01", "Ethernet1", "aa:bb")]}


@pytest.mark.parametrize(
    "reported",
    [
        *([], 3, "text", {"lldp": [{}]}, {"lldp": []}, {"lldp": "none"}, {"lldp": {"interface": "ens1"}}),
        *({"lldp": {"interface": [None, {"ens1": [3]}]}}, {"lldp": [{"interface": None}]}),
    ],
    ids=str,
)
def test_another_answer_of_lldpcli_has_no_neighbours(reported):
    assert tlv_text.neighbours_of(reported) == {}


def test_a_value_of_lldpcli_that_is_no_text_is_none():
    entry = {"chassis": {"leaf-01": {"id": {"value": 5}}}, "port": {"id": 7, "descr": {"value": ["uplink"]}}}
    (found,) = tlv_text.neighbours_of({"lldp": {"interface": [{"ens1": entry}]}})["ens1"]
    assert (found.system, found.port, found.chassis, found.description) == ("leaf-01", None, None, None)


@pytest.mark.parametrize(
    "text, pause",
    [
        pytest.param("Pause parameters for eth0:\nAutonegotiate:\toff\nRX:\t\toff\nTX:\t\toff\n", False, id="off"),
        pytest.param(
            "Pause parameters for eth0:\nAutonegotiate:\toff\nRX:\t\ton\nTX:\t\toff\n", True, id="one direction"
        ),
        pytest.param(
            "Autonegotiate:\ton\nRX:\t\ton\nTX:\t\ton\nRX negotiated: off\nTX negotiated: off\n", False, id="negotiated"
        ),
        pytest.param(
            '[ {\n "ifname": "eth0",\n "autonegotiate": false,\n "rx": true,\n "tx": true\n} ]', True, id="JSON"
        ),
        pytest.param("netlink error: Operation not supported", None, id="not there"),
    ],
)
def test_link_level_pause_is_read_from_ethtool(text, pause):
    assert linux_text.pause(text) is pause


@pytest.mark.parametrize(
    "text, number",
    [
        ("106", 106),
        ("0x6a", 106),
        ("Global tclass=106", 106),
        ("tclass=106", 106),
        (["Global tclass=104", "src_ip=1.2.3.4,tclass=8"], 104),
        (["tclass=8,src_ip=1.2.3.4/32", "src_ip=1.2.3.5,tclass=8"], None),
        ("Failed to create configuration for mlx5_0\n", None),
        ("mount: /sys/kernel/config: already mounted\n106\n", 106),
        ("-1", None),
        ("", None),
        (None, None),
    ],
)
def test_a_traffic_class_is_read_in_every_form(text, number):
    assert linux_text.traffic_class(text) == number


@pytest.mark.parametrize(
    "number, found",
    [
        (1, {"mode": "ieee", "enabled": True, "pfc": [3]}),
        (2, {"mode": "cee", "enabled": False, "pfc": None}),
    ],
    ids=["good", "bad"],
)
def test_dcb_of_esxi_is_read(number, found):
    assert esxi.dcb(sample("esxi/dcb_status_get_fragments.txt").split("# ")[number]) == found


@pytest.mark.parametrize(
    "answer, found",
    [
        pytest.param(
            {"Mode": "IEEE Mode", "PFCEnabled": True, "PFCConfiguration": "0 0 0 1 0 0 0 0"},
            {"mode": "ieee", "enabled": True, "pfc": [3]},
            id="fields",
        ),
        pytest.param(
            {"Mode": "Unknown", "PFCEnabled": False, "PFCConfiguration": ""},
            {"mode": None, "enabled": False, "pfc": None},
            id="a driver without DCB",
        ),
        pytest.param(
            "   Nic Name: vmnic4\n   Mode: 3 - IEEE Mode\n   Enabled: true\n   Capabilities:\n"
            "         Priority Flow Control: true\n   PFC Enabled: true\n"
            "   PFC Configuration: 0 0 1 1 0 0 0 0\n",
            {"mode": "ieee", "enabled": True, "pfc": [2, 3]},
            id="text with capabilities",
        ),
        pytest.param("", None, id="nothing"),
    ],
)
def test_dcb_of_esxi_is_read_in_other_forms(answer, found):
    assert esxi.dcb(answer) == found


def test_pauses_of_esxi_are_read_from_a_table_and_from_fields():
    table = (
        "NIC     Pause Params Supported  Pause RX  Pause TX  Auto Negotiation\n"
        "------  ----------------------  --------  --------  ----------------\n"
        "vmnic0                    true     false     false              true\n"
        "vmnic10                   true      true     false              true\n"
    )
    rows = [
        {"NIC": "vmnic0", "PauseRX": False, "PauseTX": False},
        {"NIC": "vmnic10", "PauseRX": True, "PauseTX": False},
    ]
    assert esxi.pauses(table) == esxi.pauses(rows) == {"vmnic0": False, "vmnic10": True}


@pytest.mark.parametrize(
    "options, reported",
    [
        ({"dscp_force": "26"}, (26, True)),
        ({}, (None, False)),
        ({"dscp_force": "-1"}, (None, False)),
        (None, (None, None)),
    ],
    ids=["set", "not set", "switched off", "module not loaded"],
)
def test_esxi_stamps_what_its_driver_forces(options, reported):
    driver = module_state.Module("nmlx5_rdma", enabled=True, loaded=options is not None, options=options or {})
    port = network.Port("vmnic2", "0000:3b:00.0", "nmlx5_core", mtu=9000, link_mbps=100000)
    found = esxi.endpoint("esx-01", port, {"rdma_module": driver})
    assert (found.dscp, found.stamps) == reported


@pytest.mark.parametrize(
    "word, number",
    [
        ("CS3", 24),
        ("af31", 26),
        ("EF", 46),
        ("011010", 26),
        ("26", 26),
        ("63", 63),
        ("64", None),
        ("0110", None),
        ("x", None),
    ],
)
def test_a_dscp_is_known_by_number_name_and_bits(word, number):
    assert words.dscp_of(word) == number


@pytest.mark.parametrize(
    "status, pfc",
    [
        (None, [4]),
        ({"mode": "ieee", "enabled": True, "pfc": [3]}, [3]),
        ({"mode": "ieee", "enabled": None, "pfc": None}, [4]),
        ({"mode": "ieee", "enabled": False, "pfc": [3]}, []),
    ],
    ids=["not reported", "what runs", "no priorities reported", "off"],
)
def test_what_dcb_of_esxi_says_runs_counts_more_than_the_options_of_the_driver(status, pfc):
    found = endpoint.Endpoint("esx-01", "vmnic2", pfc=[4])
    esxi._running(found, status)
    assert found.pfc == pfc
