"""The twin's Arista EOS: its grammar, its sessions, and what a configuration makes the hardware do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from twin_labs.fabric_lab import EOS_LINES, fabric, switch
from vsphere_twin.model import seed as seeds
from vsphere_twin.switches.ssh import carry_out
from vsphere_twin.switches.treatment import Marking

SAMPLE = (
    Path(__file__)
    .parents[1]
    .joinpath("unit/plugins/module_utils/fabric/samples/eos/running-config_qos_profiles_generated.txt")
)
UNKNOWN = "% Invalid input (at token {}: '{}')\n"


class Console:
    """A session at one switch, without SSH; time passes by hand."""

    def __init__(self, config="", **more):
        self.world = seeds.from_data(fabric(switch("leaf-01", "eos", config, **more), switch("leaf-02", "eos")))
        self.switch = self.world.fabric.switches["leaf-01"]
        self.device = self.switch.device
        self.dialogue = self.device.dialogue("admin")
        self("enable")

    def __call__(self, *lines):
        """The answer to the last of these lines."""
        for line in lines:
            reply, self.prompt = carry_out(self.switch, self.dialogue, line)
        return reply.text

    def at(self, port="Ethernet1"):
        return self.device.treatment(port)


@pytest.fixture
def console():
    return Console


def test_a_session_begins_without_rights(console):
    one = console()
    one.dialogue = one.device.dialogue("admin")
    assert one("configure") == "% Invalid input (privileged mode required)\n"
    assert one.prompt == "leaf-01>"
    assert (one("enable"), one.prompt) == ("", "leaf-01#")


@pytest.mark.parametrize(
    "lines, prompt",
    [
        (["configure"], "(config)"),
        (["configure terminal", "interface Ethernet1"], "(config-if-Et1)"),
        (["conf", "int et1-3"], "(config-if-Et1-3)"),
        (["configure", "qos profile ROCE", "tx-queue 3"], "(config-qos-profile-ROCE-txq-3)"),
        (["configure", "qos profile ROCE", "tx-queue 3", "priority-flow-control on"], "(config-qos-profile-ROCE)"),
        (["configure", "interface ethernet 1", "qos map dscp 26 to traffic-class 3"], "(config)"),
        (["configure", "interface Ethernet1", "exit"], "(config)"),
        (["configure", "interface Ethernet1", "end"], ""),
        (["configure session ansible_1"], "(config-s-ansibl)"),
        (["configure session ansible_1", "interface Ethernet1"], "(config-s-ansibl-if-Et1)"),
    ],
    ids=["configure", "port", "short", "queue", "out of a queue", "out of a port", "exit", "end", "session", "in it"],
)
def test_modes_follow_what_is_typed(console, lines, prompt):
    one = console()
    assert one(*lines) == ""
    assert one.prompt == f"leaf-01{prompt}#"


@pytest.mark.parametrize(
    "lines, said",
    [
        (["show nonsense"], UNKNOWN.format(1, "nonsense")),
        (["configure", "interface Ethernet99"], "% Invalid input\n"),
        (["configure", "interface Ethernet1", "mtu 9216"], UNKNOWN.format(1, "9216")),
        (["configure", "qos map dscp 64 to traffic-class 3"], UNKNOWN.format(3, "64")),
        (["configure", "qos map dscp 26"], "% Incomplete command\n"),
        (["show l"], "% Incomplete command\n"),
        (["configure", "no"], "% Incomplete command\n"),
        (["configure", "p"], "% Incomplete command\n"),
        (["configure", "qos profile A", "uc-tx-queue 3"], "% Invalid input\n"),
        (["configure", "qos profile A", "priority-flow-control mode on"], "% Invalid input\n"),
        (["configure session nobody commit"], "% Configuration session nobody does not exist.\n"),
        (["show version | nonsense"], "% Invalid input\n"),
        (["show dcbx | json"], "% This is an unconverted command\n"),
    ],
    ids=[
        "unknown",
        "no such port",
        "mtu",
        "dscp",
        "short of words",
        "short show",
        "bare no",
        "bare word",
        "queue of another chip",
        "old keyword",
        "no session",
        "filter",
        "no json",
    ],
)
def test_what_the_switch_does_not_know_is_refused(console, lines, said):
    assert console()(*lines) == said


def test_chips_and_releases_have_their_own_words(console):
    old = console(version="4.13.7M")
    assert old("configure", "interface Ethernet1", "priority-flow-control mode on") == ""
    assert old("show nonsense") == "% Invalid input\n"
    chip = console(model="DCS-7060CX2-32S")
    assert chip("configure", "qos profile A", "uc-tx-queue 3", "no priority", "bandwidth percent 40") == ""
    assert chip("tx-queue 3") == "% Invalid input\n"
    chip("interface Ethernet1", "service-profile A")
    assert chip.at().shares == {3: 40}


def test_a_whole_configuration_makes_the_priority_lossless(console):
    found = console(EOS_LINES).at()
    assert (found.trust, found.priorities[26], found.priorities[48]) == ("dscp", 3, 6)
    assert found.pauses_sent == found.pauses_heeded == found.no_drop == {3}
    assert found.marking == {3: Marking(150000, 1500000, 100)}
    assert found.shares == {3: 50}
    assert 6 in found.strict
    assert 3 not in found.strict
    assert (found.mtu, found.watchdog) == (9214, True)


@pytest.mark.parametrize(
    "lines, wrong",
    [
        (["priority-flow-control all off"], {"pauses_sent": set(), "watchdog": False}),
        (["no qos profile ROCE"], {"pauses_sent": set(), "marking": {}}),
        (["interface Ethernet1", "no service-profile"], {"pauses_sent": set(), "marking": {}}),
        (["interface Ethernet1", "priority-flow-control priority 4 no-drop"], {"no_drop": {3, 4}}),
        (["interface Ethernet1", "default qos trust"], {"trust": "pcp"}),
        (["interface Ethernet1", "no qos trust"], {"trust": "none"}),
        (["interface Ethernet1", "default qos trust", "no switchport"], {"trust": "dscp"}),
        (["interface Ethernet1", "mtu 1500"], {"mtu": 1500}),
        (["interface Ethernet1", "no priority-flow-control pause watchdog"], {"watchdog": False}),
        (["no priority-flow-control pause watchdog default timeout"], {"watchdog": False}),
        (
            ["qos profile ROCE", "no priority-flow-control on", "interface Ethernet1", "flowcontrol receive on"],
            {"pauses_heeded": set(), "pause_heeded": True},
        ),
        (["interface Ethernet1", "flowcontrol receive on"], {"pauses_heeded": {3}, "pause_heeded": False}),
        (
            [
                "qos profile ROCE",
                "tx-queue 3",
                "no random-detect ecn",
                "random-detect drop minimum-threshold 1 kbytes maximum-threshold 10 kbytes drop-probability 100",
            ],
            {"marking": {3: Marking(1000, 10000, 100, mark=False)}},
        ),
        (["qos map traffic-class 3 to tx-queue 5"], {"queues": (0, 1, 2, 5, 4, 5, 6, 7)}),
    ],
    ids=[
        "all off",
        "profile gone",
        "not attached",
        "two classes",
        "trust cos",
        "no trust",
        "routed",
        "mtu",
        "watchdog of the port",
        "watchdog without time",
        "flowcontrol",
        "pfc before flowcontrol",
        "drops early",
        "queue",
    ],
)
def test_each_line_does_what_the_hardware_does_with_it(console, lines, wrong):
    one = console(EOS_LINES)
    assert one("configure", *lines) == ""
    assert {key: getattr(one.at(), key) for key in wrong} == wrong


def test_what_is_written_can_be_typed_again(console):
    one = console(EOS_LINES)
    body = [line for line in one.device.body(one.device.config) if line.strip() != "!" and "username" not in line]
    again = console("\n".join(line for line in body if not line.startswith(("no ip", "interface Management"))))
    assert again.device.body(again.device.config) == one.device.body(one.device.config)


@pytest.mark.parametrize("sample", ["qprof_testwithpolicy", "no_qos_trust", "test"])
def test_profiles_of_public_configurations_come_back_as_they_were(console, sample):
    block = next(one for one in SAMPLE.read_text().split("\n!\n") if one.startswith(f"qos profile {sample}\n"))
    one = console()
    lines = [line for line in block.splitlines() if not line.strip().startswith("!")]
    for line in ["configure", *lines, "end"]:
        assert one(line) == "", line
    shown = one(f"show running-config section ^qos profile {sample}$").splitlines()
    assert sorted(line.strip() for line in shown if line.strip() != "!") == sorted(line.strip() for line in lines)


# Sessions.


def test_a_session_changes_nothing_before_it_is_committed(console):
    one = console()
    one("configure session a", "interface Ethernet1", "mtu 9000")
    assert "+   mtu 9000\n" in one("show session-config diffs")
    assert one.at().mtu == 9214
    one("abort")
    assert (one.prompt, one.device.sessions) == ("leaf-01#", {})
    one("configure session a", "interface Ethernet1", "mtu 9000", "commit")
    assert (one.prompt, one.device.sessions) == ("leaf-01#", {})
    assert one.at().mtu == 9000


def test_a_session_without_changes_has_no_diff(console):
    assert (
        console(EOS_LINES)("configure session a", "interface Ethernet1", "mtu 9214", "show session-config diffs") == ""
    )


def test_a_session_stays_pending_when_its_connection_is_gone(console):
    one = console()
    one("configure session a", "hostname other")
    one.dialogue.left()
    one.dialogue = one.device.dialogue("admin")
    one("enable")
    assert list(json.loads(one("show configuration sessions | json"))["sessions"]) == ["a"]
    assert one("configure session a commit") == ""
    assert one.prompt == "other#"


def test_only_some_sessions_may_be_pending(console):
    one = console()
    for number in range(5):
        assert one(f"configure session s{number}", "end") == ""
    assert "Maximum number of pending sessions has been reached" in one("configure session s5")
    one("no configure session s0")
    assert one("configure session s5") == ""


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_commit_with_a_timer_goes_back_unless_it_is_confirmed(console, confirmed):
    one = console()
    one("configure session a", "interface Ethernet1", "mtu 9000", "commit timer 00:01:00")
    assert one.at().mtu == 9000
    if confirmed:
        assert one("configure session a commit") == ""
    one.world.timeline.settle()
    assert one.at().mtu == (9000 if confirmed else 9214)


# What lasts.


def test_only_what_is_saved_survives_a_reload(console):
    one = console()
    one("configure", "vlan 10", "end", "write memory", "configure", "vlan 11", "end")
    assert "+vlan 11\n" in one("show running-config diffs")
    one.switch.reload()
    assert "vlan 10\n" in one.device.running()
    assert "vlan 11\n" not in one.device.running()


@pytest.mark.parametrize("line", ["write memory", "copy running-config startup-config"])
def test_a_full_flash_keeps_what_it_has(console, line):
    one = console()
    one("configure", "vlan 10", "end")
    one.switch.full_flash = True
    assert "No space left on device" in one(line)
    assert "vlan 10" not in one.device.startup()


@pytest.mark.parametrize(
    "feature, seen",
    [
        ("pfc", ("show priority-flow-control", "Ethernet1  Yes      3           No ")),
        ("trust", ("show qos interfaces Ethernet1", "Trust Mode: COS")),
        ("mtu", ("show interfaces Ethernet1", "Ethernet MTU 1500 bytes")),
        ("ecn", ("show qos interfaces Ethernet1", "   3      50 / 50      - / -        RR         D\n")),
    ],
)
def test_a_dead_feature_is_configured_and_does_nothing(console, feature, seen):
    one = console(EOS_LINES)
    before = one.device.running()
    one.switch.dead_features.add(feature)
    assert seen[1] in one(seen[0])
    assert one.device.running() == before
