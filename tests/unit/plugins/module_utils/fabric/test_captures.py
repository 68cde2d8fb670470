# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What captures of switches in use hold beyond the settings: modes, storms, speeds, percentages, maps of a release."""

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import offline
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import platform_of


def parsed(name, outputs):
    return offline.parsed(platform_of(name, None), outputs)


FLOW = """\
Port               Mode Oper(VL bmap)  RxPPP      TxPPP
Ethernet1/1        Auto Off           7          0
Vethernet9547      Auto Off           0          0
Ethernet1/1/2      On   On  (8)       0          5
"""


def test_the_mode_of_flow_control_of_nxos_is_kept_and_vethernets_are_ports():
    reported = parsed("nxos", {"show interface priority-flow-control": FLOW})
    assert {name: (port["pfc_mode"], port["running"]["pfc_mode"]) for name, port in reported["ports"].items()} == {
        "Ethernet1/1": ("auto", "auto"),
        "Ethernet1/1/2": ("on", "on"),
        "Vethernet9547": ("auto", "auto"),
    }


def test_the_mode_of_nxos_is_in_its_json_too():
    rows = [{"if_name_str": "Ethernet1/1", "admin_mode": "Auto", "oper_mode": "Off", "rxppp": "1", "txppp": "2"}]
    text = json.dumps({"TABLE_pfc_interface": {"ROW_pfc_interface": rows}})
    reported = parsed("nxos", {"show interface priority-flow-control | json": text})
    assert reported["ports"]["Ethernet1/1"]["pfc_mode"] == "auto"


def test_the_configuration_of_nxos_decides_the_mode_and_what_is_shown_stays_beside_it():
    config = "interface Ethernet1/1\n  priority-flow-control mode on\ninterface Vethernet9547\n"
    reported = parsed("nxos", {"show running-config": config, "show interface priority-flow-control": FLOW})
    port = reported["ports"]["Ethernet1/1"]
    assert (port["pfc_mode"], port["running"]["pfc_mode"]) == ("on", "auto")


NEAR = """\
Device ID            Local Intf      Hold-time  Capability  Port ID
esx-01               Eth1/1          120        S           vmnic4
a-name-that-is-longer-than-its-column.example
                     Eth1/2          120        BR          swp49 of that
0011.2233.4455       Eth1/3          30                     0011.2233.4455
                     Eth1/4          120
esx-05               Po7             120        BR
esx-06               mgmt0           120        BR          Eth1/7
Total entries displayed: 6
"""


def test_rows_of_neighbours_of_nxos_in_every_form():
    reported = parsed("nxos", {"show lldp neighbors": NEAR})
    assert {
        name: [(peer["system"], peer["port"]) for peer in port["neighbours"]]
        for name, port in reported["ports"].items()
    } == {
        "Ethernet1/1": [("esx-01", "vmnic4")],
        "Ethernet1/2": [("a-name-that-is-longer-than-its-column.example", "swp49 of that")],
        "Ethernet1/3": [("0011.2233.4455", "0011.2233.4455")],
        "Ethernet1/4": [(None, None)],
        "port-channel7": [("esx-05", None)],
        "mgmt0": [("esx-06", "Eth1/7")],
    }


GUARD = """\
Ethernet1/1 Interface PFC watchdog: [Enabled]
|  QOS GROUP 3 [{}] PFC [YES] PFC-COS [3]
|         Shutdown|                                {}|
|         Restored|                                {}|
"""


@pytest.mark.parametrize(
    "state, shut, back, storms",
    [("Active", 2, 2, []), ("Active", 2, 1, [3]), ("Shutdown", 1, 1, [3]), ("Active", 0, 0, [])],
    ids=["over", "not given back", "shut down", "never"],
)
def test_a_storm_that_goes_on_is_in_the_state_of_an_nxos_port(state, shut, back, storms):
    reported = parsed("nxos", {"show queuing pfc-queue": GUARD.format(state, shut, back)})
    running = reported["ports"]["Ethernet1/1"]["running"]
    assert (running["storms"], running["counters"]["watchdog_events"]) == (storms, shut)


STATS = """\
      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP
-----------  -----------  -------------------------  ------------
Ethernet0:3      {}                        3/2         100/5
Ethernet0:4  operational                        1/1         100/5
"""


@pytest.mark.parametrize("state, storms", [("stormed", [3]), ("operational", [])])
@pytest.mark.parametrize("command", ["show pfcwd stats", "show pfcwd stats -e"])
def test_a_storm_that_goes_on_is_in_the_state_of_a_sonic_port(command, state, storms):
    reported = parsed("sonic", {command: STATS.format(state.rjust(7))})
    assert reported["ports"]["Ethernet0"]["running"]["storms"] == storms
    assert reported["unread"] == []


