from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus import text
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus.platform import Cumulus
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking

SAMPLES = Path(__file__).with_name("samples") / "cumulus"
PLATFORM = Cumulus()


def parsed(name, prompt=True):
    """Return the Switch of a capture, with or without the prompt line."""
    capture = (SAMPLES / f"{name}.txt").read_text()
    if not prompt:
        capture = capture.partition("\n")[2].replace("\n", "\r\n")
    return PLATFORM.parse({PLATFORM.command_of(capture): capture})


NAMED = pytest.mark.parametrize("prompt", [True, False], ids=["with its prompt", "without, with CRLF"])


@NAMED
def test_the_preset_as_it_runs(prompt):
    port = parsed("nv_show_qos_roce_5.14_lossless-single-ipool", prompt).ports["*"]
    assert (port.trust, port.pfc, port.pfc_sends, port.lossless, port.cable_length_m) == ("both", [3], True, [3], 100)
    assert port.dscp_map == {dscp: dscp >> 3 for dscp in range(64)}
    assert port.queues == {**dict.fromkeys(range(8), 0), 3: 3, 6: 6}
    assert (port.strict, port.shares) == ([6], {0: 50, 3: 50})
    assert port.ecn[3] == Marking(149996, 1499464, 100)


@NAMED
def test_one_port_as_it_runs(prompt):
    switch = parsed("nv_show_interface_qos_roce_status_5.14", prompt)
    name = "swp16" if prompt else "*"
    running = switch.oper[name]
    assert (running.trust, running.pfc, running.pfc_sends) == ("both", [3], True)
    assert running.ecn == dict.fromkeys((0, 3), Marking(156672, 1499464, 100))
    assert switch.ports[name].dscp_map == {26: 3, 48: 6}
    assert switch.ports[name].queues == {3: 3, 6: 6}


@NAMED
def test_counters(prompt):
    switch = parsed("nv_show_interface_qos_roce_counters_5.14", prompt)
    assert switch.oper["swp16" if prompt else "*"].counters == {
        "pauses_received": 0,
        "pauses_sent": 0,
        "roce_packets_received": 0,
        "roce_packets_sent": 803785675319,
        "roce_drops": 663060754115,
        "ecn_marked": 693777677344,
        "cnp_packets_sent": 0,
    }


@NAMED
def test_the_watchdog(prompt):
    running = parsed("nv_show_interface_qos_pfc-watchdog_5.14", prompt).oper["swp1" if prompt else "*"]
    assert (running.watchdog, running.counters) == (True, {"watchdog_events": 8})


@NAMED
@pytest.mark.parametrize(
    "name, values",
    [
        (
            "nv_show_qos_pfc_default-global_5.14",
            {"pfc": [0], "pfc_mode": "on", "pfc_sends": True, "cable_length_m": 50},
        ),
        (
            "nv_show_qos_egress-queue-mapping_default-global_5.14",
            {"queues": {0: 0, 1: 1, 2: 7, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7}},
        ),
        (
            "nv_show_qos_congestion-control_default-global_5.14",
            {"ecn": dict.fromkeys((4, 5, 7), Marking(40000, 200000, 100))},
        ),
    ],
    ids=["pfc", "queues", "marking"],
)
def test_profiles(name, values, prompt):
    port = parsed(name, prompt).ports["*"]
    assert {key: getattr(port, key) for key in values} == values


def test_the_files_behind_it():
    switch = parsed("qos_features.conf_5.14_pfc_ecn_fragments")
    port = switch.ports["*"]
    assert (port.pfc, port.pfc_sends, port.cable_length_m, port.watchdog) == ([0], True, 50, False)
    assert port.ecn == dict.fromkeys((4, 5, 7), Marking(40000, 200000, 100))
    assert [name for name, one in switch.ports.items() if one.watchdog] == ["swp1", "swp2"]


def test_files_with_ports_of_their_own():
    lines = """\
traffic.packet_priority_source_set = [dscp]
traffic.cos_4.priority_source.dscp = [26,27]
pfc.port_group_list = [fabric]
pfc.fabric.port_set = swp1-2,swp5
pfc.fabric.cos_list = [4]
pfc.fabric.port_buffer_bytes = 25000
pfc.fabric.tx_enable = true
pfc.fabric.rx_enable = true
"""
    ports = PLATFORM.parse({"/etc/cumulus/datapath/qos/qos_features.conf": lines}).ports
    assert sorted(ports) == ["*", "swp1", "swp2", "swp5"]
    assert (ports["swp5"].trust, ports["swp5"].pfc, ports["swp5"].lossless) == ("dscp", [4], [4])
    assert (ports["swp5"].dscp_map[26], ports["swp5"].dscp_map[28]) == (4, 3)
    assert ports["*"].pfc == []


