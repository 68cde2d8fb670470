"""The output of NVIDIA Onyx is read: every capture, both shapes of JSON, labels of several releases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.onyx.platform import Onyx
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking, Neighbour

SAMPLES = Path(__file__).parent / "samples" / "onyx"
ABSOLUTE = Marking(500_000, 1_550_000)
FACTORY_MAP = {dscp: dscp >> 3 for dscp in range(64)}


def sample(name):
    return (SAMPLES / name).read_text(encoding="utf-8")


def parsed(*names):
    """Return the Switch of samples, each read by the form of its text."""
    onyx = Onyx()
    texts = [sample(name) for name in names]
    return onyx.parse({onyx.command_of(text): text for text in texts})


@pytest.mark.parametrize(
    "name, command",
    [
        pytest.param(name, command, id=name)
        for name, command in {
            "json_api_counters_roce_shape.txt": "show interfaces ethernet counters roce",
            "json_api_show_dcb_priority-flow-control.txt": "show dcb priority-flow-control",
            "running-config_fragments_manual_roce.txt": "show running-config",
            "show_dcb_priority-flow-control_disabled_json.txt": "show dcb priority-flow-control",
            "show_dcb_priority-flow-control_enabled_json.txt": "show dcb priority-flow-control",
            "show_dcb_priority-flow-control_prio3.txt": "show dcb priority-flow-control",
            "show_interfaces_ethernet_1_1_congestion-control_json.txt": "show interfaces ethernet congestion-control",
            "show_lldp_interfaces_json.txt": "show lldp interfaces",
            "show_lldp_local_json.txt": "show lldp local",
            "show_qos_interface_ethernet_1_1_json.txt": "show qos interface",
            "show_roce_lossless_3.10.4006_sn2700.txt": "show roce",
            "show_roce_off.txt": "show roce",
            "show_running-config_3.6.txt": "show running-config",
            "show_traffic_pool_roce_json.txt": "show traffic pool",
            "show_version.txt": "show version",
            "show_version_json.txt": "show version",
        }.items()
    ],
)
def test_the_command_of_each_capture_is_recognised(name, command):
    assert Onyx().command_of(sample(name)) == command


def test_no_capture_is_left_out():
    assert len(list(SAMPLES.iterdir())) == 16


def test_the_preset_is_read_for_all_ports():
    port = parsed("show_roce_lossless_3.10.4006_sn2700.txt").ports["all"]
    assert (port.trust, port.pfc_mode, port.pfc, port.lossless, port.pfc_sends) == ("dscp", "on", [3], [3], True)
    assert port.ecn == {3: Marking(150_000, 1_500_000)}
    assert (port.strict, port.shares) == ([6], {3: 50})


@pytest.mark.parametrize("label", ["Min     : ", "Min (KB): ", "Min threshold [KB] : "])
def test_labels_of_thresholds_may_differ(label):
    text = sample("show_roce_lossless_3.10.4006_sn2700.txt").replace("Min (KB): ", label)
    assert Onyx().parse({"show roce": text}).ports["all"].ecn[3].min_bytes == 150_000


@pytest.mark.parametrize(
    "mode, lossless, sends",
    [("lossless", [3], True), ("semi-lossless", [3], False), ("lossy", [], None)],
    ids=["lossless", "semi", "lossy"],
)
def test_modes_of_the_preset_differ_in_pauses_alone(mode, lossless, sends):
    text = sample("show_roce_lossless_3.10.4006_sn2700.txt").replace(": lossless\nLLDP", f": {mode}\nLLDP")
    if mode == "lossy":
        text = text.replace("PFC              : enabled", "PFC              : disabled")
    port = Onyx().parse({"show roce": text}).ports["all"]
    assert (port.lossless, port.pfc_sends, bool(port.ecn)) == (lossless, sends, True)


def test_without_the_preset_nothing_is_claimed():
    switch = parsed("show_roce_off.txt")
    assert (switch.ports, switch.raw.mode, switch.exceptions) == ({}, "off", [])


def test_what_contradicts_the_preset_is_reported_with_the_way_out():
    text = sample("show_roce_lossless_3.10.4006_sn2700.txt").replace("N/A\n", "Eth1/4: qos trust L2\n")
    (reported,) = Onyx().parse({"show roce": text}).exceptions
    assert reported.startswith("Eth1/4: qos trust L2: ")
    assert "no roce" in reported


@pytest.mark.parametrize(
    "name, mode, running",
    [
        # The output does not show the effective PFC priorities.
        ("show_dcb_priority-flow-control_enabled_json.txt", "on", None),
        ("show_dcb_priority-flow-control_disabled_json.txt", "auto", []),
    ],
    ids=["enabled", "disabled"],
)
def test_dictionaries_before_3_6_6000_name_breakouts_and_channels_too(name, mode, running):
    switch = parsed(name)
    assert list(switch.ports) == ["Eth1/1", "Eth1/1/2", "Mpo2", "Po1"]
    assert {port.pfc_mode for port in switch.ports.values()} == {mode}
    assert [one.pfc for one in switch.oper.values()] == [running] * 4


def test_the_json_api_wraps_lists_of_the_same():
    switch = parsed("json_api_show_dcb_priority-flow-control.txt")
    assert list(switch.ports) == ["Eth1/10", "Eth1/11"]
    assert switch.ports["Eth1/10"].pfc == [3, 4]
    assert switch.oper["Eth1/10"].pfc == []


def test_lists_since_3_6_6000_have_the_ports_in_their_third_element():
    reported = [
        {"PFC": "enabled"},
        {"Priority Enabled List": "3"},
        {"Eth1/1": [{"PFC admin": "On", "PFC oper": "Enabled"}]},
    ]
    text = f"leaf [standalone: master] # show dcb priority-flow-control | json-print\n{json.dumps(reported)}\n"
    switch = Onyx().parse({"show dcb priority-flow-control | json-print": text})
    assert (switch.ports["Eth1/1"].pfc_mode, switch.oper["Eth1/1"].pfc) == ("on", [3])


def test_the_table_as_text_says_the_same():
    switch = parsed("show_dcb_priority-flow-control_prio3.txt")
    assert switch.oper["Eth1/2"].pfc == [3]
    assert switch.ports["Eth1/2"].pfc_mode == "auto"


def test_marking_is_reported_from_dropping():
    running = parsed("show_interfaces_ethernet_1_1_congestion-control_json.txt").oper["Eth1/1"]
    assert running.ecn == {2: Marking(0, 0, mark=False), 3: ABSOLUTE}
    assert running.counters == {"ecn_marked": 0}


def test_the_map_of_a_port_is_read_whole():
    switch = parsed("show_qos_interface_ethernet_1_1_json.txt")
    assert switch.ports["Eth1/1"].dscp_map == FACTORY_MAP
    assert switch.ports["Eth1/1"].queues == {one: one for one in range(8)}
    assert switch.oper["Eth1/1"].trust == "both"


def test_ranges_and_indentation_of_a_running_configuration():
    switch = parsed("running-config_fragments_manual_roce.txt")
    assert len(switch.ports) == 33
    assert {switch.ports[f"Eth1/{index}"].trust for index in range(1, 33)} == {"dscp"}
    assert switch.ports["Po100"].pfc_mode == "on"
    # PFC is on for the switch, but for no priority.
    assert switch.ports["Po100"].pfc == []


def test_an_old_running_configuration_with_channels():
    switch = parsed("show_running-config_3.6.txt")
    assert switch.hostname == "ufm-switch16"
    assert [name for name, port in switch.ports.items() if port.pfc_mode == "on"] == ["Eth1/7", "Eth1/8", "Po1"]
    assert switch.ports["Eth1/7"].trust == "pcp"


def test_a_backup_holds_qos_and_no_secrets():
    kept = parsed("show_running-config_3.6.txt").config.splitlines()
    assert "interface ethernet 1/7-1/8 dcb priority-flow-control mode on force" in kept
    assert not [line for line in kept if "password" in line or "key" in line or "license" in line]


@pytest.mark.parametrize("name", ["show_version.txt", "show_version_json.txt"])
def test_the_release_is_known_from_either_form(name):
    switch = parsed(name)
    assert (switch.version, switch.model) == ("3.6.5000", "x86onie")


def test_the_release_and_the_name_are_known_from_lldp_too():
    switch = parsed("show_lldp_local_json.txt")
    assert (switch.hostname, switch.version, switch.model) == ("ufm-switch16", "3.6.5000", "MSN2700")


def test_counters_that_are_no_numbers_are_left_out():
    assert parsed("json_api_counters_roce_shape.txt").oper == {}
    reported = [{"Eth1/3": [{"Rx": [{"RoCE PG packets": "17"}]}, {"Tx": [{"RoCE TC packets": "4"}]}]}]
    switch = Onyx().parse({"show interfaces ethernet 1/3 counters roce": json.dumps(reported)})
    assert switch.oper["Eth1/3"].counters == {"roce_packets_received": 17, "roce_packets_sent": 4}


def test_peers_are_read_from_json_and_text():
    peer = {
        "Remote chassis id": "7c:fe:90:e5:ca:00 ; chassis id subtype: Mac Address (4)",
        "Remote port-id": "vmnic2",
        "Remote port description": "N\\A",
        "Remote system name": "esx-01",
    }
    expected = {"Eth1/1": [Neighbour("esx-01", "vmnic2", "7c:fe:90:e5:ca:00", None)]}
    shown = json.dumps([{"Eth1/1 (Po100)": [peer]}])
    assert Onyx().parse({"show lldp interfaces ethernet remote | json-print": shown}).neighbours == expected
    text = "Eth1/1 (Po100)\n" + "".join(f"  {key} : {value}\n" for key, value in peer.items())
    assert Onyx().parse({"show lldp interfaces ethernet remote": text}).neighbours == expected


def test_what_a_peer_does_not_advertise_is_unknown():
    peer = dict.fromkeys(("Remote port-id", "Remote port description", "Remote system name"), "Not Advertised")
    reported = {"data": [{"Eth1/3 (Po100)": [{"Remote chassis id": "7c:fe:90:e5:ca:00", **peer}]}]}
    switch = Onyx().parse({"show lldp interfaces ethernet remote | json-print": json.dumps(reported)})
    assert switch.neighbours == {"Eth1/3": [Neighbour(None, None, "7c:fe:90:e5:ca:00", None)]}


def test_two_peers_at_one_port_stay_two():
    peers = [
        {"Remote chassis id": mac, "Remote system name": mac[-1]} for mac in ("00:00:00:00:00:0a", "00:00:00:00:00:0b")
    ]
    found = Onyx().parse({"show lldp interfaces ethernet remote": json.dumps({"Eth1/1": peers})}).neighbours["Eth1/1"]
    assert [one.system for one in found] == ["a", "b"]


def test_two_peers_whose_rows_come_in_turn_keep_what_belongs_to_each():
    rows = [
        {"Remote chassis id": "00:00:00:00:00:0a"},
        {"Remote system name": "esx-01", "Remote port-id": "vmnic2"},
        {"Remote chassis id": "00:00:00:00:00:0b"},
        {"Remote system name": "esx-02", "Remote port-id": "vmnic3"},
    ]
    switch = Onyx().parse({"show lldp interfaces ethernet remote | json-print": json.dumps([{"Eth1/1": rows}])})
    assert switch.neighbours["Eth1/1"] == [
        Neighbour("esx-01", "vmnic2", "00:00:00:00:00:0a", None),
        Neighbour("esx-02", "vmnic3", "00:00:00:00:00:0b", None),
    ]


def test_interfaces_report_speed_mtu_link_and_pauses():
    entry = {
        "header": "Eth1/10",
        "Actual speed": "100 Gbps",
        "MTU": "9216 bytes(Maximum packet size 9238 bytes)",
        "Operational state": "Up",
        "Flow-control": "receive on send off",
    }
    switch = Onyx().parse({"show interfaces ethernet | json-print": json.dumps([entry])})
    assert (switch.ports["Eth1/10"].speed, switch.ports["Eth1/10"].pause) == (100, True)
    assert (switch.oper["Eth1/10"].mtu, switch.oper["Eth1/10"].up) == (9216, True)


def test_a_lossless_pool_alone_reports_its_priorities():
    reported = parsed("show_traffic_pool_roce_json.txt", "json_api_show_dcb_priority-flow-control.txt")
    assert reported.ports["Eth1/11"].lossless == [3]


def test_lines_below_an_interface_belong_to_it_and_to_no_other():
    text = "interface ethernet 1/1\n   qos trust L3\n   exit\ninterface ethernet 1/2 mtu 9216 force\nqos trust L3\n"
    switch = Onyx().parse({"show running-config": text})
    assert {name: port.trust for name, port in switch.ports.items()} == {"Eth1/1": "dscp", "Eth1/2": "pcp"}


def test_interfaces_alone_report_nothing_of_flow_control():
    table = json.dumps([{"header": "Eth1/1", "MTU": "1500 bytes", "Operational state": "Up"}])
    port = Onyx().parse({"show interfaces ethernet | json-print": table}).ports["Eth1/1"]
    assert (port.mtu, port.pfc_mode, port.pfc, port.lossless) == (1500, None, None, None)
