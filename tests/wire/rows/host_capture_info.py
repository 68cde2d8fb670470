from __future__ import annotations

import json

from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture

from .. import zips
from ..contract import Look
from ..lab import lab

DEST = zips.place()


def reports(twin):
    """What the twin knows of its hosts."""
    hosts = twin.world.of_kind("HostSystem")
    return sorted((host.release.version, sorted(nic.device for nic in host.nics)) for host in hosts)


def reported(answer):
    capture = Capture(answer["dest"])
    return sorted(
        (
            answered(capture, own, "esxcli system version get")["Version"],
            sorted(one["Name"] for one in answered(capture, own, "esxcli network nic list")),
        )
        for own in (name.partition(" ")[2] for name in answer["captured"])
    )


def answered(capture, own, command):
    """The answer of a host to a command."""
    folder = f"hosts/{own}/esxcli/"
    listed = json.loads(capture.files[f"{folder}commands.json"])["commands"]
    (file,) = [one["file"] for one in listed if one["command"] == command]
    return json.loads(capture.files[folder + file])


LOOKS = [Look("host_capture_info", "hosts of a lab", {"dest": DEST}, reports, reported, seed=lab({}, {}))]
EXAMPLES_SEED = lab({}, name="esx-01.example.com", others=[{"name": "esx-02.example.com"}])