@pytest.mark.parametrize("again, storms", [(2, []), (1, [3])])
def test_a_storm_that_goes_on_is_in_the_state_of_an_eos_port(again, storms):
    text = f"Port    TxQ   Total times stuck   Total times recovered\nEt1     UC3                   2   {again}\n"
    reported = parsed("eos", {"show priority-flow-control counters watchdog": text})
    running = reported["ports"]["Ethernet1"]["running"]
    assert (running["storms"], running["counters"]["watchdog_events"]) == (storms, 2)


WATCHED = """\
       operational  applied
-----  -----------  -------
state  enabled      enabled

PFC WD Status
===========================
    traffic-class  status    deadlock-count
    -------------  --------  --------------
    3              {}  4
    6              OK        0
"""
WATCHED_JSON = {"state": "enabled", "status": {"3": {"status": "DEADLOCK", "deadlock-count": 4}}}


@pytest.mark.parametrize(
    "text, storms",
    [(WATCHED.format("DEADLOCK"), [3]), (WATCHED.format("OK      "), []), (json.dumps(WATCHED_JSON), [3])],
    ids=["storm", "no storm", "JSON"],
)
def test_a_storm_that_goes_on_is_in_the_state_of_a_cumulus_port(text, storms):
    reported = parsed("cumulus", {"nv show interface swp1 qos pfc-watchdog": text})
    running = reported["ports"]["swp1"]["running"]
    assert (running["storms"], running["counters"]["watchdog_events"], running["watchdog"]) == (
        storms,
        4 if storms or "4\n" in text else 0,
        True,
    )


def test_sonic_reports_speed_and_asymmetric_flow_control():
    reported = parsed(
        "sonic",
        {
            "show interfaces status": (
                "  Interface    Lanes    Speed    MTU    Oper    Admin\n"
                "-----------  -------  -------  -----  ------  -------\n"
                "  Ethernet0  0,1,2,3     400G   9100      up       up\n"
                "  Ethernet4  4,5,6,7      N/A   9100    down       up\n"
            ),
            "show pfc asymmetric": (
                "Interface    Asymmetric\n-----------  ------------\nEthernet0    on\nEthernet4    off\n"
            ),
        },
    )
    assert {name: (port["speed"], port["pfc_asymmetric"]) for name, port in reported["ports"].items()} == {
        "Ethernet0": (400, True),
        "Ethernet4": (None, False),
    }


ETS = {"0": ("WRR", "25", "34"), "3": ("WRR", "50", "66"), "6": ("Strict", "0", "0")}
COLUMNS = ("S.Mode", "W", "W(%)")
ETS_ROWS = {queue: [dict(zip(COLUMNS, row, strict=True))] for queue, row in ETS.items()}
ETS_JSON = json.dumps([{"Eth1/1": {"ETS per TC": [ETS_ROWS]}}])
ETS_TEXT = "Eth1/1\n\n  Flags:\n    W : Weight\n\n  ETS per TC:\n  TC  S.Mode   W    W(%)  BW Sh.(Mbps)\n" + "".join(
    f"  {queue}   {'   '.join(row)}   N/A\n" for queue, row in ETS.items()
)
NO_PERCENT = ETS_TEXT.replace("W(%)", "").replace("   34 ", "").replace("   66 ", "")


@pytest.mark.parametrize(
    "text, shares",
    [(ETS_JSON, {0: 34, 3: 66}), (ETS_TEXT, {0: 34, 3: 66}), (NO_PERCENT, {0: 33, 3: 67})],
    ids=["JSON", "text", "weights alone"],
)
def test_shares_of_onyx_are_percentages(text, shares):
    port = parsed("onyx", {"show dcb ets interface ethernet 1/1": text})["ports"]["Eth1/1"]
    assert (port["shares"], port["strict"]) == (shares, [6])


def test_text_of_onyx_is_read_as_its_json_is():
    prompt = "leaf [standalone: master] > "
    text = f"""\
{prompt}show qos interface ethernet 1/1
Eth1/1
  Trust mode                 : L3
  Default switch-priority    : 0
  PCP(DEI); DSCP to switch-priority mapping:
  0(0) 0(1)    0 1 2 3 4 5 6 7             0
  3(0) 3(1)    24 25 26 27 28 29 30 31     3
{prompt}show interfaces ethernet 1/1 congestion-control
Interface ethernet: 1/1
ECN marked packets: 7
TC-0
  Mode: none
TC-3
  Mode: ECN
  Threshold mode: absolute
  Minimum threshold: 150 KB
  Maximum threshold: 1500 KB
{prompt}show interfaces ethernet 1/1
Eth1/1:
  Operational state : Up
  MTU               : 9216 bytes (Maximum packet size 9238 bytes)
  Actual speed      : 100 Gbps
{prompt}show interfaces status
Port                   Operational state   Speed
Eth1/2                 Down                Unknown
"""
    reported = parsed("onyx", text)
    port = reported["ports"]["Eth1/1"]
    assert (port["trust"], port["dscp_map"][26], port["speed"]) == ("dscp", 3, 100)
    assert (port["ecn"][3]["max_bytes"], port["running"]["counters"], port["running"]["up"]) == (
        1500000,
        {"ecn_marked": 7},
        True,
    )
    assert (reported["ports"]["Eth1/2"]["running"]["up"], reported["unread"]) == (False, [])


