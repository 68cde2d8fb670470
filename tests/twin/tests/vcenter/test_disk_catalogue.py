"""The service of first-class disks (/vslm/sdk), and the methods of the API that it shares."""

from __future__ import annotations

import datetime
import re

import pytest
from pyVmomi import vim, vmodl, vslm
from pyVmomi.SoapAdapter import SoapResponseDeserializer, SoapStubAdapterBase

from vsphere_twin.vcenter import types

BACKING = vim.vslm.CreateSpec.DiskFileBackingSpec
QUERY = vslm.vso.VStorageObjectQuerySpec


class InProcess(SoapStubAdapterBase):
    """The transport of a client of the service, straight into the dispatcher; its session is in the SOAP header."""

    def __init__(self, dispatcher, key):
        super().__init__("vslm.version.v7_0_2_0")
        self.dispatcher = dispatcher
        self.requestContext = {"vcSessionCookie": key} if key else None

    def InvokeMethod(self, mo, info, args, outerStub=None):
        data = self.SerializeRequest(mo, info, args)
        reply = self.dispatcher.handle(data, soap_action=self.versionId, service=types.DISK_SERVICE)
        self.answer = reply.body
        found = SoapResponseDeserializer(self).Deserialize(reply.body, info.result)
        if reply.status == 500:
            raise found
        return found


@pytest.fixture
def service(client, dispatcher):
    """The content of the service for a session of the API."""

    def opened(key):
        stub = InProcess(dispatcher, key)
        return vslm.ServiceInstance("ServiceInstance", stub).RetrieveContent()

    opened.key = client.stub.cookie.split('"')[1]
    return opened


@pytest.fixture
def manager(service):
    return service(service.key).vStorageObjectManager


@pytest.fixture
def store(client, world):
    return client.reference(world.of_kind("Datastore")[0])


def ended(task):
    """The result of a task, or its fault."""
    task._stub.dispatcher.world.timeline.settle()
    info = task.VslmQueryInfo()
    return info.error or task.VslmQueryTaskResult()


@pytest.fixture
def disk(manager, store):
    return made(manager, store)


def made(manager, store, name="disk", size=10, **more):
    spec = vim.vslm.CreateSpec(name=name, capacityInMB=size, backingSpec=BACKING(datastore=store), **more)
    return ended(manager.VslmCreateDisk_Task(spec)).config


def ids(manager, field=None, operator=None, *values, most=100):
    query = [QUERY(queryField=field, queryOperator=operator, queryValue=list(values))] if field else []
    return [one.id for one in manager.VslmListVStorageObjectForSpec(query, most).id]


def test_a_disk_is_used_by_its_identifier_alone(manager, store, client, world, vms):
    info = made(manager, store, keepAfterDeleteVm=True)
    assert (info.backing.datastore._moId, info.keepAfterDeleteVm) == (store._moId, True)
    assert ended(manager.VslmExtendDisk_Task(info.id, 20)) is None
    manager.VslmRenameVStorageObject(info.id, "other")
    assert ended(manager.VslmInflateDisk_Task(info.id)) is None
    shown = manager.VslmRetrieveVStorageObject(info.id).config
    assert (shown.name, shown.capacityInMB, shown.backing.provisioningType) == ("other", 20, "eagerZeroedThick")
    vm = client.reference(vms["vm-1"])
    assert ended(manager.VslmAttachDisk_Task(info.id, vm)) is None
    assert isinstance(ended(manager.VslmDeleteVStorageObject_Task(info.id)), vim.fault.InvalidState)
    assert isinstance(ended(manager.VslmInflateDisk_Task(info.id)), vim.fault.InvalidState)
    client.content.vStorageObjectManager.ClearVStorageObjectControlFlags(info.id, store, ["keepAfterDeleteVm"])
    vm.Destroy_Task()
    world.timeline.settle()
    assert ids(manager) == [info.id.id]  # until the datastore is reconciled
    (row,) = manager.VslmRetrieveVStorageObjects([info.id])
    assert row.capacityInMB == -1
    with pytest.raises(vim.fault.NotFound):
        manager.VslmRetrieveVStorageObject(info.id)
    assert ended(manager.VslmReconcileDatastoreInventory_Task(store)) is None
    assert ids(manager) == []


def test_an_answer_names_types_with_their_service(manager, disk):
    manager.VslmRetrieveVStorageObject(disk.id)
    assert re.search(rb'<backing xsi:type="vim25:BaseConfigInfoDiskFileBackingInfo">', manager._stub.answer)
    task = manager.VslmExtendDisk_Task(disk.id, 20)
    assert b'type="VslmTask" xsi:type="vim25:ManagedObjectReference"' in manager._stub.answer
    task.VslmQueryInfo()
    assert b'<reason xsi:type="vslm:VslmTaskReasonUser">' in manager._stub.answer


