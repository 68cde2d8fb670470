# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A value in a form that is not known is unknown and named in `unread`; it is never off, zero or another unit."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import offline
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import platform_of

SAMPLES = Path(__file__).parent / "samples"
STATUS, ROCE = "nv_show_interface_qos_roce_status_5.14", "nv_show_qos_roce_5.14_lossless-single-ipool"
COUNTERS, WATCHDOG = "nv_show_interface_qos_roce_counters_5.14", "nv_show_interface_qos_pfc-watchdog_5.14"
MARKS, PFC = "nv_show_qos_congestion-control_default-global_5.14", "nv_show_qos_pfc_default-global_5.14"
ONYX = "show_roce_lossless_3.10.4006_sn2700"


@dataclass(frozen=True)
class Changed:
    """One line of a capture that is another one, and what is then not known of a port: (path, words of unread)."""

    platform: str
    capture: str
    before: str
    after: str
    port: str
    path: str
    unread: str = ""


CHANGED = {
    "cumulus: another unit": Changed(
        "cumulus", STATUS, "1.43 MB", "1.43 Mcells", "swp16", "ecn", "max-threshold of swp16"
    ),
    "cumulus: sends pauses": Changed(
        "cumulus", STATUS, "tx-enabled        yes", "tx-enabled        partly", "swp16", "pfc_sends", "'partly'"
    ),
    "cumulus: no line of what it sends": Changed("cumulus", STATUS, "tx-enabled ", "sends ", "swp16", "pfc_sends"),
    "cumulus: priorities": Changed(
        "cumulus", STATUS, "pfc-priority      3 ", "pfc-priority      high ", "swp16", "pfc", "pfc-priority of swp16"
    ),
    "cumulus: no line of either way": Changed(
        "cumulus", ROCE, "-enabled        enabled", "          enabled", "*", "pfc"
    ),
    "cumulus: trust": Changed("cumulus", ROCE, "pcp,dscp", "outer", "*", "trust", "trust-mode of *"),
    "cumulus: trust, and another word": Changed("cumulus", ROCE, "pcp,dscp", "pcp,outer", "*", "trust", "'pcp,outer'"),
    "cumulus: a mode that marks": Changed("cumulus", STATUS, "ecn, absolute", "pie, absolute", "swp16", "ecn", "'pie"),
    "cumulus: classes that mark": Changed("cumulus", STATUS, "0,3     ", "0,high  ", "swp16", "ecn", "'0,high'"),
    "cumulus: priorities, and another word": Changed(
        "cumulus", ROCE, "pfc-priority      3", "pfc-priority      3,high", "*", "pfc", "'3,high'"
    ),
    "cumulus: no line of priorities": Changed("cumulus", STATUS, "pfc-priority ", "lossless     ", "swp16", "pfc_mode"),
    "cumulus: no section of flow control": Changed("cumulus", STATUS, "\npfc\n", "\nflow\n", "swp16", "pfc_mode"),
    "cumulus: a code point": Changed(
        "cumulus", STATUS, "roce  3    26    3", "roce  3    26    x", "swp16", "dscp_map.26", "switch-prio of swp16"
    ),
    "cumulus: a queue": Changed("cumulus", ROCE, "3  3            3 ", "3  3            x ", "*", "queues.3", "'x'"),
    "cumulus: a counter": Changed(
        "cumulus",
        COUNTERS,
        "roce-packets               803785675319",
        "roce-packets               8.0e11      ",
        "swp16",
        "running.counters.roce_packets_sent",
        "'8.0e11'",
    ),
    "cumulus: mode": Changed("cumulus", ROCE, "mode                lossless-single-ipool", "", "*", "lossless"),
    "cumulus: a share": Changed("cumulus", ROCE, "DWRR-50%", "DWRR-half", "*", "shares.3", "'DWRR-half'"),
    "cumulus: marks": Changed(
        "cumulus", MARKS, "4              enable ", "4              auto   ", "*", "ecn.4", "ecn of *"
    ),
    "cumulus: sends, of all": Changed(
        "cumulus", PFC, "tx                 enable ", "tx                 auto   ", "*", "pfc_sends", "'auto'"
    ),
    "cumulus: drops of one way": Changed(
        "cumulus", COUNTERS, "unicast-no-buffer-discard  663060754115", "", "swp16", "running.counters.roce_drops"
    ),
    "cumulus: a watchdog": Changed(
        "cumulus", WATCHDOG, "state            enabled", "state            armed  ", "swp1", "watchdog", "'armed'"
    ),
    "cumulus: a storm": Changed("cumulus", WATCHDOG, "DEADLOCK", "STUCK   ", "swp1", "running.storms", "'STUCK'"),
    "cumulus: events": Changed(
        "cumulus", WATCHDOG, "DEADLOCK  2", "DEADLOCK  -", "swp1", "running.counters.watchdog_events"
    ),
    "onyx: another unit": Changed("onyx", ONYX, "Min (KB): 150", "Min (MB): 150", "all", "ecn.3", "traffic class 3"),
    "onyx: no threshold": Changed("onyx", ONYX, "Max (KB): 1500", "", "all", "ecn.3", "traffic class 3"),
    "onyx: flow control": Changed(
        "onyx", ONYX, "PFC              : enabled", "PFC : partly", "all", "pfc", "priorities of PFC"
    ),
    "onyx: a priority": Changed("onyx", ONYX, "switch-priority 3: enabled", "", "all", "pfc", "priorities of PFC"),
    "onyx: priorities": Changed(
        "onyx",
        "show_dcb_priority-flow-control_prio3",
        "Priority Enabled List: 3",
        "Priority Enabled List: high",
        "Eth1/1",
        "pfc",
        "'high'",
    ),
    "onyx: a threshold in cells": Changed(
        "onyx",
        "show_interfaces_ethernet_1_1_congestion-control_json",
        "1550 KB",
        "1550 cells",
        "Eth1/1",
        "ecn.3",
        "Eth1/1, TC-3",
    ),
    "sonic: priorities": Changed(
        "sonic", "show_pfc_priority", "Ethernet0    3,4", "Ethernet0    high", "Ethernet0", "pfc", "'high'"
    ),
    "sonic: pauses": Changed(
        "sonic",
        "show_pfc_counters",
        "Ethernet0   1,200",
        "Ethernet0       x",
        "Ethernet0",
        "running.counters.pauses_received.0",
        "'x'",
    ),
    "onyx: a priority of a code point": Changed(
        *("onyx", "show_qos_interface_ethernet_1_1_json", '"switch-priority": "3"', '"switch-priority": "high"'),
        *("Eth1/1", "dscp_map.26", "switch-priority high"),
    ),
    "onyx: trust": Changed(
        "onyx", "show_qos_interface_ethernet_1_1_json", '"both"', '"outer"', "Eth1/1", "trust", "'outer'"
    ),
    "onyx: a traffic class": Changed(
        "onyx", "show_qos_interface_ethernet_1_1_json", '"TC": "3"', '"TC": "x"', "Eth1/1", "queues.3", "'x'"
    ),
    "onyx: a mode that marks": Changed(
        *("onyx", "show_interfaces_ethernet_1_1_congestion-control_json", '"Mode": "ECN"', '"Mode": "PIE"'),
        *("Eth1/1", "ecn.3", "'pie'"),
    ),
    "onyx: marks of all": Changed("onyx", ONYX, "ecn, absolute", "pie, absolute", "all", "ecn.3", "'pie, absolute'"),
    "onyx: a queue of all": Changed("onyx", ONYX, "WRR 50%", "WRR half", "all", "shares.3", "'3 3 RoCE WRR half'"),
    "sonic: asymmetric": Changed(
        "sonic", "show_pfc_asymmetric_Ethernet0", "off", "odd", "Ethernet0", "pfc_asymmetric", "'odd'"
    ),
    "sonic: priorities, and another word": Changed(
        "sonic", "show_pfc_priority", "Ethernet0    3,4", "Ethernet0    3,x", "Ethernet0", "pfc", "'3,x'"
    ),
    "sonic: the way of pauses": Changed(
        *("sonic", "show_pfc_counters", "Port Rx", "Port xx", "Ethernet0", "running.counters.pauses_received"),
        "without Rx or Tx",
    ),
    "sonic: pauses since a while": Changed(
        *("sonic", "show_pfc_counters_history", "PFC0  ", "PFCx  ", "Ethernet0"),
        *("running.counters.pauses_received.0", "'Ethernet0 PFCx"),
    ),
    "sonic: times": Changed(
        *(
            "sonic",
            "show_pfcwd_config",
            "Ethernet0      drop               600",
            "Ethernet0      drop               6 s",
        ),
        *("Ethernet0", "watchdog_detection_ms", "'6 s'"),
    ),
    "sonic: a map": Changed(
        *("sonic", "qos_json_arista7260_t0_one_port", '"26": "1"', '"26": "high"'),
        *("Ethernet40", "dscp_map.26", "26 = 'high'"),
    ),
    "junos: a code point": Changed(
        *("junos", "class-of-service_roce_qfx5240_evo", "low code-points 011010", "low code-points video"),
        *("et-*", "dscp_map.26", "code-points video"),
    ),
    "junos: a queue": Changed(
        *("junos", "class-of-service_roce_qfx5240_evo", "class CNP queue-num 3", "class CNP queue-num x"),
        *("et-*", "dscp_map.48", "queue-num x"),
    ),
    "junos: a class": Changed(
        *("junos", "class-of-service_roce_qfx5240_evo", "class NO-LOSS queue-num", "class OTHER queue-num"),
        *("et-*", "dscp_map.26", "forwarding class NO-LOSS"),
    ),
    "junos: a profile": Changed(
        *("junos", "class-of-service_roce_qfx5240_evo", "scheduler-map sm1;", "scheduler-map sm2;"),
        *("et-*", "ecn.4", "scheduler map sm2"),
    ),
    "enterprise_sonic: a watchdog": Changed(
        *("enterprise_sonic", "enterprise_sonic_running-config_interface_qos", "on detect-time 100", "armed 100"),
        *("Eth1/5", "watchdog_detection_ms", "'priority-flow-control watchdog armed 100'"),
    ),
    "sonic: columns": Changed("sonic", "show_pfcwd_config", "ACTION", "POLICY", "Ethernet0", "watchdog", "column"),
}


