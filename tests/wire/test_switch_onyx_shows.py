"""What an Onyx switch of the twin shows, against captured output."""

from __future__ import annotations

import json

import pytest

from .switch_console import Console, bare, switch

ENTER = ("enable", "configure terminal")
PFC = ("dcb priority-flow-control enable force", "dcb priority-flow-control priority 3 enable")
POOL = (
    "traffic pool roce type lossless",
    "traffic pool roce memory percent 50.00",
    "traffic pool roce map switch-priority 3",
)
PORT = "interface ethernet 1/1"
ROCE_OFF = "\nRoCE mode: N/A\n\n"
# As captured on an SN2700 with 3.10.4006; what pools use at the moment is left out.
ROCE_ON = """
RoCE mode      : lossless
LLDP           : enabled
Port trust mode: L3

Application TLV:
  Selector: udp
  Protocol: 4791
  Priority: 3

Port congestion-control:
  Mode    : ecn, absolute
  Min (KB): 150
  Max (KB): 1500

PFC              : enabled
switch-priority 3: enabled

RoCE used TCs:
  ----------------------------------------------
  Switch-Priority   TC     Application   ETS
  ----------------------------------------------
  3                 3      RoCE          WRR 50%
  6                 6      CNP           Strict

RoCE buffer pools:
  ----------------------------------------------------------------------------------------------
  Traffic                  Type      Memory   Switch        Memory actual   Usage    Max Usage
  Pool                               [%]      Priorities
  ----------------------------------------------------------------------------------------------
  lossy-default            lossy     auto     0, 1, 2, 4,   3.6M            0        0
                                              5, 6, 7
  roce-reserved            lossless  auto     3             3.6M            0        0

Exception list:
N/A
"""


@pytest.fixture
def console():
    return Console(switch("onyx"), *ENTER)


def of(console, command):
    """What json-print shows."""
    return json.loads(console(f"{command} | json-print"))


def device(console):
    return console.dialogue.device


def test_the_preset_is_shown_as_captured(console):
    assert console("show roce") == ROCE_OFF
    assert bare(console("roce lossless", "show roce")) == bare(ROCE_ON)
    assert console("no roce", "show roce") == ROCE_OFF


@pytest.mark.parametrize(
    "version,first",
    [
        pytest.param("3.10.4006", [{"PFC": "enabled"}, {"Priority Enabled List": "3"}], id="lists"),
        pytest.param("3.6.5000", {"PFC": "enabled", "Priority Enabled List": "3"}, id="dictionaries"),
    ],
)
def test_the_shape_of_json_is_that_of_the_release(version, first):
    console = Console(switch("onyx", version), *ENTER, *PFC, f"{PORT} dcb priority-flow-control mode on force")
    found = of(console, "show dcb priority-flow-control")
    assert (
        found[:1] + [{"Priority Enabled List": "3"}] == first
        if isinstance(found, list)
        else first.items() <= found.items()
    )
    ports = found[2] if isinstance(found, list) else found["Table 2"]
    assert [ports[f"Eth1/{index}"][0]["PFC oper"] for index in (1, 2)] == ["Enabled", "Disabled"]
    entry = of(console, "show interfaces ethernet 1/1")[0]
    assert ("header" in entry) is (version == "3.6.5000")


def test_congestion_control_in_json_is_as_captured(console):
    console(
        f"{PORT} traffic-class 2 congestion-control red minimum-relative 9 maximum-relative 90",
        f"{PORT} traffic-class 3 congestion-control ecn minimum-absolute 500 maximum-absolute 1550",
    )
    found = of(console, "show interfaces ethernet 1/1 congestion-control")
    assert found[0] == {"Interface ethernet": "1/1", "ECN marked packets": "0"}
    assert found[3] == {
        "header": "TC-2",
        "Mode": "RED",
        "Threshold mode": "relative",
        "Minimum threshold": "9%",
        "Maximum threshold": "90%",
        "RED dropped packets": "0",
    }
    assert (found[4]["Mode"], found[4]["Minimum threshold"]) == ("ECN", "500 KB")
    assert found[1] == {"header": "TC-0", "Mode": "none"}


