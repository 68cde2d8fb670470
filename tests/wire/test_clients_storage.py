"""Inventory lists of the REST API, ports of switches and disks of hosts: each object under one name everywhere."""

from __future__ import annotations

import contextlib

import pytest
from pyVmomi import vim, vmodl

from .any_client import ended, lab

PORTS = vim.dvs.PortCriteria


@pytest.fixture(scope="module")
def client():
    with lab() as started:
        yield started


@pytest.mark.parametrize(
    "query, names",
    [
        ("vm", ["train-01", "train-02"]),
        ("vm?names=train-01", ["train-01"]),
        ("vm?names=train-01&names=train-02&power_states=POWERED_OFF", ["train-01", "train-02"]),
        ("vm?power_states=POWERED_ON", []),
        ("host?standalone=false", ["esx-01.lab.example", "esx-02.lab.example"]),
        ("cluster?names=gpu", ["gpu"]),
        ("datacenter", ["lab"]),
        ("datastore?types=VMFS", ["datastore-01"]),
        ("network?types=STANDARD_PORTGROUP", ["VM Network"]),
        ("folder?type=HOST", ["host"]),
        ("resource-pool", ["Resources"]),
    ],
)
def test_lists_are_filtered(client, query, names):
    status, found = client.rest("GET", f"/api/vcenter/{query}")
    assert (status, [one["name"] for one in found]) == (200, names)


def test_a_summary_has_its_fields(client):
    (vm,) = client.rest("GET", "/api/vcenter/vm?names=train-01")[1]
    known = {"vm": client.vm()._moId, "name": "train-01", "power_state": "POWERED_OFF"}
    assert vm == {**known, "cpu_count": 16, "memory_size_MiB": 65536}


def test_a_datastore_is_read_by_its_identifier(client):
    (row,) = client.rest("GET", "/api/vcenter/datastore?names=datastore-01")[1]
    same = {name: row[name] for name in ("name", "type", "free_space")}
    more = {"accessible": True, "multiple_host_access": True, "thin_provisioning_supported": True}
    assert client.rest("GET", f"/api/vcenter/datastore/{row['datastore']}") == (200, {**same, **more})
    for gone in ("datastore-9", client.vm()._moId):
        status, answer = client.rest("GET", f"/api/vcenter/datastore/{gone}")
        assert (status, answer["error_type"]) == (404, "NOT_FOUND")


def test_the_older_form_of_a_filter_is_the_same(client):
    status, found = client.rest("GET", "/rest/vcenter/vm?filter.names.1=train-01&filter.names.2=train-02")
    assert (status, [one["name"] for one in found["value"]]) == (200, ["train-01", "train-02"])


@pytest.mark.parametrize("query", ["vm?colour=red", "vm?power_states=ON", "host?standalone=maybe", "datastore?types=X"])
def test_an_unknown_filter_or_value_is_refused(client, query):
    status, value = client.rest("GET", f"/api/vcenter/{query}")
    assert (status, value["error_type"]) == (400, "INVALID_ARGUMENT")


def test_pools_are_those_of_a_host(client):
    found = client.rest("GET", f"/api/vcenter/resource-pool?hosts={client.host()._moId}")[1]
    assert [one["name"] for one in found] == ["Resources"]


def test_a_cluster_that_is_gone_leaves_no_pool(client):
    folder = client.center.hostFolder
    wrong = vim.cluster.ConfigSpecEx(drsConfig=vim.cluster.DrsConfigInfo(vmotionRate=9))
    with pytest.raises(vmodl.fault.InvalidArgument):
        folder.CreateClusterEx("short", wrong)
    made = folder.CreateClusterEx("short", vim.cluster.ConfigSpecEx())
    allocation = vim.ResourceAllocationInfo()
    made.resourcePool.CreateResourcePool(
        "inner", vim.ResourceConfigSpec(cpuAllocation=allocation, memoryAllocation=allocation)
    )
    assert ended(made.Destroy_Task()) is None
    found = client.rest("GET", "/api/vcenter/resource-pool")[1]
    assert [one["name"] for one in found] == ["Resources"]


def test_an_adapter_has_one_of_the_ports_of_its_group(client):
    group = client.find(vim.dvs.DistributedVirtualPortgroup, "pg-train")
    keys = [one.config.hardware.device for one in (client.vm(), client.vm("train-02"))]
    used = [device.backing.port.portKey for devices in keys for device in devices if hasattr(device, "macAddress")]
    assert len(set(used)) == 2
    assert set(used) <= set(group.portKeys)
    switch = group.config.distributedVirtualSwitch
    criteria = {"portgroupKey": [group.key], "inside": True}
    assert {one.key for one in switch.FetchDVPorts(PORTS(connected=True, **criteria))} == set(used)
    assert {one.key for one in switch.FetchDVPorts(PORTS(connected=False, **criteria))} == set(group.portKeys) - set(
        used
    )


