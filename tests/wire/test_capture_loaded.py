"""A twin that loads a capture is the captured data centre: a capture of it equals the first one."""

from __future__ import annotations

import difflib
import re

import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture

from vsphere_twin.capture import seed as captures
from vsphere_twin.launch import launch
from vsphere_twin.model.seed import SEEDS

from . import drive_switch

# What differs between any two captures: versions of a configuration, times, and the session that read it.
DECLARED = re.compile(r"<(?:changeVersion|uptime|sessionId)>")
MOMENTS = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)?")
# Properties that have no content of the data centre, and answers that are events.
SWITCHES = {"leaf-01": "eos", "leaf-03": "cumulus"}
CABLES = [
    ["esx-01.lab.example/vmnic2", "leaf-01/Ethernet1"],
    ["esx-02.lab.example/vmnic2", "leaf-03/swp1"],
    ["leaf-01/Ethernet31", "leaf-03/swp31"],
]
ITEMS = ("ubuntu-24.04", "ubuntu-24.04-ovf")
NEW = {"folder": "training", "cloud_init": {"userdata": "#cloud-config\n"}}
NEW["vms"] = [{"name": "new-01", "host": "esx-01.lab.example"}]
LEFT_OUT = {"methods/EventManager-EventManager/QueryEvents.xml"}


def differences(one, other):
    """The lines in which the objects and answers of two captures differ, by file."""
    found = {}
    first, second = (
        {re.sub(r"/\d+-", "/", name): text.decode() for name, text in capture.files.items() if name not in LEFT_OUT}
        for capture in (one, other)
    )
    for name in sorted({*first, *second}):
        lines = [_lines(side.get(name, "")) for side in (first, second)]
        changed = [line for line in difflib.unified_diff(*lines, lineterm="", n=0) if re.match(r"[+-](?![+-])", line)]
        if changed:
            found[name] = changed
    return found


def _lines(text):
    return [MOMENTS.sub("TIME", line) for line in text.splitlines() if not DECLARED.search(line)]


def tag_a_host(world):
    """One host has a tag, as an inventory plugin of a user needs it."""
    tag = world.tagging.add_tag(world, "training", world.tagging.add_category(world, "use"))
    world.tagging.attach(tag, "HostSystem", world.of_kind("HostSystem")[0].moid)


def test_a_twin_of_a_capture_has_the_same_capture(drive, tmp_path):
    captured, seed = [], yaml.safe_load((SEEDS / "small.yml").read_text())
    switches = [{"name": name, "platform": platform} for name, platform in SWITCHES.items()]
    seed["fabric"] = {"switches": switches, "cables": CABLES}
    for number, first in enumerate((seed, None)):
        dest = str(tmp_path / f"{number}.zip")
        with launch(first or captures.of(captured[0]), faces=("switches",)) as running:
            if first is seed:
                tag_a_host(running.world)
            module = drive(running)
            answers = [module(name, dest=dest, keep=["names"]) for name in ("site_capture_info", "host_capture_info")]
            asked = {"dest": dest, "keep": ["names"]}
            answers += [drive_switch.run(running, name, "switch_capture_info", asked) for name in SWITCHES]
            # A VM can be created from each item of the library.
            answers += [module("vm_clone", check=True, library_item=item, **NEW) for item in ITEMS]
        assert [answer["msg"] for answer in answers if answer["failed"]] == []
        assert [answer["changed"] for answer in answers[-2:]] == [True, True]
        captured.append(dest)
    found = differences(*map(Capture, captured))
    (tagged,) = [text for name, text in Capture(captured[1]).files.items() if "tagging/tag-association/" in name]
    assert b'"HostSystem"' in tagged
    assert "\n".join([f"{name}: {line}" for name, lines in found.items() for line in lines]) == ""
