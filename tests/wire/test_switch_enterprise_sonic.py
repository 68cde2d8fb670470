"""The command line of Enterprise SONiC on the twin: its shell, refusals, the reboot, and what it does to packets."""

from __future__ import annotations

import pytest
from ansible.module_utils.connection import Connection

from twin_labs.fabric_lab import cli, fabric
from twin_labs.fabric_lab import switch as seeded

from . import drive_switch
from . import test_switch_os10 as os10
from .switch_console import Console, switch

PORT = "interface Eth1/1"
ROCE = """
qos wred-policy mine
 green minimum-threshold 150 maximum-threshold 1500 drop-probability 100
 ecn green
qos scheduler-policy mine
 queue 0
  type dwrr
  weight 50
 queue 3
  type dwrr
  weight 50
 queue 6
  type strict
qos map dscp-tc mine
 dscp 0-25,27-47,49-63 traffic-class 0
 dscp 26 traffic-class 3
 dscp 48 traffic-class 6
qos map tc-pg mine
 traffic-class 3 priority-group 3
 traffic-class 0-2,4-7 priority-group 7
interface range Eth1/1-1/4
 mtu 9216
 queue 3 wred-policy mine
 scheduler-policy mine
 cable-length 5m
 qos-map dscp-tc mine
 qos-map tc-pg mine
 priority-flow-control priority 3
 priority-flow-control watchdog action drop
 priority-flow-control watchdog on detect-time 200
 priority-flow-control watchdog restore-time 400
""".splitlines()
# What the vendor's documents show of an interface, without its order.
SAMPLE = [
    " queue 0 wred-policy mine",
    " scheduler-policy mine",
    " cable-length 40m",
    " qos-map dscp-tc mine",
    " priority-flow-control priority 0",
    " priority-flow-control priority 1",
    " priority-flow-control asymmetric",
    " priority-flow-control watchdog action alert",
    " priority-flow-control watchdog on detect-time 100",
    " priority-flow-control watchdog restore-time 200",
]
ASKED = "Configuration will be saved and the system will be rebooted. Continue? [y/N]: "


@pytest.fixture
def console():
    return Console(switch("enterprise_sonic", lines=ROCE), "sonic-cli", "configure terminal")


def device(console):
    return console.dialogue.device


def test_a_login_lands_in_the_shell_and_returns_there():
    console = Console(switch("enterprise_sonic"))
    assert console.prompt == "admin@leaf-01:~$ "
    assert console("show version") == "-bash: show: command not found\n"
    console("sonic-cli")
    assert console.prompt == "leaf-01# "
    console("exit")
    assert console.prompt == "admin@leaf-01:~$ "
    console("exit")
    assert console.reply.close


@pytest.mark.parametrize(
    "line,prompt",
    [
        ("interface Eth 1/2", "leaf-01(conf-if-Eth1/2)# "),
        ("interface range Eth1/1-1/2", "leaf-01(conf-if-range-eth**)# "),
        ("qos wred-policy mine", "leaf-01(conf-wred-mine)# "),
        ("qos scheduler-policy mine", "leaf-01(conf-sched-policy-mine)# "),
        ("qos map dscp-tc mine", "leaf-01(conf-dscp-tc-map-mine)# "),
        ("end", "leaf-01# "),
    ],
)
def test_prompts_are_those_of_the_platform(console, line, prompt):
    console(line)
    assert console.prompt == prompt


@pytest.mark.parametrize(
    "lines,complaint",
    [
        (["frobnicate"], '% Error: Invalid input detected at "^" marker.'),
        (["qos wred-policy"], "% Error: The command is not completed."),
        ([PORT, "cable-length 10m"], "Invalid input"),
        ([PORT, "priority-flow-control watchdog on detect-time 5"], "Invalid input"),
        (["interface Eth1/9"], "%Error: Interface Eth1/9 does not exist"),
        (
            [PORT, "priority-flow-control priority 4", "priority-flow-control priority 5"],
            "A maximum of 2 PFC priorities",
        ),
        ([PORT, "qos-map tc-queue none"], "%Error: qos map tc-queue none does not exist"),
        ([PORT, "queue 3 wred-policy none"], "%Error: qos wred-policy none does not exist"),
        (["no qos map dscp-tc mine"], "is in use on Eth1/1"),
        (["no qos wred-policy mine"], "is in use on Eth1/1"),
        (["no qos scheduler-policy mine"], "is in use on Eth1/1"),
        (["roce enable pfc-priority 2-4"], "A maximum of 2 PFC priorities"),
        (["roce enable"], "Conflicting QoS configuration on Eth1/1; use force-defaults"),
    ],
)
def test_what_the_switch_does_not_take_it_refuses_with_its_words(console, lines, complaint):
    assert complaint in console(*lines)


@pytest.mark.parametrize(
    "lines,wanted",
    [
        pytest.param((), {"trust": "none", "pauses_sent": set(), "no_drop": set(), "mtu": 9100}, id="factory"),
        pytest.param(
            ROCE,
            {"trust": "dscp", "pauses_sent": set(), "pauses_heeded": {3}, "no_drop": set(), "strict": {6}},
            id="without lossless buffers nothing is asked to wait",
        ),
        pytest.param(
            ["buffer init lossless", *ROCE],
            {"pauses_sent": {3}, "no_drop": {3}, "watchdog": True, "mtu": 9216, "shares": {0: 50, 3: 50}},
            id="lossless",
        ),
        pytest.param(
            ["buffer init lossless", *ROCE, "no qos-map tc-pg"],
            {"pauses_sent": set(), "no_drop": set()},
            id="all in the lossy group",
        ),
        pytest.param(
            ["roce enable"], {"trust": "both", "pauses_sent": {3, 4}, "no_drop": {3, 4}, "strict": {6}}, id="preset"
        ),
        pytest.param(["roce enable pfc-priority 3"], {"pauses_sent": {3}, "no_drop": {3}}, id="preset of one priority"),
    ],
)
def test_what_a_configuration_does_to_packets(lines, wanted):
    found = switch("enterprise_sonic", lines=lines).device.treatment("Eth1/1")
    assert {key: getattr(found, key) for key in wanted} == wanted


