"""Files of VMs on datastores: those of VMs in the inventory, and those without one."""

from __future__ import annotations

import copy
import datetime
import posixpath
from dataclasses import dataclass

from pyVmomi import vim

from . import backings, files, inventory
from .vm import VirtualMachine, written

SMALL_BYTES = 4096  # of a file whose content the twin does not have
MOST_BYTES = 62 * 1024**4  # of one virtual disk, from virtual hardware 10 on (configuration maximums)
# Properties that a registered VM does not keep from before its unregistration.
NOT_KEPT = ("moid", "version", "name", "parent", "host", "pool", "browser", "recent_tasks", "busy_with", "networks")


@dataclass(frozen=True)
class Entry:
    """One file or folder on a datastore; paths are relative to its root."""

    path: str
    kind: str  # file, folder, config, nvram, log, disk, extent
    size: int = SMALL_BYTES
    modified: datetime.datetime | None = None
    disk: object = None  # the virtual disk of a descriptor


def entries(world, store):
    """Everything on a datastore by its path, with the folders that VMs made."""
    found = {}
    for path in store.files.paths(deep=True):
        file = store.files.get(path)
        found[path] = Entry(path, "folder") if file is None else Entry(path, "file", file.size, file.modified)
    for vm in [*store.vms.values(), *store.left_vms.values()]:
        for entry in of_vm(vm, store):
            found[entry.path] = entry
    for disk in store.left_disks.values():
        for entry in _of_disk(disk, store, disk.since):
            found[entry.path] = entry
    for path in list(found):
        above = posixpath.dirname(path)
        while above and above not in found:
            found[above] = Entry(above, "folder", modified=found[path].modified)
            above = posixpath.dirname(above)
    return found


def of_vm(vm, store):
    """The files of a VM on one datastore."""
    home = relative(vm.home, store)
    if home is not None:
        base = home.rpartition(".")[0]
        yield Entry(home, "config", modified=vm.modified)
        yield Entry(f"{base}.nvram", "nvram", modified=vm.modified)
        yield Entry(f"{base}.vmsd", "file", 0, vm.created)
        if vm.booted is not None:
            yield Entry(f"{posixpath.dirname(home)}/vmware.log", "log", modified=vm.booted)
    for disk in vm.disks:
        yield from _of_disk(disk, store, vm.modified)


def _of_disk(disk, store, modified):
    path = relative(getattr(disk.backing, "fileName", None), store)
    if path is not None:
        yield Entry(path, "disk", 512, modified, getattr(disk, "device", disk))
        yield Entry(path.replace(".vmdk", "-flat.vmdk"), "extent", written(disk), modified)


def relative(path, store):
    """The path on this datastore that [datastore] path means, or None."""
    start = f"[{store.name}]"
    return files.clean(path[len(start) :].strip()) if path and path.startswith(start) else None


@dataclass
class LeftDisk:
    """A disk that no VM of the inventory has any more."""

    device: object
    since: datetime.datetime

    @property
    def backing(self):
        return self.device.backing

    @property
    def capacityInKB(self):  # as of the device itself
        return self.device.capacityInKB


def find(world, path):
    """The virtual disk behind a file name: one of a VM, or one that was left; None where there is none."""
    for store in world.of_kind("Datastore"):
        if relative(path, store) is None:
            continue
        if path in store.left_disks:
            return store.left_disks[path].device
        for vm in [*store.vms.values(), *store.left_vms.values()]:
            for disk in vm.disks:
                if getattr(disk.backing, "fileName", None) == path:
                    return disk
    return None


def of_others(world, vm, path):
    """Return whether another VM of the inventory has this disk too."""
    others = (one for one in world.of_kind("VirtualMachine") if one is not vm)
    return any(getattr(disk.backing, "fileName", None) == path for one in others for disk in one.disks)


def free_home(world, store, name):
    """Return the path of a new VM's configuration file: in a folder of its name, with a number if that one exists."""
    files_there = [*(vm.home for vm in store.vms.values()), *store.left_vms, *store.left_disks]
    for folder in (name if number == 0 else f"{name}_{number}" for number in range(1000)):
        start = f"[{store.name}] {folder}/"
        if not store.files.is_folder(folder) and not any(one.startswith(start) for one in files_there):
            return f"{start}{name}.vmx"
    raise files.already_exists(f"[{store.name}] {name}")


