"""What a platform reads of VLANs and of ports that were taken down, against what the twin's switch does with frames."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import vlans
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import numbers
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import platform_of
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Port

from twin_labs.ports_lab import AWAY, DOWN, PORTS, Pair
from vsphere_twin.switches.linux import LinuxShell

MORE = {
    "native": ("eos", ["interface Ethernet1", "switchport trunk native vlan 111"]),
    "made by nobody": ("eos", ["no vlan 111"]),
    "routed": ("eos", ["interface Ethernet1", "no switchport"]),
    "all but one": ("eos", ["interface Ethernet1", "switchport trunk allowed vlan except 111"]),
    "nxos in VLAN 1": ("nxos", ["interface Ethernet1/1", "switchport mode access"]),
    "nxos made by nobody": ("nxos", ["no vlan 111"]),
    "hybrid": ("onyx", ["interface ethernet 1/1 switchport mode hybrid"]),
    "onyx routed": ("onyx", ["interface ethernet 1/1 no switchport force"]),
    "os10 routed": ("os10", ["interface ethernet1/1/1", "no switchport"]),
    "own VLANs": ("cumulus", ["nv set interface swp1 bridge domain br_default vlan 5"]),
    "no bridge": ("cumulus", ["nv unset interface swp1 bridge"]),
    "untagged": ("sonic", ["config vlan add 7", "config vlan member add -u 7 Ethernet0"]),
    "access": ("enterprise_sonic", ["interface Vlan 7", "interface Eth1/1", "switchport access Vlan 7"]),
}


def outputs(pair, platform):
    """What the switch answers to the commands that are read."""
    commands = platform.reads(list(pair.switch.ports))
    if platform.shell:
        shell = LinuxShell.of(pair.switch, "root")
        return {command: shell.run(command, str).stdout for command in commands}
    dialogue = pair.switch.device.dialogue("admin")
    for line in ("enable", "sonic-cli"):
        dialogue.run(line)
    return {command: dialogue.run(command).text for command in commands}


def read(pair, name):
    platform = platform_of(name, None)
    return platform.parse(outputs(pair, platform)).ports[PORTS[name][0]]


def same(port, lan):
    assert port.vlan_mode is not None
    assert (port.untagged, frozenset(numbers(port.tagged))) == (lan.untagged, lan.tagged)


@pytest.mark.parametrize("name", PORTS)
def test_vlans_are_those_that_the_switch_acts_on(name):
    pair = Pair(name)
    for lines in ([], AWAY[name]):
        pair.load(lines)
        same(read(pair, name), pair.switch.device.lan(pair.port.name))


@pytest.mark.parametrize("case", MORE)
def test_other_settings_of_vlans(case):
    name, lines = MORE[case]
    pair = Pair(name)
    pair.load(lines)
    same(read(pair, name), pair.switch.device.lan(pair.port.name))


@pytest.mark.parametrize("name", PORTS)
def test_a_port_that_was_taken_down_is_reported_as_such(name):
    pair, (down, up) = Pair(name), DOWN[name]
    assert read(pair, name).enabled is True
    pair.load(down)
    assert read(pair, name).enabled is False
    pair.load(up)
    assert read(pair, name).enabled is True


@pytest.mark.parametrize("name", PORTS)
def test_without_an_output_nothing_is_known(name):
    port = platform_of(name, None).parse({}).ports.get(PORTS[name][0], Port())
    assert (port.enabled, port.vlan_mode, port.tagged) == (None, None, None)


@pytest.mark.parametrize(
    "lines, existing, seen",
    [
        (["switchport mode trunk"], None, ("trunk", 1, "2-4094")),
        (["switchport mode trunk", "switchport trunk allowed vlan 10,20-22"], None, ("trunk", None, "10,20-22")),
        (
            ["switchport mode trunk", "switchport trunk allowed vlan 10", "switchport trunk allowed vlan add 20"],
            {1, 20},
            ("trunk", None, "20"),
        ),
        (["switchport mode trunk", "switchport trunk allowed vlan none"], None, ("trunk", None, "")),
        (["switchport mode access", "switchport access vlan 30"], {1}, ("access", None, "")),
        (["switchport mode access", "switchport access vlan 30"], {1, 30}, ("access", 30, "")),
        (["no switchport"], None, ("routed", None, None)),
        (["description no switchport here"], None, (None, None, None)),
        (["switchport mode dot1q-tunnel"], None, (None, None, None)),
    ],
)
def test_lines_of_a_port(lines, existing, seen):
    one, port = vlans.Switching(), Port()
    for line in lines:
        one.take(line)
    vlans.settle(port, one, existing)
    assert (port.vlan_mode, port.untagged, port.tagged) == seen


def test_a_member_of_a_port_channel_has_its_vlans():
    text = "interface Port-Channel5\n   switchport mode trunk\n   switchport trunk allowed vlan 111\n!\n"
    text += (
        "interface Ethernet1\n   channel-group 5 mode active\n!\ninterface Ethernet2\n   channel-group 6 mode active\n"
    )
    ports = platform_of("eos", None).parse({"show running-config": f"vlan 111\n!\n{text}"}).ports
    assert (ports["Ethernet1"].vlan_mode, ports["Ethernet1"].tagged) == ("trunk", "111")
    assert ports["Ethernet2"].vlan_mode is None


@pytest.mark.parametrize(
    "mode, untagged, tagged, vlan, carried",
    [
        ("trunk", 1, "111,200-210", 205, True),
        ("trunk", 111, "", 111, False),
        ("trunk", None, "111", 0, False),
        ("access", 5, "", 0, True),
        ("routed", None, None, 111, False),
        (None, None, None, 111, None),
    ],
)
def test_whether_a_port_carries_a_vlan(mode, untagged, tagged, vlan, carried):
    assert vlans.carries(Port(vlan_mode=mode, untagged=untagged, tagged=tagged), vlan) is carried
