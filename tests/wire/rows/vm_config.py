from __future__ import annotations

from ..contract import Row
from ..lab import A100
from ..nics import adapters_of, network_lab
from .vm_shape import shape_of, window

# A VM that is made anew for each row, on a host with a GPU, an RDMA port and ports that can be passed through.
HOST = {
    "driver": {"family": "nvaie", "version": "550.54.10"},
    "gpus": [A100, A100],
    "hardware": {"memory_gb": 1024},
}
FACTORY = {"memory_reservation": "none", "hardware_version": 20}
ONE = {"name": "train-01"}
TRAIN = {"portgroup": "pg-a"}
BEFORE = {"cpus": (2, 1), "memory": (16, False), "devices": {}, "settings": {}, "hardware": "vmx-20"}
SHAPE = {"cpus": 16, "memory_gb": 64, "numa_nodes": [0]}
UNDONE = {"cpus": 2, "cores_per_socket": 1, "memory_gb": 16, "numa_nodes": []}
UVM = {"pciPassthru0.cfg.enable_uvm": "1"}


def observe(twin):
    shape = shape_of(twin, "train-01")
    kinds = [(kind, portgroup) for kind, portgroup, *dummy in adapters_of(twin, "train-01")]
    return {**{key: shape[key] for key in BEFORE}, "adapters": kinds}


def state(*adapters, **changes):
    return {**BEFORE, **changes, "adapters": [("VirtualVmxnet3", "VM Network"), *adapters]}


def lab(*vms, **host):
    return network_lab(*({**FACTORY, **vm} for vm in vms or ({},)), hosts=({**HOST, **host},))


ROWS = [
    Row(
        module="vm_config",
        name="a vGPU and an adapter, bound to the NUMA node of the VM",
        seed=lab(),
        create={**ONE, "shape": SHAPE, "vgpu": {"profiles": ["grid_a100-40c"]}, "vmxnet3": {"adapters": [TRAIN]}},
        modify={
            **ONE,
            "shape": {**SHAPE, "cpus": 8},
            "vgpu": {"profiles": ["grid_a100-40c", "grid_a100-40c"]},
            "vmxnet3": {"adapters": [TRAIN, TRAIN]},
        },
        delete={
            **ONE,
            "shape": UNDONE,
            "vgpu": {"state": "absent"},
            "vmxnet3": {"adapters": [TRAIN], "state": "absent"},
        },
        observe=observe,
        created=state(
            ("VirtualVmxnet3", "pg-a"),
            cpus=(16, 16),
            memory=(64, True),
            devices={13000: 0},
            settings={**window(128), **UVM},
        ),
        modified=state(
            ("VirtualVmxnet3", "pg-a"),
            ("VirtualVmxnet3", "pg-a"),
            cpus=(8, 8),
            memory=(64, True),
            devices={13000: 0, 13001: 0},
            settings={**window(256), **UVM, "pciPassthru1.cfg.enable_uvm": "1"},
        ),
        # Reservation and window stay: they do no harm, and devices may need them.
        deleted=state(memory=(16, True), settings=window(256)),
    ),
]

EXAMPLES_SEED = network_lab(
    *[{**FACTORY, "name": f"train-{number:02}"} for number in (1, 2, 3)],
    hosts=(HOST,),
    switches=[{"name": "dvs-train", "portgroups": [{"name": "pg-train"}]}],
)
EXAMPLES_UNDO = ("Remove the vGPU and the adapter",)
