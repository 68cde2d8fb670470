from __future__ import annotations

from ..contract import Look
from ..lab import lab
from ..mig import A100, H100, partitions

HOST = "esx-01"
FRAGMENTED = {**A100, "mig": {"enabled": True, "instances": [[19, 0], [19, 1], [19, 5]]}}
T4 = {"board": "t4", "graphics_type": "sharedDirect"}


def reports(twin):
    """What the model has, in the words of the module."""
    return {
        "layout": [
            [(start, profile) for start, (profile, _compute) in sorted(gpu["instances"].items())]
            for gpu in partitions(twin, HOST)
        ],
        "mode": [gpu["mode"] for gpu in partitions(twin, HOST)],
    }


def reported(answer):
    return {
        "layout": [[(one["start"], one["profile"]) for one in gpu["layout"]] for gpu in answer["gpus"]],
        "mode": [gpu["mode"] == "enabled" for gpu in answer["gpus"]],
    }


LOOKS = [
    Look(
        module="mig_info",
        name="a fragmented GPU, one without instances, and one that cannot do MIG",
        params={},
        reports=reports,
        reported=reported,
        seed=lab(gpus=[FRAGMENTED, H100, T4], ssh="running"),
        faces=("ssh",),
        at=HOST,
    ),
]

EXAMPLES_FACES = ("ssh",)
EXAMPLES_SEED = lab(gpus=[FRAGMENTED], ssh="running")
