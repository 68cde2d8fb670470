"""Expected results of network tests inside the guests: the path of PVRDMA traffic, GPUDirect, and the devices held."""

from __future__ import annotations

from dataclasses import asdict

from . import gpudirect, pvrdma


def look(world, vm=None):
    """Return one row for each running VM, or for the one of this name."""
    found = [one for one in world.of_kind("VirtualMachine") if one.power == "poweredOn" and vm in (None, one.name)]
    return [
        {
            "vm": one.name,
            "moid": one.moid,
            "host": one.host.name,
            "gpus": [gpu.pci_id for gpu in one.host.gpus if one in gpu.vms()],
            "devices": [address for address, holder in one.host.claimed.items() if holder.vm is one],
            "pvrdma": [asdict(path) for path in pvrdma.state(world, one)],
            "gpudirect": asdict(gpudirect.verdict(world, one)),
        }
        for one in found
    ]
