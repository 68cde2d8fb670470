"""First-class disks: virtual disks with a name and an identifier of their own, on a VM or without one."""

from __future__ import annotations

import copy
import datetime
import urllib.parse
import uuid
from dataclasses import dataclass, field

from pyVmomi import vim

from . import devices, disk_files, fabric, files, inventory, kept, reconfigure, storage_policies
from .host import wrong_state
from .vm import written

DISK = vim.vm.device.VirtualDisk
MB = 1024**2
FOLDER = "fcd"
TYPES = ("thin", "eagerZeroedThick", "lazyZeroedThick")
FLAGS = ("keepAfterDeleteVm", "disableRelocation", "enableChangedBlockTracking")
TAGGED = "fcd"  # type of first-class disks in associations of tags (GOV, simulator/vstorage_object_manager.go)


@dataclass
class Snapshot:
    """A point in time of a disk."""

    id: str
    description: str
    created: datetime.datetime
    kilobytes: int
    metadata: dict


@dataclass
class Disk:
    """A first-class disk; its file is among those of its datastore, or on a VM."""

    id: str
    name: str
    path: str
    store: object
    flags: set
    created: datetime.datetime
    metadata: dict = field(default_factory=dict)
    snapshots: dict = field(default_factory=dict)
    profile: list = field(default_factory=list)  # of the request; a VM that gets the disk has this policy for it

    @property
    def keep(self):
        """Whether the disk stays when its VM is destroyed."""
        return FLAGS[0] in self.flags


def on(service, store):
    """The disks of a datastore, also those whose file is gone: vCenter lists them until it reconciles the datastore."""
    return [one for one in service.disks.values() if one.store is store]


def reconcile(world, service, store):
    """ReconcileDatastoreInventory: disks without a file are forgotten."""
    for one in on(service, store):
        if disk_files.find(world, one.path) is None:
            del service.disks[one.id]


def find(world, service, key, store):
    """One disk on its datastore; NotFound where there is none."""
    found = anywhere(world, service, key)
    if found.store is not store:
        raise _not_found()
    return found


def anywhere(world, service, key):
    """One disk on any datastore; NotFound where there is none, or its file is gone."""
    found = service.disks.get(key.id)
    if found is None or disk_files.find(world, found.path) is None:
        raise _not_found()
    return found


def megabytes(world, disk):
    """The capacity of a disk; -1 if its file is gone (GOV, vslm/types)."""
    device = holder(world, disk)[1]
    return device.capacityInKB // 1024 if device is not None else -1


def create(world, service, store, spec):
    """CreateDisk: a new disk in a folder of its own kind."""
    if not 0 < spec.capacityInMB * MB <= disk_files.MOST_BYTES:
        raise kept.wrong("spec.capacityInMB")
    key = spec.id.id if spec.id is not None else None
    return _new(world, service, store, spec, spec.capacityInMB, key)


def clone(world, service, disk, store, spec):
    """CloneVStorageObject: another disk of the same size, without the snapshots [unsure: without the metadata too]."""
    return _new(world, service, store, spec, megabytes(world, disk))


def from_snapshot(world, service, disk, key, name, profile=(), path=None):
    """CreateDiskFromSnapshot: another disk on the same datastore, of the size that the snapshot has."""
    size = find_snapshot(disk, key).kilobytes // 1024
    kind = "thin" if holder(world, disk)[1].backing.thinProvisioned else "eagerZeroedThick"
    backing = vim.vslm.CreateSpec.DiskFileBackingSpec(provisioningType=kind, path=path)
    spec = vim.vslm.CreateSpec(name=name, backingSpec=backing, profile=list(profile))
    return _new(world, service, disk.store, spec, size)


def _new(world, service, store, spec, size, key=None):
    backing = spec.backingSpec
    require_name(spec.name)
    if not isinstance(backing, vim.vslm.CreateSpec.DiskFileBackingSpec):
        raise kept.wrong("spec.backingSpec")  # the other kind is a device of a host
    kept.require_one_of(backing.provisioningType, TYPES, "spec.backingSpec.provisioningType")
    if ".." in (backing.path or "").split("/"):
        raise kept.wrong("spec.backingSpec.path")
    storage_policies.requested(world, spec.profile, "spec.profile")
    key = key or str(uuid.UUID(world.new_uuid("first-class disk")))
    if key in service.disks:
        raise vim.fault.AlreadyExists(msg="The specified key, name, or identifier already exists.", name=key)
    folder = (backing.path or FOLDER).strip("/")
    path = f"[{store.name}] {folder}/{uuid.UUID(world.new_uuid('file')).hex}.vmdk"
    device = _device(world, store, path, backing, size * MB)
    store.require_room(written(device))
    disk_files.leave(world, device)
    flags = {FLAGS[0]} if spec.keepAfterDeleteVm else set()
    metadata = {one.key: one.value for one in spec.metadata or []}
    return _add(service, Disk(key, spec.name, path, store, flags, _now(), metadata, profile=list(spec.profile or [])))


