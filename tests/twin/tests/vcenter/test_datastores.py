"""NFS volumes, maintenance mode of datastores and datastore clusters over the protocol."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl


@pytest.fixture
def hosts(client, world):
    return [client.reference(one) for one in world.of_kind("HostSystem")]


def mount(host, name="nfs", path="/export/nfs", server="nas.lab.example", **more):
    values = {"accessMode": "readWrite", "type": "NFS", **more}
    spec = vim.host.NasVolume.Specification(localPath=name, remotePath=path, remoteHost=server, **values)
    return host.configManager.datastoreSystem.CreateNasDatastore(spec)


def test_hosts_with_one_nfs_volume_share_the_datastore(world, hosts):
    store = mount(hosts[0])
    assert mount(hosts[1], accessMode="readOnly") == store
    assert (store.summary.type, store.info.nas.remoteHost, store.info.nas.remotePath) == (
        "NFS",
        "nas.lab.example",
        "/export/nfs",
    )
    assert [one.mountInfo.accessMode for one in store.host] == ["readWrite", "readOnly"]
    names = [one.volume.name for one in hosts[0].configManager.storageSystem.fileSystemVolumeInfo.mountInfo]
    assert names == ["disk", "nfs"]
    for host in hosts:
        host.configManager.datastoreSystem.RemoveDatastore(store)
    assert [one.name for one in world.of_kind("Datastore")] == ["disk"]


def test_a_volume_that_cannot_be_mounted_is_rejected(world, hosts):
    mount(hosts[0])
    for values, fault in (
        ({"name": "other"}, vim.fault.AlreadyExists),
        ({"path": "/export/other"}, vim.fault.DuplicateName),
        ({"name": "disk", "path": "/export/disk"}, vim.fault.DuplicateName),
        ({"name": "", "path": "/export/x"}, vim.fault.InvalidName),
        ({"name": "x", "path": ""}, vmodl.fault.InvalidArgument),
        ({"name": "x", "path": "/x", "accessMode": "writeOnly"}, vmodl.fault.InvalidArgument),
        ({"name": "x", "path": "/x", "type": "CIFS"}, vmodl.fault.InvalidArgument),
    ):
        with pytest.raises(fault):
            mount(hosts[0], **values)
    assert len(world.of_kind("Datastore")) == 2


def test_a_datastore_with_vms_or_of_another_host_is_not_unmounted(client, world, hosts):
    store = mount(hosts[0])
    with pytest.raises(vim.fault.NotFound):
        hosts[1].configManager.datastoreSystem.RemoveDatastore(store)
    disk = client.reference(world.of_kind("Datastore")[0])
    with pytest.raises(vim.fault.ResourceInUse):
        hosts[0].configManager.datastoreSystem.RemoveDatastore(disk)


def test_a_vmfs_datastore_cannot_grow(client, world, hosts):
    system, store = hosts[0].configManager.datastoreSystem, mount(hosts[1])
    assert system.QueryVmfsDatastoreExpandOptions(client.reference(world.of_kind("Datastore")[0])) == []
    with pytest.raises(vim.fault.NotFound):
        system.QueryVmfsDatastoreExpandOptions(store)
    mount(hosts[0])
    with pytest.raises(vmodl.fault.InvalidArgument):
        system.QueryVmfsDatastoreExpandOptions(store)


def test_a_datastore_in_maintenance_mode_gets_no_disks(client, world, hosts, vms, result):
    store = mount(hosts[0])
    mount(hosts[1])
    task = store.DatastoreEnterMaintenanceMode().task
    result(vim.Task(task._moId, client.stub))
    assert store.summary.maintenanceMode == "inMaintenance"
    with pytest.raises(vim.fault.InvalidState):
        store.DatastoreEnterMaintenanceMode()
    disk = vim.vm.device.VirtualDisk(
        key=-1,
        controllerKey=-2,
        capacityInKB=1024,
        backing=vim.vm.device.VirtualDisk.FlatVer2BackingInfo(fileName="[nfs]", diskMode="persistent"),
    )
    scsi = vim.vm.device.ParaVirtualSCSIController(key=-2, busNumber=1, sharedBus="noSharing")
    edits = [
        vim.vm.device.VirtualDeviceSpec(operation="add", device=scsi),
        vim.vm.device.VirtualDeviceSpec(operation="add", fileOperation="create", device=disk),
    ]
    vm = client.reference(vms["vm-1"])
    with pytest.raises(vim.fault.InvalidDatastoreState):
        result(vm.ReconfigVM_Task(vim.vm.ConfigSpec(deviceChange=edits)))
    center, pool = client.reference(world.of_kind("Datacenter")[0]), client.reference(world.of_kind("ResourcePool")[0])
    config = vim.vm.ConfigSpec(name="new", files=vim.vm.FileInfo(vmPathName="[nfs]"))
    backing = vim.vslm.CreateSpec.DiskFileBackingSpec(datastore=store, provisioningType="thin")
    wanted = vim.vslm.CreateSpec(name="disk", capacityInMB=1, backingSpec=backing)
    plain = vim.VirtualDiskManager.FileBackedVirtualDiskSpec(diskType="thin", adapterType="lsiLogic", capacityKb=1024)
    for begin in (
        lambda: center.vmFolder.CreateVM_Task(config, pool),
        lambda: client.content.vStorageObjectManager.CreateDisk_Task(wanted),
        lambda: client.content.virtualDiskManager.CreateVirtualDisk_Task("[nfs] new.vmdk", center, plain),
    ):
        with pytest.raises(vim.fault.InvalidDatastoreState):
            result(begin())
    result(store.DatastoreExitMaintenanceMode_Task())
    result(vm.ReconfigVM_Task(vim.vm.ConfigSpec(deviceChange=edits)))
    with pytest.raises(vim.fault.InvalidState):
        result(store.DatastoreExitMaintenanceMode_Task())
    with pytest.raises(vmodl.fault.NotSupported):
        store.DatastoreEnterMaintenanceMode()


def test_a_datastore_cluster_has_settings_and_datastores(client, world, hosts, result):
    folder = client.reference(world.of_kind("Datacenter")[0].datastore_folder)
    resources, store = client.content.storageResourceManager, mount(hosts[0])
    pod = folder.CreateStoragePod("pod")
    config = pod.podStorageDrsEntry.storageDrsConfig.podConfig
    assert (config.enabled, config.defaultVmBehavior, config.loadBalanceInterval) == (False, "manual", 480)

    def configure(modify=True, **values):
        spec = vim.storageDrs.ConfigSpec(podConfigSpec=vim.storageDrs.PodConfigSpec(**values))
        result(resources.ConfigureStorageDrsForPod_Task(pod, spec, modify))
        return pod.podStorageDrsEntry.storageDrsConfig.podConfig

    assert configure(enabled=True, loadBalanceInterval=120).enabled is True
    assert configure(defaultVmBehavior="automated").loadBalanceInterval == 120
    assert configure(modify=False).loadBalanceInterval == 480
    space = vim.storageDrs.SpaceLoadBalanceConfig
    changed = configure(spaceLoadBalanceConfig=space(freeSpaceThresholdGB=20)).spaceLoadBalanceConfig
    assert (changed.spaceThresholdMode, changed.spaceUtilizationThreshold) == ("utilization", 80)
    assert (changed.freeSpaceThresholdGB, changed.minSpaceUtilizationDifference) == (20, 5)
    overrides = vim.storageDrs.AutomationConfig(vmEvacuationAutomationMode="manual")
    assert configure(automationOverrides=overrides).automationOverrides.vmEvacuationAutomationMode == "manual"
    assert configure().ioLoadBalanceConfig.ioLatencyThreshold == 15
    option = vim.storageDrs.OptionSpec(operation="add", option=vim.option.OptionValue(key="IgnoreAffinity", value="1"))
    assert [one.key for one in configure(option=[option]).option] == ["IgnoreAffinity"]
    gone = vim.storageDrs.OptionSpec(operation="remove", removeKey="IgnoreAffinity")
    assert configure(option=[gone]).option == []
    for wrong in (
        {"defaultVmBehavior": "magic"},
        {"loadBalanceInterval": 5},
        {"spaceLoadBalanceConfig": space(spaceUtilizationThreshold=49)},
        {"option": [option, option]},
    ):
        with pytest.raises(vmodl.fault.InvalidArgument):
            configure(**wrong)
    result(pod.MoveIntoFolder_Task([store]))
    assert (list(pod.childEntity), pod.summary.capacity) == ([store], store.summary.capacity)
    with pytest.raises(vim.fault.DuplicateName):
        folder.CreateStoragePod("pod")
    result(pod.Destroy_Task())
    assert store.parent == folder
    with pytest.raises(vmodl.fault.NotSupported):
        client.reference(world.of_kind("Datacenter")[0].vm_folder).CreateStoragePod("pod")


def test_the_folder_of_a_first_class_disk_is_on_its_datastore(client, world, result):
    store = client.reference(world.of_kind("Datastore")[0])
    backing = vim.vslm.CreateSpec.DiskFileBackingSpec(datastore=store, provisioningType="thin", path="a/../../b")
    wanted = vim.vslm.CreateSpec(name="disk", capacityInMB=1, backingSpec=backing)
    with pytest.raises(vmodl.fault.InvalidArgument):
        result(client.content.vStorageObjectManager.CreateDisk_Task(wanted))


def test_a_host_without_a_datastore_takes_no_ovf(client, world, hosts):
    world.of_kind("HostSystem")[0].datastores.clear()
    params = vim.OvfManager.ValidateHostParams(locale="", deploymentOption="")
    with pytest.raises(vim.fault.InvalidState):
        client.content.ovfManager.ValidateHost("", hosts[0], params)
