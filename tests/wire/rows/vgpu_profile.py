from __future__ import annotations

import functools

from ..contract import Row
from ..observe import gpu_setup

WITHOUT = {"profiles": [], "memory locked": False, "settings": {}, "power": "poweredOff"}
# absent takes the devices and their own keys away and leaves what other devices may need
LEFT = {
    "profiles": [],
    "memory locked": True,
    "settings": {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "128"},
    "power": "poweredOff",
}


def with_profiles(*profiles, mmio_gb):
    return {
        "profiles": sorted(profiles),
        "memory locked": True,
        "settings": {
            "pciPassthru.use64bitMMIO": "TRUE",
            "pciPassthru.64bitMMIOSizeGB": str(mmio_gb),
            **{f"pciPassthru{index}.cfg.enable_uvm": "1" for index in range(len(profiles))},
        },
        "power": "poweredOff",
    }


ROWS = [
    Row(
        module="vgpu_profile",
        name="one VM, a whole GPU and then a half",
        create={"name": "train-01", "profiles": ["grid_a100-40c"]},
        modify={"name": "train-01", "profiles": ["grid_a100-20c"]},
        delete={"name": "train-01", "state": "absent"},
        observe=functools.partial(lambda twin: gpu_setup(twin, "train-01", "train-02")),
        created={"train-01": with_profiles("grid_a100-40c", mmio_gb=128), "train-02": WITHOUT},
        modified={"train-01": with_profiles("grid_a100-20c", mmio_gb=128), "train-02": WITHOUT},
        deleted={"train-01": LEFT, "train-02": WITHOUT},
    ),
]
