"""A second capture, of the twin that loads a capture of a lab: where it differs from the first one."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture

from vsphere_twin.capture import seed as captures
from vsphere_twin.launch import launch
from wire import drive_switch
from wire.drive import Driver, connection
from wire.test_capture_loaded import differences
from wire.test_capture_switches_loaded import PASSING

# Not captured: tasks, and the numbers of events.
DECLARED = re.compile(r'type="Task">|<(?:key|chainId)>\d+<')
# Nobody reports the cables of ports that are no uplinks, so the twin of a capture has none there.
UNSEEN = re.compile(r'"state(?:_rsn_desc)?":|line protocol|^[+-]Ethernet1/1 +On ')


def differing(twin, folder, faces):
    """The lines in which a capture of the twin differs from one of the twin that loads it."""
    first, second = folder / "1.zip", folder / "2.zip"
    _capture(twin, first)
    with launch(captures.of(first), faces=faces) as loaded:
        _capture(loaded, second)
    return [
        f"{name}: {line}"
        for name, lines in differences(_named(first), _named(second)).items()
        for line in _without_order(lines)
        if not _declared(name, line)
    ]


def _named(path):
    """The files of a capture by the names of switches, which have other pseudonyms in each capture."""
    table = json.loads(Path(f"{path}.secret.json").read_text())
    real = {pseudonym: name for rows in table["names"].values() for name, pseudonym in rows.items()}
    files = {
        re.sub(r"(?<=/)(?:switch|device)-\d+(?=[/.])", lambda found: real[found[0]], name): text
        for name, text in Capture(str(path)).files.items()
    }
    return SimpleNamespace(files=files)


def _without_order(lines):
    """Lines that were removed and not added again, and the other way round: references have no order."""
    removed, added = (Counter(line[1:] for line in lines if line[0] == sign) for sign in "-+")
    return [*(f"-{one}" for one in (removed - added).elements()), *(f"+{one}" for one in (added - removed).elements())]


def _declared(name, line):
    if name.startswith("vcenter/"):
        return bool(DECLARED.search(line))
    return bool(PASSING.search(line) or UNSEEN.search(line))


def _capture(twin, path):
    """A capture of vCenter, the answers of hosts, the BMCs and the switches."""
    driver = Driver(connection(twin, path.parent / f"sessions-{path.stem}"), twin)
    asked = {"dest": str(path), "keep": ["names"]}
    answers = [driver(name, **asked) for name in ("site_capture_info", "host_capture_info")]
    answers += [driver("bmc_capture_info", at=host, **asked) for host in twin.bmc_endpoints]
    answers += [drive_switch.run(twin, name, "switch_capture_info", asked) for name in twin.world.fabric.switches]
    assert not [answer["msg"] for answer in answers if answer["failed"]]