FOLDERS = {"enterprise_sonic": "sonic"}


def at(reported, path):
    """A value of the result by its path; None where a key is missing."""
    for key in path.split("."):
        reported = (
            (reported or {}).get(int(key) if key.isdigit() else key, None) if isinstance(reported, dict) else None
        )
    return reported


def parsed(one, text):
    reported = offline.parsed(platform_of(one.platform, None), text)
    return at(reported["ports"].get(one.port), one.path), reported["unread"]


@pytest.mark.parametrize("one", CHANGED.values(), ids=CHANGED.keys())
def test_a_value_that_is_not_known_is_none_and_named(one):
    text = (SAMPLES / FOLDERS.get(one.platform, one.platform) / f"{one.capture}.txt").read_text(encoding="utf-8")
    assert one.before in text
    assert parsed(one, text)[0] is not None
    value, unread = parsed(one, text.replace(one.before, one.after))
    assert value is None
    assert any(one.unread in line for line in unread) is bool(one.unread), unread


def test_counters_of_sonic_belong_to_the_priority_of_their_column():
    text = "  Port Rx    PFC3    PFC4\n---------  ------  ------\nEthernet0      17      18\n"
    reported = offline.parsed(platform_of("sonic", None), {"show pfc counters": text})
    assert reported["ports"]["Ethernet0"]["running"]["counters"]["pauses_received"] == {3: 17, 4: 18}