def leave(world, disk):
    """A disk stays on its datastore when it is taken off its VM without its file."""
    store = _store(world, disk)
    if store is not None:
        store.left_disks[disk.backing.fileName] = LeftDisk(disk, _now())
        world.touch(store)


def take(world, path):
    """A VM has a disk that was left."""
    for store in world.of_kind("Datastore"):
        if store.left_disks.pop(path, None) is not None:
            world.touch(store)


def keep(world, vm):
    """UnregisterVM: the files stay, with all their data of the VM."""
    for disk in vm.disks:
        leave(world, disk)
    name = backings.datastore_name(vm.home)
    for store in world.of_kind("Datastore"):
        if store.name == name and (not store.hosts or vm.host.moid in store.hosts):
            store.left_vms[vm.home] = vm


def rename_store(world, store, name):
    """Give a datastore another name, and with it the paths of all files on it."""
    before = store.name
    inventory.rename(world, store, name)
    old, new = f"[{before}] ", f"[{store.name}] "
    moved = [getattr(disk, "device", disk) for disk in store.left_disks.values()]
    for vm in [*store.vms.values(), *store.left_vms.values()]:
        vm.home = _moved(vm.home, old, new)
        moved += vm.devices
        for snapshot in vm.snapshots:
            moved += snapshot.saved["devices"]
    for device in moved:
        backing = device.backing
        while getattr(backing, "fileName", None):
            backing.fileName = _moved(backing.fileName, old, new)
            backing = getattr(backing, "parent", None)
    for disk in world.get("VStorageObjectManager").disks.values():
        disk.path = _moved(disk.path, old, new)
    store.left_disks = {_moved(path, old, new): disk for path, disk in store.left_disks.items()}
    store.left_vms = {_moved(path, old, new): vm for path, vm in store.left_vms.items()}


def _moved(path, old, new):
    return new + path[len(old) :] if path.startswith(old) else path


def registered(world, path):
    """The VM of the inventory whose configuration file this is, or None."""
    return next((vm for vm in world.of_kind("VirtualMachine") if vm.home == path), None)


def again(world, path, name):
    """The VM of a configuration file that was left, new to the inventory; None where no such file lies there."""
    for store in world.of_kind("Datastore"):
        old = store.left_vms.pop(path, None)
        if old is None:
            continue
        vm = VirtualMachine(world, name or old.name)
        for attribute, value in vars(old).items():
            if attribute not in NOT_KEPT:
                setattr(vm, attribute, copy.copy(value))
        for snapshot in vm.snapshots:
            snapshot.vm = vm
        for disk in vm.disks:
            store.left_disks.pop(disk.backing.fileName, None)
            take(world, disk.backing.fileName)
        world.touch(store)
        return vm
    return None


def remove(world, store, path):
    """Delete files without a VM at a path or below it; return whether there were any."""
    found = False
    for name in [*store.left_disks, *store.left_vms]:
        at = relative(name, store)
        if at == path or at.startswith(f"{path}/"):
            found = store.left_disks.pop(name, None) or store.left_vms.pop(name, None) or found
    return bool(found)


def in_use(world, store, path):
    """Return whether a VM of the inventory uses this file, or one below this folder."""
    for vm in store.vms.values():
        for entry in of_vm(vm, store):
            if entry.path == path or entry.path.startswith(f"{path}/"):
                return True
    return False


def too_large(store, size):
    """The fault for a disk that is larger than any may be [unsure: which fault]."""
    return vim.fault.FileTooLarge(
        msg=f"The disk of {size} bytes is larger than the maximum of {MOST_BYTES} bytes.",
        datastore=store,
        fileSize=size,
        maxFileSize=MOST_BYTES,
        file="",
    )


def _store(world, disk):
    name = backings.datastore_name(getattr(disk.backing, "fileName", None))
    wanted = getattr(disk.backing, "datastore", None)
    return next(
        (one for one in world.of_kind("Datastore") if one.name == name and wanted in (None, vim.Datastore(one.moid))),
        None,
    )


def _now():
    return datetime.datetime.now(datetime.timezone.utc)
