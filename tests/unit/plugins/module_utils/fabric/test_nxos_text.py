# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.nxos.platform import Nxos
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking

SAMPLES = Path(__file__).parent / "samples" / "nxos"
PREDEFINED = "config_qos_c-8q_predefined_classes.txt"
NAMED = "config_qos_user_named_classes.txt"
# Captures whose content is not only ports: (ports, network classes).
RECOGNISED = {PREDEFINED: (True, True), NAMED: (False, True)}
DEFAULTS = "show_running-config_all_interface_defaults_7.0.3.I7.6.txt"


def parsed(text):
    """Return the values of a single text, as in `state: parsed`."""
    platform = Nxos()
    return platform.parse({platform.command_of(text): text})


def sample(name):
    return parsed((SAMPLES / name).read_text())


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.iterdir()))
@pytest.mark.parametrize(
    "shaped",
    [str, lambda text: text.replace("\n", "\r\n"), lambda text: "\n".join(f"  {line}" for line in text.split("\n"))],
    ids=["as it is", "CRLF", "pasted"],
)
def test_every_capture_is_recognised(name, shaped):
    switch = parsed(shaped((SAMPLES / name).read_text()))
    assert (bool(switch.ports), bool(switch.raw and switch.raw.networks)) == RECOGNISED.get(name, (True, False))


@pytest.mark.parametrize(
    "name, port, expected",
    [
        (PREDEFINED, "Ethernet1/17", {"trust": "pcp", "pfc_mode": "on", "pfc": [3], "lossless": [3], "mtu": 9216}),
        (PREDEFINED, "Ethernet1/17", {"ecn": {3: Marking(300000, 300000, 100)}, "strict": [], "dcbx": "ieee"}),
        (PREDEFINED, "Ethernet1/17", {"watchdog": False, "pause": False, "pfc_queues": {3: 3}}),
        (DEFAULTS, "Ethernet1/2", {"trust": "none", "pfc_mode": "auto", "pfc": [], "mtu": 1500, "watchdog": False}),
    ],
)
def test_a_configuration_reports_what_a_port_does(name, port, expected):
    found = sample(name).ports[port]
    assert {key: getattr(found, key) for key in expected} == expected


def test_shares_of_all_queues():
    shares = sample(PREDEFINED).ports["Ethernet1/17"].shares
    assert (shares[3], shares[0], shares[7]) == (50, 48, 1)


def test_classes_of_other_names_count_by_what_they_pause():
    assert sample(NAMED).raw.pauses == {3: 3}


def test_trust_in_tags_alone_leaves_packets_without_one_in_group_0():
    assert set(sample(PREDEFINED).ports["Ethernet1/17"].dscp_map.values()) == {0}


@pytest.mark.parametrize(
    "name, ports",
    [
        ("show_interface_priority-flow-control_5k.txt", {"Ethernet1/47": (7316, 762946), "Ethernet4/16": (0, 0)}),
        ("show_interface_priority-flow-control_auto_off.txt", {"Ethernet1/27": (0, 0)}),
    ],
)
def test_tables_of_flow_control(name, ports):
    oper = sample(name).oper
    for port, (received, sent) in ports.items():
        assert (oper[port].pfc, oper[port].pfc_sends) == ([], False)
        assert oper[port].counters == {"pauses_received": received, "pauses_sent": sent}


ROW = "Ethernet1/1        On   {}         12          7\n"


@pytest.mark.parametrize(
    "state, priorities",
    [("On (8)", [3]), ("On (0x8)", [3]), ("On  (  8 )", [3]), ("On (28)", [3, 5]), ("Off", []), ("On (40)", [3, 5])],
    ids=["plain", "0x", "blanks", "hexadecimal", "off", "the decimals that are configured"],
)
def test_the_bitmap_of_flow_control_that_runs(state, priorities):
    texts = {"show interface priority-flow-control": f"Port  Mode Oper(VL bmap)\n{ROW.format(state)}"}
    texts["show running-config ipqos"] = (
        "policy-map type network-qos N\n  class type network-qos c-8q-nq3\n    pause pfc-cos 3\n"
        "  class type network-qos c-8q-nq5\n    pause pfc-cos 5\nsystem qos\n  service-policy type network-qos N\n"
    )
    assert Nxos().parse(texts).oper["Ethernet1/1"].pfc == priorities


def test_flow_control_in_json_of_one_row_or_many():
    row = {"if_name_str": "Ethernet1/1", "admin": "On", "oper": "On (8)", "rx-stats": "12", "tx-stats": 7}
    for rows in (row, [row, dict(row, if_name_str="Ethernet1/2", oper="Off")]):
        text = json.dumps({"TABLE_module": {"ROW_module": {"TABLE_pfc_interface": {"ROW_pfc_interface": rows}}}})
        running = parsed(text).oper["Ethernet1/1"]
        assert (running.pfc, running.counters) == ([3], {"pauses_received": 12, "pauses_sent": 7})
        assert len(parsed(text).oper) == (1 if rows is row else 2)