MANY = """\
cumulus@leaf:mgmt:~$ nv show qos roce
                    operational     applied
------------------  --------------  --------------
state                               enabled
mode                lossy-multi-tc  lossy-multi-tc
pfc
  pfc-priority      -
congestion-control
  congestion-mode   ECN
  enabled-tc        1,2,3
  min-threshold     163.00 KB
  max-threshold     234.00 KB
  probability       5
trust
  trust-mode        pcp,dscp

RoCE PCP/DSCP->SP mapping configurations
===========================================
       pcp  dscp               switch-prio
    -  ---  -----------------  -----------
    0  0    0,7-10,51-63            0
    1  1    1,2                1

Exception List
=================
   description
-  ------------------------------------------------
1  ROCE PFC Priority Mismatch: Expected: 3 Got: 0

Extended Features
====================
    Feature      Status
    -----------  -------
    packet-trim  enabled
"""


def test_other_presets_exceptions_and_columns_that_slipped():
    switch = PLATFORM.parse({PLATFORM.command_of(MANY): MANY})
    port = switch.ports["*"]
    assert (port.pfc, port.lossless, port.dscp_map[60], port.dscp_map[2]) == ([], [], 0, 1)
    assert sorted(port.ecn) == [1, 2, 3]
    assert switch.exceptions == ["ROCE PFC Priority Mismatch: Expected: 3 Got: 0"]


def test_a_view_of_all_ports_as_text():
    status = (SAMPLES / "nv_show_interface_qos_roce_status_5.14.txt").read_text().partition("\n")[2]
    view = "".join(f"{'-' * 37}\nInterface: {name}\n{'-' * 37}\n{status}\n" for name in ("swp1", "swp2s0"))
    switch = PLATFORM.parse({"nv show interface qos-roce-status": view})
    assert {name: one.pfc for name, one in switch.oper.items()} == {"swp1": [3], "swp2s0": [3]}


@pytest.mark.parametrize(
    "key, names",
    [
        ("swp1-3", ["swp1", "swp2", "swp3"]),
        ("swp1,swp3-4", ["swp1", "swp3", "swp4"]),
        ("swp2,6", ["swp2", "swp6"]),
        ("swp1s0-1,swp2s0", ["swp1s0", "swp1s1", "swp2s0"]),
        ("swp1-2s0-1", ["swp1s0", "swp1s1", "swp2s0", "swp2s1"]),
        ("swp1s0,2s0-1,bond1", ["swp1s0", "swp2s0", "swp2s1", "bond1"]),
        ("bond1", ["bond1"]),
    ],
    ids=["range", "list", "list of numbers", "breakout", "range of breakouts", "list of breakouts", "one"],
)
def test_names_of_ports(key, names):
    assert text.port_names(key) == names


@pytest.mark.parametrize(
    "value, count",
    [
        (150000, 150000),
        ("150000", 150000),
        ("146.48 KB", 149996),
        ("1.43 MB", 1499464),
        ("40000 B", 40000),
        ("0 Bytes", 0),
        ("2 GB", 2147483648),
        (".5 KB", 512),
        ("inf", None),
        ("-", None),
        ("1.2.3", None),
        ("192.0.2.1", None),
        ("9" * 400, None),
        (None, None),
    ],
    ids=str,
)
def test_sizes(value, count):
    assert text.number(value) == count


SCHEDULER = """\
cumulus@switch:~$ nv show qos egress-scheduler default-global
    operational  applied  description
--  -----------  -------  -----------

TC->DWRR weight configuration
================================
    traffic-class  mode    bw-percent
    -------------  ------  ----------
    0              dwrr    50
    3              dwrr    50
    6              strict
"""


def test_cells_that_are_empty():
    port = PLATFORM.parse({PLATFORM.command_of(SCHEDULER): SCHEDULER}).ports["*"]
    assert (port.strict, port.shares) == ([6], {0: 50, 3: 50})


def test_an_output_of_something_else_is_not_known():
    assert PLATFORM.command_of("Welcome to the switch.") is None


@pytest.mark.parametrize(
    "output",
    [
        '["swp1", "swp2"]\n[{"header": "x"}, {"set": {"interface": {"swp1": null}}}]',
        '[{"set": {"interface": {"swp1": {"qos": "none"}}, '
        '"qos": {"pfc": [], "pfc-watchdog": {"robustness": "auto"}}}}]',
        '[{"set": {"interface": {"swp1": {}}, "qos": {"congestion-control": {"default-global": '
        '{"traffic-class": {"any": 3, "3": null}}}, "mapping": {"default-global": {"dscp": {"26": "x"}}}}}}]',
    ],
)
def test_settings_of_another_shape_are_read_as_far_as_they_report_something(output):
    port = PLATFORM.parse({"nv config show -o json": output}).ports["swp1"]
    assert (port.pfc_mode, port.watchdog, port.dscp_map[26]) == ("off", False, 3)


@pytest.mark.parametrize(
    "reported",
    [
        '{"swp1": {"link": [], "lldp": {"neighbor": {"esx-01": null}}}}',
        '{"swp1": {"status": {"trust": {"trust-mode": "dscp"}, "pfc": "off", "congestion-control": 3}}}',
        '{"swp1": {"rx-pfc-stats": 3, "tx-pfc-stats": null, "rx-roce-stats": "x"}}',
    ],
)
def test_views_of_another_shape_are_read_as_far_as_they_report_something(reported):
    running = PLATFORM.parse({"nv show interface -o json": reported}).oper["swp1"]
    assert (running.up, running.pfc or []) == (None, [])
