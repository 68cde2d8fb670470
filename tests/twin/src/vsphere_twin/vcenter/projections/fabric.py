"""Datastores, and common properties of all networks."""

from __future__ import annotations

from pyVmomi import vim

from ..registry import prop
from .shape import make


@prop("Datastore", "summary")
def datastore_summary(store, world):
    return make(
        vim.Datastore.Summary,
        datastore=store,
        name=store.name,
        url=store.url,
        capacity=store.capacity,
        freeSpace=store.free,
        uncommitted=0,
        accessible=store.accessible,
        multipleHostAccess=len(store.hosts) > 1,
        type=store.filesystem,
        maintenanceMode=store.maintenance,
    )


@prop("Datastore", "info")
def datastore_info(store, world):
    common = {
        "name": store.name,
        "url": store.url,
        "freeSpace": store.free,
        "maxFileSize": 70368744177664,
        "maxVirtualDiskCapacity": 68169720922112,
    }
    if store.filesystem.startswith("NFS"):
        volume = make(
            vim.host.NasVolume,
            type=store.filesystem,
            name=store.name,
            capacity=store.capacity,
            remoteHost=store.remote.servers[0] if store.remote else "nas.example",
            remoteHostNames=list(store.remote.servers) if store.remote else None,
            remotePath=store.remote.path if store.remote else f"/export/{store.name}",
        )
        return make(vim.host.NasDatastoreInfo, nas=volume, **common)
    if store.filesystem == "vsan":
        return make(vim.host.VsanDatastoreInfo, membershipUuid=store.uuid, **common)
    return make(vim.host.VmfsDatastoreInfo, vmfs=vmfs(store), **common)


def vmfs(store):
    """The volume of a VMFS datastore."""
    return make(
        vim.host.VmfsVolume,
        type="VMFS",
        name=store.name,
        capacity=store.capacity,
        blockSizeMb=1,
        maxBlocks=63963136,
        majorVersion=6,
        version="6.82",
        uuid=store.uuid,
        extent=[make(vim.host.ScsiDisk.Partition, diskName=store.lun, partition=1)],
        vmfsUpgradable=False,
        ssd=True,
        local=False,
    )


def mount(store, host):
    """Return the mount of a datastore by a host."""
    return make(
        vim.host.MountInfo,
        path=f"/vmfs/volumes/{store.uuid}",
        accessMode="readOnly" if store.read_only_on.get(host.moid) else "readWrite",
        mounted=True,
        accessible=store.accessible,
    )


@prop("Datastore", "host")
def datastore_host(store, world):
    return [
        make(
            vim.Datastore.HostMount,
            key=host,
            mountInfo=mount(store, host),
        )
        for host in store.hosts.values()
    ]


@prop("Datastore", "vm")
def datastore_vm(store, world):
    return list(store.vms.values())


@prop("Datastore", "browser")
def datastore_browser(store, world):
    return next((host.browser for host in store.hosts.values()), None)


@prop("Datastore", "capability")
def datastore_capability(store, world):
    return make(
        vim.Datastore.Capability,
        directoryHierarchySupported=True,
        rawDiskMappingsSupported=True,
        perFileThinProvisioningSupported=True,
        storageIORMSupported=False,
    )


@prop("Datastore", "iormConfiguration")
def iorm_configuration(store, world):
    return make(
        vim.StorageResourceManager.IORMConfigInfo, enabled=False, congestionThreshold=30, statsCollectionEnabled=False
    )


@prop("Network", "summary")
def network_summary(network, world):
    return make(vim.Network.Summary, network=network, name=network.name, accessible=bool(network.hosts), ipPoolName="")


@prop("Network", "host")
def network_host(network, world):
    return list(network.hosts.values())


@prop("Network", "vm")
def network_vm(network, world):
    return list(network.vms.values())