def test_trust_maps_and_weights_in_json_are_as_captured(console):
    console(
        f"{PORT} qos trust both", f"{PORT} traffic-class 2 dcb ets strict", f"{PORT} traffic-class 3 dcb ets strict"
    )
    head, priorities, rewrite = of(console, "show qos interface ethernet 1/1")[0]["Eth1/1"]
    assert (head["Trust mode"], head["Default switch-priority"]) == ("both", "0")
    row = priorities["PCP(DEI); DSCP to switch-priority mapping"][0]["3(0) 3(1)"][0]
    assert row == {"switch-priority": "3", "DSCP": "24 25 26 27 28 29 30 31"}
    [(_title, (_interface, table))] = rewrite.items()
    assert table["6"] == [{"PCP(DEI)": "6(0)", "DSCP": "48", "TC": "6"}]
    classes = of(console, "show dcb ets interface ethernet 1/1")[0]["Eth1/1"][2]["ETS per TC"][0]
    assert {tc: (one[0]["S.Mode"], one[0]["W"], one[0]["W(%)"]) for tc, one in classes.items() if tc in "0123"} == {
        "0": ("WRR", "12", "16"),
        "1": ("WRR", "13", "17"),
        "2": ("Strict", "0", "0"),
        "3": ("Strict", "0", "0"),
    }


@pytest.mark.parametrize(
    "command,way,key",
    [
        ("counters pfc prio 3", "Rx", "pause packets"),
        ("counters tc 3", "Tx", "packets"),
        ("counters roce", "Tx", "RoCE TC packets"),
        ("counters roce", "Rx", "RoCE PG packets"),
    ],
)
def test_counters_of_ports_are_in_json(console, command, way, key):
    device(console).switch.ports["Eth1/2"].counters.update(
        dict.fromkeys(("rx_pause_3", "tx_packets_3", "rx_packets_3"), 5)
    )
    found = of(console, f"show interfaces ethernet 1/1-1/2 {command}")
    values = [next(one[way][0][key] for one in port[name] if way in one) for port in found for name in port]
    assert values == ["0", "5"]
    console("clear counters all")
    assert "5 " not in console(f"show interfaces ethernet 1/2 {command}")


def test_a_pool_of_the_user_is_shown_as_captured(console):
    console(*POOL)
    found = of(console, "show traffic pool roce")
    assert {key: found["roce"][0][key] for key in ("Type", "Switch Priorities", "Memory [%]")} == {
        "Type": "lossless",
        "Switch Priorities": "3",
        "Memory [%]": "50.00",
    }
    assert found["Exception list"] == {"message": "N/A"}


@pytest.mark.parametrize(
    "line,exception",
    [
        (f"{PORT} qos trust L2", "Eth1/1: qos trust L2"),
        ("interface ethernet 1/2-1/3 traffic-class 3 dcb ets wrr 20", "Eth1/2-1/3: traffic-class 3 dcb ets wrr 20"),
        ("dcb priority-flow-control priority 4 enable", "PFC switch-priorities: 3 4"),
        ("traffic pool mine type lossy", "Traffic pool mine"),
        ("no lldp", "LLDP is disabled"),
    ],
)
def test_what_contradicts_the_preset_is_listed(console, line, exception):
    text = console("roce lossless", line, "show roce")
    assert text.partition("Exception list:\n")[2] == f"{exception}\n"


@pytest.mark.parametrize(
    "feature,command,shown",
    [
        ("pfc", "show dcb priority-flow-control", "Eth1/1           On               Disabled"),
        ("ecn", "show interfaces ethernet 1/1 congestion-control", "TC-3\n    Mode: none"),
        ("trust", "show qos interface ethernet 1/1", "Trust mode              : L2"),
        ("mtu", "show interfaces ethernet 1/1", "1500 bytes"),
    ],
)
def test_a_dead_feature_shows_in_operation_and_not_in_the_configuration(console, feature, command, shown):
    console("roce lossless", "interface ethernet 1/1-1/4 mtu 9216 force")
    before = device(console).running()
    device(console).switch.dead_features.add(feature)
    assert shown in console(command)
    assert device(console).running() == before
