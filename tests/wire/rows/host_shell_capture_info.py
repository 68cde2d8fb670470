from __future__ import annotations

from xml.etree import ElementTree

from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture

from .. import zips
from ..contract import Look
from ..lab import lab
from ..mig import A100, H100, host

HOST = "esx-01"
LAB = lab(gpus=[{**A100, "mig": {"enabled": True, "instances": [[19, 0]]}}, H100], ssh="running")
DEST = zips.place()


def reports(twin):
    """What the model knows of the GPUs."""
    found = host(twin, HOST)
    return {"driver": found.driver.version, "mig": ["Enabled" if gpu.mig.current else "Disabled" for gpu in found.gpus]}


def reported(answer):
    files = Capture(answer["dest"]).files
    (text,) = [text for name, text in files.items() if name.endswith("nvidia-smi-q-x.xml")]
    root = ElementTree.fromstring(text)
    modes = [one.findtext("mig_mode/current_mig") for one in root.iter("gpu")]
    return {"driver": root.findtext("driver_version"), "mig": modes}


LOOKS = [
    Look(
        module="host_shell_capture_info",
        name="a host with one partitioned GPU",
        params={"dest": DEST},
        reports=reports,
        reported=reported,
        seed=LAB,
        faces=("ssh",),
        at=HOST,
    )
]
EXAMPLES_FACES = ("ssh",)
EXAMPLES_SEED = LAB
