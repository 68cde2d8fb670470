"""Datastores: NFS volumes, maintenance mode, datastore clusters."""

from __future__ import annotations

from pyVmomi import vim

from vsphere_twin.model import mounts

from ..projections.shape import make
from ..registry import method, prop
from .host_system import host_method
from .tasking import begin

POD = "StoragePod"


@host_method("HostDatastoreSystem", "CreateNasDatastore")
def create_nas_datastore(call, this, spec):
    return mounts.mount(call.world, this.host, spec)


@host_method("HostDatastoreSystem", "RemoveDatastore")
def remove_datastore(call, this, datastore):
    mounts.unmount(call.world, this.host, call.resolve(datastore))


@host_method("HostDatastoreSystem", "QueryVmfsDatastoreExpandOptions")
def query_expand_options(call, this, datastore):
    return mounts.expand_options(this.host, call.resolve(datastore))


@method("Datastore", "DatastoreEnterMaintenanceMode")
def enter_maintenance(call, this):
    mounts.check_enter(this)

    def work():
        mounts.check_enter(this)
        this.maintenance = "inMaintenance"
        call.world.touch(this)

    task = begin(call, "DatastoreEnterMaintenanceMode", this, work)
    return make(vim.storageDrs.StoragePlacementResult, task=task)


@method("Datastore", "DatastoreExitMaintenanceMode_Task")
def exit_maintenance(call, this):
    return begin(call, "DatastoreExitMaintenanceMode_Task", this, lambda: mounts.leave_maintenance(call.world, this))


@method("Folder", "CreateStoragePod")
def create_pod(call, this, name):
    return mounts.create_pod(call.world, this, name)


@method("StorageResourceManager", "ConfigureStorageDrsForPod_Task")
def configure_pod(call, this, pod, spec, modify):
    found = call.resolve(pod)
    call.require_privilege("StoragePod.Config", found)

    def work():
        mounts.configure_pod(call.world, found, spec, modify)

    return begin(call, "ConfigureStorageDrsForPod_Task", found, work)


@prop(POD, "summary")
def pod_summary(pod, world):
    stores = list(pod.children.values())
    return make(
        vim.StoragePod.Summary,
        name=pod.name,
        capacity=sum(store.capacity for store in stores),
        freeSpace=sum(store.free for store in stores),
    )


@prop(POD, "podStorageDrsEntry")
def pod_entry(pod, world):
    """The settings of Storage DRS; it recommends nothing."""
    config = make(vim.storageDrs.PodConfigInfo, **pod.settings)
    return make(
        vim.StorageResourceManager.PodStorageDrsEntry,
        storageDrsConfig=make(vim.storageDrs.ConfigInfo, podConfig=config),
    )
