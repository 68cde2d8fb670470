from __future__ import annotations

from twin_labs.host_lab import ESX, GPU, esx, host, seed

from ..contract import Row


def graphics(twin):
    """Default, policy, and {GPU: (configured, active, vGPU mode)} of the model."""
    found = host(twin)
    gpus = {gpu.pci_id: (gpu.configured_type, gpu.active_type, gpu.vgpu_mode) for gpu in found.gpus}
    return found.default_graphics_type, found.assignment_policy, gpus


def shown(default, policy, configured, active, mode="sameSize"):
    return default, policy, {GPU: (configured, active, mode)}


HOST = {"host": ESX}
ALL = [{"id": "all", "type": "shared_direct"}]
BACK = {**HOST, "default_type": "shared", "assignment_policy": "performance"}
SHARED = esx(gpu={"graphics_type": "shared"})

ROWS = [
    Row(
        module="host_graphics",
        name="the default and every GPU, without a restart",
        seed=seed(SHARED),
        create={**HOST, "default_type": "shared_direct", "devices": ALL},
        modify={**HOST, "assignment_policy": "consolidation"},
        delete={**BACK, "devices": [{"id": "all", "type": "shared"}]},
        observe=graphics,
        created=shown("sharedDirect", "performance", "sharedDirect", "shared"),
        modified=shown("sharedDirect", "consolidation", "sharedDirect", "shared"),
        deleted=shown("shared", "performance", "shared", "shared"),
    ),
    Row(
        module="host_graphics",
        name="with a restart of Xorg",
        seed=seed(SHARED),
        create={**HOST, "default_type": "shared_direct", "devices": ALL, "restart": "xorg"},
        modify={**HOST, "assignment_policy": "consolidation", "restart": "xorg"},
        delete={**BACK, "devices": [{"id": GPU, "type": "shared"}], "restart": "xorg"},
        observe=graphics,
        created=shown("sharedDirect", "performance", "sharedDirect", "sharedDirect"),
        modified=shown("sharedDirect", "consolidation", "sharedDirect", "sharedDirect"),
        deleted=shown("shared", "performance", "shared", "shared"),
    ),
    Row(
        module="host_graphics",
        name="vGPUs of mixed size",
        seed=seed(),
        create={**HOST, "devices": [{"id": GPU, "vgpu_mode": "mixed_size"}]},
        modify={**HOST, "devices": [{"id": GPU, "vgpu_mode": "same_size", "type": "shared"}]},
        delete={**HOST, "devices": ALL},
        observe=lambda twin: graphics(twin)[2],
        created={GPU: ("sharedDirect", "sharedDirect", "mixedSize")},
        modified={GPU: ("shared", "sharedDirect", "sameSize")},
        deleted={GPU: ("sharedDirect", "sharedDirect", "sameSize")},
    ),
    Row(
        module="host_graphics",
        name="by device modes over REST",
        seed=seed(SHARED, release="9.1.0"),
        create={**HOST, "method": "rest", "default_type": "shared_direct", "devices": ALL},
        modify={**HOST, "assignment_policy": "consolidation"},
        delete={**BACK, "devices": [{"id": GPU, "type": "shared"}]},
        observe=graphics,
        created=shown("sharedDirect", "performance", "sharedDirect", "shared"),
        modified=shown("sharedDirect", "consolidation", "sharedDirect", "shared"),
        deleted=shown("shared", "performance", "shared", "shared"),
    ),
]

# The data centre in which the examples of the documentation play.
EXAMPLES_SEED = seed(SHARED)
EXAMPLES_UNDO = ("Restore the defaults of ESXi",)
