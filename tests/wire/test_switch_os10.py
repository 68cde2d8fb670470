"""The command line of OS10 on the twin: prompts, refusals, and what its configuration does to packets."""

from __future__ import annotations

import pytest
from ansible.module_utils.connection import Connection

from twin_labs.fabric_lab import cli, fabric
from twin_labs.fabric_lab import switch as seeded

from . import drive_switch
from .switch_console import Console, bare, switch

PORT = "interface ethernet1/1/1"
ROCE = """
trust dscp-map ROCE-TRUST
 qos-group 3 dscp 26
 qos-group 6 dscp 48
 qos-group 0 dscp 0-25,27-47,49-63
qos-map traffic-class ROCE-MAP
 queue 0 qos-group 0-2,4-5,7
 queue 3 qos-group 3
 queue 6 qos-group 6
wred ROCE-ECN
 random-detect color green minimum-threshold 150 maximum-threshold 1500 drop-probability 100
 random-detect ecn
class-map type network-qos ROCE-NQ
 match qos-group 3
class-map type queuing ROCE-Q3
 match queue 3
class-map type queuing ROCE-Q6
 match queue 6
policy-map type network-qos ROCE-PFC
 class ROCE-NQ
  pause
  pfc-cos 3
policy-map type queuing ROCE-OUT
 class ROCE-Q3
  bandwidth percent 50
  random-detect ROCE-ECN
 class ROCE-Q6
  priority
system qos
 trust-map dscp ROCE-TRUST
 ets mode on
interface range ethernet1/1/1-1/1/4
 mtu 9216
 flowcontrol receive off
 flowcontrol transmit off
 priority-flow-control mode on
 ets mode on
 service-policy input type network-qos ROCE-PFC
 service-policy output type queuing ROCE-OUT
 qos-map traffic-class ROCE-MAP
""".splitlines()
# Generated for an Azure Local by its vendor's tool, indented by two; the DOT1P form.
DOT1P = """
wred ecn
  random-detect color green minimum-threshold 150 maximum-threshold 1500 drop-probability 100
  random-detect ecn
class-map type network-qos AZLOCAL_COS3
  match qos-group 3
class-map type queuing AZLOCAL_QUEUE3
  match queue 3
trust dot1p-map AZLOCAL_DOT1P_TRUST
  qos-group 0 dot1p 0-2,4-6
  qos-group 3 dot1p 3
  qos-group 7 dot1p 7
qos-map traffic-class AZLOCAL_QOS_MAP
  queue 0 qos-group 0-2,4-6
  queue 3 qos-group 3
  queue 7 qos-group 7
policy-map type network-qos AZLOCAL_PFC
  class AZLOCAL_COS3
    pause
    pfc-cos 3
policy-map type queuing AZLOCAL_ETS
  class AZLOCAL_QUEUE3
    bandwidth percent 50
    random-detect ecn
system qos
  trust-map dot1p AZLOCAL_DOT1P_TRUST
  ets mode on
""".splitlines()
# As captured with 10.5.
QUEUES = """
Interface ethernet1/1/4
Queue Packets                  Bytes                    Dropped-Packets          Dropped-Bytes
0     0                        0                        0                        0
1     0                        0                        0                        0
2     0                        0                        0                        0
3     0                        0                        0                        0
4     0                        0                        0                        0
5     0                        0                        0                        0
6     0                        0                        0                        0
7     0                        0                        0                        0
"""


@pytest.fixture
def console():
    return Console(switch("os10", lines=ROCE), "configure terminal")


def device(console):
    return console.dialogue.device


@pytest.mark.parametrize(
    "line,prompt",
    [
        ("wred X", "leaf-01(config-wred)# "),
        (PORT, "leaf-01(conf-if-eth1/1/1)# "),
        ("interface ethernet 1/1/2", "leaf-01(conf-if-eth1/1/2)# "),
        ("interface range ethernet1/1/1-1/1/4", "leaf-01(conf-range-eth1/1/1-1/1/4)# "),
        ("end", "leaf-01# "),
        ("hostname OS10", "OS10(config)# "),
    ],
)
def test_prompts_are_those_of_the_platform(console, line, prompt):
    console(line)
    assert console.prompt == prompt


