"""The command line of Onyx on the twin: against captured output, and what its configuration does to packets."""

from __future__ import annotations

import re

import pytest
from ansible.module_utils.connection import Connection

from twin_labs.fabric_lab import cli, fabric
from twin_labs.fabric_lab import switch as seeded

from . import drive_switch
from .switch_console import Console, switch

ENTER = ("enable", "configure terminal")
PFC = ("dcb priority-flow-control enable force", "dcb priority-flow-control priority 3 enable")
POOL = (
    "traffic pool roce type lossless",
    "traffic pool roce memory percent 50.00",
    "traffic pool roce map switch-priority 3",
)
MANUAL = (
    *POOL,
    *PFC,
    "interface ethernet 1/1-1/4 traffic-class 3 congestion-control ecn minimum-absolute 150 maximum-absolute 1500",
    "interface ethernet 1/1-1/4 traffic-class 3 dcb ets wrr 50",
    "interface ethernet 1/1-1/4 traffic-class 6 dcb ets strict",
    "interface ethernet 1/1-1/4 qos trust L3",
    "interface ethernet 1/1-1/4 dcb priority-flow-control mode on force",
    "interface ethernet 1/1-1/4 pfc-wd",
    "interface ethernet 1/1-1/4 mtu 9216 force",
)
PORT = "interface ethernet 1/1"


@pytest.fixture
def console():
    return Console(switch("onyx"), *ENTER)


def device(console):
    return console.dialogue.device


@pytest.mark.parametrize(
    "line,complaint",
    [
        ("frobnicate", '% Unrecognized command "frobnicate".\nType "?" for help.'),
        (f"{PORT} qos", "% Incomplete command"),
        (f"{PORT} qos trust L4", "% Unrecognized command"),
        ("interface ethernet 1/99 qos trust L3", "% Interface 1/99 does not exist"),
        ("interface ethernet 1/1,1/3 qos trust L3", "% Unrecognized command"),
        (f"{PORT} mtu 9216", '"force"'),
        (f"{PORT} mtu 9700 force", "% Unrecognized command"),
        (f"{PORT} traffic-class 8 dcb ets strict", "% Unrecognized command"),
        (f"{PORT} traffic-class 3 dcb ets wrr", "% Incomplete command"),
        (f"{PORT} traffic-class 3 congestion-control ecn minimum-absolute 9 maximum-absolute 1", "% Minimum threshold"),
        ("traffic pool roce memory percent 50.00", "% Traffic pool roce does not exist"),
        ("traffic pool roce-reserved type lossless", "belongs to the system"),
        ("dcb ets tc 0 bw-percent 50", "% Unrecognized command"),
        ("roce lossy extra", "% Unrecognized command"),
        ("configuration delete initial", "is the active configuration file"),
        ("show roce | frobnicate x", "% Unrecognized filter"),
    ],
)
def test_what_the_switch_does_not_take_it_refuses_with_a_percent_sign(console, line, complaint):
    before = device(console).running()
    text = console(line)
    assert text.startswith("%")
    assert complaint in text
    assert device(console).running() == before


def test_the_preset_is_unknown_before_its_release():
    console = Console(switch("onyx", "3.8.1208"), *ENTER)
    assert console("roce lossless").startswith("% Unrecognized command")
    assert console("show roce").startswith("% Unrecognized command")


def test_flow_control_of_the_link_and_of_priorities_exclude_each_other(console):
    console(f"{PORT} flowcontrol send on force")
    assert "Flow control is enabled" in console(f"{PORT} dcb priority-flow-control mode on force")
    console(f"{PORT} flowcontrol send off force", f"{PORT} dcb priority-flow-control mode on force")
    assert "Priority flow control is enabled" in console(f"{PORT} flowcontrol send on force")


def test_modes_prompts_and_prefixes():
    one = switch("onyx")
    console = Console(one)
    name = "leaf-01 [standalone: master]"
    assert console.prompt == f"{name} > "
    assert console("show running-config").startswith("%")
    console("enable")
    assert console.prompt == f"{name} # "
    console("conf t", "interface ethernet 1/1-1/2")
    assert console.prompt == f"{name} (config interface ethernet 1/1-1/2) # "
    console("qos trust both", "roce lossy")
    assert one.device.treatment("Eth1/2").trust == "both"
    assert one.device.config.roce == "lossy"
    console("no qos trust", "exit")
    assert console.prompt == f"{name} (config) # "
    console("no cli default prefix-modes enable", "interface ethernet 1/1")
    assert console.prompt == f"{name} (config) # "


def test_enable_may_ask_for_a_password():
    one = switch("onyx")
    one.device.enable_password = "secret"
    console = Console(one, "enable")
    assert (console.reply.ask, console.reply.hidden) == ("Password: ", True)
    assert console.answer("wrong").startswith("%")
    console("enable")
    console.answer("secret")
    assert console.prompt.endswith(" # ")


LOSSLESS = {"pauses_sent": {3}, "pauses_heeded": {3}, "no_drop": {3}, "trust": "dscp", "strict": {6}}


