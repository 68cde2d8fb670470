"""CD/DVD drives: images on datastores, and whether they are connected."""

from __future__ import annotations

from pyVmomi import vim

from . import backings, disk_files

DRIVE = vim.vm.device.VirtualCdrom
# Status of a drive whose image does not exist (vSphere API reference, VirtualDeviceConnectInfo).
MISSING = "unrecoverableError"
OF_LIBRARIES = "contentlib-"  # images of content libraries are not among the files of a datastore


def connect(world, vm, running):
    """Connect the drives of a VM that starts. One whose image does not exist stays disconnected, and the VM runs
    (govmomi issue 2203).
    """
    for drive in vm.devices:
        if isinstance(drive, DRIVE) and drive.connectable is not None:
            wanted = running and bool(drive.connectable.startConnected)
            there = exists(world, vm, drive)
            drive.connectable.connected = wanted and there
            drive.connectable.status = MISSING if wanted and not there else "ok" if wanted else "untried"


def check(world, vm, device):
    """Refuse to connect a drive of a running VM with an image that does not exist (words: govmomi issue 2203)."""
    connectable = device.connectable
    wanted = vm.power == "poweredOn" and connectable is not None and connectable.connected
    if wanted and not exists(world, vm, device):
        name = f"{'sata' if device.controllerKey >= 15000 else 'ide'}0:{device.unitNumber}"
        reason = f"Connection control operation failed for disk '{name}'."
        raise vim.fault.GenericVmConfigFault(msg=reason, reason=reason)


def knows_datastore(world, vm, device):
    """Whether the host of a VM has the datastore of an image, also of one that does not exist."""
    return not isinstance(device.backing, DRIVE.IsoBackingInfo) or _store(world, vm, device) is not None


def exists(world, vm, device):
    """Whether the image of a drive exists; a drive without an image has nothing to miss."""
    if not isinstance(device.backing, DRIVE.IsoBackingInfo):
        return True
    store = _store(world, vm, device)
    path = disk_files.relative(device.backing.fileName, store) if store is not None else None
    return path is not None and (store.files.get(path) is not None or path.startswith(OF_LIBRARIES))


def _store(world, vm, device):
    name = backings.datastore_name(device.backing.fileName)
    stores = vm.host.datastores.values() if vm.host is not None else world.of_kind("Datastore")
    return next((one for one in stores if one.name == name), None)