@pytest.mark.parametrize(
    "lines,complaint",
    [
        (["frobnicate"], "Unrecognized command."),
        (["wred"], "Incomplete command."),
        ([PORT, "mtu 99999"], "Illegal parameter."),
        (["interface ethernet1/1/9"], "Interface ethernet1/1/9 does not exist"),
        (
            [PORT, "service-policy input type network-qos ROCE-MAP"],
            "Policy-map ROCE-MAP of type network-qos does not exist",
        ),
        ([PORT, "service-policy output type queuing ROCE-PFC"], "Policy-map ROCE-PFC of type queuing does not exist"),
        ([PORT, "trust-map dscp ROCE-MAP"], "Trust dscp-map ROCE-MAP does not exist"),
        ([PORT, "qos-map traffic-class ROCE-TRUST"], "Qos-map traffic-class ROCE-TRUST does not exist"),
        (["policy-map type queuing X", "class ROCE-NQ"], "Class-map ROCE-NQ of type queuing does not exist"),
        (
            ["policy-map type queuing ROCE-OUT", "class ROCE-Q3", "random-detect NONE"],
            "WRED profile NONE does not exist",
        ),
        (["policy-map type queuing ROCE-OUT", "class ROCE-Q3", "priority"], "cannot be configured with bandwidth"),
        (
            ["policy-map type queuing ROCE-OUT", "class ROCE-Q6", "bandwidth percent 9"],
            "cannot be configured with strict",
        ),
        ([PORT, "flowcontrol receive on"], "while priority flow control is on"),
        (["no class-map type network-qos ROCE-NQ"], "is in use by policy-map type network-qos ROCE-PFC"),
        (["no policy-map ROCE-OUT"], "is in use by interface ethernet1/1/1"),
        (["no wred ROCE-ECN"], "is in use by policy-map type queuing ROCE-OUT"),
        (["no trust dscp-map ROCE-TRUST"], "is in use by system qos"),
        (["no qos-map traffic-class ROCE-MAP"], "is in use by interface"),
        (["commit"], "No transaction is started"),
    ],
)
def test_what_the_switch_does_not_take_it_refuses_with_its_words(console, lines, complaint):
    text = console(*lines)
    assert text.startswith("% Error: ")
    assert complaint in text


def test_the_sum_of_a_policy_is_no_more_than_all_bandwidth(console):
    console("class-map type queuing Q0", "match queue 0", "policy-map type queuing ROCE-OUT", "class Q0")
    assert "exceeds 100 percent" in console("bandwidth percent 51")
    assert console("bandwidth percent 50") == ""


def test_flow_control_of_the_link_keeps_priority_flow_control_out():
    console = Console(switch("os10"), "configure terminal", PORT, "flowcontrol transmit on")
    assert "link-level flow control is on" in console("priority-flow-control mode on")
    assert console("flowcontrol transmit off", "priority-flow-control mode on") == ""


@pytest.mark.parametrize(
    "lines,wanted",
    [
        pytest.param((), {"trust": "none", "pauses_sent": set(), "no_drop": set(), "mtu": 1532}, id="factory"),
        pytest.param(
            ROCE,
            {"trust": "dscp", "pauses_sent": {3}, "no_drop": {3}, "strict": {6}, "shares": {3: 50}, "mtu": 9216},
            id="lossless",
        ),
        pytest.param(
            [*ROCE, "no priority-flow-control mode"], {"pauses_sent": set(), "no_drop": set()}, id="pfc is off"
        ),
        pytest.param(
            [*ROCE, "no service-policy input type network-qos"],
            {"pauses_heeded": set()},
            id="pfc without a class that pauses",
        ),
        pytest.param(
            [*ROCE, "policy-map type network-qos ROCE-PFC", "class ROCE-NQ", "pfc-cos 4"],
            {"pauses_sent": {4}, "no_drop": {3}},
            id="pauses for another priority than the class",
        ),
        pytest.param([*ROCE, "system qos", "no trust-map"], {"trust": "none"}, id="trust is none unless reported"),
        pytest.param(DOT1P, {"trust": "pcp", "pauses_sent": set()}, id="dot1p"),
        pytest.param([*ROCE, "dcbx enable"], {"dcbx": True}, id="dcbx"),
    ],
)
def test_what_a_configuration_does_to_packets(lines, wanted):
    found = switch("os10", lines=lines).device.treatment("ethernet1/1/4")
    assert {key: getattr(found, key) for key in wanted} == wanted


