"""The service of first-class disks (/vslm/sdk): disks by their identifiers alone, and its own tasks."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import operator

from pyVmomi import vim, vmodl, vslm

from vsphere_twin.model import accounts, inventory, kept, tasks
from vsphere_twin.model import first_class_disks as disks
from vsphere_twin.model.services import DISK_SERVICES
from vsphere_twin.model.vm import written
from vsphere_twin.model.world import Entity

from .. import types
from ..projections.shape import make
from ..registry import find_method, method, prop
from . import first_class_disks

KIND, TASK, LIFECYCLE = "VslmVStorageObjectManager", "VslmTask", "VslmStorageLifecycleManager"
Query = vslm.vso.VStorageObjectQuerySpec
# Methods by the name of the one in VcenterVStorageObjectManager, which needs the datastore too.
SAME = {
    "VslmExtendDisk_Task": "ExtendDisk_Task",
    "VslmInflateDisk_Task": "InflateDisk_Task",
    "VslmRenameVStorageObject": "RenameVStorageObject",
    "VslmUpdateVstorageObjectPolicy_Task": "UpdateVStorageObjectPolicy_Task",
    "VslmDeleteVStorageObject_Task": "DeleteVStorageObject_Task",
    "VslmRetrieveVStorageObjectState": "RetrieveVStorageObjectState",
    "VslmCloneVStorageObject_Task": "CloneVStorageObject_Task",
    "VslmSetVStorageObjectControlFlags": "SetVStorageObjectControlFlags",
    "VslmClearVStorageObjectControlFlags": "ClearVStorageObjectControlFlags",
    "VslmCreateSnapshot_Task": "VStorageObjectCreateSnapshot_Task",
    "VslmDeleteSnapshot_Task": "DeleteSnapshot_Task",
    "VslmRetrieveSnapshotDetails": "RetrieveSnapshotDetails",
    "VslmCreateDiskFromSnapshot_Task": "CreateDiskFromSnapshot_Task",
    "VslmRevertVStorageObject_Task": "RevertVStorageObject_Task",
    "VslmUpdateVStorageObjectMetadata_Task": "VCenterUpdateVStorageObjectMetadataEx_Task",
}
# Methods that need no datastore there either.
WITHOUT_STORE = {
    "VslmCreateDisk_Task": "CreateDisk_Task",
    "VslmRegisterDisk": "RegisterDisk",
    "VslmAttachTagToVStorageObject": "AttachTagToVStorageObject",
    "VslmDetachTagFromVStorageObject": "DetachTagFromVStorageObject",
    "VslmListVStorageObjectsAttachedToTag": "ListVStorageObjectsAttachedToTag",
    "VslmListTagsAttachedToVStorageObject": "ListTagsAttachedToVStorageObject",
    "VslmReconcileDatastoreInventory_Task": "ReconcileDatastoreInventory_Task",
}
# Those that GOV (vslm/simulator) answers with InvalidArgument for an unknown disk.
BY_VOLUME = {
    "VslmRetrieveVStorageObject": "RetrieveVStorageObject",
    "VslmRetrieveSnapshotInfo": "RetrieveSnapshotInfo",
}
OPERATORS = {
    "equals": operator.eq,
    "notEquals": operator.ne,
    "lessThan": operator.lt,
    "greaterThan": operator.gt,
    "lessThanOrEqual": operator.le,
    "greaterThanOrEqual": operator.ge,
    "contains": operator.contains,
    "startsWith": str.startswith,
    "endsWith": str.endswith,
}
OF_TEXTS = ("contains", "startsWith", "endsWith")


class DiskTask(Entity):
    """A task of this service; the task behind it is one of vCenter."""

    kind = TASK

    def __init__(self, task):
        super().__init__(task.moid)
        self.task = task


@method("VslmServiceInstance", "RetrieveContent")
def retrieve_content(call, this):
    """The managers; as of the other services beside the API, it needs no session."""
    return _content(this, call.world)


@prop("VslmServiceInstance", "content")
def _content(_this, world):
    names = {kind: types.managed_type(kind)(moid) for moid, kind in DISK_SERVICES.items()}
    about = vslm.AboutInfo(
        name="VMware Virtual Storage Lifecycle Manager Service",
        fullName="VMware Virtual Storage Lifecycle Manager Service 1.0.0",
        vendor="VMware, Inc.",
        apiVersion="1.0.0",
        instanceUuid=world.instance_uuid,
    )
    return vslm.ServiceInstanceContent(
        aboutInfo=about,
        sessionManager=names["VslmSessionManager"],
        vStorageObjectManager=names[KIND],
        storageLifecycleManager=names[LIFECYCLE],
    )


def _serve(name, inner, locate=None):
    """Serve a method by one of the manager of the API; `locate` returns the disk of the request."""
    served_there = find_method("VcenterVStorageObjectManager", inner)

    @method(KIND, name)
    @functools.wraps(served_there)
    def served(call, this, **arguments):
        manager = _manager(call)
        if locate is not None:
            arguments["datastore"] = types.reference(locate(call, arguments["id"]).store)
        return _begun(call, served_there(_of_api(call), manager, **arguments))


def _of_api(call):
    """The same call, whose references are those of the API."""
    return dataclasses.replace(call, own=None)


def _manager(call):
    return call.world.get("VStorageObjectManager")


def _begun(call, result):
    """The result of a method; a task becomes one of this service."""
    if not isinstance(result, tasks.Task):
        return result
    for moid in [moid for moid, one in call.own.items() if one.kind == TASK and call.world.get(moid) is None]:
        del call.own[moid]
    call.own[result.moid] = DiskTask(result)
    return call.own[result.moid]


def _disk(call, key):
    return disks.anywhere(call.world, _manager(call), key)


def _volume(call, key):
    if key.id not in _manager(call).disks:
        raise kept.wrong("VolumeId")
    return _disk(call, key)


for _names, _locate in ((SAME, _disk), (WITHOUT_STORE, None), (BY_VOLUME, _volume)):
    for _name, _inner in _names.items():
        _serve(_name, _inner, _locate)


@method(KIND, "VslmAttachDisk_Task")
def attach(call, this, id, vm, controllerKey=None, unitNumber=None):
    store, of_api = types.reference(_disk(call, id).store), _of_api(call)
    target = of_api.resolve(vm)
    call.require_privilege(types.method_of("AttachDisk_Task").privId, target)
    return _begun(call, first_class_disks.attach(of_api, target, id, store, controllerKey, unitNumber))


@method(KIND, "VslmScheduleReconcileDatastoreInventory")
def schedule_reconcile(call, this, datastore):
    disks.reconcile(call.world, _manager(call), _of_api(call).resolve(datastore))


@method(KIND, "VslmRetrieveVStorageObjectMetadata")
def metadata(call, this, id, snapshotId=None, prefix=""):
    pairs = _metadata(call, id, snapshotId).items()
    return [vim.KeyValue(key=key, value=value) for key, value in pairs if key.startswith(prefix)]


@method(KIND, "VslmRetrieveVStorageObjectMetadataValue")
def metadata_value(call, this, id, key, snapshotId=None):
    pairs = _metadata(call, id, snapshotId)
    if key not in pairs:
        raise vim.fault.KeyNotFound(msg=f"The key {key} does not exist.", key=key)
    return pairs[key]


def _metadata(call, key, snapshot):
    disk = _volume(call, key)
    return disk.metadata if snapshot is None else disks.find_snapshot(disk, snapshot).metadata


@method(KIND, "VslmListVStorageObjectForSpec")
def listed(call, this, maxResult, query=()):
    """The disks that fit all queries, by their identifiers; clients ask for the next ones by the last identifier."""
    if maxResult <= 0:
        raise kept.wrong("maxResult")
    found = [one for one in _all(call) if all(_fits(call, one, each) for each in query)]
    part = found[:maxResult]
    return make(
        vslm.vso.VStorageObjectQueryResult,
        allRecordsReturned=len(part) == len(found),
        id=[vim.vslm.ID(id=one.id) for one in part],
        queryResults=[_row(call, one) for one in part],
    )


@method(KIND, "VslmRetrieveVStorageObjects")
def retrieve_all(call, this, ids=()):
    """A result for each identifier; a disk that does not exist has its fault and no capacity."""
    rows, known = [], {one.id: one for one in _all(call)}
    for key in ids:
        if key.id in known:
            rows.append(_row(call, known[key.id]))
            continue
        fault = vim.fault.NotFound(msg="The object or item referred to could not be found.")
        rows.append(make(vslm.vso.VStorageObjectResult, id=key, capacityInMB=-1, error=fault))
    return rows


@method(LIFECYCLE, "VslmSyncDatastore")
def sync(call, this, datastoreUrl, fullSync, fcdId=None):
    store = _store(call, datastoreUrl)
    if fcdId is not None:
        disks.find(call.world, _manager(call), fcdId, store)
    disks.reconcile(call.world, _manager(call), store)


@method(LIFECYCLE, "VslmQueryDatastoreInfo")
def datastore_info(call, this, datastoreUrl):
    store = _store(call, datastoreUrl)
    return [make(vslm.QueryDatastoreInfoResult, datacenter=inventory.datacenter_of(store), datastore=store)]


@method(TASK, "VslmQueryInfo")
def task_info(call, this):
    task = this.task
    return make(
        vslm.TaskInfo,
        key=task.moid,
        task=this,
        descriptionId=f"com.vmware.cns.vslm.tasks.{_description(task.method)}",
        entity=types.reference(task.entity),
        entityName=task.entity_name,
        state=task.state,
        cancelled=task.cancelled,
        cancelable=False,
        error=task.error,
        result=task.result,
        progress=task.progress,
        reason=make(vslm.TaskReasonUser, userName=accounts.principal(task.user)),
        queueTime=task.queued_at,
        startTime=task.started_at,
        completeTime=task.completed_at,
        eventChainId=task.event_chain,
    )


@method(TASK, "VslmQueryTaskResult")
def task_result(call, this):
    return this.task.result


@method(TASK, "VslmCancelTask")
def cancel(call, this):
    tasks.cancel(call.world, this.task)


def _description(name):
    name = name.removesuffix("_Task")
    return f"{name[:1].lower()}{name[1:]}"


def _store(call, url):
    found = next((one for one in call.world.of_kind("Datastore") if one.url == url), None)
    if found is None:
        raise vim.fault.NotFound(msg="The object or item referred to could not be found.")
    return found


def _all(call):
    """All disks, sorted as vCenter does (GOV, vslm/simulator)."""
    return sorted(_manager(call).disks.values(), key=lambda one: one.id)


def _row(call, disk):
    device = disks.holder(call.world, disk)[1]
    used = written(device) // disks.MB if device is not None else -1
    return make(
        vslm.vso.VStorageObjectResult,
        id=vim.vslm.ID(id=disk.id),
        name=disk.name,
        capacityInMB=disks.megabytes(call.world, disk),
        createTime=disk.created,
        datastoreUrl=disk.store.url,
        diskPath=disk.path,
        usedCapacityInMB=used,
        metadata=[vim.KeyValue(key=key, value=value) for key, value in disk.metadata.items()],
    )


def _fits(call, disk, query):
    """Return whether a disk fits a query. vCenter takes one value, and has a fault of its own for a wrong query
    (GOV, vslm/simulator, as a real vCenter).
    """
    if len(query.queryValue or ()) != 1:
        raise kept.wrong("values")
    (text,) = query.queryValue
    compare = OPERATORS.get(query.queryOperator)
    if compare is None:
        raise _undeclared()
    values = {
        "id": [disk.id],
        "name": [disk.name],
        "datastoreMoId": [disk.store.moid.partition("-")[2]],  # its number (GOV, vslm, tests)
        "metadataKey": list(disk.metadata),
        "metadataValue": list(disk.metadata.values()),
    }.get(query.queryField)
    if values is not None:
        return any(compare(value, text) for value in values)
    if query.queryOperator in OF_TEXTS:
        raise _undeclared()
    try:
        if query.queryField == "capacity":
            return compare(disks.megabytes(call.world, disk), int(text))
        if query.queryField == "createTime":
            return compare(disk.created, tasks.in_utc(datetime.datetime.fromisoformat(text)))
    except ValueError:
        pass
    raise _undeclared()


def _undeclared():
    cause = vslm.fault.VslmFault(msg="Unexpected exception")
    return vmodl.fault.SystemError(msg="Undeclared fault", reason="Undeclared fault", faultCause=cause)
