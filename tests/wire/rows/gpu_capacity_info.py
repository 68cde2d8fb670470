from __future__ import annotations

from pyVmomi import vim

from vsphere_twin.model import direct_capacity

from ..contract import Look
from ..placement_lab import esx, far, lab, near, ready

KINDS = vim.DirectPathProfileManager
VMS = [ready("old", "esx-01", "20c", power="on"), ready("off", "esx-01", "20c")]
GPUS = [near(), far(mig=True)]
RELEASES = {"8.0.3": "model", "9.1.0": "server"}


def reports(release):
    """The counts that follow from the devices of the twin, by host and profile."""

    def count(twin):
        found = {}
        for host in twin.world.of_kind("HostSystem"):
            offered = {entry.name for one in twin.world.of_kind("HostSystem") for entry in one.vgpu_types}
            for profile in offered:
                config = KINDS.VmiopDirectPathConfig(vgpuProfile=profile)
                counted = direct_capacity.count([host], config)
                found[host.name, profile] = (counted.consumed, counted.remaining, counted.most, RELEASES[release])
        return found

    return count


def reported(answer):
    """The same from the answer."""
    return {
        (row["host"], row["profile"]): (row["in_use"], row["free"], row["max"], row["source"])
        for row in answer["capacity"]["hosts"]
        if row["profile"]
    }


LOOKS = [
    Look(
        "gpu_capacity_info",
        f"a cluster of {release}",
        {"cluster": "gpu"},
        reports(release),
        reported,
        seed=lab(esx(1, GPUS), esx(2), vms=VMS, release=release),
    )
    for release in RELEASES
]

# The data centre in which the examples of the documentation play.
EXAMPLES_SEED = "small"
