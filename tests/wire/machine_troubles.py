"""What modules about VMs are to bring about while something goes wrong, and what the model knows of it afterwards."""

from __future__ import annotations

import collections
from collections.abc import Callable
from dataclasses import dataclass

from pyVmomi import vim

from twin.model import drs, provision
from twin.model import tasks as model_tasks
from twin.model.host import show_connection, touch

from .nics import network_lab

# One VM for each request of a run, and one that nothing happens to.
NAMES = tuple(f"train-{number:02}" for number in range(1, 61))
PARTNER = "partner"
NOTE = "aiready.vsphere.power_on_again"
SOMEBODYS = "Changed by somebody else."
QUICK = dict.fromkeys(
    (
        "CloneVM_Task",
        "Destroy_Task",
        "PowerOffVM_Task",
        "PowerOnVM_Task",
        "ReconfigVM_Task",
        "ReconfigureComputeResource_Task",
        "RelocateVM_Task",
        "ShutdownGuest",
        "UpgradeVM_Task",
        "boot",
    ),
    0.005,
)
HOME = {"datastore": "datastore-01"}
OFF = {**HOME, "power": "off"}
RUNNING = {**HOME, "power": "on", "tools": "none"}
TEMPLATE = {"name": "ubuntu-template", "template": True}


@dataclass(frozen=True)
class Case:
    """One task about one VM, whose name is filled in."""

    name: str
    params: Callable[[str], dict]
    # What the VM is like before; None where the task makes it.
    vm: dict | None
    # The tasks that it runs.
    tasks: tuple
    # What others do meanwhile happens at each step-th request: one that has many waits most of the time.
    step: int = 1

    @property
    def module(self):
        return self.name.partition(",")[0]

    def seed(self, **seconds):
        """A world with as many equal VMs as there are attempts."""
        named = [] if self.vm is None else [{"name": name, **self.vm} for name in NAMES]
        seed = network_lab(
            *named,
            TEMPLATE,
            {"name": PARTNER, "host": "esx-02"},
            hosts=({"hardware": {"memory_gb": 4096}}, {}),
            task_seconds={**QUICK, **seconds},
        )
        (center,) = seed["datacenters"]
        center["datastores"] = [{"name": f"datastore-0{number}", "capacity_gb": 5000} for number in (1, 2)]
        center["clusters"][0]["drs"] = "manual"
        return seed

    def __str__(self):
        return self.name


def _one(**params):
    return lambda name: {"name": name, **params}


def _clones(store, **params):
    return lambda name: {"vms": [{"name": name, "host": "esx-01", "datastore": store}], **params}


SHAPE = {"cpus": 8, "memory_gb": 32, "hardware_version": 20, "numa_nodes": [0], "numa_method": "affinity"}
SOURCE = {"template": "ubuntu-template"}
RECONFIGURED = ("ReconfigVM_Task",)
CYCLED = ("PowerOffVM_Task", "UpgradeVM_Task", "ReconfigVM_Task", "PowerOnVM_Task")
CASES = [
    Case("vm_clone", _clones("datastore-01", annotation="made for a test", **SOURCE), None, ("CloneVM_Task",)),
    Case("vm_clone, to another datastore", _clones("datastore-02", move="cold", **SOURCE), OFF, ("RelocateVM_Task",)),
    Case("vm_shape, by a power cycle", _one(**SHAPE, power="cycle"), RUNNING, CYCLED, step=5),
    Case("pvrdma_nic", _one(adapters=[{"portgroup": "pg-rdma"}]), OFF, RECONFIGURED),
    Case("sriov_nic", _one(adapters=[{"portgroup": "pg-sriov"}]), OFF, RECONFIGURED),
    Case("vmxnet3_nic", _one(adapters=[{"portgroup": "pg-a"}]), RUNNING, RECONFIGURED),
    Case("passthrough_device", _one(devices=[{"kind": "dynamic", "allowed": ["15b3:101d"]}]), OFF, RECONFIGURED),
    Case(
        "drs_placement",
        lambda name: {
            "cluster": "gpu",
            "name": f"apart {name}",
            "vms": [name, PARTNER],
            "mandatory": False,
            "automation": "manual",
        },
        OFF,
        ("ReconfigureComputeResource_Task",),
    ),
    Case("vm_power, on", _one(state="on"), OFF, ("PowerOnVM_Task",)),
    Case("vm_power, off for a while", _one(state="off", again=True), {**HOME, "power": "on"}, RECONFIGURED),
]


def is_noted(found):
    """Whether the VMs of a state are marked to be switched on again."""
    return all(vm["settings"].get(NOTE) == "true" for vm in found["vms"])
