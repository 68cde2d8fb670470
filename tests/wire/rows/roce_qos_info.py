from __future__ import annotations

from twin_labs.fabric_lab import EOS_LINES, fabric, switch

from ..contract import Look

LEAF = "leaf-01"
LAB = fabric(switch(LEAF, "eos", EOS_LINES))


def known(twin):
    """What the twin does at the first port, in few words."""
    treatment = twin.world.fabric.switches[LEAF].device.treatment("Ethernet1")
    return {
        "trust": treatment.trust,
        "priority": treatment.priorities[26],
        "lossless": sorted(treatment.no_drop),
        "mtu": treatment.mtu,
        "thresholds": (treatment.marking[3].min_bytes, treatment.marking[3].max_bytes),
    }


def reported(answer):
    """The same from the module."""
    port = answer["switch"]["ports"]["Ethernet1"]
    return {
        "trust": port["trust"],
        "priority": port["dscp_map"]["26"],
        "lossless": port["lossless"],
        "mtu": port["mtu"],
        "thresholds": (port["ecn"]["3"]["min_bytes"], port["ecn"]["3"]["max_bytes"]),
    }


LOOKS = [
    Look(
        module="roce_qos_info",
        name="a leaf that somebody set by hand",
        params={},
        reports=known,
        reported=reported,
        seed=LAB,
        faces=("switches",),
        at=LEAF,
    )
]
EXAMPLES_SEED = LAB
EXAMPLES_FACES = ("switches",)
