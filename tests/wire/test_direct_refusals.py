"""A passthrough device that a VM cannot have is refused before anything is touched, with the reason and the way out."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from .direct_lab import A100, CLASS, FABRIC, FIT, PORT, ROOT, SPARE, enhanced, gpu, ports, site
from .lab import A100 as SHARED
from .lab import assert_refused, lab

GPU = "0000:39:00.0"
HOLDER = {**FIT, "power": "on", "tools": "none", "pci_devices": [{"id": FABRIC}]}


def static(address):
    return [{"kind": "static", "id": address}]


def dynamic(ids, **more):
    return [{"kind": "dynamic", "allowed": [ids], **more}]


class Case(NamedTuple):
    """A data centre, what is wanted there, and what is said to it."""

    name: str
    seed: dict
    devices: list
    code: str
    says: str
    more: dict = {}


CASES = [
    Case(
        "no such device",
        site(),
        static("0000:77:00.0"),
        "device_not_there",
        "Host esx-01 has no device at 0000:77:00.0",
    ),
    Case(
        "a virtual function",
        site(
            nics=[*ports("fabric"), {"device": "vmnic2", "model": "cx6dx", "firmware": {"sriov": True, "num_vfs": 4}}],
            module_options={"nmlx5_core": "max_vfs=0,4"},
        ),
        static("0000:3a:00.2"),
        "virtual_function",
        "is a virtual function of a network adapter. Add it to the VM with aiready.vsphere.sriov_nic",
    ),
    Case(
        "passthrough is off",
        site(nics=ports("fabric", None)),
        static(SPARE),
        "passthrough_off",
        "of host esx-01 is off. Switch it on with aiready.vsphere.pci_passthrough.",
    ),
    Case(
        "a port that carries management",
        site(),
        static("0000:4a:00.0"),
        "port_in_use",
        "(I350 Gigabit Network Connection) of host esx-01 is vmnic0, an uplink of vSwitch0, which carries vmk0",
    ),
    Case(
        "a GPU for vGPU",
        site(gpus=[{**SHARED, "root": ROOT}]),
        static(GPU),
        "gpu_for_vgpu",
        "is configured for vGPU (graphics type Shared Direct), not for passthrough.",
    ),
    Case(
        "a GPU for vGPU, by kind",
        site(gpus=[{**SHARED, "root": ROOT}]),
        dynamic(A100),
        "gpu_for_vgpu",
        "Add a profile to the VM with aiready.vsphere.vgpu_profile, or remove the GPU from vGPU",
    ),
    Case(
        "a running VM holds it",
        site(FIT, HOLDER),
        static(FABRIC),
        "device_held",
        "of host esx-01 is in use by VM train-02, which is running. Costs of a passthrough device at a fixed "
        "address for a VM: "
        "it has no vMotion,",
    ),
    Case(
        "no such kind",
        site(),
        dynamic("10de:2330"),
        "kind_not_there",
        "Host esx-01 has no device 10de:2330. Its passthrough",
    ),
    Case(
        "no such label",
        site(nics=ports("fabric", "storage")),
        dynamic(PORT, label="roce"),
        "label_not_there",
        "is labelled roce; the labels there are fabric and storage.",
    ),
    Case(
        "more than there are",
        site(),
        dynamic(PORT, label="fabric") * 3,
        "too_few_devices",
        "3 of `dynamic 15b3:101d labelled fabric` are requested on host esx-01 by VM train-01, but 2 of its "
        "2 are free.",
    ),
    Case(
        "no such class of Enhanced DirectPath I/O",
        site(gpus=[enhanced()]),
        [{"kind": "dvx", "device_class": "com.example.other"}],
        "dvx_class_not_there",
        "Host esx-01 has no device class com.example.other; its classes are com.example.gpu. Correct device_class.",
    ),
    Case(
        "a class of network adapters",
        site(gpus=[enhanced(sriov_nic=True)]),
        [{"kind": "dvx", "device_class": CLASS}],
        "dvx_class_of_adapters",
        "has virtual functions of network ports, which VMs get as adapters.",
    ),
    Case(
        "a class whose device is in another mode",
        site(gpus=[enhanced(active=False)], release="9.1.0"),
        [{"kind": "dvx", "device_class": CLASS}],
        "dvx_class_not_offered",
        "Set the mode of a device of this class to enhanced_direct_path, and restart the host",
    ),
    Case(
        "Enhanced DirectPath I/O with hardware of vSphere 7",
        site({**FIT, "hardware_version": 19}, gpus=[enhanced()]),
        [{"kind": "dvx", "device_class": CLASS}],
        "hardware_version",
        "Enhanced DirectPath I/O needs hardware version 20, and the VM has 19.",
    ),
    Case(
        "old hardware",
        site({**FIT, "hardware_version": 15}),
        dynamic(PORT),
        "hardware_version",
        "needs hardware version 17, and the VM has 15. Raise it with aiready.vsphere.vm_shape and hardware_version=17.",
    ),
    Case(
        "memory not reserved",
        site({}),
        static(FABRIC),
        "memory_not_reserved",
        "Reserve all of it with aiready.vsphere.vm_shape and memory_reservation=all.",
    ),
    Case(
        "BIOS firmware",
        site({**FIT, "firmware": "bios"}),
        static(GPU),
        "firmware_bios",
        "Its firmware is BIOS, which cannot map the memory window of this GPU.",
    ),
    Case(
        "static beside dynamic",
        site(),
        [*static(FABRIC), *dynamic(PORT)],
        "static_and_dynamic",
        f"{FABRIC} would be a static device beside dynamic ones of the same kind",
    ),
    Case(
        "dynamic GPUs on a large server with vSphere 7",
        lab(
            {**FIT, "hardware_version": 19},
            gpus=[gpu(root=f"0000:{n:02x}:02.0") for n in range(0x50, 0x8C, 12)],
            nics=ports("fabric"),
            release="7.0.3",
        ),
        dynamic(A100) * 2,
        "many_gpus",
        "Host esx-01 has 5 GPUs and vSphere 7.0.3",
    ),
    Case(
        "a node on vSphere 7",
        site({**FIT, "hardware_version": 19}, release="7.0.3"),
        dynamic(PORT, numa_node=0),
        "no_device_nodes",
        "The NUMA node of a device needs vSphere 8.0, and host esx-01 has 7.0.3.",
    ),
    Case(
        "a group on vSphere 7",
        site({**FIT, "hardware_version": 19}, release="7.0.3"),
        [{"kind": "group", "group": "Nvidia:2@nvlink"}],
        "hardware_version",
        "Device groups need vSphere 8.0, and host esx-01 has 7.0.3.",
    ),
    Case(
        "no such group",
        site(gpus=[{**SHARED, "root": ROOT}]),
        [{"kind": "group", "group": "Nvidia:2@nvlink"}],
        "group_not_there",
        "Host esx-01 offers no device group Nvidia:2@nvlink; it offers Nvidia:1@grid_a100-40c%MT2892 Family",
    ),
    Case(
        "NVSwitches without a Fabric Manager",
        site(
            gpus=[{"board": "h100_sxm_80gb", "graphics_type": "sharedDirect", "count": 8, "root": "0000:80:02.0"}],
            nvswitches=4,
            fabric_manager=False,
            release="9.1.0",
        ),
        [{"kind": "group", "group": "Nvidia:8@nvidia_h100xm-80c%NVLink"}],
        "group_not_there",
        "Host esx-01 offers no device group Nvidia:8@nvidia_h100xm-80c%NVLink",
    ),
    Case(
        "too many",
        site(),
        [*static(FABRIC), *static(SPARE)],
        "too_many",
        "A VM supports 1 passthrough devices at most; 2 were requested.",
        {"max_per_vm": 1},
    ),
    Case(
        "a running VM",
        site({**FIT, "power": "on"}),
        static(FABRIC),
        "vm_running",
        "The VM is running, and vSphere changes these settings only while a VM is off. Shut the VM down, or set "
        "power=cycle",
    ),
    Case(
        "a template",
        site({**FIT, "template": True}),
        static(FABRIC),
        "template",
        "The VM is a template. Clone a VM from it and change the clone.",
    ),
    Case(
        "a host that is away",
        site(connection="disconnected"),
        static(FABRIC),
        "host_not_connected",
        "Its host esx-01 is not connected, so its passthrough devices are unknown. Connect the host in vCenter.",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_reason_and_the_way_out_are_reported_and_nothing_is_touched(twin, drive, case):
    assert_refused(twin, drive, case, "passthrough_device", devices=case.devices)