def test_the_preset_maps_what_its_documents_say():
    found = switch("enterprise_sonic", lines=["roce enable"]).device.treatment("Eth1/1")
    assert [found.priorities[dscp] for dscp in (0, 4, 24, 26, 48)] == [0, 4, 3, 3, 6]
    assert found.groups == (7, 7, 7, 3, 4, 7, 7, 7)
    assert (found.marking[3].min_bytes, found.marking[3].max_bytes) == (1048000, 2097000)


def test_the_preset_asks_saves_and_reboots(console):
    one = device(console).switch
    console("roce enable force-defaults")
    assert console.reply.ask == ASKED
    console.answer("")
    assert (one.reloads, device(console).config.switch.get("roce")) == (0, None)
    console("roce enable force-defaults")
    console.answer("y")
    assert console.reply.close
    assert one.reloads == 1
    assert "\nroce enable pfc-priority 3,4\n" in one.device.running()
    assert one.device.running() == one.device.startup()
    again = Console(one, "sonic-cli", "configure terminal", "no roce enable")
    again.answer("yes")
    assert one.reloads == 2
    assert one.device.treatment("Eth1/1").pauses_sent == set()


def test_the_preset_and_lossless_buffers_exclude_each_other():
    one = switch("enterprise_sonic", lines=["buffer init lossless"])
    assert "when buffer init is configured" in Console(one, "sonic-cli", "configure terminal")("roce enable")
    other = switch("enterprise_sonic", lines=["roce enable"])
    assert "when RoCE is enabled" in Console(other, "sonic-cli", "configure terminal")("buffer init lossless")


def test_a_full_flash_keeps_the_switch_as_it_is(console):
    one = device(console).switch
    one.full_flash = True
    before = device(console).running()
    console("roce enable force-defaults")
    assert "No space left" in console.answer("y")
    assert (one.reloads, device(console).running()) == (0, before)
    assert "No space left" in console("end", "write memory")


def test_an_interface_is_written_as_the_vendor_shows_it():
    one = switch("enterprise_sonic", lines=[*ROCE[: ROCE.index("interface range Eth1/1-1/4")], PORT, *SAMPLE])
    text = one.device.running()
    block = text[text.index("interface Eth1/1\n") :].partition("!")[0].splitlines()
    assert block[-len(SAMPLE) :] == SAMPLE
    assert switch("enterprise_sonic", lines=text.splitlines()).device.running() == text


def test_a_value_is_mapped_once(console):
    console("qos map dscp-tc mine", "dscp 24-27 traffic-class 3")
    assert " dscp 0-23,28-47,49-63 traffic-class 0\n dscp 24-27 traffic-class 3\n" in device(console).running()
    console("no dscp 24-27")
    assert device(console).treatment("Eth1/1").priorities[26] == 0


@pytest.mark.parametrize(
    "feature,command,gone",
    [
        ("pfc", "show qos interface Eth1/1", "pfc-priority: 3"),
        ("ecn", "show qos interface Eth1/1 queue 3", "WRED profile: mine"),
        ("watchdog", "show priority-flow-control watchdog", "Eth1/1        drop"),
        ("mtu", "show interface Eth1/1", "IP MTU 9216 bytes"),
    ],
)
def test_a_dead_feature_shows_in_operation_and_not_in_the_configuration(console, feature, command, gone):
    before = device(console).running()
    assert gone in console(f"do {command}")
    device(console).switch.dead_features.add(feature)
    assert gone not in console(f"do {command}")
    assert device(console).running() == before


def test_the_three_command_lines_make_one_lossless_path(twin):
    leaf = seeded("leaf-01", "onyx", "roce lossless\ninterface ethernet 1/1-1/4 mtu 9216 force")
    spine = seeded("spine-01", "os10", "\n".join(os10.ROCE))
    far = seeded("leaf-02", "enterprise_sonic", "\n".join(["buffer init lossless", *ROCE]))
    running = twin(fabric(leaf, spine, far))
    rows = running.control.fabric()
    assert [(row["lossless"], row["why"]) for row in rows] == [(True, [])] * len(rows)
    assert rows
    device = running.world.fabric.switches["spine-01"].device
    Console(device.switch)("configure terminal", "interface ethernet1/1/3", "no priority-flow-control mode")
    broken = running.control.fabric()
    assert {row["lossless"] for row in broken} == {False}
    assert "spine-01/ethernet1/1/3" in {reason["at"] for row in broken for reason in row["why"]}


def test_the_vendors_plugins_read_and_configure_over_ssh(twin):
    running = twin(
        fabric(seeded("leaf-01", "enterprise_sonic"), seeded("leaf-02", "enterprise_sonic")), faces=("switches",)
    )
    with cli(running, "leaf-01", prompt=r"[#$] $") as console:
        assert "leaf-02" in console("sonic-cli", "terminal length 0", "show lldp table")
    with drive_switch.connected(running, "leaf-01") as opened:
        cliconf = Connection(opened.connection._socket_path)
        assert "Software Version  : 4.2.1" in cliconf.get("show version")
        cliconf.edit_config([line for line in ROCE if line])
        assert " qos-map dscp-tc mine" in cliconf.get_config()
    assert running.world.fabric.switches["leaf-01"].device.treatment("Eth1/4").mtu == 9216