def register(world, service, store, path, name, key):
    """RegisterDisk: an existing virtual disk is a first-class disk too."""
    if disk_files.find(world, path) is None:
        raise files.not_found(path)
    known = next((one for one in on(service, store) if one.path == path), None)
    key = key or str(uuid.UUID(world.new_uuid("first-class disk")))
    if known is not None or key in service.disks:
        raise vim.fault.AlreadyExists(msg="The specified key, name, or identifier already exists.", name=name or path)
    base = path.rpartition("/")[2].removesuffix(".vmdk")
    return _add(service, Disk(key, name or base, path, store, {FLAGS[0]}, _now()))


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


def inflate(world, disk):
    """InflateDisk: a thin disk occupies all of its size [unsure: not while a VM or a snapshot has it]."""
    vm, device = holder(world, disk)
    if vm is not None or disk.snapshots:
        raise wrong_state()
    full = copy.deepcopy(device)
    full.backing.thinProvisioned, full.backing.eagerlyScrub = False, True
    disk.store.require_room(written(full) - written(device), new=False)
    disk_files.leave(world, full)


def rename(disk, name):
    """RenameVStorageObject; names need not be unique."""
    require_name(name)
    disk.name = name


def set_flags(disk, flags, on):
    """SetVStorageObjectControlFlags, and Clear with on=False; without a flag none changes [unsure]."""
    for one in flags:
        kept.require_one_of(one, FLAGS, "controlFlags")
    disk.flags = disk.flags | set(flags) if on else disk.flags - set(flags)


def set_metadata(disk, pairs, removed):
    """UpdateVStorageObjectMetadata: keys are removed first, then added or changed."""
    left = {key: value for key, value in disk.metadata.items() if key not in removed}
    disk.metadata = {**left, **{one.key: one.value for one in pairs}}


def set_policy(world, disk, profile):
    """UpdateVStorageObjectPolicy; of the VM that has the disk too."""
    storage_policies.requested(world, profile, "profile")
    disk.profile = list(profile)
    vm, device = holder(world, disk)
    if vm is not None:
        storage_policies.associate(world, vm, device.key, disk.profile, "profile")


def delete(world, service, disk):
    """DeleteVStorageObject: never one that a VM has."""
    if holder(world, disk)[0] is not None:
        raise wrong_state()
    disk_files.take(world, disk.path)
    del service.disks[disk.id]
    for tag in world.tagging.of(TAGGED, disk.id):
        world.tagging.detach(tag, TAGGED, disk.id)


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
    storage_policies.associate(world, vm, holder(world, disk)[1].key, disk.profile, "profile")


def detach(world, vm, key):
    """DetachDisk: the file stays."""
    found = next((one for one in vm.disks if one.vDiskId is not None and one.vDiskId.id == key.id), None)
    if found is None:
        raise _not_found()
    change = vim.vm.device.VirtualDeviceSpec(operation="remove", device=found)
    reconfigure.reconfigure(world, vm, vim.vm.ConfigSpec(deviceChange=[change]))


def snapshot(world, disk, description):
    """CreateSnapshot of a disk."""
    key = str(uuid.UUID(world.new_uuid("disk snapshot")))
    disk.snapshots[key] = Snapshot(key, description, _now(), holder(world, disk)[1].capacityInKB, dict(disk.metadata))
    return key


def find_snapshot(disk, key):
    """A snapshot of a disk; NotFound where there is none."""
    if key.id not in disk.snapshots:
        raise _not_found()
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


def require_name(name):
    """InvalidName for a name that no disk can have."""
    if not name or len(name) > 80:
        raise vim.fault.InvalidName(msg=f"The name '{name or ''}' is not valid.", name=name or "")


def _device(world, store, path, backing, size):
    kind = backing.provisioningType or "thin"
    made = DISK.FlatVer2BackingInfo(
        fileName=path,
        datastore=inventory.reference(store),
        diskMode="persistent",
        thinProvisioned=kind == "thin",
        eagerlyScrub=kind == "eagerZeroedThick",
        uuid=str(uuid.UUID(world.new_uuid("disk"))),
    )
    return DISK(key=2000, backing=made, capacityInBytes=size, capacityInKB=size // 1024)


def _add(service, disk):
    service.disks[disk.id] = disk
    return disk


def _not_found():
    return vim.fault.NotFound(msg="The object or item referred to could not be found.")


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
