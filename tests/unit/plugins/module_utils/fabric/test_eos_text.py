# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.eos import text as eos_text
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.eos.platform import Eos
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking

SAMPLES = Path(__file__).parent / "samples" / "eos"
GENERATED = "running-config_qos_profiles_generated.txt"
CAPTURE = "running-config_storage_port_capture.txt"
DEFAULTS = "show_running-config_all_interface_defaults_7260CX3_4.22.3M.txt"


def parsed(text):
    """Return the values of a single text, as in `state: parsed`."""
    platform = Eos()
    return platform.parse({platform.command_of(text): text})


def sample(name):
    return parsed((SAMPLES / name).read_text())


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.iterdir()))
@pytest.mark.parametrize(
    "shaped",
    [str, lambda text: text.replace("\n", "\r\n"), lambda text: "\n".join(f"  {line}" for line in text.split("\n"))],
    ids=["as it is", "CRLF", "pasted"],
)
def test_every_capture_is_recognised_and_reports_of_its_ports(name, shaped):
    switch = parsed(shaped((SAMPLES / name).read_text()))
    assert switch.ports


@pytest.mark.parametrize(
    "name, port, expected",
    [
        (
            GENERATED,
            "Ethernet1",
            {
                "trust": "dscp",
                "ecn": {2: Marking(320000, 320000, 90), 4: Marking(66560, 66560)},
                "shares": {1: 50},
                "mtu": 1500,
                "watchdog_detection_ms": 50,
                "watchdog_recovery_ms": 1220,
                "watchdog_action": "forward",
                "pfc_mode": "off",
            },
        ),
        (GENERATED, "Ethernet6", {"trust": "pcp", "shares": {3: 30, 5: 40, 7: 30}, "ecn": {}}),
        (CAPTURE, "EthernetN/1", {"pfc_mode": "on", "pfc": [3], "lossless": [3], "dcbx": "ieee", "mtu": 9214}),
        (CAPTURE, "EthernetN/1", {"trust": "pcp", "watchdog": False, "pause": False}),
        (DEFAULTS, "Ethernet1/1", {"trust": "dscp", "pfc_mode": "off", "pfc": [], "lossless": [], "mtu": 9212}),
        (DEFAULTS, "Ethernet1/1", {"strict": [3, 5, 6, 7], "shares": {0: 69, 1: 1, 2: 20, 4: 10}, "ecn": {}}),
        (DEFAULTS, "Ethernet1/1", {"watchdog": False, "dcbx": "off", "pause": False}),
    ],
)
def test_a_configuration_reports_what_a_port_does(name, port, expected):
    found = sample(name).ports[port]
    assert {key: getattr(found, key) for key in expected} == expected


@pytest.mark.parametrize(
    "port, dscp, priority",
    [
        ("Ethernet6", 26, 4),
        ("Ethernet6", 46, 5),
        ("Ethernet6", 48, 6),
        ("Ethernet6", 24, 1),
        ("Ethernet6", 0, None),
        ("Ethernet1", 26, 1),
    ],
    ids=["mapped", "mapped alone", "default", "listed", "default that differs by family", "a policy comes first"],
)
def test_code_points_follow_map_default_and_policy(port, dscp, priority):
    assert sample(GENERATED).ports[port].dscp_map.get(dscp) == priority


def test_priorities_share_the_queue_that_the_map_sends_them_to():
    assert sample(GENERATED).ports["Ethernet6"].queues == {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 2, 7: 7}


def test_flow_control_that_is_off_everywhere_is_reported_and_counts():
    switch = sample(GENERATED)
    assert len(switch.exceptions) == 1
    assert "all off" in switch.exceptions[0]


def test_the_header_of_a_capture_names_the_switch():
    switch = sample(DEFAULTS)
    assert (switch.model, switch.version) == ("DCS-7260CX3-64E", "4.22.3M")


def test_a_backup_holds_no_secrets_and_all_of_qos():
    text = "username a secret sha512 $6$x\nsnmp-server community public\nsnmp-server host 10.0.0.1 public\n"
    text += "interface Ethernet1\n   ip ospf authentication-key 7 abc\n   mtu 9214\n   qos trust dscp\n"
    text += "qos map dscp 26 to traffic-class 3\n"
    assert parsed(text).config == (
        "interface Ethernet1\n   mtu 9214\n   qos trust dscp\nqos map dscp 26 to traffic-class 3"
    )


PROFILE = """
qos profile P
   qos trust dscp
   priority-flow-control on
   priority-flow-control priority 3 no-drop
   {keyword} 3
      no priority
      bandwidth percent 40
interface Ethernet1
   service-profile P
   {line}
   {keyword} 3
      {inside}
"""


