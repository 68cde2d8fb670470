from __future__ import annotations

from ..contract import Row
from ..vib_lab import ready

NAME = "gpu-40c"


def found(twin):
    """The class in the model."""
    with twin.world.lock:
        held = twin.world.workloads
        return dict(held.classes.get(NAME) or {})


def shape(*profiles, **more):
    return {"name": NAME, "cpus": 16, "memory_mb": 65536, "vgpu_profiles": list(profiles), **more}


def vgpu(number, profile):
    backing = {"_typeName": "VirtualPCIPassthroughVmiopBackingInfo", "vgpu": profile}
    device = {"_typeName": "VirtualPCIPassthrough", "key": -20000 - number, "backing": backing}
    return {"_typeName": "VirtualDeviceConfigSpec", "operation": "add", "device": device}


def extra(key, value):
    return {"_typeName": "OptionValue", "key": key, "value": {"_typeName": "string", "_value": value}}


def config(*changes, **more):
    return {"_typeName": "VirtualMachineConfigSpec", "deviceChange": list(changes), **more}


MMIO = [extra("pciPassthru.64bitMMIOSizeGB", "256"), extra("pciPassthru.use64bitMMIO", "TRUE")]
PROFILE = "grid_a100-40c"
TWO = [vgpu(0, PROFILE), vgpu(1, PROFILE)]
EXAMPLES_SEED = ready()
BASE = {"cpu_count": 16, "memory_MB": 65536, "memory_reservation": 100}

ROWS = [
    Row(
        module="vm_class",
        name="two equal vGPUs",
        create=shape(PROFILE),
        modify=shape(PROFILE, PROFILE, mmio_gb=256, firmware="efi", cpus=32),
        delete={"name": NAME, "state": "absent"},
        observe=found,
        created={**BASE, "config_spec": config(vgpu(0, PROFILE))},
        modified={**BASE, "cpu_count": 32, "config_spec": config(*TWO, extraConfig=MMIO, firmware="efi")},
        deleted={},
    ),
    Row(
        module="vm_class",
        name="vCenter without config_spec",
        seed=ready(release="7.0.3"),
        create=shape(PROFILE),
        modify=shape(devices=[{"vendor_id": "0x10de", "device_id": "20b5", "label": "rail-1"}]),
        delete={"name": NAME, "state": "absent"},
        observe=found,
        created={
            **BASE,
            "devices": {"vgpu_devices": [{"profile_name": PROFILE}], "dynamic_direct_path_IO_devices": []},
        },
        modified={
            **BASE,
            "devices": {
                "vgpu_devices": [],
                "dynamic_direct_path_IO_devices": [
                    {"vendor_id": 0x10DE, "device_id": 0x20B5, "custom_label": "rail-1"}
                ],
            },
        },
        deleted={},
    ),
]
