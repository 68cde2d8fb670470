"""Snapshots: a tree of saved configurations; a VM with a passed-through PCI device has none of its memory."""

from __future__ import annotations

import copy

from pyVmomi import vim, vmodl

from . import devices, direct, reconfigure
from .tasks import utc_now
from .world import Entity

SAVED = (
    "annotation",
    "cores_per_numa_node",
    "cores_per_socket",
    "cpus",
    "device_groups",
    "devices",
    "extra",
    "firmware",
    "memory_allocation",
    "memory_locked",
    "memory_mb",
)


class Snapshot(Entity):
    kind = "VirtualMachineSnapshot"

    def __init__(self, world, vm, name, description, parent):
        super().__init__(world.new_moid("snapshot"))
        self.vm = vm
        self.name = name
        self.description = description or ""
        self.parent = parent
        self.number = len(vm.snapshots) + 1
        self.created = utc_now()
        self.power = vm.power
        self.saved = {attribute: copy.copy(getattr(vm, attribute)) for attribute in SAVED}


def create(world, vm, name, description):
    """A new current snapshot."""
    if vm.power == "poweredOn" and direct.direct_devices(vm):
        raise vim.fault.SnapshotIncompatibleDeviceInVm(
            msg="The virtual machine has a device that is not compatible with snapshots.", fault=vmodl.MethodFault()
        )
    made = world.add(Snapshot(world, vm, name, description, vm.current_snapshot))
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


def revert(world, snapshot):
    """Bring the configuration back; the VM must be off, since memory is not kept here."""
    vm = snapshot.vm
    if vm.power != "poweredOff":
        raise devices.wrong_power(vm)
    before = {**vm.networks, **vm.datastores}
    for attribute, value in snapshot.saved.items():
        setattr(vm, attribute, copy.copy(value))
    vm.current_snapshot = snapshot
    vm.changed()
    reconfigure.attach(world, vm, before)
