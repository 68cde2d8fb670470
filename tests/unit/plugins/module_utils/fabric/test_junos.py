# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Both forms of a Junos configuration are read; queue numbers differ from PFC priorities there."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.compare import effect
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.junos import platform
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.junos import text as junos_text

SAMPLE = (Path(__file__).parent / "samples/junos/class-of-service_roce_qfx5240_evo.txt").read_text()
AS_SET = "\n".join(f"set {' '.join(one)}" for one in junos_text.statements(SAMPLE.splitlines()))
INNER = "\n".join(SAMPLE.splitlines()[1:-1])
INTERFACES = 'et-0/0/0 {\n    mtu 9216;\n    unit 0;\n}\net-0/0/1:2 {\n    description "to {spine}";\n}\n'
LLDP = (
    "Local Interface    Parent Interface    Chassis Id          Port info          System Name\n"
    "et-0/0/0           -                   44:4c:a8:00:00:01   vmnic2             esx-01.example.com\n"
    "et-0/0/1:2         ae1                 44:4c:a8:00:00:02   et-0/0/9           spine 01\n"
)
VERSION = "Hostname: leaf-05\nModel: qfx5240-64od\nJunos: 23.4X100-D20.7-EVO\n"


def read(cos=SAMPLE, **texts):
    return platform.Junos().parse({platform.COS: cos, **texts})


def port(cos=SAMPLE, name="et-*"):
    return read(cos).ports[name]


@pytest.mark.parametrize(
    "text", [SAMPLE, AS_SET, INNER], ids=["in brackets", "lines with set", "without the outer level"]
)
def test_the_same_configuration_in_every_form_has_the_same_effect(text):
    assert platform.Junos().command_of(text) == platform.COS
    shown = effect(port(text), Intent())
    assert {key: value for key, value in shown.items() if value is not None and key != "ecn"} == {
        "trust": "dscp",
        "roce_priority": 3,
        "cnp_priority": 6,
        "pfc_mode": "on",
        "pfc": [3],
        "pfc_sends": True,
        "lossless": [3],
        "roce_queue_shared_with": [],
        "roce_pauses_own_queue": True,
        "cnp_strict": True,
        "watchdog": True,
    }


def test_the_queue_of_roce_is_another_number_than_its_priority():
    found = port()
    assert (found.queues, found.pfc_queues, found.strict, found.shares) == ({3: 4, 6: 3}, {3: 4}, [3], {3: 5})
    assert found.ecn[4].mark is True


def test_pauses_that_stop_another_queue_than_that_of_roce_are_seen():
    found = port(SAMPLE.replace("flow-control-queue 4", "flow-control-queue 3"))
    assert effect(found, Intent())["roce_pauses_own_queue"] is False


@pytest.mark.parametrize(
    "old, new, key, value",
    [
        pytest.param("explicit-congestion-notification;", "", "ecn", False, id="a drop profile without ECN"),
        pytest.param("pfc-watchdog;", "", "watchdog", False, id="no watchdog"),
        pytest.param("priority strict-high;", "", "strict", [], id="notifications are not strict"),
        pytest.param("no-loss pfc-priority 3", "pfc-priority 3", "lossless", [], id="a class that loses"),
        pytest.param(
            "pfc-watchdog;", "pfc-watchdog { detection 200; recovery 400; }", "watchdog_detection_ms", 200, id="times"
        ),
        pytest.param("input {", "input {\n cable-length 40;", "cable_length_m", 40, id="length of cables"),
        pytest.param(
            "code-points 011010", "code-points [ 011010 af41 ]", "dscp_map", {26: 3, 34: 3, 48: 6}, id="names"
        ),
        pytest.param("dscp mydscp;", "ieee-802.1 other;", "trust", "pcp", id="trust in VLAN tags"),
        pytest.param("congestion-notification-profile cnp;\n", "", "pfc_mode", "off", id="no profile at the port"),
    ],
)
def test_a_difference_is_seen(old, new, key, value):
    assert old in SAMPLE
    found = getattr(port(SAMPLE.replace(old, new)), key)
    assert (found[4].mark if key == "ecn" else found) == value


def test_a_pattern_stands_for_the_ports_that_the_switch_has():
    switch = read(**{platform.INTERFACES: INTERFACES, platform.LLDP: LLDP, platform.VERSION: VERSION})
    assert sorted(switch.ports) == ["et-0/0/0", "et-0/0/1:2"]
    assert [switch.ports[name].mtu for name in sorted(switch.ports)] == [9216, 1514]
    assert switch.ports["et-0/0/0"].pfc == [3]
    assert (switch.hostname, switch.model, switch.version) == ("leaf-05", "qfx5240-64od", "23.4X100-D20.7-EVO")


