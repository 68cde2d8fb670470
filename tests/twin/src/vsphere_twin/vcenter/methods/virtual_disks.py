"""VirtualDiskManager: disks without a VM, by their datastore paths."""

from __future__ import annotations

import posixpath
import uuid

from pyVmomi import vim

from vsphere_twin.model import disk_files, files, kept
from vsphere_twin.model.vm import written

from ..registry import method
from .datastore_files import located
from .tasking import begin

KIND = "VirtualDiskManager"
TYPES = ("thin", "preallocated", "thick", "eagerZeroedThick")
DISK = vim.vm.device.VirtualDisk


@method(KIND, "CreateVirtualDisk_Task")
def create(call, this, name, spec, datacenter=None):
    kept.refuse_unserved(spec, ("diskType", "adapterType", "capacityKb"))
    kept.require_one_of(spec.diskType, TYPES, "spec.diskType")
    size = (getattr(spec, "capacityKb", None) or 0) * 1024
    if size <= 0 or not name.endswith(".vmdk"):
        raise kept.wrong("spec.capacityKb" if name.endswith(".vmdk") else "name")
    store, path = located(call, name, datacenter)

    def work():
        there, folder = disk_files.entries(call.world, store), posixpath.dirname(path)
        if path in there:
            raise files.already_exists(name)
        if folder and folder not in there:
            raise files.not_found(f"[{store.name}] {folder}")  # folders are not created [unsure: the fault]
        backing = DISK.FlatVer2BackingInfo(
            fileName=f"[{store.name}] {path}",
            datastore=vim.Datastore(store.moid),
            diskMode="persistent",
            thinProvisioned=spec.diskType == "thin",
            eagerlyScrub=spec.diskType == "eagerZeroedThick",
            uuid=str(uuid.UUID(call.world.new_uuid("disk"))),
        )
        disk = DISK(key=2000, backing=backing, capacityInBytes=size, capacityInKB=size // 1024)
        _check_size(store, size)
        store.require_room(written(disk))
        disk_files.leave(call.world, disk)
        return backing.fileName

    return begin(call, "CreateVirtualDisk_Task", store, work, exclusive=False)


@method(KIND, "DeleteVirtualDisk_Task")
def delete(call, this, name, datacenter=None):
    store, path = located(call, name, datacenter)

    def work():
        _free_disk(call, store, path, name)
        disk_files.remove(call.world, store, path)
        call.world.touch(store)

    return begin(call, "DeleteVirtualDisk_Task", store, work, exclusive=False)


@method(KIND, "ExtendVirtualDisk_Task")
def extend(call, this, name, newCapacityKb, datacenter=None, eagerZero=None):
    store, path = located(call, name, datacenter)

    def work():
        disk = _free_disk(call, store, path, name)
        if newCapacityKb < disk.capacityInKB:
            raise kept.wrong("newCapacityKb")
        grown = DISK(backing=disk.backing, capacityInKB=newCapacityKb)
        _check_size(store, newCapacityKb * 1024)
        store.require_room(written(grown) - written(disk), new=False)
        disk.capacityInKB, disk.capacityInBytes = newCapacityKb, newCapacityKb * 1024
        call.world.touch(store)

    return begin(call, "ExtendVirtualDisk_Task", store, work, exclusive=False)


@method(KIND, "QueryVirtualDiskUuid")
def query_uuid(call, this, name, datacenter=None):
    store, path = located(call, name, datacenter)
    disk = disk_files.find(call.world, f"[{store.name}] {path}")
    if disk is None:
        raise files.not_found(name)
    digits = disk.backing.uuid.replace("-", "")
    pairs = [digits[at : at + 2] for at in range(0, 32, 2)]
    return " ".join(pairs[:8]) + "-" + " ".join(pairs[8:])


def _free_disk(call, store, path, name):
    """The disk at a path that no VM has."""
    if disk_files.in_use(call.world, store, path):
        raise vim.fault.FileLocked(msg=f"Unable to access file {name} since it is locked", file=name)
    left = store.left_disks.get(f"[{store.name}] {path}")
    if left is None:
        raise files.not_found(name)
    return left.device


def _check_size(store, size):
    if size > disk_files.MOST_BYTES:
        raise disk_files.too_large(store.name, size)
