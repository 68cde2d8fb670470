"""First-class disks over the protocol."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl

ADDRESS = "https://vcenter.example/folder/plain/one.vmdk?dcPath=here&dsName=disk"


@pytest.fixture
def disks(client):
    return client.content.vStorageObjectManager


@pytest.fixture
def plain(client, world, result):
    """A virtual disk that is no first-class disk; its path."""
    center = client.reference(world.of_kind("Datacenter")[0])
    client.content.fileManager.MakeDirectory("[disk] plain", center, False)
    spec = vim.VirtualDiskManager.FileBackedVirtualDiskSpec(diskType="thin", adapterType="lsiLogic", capacityKb=2048)
    return result(client.content.virtualDiskManager.CreateVirtualDisk_Task("[disk] plain/one.vmdk", center, spec))


def test_a_virtual_disk_is_registered_by_its_address(client, world, disks, plain):
    made = disks.RegisterDisk(ADDRESS, "first")
    assert (made.config.name, made.config.capacityInMB, made.config.backing.filePath) == ("first", 2, plain)
    (listed,) = disks.ListVStorageObject(client.reference(world.of_kind("Datastore")[0]))
    assert listed.id == made.config.id.id
    with pytest.raises(vim.fault.AlreadyExists):
        disks.RegisterDisk(ADDRESS, "second")


@pytest.mark.parametrize(
    "address, fault",
    [
        ("[disk] plain/one.vmdk", vmodl.fault.InvalidArgument),
        (ADDRESS.replace("dsName=disk", "dsName=none"), vmodl.fault.InvalidArgument),
        (ADDRESS.replace("dcPath=here", "dcPath=there"), vmodl.fault.InvalidArgument),
        (ADDRESS.replace("/folder", "/sdk"), vmodl.fault.InvalidArgument),
        (ADDRESS.replace("one.vmdk", "two.vmdk"), vim.fault.FileNotFound),
    ],
)
def test_an_address_without_a_disk_is_rejected(disks, plain, address, fault):
    with pytest.raises(fault):
        disks.RegisterDisk(address)
