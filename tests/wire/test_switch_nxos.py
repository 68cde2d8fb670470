"""The twin's Cisco NX-OS: its grammar, its checkpoints, and what a configuration makes the hardware do."""

from __future__ import annotations

import json

import pytest

from twin_labs.fabric_lab import NXOS_LINES, fabric, switch
from vsphere_twin.model import seed as seeds
from vsphere_twin.switches.ssh import carry_out
from vsphere_twin.switches.treatment import Marking

MARKER = "% Invalid command at '^' marker.\n"


class Console:
    """A session at one switch, without SSH; time passes by hand."""

    def __init__(self, config="", **more):
        peer = switch("leaf-02", "nxos", "feature lldp")
        self.world = seeds.from_data(fabric(switch("leaf-01", "nxos", config, **more), peer))
        self.switch = self.world.fabric.switches["leaf-01"]
        self.device = self.switch.device
        self.dialogue = self.device.dialogue("admin")

    def __call__(self, *lines):
        """The answer to the last of these lines."""
        for line in lines:
            reply, self.prompt = carry_out(self.switch, self.dialogue, line)
        return reply.text

    def config(self, *lines):
        """The answer to the last of these lines of configuration."""
        return self("configure terminal", *lines)

    def at(self, port="Ethernet1/1"):
        return self.device.treatment(port)


@pytest.fixture
def console():
    return Console


@pytest.mark.parametrize(
    "lines, prompt",
    [
        ([], "(config)"),
        (["interface Ethernet1/1"], "(config-if)"),
        (["int eth1/1, e1/3-4"], "(config-if-range)"),
        (["class-map type qos match-any A", "match dscp 26"], "(config-cmap-qos)"),
        (["class-map A", "policy-map type network-qos N", "class type network-qos c-8q-nq3"], "(config-pmap-nqos-c)"),
        (["policy-map type queuing Q", "class type queuing c-out-8q-q3", "system qos"], "(config-sys-qos)"),
        (["policy-map type queuing Q", "class type queuing c-out-8q-q3", "exit"], "(config-pmap-que)"),
        (["interface Ethernet1/1", "end"], ""),
    ],
    ids=["configure", "port", "ports", "class map", "class", "out of a class", "exit", "end"],
)
def test_modes_follow_what_is_typed(console, lines, prompt):
    one = console()
    one.config(*lines)
    assert one.prompt == f"leaf-01{prompt}# "


@pytest.mark.parametrize(
    "lines, said",
    [
        (["frobnicate"], f"                 ^\n{MARKER}"),
        (["interface Ethernet1/99"], MARKER),
        (["interface Ethernet1/1", "mtu 9217"], MARKER),
        (["interface"], "% Incomplete command at '^' marker.\n"),
        (["feature nonsense"], MARKER),
        (["interface Ethernet1/1", "lldp transmit"], MARKER),
        (["policy-map type qos P", "class nobody"], "ERROR: Class-map nobody does not exist\n"),
        (["system qos", "service-policy type network-qos nobody"], "ERROR: Policy-map nobody of type network-qos does"),
        (["no class-map type queuing c-out-8q-q3"], "ERROR: System defined class-map cannot be deleted\n"),
        (["policy-map type queuing default-8q-out-policy"], "ERROR: System defined policy-map cannot be modified\n"),
        (["no class-map type qos match-all ROCE"], "ERROR: Class-map ROCE is being used by policy-map ROCE-IN\n"),
        (["no policy-map type network-qos ROCE-NQ"], "ERROR: Policy-map is being used"),
        (["no policy-map type qos ROCE-IN"], "ERROR: Policy-map is being used"),
        (
            ["policy-map type queuing ROCE-OUT", "class type queuing c-out-8q-q3", "bandwidth remaining percent 51"],
            "ERROR: Total bandwidth of all classes exceeds 100 percent\n",
        ),
        (
            ["policy-map type queuing ROCE-OUT", "class type queuing c-out-8q-q6", "bandwidth remaining percent 0"],
            "ERROR: priority and bandwidth cannot be configured in the same class\n",
        ),
        (["interface Ethernet1/1", "flowcontrol receive on"], "ERROR: flowcontrol cannot be enabled"),
        (
            [
                "interface Ethernet1/1",
                "no priority-flow-control mode",
                "flowcontrol send on",
                "priority-flow-control mode on",
            ],
            "ERROR: Priority flow control cannot be enabled while flowcontrol is on\n",
        ),
        (
            [
                "policy-map type network-qos ROCE-NQ",
                "class type network-qos c-8q-nq3",
                "pause buffer-size 1000 pause-threshold 12480 resume-threshold 12480 pfc-cos 3",
            ],
            "ERROR: buffer-size has to be at least 27456",
        ),
    ],
    ids=[
        "unknown",
        "no such port",
        "mtu",
        "short of words",
        "feature",
        "without lldp",
        "no class map",
        "no policy map",
        "predefined class",
        "predefined policy",
        "class map in use",
        "policy of the system in use",
        "policy of a port in use",
        "too much bandwidth",
        "bandwidth and priority",
        "flowcontrol",
        "pfc beside flowcontrol",
        "headroom",
    ],
)
def test_what_the_switch_cannot_do_is_refused(console, lines, said):
    one = console(NXOS_LINES.replace("feature lldp", ""))
    before = one.device.running()
    assert said in one.config(*lines)
    if "send on" not in str(lines) and "class nobody" not in lines:
        assert one.device.running() == before