@pytest.mark.parametrize("elastic", [True, False])
def test_a_port_group_grows_if_it_is_elastic(client, elastic):
    switch = client.find(vim.DistributedVirtualSwitch, "dvs-train")
    config = vim.dvs.DistributedVirtualPortgroup.ConfigSpec
    group = ended(
        switch.CreateDVPortgroup_Task(config(name="one", type="earlyBinding", numPorts=1, autoExpand=elastic))
    )
    made = [ended(client.vm().ReconfigVM_Task(vim.vm.ConfigSpec(deviceChange=[nic(switch, group)]))) for _one in "ab"]
    assert [type(fault) for fault in made] == [type(None), type(None) if elastic else vim.fault.LimitExceeded]
    assert group.config.numPorts == (9 if elastic else 1)
    added = [one for one in client.vm().config.hardware.device if hasattr(one, "macAddress")][1:]
    change = [vim.vm.device.VirtualDeviceSpec(operation="remove", device=one) for one in added]
    assert ended(client.vm().ReconfigVM_Task(vim.vm.ConfigSpec(deviceChange=change))) is None
    assert ended(group.Destroy_Task()) is None


def nic(switch, group):
    port = vim.dvs.PortConnection(switchUuid=switch.uuid, portgroupKey=group.key)
    backing = vim.vm.device.VirtualEthernetCard.DistributedVirtualPortBackingInfo(port=port)
    return vim.vm.device.VirtualDeviceSpec(
        operation="add", device=vim.vm.device.VirtualVmxnet3(key=-1, backing=backing)
    )


def test_a_disk_has_one_name(client):
    host, store = client.host(), client.find(vim.Datastore, "datastore-01")
    (lun,) = host.config.storageDevice.scsiLun
    (mount,) = host.config.fileSystemVolume.mountInfo
    assert lun.canonicalName == store.info.vmfs.extent[0].diskName == mount.volume.extent[0].diskName
    assert mount.volume.uuid == store.info.vmfs.uuid
    assert lun.capacity.block * lun.capacity.blockSize == store.summary.capacity


def test_storage_is_scanned(client):
    storage = client.host().configManager.storageSystem
    storage.RescanAllHba()
    storage.RescanVmfs()
    storage.RefreshStorageSystem()
    storage.RescanHba("vmhba0")
    with pytest.raises(vim.fault.NotFound):
        storage.RescanHba("vmhba9")
    assert client.host().configManager.datastoreSystem.QueryAvailableDisksForVmfs() == []


def test_a_file_that_is_missing_is_named_with_its_datastore(client):
    manager, name = client.content.fileManager, "[datastore-01] none/t.txt"
    delete = manager.DeleteDatastoreFile_Task(name=name, datacenter=client.center)
    move = manager.MoveDatastoreFile_Task(
        sourceName=name, sourceDatacenter=client.center, destinationName="[datastore-01] t.txt"
    )
    assert [ended(task).file for task in (delete, move)] == [name, name]


def test_files_and_folders_are_copied_and_moved(client):
    manager, place = client.content.fileManager, {"sourceDatacenter": client.center}

    def of(task):
        return type(ended(task))

    def text(path):
        address = f"/folder/{path}?dcPath=lab&dsName=datastore-01"
        status, _headers, data = client.ask("GET", address, headers={"Cookie": client.cookie})
        return data.decode() if status == 200 else status

    address = "/folder/one/t.txt?dcPath=lab&dsName=datastore-01"
    client.ask("PUT", address, b"text", {"Cookie": client.cookie})
    one, two = "[datastore-01] one", "[datastore-01] two"
    assert of(manager.CopyDatastoreFile_Task(sourceName=one, destinationName=two, **place)) is type(None)
    assert (text("one/t.txt"), text("two/t.txt")) == ("text", "text")
    exists = vim.fault.FileAlreadyExists
    assert of(manager.MoveDatastoreFile_Task(sourceName=one, destinationName=two, **place)) is exists
    inside = f"{one}/in"
    assert of(manager.MoveDatastoreFile_Task(sourceName=one, destinationName=inside, force=True, **place)) is exists
    assert of(manager.MoveDatastoreFile_Task(sourceName=one, destinationName=one, force=True, **place)) is exists
    assert of(manager.MoveDatastoreFile_Task(sourceName=two, destinationName=f"{one}/in", **place)) is type(None)
    assert (text("two/t.txt"), text("one/in/t.txt")) == (404, "text")
    client.ask("PUT", "/folder/one/old.txt?dcPath=lab&dsName=datastore-01", b"x" * 9, {"Cookie": client.cookie})
    with a_full_datastore(client):
        full = ended(manager.CopyDatastoreFile_Task(sourceName=one, destinationName=two, force=True, **place))
        assert (type(full), full.datastore) == (vim.fault.NoDiskSpace, "datastore-01")
        # A move within the datastore needs no space.
        assert of(manager.MoveDatastoreFile_Task(sourceName=one, destinationName=two, **place)) is type(None)
    assert of(manager.DeleteDatastoreFile_Task(name=two, datacenter=client.center)) is type(None)