@pytest.mark.parametrize("shown", ["none", "N/A", ""])
def test_no_priority_is_a_value(shown):
    text = f"Interface    Lossless priorities\n-----------  ---------------------\nEthernet0    {shown or '-'}\n"
    reported = offline.parsed(platform_of("sonic", None), {"show pfc priority": text})
    assert (reported["ports"]["Ethernet0"]["pfc"], reported["unread"]) == ([], [])


def test_a_class_of_os10_without_a_group_is_no_crash():
    text = (
        "class-map type network-qos roce\n match qos-group xyzzy\npolicy-map type network-qos roce\n class roce\n"
        "  pause\n  pfc-cos 3\ninterface ethernet1/1/1\n service-policy input type network-qos roce\n"
        " priority-flow-control mode on\n"
    )
    reported = offline.parsed(platform_of("os10", None), {"show running-configuration": text})
    assert reported["ports"]["ethernet1/1/1"]["pfc_mode"] == "on"


ROW = {"if_name_str": "Ethernet1/1", "admin_mode": "On", "oper_status": "On (8)", "rx_ppp": "7", "tx_ppp": "9"}
LACKING = {
    "all is there": ({}, [3], True, {"pauses_received": 7, "pauses_sent": 9}),
    "no state": ({"oper_status": None}, None, None, {"pauses_received": 7, "pauses_sent": 9}),
    "another word": ({"oper_status": "Pending (8)"}, None, None, {"pauses_received": 7, "pauses_sent": 9}),
    "no priorities": ({"oper_status": "On"}, None, None, {"pauses_received": 7, "pauses_sent": 9}),
    "off": ({"oper_status": "Off"}, [], False, {"pauses_received": 7, "pauses_sent": 9}),
    "no count": ({"rx_ppp": None}, [3], True, {"pauses_sent": 9}),
}