@pytest.mark.parametrize("keyword", ["tx-queue", "uc-tx-queue"])
@pytest.mark.parametrize(
    "line, inside, expected",
    [
        ("mtu 9000", "no priority", {"trust": "dscp", "pfc": [3], "pfc_mode": "on", "shares": {3: 40}}),
        ("qos trust cos", "bandwidth percent 60", {"trust": "pcp", "shares": {3: 60}}),
        ("priority-flow-control priority 3 drop", "no priority", {"pfc": [], "lossless": []}),
        ("priority-flow-control priority 4,5 no-drop", "no priority", {"pfc": [3, 4, 5]}),
        ("priority-flow-control priority 4-5 no-drop", "no priority", {"pfc": [3, 4, 5]}),
        ("priority-flow-control off", "no priority", {"pfc_mode": "off", "pfc": [3], "lossless": []}),
        ("flowcontrol receive on", "no priority", {"pause": True}),
        ("flowcontrol send desired", "no priority", {"pause": True}),
        ("no switchport", "priority strict", {"shares": {}, "trust": "dscp"}),
        (
            "mtu 9000",
            "random-detect drop minimum-threshold 1 mbytes maximum-threshold 2 mbytes drop-probability 50",
            {"ecn": {3: Marking(1000000, 2000000, 50, mark=False)}},
        ),
    ],
)
def test_what_an_interface_says_itself_comes_before_its_profile(keyword, line, inside, expected):
    found = parsed(PROFILE.format(keyword=keyword, line=line, inside=inside)).ports["Ethernet1"]
    assert {key: getattr(found, key) for key in expected} == expected


@pytest.mark.parametrize(
    "line, mode",
    [("priority-flow-control mode on", "on"), ("priority-flow-control on", "on"), ("no priority-flow-control", "off")],
)
def test_old_and_new_words_for_flow_control(line, mode):
    assert parsed(f"interface Ethernet1\n   {line}\n").ports["Ethernet1"].pfc_mode == mode


GUARD = "priority-flow-control pause watchdog"


@pytest.mark.parametrize(
    "switch, port, expected",
    [
        ("", "mtu 9000", (False, None, None, None)),
        ("", GUARD, (False, None, None, None)),
        (f"{GUARD} default timeout 0.2", "mtu 9000", (True, 200, None, None)),
        (f"{GUARD} default timeout 0.2", f"no {GUARD}", (False, 200, None, None)),
        (
            f"{GUARD} action drop",
            f"{GUARD} port timer timeout 1 polling-interval auto recovery-time 2.5 forced",
            (True, 1000, 2500, "drop"),
        ),
        (f"{GUARD} action no-drop", f"{GUARD} port action drop", (False, None, None, "drop")),
    ],
    ids=["nothing", "a port alone", "the switch", "not this port", "times of a port", "action of a port"],
)
def test_the_watchdog_of_a_port_needs_a_timeout(switch, port, expected):
    found = parsed(f"{switch}\ninterface Ethernet1\n   {port}\n").ports["Ethernet1"]
    times = (found.watchdog_detection_ms, found.watchdog_recovery_ms, found.watchdog_action)
    assert (found.watchdog, *times) == expected


NEWER = """
The hardware supports PFC on priorities 0 1 2 3 4 5 6 7
The PFC watchdog timeout is 0.2 second(s)
E: PFC Enabled, D: PFC Disabled, A: PFC Active, W: PFC Watchdog Enabled
Port         Status   Priorities  Action      Timeout  Recovery   Polling         Note
                                                       Interval   Config/Oper
------------ -------- ----------- ----------- -------- ---------- --------------- -----------------
Et1/1        E A W    3           drop        0.2      1.0        0.1/0.1         DCBX disabled
Et2/1        D
Et3/1        E A      3 4         -           -        -          -/-             DCBX disabled

Port              RxPfc      TxPfc
Et1/1                12          7
Po5                   0          0
"""


@pytest.mark.parametrize(
    "port, expected",
    [
        ("Ethernet1/1", ([3], True, True, "off", {"pauses_received": 12, "pauses_sent": 7})),
        ("Ethernet2/1", ([], False, False, None, {})),
        ("Ethernet3/1", ([3, 4], True, False, "off", {})),
    ],
)
def test_the_newer_table_of_flow_control(port, expected):
    found = parsed(NEWER).oper[port]
    assert (found.pfc, found.pfc_sends, found.watchdog, found.dcbx, found.counters) == expected


OLDER = """
Port       Enabled  Priorities  Active  Note
Ethernet1  Yes      3           Yes     DCBX disabled
Ethernet2  Yes      3 4         No
Ethernet3  No                   No
Po7        Yes      3,5         Yes
"""


