"""A folder that govc saved, which is a client of another language, is loaded as the data centre that it was saved from.

It needs the program govc, which no registry of Python has. A build of it on PATH is enough.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import imports
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture

from vsphere_twin.capture import seed as captures
from vsphere_twin.launch import launch

GOVC = shutil.which("govc")
# Times, versions of a configuration, what a running VM used at the moment, and the sessions of each client.
MOMENTS = re.compile(
    r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)?(-\d+)?|<uptime(?:Seconds)?>\d+<|<(?:changeVersion|sessionId)>[^<]*<"
)
# govc reads no switch, so the neighbours that hosts report do not exist again. The loader assumes that by name.
NEIGHBOURS = re.compile(r"\s*<lldpInfo>.*?</lldpInfo>", re.DOTALL)
PASSING = ("SessionManager", "Task", "EventManager", "EventHistoryCollector", "ContainerView", "ViewManager")

pytestmark = pytest.mark.skipif(GOVC is None, reason="govc is not on PATH")


def saved(twin, folder):
    """The files that govc writes, by name without their number."""
    target = {
        "GOVC_URL": f"https://{twin.host}:{twin.port}/sdk",
        "GOVC_USERNAME": twin.username,
        "GOVC_PASSWORD": twin.password,
        "GOVC_TLS_CA_CERTS": str(twin.ca_file),
    }
    done = subprocess.run(
        [GOVC, "object.save", "-d", str(folder)],
        env={**os.environ, **target, "GOVC_PERSIST_SESSION": "false"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    found = {re.sub(r"^\d+-", "", str(one.relative_to(folder))): one.read_text() for one in folder.rglob("*.xml")}
    plain = {name: MOMENTS.sub("", NEIGHBOURS.sub("", text)) for name, text in found.items()}
    return {name: text for name, text in plain.items() if not name.startswith(PASSING)}


@pytest.mark.parametrize("seed", ["small", "factory", "small-9.1"])
def test_a_folder_of_govc_is_loaded_as_it_was(seed, tmp_path):
    with launch(seed) as twin:
        first = saved(twin, tmp_path / "first")
    made = captures.of(tmp_path / "first")
    assert "physical switches" in {row["fact"] for row in made["assumptions"]}
    with launch(made) as twin:
        second = saved(twin, tmp_path / "second")
    assert (set(first), [name for name in first if first[name] != second[name]]) == (set(second), [])
    # The same folder is a capture without names.
    dest = str(tmp_path / "site.zip")
    imports.bring(dest, [str(tmp_path / "first")], False)
    assert [name for name in Capture(dest).files if name.startswith("methods/")] != []
    assert captures.of(dest)["datacenters"] != []
