from __future__ import annotations

import json

from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture

from twin_labs.fabric_lab import EOS_LINES, fabric, switch

from .. import zips
from ..contract import Look

LEAF = "leaf-01"
LAB = fabric(switch(LEAF, "eos", EOS_LINES))
DEST = zips.place()


def reports(twin):
    """What the twin knows of the switch."""
    known = twin.world.fabric.switches[LEAF]
    return {"platform": known.platform, "version": known.version, "lossless": True}


def reported(answer):
    files = Capture(answer["dest"]).files
    about = json.loads(files["switches/switch-001/commands.json"])
    lossless = b"priority-flow-control priority 3 no-drop" in files["snapshot/configs/switch-001.cfg"]
    return {"platform": about["platform"], "version": about["version"], "lossless": lossless}


LOOKS = [
    Look(
        module="switch_capture_info",
        name="a leaf that somebody set by hand",
        params={"dest": DEST},
        reports=reports,
        reported=reported,
        seed=LAB,
        faces=("switches",),
        at=LEAF,
    )
]
EXAMPLES_SEED = LAB
EXAMPLES_FACES = ("switches",)