def test_maps_and_marking_reach_the_hardware(console):
    found = device(console).treatment("ethernet1/1/1")
    assert [found.priorities[dscp] for dscp in (0, 26, 48)] == [0, 3, 6]
    assert found.queues == (0, 0, 0, 3, 0, 0, 6, 0)
    assert (found.marking[3].min_bytes, found.marking[3].mark) == (153600, True)
    console("wred ROCE-ECN", "no random-detect ecn")
    assert not device(console).treatment("ethernet1/1/1").marking[3].mark


def test_a_code_point_stands_in_one_line_of_a_map(console):
    console("trust dscp-map ROCE-TRUST", "qos-group 3 dscp 24-27")
    assert " qos-group 0 dscp 0-23,28-47,49-63\n qos-group 3 dscp 24-27\n" in device(console).running()


def test_the_running_configuration_makes_the_same_switch_again(console):
    text = device(console).running()
    assert "\ninterface ethernet1/1/1\n no shutdown\n switchport access vlan 1\n mtu 9216\n" in text
    assert switch("os10", lines=text.splitlines()).device.running() == text


def test_a_transaction_changes_nothing_until_it_is_committed(console):
    before = device(console).running()
    console("end", "start transaction", "configure terminal", "interface ethernet1/1/2", "mtu 9000", "end")
    assert console("show diff candidate-configuration running-configuration") == "-  mtu 9216\n+  mtu 9000\n"
    assert device(console).running() == before
    console("discard", "start transaction", "configure terminal", "interface ethernet1/1/2", "mtu 9000", "commit")
    assert device(console).treatment("ethernet1/1/2").mtu == 9000


def test_a_session_that_ends_drops_its_transaction(console):
    console("end", "start transaction", "configure terminal", "interface ethernet1/1/2", "mtu 9000")
    console.dialogue.left()
    assert device(console).treatment("ethernet1/1/2").mtu == 9216


def test_only_what_was_saved_survives_a_restart(console):
    console(
        "no dcbx enable",
        "interface ethernet1/1/1",
        "mtu 9000",
        "end",
        "copy running-configuration startup-configuration",
    )
    device(console).switch.full_flash = True
    console("configure terminal", "interface ethernet1/1/1", "mtu 8000", "end")
    assert "No space left" in console("write memory")
    device(console).reload()
    assert device(console).treatment("ethernet1/1/1").mtu == 9000


def test_queues_are_counted_as_captured(console):
    console("end")
    assert bare(console("show queuing statistics interface ethernet 1/1/4")) == bare(QUEUES)
    device(console).switch.ports["ethernet1/1/4"].counters["tx_packets_3"] = 7
    assert console("show queuing statistics interface ethernet1/1/4 queue 3").splitlines()[-1].split()[:2] == ["3", "7"]


@pytest.mark.parametrize(
    "feature,command,shown",
    [
        (
            "pfc",
            "show interface ethernet1/1/1 priority-flow-control details",
            "Operstatus: false\n  PFC Priorities: \n",
        ),
        ("mtu", "show interface ethernet1/1/1", "MTU 1532 bytes, IP MTU 1500 bytes"),
    ],
)
def test_a_dead_feature_shows_in_operation_and_not_in_the_configuration(console, feature, command, shown):
    before = device(console).running()
    device(console).switch.dead_features.add(feature)
    assert shown in console(command)
    assert device(console).running() == before


def test_pages_neighbours_and_ansible_over_ssh(twin):
    running = twin(fabric(seeded("leaf-01", "os10"), seeded("leaf-02", "os10")), faces=("switches",))
    with cli(running, "leaf-01") as console:
        assert "--More--" in console.type("show interface", until="--More--")
        console.press("q")
        assert console("terminal length 0", "show lldp neighbors").split()[-4:-1] == [
            "ethernet1/1/3",
            "leaf-02",
            "ethernet1/1/4",
        ]
    with drive_switch.connected(running, "leaf-01") as opened:
        cliconf = Connection(opened.connection._socket_path)
        assert "OS Version: 10.5.4.4" in cliconf.get("show version")
        cliconf.edit_config([line for line in ROCE if line])
    assert running.world.fabric.switches["leaf-01"].device.treatment("ethernet1/1/1").pauses_sent == {3}
