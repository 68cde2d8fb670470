"""Files of a VM, their sizes, and its snapshots."""

from __future__ import annotations

from pyVmomi import vim

from .shape import make

SMALL_BYTES = 4096


def layout(vm):
    """VirtualMachineFileLayout."""
    return make(
        vim.vm.FileLayout,
        configFile=[name.rpartition("/")[2] for name in (vm.home, _beside(vm, "nvram"))],
        logFile=["vmware.log"],
        disk=[make(vim.vm.FileLayout.DiskLayout, key=disk.key, diskFile=[disk.backing.fileName]) for disk in vm.disks],
    )


def layout_ex(vm):
    """VirtualMachineFileLayoutEx."""
    files, disks = [_file(0, vm.home, "config"), _file(1, _beside(vm, "nvram"), "nvram")], []
    for disk in vm.disks:
        name = disk.backing.fileName
        descriptor = _file(len(files), name, "diskDescriptor")
        extent = _file(len(files) + 1, name.replace(".vmdk", "-flat.vmdk"), "diskExtent", disk.capacityInBytes)
        files += [descriptor, extent]
        unit = make(vim.vm.FileLayoutEx.DiskUnit, fileKey=[descriptor.key, extent.key])
        disks.append(make(vim.vm.FileLayoutEx.DiskLayout, key=disk.key, chain=[unit]))
    return make(vim.vm.FileLayoutEx, file=files, disk=disks, timestamp=vm.modified)


def storage(vm):
    """VirtualMachineStorageInfo."""
    usage = [
        make(
            vim.vm.StorageInfo.UsageOnDatastore,
            datastore=store,
            committed=vm.bytes_on(store.moid),
            uncommitted=vm.promised_bytes if len(vm.datastores) == 1 else 0,
            unshared=vm.bytes_on(store.moid),
        )
        for store in vm.datastores.values()
    ]
    return make(vim.vm.StorageInfo, perDatastoreUsage=usage, timestamp=vm.modified)


def snapshots(vm):
    """VirtualMachineSnapshotInfo, or nothing when there is none."""
    if not vm.snapshots:
        return None
    roots = [one for one in vm.snapshots if one.parent is None]
    return make(
        vim.vm.SnapshotInfo,
        currentSnapshot=vm.current_snapshot,
        rootSnapshotList=[_tree(vm, one) for one in roots],
    )


def _tree(vm, one):
    return make(
        vim.vm.SnapshotTree,
        snapshot=one,
        vm=vm,
        name=one.name,
        description=one.description,
        id=one.number,
        createTime=one.created,
        state=one.power,
        quiesced=False,
        backupManifest="",
        childSnapshotList=[_tree(vm, child) for child in vm.snapshots if child.parent is one],
        replaySupported=False,
    )


def _beside(vm, extension):
    return f"{vm.home.rpartition('.')[0]}.{extension}"


def _file(key, name, kind, size=SMALL_BYTES):
    return make(
        vim.vm.FileLayoutEx.FileInfo, key=key, name=name, type=kind, size=size, uniqueSize=size, accessible=True
    )