def test_queues_report_which_class_is_really_paused():
    running = sample("show_queuing_interface_fragment.txt").oper["Ethernet2/1"]
    assert (running.pfc, running.pfc_sends) == ([3], True)
    assert running.counters["pauses_sent"] == {0: 0, 3: 7}
    assert running.counters["pauses_received"] == {0: 0, 3: 8}


def test_drops_of_the_lossless_queue_are_those_of_roce():
    texts = {
        "show running-config": (
            "policy-map type network-qos N\n  class type network-qos c-8q-nq3\n    pause pfc-cos 3\n"
            "system qos\n  service-policy type network-qos N\ninterface Ethernet2/1\n  priority-flow-control mode on\n"
        ),
        "show queuing interface": (SAMPLES / "show_queuing_interface_fragment.txt").read_text(),
    }
    assert Nxos().parse(texts).oper["Ethernet2/1"].counters["roce_drops"] == 6


CLASSES = """
class-map type qos {kind} RDMA
  match {first}
  match {second}
policy-map type qos IN
  class RDMA
    set qos-group 3
interface Ethernet1/1
  service-policy type qos input IN
"""


@pytest.mark.parametrize(
    "kind, first, second, trust, group",
    [
        ("match-any", "dscp 26", "dscp 48", "dscp", 3),
        ("match-any", "dscp af31,ef", "protocol tcp", "dscp", 3),
        ("match-any", "dscp 24-31", "cos 3", "both", 3),
        ("match-all", "dscp 26", "cos 3", "both", 0),
        ("match-any", "cos 3", "cos 4", "pcp", 0),
    ],
    ids=["numbers", "names", "either", "a tag is needed too", "tags"],
)
def test_classes_by_code_points_and_by_tags(kind, first, second, trust, group):
    port = parsed(CLASSES.format(kind=kind, first=first, second=second)).ports["Ethernet1/1"]
    assert (port.trust, port.dscp_map[26]) == (trust, group)


@pytest.mark.parametrize(
    "line, mark",
    [
        (
            "random-detect minimum-threshold 150 kbytes maximum-threshold 1500 kbytes drop-probability 7 weight 0 ecn",
            True,
        ),
        ("random-detect minimum-threshold 150 kbytes maximum-threshold 1500 kbytes drop-probability 7 weight 0", False),
    ],
    ids=["ecn", "without the word"],
)
def test_without_the_word_ecn_packets_are_dropped(line, mark):
    text = f"policy-map type queuing OUT\n  class type queuing c-out-8q-q3\n    {line}\n"
    text += "interface Ethernet1/1\n  service-policy type queuing output OUT\n"
    assert parsed(text).ports["Ethernet1/1"].ecn == {3: Marking(150000, 1500000, 7, mark)}


OLD = """
class-map type network-qos RDMA
  match qos-group 4
policy-map type network-qos jumbo
  class type network-qos RDMA
    {pause}
    mtu 2240
  class type network-qos class-default
    mtu 9216
system qos
  service-policy type network-qos jumbo
interface ethernet 1/1-2, ethernet 1/4
  priority-flow-control mode on
"""


@pytest.mark.parametrize(
    "pause, pfc",
    [
        ("pause no-drop", [4]),
        ("pause pfc-cos 4", [4]),
        ("pause pfc-cos 3", [3]),
        ("pause buffer-size 27456 pause-threshold 12480 resume-threshold 12480 pfc-cos 4", [4]),
    ],
)
def test_old_and_new_words_for_what_is_not_dropped(pause, pfc):
    switch = parsed(OLD.format(pause=pause))
    assert list(switch.ports) == ["Ethernet1/1", "Ethernet1/2", "Ethernet1/4"]
    port = switch.ports["Ethernet1/4"]
    assert (port.pfc, port.lossless, port.pfc_queues) == (pfc, [4], {pfc[0]: 4})


@pytest.mark.parametrize(
    "line, mode, dcbx",
    [
        ("priority-flow-control mode on", "on", "off"),
        ("priority-flow-control mode on send-tlv", "on", "ieee"),
        ("priority-flow-control mode off", "off", "off"),
        ("priority-flow-control mode auto", "auto", "ieee"),
        ("lldp dcbx version cee", "auto", "cee"),
        ("mtu 9216", "auto", "ieee"),
    ],
)
def test_modes_of_flow_control_and_who_is_reported(line, mode, dcbx):
    port = parsed(f"interface Ethernet1/1\n  {line}\n").ports["Ethernet1/1"]
    assert (port.pfc_mode, port.dcbx) == (mode, dcbx)


