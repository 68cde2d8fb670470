"""Switches of a capture run the captured configuration; cables follow from LLDP; unknown lines are assumptions."""

from __future__ import annotations

import json

import pytest

from twin_labs.saved import save
from vsphere_twin.capture import seed as captures
from vsphere_twin.capture import switch_configs
from vsphere_twin.model import seed as seeds

HOST = "esx-01.lab.example"
CONFIG = """hostname leaf-01
vlan 111
interface Ethernet1
   mtu 9214
   switchport mode trunk
   paint it black
interface Port-Channel7
   mtu 1500
interface Ethernet2
"""
EOS_LLDP = {
    "lldpNeighbors": {
        "Ethernet1": {
            "lldpNeighborInfo": [{"systemName": "esx-01", "neighborInterfaceInfo": {"interfaceId": '"vmnic2"'}}]
        },
        "Ethernet31": {
            "lldpNeighborInfo": [{"systemName": "leaf-03", "neighborInterfaceInfo": {"interfaceId": "swp31"}}]
        },
        "Ethernet2": {"lldpNeighborInfo": [{"systemName": "other", "neighborInterfaceInfo": {"interfaceId": "eth0"}}]},
    }
}
TREE = {"set": {"system": {"hostname": "leaf-03"}, "interface": {"swp31": {"link": {"mtu": 9000}}}}}
NEIGHBOUR = {"chassis": {"system-name": "leaf-01"}, "port": {"name": "Ethernet31"}}


def write(folder, name, platform, outputs):
    path = folder / "switches" / name
    path.mkdir(parents=True)
    rows = [{"command": command, "file": f"{number}.txt"} for number, command in enumerate(outputs)]
    (path / "commands.json").write_text(json.dumps({"platform": platform, "version": "", "commands": rows}))
    for row in rows:
        output = outputs[row["command"]]
        (path / row["file"]).write_text(output if isinstance(output, str) else json.dumps(output))


def captured(folder):
    save(seeds.load("small"), folder / "vcenter")
    write(
        folder, "1", "eos", {"show running-config | section x": CONFIG, "show lldp neighbors detail | json": EOS_LLDP}
    )
    lldp = {"swp31": {"lldp": {"neighbor": {"leaf-01": NEIGHBOUR}}}}
    write(folder, "2", "cumulus", {"nv config show -o json": [TREE], "nv show interface lldp -o json": lldp})
    write(folder, "3", "junos", {})
    (folder / "snapshot" / "configs").mkdir(parents=True)
    for name in ("1", "4"):
        (folder / "snapshot" / "configs" / f"{name}.cfg").write_text(CONFIG)
    return captures.of(folder)


def test_switches_run_the_captured_configuration_and_are_cabled(tmp_path):
    made = captured(tmp_path)
    assert made["fabric"]["cables"] == [
        [f"{HOST}/vmnic2", "leaf-01/Ethernet1"],
        ["leaf-03/swp31", "leaf-01/Ethernet31"],
    ]
    world = seeds.from_data(made)
    assert sorted(world.fabric.switches) == ["leaf-01", "leaf-03"]
    running = world.fabric.switches["leaf-01"].device.running()
    assert "interface Ethernet1\n   mtu 9214\n   switchport mode trunk\n" in running
    assert "9000" in str(world.fabric.switches["leaf-03"].device.running())


def test_unknown_lines_and_platforms_are_assumptions(tmp_path):
    world = seeds.from_data(captured(tmp_path))
    rows = {(row["object"], row["fact"]): row["value"] for row in world.assumptions}
    assert rows["switch leaf-01", "paint it black"] == "absent"
    # Lines in a section that the twin does not know are no lines of the section before it.
    assert rows["switch leaf-01", "interface Port-Channel7"] == "absent"
    assert ("switch leaf-01", "mtu 1500") not in rows
    assert rows["switch 3", "presence"] == rows["switch 4", "presence"] == "absent"
    assert ("switch 1", "presence") not in rows
    assert rows["switch leaf-03", "release"] == "the usual one of the twin"