@pytest.mark.parametrize(
    "lines,wanted",
    [
        pytest.param(
            (), {"trust": "pcp", "pauses_sent": set(), "no_drop": set(), "marking": {}, "mtu": 1500}, id="factory"
        ),
        pytest.param(("roce",), {**LOSSLESS, "dcbx": True}, id="the preset without a word is lossless"),
        pytest.param(
            ("roce semi-lossless",),
            {"pauses_sent": set(), "pauses_heeded": {3}, "no_drop": set(), "trust": "dscp"},
            id="semi-lossless obeys and does not send",
        ),
        pytest.param(("roce lossy",), {"pauses_sent": set(), "pauses_heeded": set(), "strict": {6}}, id="lossy"),
        pytest.param(("roce", "no roce"), {"trust": "pcp", "pauses_sent": set(), "marking": {}}, id="off again"),
        pytest.param(MANUAL, {**LOSSLESS, "mtu": 9216, "watchdog": True}, id="by hand"),
        pytest.param(
            [line for line in MANUAL if "pool" not in line],
            {"pauses_sent": set(), "pauses_heeded": {3}, "no_drop": set()},
            id="without a lossless pool nothing is asked to wait",
        ),
        pytest.param(
            [line for line in MANUAL if "mode on" not in line],
            {"pauses_sent": set(), "pauses_heeded": set(), "watchdog": False},
            id="auto waits for a peer that never agrees",
        ),
        pytest.param(
            [*MANUAL, "no dcb priority-flow-control priority 3 enable"], {"pauses_heeded": set()}, id="no priority"
        ),
        pytest.param(
            ("roce", f"{PORT} qos trust L2"), {"trust": "pcp", "pauses_sent": {3}}, id="a port of its own mind"
        ),
        pytest.param(
            ("roce", f"{PORT} no traffic-class 3 congestion-control"),
            {"marking": {}},
            id="marking off under the preset",
        ),
    ],
)
def test_what_a_configuration_does_to_packets(lines, wanted):
    found = switch("onyx", lines=lines).device.treatment("Eth1/1")
    assert {key: getattr(found, key) for key in wanted} == wanted


def test_maps_queues_and_marking_by_hand_reach_the_hardware(console):
    console(
        f"{PORT} qos map dscp 34 to switch-priority 3",
        f"{PORT} traffic-class 5 bind switch-priority 3",
        f"{PORT} traffic-class 5 congestion-control red minimum-absolute 100 maximum-absolute 200",
    )
    found = device(console).treatment("Eth1/1")
    assert (found.priorities[34], found.priorities[26], found.queues[3]) == (3, 3, 5)
    assert (found.marking[5].mark, found.marking[5].min_bytes) == (False, 102400)
    assert device(console).treatment("Eth1/2").priorities[34] == 4


def test_the_running_configuration_is_flat_and_merges_equal_ports(console):
    console(*MANUAL, "interface ethernet 1/2 qos trust both")
    text = console("show running-config")
    assert text.startswith('##\n## Running database "initial"')
    found = re.findall(r"^   (.*qos trust.*)$", text, re.MULTILINE)
    assert found == [
        "interface ethernet 1/1 qos trust L3",
        "interface ethernet 1/3-1/4 qos trust L3",
        "interface ethernet 1/2 qos trust both",
    ]
    assert text.index("no cli default prefix-modes enable") < text.index("traffic pool roce type lossless")


def test_a_running_configuration_makes_the_same_switch_again(console):
    console("roce semi-lossless", *MANUAL, f"{PORT} qos map dscp 34 to switch-priority 3")
    text = console("show running-config")
    again = switch("onyx", lines=[line.strip() for line in text.splitlines() if not line.startswith("#")])
    assert again.device.running() == text


def test_only_what_was_saved_survives_a_restart(console):
    one = device(console).switch
    console("roce lossless", "configuration write", "roce lossy")
    one.full_flash = True
    assert "No space left" in console("configuration write")
    one.device.reload()
    assert one.device.config.roce == "lossless"


def test_another_configuration_file_runs_after_a_restart(console):
    one = device(console).switch
    console("configuration copy initial before", "roce lossless", "configuration write")
    assert "before" in console("show configuration files")
    console("configuration switch-to before")
    assert console.reply.close
    assert (one.reloads, one.device.config.roce) == (1, None)


def test_pages_neighbours_and_ansible_over_ssh(twin):
    running = twin(fabric(seeded("leaf-01", "onyx", "lldp"), seeded("leaf-02", "onyx", "lldp")), faces=("switches",))
    with cli(running, "leaf-01") as console:
        assert "lines 1-23" in console.type("show interfaces ethernet", until=r"lines 1-23 ?$")
        console.press("q")
        console("no cli session paging enable")
        assert "Remote system name       : leaf-02" in console("show lldp interfaces ethernet 1/3 remote")
    with drive_switch.connected(running, "leaf-01") as opened:
        cliconf = Connection(opened.connection._socket_path)
        assert "Product release:   3.10.4006" in cliconf.get("show version")
        cliconf.edit_config(["roce lossless"])
    assert running.world.fabric.switches["leaf-01"].device.treatment("Eth1/1").pauses_sent == {3}
