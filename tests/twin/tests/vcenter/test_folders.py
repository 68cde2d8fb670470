"""Folders of VMs over the protocol."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl


def done(world, task):
    world.timeline.settle()
    return task.info.error


@pytest.fixture
def root(client, world):
    return client.reference(world.of_kind("Datacenter")[0]).vmFolder


def test_a_folder_goes_with_its_folders_and_its_vms_keep_their_files(client, world, vms, root):
    outer = root.CreateFolder("outer")
    inner = outer.CreateFolder("inner")
    machine = client.reference(vms["vm-1"])
    home = machine.config.files.vmPathName
    assert done(world, inner.MoveIntoFolder_Task([machine])) is None
    assert done(world, outer.UnregisterAndDestroy_Task()) is None
    assert sorted(one.name for one in root.childEntity) == ["vm-2", "vm-3"]
    for gone in (outer, inner, machine):
        with pytest.raises(vmodl.fault.ManagedObjectNotFound):
            gone.name  # noqa: B018 - reading it is the request
    (pool,) = [client.reference(one) for one in world.of_kind("ResourcePool")]
    assert done(world, root.RegisterVM_Task(home, None, False, pool, None)) is None
    assert sorted(one.name for one in root.childEntity) == ["vm-1", "vm-2", "vm-3"]


def test_a_folder_with_a_running_vm_stays_as_it_is(client, world, vms, root):
    folder = root.CreateFolder("folder")
    machines = [client.reference(vms[name]) for name in ("vm-1", "vm-2")]
    assert done(world, folder.MoveIntoFolder_Task(machines)) is None
    assert done(world, machines[1].PowerOnVM_Task()) is None
    assert isinstance(done(world, folder.UnregisterAndDestroy_Task()), vim.fault.InvalidState)
    assert sorted(one.name for one in folder.childEntity) == ["vm-1", "vm-2"]


def test_folders_of_other_objects_and_the_root_of_vms_stay(client, world, root):
    center = client.reference(world.of_kind("Datacenter")[0])
    with pytest.raises(vmodl.fault.NotSupported):
        center.hostFolder.CreateFolder("hosts").UnregisterAndDestroy_Task()
    assert isinstance(done(world, root.UnregisterAndDestroy_Task()), vmodl.fault.NotSupported)
    assert len(root.childEntity) == 3


def test_a_folder_moves_only_into_a_folder_of_the_same_objects(client, world, vms, root):
    center = client.reference(world.of_kind("Datacenter")[0])
    folder, hosts = root.CreateFolder("machines"), center.hostFolder.CreateFolder("hosts")
    for target, moved in ((center.hostFolder, folder), (center.datastoreFolder, folder), (root, hosts)):
        assert isinstance(done(world, target.MoveIntoFolder_Task([moved])), vmodl.fault.NotSupported)
    assert (folder.parent, hosts.parent) == (root, center.hostFolder)


def test_a_file_that_is_missing_or_in_the_way_is_named_with_its_datastore(client, world, root):
    center, manager = client.reference(world.of_kind("Datacenter")[0]), client.content.fileManager
    with pytest.raises(vim.fault.FileNotFound) as caught:
        manager.MakeDirectory("[disk] a/b/c", center, False)
    assert caught.value.file == "[disk] a/b"
    for name in ("a", "b"):
        manager.MakeDirectory(f"[disk] {name}", center, False)
    fault = done(world, manager.MoveDatastoreFile_Task("[disk] a", center, "[disk] b", center))
    assert (type(fault), fault.file) == (vim.fault.FileAlreadyExists, "[disk] b")


def test_a_vm_of_a_host_that_left_is_off(client, world, vms, root, result):
    vm = vms["vm-1"]
    machine, host = client.reference(vm), client.reference(vm.host)
    home = machine.config.files.vmPathName
    result(machine.PowerOnVM_Task())
    result(host.DisconnectHost_Task())
    result(host.Destroy_Task())
    (pool,) = [client.reference(one) for one in world.of_kind("ResourcePool")]
    assert result(root.RegisterVM_Task(home, None, False, pool, None)).runtime.powerState == "poweredOff"


def test_a_port_group_is_found_by_its_key_on_its_switch(client, world):
    networks, manager = client.reference(world.of_kind("Datacenter")[0]).networkFolder, client.content.dvSwitchManager
    config = vim.dvs.VmwareDistributedVirtualSwitch.ConfigSpec(name="s")
    spec = vim.DistributedVirtualSwitch.CreateSpec(configSpec=config)
    assert done(world, networks.CreateDVS_Task(spec)) is None
    (switch,) = [one for one in networks.childEntity if isinstance(one, vim.DistributedVirtualSwitch)]
    (group,) = switch.portgroup
    assert manager.DVSManagerLookupDvPortGroup(switch.uuid, group.key) == group
    for uuid, key in ((switch.uuid, "dvportgroup-9"), ("none", group.key)):
        with pytest.raises(vim.fault.NotFound):
            manager.DVSManagerLookupDvPortGroup(uuid, key)
