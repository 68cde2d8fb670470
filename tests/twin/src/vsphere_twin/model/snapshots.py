"""Snapshots: a tree of saved configurations; a VM with a passthrough PCI device has none of its memory."""

from __future__ import annotations

import copy

from pyVmomi import vim, vmodl

from . import direct, power, reconfigure
from .tasks import utc_now
from .world import Entity

SAVED = (
    "annotation",
    "boot_options",
    "cores_per_numa_node",
    "cores_per_socket",
    "cpu_allocation",
    "cpu_hot_add",
    "cpus",
    "device_groups",
    "devices",
    "extra",
    "firmware",
    "flags",
    "guest_id",
    "hardware_version",
    "kept",
    "latency_sensitivity",
    "memory_allocation",
    "memory_hot_add",
    "memory_locked",
    "memory_mb",
)


class Snapshot(Entity):
    kind = "VirtualMachineSnapshot"

    def __init__(self, world, vm, name, description, parent, memory):
        super().__init__(world.new_moid("snapshot"))
        self.version = None  # its configuration shows names of other objects
        self.vm = vm
        self.name = name
        self.description = description or ""
        self.parent = parent
        self.number = len(vm.snapshots) + 1
        self.created = utc_now()
        # With its memory a running VM runs again after a revert; without it, it is off then.
        self.power = vm.power if memory or vm.power == "suspended" else "poweredOff"
        self.saved = {attribute: copy.copy(getattr(vm, attribute)) for attribute in SAVED}


def create(world, vm, name, description, memory=False):
    """A new current snapshot."""
    if vm.power == "poweredOn" and direct.bound(vm):
        raise vim.fault.SnapshotIncompatibleDeviceInVm(
            msg="The virtual machine has a device that is not compatible with snapshots.", fault=vmodl.MethodFault()
        )
    made = world.add(Snapshot(world, vm, name, description, vm.current_snapshot, memory))
    vm.snapshots = [*vm.snapshots, made]
    vm.current_snapshot = made
    world.touch(vm)
    return made


def remove(world, snapshot, with_children):
    """Drop a snapshot; its children move up or go with it."""
    vm = snapshot.vm
    for child in [one for one in vm.snapshots if one.parent is snapshot]:
        if with_children:
            remove(world, child, True)
        else:
            child.parent = snapshot.parent
            world.touch(child)
    vm.snapshots = [one for one in vm.snapshots if one is not snapshot]
    if vm.current_snapshot is snapshot:
        vm.current_snapshot = snapshot.parent
    world.remove(snapshot)
    world.touch(vm)


def remove_all(world, vm):
    """Drop the whole tree."""
    for snapshot in list(vm.snapshots):
        world.remove(snapshot)
    vm.snapshots, vm.current_snapshot = [], None
    world.touch(vm)


def revert(world, snapshot, host=None, suppress_power_on=False):
    """Bring configuration and power state back; a running VM is stopped, whatever it was doing.

    Memory is not kept here: a VM whose snapshot has its memory boots where a real one would be resumed.
    """
    vm = snapshot.vm
    if vm.power != "poweredOff":
        power.power_off(world, vm)
    before, disks = {**vm.networks, **vm.datastores}, list(vm.disks)
    for attribute, value in snapshot.saved.items():
        setattr(vm, attribute, copy.copy(value))
    vm.current_snapshot = snapshot
    vm.changed()
    reconfigure.settle_files(world, vm, disks, destroyed=True)
    reconfigure.attach(world, vm, before)
    if snapshot.power == "poweredOn" and not suppress_power_on:
        power.power_on(world, vm, host)


def revert_to_current(world, vm, host=None, suppress_power_on=False):
    """Back to the snapshot that the VM works on; NotFound where it has none."""
    if vm.current_snapshot is None:
        raise vim.fault.NotFound(msg="The virtual machine does not have a current snapshot.")
    revert(world, vm.current_snapshot, host, suppress_power_on)
