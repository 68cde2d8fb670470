"""The GPUs of a host as the model of the twin has them, for tests of what partitions them."""

from __future__ import annotations

A100 = {"board": "a100_pcie_40gb", "graphics_type": "sharedDirect"}
A30 = {"board": "a30", "graphics_type": "sharedDirect"}
H100 = {"board": "h100_pcie_80gb", "graphics_type": "sharedDirect"}


def host(twin, name):
    """A host of the model."""
    (found,) = [one for one in twin.world.of_kind("HostSystem") if one.name == name]
    return found


def partitions(twin, name):
    """For each GPU of a host: its mode, the mode after a reboot, and {start: (profile, compute slices)}."""
    with twin.world.lock:
        return [
            {
                "mode": gpu.mig.current,
                "pending": gpu.mig.pending,
                "instances": {
                    one.start: (one.profile.name, tuple(sorted((part.slices for part in one.compute), reverse=True)))
                    for one in gpu.mig.instances
                },
            }
            for gpu in host(twin, name).gpus
        ]