@pytest.mark.parametrize("change, pfc, sends, counters", LACKING.values(), ids=LACKING.keys())
def test_a_row_of_nxos_without_a_value_is_neither_off_nor_zero(change, pfc, sends, counters):
    row = {key: value for key, value in {**ROW, **change}.items() if value is not None}
    text = json.dumps({"TABLE_pfc_interface": {"ROW_pfc_interface": [row]}})
    reported = offline.parsed(platform_of("nxos", None), {"show interface priority-flow-control": text})
    running = reported["ports"]["Ethernet1/1"]["running"]
    assert (running["pfc"], running["pfc_sends"], running["counters"]) == (pfc, sends, counters)


ECN = "Ethernet1:\n  Tx     Minimum      Maximum      Unit    Max mark     Weight\n Queue   threshold    threshold\n"
EOS = ECN + "   3      150          1500         kbytes  100          0\n"
DETECT = (
    "      random-detect minimum-threshold 150 kbytes maximum-threshold 1500 kbytes drop-probability 100 weight 0 ecn\n"
)
NXOS = (
    "Ethernet1/1\n\n  Service-policy (queuing) output:   OUT\n\n    Class-map (queuing):   c-out-8q-q3 (match-any)\n"
    + DETECT
)
GUARD = "Ethernet1/1 Interface PFC watchdog: [Enabled]\n"
FLOW = "ethernet1/1/1\n  Admin Mode : true\n  Operstatus: true\n  PFC Priorities: 3\n"
SHOWS = {
    "eos: a threshold": ("eos", "show qos interfaces ecn", EOS, "150   ", "-     ", "Ethernet1", "ecn.3"),
    "nxos: a unit": ("nxos", "show policy-map interface", NXOS, "1500 kbytes", "1500 cells", "Ethernet1/1", "ecn.3"),
    "nxos: a watchdog": ("nxos", "show queuing pfc-queue", GUARD, "Enabled", "Armed", "Ethernet1/1", "watchdog"),
    "os10: a state": (
        *("os10", "show interface priority-flow-control details", FLOW, "Operstatus: true", "Operstatus: pending"),
        *("ethernet1/1/1", "pfc"),
    ),
    "os10: priorities": (
        *("os10", "show interface priority-flow-control details", FLOW, "Priorities: 3", "Priorities: high"),
        *("ethernet1/1/1", "pfc"),
    ),
    "os10: no priorities": (
        *("os10", "show interface priority-flow-control details", FLOW, "  PFC Priorities: 3\n", ""),
        *("ethernet1/1/1", "pfc"),
    ),
}


@pytest.mark.parametrize("name, command, text, before, after, port, path", SHOWS.values(), ids=SHOWS.keys())
def test_what_runs_is_not_known_where_a_value_is_not(name, command, text, before, after, port, path):
    def running(shown):
        reported = offline.parsed(platform_of(name, None), {command: shown})
        return at(reported["ports"].get(port), f"running.{path}")

    assert before in text
    assert running(text) not in (None, [])
    assert running(text.replace(before, after)) is None


NVUE = {
    "qos": {
        "roce": {"enable": "on", "mode": "lossless"},
        "mapping": {"default-global": {"trust": "l3", "dscp": {"26": {"switch-priority": 3}}}},
        "pfc": {"default-global": {"switch-priority": {"3": {}}, "tx": "enable"}},
        "congestion-control": {
            "default-global": {"traffic-class": {"3": {"ecn": "enable", "min-threshold": "150 KB"}}}
        },
    },
    "interface": {"swp1": {"qos": {"pfc-watchdog": {"state": "enable"}}}},
}
SETTINGS = {
    "trust": ('"l3"', '"l7"', "qos.mapping.default-global.trust = 'l7'"),
    "a priority": ('"switch-priority": 3', '"switch-priority": "high"', "26.switch-priority = 'high'"),
    "pauses": ('"tx": "enable"', '"tx": "maybe"', "qos.pfc.default-global.tx = 'maybe'"),
    "a threshold": ("150 KB", "150 cells", "min-threshold = '150 cells'"),
    "a watchdog": ('"state": "enable"', '"state": "armed"', "swp1.qos.pfc-watchdog.state = 'armed'"),
}