def test_an_unknown_disk_is_not_found(manager):
    none = vim.vslm.ID(id="none")
    for call in (
        manager.VslmRetrieveVStorageObject,
        manager.VslmRetrieveSnapshotInfo,
        manager.VslmRetrieveVStorageObjectMetadata,
    ):
        with pytest.raises(vmodl.fault.InvalidArgument) as caught:
            call(none)
        assert caught.value.invalidProperty == "VolumeId"
    with pytest.raises(vim.fault.NotFound):
        manager.VslmDeleteVStorageObject_Task(none)
    (row,) = manager.VslmRetrieveVStorageObjects([none])
    assert (row.capacityInMB, type(row.error)) == (-1, vim.fault.NotFound)
    with pytest.raises(vmodl.fault.ManagedObjectNotFound):
        vslm.Task("task-999", manager._stub).VslmQueryInfo()


def test_the_service_knows_a_session_by_its_header_alone(service, store):
    assert service(None).aboutInfo.apiVersion == "1.0.0"
    for key in (None, "other"):
        with pytest.raises(vim.fault.NotAuthenticated):
            made(service(key).vStorageObjectManager, store)


def test_disks_are_listed_by_queries_and_in_pages(manager, store):
    small, large = made(manager, store, "small"), made(manager, store, "large", 40)
    assert (
        ended(manager.VslmUpdateVStorageObjectMetadata_Task(large.id, [vim.KeyValue(key="k", value="v")], None)) is None
    )
    every = sorted([small.id.id, large.id.id])
    assert ids(manager) == every
    page = manager.VslmListVStorageObjectForSpec([], 1)
    assert (page.allRecordsReturned, page.queryResults[0].diskPath[:6]) == (False, "[disk]")
    assert ids(manager, "id", "greaterThan", page.id[0].id) == every[1:]
    assert ids(manager, "capacity", "greaterThanOrEqual", "40") == ids(manager, "name", "startsWith", "la")
    assert ids(manager, "metadataKey", "equals", "k") == ids(manager, "metadataValue", "contains", "v") == [large.id.id]
    assert ids(manager, "datastoreMoId", "equals", store._moId.partition("-")[2]) == every
    later = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)).isoformat()
    assert (ids(manager, "createTime", "lessThan", later), ids(manager, "createTime", "greaterThan", later)) == (
        every,
        [],
    )
    for wrong in (
        ("capacity", "contains", "1"),
        ("capacity", "equals", "ten"),
        ("size", "equals", "1"),
        ("id", "is", "1"),
    ):
        with pytest.raises(vmodl.fault.SystemError) as caught:
            ids(manager, *wrong)
        assert isinstance(caught.value.faultCause, vslm.fault.VslmFault)
    for values in ((), ("one", "two")):
        with pytest.raises(vmodl.fault.InvalidArgument):
            ids(manager, "id", "equals", *values)


def test_metadata_of_a_disk_and_of_its_snapshot(manager, disk):
    pairs = [vim.KeyValue(key=key, value="1") for key in ("app.a", "app.b", "c")]
    assert ended(manager.VslmUpdateVStorageObjectMetadata_Task(disk.id, pairs, None)) is None
    snapshot = ended(manager.VslmCreateSnapshot_Task(disk.id, "before"))
    assert (
        ended(manager.VslmUpdateVStorageObjectMetadata_Task(disk.id, [vim.KeyValue(key="c", value="2")], ["app.a"]))
        is None
    )
    assert [one.key for one in manager.VslmRetrieveVStorageObjectMetadata(disk.id, None, "app.")] == ["app.b"]
    assert len(manager.VslmRetrieveVStorageObjectMetadata(disk.id, snapshot, None)) == 3
    assert manager.VslmRetrieveVStorageObjectMetadataValue(disk.id, None, "c") == "2"
    with pytest.raises(vim.fault.KeyNotFound):
        manager.VslmRetrieveVStorageObjectMetadataValue(disk.id, None, "d")