@pytest.mark.parametrize(
    "port, pfc, dcbx",
    [
        ("Ethernet1", [3], "off"),
        ("Ethernet2", [], None),
        ("Ethernet3", [], None),
        ("Port-Channel7", [3, 5], None),
    ],
)
def test_the_older_table_of_flow_control(port, pfc, dcbx):
    assert (parsed(OLDER).oper[port].pfc, parsed(OLDER).oper[port].dcbx) == (pfc, dcbx)


QUEUES = """
Ethernet1:
   Trust Mode: DSCP
   Default COS: 0
  Tx     Bandwidth    Shape Rate   Priority   ECN/WRED
 Queue   (percent)      (units)
 -----------------------------------------------------
   6      - / -        - / -        SP         D
   3      50 / 50      - / -        RR         L

Ethernet2:
   Trust Mode: COS
   3      - / -        - / -        SP / SP    D
"""
THRESHOLDS = {
    "a table": "Ethernet1:\n Tx-Queue  Minimum threshold  Maximum\n  3   150   1500   kbytes   100   0\n",
    "units behind each": "Ethernet1:\n Tx-Queue threshold\n  UC-Tx-Queue 3:  150 kbytes  1500 kbytes  100\n",
    "lines": (
        "Ethernet1:\n Tx-Queue: 3\n   Minimum threshold: 150 kbytes\n   Maximum threshold: 1500 kbytes\n"
        "   Max mark probability: 100 %\n"
    ),
}


def test_queues_report_trust_order_and_that_nothing_marks():
    switch = parsed(QUEUES)
    assert [switch.oper[name].trust for name in ("Ethernet1", "Ethernet2")] == ["dscp", "pcp"]
    assert switch.oper["Ethernet2"].ecn == {}


@pytest.mark.parametrize("text", THRESHOLDS.values(), ids=THRESHOLDS)
def test_thresholds_that_run_are_read_in_every_form(text):
    assert Eos().parse({"show qos interfaces ecn": text}).oper["Ethernet1"].ecn == {3: Marking(150000, 1500000, 100)}


def test_what_runs_reports_which_queues_go_first_where_the_configuration_is_silent():
    texts = {"show running-config": "interface Ethernet1\n   mtu 9214\n", "show qos interfaces": QUEUES}
    strict = Eos().parse(texts).ports["Ethernet1"].strict
    assert 6 in strict
    assert 3 not in strict


DETAIL = """{"lldpNeighbors": {"Ethernet1": {"lldpNeighborInfo": [
 {"systemName": "esx-01", "chassisId": "b8ce.f600.0001",
 "neighborInterfaceInfo": {"interfaceId": "\\"vmnic2\\"", "interfaceId_v2": "vmnic2", "interfaceDescription": "p"}},
 {"systemName": "nic", "chassisId": "b8ce.f600.0002", "neighborInterfaceInfo": {}}]}, "Ethernet2": {}}}"""
BRIEF = '{"lldpNeighbors": [{"port": "Ethernet1", "neighborDevice": "esx-01", "neighborPort": "vmnic2", "ttl": 120}]}'


def test_two_agents_behind_a_port_are_two_neighbours():
    found = parsed(DETAIL).neighbours
    assert [(one.system, one.port) for one in found["Ethernet1"]] == [("esx-01", "vmnic2"), ("nic", None)]
    assert "Ethernet2" not in found
    assert [(one.system, one.port) for one in parsed(BRIEF).neighbours["Ethernet1"]] == [("esx-01", "vmnic2")]


@pytest.mark.parametrize(
    "text, unsaved",
    [
        ("", False),
        ("--- flash:/startup-config\n+++ system:/running-config\n@@ -1 +1,2 @@\n hostname a\n+qos trust dscp\n", True),
    ],
)
def test_whether_all_is_saved(text, unsaved):
    assert Eos().parse({"show running-config diffs": text}).unsaved is unsaved


def test_a_text_of_something_else_is_not_taken_for_anything():
    assert Eos().command_of("Interface    IP Address\nEthernet1    10.0.0.1/24\n") is None
    assert Eos().command_of('{"peers": {}}') is None


def test_the_content_of_a_profile_is_what_differs_from_an_empty_one():
    block = eos_text.Block(
        trust="dscp", no_drop={4, 3}, watchdog=False, queues={4: eos_text.Queue(percent=50)}, mtu=9000
    )
    reported = eos_text.content(block)
    assert reported == "trust: dscp, no_drop: 3 4, watchdog: False, queues: 4 percent=50, mtu: 9000"
    assert eos_text.content(eos_text.Block()) == ""