def test_a_whole_configuration_makes_the_priority_lossless(console):
    found = console(NXOS_LINES).at()
    assert (found.trust, found.priorities[26], found.priorities[48], found.priorities[0]) == ("dscp", 3, 6, 0)
    assert found.pauses_sent == found.pauses_heeded == found.no_drop == {3}
    assert found.marking == {3: Marking(150000, 1500000, 100)}
    assert (found.strict, found.shares) == ({6}, {3: 50, 0: 50})
    assert (found.mtu, found.watchdog, found.dcbx) == (9216, True, False)


def test_a_switch_from_the_factory_treats_all_alike(console):
    found = console().at()
    assert set(found.priorities) == {0}
    assert (found.trust, found.no_drop, found.marking, found.mtu) == ("none", frozenset(), {}, 1500)


PORT, OUT = "interface Ethernet1/1", ["policy-map type queuing ROCE-OUT", "class type queuing c-out-8q-q3"]
DROPS = "minimum-threshold 150 kbytes maximum-threshold 1500 kbytes drop-probability 100 weight 0"
NETWORK = ["policy-map type network-qos ROCE-NQ", "class type network-qos c-8q-nq3"]


@pytest.mark.parametrize(
    "lines, wrong",
    [
        ([PORT, "priority-flow-control mode auto"], {"pauses_sent": set(), "no_drop": set(), "watchdog": False}),
        ([PORT, "priority-flow-control mode on send-tlv"], {"pauses_sent": {3}, "dcbx": True}),
        ([*NETWORK, "no pause pfc-cos 3"], {"pauses_sent": set(), "no_drop": set()}),
        (["system qos", "no service-policy type network-qos ROCE-NQ"], {"pauses_sent": set(), "no_drop": set()}),
        ([*NETWORK, "pause pfc-cos 4"], {"pauses_sent": {4}, "no_drop": {3}}),
        ([PORT, "no service-policy type qos input ROCE-IN"], {"trust": "none"}),
        (
            ["class-map type qos match-all ROCE", "no match dscp 26", "match cos 3", "end"],
            {"trust": "both"},
        ),
        (
            [*OUT, f"random-detect {DROPS}"],
            {"marking": {3: Marking(150000, 1500000, 100, mark=False)}},
        ),
        (["system qos", "no service-policy type queuing output ROCE-OUT"], {"marking": {}, "strict": {7}}),
        ([PORT, "no mtu"], {"mtu": 1500}),
        (["no priority-flow-control watch-dog-interval on"], {"watchdog": False}),
        ([PORT, "priority-flow-control watch-dog-interval off"], {"watchdog": False}),
    ],
    ids=[
        "auto",
        "send-tlv",
        "no pause",
        "not attached",
        "another priority in pauses",
        "no class for what comes in",
        "by cos",
        "wred without ecn",
        "queuing not attached",
        "mtu",
        "global watchdog",
        "watchdog of the port",
    ],
)
def test_each_line_does_what_the_hardware_does_with_it(console, lines, wrong):
    one = console(NXOS_LINES)
    one.config(*lines)
    assert {key: getattr(one.at(), key) for key in wrong} == wrong


