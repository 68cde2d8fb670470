"""A twin that loads a capture of a switch runs its configuration with all that deviates: a second capture is equal."""

from __future__ import annotations

import difflib
import re

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture

from twin_labs.ports_lab import AWAY, LLDP
from twin_labs.saved import save
from vsphere_twin.capture import seed as captures
from vsphere_twin.launch import launch
from vsphere_twin.model import seed as seeds

from . import drive_switch
from .rows.roce_qos import NAME, lab, port, row

# A port with a small MTU.
SMALL = {
    "cumulus": ["nv set interface swp2 link mtu 4200"],
    "enterprise_sonic": ["interface Eth1/2", "mtu 4200"],
    "eos": ["interface Ethernet2", "mtu 4200"],
    "nxos": ["interface Ethernet1/2", "mtu 1500"],
    "onyx": ["interface ethernet 1/2 mtu 4200 force"],
    "os10": ["interface ethernet1/1/2", "mtu 4200"],
    "sonic": ["config interface mtu Ethernet4 4200"],
}
# Times, counters of packets, identifiers of a chassis, and names of ports that a capture removes.
PASSING = re.compile(r"(?i)uptime|time|generated|chassis|serial|mac|packets|octets|bytes_|_bytes|alias|QSFP")
PLATFORMS = sorted(SMALL)
# Onyx does not print its model.
ASSUMED = {"onyx": [("switch sw-01", "model"), ("switch sw-02", "model")]}


@pytest.fixture(scope="module")
def vcenter(tmp_path_factory):
    """A vCenter, without which nothing is a capture of a site."""
    folder = tmp_path_factory.mktemp("captured")
    save(seeds.load("small"), folder / "vcenter")
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*.xml")}


def state(twin, platform):
    """What the hardware does at three ports, and the configuration."""
    device = twin.world.fabric.switches[NAME].device
    names = [port(platform, number) for number in (1, 2, 3)]
    acts = [f"{one}: {key}={value}" for one in names for key, value in vars(device.treatment(one)).items()]
    acts += [f"{one}: {device.lan(one)}, shut={device.shut(one)}" for one in names]
    return [*acts, *(line for line in str(device.running()).splitlines() if not PASSING.search(line))]


def differing(one, other):
    """The lines of which only one text has them."""
    return [line for line in difflib.unified_diff(one, other, n=0, lineterm="") if not re.match(r"---|\+\+\+|@@", line)]


def captured(twin, folder, vcenter, number):
    """A folder with vCenter and the outputs of both switches."""
    dest = folder / f"{number}.zip"
    for name in (NAME, "sw-02"):
        answer = drive_switch.run(twin, name, "switch_capture_info", {"dest": str(dest), "keep": ["names"]})
        assert not answer["failed"], answer["msg"]
    files = {**vcenter, **Capture(str(dest)).files}
    for name, content in files.items():
        path = folder / str(number) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    outputs = {name: content.decode() for name, content in files.items() if name.startswith("switches/")}
    lines = {name: [line for line in text.splitlines() if not PASSING.search(line)] for name, text in outputs.items()}
    return folder / str(number), lines


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_switch_of_a_capture_deviates_as_the_captured_one(platform, vcenter, tmp_path):
    seed = lab(platform)
    seed["fabric"]["vlans"] = [111, 222]
    for switch in seed["fabric"]["switches"]:
        switch["config"] = LLDP.get(platform, [])
    with launch(seed, faces=("switches",)) as twin:
        assert not drive_switch.run(twin, NAME, "roce_qos", row(platform).create)["failed"]
        with twin.world.lock:
            twin.world.fabric.switches[NAME].device.load([*AWAY[platform], *SMALL[platform]])
            first = state(twin, platform)
        folder, outputs = captured(twin, tmp_path, vcenter, 1)
    made = captures.of(folder)
    with launch(made, faces=("switches",)) as twin:
        assumed = [row for row in twin.world.assumptions if row["object"].startswith("switch ")]
        second = state(twin, platform)
        _folder, again = captured(twin, tmp_path, vcenter, 2)
    assert "\n".join(differing(first, second)) == ""
    assert sorted((row["object"], row["fact"]) for row in assumed) == ASSUMED.get(platform, [])
    assert "\n".join(line for name in outputs for line in differing(outputs[name], again.get(name, []))) == ""
    assert len(made["fabric"]["cables"]) == 2
