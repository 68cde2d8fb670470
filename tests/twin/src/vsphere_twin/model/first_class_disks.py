"""First-class disks: virtual disks with a name and an identifier of their own, on a VM or without one."""

from __future__ import annotations

import copy
import datetime
import urllib.parse
import uuid
from dataclasses import dataclass, field

from pyVmomi import vim

from . import devices, disk_files, fabric, files, inventory, kept, reconfigure
from .host import wrong_state
from .vm import written

DISK = vim.vm.device.VirtualDisk
MB = 1024**2
FOLDER = "fcd"
TYPES = ("thin", "eagerZeroedThick", "lazyZeroedThick")


@dataclass
class Snapshot:
    """A point in time of a disk."""

    id: str
    description: str
    created: datetime.datetime
    kilobytes: int


@dataclass
class Disk:
    """A first-class disk; its file is among those of its datastore, or on a VM."""

    id: str
    name: str
    path: str
    store: object
    keep: bool
    created: datetime.datetime
    metadata: dict = field(default_factory=dict)
    snapshots: dict = field(default_factory=dict)


def on(world, service, store):
    """The disks of a datastore; one whose file is gone is forgotten."""
    for key, one in list(service.disks.items()):
        if disk_files.find(world, one.path) is None:
            del service.disks[key]
    return [one for one in service.disks.values() if one.store is store]


def find(world, service, key, store):
    """One disk on its datastore; NotFound where there is none."""
    found = next((one for one in on(world, service, store) if one.id == key.id), None)
    if found is None:
        raise vim.fault.NotFound(msg="The object or item referred to could not be found.")
    return found


def create(world, service, store, spec):
    """CreateDisk: a new disk in a folder of its own kind."""
    backing = spec.backingSpec
    if not spec.name or len(spec.name) > 80:
        raise vim.fault.InvalidName(msg=f"The name '{spec.name or ''}' is not valid.", name=spec.name or "")
    if not isinstance(backing, vim.vslm.CreateSpec.DiskFileBackingSpec):
        raise kept.wrong("spec.backingSpec")  # the other kind is a device of a host
    kept.require_one_of(backing.provisioningType, TYPES, "spec.backingSpec.provisioningType")
    if ".." in (backing.path or "").split("/"):
        raise kept.wrong("spec.backingSpec.path")
    if not 0 < spec.capacityInMB * MB <= disk_files.MOST_BYTES:
        raise kept.wrong("spec.capacityInMB")
    key = spec.id.id if spec.id is not None else str(uuid.UUID(world.new_uuid("first-class disk")))
    if key in service.disks:
        raise vim.fault.AlreadyExists(msg="The specified key, name, or identifier already exists.", name=key)
    folder = (backing.path or FOLDER).strip("/")
    path = f"[{store.name}] {folder}/{uuid.UUID(world.new_uuid('file')).hex}.vmdk"
    device = _device(world, store, path, backing, spec)
    store.require_room(written(device))
    disk_files.leave(world, device)
    return _add(service, Disk(key, spec.name, path, store, bool(spec.keepAfterDeleteVm), _now()), spec.metadata)


def register(world, service, store, path, name, key):
    """RegisterDisk: an existing virtual disk is a first-class disk too."""
    if disk_files.find(world, path) is None:
        raise files.not_found(path)
    known = next((one for one in on(world, service, store) if one.path == path), None)
    key = key or str(uuid.UUID(world.new_uuid("first-class disk")))
    if known is not None or key in service.disks:
        raise vim.fault.AlreadyExists(msg="The specified key, name, or identifier already exists.", name=name or path)
    base = path.rpartition("/")[2].removesuffix(".vmdk")
    return _add(service, Disk(key, name or base, path, store, True, _now()))


def extend(world, disk, megabytes):
    """ExtendDisk: a disk never shrinks, and grows only without snapshots [unsure: the fault]."""
    vm, device = holder(world, disk)
    if megabytes * 1024 < device.capacityInKB or megabytes * MB > disk_files.MOST_BYTES:
        raise kept.wrong("newCapacityInMB")
    if disk.snapshots:
        raise wrong_state()
    grown = copy.deepcopy(device)
    grown.capacityInKB, grown.capacityInBytes = megabytes * 1024, megabytes * MB
    if vm is not None:
        change = vim.vm.device.VirtualDeviceSpec(operation="edit", device=grown)
        reconfigure.apply(world, vm, vim.vm.ConfigSpec(deviceChange=[change]))
        return
    disk.store.require_room(written(grown) - written(device), new=False)
    disk_files.leave(world, grown)