def test_a_policy_of_a_port_counts_more_than_that_of_the_system(console):
    one = console(NXOS_LINES)
    one.config("policy-map type queuing MINE", "class type queuing c-out-8q-q3", "bandwidth remaining percent 70")
    one.config(PORT, "service-policy type queuing output MINE")
    assert (one.at().shares, one.at("Ethernet1/2").shares) == ({3: 70}, {3: 50, 0: 50})


def test_what_is_written_can_be_typed_again(console):
    one = console(NXOS_LINES)
    hidden = ("username", "snmp-server", "boot", "interface mgmt")
    lines = [line for line in one.device.body(one.device.config) if line and not line.startswith(hidden)]
    again = console("\n".join(lines))
    assert again.device.body(again.device.config) == one.device.body(one.device.config)


@pytest.mark.parametrize("port, mode, oper", [("1/1", "On", "On (8)"), ("1/2", "On", "Off"), ("1/3", "Auto", "Off")])
def test_flow_control_is_reported_with_what_acts(console, port, mode, oper):
    one = console(NXOS_LINES)  # nothing is plugged into the second port
    one.config("interface Ethernet1/3", "no priority-flow-control mode", "end")
    command = "show interface priority-flow-control"
    (row,) = [line.split(None, 2) for line in one(command).splitlines() if f"net{port}" in line]
    assert row[1] == mode
    assert row[2].startswith(oper)
    module = json.loads(one(f"{command} | json"))["TABLE_module"]["ROW_module"]
    rows = {row["if_name_str"]: row for row in module["TABLE_pfc_interface"]["ROW_pfc_interface"]}
    assert (rows[f"Ethernet{port}"]["admin"], rows[f"Ethernet{port}"]["oper"]) == (mode, oper.split()[0])


# The way back, and what lasts.


def test_a_checkpoint_brings_back_what_was(console):
    one = console(NXOS_LINES)
    before = one.device.running()
    assert one("checkpoint mine") == ".Done\n"
    assert "already exists" in one("checkpoint mine")
    one.config(PORT, "no mtu", "system qos", "no service-policy type network-qos ROCE-NQ", "end")
    assert one.device.running() != before
    assert "Rollback completed successfully." in one("rollback running-config checkpoint mine atomic")
    assert one.device.running() == before
    assert one("no checkpoint mine") == ""
    assert "does not exist" in one("rollback running-config checkpoint mine")


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_replacement_goes_back_unless_it_is_confirmed(console, confirmed):
    one = console()
    one("copy running-config bootflash:mine")
    one.config("vlan 10", "end")
    one("configure replace bootflash:mine commit-timeout 60")
    assert "vlan 10" not in one.device.running()
    if confirmed:
        assert one("configure replace commit") == ""
    one.world.timeline.settle()
    assert ("vlan 10" in one.device.running()) is not confirmed


def test_only_what_is_saved_survives_a_reload(console):
    one = console()
    one.config("vlan 10", "end")
    assert one("copy running-config startup-config").endswith("Copy complete.\n")
    one.config("vlan 11", "end")
    one.switch.reload()
    assert "vlan 10\n" in one.device.running()
    assert "vlan 11\n" not in one.device.running()


def test_a_full_flash_keeps_what_it_has(console):
    one = console()
    one.config("vlan 10", "end")
    one.switch.full_flash = True
    assert "No space left on device" in one("copy running-config startup-config")
    assert "vlan 10" not in one.device.startup()


@pytest.mark.parametrize(
    "feature, command, seen",
    [
        ("pfc", "show interface priority-flow-control", "Ethernet1/1        On   Off"),
        ("watchdog", "show queuing pfc-queue", "Ethernet1/1 Interface PFC watchdog: [Disabled]"),
        ("mtu", "show interface Ethernet1/1", "MTU 1500 bytes"),
    ],
)
def test_a_dead_feature_is_configured_and_does_nothing(console, feature, command, seen):
    one = console(NXOS_LINES)
    before = one.device.running()
    one.switch.dead_features.add(feature)
    assert seen in one(command)
    assert one.device.running() == before


def test_marking_that_is_dead_is_not_among_what_a_port_does(console):
    one = console(NXOS_LINES)
    assert "ecn" in one("show policy-map interface Ethernet1/1")
    one.switch.dead_features.add("ecn")
    assert "random-detect" not in one("show policy-map interface Ethernet1/1")