@pytest.mark.parametrize(
    "everywhere, here, runs",
    [(True, True, True), (True, False, False), (False, True, False)],
    ids=["both", "the switch alone", "the port alone"],
)
def test_the_watchdog_is_turned_on_twice(everywhere, here, runs):
    line = "priority-flow-control watch-dog-interval on\n"
    text = (line if everywhere else "") + "interface Ethernet1/1\n" + (f"  {line}" if here else "  mtu 9216\n")
    assert parsed(text).ports["Ethernet1/1"].watchdog is runs


POLICIES = """
Global statistics status :   enabled

Ethernet1/1
  Service-policy (qos) input:   ROCE-IN
    Class-map (qos):   ROCE (match-any)
      {match}
      set qos-group 3
  Service-policy (queuing) output:   ROCE-OUT
    Class-map (queuing):   c-out-8q-q6 (match-any)
      priority level 1
    Class-map (queuing):   c-out-8q-q3 (match-any)
      bandwidth remaining percent 50
      random-detect minimum-threshold 150 kbytes maximum-threshold 1500 kbytes drop-probability 100 weight 0 ecn
Ethernet1/2
"""


@pytest.mark.parametrize("match", ["Match: dscp 26", "queue dropped pkts : 0"], ids=["shown", "by the class's name"])
def test_policies_report_trust_and_marking_that_run(match):
    texts = {
        "show policy-map interface": POLICIES.format(match=match),
        "show running-config ipqos": "class-map type qos match-any ROCE\n  match dscp 26\n",
    }
    oper = Nxos().parse(texts).oper
    assert (oper["Ethernet1/1"].trust, oper["Ethernet1/1"].ecn) == ("dscp", {3: Marking(150000, 1500000, 100)})
    assert (oper["Ethernet1/2"].trust, oper["Ethernet1/2"].ecn) == ("none", {})


@pytest.mark.parametrize(
    "text, runs",
    [
        ("Ethernet1/1 Interface PFC watchdog: [Enabled]\n| Shutdown|  2|\n", (True, 2)),
        ("| Port  PFC Watchdog (VL bmap)  State |\n Ethernet1/1   Enabled   ( 0x8 )\n", (True, None)),
        ("| Port  PFC Watchdog (VL bmap)  State |\n Ethernet1/1   Disabled\n", (False, None)),
    ],
)
def test_watchdogs_that_run(text, runs):
    running = parsed(text).oper["Ethernet1/1"]
    assert (running.watchdog, running.counters.get("watchdog_events")) == runs


def test_a_backup_holds_no_secrets_and_names_each_part_once():
    ipqos = "class-map type qos match-any A\n  match dscp 26\ninterface Ethernet1/1\n  priority-flow-control mode on\n"
    ports = (
        "interface Ethernet1/1\n  ip ospf message-digest-key 1 md5 3 abc\n  mtu 9216\n  priority-flow-control mode on\n"
    )
    texts = {"show running-config ipqos": ipqos, "show running-config interface": ports}
    assert Nxos().parse(texts).config == (
        "class-map type qos match-any A\n  match dscp 26\n"
        "interface Ethernet1/1\n  priority-flow-control mode on\n  mtu 9216"
    )


def test_links_neighbours_and_identity_of_a_switch():
    texts = {
        "show running-config interface": "interface Ethernet1/1\n  mtu 9216\n",
        "show version | json": json.dumps(
            {"host_name": "leaf-02", "chassis_id": "Nexus9000", "kickstart_ver_str": "9.3(9)"}
        ),
        "show interface | json": json.dumps(
            {
                "TABLE_interface": {
                    "ROW_interface": [
                        {"interface": "mgmt0", "state": "up"},
                        {"interface": "Ethernet1/1", "state": "up", "eth_mtu": "9216", "eth_bw": 100000000},
                    ]
                }
            }
        ),
        "show lldp neighbors detail | json": json.dumps(
            {
                "TABLE_nbor_detail": {
                    "ROW_nbor_detail": {"l_port_id": "Eth1/1", "port_id": "vmnic2", "sys_name": "e", "chassis_id": "c"}
                }
            }
        ),
        "show running-config diff": "*** Startup-config\n--- Running-config\n+ mtu 9216\n",
    }
    switch = Nxos().parse(texts)
    assert (switch.hostname, switch.version, switch.model, switch.unsaved) == ("leaf-02", "9.3(9)", "Nexus9000", True)
    assert list(switch.ports) == ["Ethernet1/1"]
    assert (switch.ports["Ethernet1/1"].speed, switch.oper["Ethernet1/1"].mtu) == (100, 9216)
    assert [(one.system, one.port) for one in switch.neighbours["Ethernet1/1"]] == [("e", "vmnic2")]


def test_a_text_of_something_else_is_not_taken_for_anything():
    assert Nxos().command_of("VRF-Name    VRF-ID State\ndefault     1      Up\n") is None
    assert Nxos().command_of('{"TABLE_vrf": {}}') is None