def delete(world, service, disk):
    """DeleteVStorageObject: never one that a VM has."""
    if holder(world, disk)[0] is not None:
        raise wrong_state()
    disk_files.take(world, disk.path)
    del service.disks[disk.id]


def attach(world, vm, disk, controller, unit):
    """AttachDisk: on the requested controller, or on the first for disks."""
    if holder(world, disk)[0] is not None:
        raise wrong_state()
    kinds = (vim.vm.device.VirtualSCSIController, vim.vm.device.VirtualNVMEController)
    if controller is None:
        controller = next((one.key for one in vm.devices if isinstance(one, kinds)), None)
    if not isinstance(devices.by_key(vm, controller), vim.vm.device.VirtualController):
        raise vim.fault.InvalidController(
            msg="The controller is not valid.", controllerKey=controller or 0, deviceIndex=0, property="controllerKey"
        )
    backing = DISK.FlatVer2BackingInfo(fileName=disk.path, diskMode="persistent")
    made = DISK(key=-1, controllerKey=controller, unitNumber=unit, backing=backing, vDiskId=vim.vslm.ID(id=disk.id))
    change = vim.vm.device.VirtualDeviceSpec(operation="add", device=made)
    reconfigure.reconfigure(world, vm, vim.vm.ConfigSpec(deviceChange=[change]))


def detach(world, vm, key):
    """DetachDisk: the file stays."""
    found = next((one for one in vm.disks if one.vDiskId is not None and one.vDiskId.id == key.id), None)
    if found is None:
        raise vim.fault.NotFound(msg="The object or item referred to could not be found.")
    change = vim.vm.device.VirtualDeviceSpec(operation="remove", device=found)
    reconfigure.reconfigure(world, vm, vim.vm.ConfigSpec(deviceChange=[change]))


def snapshot(world, disk, description):
    """CreateSnapshot of a disk."""
    key = str(uuid.UUID(world.new_uuid("disk snapshot")))
    disk.snapshots[key] = Snapshot(key, description, _now(), holder(world, disk)[1].capacityInKB)
    return key


def find_snapshot(disk, key):
    """A snapshot of a disk; NotFound where there is none."""
    if key.id not in disk.snapshots:
        raise vim.fault.NotFound(msg="The object or item referred to could not be found.")
    return disk.snapshots[key.id]


def revert(world, disk, key):
    """RevertVStorageObject: only while no VM has the disk."""
    find_snapshot(disk, key)
    if holder(world, disk)[0] is not None:
        raise wrong_state()


def holder(world, disk):
    """(the VM that has a disk or None, the virtual disk)."""
    for vm in disk.store.vms.values():
        for device in vm.disks:
            if getattr(device.backing, "fileName", None) == disk.path:
                return vm, device
    return None, disk_files.find(world, disk.path)


def _device(world, store, path, backing, spec):
    kind = backing.provisioningType or "thin"
    made = DISK.FlatVer2BackingInfo(
        fileName=path,
        datastore=inventory.reference(store),
        diskMode="persistent",
        thinProvisioned=kind == "thin",
        eagerlyScrub=kind == "eagerZeroedThick",
        uuid=str(uuid.UUID(world.new_uuid("disk"))),
    )
    size = spec.capacityInMB * MB
    return DISK(key=2000, backing=made, capacityInBytes=size, capacityInKB=size // 1024)


def _add(service, disk, metadata=None):
    disk.metadata = {one.key: one.value for one in metadata or []}
    service.disks[disk.id] = disk
    return disk


def _now():
    return datetime.datetime.now(datetime.timezone.utc)


def located(world, url):
    """(datastore, datastore path) of the address of a file: https://SERVER/folder/PATH?dcPath=DATACENTER&dsName=NAME."""
    address = urllib.parse.urlsplit(url)
    query = urllib.parse.parse_qs(address.query)
    store = fabric.datastore_at(world, query.get("dcPath", [None])[0], query.get("dsName", [""])[0])
    if store is None or not address.path.startswith("/folder/"):
        raise kept.wrong("path")
    return store, f"[{store.name}] {urllib.parse.unquote(address.path.removeprefix('/folder/'))}"