def test_a_disk_is_cloned_and_created_from_a_snapshot(manager, store, disk):
    snapshot = ended(manager.VslmCreateSnapshot_Task(disk.id, "before"))
    spec = vim.vslm.CloneSpec(name="copy", backingSpec=BACKING(datastore=store))
    clone = ended(manager.VslmCloneVStorageObject_Task(disk.id, spec)).config
    past = ended(manager.VslmCreateDiskFromSnapshot_Task(disk.id, snapshot, "past")).config
    assert [(one.name, one.capacityInMB) for one in (clone, past)] == [("copy", 10), ("past", 10)]
    assert len({disk.id.id, clone.id.id, past.id.id}) == 3
    assert isinstance(ended(manager.VslmInflateDisk_Task(disk.id)), vim.fault.InvalidState)
    unknown = manager.VslmCreateDiskFromSnapshot_Task(disk.id, vim.vslm.ID(id="none"), "past")
    assert isinstance(ended(unknown), vim.fault.NotFound)


def test_tags_of_a_disk_end_with_it(manager, world, disk):
    tag = world.tagging.add_tag(world, "west", world.tagging.add_category(world, "region"))
    with pytest.raises(vim.fault.NotFound):
        manager.VslmAttachTagToVStorageObject(disk.id, "region", "east")
    manager.VslmAttachTagToVStorageObject(disk.id, "region", "west")
    (entry,) = manager.VslmListTagsAttachedToVStorageObject(disk.id)
    assert (entry.parentCategoryName, entry.tagName) == ("region", "west")
    assert [one.id for one in manager.VslmListVStorageObjectsAttachedToTag("region", "west")] == [disk.id.id]
    manager.VslmDetachTagFromVStorageObject(disk.id, "region", "west")
    manager.VslmAttachTagToVStorageObject(disk.id, "region", "west")
    assert ended(manager.VslmDeleteVStorageObject_Task(disk.id)) is None
    assert tag.objects == []


def test_a_file_is_registered_by_its_address(manager, world, store):
    clone = made(manager, store, "other")
    with pytest.raises(vim.fault.AlreadyExists):
        manager.VslmRegisterDisk(address(clone.backing.filePath), "again")
    world.get("VStorageObjectManager").disks.pop(clone.id.id)
    assert manager.VslmRegisterDisk(address(clone.backing.filePath), "again").config.name == "again"
    for wrong in (address("[none] a.vmdk"), "https://vc/a?dsName=disk", clone.backing.filePath):
        with pytest.raises(vmodl.fault.InvalidArgument):
            manager.VslmRegisterDisk(wrong, "again")
    with pytest.raises(vim.fault.FileNotFound):
        manager.VslmRegisterDisk(address("[disk] a.vmdk"), "again")


def address(path):
    store, _bracket, name = path.partition("] ")
    return f"https://vc/folder/{name}?dcPath=here&dsName={store[1:]}"


def test_a_vm_has_the_policy_of_a_disk_that_it_gets(manager, client, store, vms):
    profile = vim.vm.DefinedProfileSpec(profileId="aa6d5a82-1c88-45da-85d3-3d74b91a5bad")
    info = made(manager, store, profile=[profile])
    assert ended(manager.VslmAttachDisk_Task(info.id, client.reference(vms["vm-1"]))) is None
    assert [one.policy for one in vms["vm-1"].policies.values()] == [profile.profileId]
    wrong = [vim.vm.DefinedProfileSpec(profileId="none")]
    assert isinstance(ended(manager.VslmUpdateVstorageObjectPolicy_Task(info.id, wrong)), vmodl.fault.InvalidArgument)


def test_a_disk_without_a_valid_flag_or_name_stays_as_it_is(manager, disk):
    with pytest.raises(vmodl.fault.InvalidArgument):
        manager.VslmSetVStorageObjectControlFlags(disk.id, ["other"])
    with pytest.raises(vim.fault.InvalidName):
        manager.VslmRenameVStorageObject(disk.id, "")
    manager.VslmSetVStorageObjectControlFlags(disk.id, ["enableChangedBlockTracking"])
    assert manager.VslmRetrieveVStorageObject(disk.id).config.changedBlockTrackingEnabled is True


def test_a_renamed_datastore_keeps_its_disks(manager, store, disk):
    store.RenameDatastore("other")
    assert manager.VslmRetrieveVStorageObject(disk.id).config.backing.filePath.startswith("[other] ")
    (info,) = [one.datastore for one in lifecycle(manager).VslmQueryDatastoreInfo(store.summary.url)]
    assert info._moId == store._moId
    with pytest.raises(vim.fault.NotFound):
        lifecycle(manager).VslmSyncDatastore("ds:///none/", True)
    lifecycle(manager).VslmSyncDatastore(store.summary.url, True, disk.id)


def lifecycle(manager):
    return vslm.StorageLifecycleManager("StorageLifecycleManager", manager._stub)
