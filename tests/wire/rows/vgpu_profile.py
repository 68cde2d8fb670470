from __future__ import annotations

import functools

from ..contract import Row
from ..lab import A100, NVAIE, datacenter, lab
from ..observe import gpu_setup

NOTHING = {"profiles": [], "memory locked": False, "settings": {}, "power": "poweredOff"}
ROOM = {"pciPassthru.use64bitMMIO": "TRUE"}


def setup(*profiles, mmio_gb, unified_memory=None, power="poweredOff"):
    """A VM with everything that these vGPUs need; without any, what their removal leaves behind.

    unified_memory: the numbers of the devices that have it, without which all do.
    """
    numbers = range(len(profiles)) if unified_memory is None else unified_memory
    unified = {f"pciPassthru{number}.cfg.enable_uvm": "1" for number in numbers}
    return {
        "profiles": sorted(profiles),
        "memory locked": True,
        "settings": {**ROOM, "pciPassthru.64bitMMIOSizeGB": str(mmio_gb), **unified},
        "power": power,
    }


def vms(*names):
    return functools.partial(lambda twin: gpu_setup(twin, *names))


def one(state):
    return {"train-01": state}


ONE = {"name": "train-01"}
WHOLE = {**ONE, "profiles": ["grid_a100-40c"]}
GONE = {**ONE, "state": "absent"}

ROWS = [
    Row(
        module="vgpu_profile",
        name="one VM, a whole GPU and then a half",
        create=WHOLE,
        modify={**ONE, "profiles": ["grid_a100-20c"]},
        delete=GONE,
        observe=vms("train-01", "train-02"),
        created={"train-01": setup("grid_a100-40c", mmio_gb=128), "train-02": NOTHING},
        modified={"train-01": setup("grid_a100-20c", mmio_gb=128), "train-02": NOTHING},
        deleted={"train-01": setup(mmio_gb=128), "train-02": NOTHING},
    ),
    Row(
        module="vgpu_profile",
        name="a fleet whose VMs differ",
        create={"vms": [{"name": "train-01"}, {"name": "train-02"}], "profiles": ["grid_a100-40c"]},
        modify={
            "vms": [{"name": "train-02", "unified_memory": "disabled"}, {"name": "train-01", "mmio_size_gb": 256}],
            "profiles": ["grid_a100-40c"],
        },
        delete={"vms": [{"name": "train-01"}, {"name": "train-02"}], "state": "absent"},
        observe=vms("train-01", "train-02"),
        created={name: setup("grid_a100-40c", mmio_gb=128) for name in ("train-01", "train-02")},
        modified={
            "train-01": setup("grid_a100-40c", mmio_gb=256),
            "train-02": setup("grid_a100-40c", mmio_gb=128, unified_memory=()),
        },
        deleted={"train-01": setup(mmio_gb=256), "train-02": setup(mmio_gb=128)},
    ),
    Row(
        module="vgpu_profile",
        name="a multiset of vGPUs",
        create={**ONE, "profiles": ["grid_a100-10c", "grid_a100-20c", "grid_a100-10c"]},
        modify={**ONE, "profiles": ["grid_a100-10c", "grid_a100-20c"]},
        delete=GONE,
        observe=vms("train-01"),
        created=one(setup("grid_a100-10c", "grid_a100-10c", "grid_a100-20c", mmio_gb=512)),
        # The devices that stay are not touched, so they keep their numbers.
        modified=one(setup("grid_a100-10c", "grid_a100-20c", mmio_gb=512, unified_memory=(0, 2))),
        deleted=one(setup(mmio_gb=512)),
    ),
    Row(
        module="vgpu_profile",
        name="MIG-backed",
        seed=lab(gpus=[{**A100, "mig": True}]),
        create={**ONE, "profiles": ["grid_a100-3-20c"]},
        modify={**ONE, "profiles": ["grid_a100-7-40c"]},
        delete=GONE,
        observe=vms("train-01"),
        created=one(setup("grid_a100-3-20c", mmio_gb=128)),
        modified=one(setup("grid_a100-7-40c", mmio_gb=128)),
        deleted=one(setup(mmio_gb=128)),
    ),
    Row(
        module="vgpu_profile",
        name="nothing brought along, and then everything",
        create={**WHOLE, "memory_reservation": "ignore", "mmio": "ignore", "unified_memory": "ignore"},
        modify={**WHOLE, "mmio_size_gb": 512},
        delete={**GONE, "unified_memory": "ignore"},
        observe=vms("train-01"),
        created=one({**NOTHING, "profiles": ["grid_a100-40c"]}),
        modified=one(setup("grid_a100-40c", mmio_gb=512)),
        # What nobody may touch stays even when its device is gone.
        deleted=one({**setup("grid_a100-40c", mmio_gb=512), "profiles": []}),
    ),
    Row(
        module="vgpu_profile",
        name="a board that needs no window, under BIOS firmware",
        seed=lab({"firmware": "bios"}, gpus=[{"board": "t4", "graphics_type": "sharedDirect"}]),
        create={**ONE, "profiles": ["grid_t4-16c"], "unified_memory": "disabled"},
        modify={**ONE, "profiles": ["grid_t4-8c"], "unified_memory": "enabled"},
        delete=GONE,
        observe=vms("train-01"),
        created=one({**NOTHING, "profiles": ["grid_t4-16c"], "memory locked": True}),
        modified=one(
            {
                **NOTHING,
                "profiles": ["grid_t4-8c"],
                "memory locked": True,
                "settings": {"pciPassthru0.cfg.enable_uvm": "1"},
            }
        ),
        deleted=one({**NOTHING, "memory locked": True}),
    ),
    Row(
        module="vgpu_profile",
        name="a running VM, by a power cycle",
        seed=lab({"power": "on", "tools": "none"}),
        create={**WHOLE, "power": "cycle"},
        modify={**ONE, "profiles": ["grid_a100-20c"], "power": "cycle"},
        delete={**GONE, "power": "cycle"},
        observe=vms("train-01"),
        created=one(setup("grid_a100-40c", mmio_gb=128, power="poweredOn")),
        modified=one(setup("grid_a100-20c", mmio_gb=128, power="poweredOn")),
        deleted=one(setup(mmio_gb=128, power="poweredOn")),
    ),
]

# The data centre in which the examples of the documentation play.
EXAMPLES_SEED = {
    **lab(),
    "datacenters": [
        datacenter(
            "dc1",
            [{"name": "esx-01", "driver": NVAIE, "gpus": [{**A100, "count": 4, "vgpu_mode": "mixedSize"}]}],
            [{"folder": "training"}] * 3,
            ["training"],
        )
    ],
}
