from __future__ import annotations

from ..contract import Look
from ..vib_lab import ESX, machine, ready, seed, software


def driver(twin):
    """What the model knows of the driver, in the words of the answer."""
    host, there = machine(twin), software(twin)
    family, version = there["runs"]
    with twin.world.lock:
        vib = host.software.driver_vib()
    return {
        "name": host.name,
        "moid": host.moid,
        "installed": vib.version if vib is not None else None,
        "loaded": family != "none",
        "runs": version,
        "acceptance": there["acceptance"],
        "devices": [gpu.pci_id for gpu in host.gpus],
        "in_maintenance": host.maintenance,
        "managed_by": "image" if host.parent.image.managed else "baselines",
    }


def reported(answer):
    host = answer["host"]
    return {
        "name": host["name"],
        "moid": host["moid"],
        "installed": next((vib["version"] for vib in host["vibs"]), None),
        "loaded": host["loaded"],
        "runs": host["booted_version"],
        "acceptance": host["acceptance"],
        "devices": [device["id"] for device in host["devices"]],
        "in_maintenance": host["in_maintenance"],
        "managed_by": host["managed_by"],
    }


HOST = {"host": ESX}

LOOKS = [
    Look("nvaie_driver_info", "a host whose driver runs", HOST, driver, reported, ready()),
    Look("nvaie_driver_info", "a bare host", HOST, driver, reported, seed()),
    Look("nvaie_driver_info", "a cluster with an image", HOST, driver, reported, ready(image="managed")),
    Look("nvaie_driver_info", "the graphics driver", HOST, driver, reported, ready(family="graphics")),
]

# The data centre in which the examples of the documentation play.
EXAMPLES_SEED = ready(hosts=2)
