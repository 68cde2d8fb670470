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
