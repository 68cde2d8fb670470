"""Inputs of the role training_vm for tests of its filters, and what vm_placement_info would answer."""

from __future__ import annotations

from house.handover import defaults

PREFIX = "training_vm_"
DEFAULTS = defaults("training_vm")
GPU = {"id": "0000:39:00.0", "board": "A100", "profile": None, "vendor_id": "10de", "device_id": "20f1", "label": None}
PORT = {"device": None, "pci": "0000:3b:00.0", "vendor_id": "15b3", "device_id": "101d", "label": "fabric"}
VF = {"device": "vmnic3", "pci": "0000:3a:00.1", "vendor_id": "15b3", "device_id": "101d", "label": None}


def inputs(**changes):
    """The defaults of the role, without the prefix of their names, and some of them changed."""
    return {**{key[len(PREFIX) :]: value for key, value in DEFAULTS.items()}, **changes}


def placed(*names, **changes):
    """A placement of these VMs, each on a host of its own."""
    place = {"gpus": [GPU], "nics": [], "numa_nodes": [0], **changes}
    return {"vms": [{"name": name, "host": f"esx-{number:02}", **place} for number, name in enumerate(names, 1)]}
