"""VStorageObjectManager: first-class disks, and the methods of VMs that attach them."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from vsphere_twin.model import first_class_disks as disks
from vsphere_twin.model import kept, tagging

from ..projections.shape import make
from ..registry import method
from .tasking import begin

KIND = "VcenterVStorageObjectManager"
BASE = vim.vslm.BaseConfigInfo
PRIVILEGE = "Datastore.FileManagement"


@method(KIND, "CreateDisk_Task")
def create(call, this, spec):
    store = _store(call, spec.backingSpec.datastore)
    return _begin(call, "CreateDisk_Task", store, lambda: shown(call, disks.create(call.world, this, store, spec)))


@method(KIND, "RegisterDisk")
def register(call, this, path, name=None, id=None):
    store, file = disks.located(call.world, path)
    call.require_privilege(PRIVILEGE, store)
    return shown(call, disks.register(call.world, this, store, file, name, id.id if id is not None else None))


@method(KIND, "ListVStorageObject")
def listed(call, this, datastore):
    return [vim.vslm.ID(id=one.id) for one in disks.on(this, call.resolve(datastore))]


@method(KIND, "RetrieveVStorageObject")
def retrieve(call, this, id, datastore, diskInfoFlags=None):
    return shown(call, disks.find(call.world, this, id, call.resolve(datastore)))


@method(KIND, "RetrieveVStorageObjectState")
def state(call, this, id, datastore):
    disks.find(call.world, this, id, call.resolve(datastore))
    return make(vim.vslm.StateInfo, tentative=False)


@method(KIND, "RenameVStorageObject")
def rename(call, this, id, datastore, name):
    disks.rename(_found(call, this, id, datastore), name)


@method(KIND, "ExtendDisk_Task")
def extend(call, this, id, datastore, newCapacityInMB):
    found = _found(call, this, id, datastore)
    return _begin(call, "ExtendDisk_Task", found.store, lambda: disks.extend(call.world, found, newCapacityInMB))


@method(KIND, "InflateDisk_Task")
def inflate(call, this, id, datastore):
    found = _found(call, this, id, datastore)
    return _begin(call, "InflateDisk_Task", found.store, lambda: disks.inflate(call.world, found))


@method(KIND, "CloneVStorageObject_Task")
def clone(call, this, id, datastore, spec):
    kept.refuse_unserved(spec, ("backingSpec", "profile", "name", "keepAfterDeleteVm", "metadata", "consolidate"))
    found, store = _found(call, this, id, datastore), _store(call, spec.backingSpec.datastore)

    def work():
        return shown(call, disks.clone(call.world, this, found, store, spec))

    return _begin(call, "CloneVStorageObject_Task", store, work)


@method(KIND, "UpdateVStorageObjectPolicy_Task")
def update_policy(call, this, id, datastore, profile=()):
    found = _found(call, this, id, datastore)

    def work():
        disks.set_policy(call.world, found, profile)

    return _begin(call, "UpdateVStorageObjectPolicy_Task", found.store, work)


@method(KIND, "SetVStorageObjectControlFlags")
def set_flags(call, this, id, datastore, controlFlags=()):
    disks.set_flags(_found(call, this, id, datastore), controlFlags, on=True)


@method(KIND, "ClearVStorageObjectControlFlags")
def clear_flags(call, this, id, datastore, controlFlags=()):
    disks.set_flags(_found(call, this, id, datastore), controlFlags, on=False)


@method(KIND, "VCenterUpdateVStorageObjectMetadataEx_Task")
def update_metadata(call, this, id, datastore, metadata=(), deleteKeys=()):
    found = _found(call, this, id, datastore)

    def work():
        disks.set_metadata(found, metadata, deleteKeys)

    return _begin(call, "VCenterUpdateVStorageObjectMetadataEx_Task", found.store, work)


@method(KIND, "AttachTagToVStorageObject")
def attach_tag(call, this, id, category, tag):
    """[unsure: the fault for a tag that the disk cannot have]"""
    found = disks.anywhere(call.world, this, id)
    try:
        call.world.tagging.attach(_tag(call, category, tag), disks.TAGGED, found.id)
    except tagging.Refusal as problem:
        raise vmodl.fault.InvalidArgument(msg=problem.text, invalidProperty="tag") from problem


@method(KIND, "DetachTagFromVStorageObject")
def detach_tag(call, this, id, category, tag):
    found = disks.anywhere(call.world, this, id)
    call.world.tagging.detach(_tag(call, category, tag), disks.TAGGED, found.id)


@method(KIND, "ListVStorageObjectsAttachedToTag")
def with_tag(call, this, category, tag):
    return [vim.vslm.ID(id=moid) for kind, moid in _tag(call, category, tag).objects if kind == disks.TAGGED]


@method(KIND, "ListTagsAttachedToVStorageObject")
def tags(call, this, id):
    found = call.world.tagging.of(disks.TAGGED, disks.anywhere(call.world, this, id).id)
    return [make(vim.vslm.TagEntry, tagName=one.name, parentCategoryName=one.category.name) for one in found]


@method(KIND, "DeleteVStorageObject_Task")
def delete(call, this, id, datastore):
    found = _found(call, this, id, datastore)
    return _begin(call, "DeleteVStorageObject_Task", found.store, lambda: disks.delete(call.world, this, found))


@method(KIND, "VStorageObjectCreateSnapshot_Task")
def create_snapshot(call, this, id, datastore, description):
    found = _found(call, this, id, datastore)
    return _begin(
        call,
        "VStorageObjectCreateSnapshot_Task",
        found.store,
        lambda: vim.vslm.ID(id=disks.snapshot(call.world, found, description)),
    )


@method(KIND, "RetrieveSnapshotInfo")
def snapshots(call, this, id, datastore):
    found = disks.find(call.world, this, id, call.resolve(datastore))
    kind = vim.vslm.VStorageObjectSnapshotInfo.VStorageObjectSnapshot
    rows = [
        make(kind, id=vim.vslm.ID(id=one.id), createTime=one.created, description=one.description)
        for one in found.snapshots.values()
    ]
    return make(vim.vslm.VStorageObjectSnapshotInfo, snapshots=rows)


@method(KIND, "RetrieveSnapshotDetails")
def snapshot_details(call, this, id, datastore, snapshotId):
    found = disks.find(call.world, this, id, call.resolve(datastore))
    disks.find_snapshot(found, snapshotId)
    return make(vim.vslm.VStorageObjectSnapshotDetails, path=found.path)


@method(KIND, "DeleteSnapshot_Task")
def delete_snapshot(call, this, id, datastore, snapshotId):
    found = _found(call, this, id, datastore)

    def work():
        disks.find_snapshot(found, snapshotId)
        del found.snapshots[snapshotId.id]

    return _begin(call, "DeleteSnapshot_Task", found.store, work)


@method(KIND, "CreateDiskFromSnapshot_Task")
def create_from_snapshot(call, this, id, datastore, snapshotId, name, profile=(), path=None):
    found = _found(call, this, id, datastore)

    def work():
        return shown(call, disks.from_snapshot(call.world, this, found, snapshotId, name, profile, path))

    return _begin(call, "CreateDiskFromSnapshot_Task", found.store, work)


@method(KIND, "RevertVStorageObject_Task")
def revert(call, this, id, datastore, snapshotId):
    found = _found(call, this, id, datastore)
    return _begin(call, "RevertVStorageObject_Task", found.store, lambda: disks.revert(call.world, found, snapshotId))


@method(KIND, "ReconcileDatastoreInventory_Task")
def reconcile(call, this, datastore, deepCleansing=None):
    store = _store(call, datastore)

    def work():
        disks.reconcile(call.world, this, store)

    return _begin(call, "ReconcileDatastoreInventory_Task", store, work)


@method("VirtualMachine", "AttachDisk_Task")
def attach(call, this, diskId, datastore, controllerKey=None, unitNumber=None):
    service, store = call.world.of_kind(KIND)[0], call.resolve(datastore)

    def work():
        disk = disks.find(call.world, service, diskId, store)
        disks.attach(call.world, this, disk, controllerKey, unitNumber)

    return begin(call, "AttachDisk_Task", this, work)


@method("VirtualMachine", "DetachDisk_Task")
def detach(call, this, diskId):
    return begin(call, "DetachDisk_Task", this, lambda: disks.detach(call.world, this, diskId))


def _begin(call, name, store, work):
    return begin(call, name, store, work, exclusive=False)


def _store(call, reference):
    store = call.resolve(reference)
    call.require_privilege(PRIVILEGE, store)
    return store


def _tag(call, category, name):
    """A tag by its names; NotFound where there is none (GOV, vapi/simulator)."""
    known = call.world.tagging.tags.values()
    found = next((one for one in known if (one.category.name, one.name) == (category, name)), None)
    if found is None:
        raise vim.fault.NotFound(msg="The object or item referred to could not be found.")
    return found


def _found(call, this, key, datastore):
    return disks.find(call.world, this, key, _store(call, datastore))


def shown(call, disk):
    vm, device = disks.holder(call.world, disk)
    thin = bool(device.backing.thinProvisioned)
    backing = make(
        BASE.DiskFileBackingInfo,
        datastore=disk.store,
        filePath=disk.path,
        backingObjectId="",
        provisioningType="thin" if thin else "eagerZeroedThick" if device.backing.eagerlyScrub else "lazyZeroedThick",
    )
    config = make(
        vim.vslm.VStorageObject.ConfigInfo,
        id=vim.vslm.ID(id=disk.id),
        name=disk.name,
        createTime=disk.created,
        keepAfterDeleteVm=disk.keep,
        relocationDisabled=disks.FLAGS[1] in disk.flags,
        nativeSnapshotSupported=False,
        changedBlockTrackingEnabled=disks.FLAGS[2] in disk.flags,
        backing=backing,
        metadata=[vim.KeyValue(key=key, value=value) for key, value in disk.metadata.items()],
        capacityInMB=device.capacityInKB // 1024,
        consumptionType=["disk"],
        consumerId=[vim.vslm.ID(id=vm.instance_uuid)] if vm is not None else [],
    )
    return make(vim.vslm.VStorageObject, config=config)