@pytest.mark.parametrize(
    "command, text, says",
    [
        ("show roce", "RoCE mode: N/A\n", "preset is off"),
        ("show traffic pool roce", '{"roce": [{"Type": "lossless", "Switch Priorities": "3"}]}', "names no port"),
    ],
)
def test_what_onyx_reports_of_no_port_is_said(command, text, says):
    reported = parsed("onyx", {command: text})
    assert (reported["ports"], [says in sentence for sentence in reported["unread"]]) == ({}, [True])


@pytest.mark.parametrize(
    "name, row",
    [
        ("eos", "Et1        a host      connected    trunk    full   100G   100GBASE-CR4\n"),
        ("nxos", "Eth1/1        a host             connected trunk     full    100G    QSFP-100G-CR4\n"),
    ],
)
def test_the_table_of_links_reports_state_and_speed(name, row):
    command = {"eos": "show interfaces status", "nxos": "show interface status"}[name]
    (port,) = parsed(name, {command: row})["ports"].values()
    assert (port["running"]["up"], port["speed"]) == (True, 100)


@pytest.mark.parametrize(
    "row, up, speed",
    [
        ("Eth1/9     --                 connected 1         full    1000    1000base-T", True, 1),
        ("Eth1/9     a host             connected trunk     full    a-10G   10Gbase-SR", True, 10),
        ("Eth1/9     --                 channelDo 1         full    10G     Fabric Exte", False, 10),
        ("Eth1/9     --                 notconnec routed    auto    auto    --", False, None),
        ("Po9        x                  noOperMem trunk     auto    auto    --", False, None),
    ],
)
def test_rows_of_links_of_nxos_have_speeds_of_two_kinds_and_many_states(row, up, speed):
    reported = parsed("nxos", {"show interface status": row})
    assert [(port["running"]["up"], port["speed"]) for port in reported["ports"].values()] == [(up, speed)]
    assert reported["unread"] == []


def test_a_port_without_a_neighbour_is_not_unread():
    text = 'Interface Ethernet1 detected 1 LLDP neighbors:\n  Neighbor 0011.2233.4455/"vmnic4", age 5 seconds\n'
    text += '  - Chassis ID     : 0011.2233.4455\n  - System Name: "esx-01"\n'
    reported = parsed("eos", {"show lldp neighbors detail": f"{text}Interface Ethernet2 detected 0 LLDP neighbors:\n"})
    assert (list(reported["ports"]), reported["unread"]) == (["Ethernet1"], [])


def test_the_release_of_junos_is_not_the_date_of_a_build():
    text = "Hostname: leaf\nJUNOS OS Kernel 64-bit [20220419.9889e6f_builder]\nJUNOS Routing Software [21.4R3-S3.4]\n"
    assert parsed("junos", {"show version": text})["version"] == "21.4R3-S3.4"


def test_a_link_without_its_state_is_not_down():
    reported = parsed("eos", {"show interfaces ethernet 1": "  Ethernet MTU 9214 bytes, BW 100000000 kbit\n"})
    running = reported["ports"]["Ethernet1"]["running"]
    assert (running["up"], running["mtu"]) == (None, 9214)


def test_a_setting_of_os10_with_the_number_of_a_port_channel_is_no_port():
    text = "interface port-channel7\n mtu 9216\n vlt-port-channel 7\ninterface port-channel8\n vlt-port-channel 9\n"
    reported = parsed("os10", {"show running-configuration": text})
    assert (list(reported["ports"]), reported["unread"]) == (["port-channel7", "port-channel8"], [])


@pytest.mark.parametrize(
    "name, text",
    [
        ("eos", "interface Ethernet1\n mtu " + "9" * 5000),
        ("nxos", "interface Ethernet1/" + "9" * 5000 + "\n mtu 9216"),
        ("os10", "interface ethernet1/1/" + "9" * 5000 + "\n mtu 9216"),
        ("sonic", '{"PORT":' * 5000),
        ("sonic", '{"PORT":' + "[" * 5000),
        ("junos", "leaf> show version\nModel: qfx\n" * 1200),
    ],
)
def test_an_output_without_limits_ends_without_a_traceback(name, text):
    command = platform_of(name, None).reads([])[0]
    assert offline.parsed(platform_of(name, None), {command: text})["platform"] == name