NXOS = {
    "show running-config interface": """
version 10.3(4a) Bios:version 05.47
interface Ethernet1/1
  mtu 9216
interface Ethernet1/40
  shutdown
""",
    "show running-config vlan": "vlan 1,111,120-121",
    "show version | json": {"host_name": "core"},
    "show interface | json": {"TABLE_interface": {"ROW_interface": [{"eth_bw": 400000000}]}},
    "show running-config diff": "- interface Ethernet1/1",
}


def test_ports_speed_and_unsaved_changes_are_those_of_the_outputs(tmp_path):
    save(seeds.load("small"), tmp_path / "vcenter")
    write(tmp_path, "1", "nxos", NXOS)
    write(tmp_path, "2", "nxos", NXOS)
    write(tmp_path, "3", "nxos", {"show running-config vlan": ""})
    made = captures.of(tmp_path)
    first, second = made["fabric"]["switches"]
    assert (first["name"], second["name"], first["ports"], first["speed"]) == ("core", "2", 40, 400)
    assert [line for line in first["config"] if line.startswith("vlan")] == ["vlan 111", "vlan 120", "vlan 121"]
    facts = {(row["object"], row["fact"]) for row in made["assumptions"]}
    assert {("switch core", "saved configuration"), ("switch 2", "name"), ("switch 3", "presence")} <= facts
    running = seeds.from_data(made).fabric.switches["core"].device.running()
    assert "interface Ethernet1/1\n  mtu 9216\n" in running


@pytest.mark.parametrize("platform", sorted(switch_configs.READERS))
@pytest.mark.parametrize("output", ["", "[]", "{}", "null", "[[1]]", '{"a": [1]}', "hostname", "%\x00", "Eth1/9\n" * 9])
def test_strange_outputs_of_switches_end_in_no_error(platform, output):
    starts = ("nv config show", "nv show interface lldp", "show", "sonic-cfggen -d", "cat /etc/sonic/config_db.json")
    found = switch_configs.read(platform, dict.fromkeys(starts, output), "one")
    assert isinstance([] if found is None else found.lines, list)
    more = ("running-config |", "lldp", "version", "-o json")
    commands = {f"{one} {word}": output for one in starts for word in more}
    assert switch_configs.speed(platform, commands) is None


def test_answers_of_hosts_replace_what_would_be_assumed(tmp_path):
    save(seeds.load("small"), tmp_path / "vcenter")
    answers = {
        "esxcli system hostname get": {"FullyQualifiedDomainName": HOST, "HostName": "esx-01"},
        "esxcli software vib list": [{"Name": "NVD-AIE_ESXi_8.0.0_Driver", "Version": "550.90.05-1OEM.800"}],
        "esxcli system settings kernel list": [
            {"Name": "atsSupport", "Configured": "TRUE", "Default": "FALSE"},
            {"Name": "ofANewerRelease", "Configured": "7", "Default": "8"},
        ],
        "esxcli system module parameters list --module=nmlx5_core": [
            {"Name": "max_vfs", "Value": "0,4"},
            {"Name": "ofANewerRelease", "Value": "1"},
        ],
    }
    folder = tmp_path / "hosts" / "host-001" / "esxcli"
    folder.mkdir(parents=True)
    rows = [{"command": command, "file": f"{number}.json"} for number, command in enumerate(answers)]
    (folder / "commands.json").write_text(json.dumps({"commands": rows}))
    for row in rows:
        (folder / row["file"]).write_text(json.dumps(answers[row["command"]]))
    made = captures.of(tmp_path)
    first, second = made["datacenters"][0]["clusters"][0]["hosts"]
    assert first["driver"] == {"family": "nvaie", "version": "550.90.05"}
    assert (first["kernel"], first["module_options"]) == ({"atsSupport": "TRUE"}, {"nmlx5_core": "max_vfs=0,4"})
    assert "kernel" not in second
    facts = {row["object"] for row in made["assumptions"] if row["fact"] == "version of the host driver"}
    assert facts == {"host esx-02.lab.example"}
