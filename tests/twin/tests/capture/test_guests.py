"""Outputs of captured guests: their VM, what they show, and that the twin names them instead of loading them."""

from __future__ import annotations

import json
import re

import pytest

from twin_labs.saved import save
from vsphere_twin.capture import guests
from vsphere_twin.capture import seed as captures
from vsphere_twin.capture.bundle import Bundle
from vsphere_twin.model import seed as seeds

VM, MAC = "train-01", "00:50:56:80:00:65"
SMI = """<?xml version="1.0" ?><nvidia_smi_log><driver_version>535.161.08</driver_version>
<attached_gpus>2</attached_gpus><gpu id="00000000:02:01.0"><product_name>NVIDIA A100-40C</product_name>
<vgpu_software_licensed_product><license_status>Licensed (Expiry: 2027-1-1 0:0:0 GMT)</license_status>
</vgpu_software_licensed_product></gpu></nvidia_smi_log>"""
LINKS = [
    {"ifname": "lo", "mtu": 65536, "link_type": "loopback", "address": "00:00:00:00:00:00"},
    {"ifname": "ens192", "mtu": 1500, "link_type": "ether", "address": MAC.upper()},
    {"ifname": "ens192.5", "link": "ens192", "mtu": 1500, "link_type": "ether", "address": MAC},
]
OUTPUTS = {
    "uname -r": "6.8.0-45-generic\n",
    "nvidia-smi -q -x": SMI,
    "ip -j link": json.dumps(LINKS),
    "grep PRETTY_NAME /etc/os-release": 'PRETTY_NAME="Red Hat Enterprise Linux 9.4 (word-001)"\n',
    "ls /sys/module": "ib_core\nmlx5_core\n",
    "nvidia-smi topo -m": "text",
}


def put(folder, outputs, name=VM):
    """Write outputs of a guest as a capture has them."""
    where = folder / "guests" / name / "shell"
    where.mkdir(parents=True)
    rows = [{"command": command, "file": f"{number}.txt"} for number, command in enumerate(outputs)]
    for row, text in zip(rows, outputs.values(), strict=True):
        (where / row["file"]).write_text(text)
    (where / "commands.json").write_text(json.dumps({"commands": [*rows, {"command": "ibv_devinfo -v", "file": None}]}))


@pytest.fixture
def site(tmp_path):
    save(seeds.load("small"), tmp_path / "vcenter")
    return tmp_path


# A capture that keeps names has pseudonyms in its paths: the adapter shows the VM.
@pytest.mark.parametrize("name", [VM, "vm-002"])
def test_a_guest_shows_system_driver_gpus_and_adapters(site, name):
    put(site, OUTPUTS, name)
    ((moid, guest),) = guests.of(Bundle(site)).items()
    assert moid == "vm-101"
    assert guest == {
        "kernel": "6.8.0-45-generic",
        "system": "Red Hat Enterprise Linux 9.4",
        "modules": ["ib_core", "mlx5_core"],
        "links": [{"name": "ens192", "mac": MAC, "mtu": 1500}],
        "driver": "535.161.08",
        "gpus": [{"address": "00000000:02:01.0", "name": "NVIDIA A100-40C", "licence": "Licensed"}],
        "missing": 1,
        "nvidia-smi topo -m": "text",
        "without": [],
    }


def test_a_captured_guest_is_an_assumption_by_name(site):
    put(site, OUTPUTS)
    rows = [row for row in captures.of(site)["assumptions"] if row["object"] == f"guest {VM}"]
    assert [(row["fact"], row["value"]) for row in rows] == [("system, driver, adapters", "those of the twin")]
    assert "Red Hat Enterprise Linux 9.4, kernel 6.8.0-45-generic, driver 535.161.08" in rows[0]["reason"]


@pytest.mark.parametrize("output", ["", "[]", "null", "[1]", '[{"link_type": "ether", "address": "x"}]', "<gpu id="])
def test_unknown_values_of_a_guest_are_absent(site, output):
    put(site, {**dict.fromkeys(OUTPUTS, output), "uname -r": ""})
    (guest,) = guests.of(Bundle(site)).values()
    assert {"kernel", "system", "driver", "gpus"}.isdisjoint(guest)
    assert guest.get("links", []) == []


def test_a_vm_without_captured_devices_has_no_adapter_of_a_guest(site):
    put(site, OUTPUTS, "vm-002")
    (file,) = (site / "vcenter").glob("*-VirtualMachine-vm-101.xml")
    text = file.read_text()
    assert "<hardware>" in text
    file.write_text(re.sub("(?s)<hardware>.*</hardware>", "", text))
    assert guests.of(Bundle(site)) == {}


def test_a_program_that_the_guest_lacks_is_named_and_an_unknown_guest_is_left_out(site):
    put(site, OUTPUTS)
    put(site, {"uname -r": "6.8.0"}, "vm-099")
    bundle = Bundle(site)
    refused = {f"guest {VM}/002-nvidia-smi-q-x": {"refused": {"": "not_found"}}, f"guest {VM}/003-x": {"refused": {}}}
    bundle.manifest["coverage"] = refused
    found = guests.of(bundle)
    assert (list(found), found["vm-101"]["without"]) == (["vm-101"], ["nvidia-smi-q-x"])
