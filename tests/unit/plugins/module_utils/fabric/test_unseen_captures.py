"""Outputs of other releases, of other ports, typed by hand or cut off are read as far as they report something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts import (
    dcb_text,
    linux_text,
    mlnx_qos,
    tlv_text,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import known, platform_of
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking

SAMPLES = Path(__file__).parent / "samples"


def parsed(name, text, command=None):
    platform = platform_of(name, None)
    return platform.parse({command or platform.command_of(text) or "": text})


def test_rows_of_mlnx_qos_may_have_colons():
    reported = mlnx_qos.parse("PFC configuration:\n priority:  0 1 2 3\n enabled:   0 0 0 1\ntc: 3 tsa: ets, bw: 50%\n")
    assert reported["pfc"] == [3]


TABLE_OF_MLNX_QOS = "PFC configuration:\n priority 0 1 2 3\n enabled {}\n buffer 0 0 0 1\n{} priority: 1\n"


@pytest.mark.parametrize(
    "enabled, below, pfc",
    [
        ("0 0 0 1", "tc: 0 tsa: ets, bw: 50%\n", [3]),
        ("0 - 0 1", "tc: 0 tsa: ets, bw: 50%\n", None),
        ("0 0 1", "tc: 0 tsa: ets, bw: 50%\n", None),
        ("0 0 0 1", "", [3]),
    ],
    ids=["whole", "a cell that is no number", "a cell less", "the line of a class lost"],
)
def test_priorities_of_mlnx_qos_do_not_move_with_a_lost_cell(enabled, below, pfc):
    assert mlnx_qos.parse(TABLE_OF_MLNX_QOS.format(enabled, below)).get("pfc") == pfc


def test_a_recommendation_to_the_peer_is_not_what_holds():
    text = "IEEE 8021QAZ ETS {} TLV\n PRIO_MAP: 0:{}\n"
    reported = tlv_text.parse(text.format("Configuration", 1) + text.format("Recommendation", 5))
    assert reported["classes"] == {0: 1}


def test_priorities_of_the_older_dcbx_are_read():
    text = "CEE DCBX TLV\n\tPriority Flow Control TLV:\n\t  PFC enabled priorities: 2, 3\n"
    assert tlv_text.parse(text)["pfc"] == [2, 3]


def test_typed_names_of_os10_ports_are_those_of_the_switch():
    ports = parsed(
        "os10", "interface range Ethernet 1/1/1-1/1/2\n  mtu 9216\ninterface Ethernet 1/1/9\n  mtu 1600\n"
    ).ports
    assert {name: port.mtu for name, port in ports.items()} == {
        "ethernet1/1/1": 9216,
        "ethernet1/1/2": 9216,
        "ethernet1/1/9": 1600,
    }


def test_a_command_that_only_changes_the_form_is_the_same_command():
    text = "set class-of-service interfaces et-0/0/1 unit 0 classifiers dscp D\n"
    command = "show configuration class-of-service | display set | no-more"
    assert parsed("junos", text, command).ports["et-0/0/1"].trust == "dscp"


def test_without_a_configuration_the_map_of_onyx_is_not_known():
    port = parsed("onyx", "PFC: enabled\nPriority Enabled List: 4\n\nEth1/2   Auto   Enabled\n").ports["Eth1/2"]
    assert (port.pfc, port.dscp_map, port.queues, port.trust) == ([4], None, None, None)


def test_lines_of_onyx_may_stand_behind_prompts():
    text = "leaf [standalone: master] (config) # interface ethernet 1/1-1/2 qos trust L3\n"
    assert [port.trust for port in parsed("onyx", text).ports.values()] == ["dscp", "dscp"]


@pytest.mark.parametrize(
    "row, expected",
    [
        ("Et1   E A W   3,4   drop   0.2", ([3, 4], True)),
        ("Et1   E A -   3     -      -", ([3], False)),
        ("Et1   E - -   3     -      -", ([], False)),
        ("Et1   D - -   -     -      -", ([], False)),
    ],
    ids=["all", "no watchdog", "not active", "off"],
)
def test_dashes_of_eos_are_flags_that_are_not_set(row, expected):
    running = parsed("eos", row, "show priority-flow-control").oper["Ethernet1"]
    assert (running.pfc, running.watchdog) == expected


@pytest.mark.parametrize("flags, ecn", [("DD", {}), ("DE", None)], ids=["none marks", "one marks, from when on unsaid"])
def test_marking_without_thresholds_is_not_known(flags, ecn):
    text = "Po3:\n   Trust Mode: DSCP\n" + "".join(f"   {at}   -   - ( - )   RR   {flags[at]}\n" for at in (1, 0))
    running = parsed("eos", text, "show qos interfaces").oper["Port-Channel3"]
    assert (running.trust, running.ecn) == ("dscp", ecn)


def test_a_profile_of_eos_may_trust_and_count_in_cells():
    lines = "random-detect ecn minimum-threshold 100 segments maximum-threshold 200 segments max-mark-probability 20"
    text = f"qos profile R\n   qos trust dscp\n   uc-tx-queue 3\n      {lines}\n"
    text += "interface Ethernet2/5/1\n   service-profile R\n"
    port = parsed("eos", text).ports["Ethernet2/5/1"]
    assert (port.trust, port.ecn) == ("dscp", {3: Marking(20800, 41600, 20)})


@pytest.mark.parametrize(
    "row, name, pfc, counted",
    [
        ("Ethernet1/9/4     Auto On  (8)   1  2", "Ethernet1/9/4", [3], 1),
        ("Eth1/6            ON   On(8)     5  6", "Ethernet1/6", [3], 5),
        ("Ethernet1/2       On   On  (18)  7  0", "Ethernet1/2", [3, 4], 7),
        ("port-channel10    On   On  (8)   -  -", "port-channel10", [3], None),
    ],
    ids=["breakout", "narrow", "two priorities", "no counters"],
)
def test_rows_of_flow_control_of_nxos(row, name, pfc, counted):
    text = f"Port    Mode Oper(VL bmap)  RxPPP  TxPPP\nBr-Ethernet1/17/1  Auto Off  1  1\n{row}\n"
    oper = parsed("nxos", text).oper
    assert list(oper) == [name]
    assert (oper[name].pfc, oper[name].counters.get("pauses_received")) == (pfc, counted)


def test_drops_of_nxos_are_counted_in_all_columns_and_idle_rows_prove_nothing():
    table = "COS QOS Group PG TxPause TxCount RxPause RxCount\n 3 3 - Inactive 4 Inactive 9\n"
    text = f"Egress Queuing for Ethernet1/1 [System]\n QOS GROUP 3\n| Dropped Pkts |  6|  1|  2|\n{table}"
    config = "policy-map type network-qos N\n  class type network-qos c-8q-nq3\n    pause pfc-cos 3\n"
    config += (
        "system qos\n  service-policy type network-qos N\ninterface Ethernet1/1\n  priority-flow-control mode on\n"
    )
    switch = platform_of("nxos", None).parse({"show running-config": config, "show queuing interface": text})
    running = switch.oper["Ethernet1/1"]
    assert (running.pfc, running.counters["roce_drops"]) == (None, 9)
    assert running.counters["pauses_received"] == {3: 9}


MAPS = {"DSCP_TO_TC_MAP": {"AZURE": {"26": "3"}}, "SCHEDULER": {"S": {"type": "STRICT"}}}
USE = {"dscp_to_tc_map": "AZURE", "pfc_enable": "3"}


@pytest.mark.parametrize(
    "tables",
    [
        {"PORT_QOS_MAP": {"Ethernet0,Ethernet4": USE}, "QUEUE": {"Ethernet0,Ethernet4|6": {"scheduler": "S"}}},
        {"PORT_QOS_MAP": {"Ethernet4": USE}, "QUEUE": {"lc1|Asic0|Ethernet4|6": {"scheduler": "S"}}},
        {"PORT_QOS_MAP|Ethernet4": USE, "QUEUE|Ethernet4|6": {"type": "hash", "value": {"scheduler": "S"}}},
    ],
    ids=["ports share a row", "a line card", "a dump of the database"],
)
def test_keys_of_sonic_in_every_form(tables):
    switch = parsed("sonic", json.dumps({**MAPS, **tables}))
    port = switch.ports["Ethernet4"]
    assert (port.trust, port.dscp_map[26], port.pfc, port.strict) == ("dscp", 3, [3], [6])
    assert not [name for name in switch.ports if not name.startswith("Ethernet")]


def test_a_part_of_a_configuration_of_sonic_reports_of_its_part():
    port = parsed("sonic", json.dumps({"CABLE_LENGTH": {"AZURE": {"Ethernet0": "40m"}}})).ports["Ethernet0"]
    assert (port.cable_length_m, port.pfc, port.ecn, port.watchdog, port.mtu) == (40, None, None, None, None)


FOLDERS = {"enterprise_sonic": "sonic"}
CAPTURES = [(name, path) for name in known() for path in sorted((SAMPLES / FOLDERS.get(name, name)).iterdir())]
MISTAKES = {
    "nothing": lambda text: "",
    "cut in the middle": lambda text: text[: len(text) // 2],
    "words lost": lambda text: "\n".join(" ".join(line.split()[:-1]) for line in text.splitlines()),
    "lines lost": lambda text: "\n".join(text.splitlines()[::3]),
    "tables out of shape": lambda text: text.replace("  ", " \t").replace("3", "%"),
    "turned round": lambda text: "\n".join(reversed(text.splitlines())),
    "brackets": lambda text: "[" * 3000 + "{" * 3000,
    "a long line": lambda text: "x" * 20000 + "-" * 20000,
    "a long range": lambda text: text.replace("1-", "1-99999999").replace("/1-", "/1-99999999"),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
@pytest.mark.parametrize("name, path", CAPTURES, ids=[f"{name}-{path.name}" for name, path in CAPTURES])
def test_broken_outputs_are_read_without_a_crash(name, path, mistake):
    platform, text = platform_of(name, None), path.read_text(encoding="utf-8")
    broken = mistake(text)
    for command in {platform.command_of(text), platform.command_of(broken)} - {None}:
        assert platform.parse({command: broken}).platform == name


def test_carriage_returns_and_pagers_change_nothing():
    text = "interface Ethernet1\n   priority-flow-control on\n   priority-flow-control priority 3 no-drop\n"
    noisy = text.replace("\n", "\r\n").replace(
        "\r\n   priority-flow-control p", "\r\n --More-- \r\n   priority-flow-control p"
    )
    assert parsed("eos", noisy).ports == parsed("eos", text).ports


QOS = "PFC configuration:\n\tpriority  0 1 2 3\n\tenabled   0 0 0 {}\ntc: 0 ratelimit: unlimited\n\t priority:  1\n"


def test_of_two_outputs_of_mlnx_qos_in_a_row_the_last_one_holds():
    assert mlnx_qos.parse(QOS.format(0) + "+ mlnx_qos -i ens1 --pfc 0,0,0,1\n" + QOS.format(1))["pfc"] == [3]


@pytest.mark.parametrize("text", ["tc: x\n", "traffic class: none\n"])
def test_a_class_without_a_number_is_none(text):
    assert mlnx_qos.parse(text) == {}


def test_words_that_are_no_numbers_are_passed_over():
    assert dcb_text.parse("dscp-prio 26:3 24:x\nprio-pfc x:on 3:on\n") == {"dscp_prio": [(26, 3)], "pfc": [3]}
    assert linux_text.pause("[1.5]\n") is None
