"""What modules about VMs are to bring about while something goes wrong, and what the model knows of it afterwards."""

from __future__ import annotations

import collections
from collections.abc import Callable
from dataclasses import dataclass

from pyVmomi import vim

from vsphere_twin.model import cloning, drs, provision
from vsphere_twin.model import tasks as model_tasks
from vsphere_twin.model.host import show_connection, touch

from .nics import network_lab

# The VM that nothing happens to, and one that others have to do with.
REFERENCE, PARTNER = "reference", "partner"
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
    # More than the requests of a run.
    most: int = 20

    @property
    def module(self):
        return self.name.partition(",")[0]

    @property
    def names(self):
        """One VM for each request of a run."""
        return [f"train-{number:02}" for number in range(1, self.most + 1)]

    def seed(self, **seconds):
        """A world with as many equal VMs as there are attempts."""
        named = [] if self.vm is None else [{"name": name, **self.vm} for name in (REFERENCE, *self.names)]
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
    Case("vm_shape, by a power cycle", _one(**SHAPE, power="cycle"), RUNNING, CYCLED, step=5, most=60),
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

# What others do to a VM that goes away anyway is no trouble.
REMOVAL = Case(
    "vm_clone, away",
    lambda name: {"vms": [{"name": name}], "state": "absent"},
    {**OFF, "extra_config": {"aiready.vsphere.cloned_from": "/dc1/vm/training/ubuntu-template"}},
    ("Destroy_Task",),
)


def vm_of(twin, name):
    """The model of a VM, or None."""
    with twin.world.lock:
        found = [vm for vm in twin.world.of_kind("VirtualMachine") if vm.name == name]
    return found[0] if found else None


def host_of(twin, name):
    """The model of the host that a VM is on."""
    return vm_of(twin, name).host


def state(twin, name):
    """All that tasks about a VM may have made: each VM of this name, and what its cluster knows of it."""
    with twin.world.lock:
        (cluster,) = twin.world.of_kind("ClusterComputeResource")
        vms = [vm for vm in twin.world.of_kind("VirtualMachine") if vm.name == name]
        rules = [rule for rule in cluster.rules if rule.name == f"apart {name}"]
        return {
            "vms": [_vm(vm) for vm in vms],
            "rules": [(rule.mandatory, rule.enabled, len(rule.vm)) for rule in rules],
            "levels": [cluster.vm_overrides[vm.moid].behavior for vm in vms if vm.moid in cluster.vm_overrides],
        }


def _vm(vm):
    return {
        "place": (vm.host.name, vm.parent.name, vm.home.replace(vm.name, "NAME")),
        "power": vm.power,
        "processors": (vm.cpus, vm.cores_per_socket, vm.cores_per_numa_node, vm.cpu_allocation.reservation),
        "memory": (vm.memory_mb, vm.memory_locked),
        "hardware": (vm.hardware_version, vm.firmware, vm.latency_sensitivity),
        "annotation": vm.annotation,
        "settings": {key: value for key, value in vm.extra.items() if value != ""},
        "devices": sorted(_device(one) for one in vm.devices),
    }


def _device(device):
    reported = [type(device).__name__, type(device.backing).__name__]
    if isinstance(device, vim.vm.device.VirtualEthernetCard):
        port = getattr(device.backing, "port", None)
        reported += [port.portgroupKey if port is not None else "", str(device.connectable.startConnected)]
    return " ".join(reported)


def tasks_of(twin):
    """The MoIDs of all tasks so far."""
    with twin.world.lock:
        return {task.moid for task in twin.world.of_kind("Task")}


def deeds(twin, before):
    """{method: how often it succeeded} of the tasks that were not there before.

    Reconfigurations are not counted: the same setting made twice is one, and a second adapter shows in the state.
    """
    with twin.world.lock:
        return collections.Counter(
            task.method
            for task in twin.world.of_kind("Task")
            if task.moid not in before and task.state == "success" and task.method != "ReconfigVM_Task"
        )


def powers(found):
    """The power of the VMs of a state."""
    return [vm["power"] for vm in found["vms"]]


def is_noted(found):
    """Whether the VMs of a state are marked to be switched on again."""
    return all(vm["settings"].get(NOTE) == "true" for vm in found["vms"])


def lose_host(twin, _vm="", name="esx-01", state="notResponding"):
    """vCenter loses a host, or has it again."""
    with twin.world.lock:
        (host,) = [one for one in twin.world.of_kind("HostSystem") if one.name == name]
        show_connection(host, state)
        touch(twin.world, host)


def remove(twin, name):
    """Somebody deletes the VM, if there is one that can be deleted."""
    with twin.world.lock:
        vm = vm_of(twin, name)
        if vm is not None and not vm.unfinished:
            drs.forget(vm)
            provision.forget(twin.world, vm)


def edit(twin, name):
    """Somebody else changes the VM."""
    with twin.world.lock:
        vm = vm_of(twin, name)
        if vm is not None and not vm.unfinished:
            vm.annotation = SOMEBODYS
            vm.changed()
            twin.world.touch(vm)


def occupy(twin, name):
    """A task of somebody else on the VM, for a moment."""
    with twin.world.lock:
        vm = vm_of(twin, name)
        if vm is not None and not vm.unfinished and vm.busy_with is None:
            model_tasks.start(twin.world, "CreateSnapshot_Task", vm, lambda: None, user="somebody")


def begin_copy(twin, name):
    """Somebody begins to clone the template: vCenter shows the new VM, and does not report its configuration yet."""
    with twin.world.lock:
        source = vm_of(twin, "ubuntu-template")
        place = vim.vm.RelocateSpec(pool=vim.ResourcePool(source.host.compute.pool.moid))
        cloning.start(twin.world, source, source.parent, name, vim.vm.CloneSpec(location=place), twin.username)
