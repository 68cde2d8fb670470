"""What a vCenter asks of VMs, whoever the client is: hardware, disks and their files, snapshots, names and ids."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl

from .any_client import ended, lab

DEVICE = vim.vm.device
GB = 1024**2  # in KB
HOME = "[datastore-01] train-01/train-01.vmdk"


@pytest.fixture(scope="module")
def client():
    with lab() as started:
        yield started


@pytest.fixture
def vm(client):
    """A VM that a test may change; it is gone afterwards."""
    made = create(client, "made", deviceChange=[controller(), disk(10 * GB)])
    assert isinstance(made, vim.VirtualMachine), made.msg
    yield made
    for one in client.center.vmFolder.childEntity:
        if isinstance(one, vim.VirtualMachine):
            if one.runtime.powerState != "poweredOff":
                assert ended(one.PowerOffVM_Task()) is None
            assert ended(one.Destroy_Task()) is None


def create(client, name, **spec):
    """What comes of CreateVM: a VM or a fault."""
    pool = client.find(vim.ClusterComputeResource, "gpu").resourcePool
    files = spec.pop("files", vim.vm.FileInfo(vmPathName="[datastore-01]"))
    spec = vim.vm.ConfigSpec(name=name, numCPUs=1, memoryMB=512, files=files, **spec)
    return ended(client.center.vmFolder.CreateVM_Task(spec, pool))


def controller():
    device = DEVICE.ParaVirtualSCSIController(key=-1, busNumber=0, sharedBus="noSharing")
    return DEVICE.VirtualDeviceSpec(operation="add", device=device)


def disk(kilobytes, name="", thin=True, operation="create", at=-1, unit=None):
    backing = DEVICE.VirtualDisk.FlatVer2BackingInfo(fileName=name, diskMode="persistent", thinProvisioned=thin)
    device = DEVICE.VirtualDisk(
        key=-2,
        controllerKey=at,
        unitNumber=unit,
        capacityInKB=kilobytes,
        capacityInBytes=kilobytes * 1024,
        backing=backing,
    )
    return DEVICE.VirtualDeviceSpec(operation="add", fileOperation=operation, device=device)


def reconfigured(vm, *changes, **spec):
    return ended(vm.ReconfigVM_Task(vim.vm.ConfigSpec(deviceChange=list(changes), **spec)))


def disks(vm):
    return [one for one in vm.config.hardware.device if isinstance(one, DEVICE.VirtualDisk)]


@pytest.mark.parametrize("version", ["vmx-13", "vmx-19", "vmx-21"])
def test_a_vm_is_made_with_older_hardware(client, vm, version):
    made = create(client, "old", version=version)
    assert made.config.version == version


@pytest.mark.parametrize(
    "field, value, fault",
    [
        ("version", "vmx-99", vmodl.fault.InvalidArgument),
        ("version", "vmx-22", vim.fault.VirtualHardwareVersionNotSupported),
        ("version", "vmx-12", vmodl.fault.InvalidArgument),
        ("version", "newest", vmodl.fault.InvalidArgument),
        ("guestId", "ubuntu99Guest", vmodl.fault.InvalidArgument),
        ("guestId", "", vmodl.fault.InvalidArgument),
        ("uuid", "no-uuid", vmodl.fault.InvalidArgument),
        ("uuid", "564d8859-9d34-4b1e-9a11", vmodl.fault.InvalidArgument),
        ("instanceUuid", "zz4d8859-9d34-4b1e-9a11-5f3d3a2e1c0f", vmodl.fault.InvalidArgument),
    ],
)
def test_what_makes_no_sense_is_refused_when_a_vm_is_made(client, field, value, fault):
    refused = create(client, "wrong", **{field: value})
    assert isinstance(refused, fault), refused
    if isinstance(refused, vmodl.fault.InvalidArgument):
        assert refused.invalidProperty == f"configSpec.{field}"
    assert "wrong" not in [one.name for one in client.center.vmFolder.childEntity]


@pytest.mark.parametrize("field", ["guestId", "uuid", "instanceUuid"])
def test_what_makes_no_sense_is_refused_when_a_vm_is_changed(vm, field):
    before = getattr(vm.config, field)
    assert isinstance(reconfigured(vm, **{field: "nothing of that kind"}), vmodl.fault.InvalidArgument)
    assert getattr(vm.config, field) == before


def test_a_disk_whose_file_is_not_there_is_refused(vm):
    refused = reconfigured(vm, disk(0, "[datastore-01] made/none.vmdk", operation=None, at=1000))
    assert isinstance(refused, vim.fault.FileNotFound)
    assert refused.file == "[datastore-01] made/none.vmdk"
    assert len(disks(vm)) == 1


def test_a_disk_is_not_made_where_a_file_lies(vm):
    refused = reconfigured(vm, disk(GB, HOME, at=1000))
    assert isinstance(refused, vim.fault.FileAlreadyExists)
    assert len(disks(vm)) == 1


def test_a_disk_that_is_there_comes_with_its_size(vm):
    assert reconfigured(vm, disk(0, HOME, operation=None, at=1000)) is None
    assert [one.capacityInKB for one in disks(vm)] == [10 * GB, 100 * GB]


@pytest.mark.parametrize("parent, fault", [(HOME, None), ("[datastore-01] made/none.vmdk", vim.fault.FileNotFound)])
def test_a_disk_on_top_of_another_has_its_size(vm, parent, fault):
    change = disk(0, "[datastore-01]", at=1000)
    change.device.backing.parent = DEVICE.VirtualDisk.FlatVer2BackingInfo(fileName=parent, diskMode="persistent")
    refused = reconfigured(vm, change)
    assert refused is None if fault is None else isinstance(refused, fault)
    assert [one.capacityInKB for one in disks(vm)] == [10 * GB, *([100 * GB] if fault is None else [])]


def test_a_disk_of_no_size_is_refused(vm):
    assert isinstance(reconfigured(vm, disk(0, at=1000)), vim.fault.InvalidDeviceSpec)


@pytest.mark.parametrize("destroy", [False, True])
def test_a_disk_that_was_taken_off_stays_unless_it_is_destroyed(client, vm, destroy):
    (first,) = disks(vm)
    off = DEVICE.VirtualDeviceSpec(operation="remove", device=first, fileOperation="destroy" if destroy else None)
    free = client.find(vim.Datastore, "datastore-01").summary.freeSpace
    assert reconfigured(vm, off) is None
    gained = client.find(vim.Datastore, "datastore-01").summary.freeSpace - free
    assert gained == (10 * GB * 1024 if destroy else 0)
    again = reconfigured(vm, disk(0, first.backing.fileName, operation=None, at=1000))
    if destroy:
        assert isinstance(again, vim.fault.FileNotFound)
    else:
        assert again is None
        assert [one.capacityInKB for one in disks(vm)] == [10 * GB]


@pytest.mark.parametrize(
    "size, thin, fault",
    [
        (30 * 1024 * GB, False, vim.fault.NoDiskSpace),
        (30 * 1024 * GB, True, None),
        (63 * 1024 * GB, True, vim.fault.FileTooLarge),
        (100 * 1024 * GB, False, vim.fault.FileTooLarge),
    ],
)
def test_a_disk_fits_on_its_datastore_and_below_the_limit(client, vm, size, thin, fault):
    refused = reconfigured(vm, disk(size, thin=thin, at=1000))
    assert refused is None if fault is None else isinstance(refused, fault)
    assert len(disks(vm)) == (2 if fault is None else 1)


def test_a_disk_grows_only_as_far_as_its_datastore(vm):
    (device,) = disks(vm)
    device.backing.thinProvisioned, device.capacityInKB, device.capacityInBytes = False, 30 * 1024 * GB, None
    edit = DEVICE.VirtualDeviceSpec(operation="edit", device=device)
    assert isinstance(reconfigured(vm, edit), vim.fault.NoDiskSpace)


def test_a_vm_whose_disks_do_not_fit_is_not_made(client):
    refused = create(client, "huge", deviceChange=[controller(), disk(30 * 1024 * GB, thin=False)])
    assert isinstance(refused, vim.fault.NoDiskSpace)
    assert "huge" not in [one.name for one in client.center.vmFolder.childEntity]


@pytest.mark.parametrize(
    "memory, suppressed, expected",
    [(True, False, "poweredOn"), (True, True, "poweredOff"), (False, False, "poweredOff")],
)
def test_a_running_vm_is_brought_back_to_a_snapshot(client, vm, memory, suppressed, expected):
    assert ended(vm.PowerOnVM_Task()) is None
    snapshot = ended(vm.CreateSnapshot_Task("before", "", memory, False))
    assert vm.snapshot.rootSnapshotList[0].state == ("poweredOn" if memory else "poweredOff")
    assert reconfigured(vm, annotation="later") is None
    assert ended(snapshot.RevertToSnapshot_Task(suppressPowerOn=suppressed)) is None
    assert (vm.runtime.powerState, vm.config.annotation) == (expected, "")


def test_the_current_snapshot_is_the_one_to_go_back_to(client, vm):
    assert isinstance(ended(vm.RevertToCurrentSnapshot_Task()), vim.fault.NotFound)
    for name in ("first", "second"):
        assert reconfigured(vm, annotation=name) is None
        ended(vm.CreateSnapshot_Task(name, "", False, False))
    assert reconfigured(vm, annotation="later") is None
    assert ended(vm.RevertToCurrentSnapshot_Task()) is None
    assert vm.config.annotation == "second"


def test_a_vm_that_was_unregistered_comes_back_from_its_files(client, vm):
    path, uuid, folder = vm.config.files.vmPathName, vm.config.uuid, client.center.vmFolder
    pool = vm.resourcePool
    vm.UnregisterVM()
    with pytest.raises(vmodl.fault.ManagedObjectNotFound):
        vm.name  # noqa: B018 - reading it is the request
    other = create(client, "made")
    assert other.config.files.vmPathName == "[datastore-01] made_1/made.vmx"
    registered = ended(folder.RegisterVM_Task(path, "back", False, pool))
    assert (registered.name, registered.config.uuid) == ("back", uuid)
    assert [one.capacityInKB for one in disks(registered)] == [10 * GB]
    assert isinstance(ended(folder.RegisterVM_Task(path, "again", False, pool)), vim.fault.AlreadyExists)
    assert isinstance(ended(folder.RegisterVM_Task("[datastore-01] x/x.vmx", "x", False, pool)), vim.fault.NotFound)
    assert isinstance(ended(folder.RegisterVM_Task("[datastore-01] x/x.vmx", None, True)), vmodl.fault.InvalidArgument)


def test_the_files_of_an_unregistered_vm_can_be_deleted(client, vm):
    manager, path = client.content.fileManager, "[datastore-01] made"
    assert isinstance(ended(manager.DeleteDatastoreFile_Task(path, client.center)), vim.fault.FileLocked)
    home, pool = vm.config.files.vmPathName, vm.resourcePool
    vm.UnregisterVM()
    assert ended(manager.DeleteDatastoreFile_Task(path, client.center)) is None
    refused = ended(client.center.vmFolder.RegisterVM_Task(home, "back", False, pool))
    assert isinstance(refused, vim.fault.NotFound)


def test_ha_has_overrides_of_vms(client):
    cluster, vm = client.find(vim.ClusterComputeResource, "gpu"), client.vm()
    settings = vim.cluster.DasVmSettings(restartPriority="high")
    info = vim.cluster.DasVmConfigInfo(key=vm, dasSettings=settings)

    def change(operation, **more):
        spec = vim.cluster.DasVmConfigSpec(operation=operation, **more)
        return ended(cluster.ReconfigureComputeResource_Task(vim.cluster.ConfigSpecEx(dasVmConfigSpec=[spec]), True))

    assert isinstance(change("edit", info=info), vmodl.fault.InvalidArgument)
    assert change("add", info=info) is None
    (shown,) = cluster.configurationEx.dasVmConfig
    assert (shown.key, shown.dasSettings.restartPriority) == (vm, "high")
    assert isinstance(change("add", info=info), vmodl.fault.InvalidArgument)
    assert change("remove", removeKey=vm) is None
    assert not cluster.configurationEx.dasVmConfig


def browse(client, path, **spec):
    browser = client.find(vim.Datastore, "datastore-01").browser
    return ended(browser.SearchDatastore_Task(path, vim.host.DatastoreBrowser.SearchSpec(**spec) if spec else None))


def test_the_browser_shows_the_folders_of_vms(client):
    found = browse(client, "[datastore-01]")
    assert {one.path for one in found.file} >= {"train-01", "train-02", "ubuntu-template"}
    assert {type(one) for one in found.file} == {vim.host.DatastoreBrowser.FolderInfo}


def test_the_browser_shows_files_with_size_date_and_type(client):
    details = vim.host.DatastoreBrowser.FileInfo.Details(
        fileType=True, fileSize=True, modification=True, fileOwner=True
    )
    found = browse(client, "[datastore-01] train-01", details=details, matchPattern=["*"])
    rows = {one.path: one for one in found.file}
    assert set(rows) >= {"train-01.vmx", "train-01.nvram", "train-01.vmdk", "train-01-flat.vmdk"}
    assert all(one.modification and one.fileSize is not None and one.owner for one in rows.values())
    assert rows["train-01.vmdk"].capacityKb == 100 * GB
    assert isinstance(rows["train-01.vmx"], vim.host.DatastoreBrowser.VmConfigInfo)


def test_the_browser_finds_what_a_query_asks_for(client):
    queries = [vim.host.DatastoreBrowser.VmDiskQuery()]
    assert [one.path for one in browse(client, "[datastore-01] train-01", query=queries).file] == ["train-01.vmdk"]
    assert [one.path for one in browse(client, "[datastore-01]", query=queries).file] == []
    assert [one.path for one in browse(client, "[datastore-01]", matchPattern=["TRAIN-01"]).file] == ["train-01"]


def test_the_browser_refuses_a_folder_that_is_not_there(client):
    assert isinstance(browse(client, "[datastore-01] none"), vim.fault.FileNotFound)
    assert isinstance(browse(client, "[datastore-01] train-01/train-01.vmx"), vim.fault.FileNotFound)


def test_a_request_may_name_the_controllers_that_each_vm_has(client):
    ide = DEVICE.VirtualIDEController(key=-1, busNumber=1)
    base = [DEVICE.VirtualPS2Controller(key=-5, busNumber=0), DEVICE.VirtualPCIController(key=-6, busNumber=0), ide]
    changes = [DEVICE.VirtualDeviceSpec(operation="add", device=one) for one in base]
    made = create(client, "on-ide", deviceChange=[*changes, disk(GB)])
    devices = {one.key: one for one in made.config.hardware.device}
    assert [one.controllerKey for one in devices.values() if isinstance(one, DEVICE.VirtualDisk)] == [201]
    assert sorted(key for key in devices if key < 1000) == [100, 200, 201, 300, 400, 500, 600, 700]
    fault = ended(made.ReconfigVM_Task(vim.vm.ConfigSpec(deviceChange=changes[-1:])))
    assert isinstance(fault, vim.fault.InvalidDeviceSpec)
    assert ended(made.Destroy_Task()) is None


@pytest.mark.parametrize(
    "kind, most",
    [
        (DEVICE.ParaVirtualSCSIController, 3),
        (DEVICE.VirtualAHCIController, 4),
        (DEVICE.VirtualNVMEController, 4),
        (DEVICE.VirtualUSBController, 1),
        (DEVICE.VirtualUSBXHCIController, 1),
        (DEVICE.VirtualPS2Controller, 0),
    ],
)
def test_a_vm_has_as_many_controllers_as_vsphere_allows(client, vm, kind, most):
    more = {"sharedBus": "noSharing"} if issubclass(kind, DEVICE.VirtualSCSIController) else {}
    one = DEVICE.VirtualDeviceSpec(operation="add", device=kind(key=-1, busNumber=0, **more))
    made = [ended(vm.ReconfigVM_Task(vim.vm.ConfigSpec(deviceChange=[one]))) for _again in range(most + 1)]
    assert [type(fault) for fault in made] == [type(None)] * most + [vim.fault.InvalidDeviceSpec]


def test_a_slash_in_a_name_is_escaped(client):
    made = create(client, "a/b")
    assert made.name == "a%2fb"
    assert isinstance(create(client, "e" * 81), vim.fault.InvalidName)
    assert ended(made.ReconfigVM_Task(vim.vm.ConfigSpec(name="c/d"))) is None
    assert made.name == "c%2fd"
    assert isinstance(ended(made.ReconfigVM_Task(vim.vm.ConfigSpec(name="e" * 81))), vim.fault.InvalidName)
    assert ended(made.Destroy_Task()) is None


@pytest.mark.parametrize("address", ["zz", "00:50:56:x", "00:50:56:01:02:03:04"])
def test_a_text_that_is_no_mac_address_is_refused(client, vm, address):
    backing = DEVICE.VirtualEthernetCard.NetworkBackingInfo(deviceName="VM Network")
    nic = DEVICE.VirtualVmxnet3(key=-1, backing=backing, addressType="manual", macAddress=address)
    change = DEVICE.VirtualDeviceSpec(operation="add", device=nic)
    fault = ended(vm.ReconfigVM_Task(vim.vm.ConfigSpec(deviceChange=[change])))
    assert isinstance(fault, vim.fault.InvalidDeviceSpec)
    assert fault.property == "virtualDeviceSpec.device.macAddress"
    nic.macAddress = "00:50:56:01:02:0A"
    assert ended(vm.ReconfigVM_Task(vim.vm.ConfigSpec(deviceChange=[change]))) is None