@pytest.mark.parametrize("edge", ["", "    "], ids=["as printed", "pasted with an offset"])
def test_the_identity_of_the_first_member_is_read(edge):
    text = f"fpc0:\n{'-' * 40}\n{VERSION}JUNOS EX  Software Suite [21.4R3-S2]\n\n".replace("\n", f"\n{edge}")
    switch = platform.Junos().parse({platform.Junos().command_of(text): text})
    assert (switch.hostname, switch.model, switch.version) == ("leaf-05", "qfx5240-64od", "23.4X100-D20.7-EVO")


def test_neighbours_are_read_from_the_table():
    (one,) = read(**{platform.LLDP: LLDP}).neighbours["et-0/0/0"]
    assert (one.system, one.port, one.chassis) == ("esx-01.example.com", "vmnic2", "44:4c:a8:00:00:01")


def test_neighbours_of_older_releases_have_no_parent():
    text = (
        "Local Interface    Chassis Id          Port info          System Name\n"
        "xe-0/0/3.0         44:4c:a8:00:00:03   vmnic4             esx-02\n"
        "xe-0/0/4.0         44:4c:a8:00:00:04   vmnic5\n"
        "xe-0/0/5.0         44:4c:a8:00:00:05\n"
    )
    found = platform.Junos().parse({platform.Junos().command_of(text): text}).neighbours
    assert [(one.system, one.port, one.chassis) for (one,) in found.values()] == [
        ("esx-02", "vmnic4", "44:4c:a8:00:00:03"),
        (None, "vmnic5", "44:4c:a8:00:00:04"),
    ]


def test_what_contradicts_itself_is_reported():
    uneven = SAMPLE.replace(
        "percent 66;\n            }\n            buffer-partition lossy",
        "percent 50;\n            }\n            buffer-partition lossy",
    )
    assert [sentence[:40] for sentence in read(uneven).exceptions] == ["The lossless part of the shared buffer i"]
    assert read().exceptions == []


def test_what_is_inactive_does_not_count():
    assert port(SAMPLE.replace("pfc-watchdog;", "inactive: pfc-watchdog;")).watchdog is False
    gone = AS_SET + "\ndeactivate class-of-service congestion-notification-profile cnp pfc-watchdog"
    assert port(gone).watchdog is False


@pytest.mark.parametrize(
    "text, command",
    [(INTERFACES, platform.INTERFACES), (LLDP, platform.LLDP), (VERSION, platform.VERSION), ("hello", None)],
)
def test_outputs_are_recognised(text, command):
    assert platform.Junos().command_of(text) == command


def test_junos_is_read_and_not_changed():
    with pytest.raises(OperatorError, match="spine-01: cannot configure .* Juniper Junos"):
        platform.Junos().check(None, "spine-01")


QFX5100 = """
traffic-control-profiles { T { scheduler-map M; guaranteed-rate percent 50; } }
forwarding-class-sets { S { class fcoe; } }
scheduler-maps { M { forwarding-class fcoe scheduler X; } }
schedulers { X { transmit-rate percent 45; drop-profile-map loss-priority any drop-profile D;
 explicit-congestion-notification; } }
classifiers { dscp C { forwarding-class fcoe { loss-priority low code-points 011010; } } }
interfaces { xe-0/0/1 { forwarding-class-set { S { output-traffic-control-profile T; } }
 unit 0 { classifiers { dscp C; } } } }
"""


def test_classes_that_nobody_made_and_queues_that_are_served_in_two_steps():
    port = read(QFX5100).ports["xe-0/0/1"]
    assert (port.queues, port.lossless, port.shares) == ({3: 3}, [3], {3: 45})
    assert (port.dscp_map, port.ecn[3].mark) == ({26: 3}, True)


def test_classes_that_were_made_anew_are_what_was_made():
    made = "forwarding-classes { class fcoe queue-num 5; }\n"
    assert read(made + QFX5100).ports["xe-0/0/1"].lossless == []


def test_settings_of_groups_are_missed():
    assert "display inheritance" in read("apply-groups ROCE;\ninterfaces { et-0/0/1; }\n").exceptions[0]


def test_parts_of_the_system_have_versions_of_their_own():
    parts = "Model: qfx5100-48s-6q\nJUNOS OS Kernel 64-bit [20201028.e1c_builder_stable_11]\n"
    assert read(**{platform.VERSION: parts}).version is None
    assert read(**{platform.VERSION: f"{parts}JUNOS Base OS boot [21.4R3.4]\n"}).version == "21.4R3.4"
