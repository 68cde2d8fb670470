"""Changes of a VM over the protocol, and what other clients read of it."""

from __future__ import annotations

import pytest
from pyVmomi import vim

GIB = 2**30


@pytest.fixture
def machine(client, vms):
    return client.reference(vms["vm-1"])


def disk_of(machine):
    return next(one for one in machine.config.hardware.device if isinstance(one, vim.vm.device.VirtualDisk))


def reconfigure(world, machine, device, operation="edit"):
    change = vim.vm.device.VirtualDeviceSpec(operation=operation, device=device)
    task = machine.ReconfigVM_Task(vim.vm.ConfigSpec(deviceChange=[change]))
    world.timeline.settle()
    return task.info.error


@pytest.mark.parametrize(
    "kilobytes, in_bytes, gained, fault",
    [
        (GIB // 1024, 0, GIB, None),  # clients that change only the older field send the other one as they read it
        (0, GIB, GIB, None),
        (GIB // 1024, GIB, GIB, None),
        (0, 0, 0, None),
        (GIB // 1024, 2 * GIB, 0, vim.fault.InvalidDeviceSpec),
        (-1, 0, 0, vim.fault.InvalidDeviceOperation),
    ],
)
def test_a_disk_has_the_size_of_the_field_that_changed(world, machine, kilobytes, in_bytes, gained, fault):
    disk = disk_of(machine)
    before = disk.capacityInBytes
    disk.capacityInKB += kilobytes
    disk.capacityInBytes += in_bytes
    error = reconfigure(world, machine, disk)
    assert (type(error) if error else None) == fault
    after = disk_of(machine)
    assert (after.capacityInBytes, after.capacityInKB) == (before + gained, (before + gained) // 1024)


def test_the_older_field_alone_sets_the_size(world, machine):
    disk = disk_of(machine)
    disk.capacityInKB, disk.capacityInBytes = disk.capacityInKB * 2, None
    assert reconfigure(world, machine, disk) is None
    assert disk_of(machine).capacityInBytes == disk.capacityInKB * 1024


def test_a_vm_counts_the_attempts_to_install_vmware_tools(machine):
    assert machine.config.tools.lastInstallInfo.counter == 0


@pytest.mark.parametrize("key", [None, 400])
def test_a_serial_port_is_on_the_controller_of_such_devices(world, machine, key):
    kind = vim.vm.device.VirtualSerialPort
    port = kind(key=-1, controllerKey=key, backing=kind.PipeBackingInfo(pipeName="p", endpoint="client"))
    assert reconfigure(world, machine, port, "add") is None
    (found,) = [one for one in machine.config.hardware.device if isinstance(one, kind)]
    assert (found.key, found.controllerKey, found.deviceInfo.label) == (9000, 400, "Serial port 1")


def test_keys_are_typed_on_a_vm_that_runs(client, world, vms):
    machine, Spec = client.reference(vms["vm-1"]), vim.vm.UsbScanCodeSpec
    events = [Spec.KeyEvent(usbHidCode=code << 16 | 7, modifiers=Spec.ModifierType(leftShift=True)) for code in (4, 5)]
    with pytest.raises(vim.fault.InvalidPowerState):
        machine.PutUsbScanCodes(Spec(keyEvents=events))
    machine.PowerOnVM_Task()
    world.timeline.settle()
    assert machine.PutUsbScanCodes(Spec(keyEvents=events)) == 2


def test_an_adapter_has_its_share_of_the_network(client, world, machine):
    def held():
        found = next(
            one for one in machine.config.hardware.device if isinstance(one, vim.vm.device.VirtualEthernetCard)
        )
        given = found.resourceAllocation
        return found, (given.share.level, given.share.shares, given.reservation, given.limit)

    adapter, before = held()
    assert before == ("normal", 50, 0, -1)
    adapter.resourceAllocation.share = vim.SharesInfo(level="high", shares=0)
    adapter.resourceAllocation.limit = 1000
    assert reconfigure(world, machine, adapter) is None
    adapter, after = held()
    assert after == ("high", 100, 0, 1000)
    adapter.resourceAllocation = None
    assert reconfigure(world, machine, adapter) is None
    assert held()[1] == after


def test_a_new_vm_has_the_default_devices_of_its_configuration_option(machine):
    browser = machine.environmentBrowser
    offered = {(type(one), one.key) for one in browser.QueryConfigOption().defaultDevice}
    assert (vim.vm.device.VirtualPCIController, 100) in offered
    assert offered <= {(type(one), one.key) for one in machine.config.hardware.device}