@pytest.mark.parametrize("before, after, unread", SETTINGS.values(), ids=SETTINGS.keys())
def test_a_setting_of_cumulus_in_another_form_is_unread(before, after, unread):
    def reported(text):
        return offline.parsed(platform_of("cumulus", None), {"nv config show -o json": text})["unread"]

    text = json.dumps([{"header": {"version": "5.14"}}, {"set": NVUE}])
    assert before in text
    assert reported(text) == []
    assert [unread in sentence for sentence in reported(text.replace(before, after))] == [True]


def test_a_file_of_cumulus_with_a_value_in_another_form_is_unread():
    command = "/etc/cumulus/datapath/qos/qos_features.conf"
    text = (SAMPLES / "cumulus" / "qos_features.conf_5.14_pfc_ecn_fragments.txt").read_text(encoding="utf-8")
    text = text.replace("ecn_enable = true", "ecn_enable = maybe")
    unread = offline.parsed(platform_of("cumulus", None), {command: text})["unread"]
    assert ["ecn = 'maybe'" in sentence for sentence in unread] == [True] * 3


def test_an_onyx_port_without_its_mode_of_flow_control_is_unknown():
    text = (SAMPLES / "onyx" / "show_dcb_priority-flow-control_enabled_json.txt").read_text(encoding="utf-8")
    text = text.replace('"PFC admin"', '"PFC state"')
    reported = offline.parsed(platform_of("onyx", None), {"show dcb priority-flow-control": text})
    assert {port["pfc_mode"] for port in reported["ports"].values()} == {None}


STATES = {
    "onyx": ("show interfaces ethernet", "Eth1/1   Up   100 Gbps\n", None),
    "onyx, as JSON": ("show interfaces ethernet", '{"Eth1/1": [{"Operational state": "Up"}]}', "Up"),
    "cumulus": ("nv show interface", "Interface  State  MTU\n---------  -----  ----\nswp1       up     9216\n", "up "),
    "cumulus, as JSON": ("nv show interface -o json", '{"swp1": {"link": {"oper-status": "up"}}}', '"up"'),
    "sonic": (
        "show interfaces status",
        "  Interface    Speed    MTU    Oper    Admin\n-----------  -------  -----  ------  -------\n"
        "  Ethernet0     100G   9100      up       up\n",
        "up       up",
    ),
    "enterprise_sonic": (
        "show interface status",
        "Name      Description  Oper  Reason  AutoNeg  Speed   MTU\n"
        "Eth1/1    -            up    -       off      100000  9100\n",
        "up ",
    ),
}


@pytest.mark.parametrize("name", [name for name, (_command, _text, word) in STATES.items() if word])
def test_a_link_in_another_word_is_unknown_and_not_down(name):
    command, text, word = STATES[name]

    def reported(shown):
        found = offline.parsed(platform_of(name.split(",")[0], None), {command: shown})
        (port,) = found["ports"].values()
        return port["running"]["up"], found["unread"]

    assert word in text
    assert reported(text) == (True, [])
    assert reported(text.replace(word, word.replace("Up", "down").replace("up", "down"), 1)) == (False, [])
    up, unread = reported(text.replace(word, word.replace("Up", "odd").replace("up", "odd"), 1))
    assert up is None
    assert ["odd" in sentence for sentence in unread] == [True]


@pytest.mark.parametrize("mode, ecn", [("-", {}), ("none", {}), ("RED", {}), ("pie", None)])
def test_a_mode_of_cumulus_that_does_not_mark_is_known(mode, ecn):
    tree = {"trust": {"trust-mode": "dscp"}, "congestion-control": {"congestion-mode": mode, "enabled-tc": "-"}}
    reported = offline.parsed(
        platform_of("cumulus", None), {"nv show interface swp1 qos roce status -o json": json.dumps(tree)}
    )
    assert reported["ports"]["swp1"]["running"]["ecn"] == ecn
    assert ["congestion-mode" in one for one in reported["unread"]] == [True] * (ecn is None)
