from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import compare
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import intent
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.enterprise_sonic.platform import (
    CONFIG,
    LLDP,
    QOS,
    STATUS,
    VERSION,
    EnterpriseSonic,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Refused

SAMPLE = Path(__file__).with_name("samples") / "sonic" / "enterprise_sonic_running-config_interface_qos.txt"
PLATFORM = EnterpriseSonic()
BUFFERS = "roce enable pfc-priority 3,4\n"
PORT = "interface Eth1/1\n mtu 9216\n"
SET = """\
!
hostname leaf-05
snmp-server community hidden
qos map dscp-tc theirs
 dscp 24-31 traffic-class 3
 dscp 48 traffic-class 6
!
qos map tc-pg groups
 traffic-class 3 priority-group 3
 traffic-class 0-2,4-7 priority-group 7
!
qos wred-policy marks
 green minimum-threshold 150 maximum-threshold 1500 drop-probability 100
 ecn green
!
qos scheduler-policy shares
 !
 queue 0
  type dwrr
  weight 50
 !
 queue 3
  type dwrr
  weight 50
 !
 queue 6
  type strict
!
interface Eth1/1
 mtu 9216
 queue 3 wred-policy marks
 scheduler-policy shares
 qos-map dscp-tc theirs
 qos-map tc-pg groups
 priority-flow-control priority 3
 priority-flow-control watchdog on detect-time 400
"""


def commands(config, requested=None, exact=True, platform=PLATFORM):
    there, wanted_intent = platform.parse({CONFIG: config}), intent(requested or {})
    wanted = {"Eth1/1": compare.wanted(wanted_intent, platform)}
    now = {"Eth1/1": compare.effect(there.ports["Eth1/1"], wanted_intent)}
    if not compare.changes(now, wanted, exact):
        return []
    return platform.render(there, wanted, wanted_intent, exact).commands


def test_the_sample():
    text = SAMPLE.read_text()
    port = PLATFORM.parse({PLATFORM.command_of(text): text.replace("\n", "\r\n")}).ports["Eth1/5"]
    assert (port.pfc, port.trust, port.cable_length_m, port.lossless) == ([0, 1], "dscp", 40, [])
    assert (port.watchdog, port.watchdog_action) == (True, "alert")
    assert (port.watchdog_detection_ms, port.watchdog_recovery_ms) == (100, 200)


def test_weights_of_zero_are_no_error():
    served = "qos scheduler-policy shares\n queue 0\n  type dwrr\n  weight 0\n" + PORT + " scheduler-policy shares\n"
    assert PLATFORM.parse({CONFIG: served}).ports["Eth1/1"].shares == {0: 100}


def test_an_equal_configuration_with_names_of_somebody_needs_nothing():
    assert commands(BUFFERS + SET) == []


def test_the_backup_has_no_secrets():
    assert "hidden" not in PLATFORM.parse({CONFIG: SET}).config
    assert PLATFORM.parse({CONFIG: SET}).hostname == "leaf-05"


def test_from_the_factory_objects_come_before_the_lines_that_name_them():
    sent = commands(BUFFERS + PORT)
    used = sent.index("qos-map dscp-tc AIREADY-ROCE-26-3-48-6")
    assert sent.index("qos map dscp-tc AIREADY-ROCE-26-3-48-6") < used
    assert sent.index("priority-flow-control priority 3") > sent.index("qos map tc-pg AIREADY-GROUPS-3")
    assert (sent[0], sent[-1]) == ("configure terminal", "end")


@pytest.mark.parametrize(
    "requested, there, gone",
    [
        pytest.param(
            {"mode": "lossy"},
            ["no priority-flow-control priority 3", "no priority-flow-control watchdog on"],
            [],
            id="lossy",
        ),
        pytest.param(
            {"priority": 4, "dscp": 34},
            ["priority-flow-control priority 4", "no priority-flow-control priority 3"],
            [],
            id="another priority",
        ),
        pytest.param(
            {"ecn": {"min_kb": 300, "max_kb": 3000}},
            ["queue 3 wred-policy AIREADY-300-3000-100"],
            ["no qos wred-policy marks"],
            id="other thresholds leave the policy of others",
        ),
        pytest.param({"ecn": {"state": "disabled"}}, ["no queue 3 wred-policy"], [], id="no marking"),
        pytest.param({"cable_length_m": 100}, ["cable-length 300m"], [], id="the next length that there is"),
    ],
)
def test_what_differs_is_sent(requested, there, gone):
    sent = commands(BUFFERS + SET, requested)
    assert [line for line in there if line not in sent] == []
    assert [line for line in gone if line in sent] == []


def test_a_stale_priority_goes_and_stays_only_where_merged():
    two = SET + " priority-flow-control priority 4\n"
    assert commands(BUFFERS + two)[1:-1] == ["interface Eth1/1", "no priority-flow-control priority 4", "exit"]
    assert commands(BUFFERS + two, exact=False) == []


def test_removal_leaves_objects_of_others_and_the_mtu():
    there = PLATFORM.parse({CONFIG: BUFFERS + SET})
    sent = PLATFORM.render(there, {"Eth1/1": {}}, None).commands
    assert "no qos-map dscp-tc" in sent
    assert "no mtu" not in sent
    assert not [line for line in sent if line.startswith("no qos map")]


def test_buffers_that_only_a_restart_makes_need_its_name():
    with pytest.raises(OperatorError, match="restarts the switch"):
        commands(PORT)
    sent = commands(PORT, platform=EnterpriseSonic({"allow": ["roce_enable_reboot"]}))
    assert sent[:2] == ["configure terminal", "roce enable pfc-priority 3"]


SHOWS = {
    VERSION: "Software Version  : 4.2.0-Enterprise_Premium\nHwSKU             : DellEMC-Z9332f-O32\n",
    STATUS: "Name      Description  Oper  Reason   AutoNeg  Speed   MTU\n"
    "Eth1/1    -            up    oper-up  off      100000  9216\n",
    QOS: "Eth1/1\n        scheduler policy: shares\n        dscp-tc-map: theirs\n        pfc-asymmetric: off\n"
    "        pfc-priority: 3\n        watchdog-detect-time: 200 ms\n",
    LLDP: "LocalPort  RemoteDevice  RemotePortID\n-----------------------\nEth1/1     esx-01        vmnic2\n",
}


def test_what_runs():
    switch = PLATFORM.parse({CONFIG: SET, **SHOWS})
    oper = switch.oper["Eth1/1"]
    assert (switch.version, switch.model) == ("4.2.0-Enterprise_Premium", "DellEMC-Z9332f-O32")
    assert (oper.up, oper.mtu, oper.pfc, oper.trust, oper.watchdog) == (True, 9216, [3], "dscp", True)
    assert [(peer.system, peer.port) for peer in switch.neighbours["Eth1/1"]] == [("esx-01", "vmnic2")]


@pytest.mark.parametrize("command", list(SHOWS)[:3])
def test_outputs_are_known_by_what_they_are(command):
    assert PLATFORM.command_of(SHOWS[command]) == command


class Session:
    name = "leaf-05"

    def __init__(self, running):
        self.running, self.lines = running, []

    def run(self, command, answers=()):
        self.lines.append(command)
        if command == "end" and len(self.lines) == 1:
            raise Refused(command, "not in a configuration mode")
        return self.running if command == CONFIG else ""


def test_the_way_back_undoes_lines_and_objects_that_were_not_there():
    before = PLATFORM.parse({CONFIG: PORT})
    session = Session(SET.replace("theirs", "AIREADY-ROCE"))
    edit = PLATFORM.render(
        before, {"Eth1/1": compare.wanted(intent({"mode": "lossy"}), PLATFORM)}, intent({"mode": "lossy"})
    )
    PLATFORM.revert(session, edit, before)
    assert "no qos-map dscp-tc" in session.lines
    assert session.lines[-2:] == ["no qos map dscp-tc AIREADY-ROCE", "end"]


OWN_MAP = SET.replace("theirs", "AIREADY-ROCE-26-3-48-6")


def strays_of(config, requested=None):
    wanted = {"Eth1/1": compare.wanted(intent(requested or {}), PLATFORM)}
    there = PLATFORM.parse({CONFIG: config})
    return PLATFORM.strays(there, wanted, intent(requested or {})), PLATFORM.render(
        there, wanted, intent(requested or {})
    )


def test_code_points_that_only_our_map_gives_roces_class_are_strays_and_leave_it():
    found, edit = strays_of(BUFFERS + OWN_MAP.replace("24-31", "24,26"))
    assert found == {"qos map dscp-tc AIREADY-ROCE-26-3-48-6": ("DSCP 24: 3", "DSCP 24: 0")}
    assert edit.commands == [
        "configure terminal",
        "qos map dscp-tc AIREADY-ROCE-26-3-48-6",
        "dscp 24 traffic-class 0",
        "dscp 26 traffic-class 3",
        "dscp 48 traffic-class 6",
        "exit",
        "end",
    ]


@pytest.mark.parametrize(
    "config",
    [SET, OWN_MAP.replace("24-31", "26"), OWN_MAP.replace("24-31", "26").replace(" dscp 48", " dscp 40,48"), PORT],
)
def test_maps_of_others_and_other_classes_hold_no_strays(config):
    assert strays_of(BUFFERS + config)[0] == {}


def test_a_new_map_of_ours_takes_over_other_classes_and_not_roces():
    there = SET.replace("24-31 traffic-class 3", "24 traffic-class 3").replace(
        " dscp 48", " dscp 8 traffic-class 1\n dscp 48"
    )
    sent = commands(BUFFERS + there)
    assert [line for line in sent if line.startswith("dscp ")] == [
        "dscp 8 traffic-class 1",
        "dscp 26 traffic-class 3",
        "dscp 48 traffic-class 6",
    ]
