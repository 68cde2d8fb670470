from __future__ import annotations

import json

from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture

from .. import zips
from ..contract import Look
from ..lab import A100, datacenter, lab
from .bios_settings import DELL, system

DEST = zips.place()


def reports(twin):
    """What a plain client reads of the server: its model and a BIOS attribute."""
    found = system(twin, DELL)
    return {"model": found.model, "sriov": found.bios.attributes["SriovGlobalEnable"]}


def reported(answer):
    files = Capture(answer["dest"]).files
    base = "bmcs/bmc-001/redfish/v1/Systems/System.Embedded.1"
    about, bios = (json.loads(files[f"{base}{one}/index.json"]) for one in ("", "/Bios"))
    return {"model": about["Model"], "sriov": bios["Attributes"]["SriovGlobalEnable"]}


LOOKS = [
    Look(
        module="bmc_capture_info",
        name="the BMC of a server",
        params={"dest": DEST},
        reports=reports,
        reported=reported,
        seed="factory",
        faces=("redfish",),
        at=DELL,
    )
]
EXAMPLES_FACES = ("redfish",)
EXAMPLES_SEED = {
    **lab(),
    "datacenters": [datacenter("dc1", [{"name": "esx-01.example.com", "gpus": [A100]}], [])],
}
