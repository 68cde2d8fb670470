"""Outputs of the shell of a host: esxcli as through vCenter, ATS of its ports by mlxconfig, MIG modes by nvidia-smi."""

from __future__ import annotations

import json

import pytest

from twin_labs.saved import save
from vsphere_twin.capture import seed as captures
from vsphere_twin.model import seed as seeds
from vsphere_twin.model import seed_file
from vsphere_twin.shell.interpreter import Shell

NAME = "esx-01.lab.example"
HOST = f"host {NAME}"
KERNEL = "esxcli system settings kernel list"
ATS = "ATS in the firmware"


@pytest.fixture
def site(tmp_path):
    """A saved world with a host whose shell has the tools of its adapters."""
    data = seed_file.read((seeds.SEEDS / "small.yml").read_text())
    data["datacenters"][0]["clusters"][0]["hosts"][0]["vibs"] = ["nmst"]
    world = seeds.from_data(data)
    save(world, tmp_path / "vcenter")
    host = next(one for one in world.of_kind("HostSystem") if one.name == NAME)
    host.daemons["mst"] = True
    return Shell(world, host), tmp_path


def put(folder, outputs, part="shell", own=NAME):
    """Write outputs of a host as a capture has them."""
    rows, where = [], folder / "hosts" / own / part
    where.mkdir(parents=True)
    for number, (command, text) in enumerate(outputs.items()):
        rows.append({"command": command, "file": f"{number}.{'json' if command.startswith('esxcli ') else 'txt'}"})
        (where / rows[-1]["file"]).write_text(text)
    (where / "commands.json").write_text(json.dumps({"commands": rows}))


def loaded(folder):
    """The entry of the host in the seed, and what is assumed about it, by object and fact."""
    made = captures.of(folder)
    seeds.from_data(made)
    hosts = [host for cluster in made["datacenters"][0]["clusters"] for host in cluster["hosts"]]
    assumed = {(row["object"], row["fact"]): row for row in made["assumptions"]}
    return next(host for host in hosts if host["name"] == NAME), assumed


def asked(shell):
    """What a capture reads of the adapters, by its command, and their ports."""
    ports = [port for port in shell.host.ports if port.mst_name]
    commands = ["mst status -v", *(f"mlxconfig -d {port.mst_name} -e query" for port in ports)]
    found = {command: shell.run(f"/opt/mellanox/bin/{command}") for command in commands}
    assert [one.stdout for one in found.values() if one.rc] == []
    return {command: one.stdout for command, one in found.items()}, ports


def test_esxcli_in_a_shell_is_as_good_as_through_vcenter(site):
    _shell, folder = site
    row = {"Name": "atsSupport", "Configured": "TRUE", "Default": "FALSE"}
    put(folder, {KERNEL: json.dumps([row])})
    host, assumed = loaded(folder)
    assert (host["kernel"], (HOST, "kernel settings") in assumed) == ({"atsSupport": "TRUE"}, False)
    # If both were read, the answer through vCenter counts.
    put(folder, {KERNEL: json.dumps([{**row, "Configured": "FALSE"}])}, part="esxcli")
    assert "kernel" not in loaded(folder)[0]


def test_ats_is_that_of_mlxconfig(site):
    shell, folder = site
    for port, (now, later) in zip(shell.host.ports[-2:], ((False, False), (True, False)), strict=True):
        port.firmware.ats, port.firmware.next_ats = now, later
    outputs, ports = asked(shell)
    put(folder, outputs)
    host, assumed = loaded(folder)
    found = {nic["pci"]: nic["firmware"]["ats"] for nic in host["nics"] if "firmware" in nic}
    assert found == {port.pci: port.firmware.ats for port in ports}
    mine = {key: row for key, row in assumed.items() if key[0].startswith(HOST) and ATS in key[1]}
    assert [fact for _port, fact in mine] == [f"{ATS} at the next boot"]
    assert {row["value"] for key, row in assumed.items() if key[1] == ATS} == {True}


def test_ports_without_a_readable_mlxconfig_have_their_reason(site):
    shell, folder = site
    shell.host.ports[-1].firmware.knows_ats = False
    outputs, ports = asked(shell)
    outputs[f"mlxconfig -d {ports[0].mst_name} -e query"] = "-E- Failed to open the device\n"
    put(folder, outputs)
    host, assumed = loaded(folder)
    reasons = {row["reason"] for (thing, fact), row in assumed.items() if thing.startswith(HOST) and fact == ATS}
    assert reasons == {"no mlxconfig of this port in the capture", "its mlxconfig lists no ATS_ENABLED"}
    assert [nic["firmware"]["knows_ats"] for nic in host["nics"] if "knows_ats" in nic.get("firmware", ())] == [False]


@pytest.mark.parametrize("modes", [(True, False), (False, False)], ids=["of both modes", "without MIG"])
def test_mig_modes_are_those_of_nvidia_smi(tmp_path, modes):
    data = seed_file.read((seeds.SEEDS / "small.yml").read_text())
    entry = data["datacenters"][0]["clusters"][0]["hosts"][0]
    entry["gpus"] = [{**entry["gpus"][0], "mig": mode} for mode in modes]
    world = seeds.from_data(data)
    save(world, tmp_path / "vcenter")
    fact, shell = "MIG mode", Shell(world, next(one for one in world.of_kind("HostSystem") if one.name == NAME))
    assert {thing for thing, one in loaded(tmp_path)[1] if one == fact and thing.startswith(HOST)} == (
        {f"{HOST}, GPU {gpu.pci_id}" for gpu in shell.host.gpus} if any(modes) else set()
    )
    put(tmp_path, {"nvidia-smi -q -x": shell.run("nvidia-smi -q -x").stdout})
    host, assumed = loaded(tmp_path)
    assert [gpu["mig"] for gpu in host["gpus"]] == list(modes)
    assert [thing for thing, one in assumed if one == fact and thing.startswith(HOST)] == []
