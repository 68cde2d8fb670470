from __future__ import annotations

from ..contract import Look

HERE = "/"


def reports(_twin):
    """Port 9 of this machine is nobody's; the disk has some room, and a folder to come lies on the same one."""
    return {"reached": [False], "registries": [("none", "registry_unreachable")], "disks": 2, "same": True}


def reported(answer):
    free = [one["free_gb"] for one in answer["disks"]]
    return {
        "reached": [one["reached"] for one in answer["addresses"]],
        "registries": [(one["login"], one["code"]) for one in answer["registries"]],
        "disks": len([one for one in free if one > 0]),
        "same": abs(free[0] - free[1]) < 1,
    }


LOOKS = [
    Look(
        module="surroundings_info",
        name="nothing answers, and a disk has room",
        params={
            "addresses": [{"url": "http://127.0.0.1:9/package.deb"}],
            "registries": [{"address": "localhost:9", "username": "trainer", "password": "secret"}],
            "paths": [HERE, HERE + "not-there-yet/results"],
        },
        reports=reports,
        reported=reported,
    ),
]

EXAMPLES_SEED = "small"