@contextlib.contextmanager
def a_full_datastore(client):
    """Eight bytes are free on it."""
    (store,) = [one for one in client.twin.world.of_kind("Datastore") if one.name == "datastore-01"]
    before = store.base_free
    store.base_free -= store.free - 8
    try:
        yield
    finally:
        store.base_free = before


def test_a_disk_is_made_grows_and_is_deleted_without_a_vm(client):
    manager, kind = client.content.virtualDiskManager, vim.VirtualDiskManager.FileBackedVirtualDiskSpec
    place = {"name": "[datastore-01] disks/one.vmdk", "datacenter": client.center}
    spec = kind(diskType="thin", adapterType="lsiLogic", capacityKb=1024**2)
    assert isinstance(ended(manager.CreateVirtualDisk_Task(spec=spec, **place)), vim.fault.FileNotFound)
    client.content.fileManager.MakeDirectory(name="[datastore-01] disks", datacenter=client.center)
    assert ended(manager.CreateVirtualDisk_Task(spec=spec, **place)) == place["name"]
    assert isinstance(ended(manager.CreateVirtualDisk_Task(spec=spec, **place)), vim.fault.FileAlreadyExists)
    assert len(manager.QueryVirtualDiskUuid(**place)) == 47
    assert ended(manager.ExtendVirtualDisk_Task(newCapacityKb=2 * 1024**2, **place)) is None
    backing = vim.vm.device.VirtualDisk.FlatVer2BackingInfo(fileName=place["name"], diskMode="persistent")
    disk = vim.vm.device.VirtualDisk(key=-1, controllerKey=1000, unitNumber=5, backing=backing)
    change = vim.vm.device.VirtualDeviceSpec(operation="add", device=disk)
    assert ended(client.vm().ReconfigVM_Task(vim.vm.ConfigSpec(deviceChange=[change]))) is None
    (made,) = [one for one in client.vm().config.hardware.device if getattr(one, "unitNumber", None) == 5]
    assert made.capacityInKB == 2 * 1024**2
    assert isinstance(ended(manager.DeleteVirtualDisk_Task(**place)), vim.fault.FileLocked)
    change = vim.vm.device.VirtualDeviceSpec(operation="remove", device=made)
    assert ended(client.vm().ReconfigVM_Task(vim.vm.ConfigSpec(deviceChange=[change]))) is None
    assert ended(manager.DeleteVirtualDisk_Task(**place)) is None
    assert isinstance(ended(manager.DeleteVirtualDisk_Task(**place)), vim.fault.FileNotFound)
    with pytest.raises(vmodl.fault.InvalidArgument):
        manager.CreateVirtualDisk_Task(spec=kind(diskType="thin", adapterType="lsiLogic", capacityKb=0), **place)


def test_files_of_vms_are_not_moved(client):
    task = client.content.fileManager.MoveDatastoreFile_Task(
        sourceName="[datastore-01] train-02/train-02.vmx",
        sourceDatacenter=client.center,
        destinationName="[datastore-01] x.vmx",
    )
    assert isinstance(ended(task), vmodl.fault.NotSupported)
    address = "/folder/train-02/note.txt?dcPath=lab&dsName=datastore-01"
    client.ask("PUT", address, b"text", {"Cookie": client.cookie})
    task = client.content.fileManager.MoveDatastoreFile_Task(
        sourceName="[datastore-01] train-02", sourceDatacenter=client.center, destinationName="[datastore-01] x"
    )
    assert isinstance(ended(task), vmodl.fault.NotSupported)
