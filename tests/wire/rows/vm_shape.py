from __future__ import annotations

import functools

from ..contract import Row
from ..lab import READY, lab
from ..observe import virtual_machine

P2P = {"pciPassthru.allowP2P": "TRUE", "pciPassthru.RelaxACSforP2P": "TRUE"}
# Settings that every VM is made with.
FACTORY = ("nvram", "pciBridge", "svga.present", "hpet0", "disk.EnableUUID")
UNMANAGED = {"svga.autodetect": "TRUE", "guestinfo.role": "worker"}
BEFORE = {
    "cpus": (2, 1),
    "memory": (16, False),
    "hardware": "vmx-20",
    "latency": ("normal", 0),
    "virtual nodes": "automatic",
    "devices": {},
    "settings": {},
    "power": "poweredOff",
}


def window(size_gb):
    return {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": str(size_gb)}


def shape_of(twin, name):
    """Everything that vm_shape sets, as a third-party client sees it, and all else in the VMX file."""
    with virtual_machine(twin, name) as machine:
        config = machine.config
        numa = config.numaInfo
        automatic = numa is None or numa.autoCoresPerNumaNode
        return {
            "cpus": (config.hardware.numCPU, config.hardware.numCoresPerSocket),
            "memory": (config.hardware.memoryMB // 1024, bool(config.memoryReservationLockedToMax)),
            "hardware": config.version,
            "latency": (config.latencySensitivity.level, config.cpuAllocation.reservation),
            "virtual nodes": "automatic" if automatic else numa.coresPerNumaNode,
            "devices": {
                device.key: device.numaNode
                for device in config.hardware.device
                if device.numaNode is not None and device.numaNode >= 0
            },
            "settings": {
                option.key: option.value for option in config.extraConfig if not option.key.startswith(FACTORY)
            },
            "power": machine.runtime.powerState,
        }


def vms(*names):
    return functools.partial(lambda twin: {name: shape_of(twin, name) for name in names})


def one(**state):
    return {"train-01": {**BEFORE, **state}}


ONE = {"name": "train-01"}
NOT_LOCKED = {"memory_reservation": "ignore"}

ROWS = [
    Row(
        module="vm_shape",
        name="a VM for GPUDirect, and another layout of it",
        seed=lab({"extra_config": UNMANAGED}),
        create={
            **ONE,
            "cpus": 16,
            "memory_gb": 64,
            "numa_nodes": [1],
            "gpus": ["grid_a100-40c"],
            "direct_nics": 1,
            "gpudirect": "enabled",
        },
        modify={**ONE, "cpus": 32, "memory_gb": 128, "numa_nodes": [0, 1], "gpudirect": "enabled", "direct_nics": 1},
        delete={
            **ONE,
            "cpus": 2,
            "cores_per_socket": 1,
            "memory_gb": 16,
            "memory_reservation_mb": 0,
            "numa_nodes": [],
            "gpudirect": "disabled",
            "mmio": "none",
        },
        observe=vms("train-01"),
        created=one(
            cpus=(16, 16), memory=(64, True), settings={**UNMANAGED, **P2P, **window(256), "numa.nodeAffinity": "1"}
        ),
        modified=one(
            cpus=(32, 16), memory=(128, True), settings={**UNMANAGED, **P2P, **window(256), "numa.nodeAffinity": "0,1"}
        ),
        deleted=one(settings=UNMANAGED),
    ),
    Row(
        module="vm_shape",
        name="a fleet whose VMs differ",
        seed=lab({}, {}, hardware={"memory_gb": 1024}),
        create={"vms": [{"name": "train-01", "cpus": 8}, {"name": "train-02"}], "cpus": 4, **NOT_LOCKED},
        modify={"vms": [{"name": "train-02", "memory_gb": 32}, {"name": "train-01"}], **NOT_LOCKED, "memory_gb": 8},
        delete={"vms": [{"name": "train-01"}, {"name": "train-02"}], **NOT_LOCKED, "cpus": 2, "memory_gb": 16},
        observe=vms("train-01", "train-02"),
        created={"train-01": {**BEFORE, "cpus": (8, 1)}, "train-02": {**BEFORE, "cpus": (4, 1)}},
        modified={
            "train-01": {**BEFORE, "cpus": (8, 1), "memory": (8, False)},
            "train-02": {**BEFORE, "cpus": (4, 1), "memory": (32, False)},
        },
        deleted={"train-01": BEFORE, "train-02": BEFORE},
    ),
    Row(
        module="vm_shape",
        name="NUMA nodes of devices, and an affinity instead",
        seed=lab(READY),
        create={**ONE, "cpus": 8, "numa_nodes": [1]},
        modify={**ONE, "numa_nodes": [0], "numa_method": "affinity"},
        delete={**ONE, "cpus": 2, "cores_per_socket": 1, "numa_nodes": []},
        observe=vms("train-01"),
        created=one(
            **{"virtual nodes": 8}, cpus=(8, 8), memory=(16, True), devices={13000: 0}, settings=READY["extra_config"]
        ),
        modified=one(cpus=(8, 8), memory=(16, True), settings={**READY["extra_config"], "numa.nodeAffinity": "0"}),
        deleted=one(memory=(16, True), settings=READY["extra_config"]),
    ),
    Row(
        module="vm_shape",
        name="latency sensitivity with the processors that it needs",
        create={**ONE, "latency_sensitivity": "high"},
        modify={**ONE, "latency_sensitivity": "high", "cpu_reservation_mhz": 9000},
        delete={**ONE, "latency_sensitivity": "normal", "cpu_reservation_mhz": 0},
        observe=vms("train-01"),
        created=one(latency=("high", 2 * 2000), memory=(16, True)),
        modified=one(latency=("high", 9000), memory=(16, True)),
        deleted=one(memory=(16, True)),
        seed=lab(),
    ),
    Row(
        module="vm_shape",
        name="known keys of the VMX file, beside somebody else's",
        seed=lab({**READY, "extra_config": {**READY["extra_config"], **UNMANAGED, "NUMA.vcpu.preferht": "FALSE"}}),
        create={**ONE, "advanced": {"numa.vcpu.preferHT": True, "pciPassthru0.cfg.enable_uvm": 1}},
        modify={**ONE, "advanced": {"numa.vcpu.min": 8, "pciPassthru0.cfg.enable_uvm": False}},
        delete={
            **ONE,
            "advanced": dict.fromkeys(("numa.vcpu.preferHT", "numa.vcpu.min", "pciPassthru0.cfg.enable_uvm")),
        },
        observe=vms("train-01"),
        created=one(
            memory=(16, True),
            settings={
                **READY["extra_config"],
                **UNMANAGED,
                "NUMA.vcpu.preferht": "TRUE",
                "pciPassthru0.cfg.enable_uvm": "1",
            },
        ),
        modified=one(
            memory=(16, True),
            settings={
                **READY["extra_config"],
                **UNMANAGED,
                "NUMA.vcpu.preferht": "TRUE",
                "numa.vcpu.min": "8",
                "pciPassthru0.cfg.enable_uvm": "0",
            },
        ),
        deleted=one(memory=(16, True), settings={**READY["extra_config"], **UNMANAGED}),
    ),
    Row(
        module="vm_shape",
        name="hardware that is raised and never lowered",
        seed=lab({"hardware_version": 17}),
        create={**ONE, "hardware_version": 19, "cpus": 4},
        modify={**ONE, "hardware_version": 21},
        delete={**ONE, "hardware_version": 17, "cpus": 2},
        observe=vms("train-01"),
        created=one(hardware="vmx-19", cpus=(4, 1), memory=(16, True)),
        modified=one(hardware="vmx-21", cpus=(4, 1), memory=(16, True)),
        deleted=one(hardware="vmx-21", memory=(16, True)),
    ),
    Row(
        module="vm_shape",
        name="a running VM, by a power cycle",
        seed=lab({"power": "on", "tools": "none"}),
        create={**ONE, "cpus": 4, "numa_nodes": [0], "numa_method": "affinity", "power": "cycle"},
        modify={**ONE, "numa_nodes": [1], "numa_method": "affinity", "power": "cycle"},
        delete={**ONE, "cpus": 2, "cores_per_socket": 1, "numa_nodes": [], "power": "cycle"},
        observe=vms("train-01"),
        created=one(cpus=(4, 4), memory=(16, True), settings={"numa.nodeAffinity": "0"}, power="poweredOn"),
        modified=one(cpus=(4, 4), memory=(16, True), settings={"numa.nodeAffinity": "1"}, power="poweredOn"),
        deleted=one(memory=(16, True), power="poweredOn"),
    ),
    Row(
        module="vm_shape",
        name="a release that knows no NUMA nodes of devices",
        seed=lab({**READY, "hardware_version": 18}, release="7.0.3"),
        create={**ONE, "numa_nodes": [0], "hardware_version": 19},
        modify={**ONE, "numa_nodes": [1], "cpus": 4},
        delete={**ONE, "numa_nodes": [], "cpus": 2, "cores_per_socket": 1},
        observe=vms("train-01"),
        created=one(
            hardware="vmx-19",
            cpus=(2, 2),
            memory=(16, True),
            settings={**READY["extra_config"], "numa.nodeAffinity": "0"},
        ),
        modified=one(
            hardware="vmx-19",
            cpus=(4, 4),
            memory=(16, True),
            settings={**READY["extra_config"], "numa.nodeAffinity": "1"},
        ),
        deleted=one(hardware="vmx-19", memory=(16, True), settings=READY["extra_config"]),
    ),
]

EXAMPLES_UNDO = ("Remove the NUMA and GPUDirect settings",)
# The data centre in which the examples of the documentation play.
EXAMPLES_SEED = lab({}, {}, hardware={"memory_gb": 512})
