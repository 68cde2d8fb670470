"""The site with 100 hosts and 1,001 VMs, with switches: a twin that loads its capture is the same data centre.

It costs about 50 seconds of processors, so one commit in three runs it. vCenter is read in this process: the requests
of a capture are those of `small`, whose round trip over the wire is in test_capture_loaded. The fabric has a command
line and a shell: each platform has a round trip of its own in test_capture_switches_loaded.
"""

from __future__ import annotations

import re

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture

from twin_labs.saved import save
from vsphere_twin.capture import seed as captures
from vsphere_twin.launch import launch
from vsphere_twin.model.seed import SEEDS

from . import drive_switch
from .test_capture_switches_loaded import PASSING, differing

HOSTS, HALF = 100, 50
NIC = "vmnic2"
# Times of the objects, and what a running VM used at the moment.
MOMENTS = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)?(-\d+)?|<uptime(Seconds)?>\d+<|<uptime>.*?<")


def site():
    """The seed with half of its hosts at each of two switches."""
    seed = yaml.safe_load((SEEDS / "large.yml").read_text())
    switches = [
        {"name": "leaf-01", "platform": "eos", "ports": 64},
        {"name": "leaf-02", "platform": "cumulus", "ports": 64},
    ]
    first = [[f"esx-{n:03}.factory.example/{NIC}", f"leaf-01/Ethernet{n}"] for n in range(1, HALF + 1)]
    second = [[f"esx-{HALF + n:03}.factory.example/{NIC}", f"leaf-02/swp{n}"] for n in range(1, HALF + 1)]
    cables = [*first, *second, ["leaf-01/Ethernet64", "leaf-02/swp64"]]
    return {**seed, "fabric": {"switches": switches, "cables": cables}}


def captured(twin, folder):
    """A folder with the objects of vCenter and the outputs of the switches, and both as text."""
    save(twin.world, folder / "vcenter")
    dest = str(folder.parent / f"{folder.name}.zip")
    for name in sorted(twin.world.fabric.switches):
        answer = drive_switch.run(twin, name, "switch_capture_info", {"dest": dest, "keep": ["names"]})
        assert not answer["failed"], answer["msg"]
    outputs = {}
    for name, content in Capture(dest).files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        outputs[name] = [line for line in content.decode().splitlines() if not PASSING.search(line)]
    objects = {one.name.partition("-")[2]: MOMENTS.sub("", one.read_text()) for one in (folder / "vcenter").iterdir()}
    return objects, outputs


@pytest.mark.turn(0, of=3)
def test_a_twin_of_a_large_capture_has_the_same_capture(tmp_path):
    with launch(site(), faces=("switches",)) as twin:
        objects, outputs = captured(twin, tmp_path / "first")
    made = captures.of(tmp_path / "first")
    assert len(made["fabric"]["cables"]) == HOSTS + 1
    with launch(made, faces=("switches",)) as twin:
        loaded = [len(twin.world.of_kind(kind)) for kind in ("HostSystem", "VirtualMachine")]
        again, shown = captured(twin, tmp_path / "second")
    assert loaded == [HOSTS, 1001]
    assert (set(objects), [name for name in objects if objects[name] != again[name]]) == (set(again), [])
    assert "\n".join(line for name in outputs for line in differing(outputs[name], shown.get(name, []))) == ""
