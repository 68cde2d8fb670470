"""CD/DVD drives with images that do not exist, over the protocol."""

from __future__ import annotations

import pytest
from pyVmomi import vim

Drive = vim.vm.device.VirtualCdrom


@pytest.fixture
def vm(client, vms):
    return client.reference(vms["vm-1"])


@pytest.fixture
def insert(vm, result):
    def change(path, operation="add", connected=False, key=-1, controller=200, unit=None):
        connectable = vim.vm.device.VirtualDevice.ConnectInfo(
            startConnected=True, connected=connected, allowGuestControl=True
        )
        drive = Drive(key=key, controllerKey=controller, unitNumber=unit, connectable=connectable)
        drive.backing = Drive.IsoBackingInfo(fileName=path)
        edit = vim.vm.device.VirtualDeviceSpec(operation=operation, device=drive)
        result(vm.ReconfigVM_Task(vim.vm.ConfigSpec(deviceChange=[edit])))
        return shown(vm)

    return change


def shown(vm):
    return next(one for one in vm.config.hardware.device if isinstance(one, Drive))


def test_a_vm_starts_without_the_image_that_does_not_exist(world, vm, insert, result):
    assert insert("[disk] no/such.iso").backing.fileName == "[disk] no/such.iso"
    result(vm.PowerOn())
    assert vm.runtime.powerState == "poweredOn"
    drive = shown(vm)
    assert (drive.connectable.connected, drive.connectable.status) == (False, "unrecoverableError")
    with pytest.raises(vim.fault.GenericVmConfigFault, match="ide0:0"):
        insert("[disk] no/such.iso", "edit", connected=True, key=drive.key)
    world.of_kind("Datastore")[0].files.put("images/there.iso", b"image")
    drive = insert("[disk] images/there.iso", "edit", connected=True, key=drive.key)
    assert (drive.backing.fileName, drive.connectable.connected) == ("[disk] images/there.iso", True)


def test_an_image_that_exists_is_connected_while_the_vm_runs(world, vm, insert, result):
    world.of_kind("Datastore")[0].files.put("images/there.iso", b"image")
    assert insert("[disk] images/there.iso").connectable.connected is False
    result(vm.PowerOn())
    assert (shown(vm).connectable.connected, shown(vm).connectable.status) == (True, "ok")
    result(vm.PowerOff())
    assert shown(vm).connectable.connected is False


def test_an_image_on_an_unknown_datastore_is_rejected(vm, insert):
    with pytest.raises(vim.fault.InvalidDeviceSpec):
        insert("[elsewhere] images/there.iso")


def test_a_drive_has_a_place_on_a_controller_of_disks(vm, insert):
    for wrong in ({"controller": 100}, {"unit": 2}):  # the PCI controller; IDE has two places
        with pytest.raises(vim.fault.InvalidDeviceSpec):
            insert("[disk] a.iso", **wrong)
    insert("[disk] a.iso")
    insert("[disk] b.iso")
    with pytest.raises(vim.fault.InvalidDeviceSpec):
        insert("[disk] c.iso")
    assert sorted(one.unitNumber for one in vm.config.hardware.device if isinstance(one, Drive)) == [0, 1]
