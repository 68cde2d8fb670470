"""Instant clones of running VMs, and tickets for them."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl


def spec(name="copy", config=None, **location):
    return vim.vm.InstantCloneSpec(name=name, location=vim.vm.RelocateSpec(**location), config=config)


@pytest.fixture
def running(client, vms, result):
    """A VM that runs."""
    vm = client.reference(vms["vm-1"])
    result(vm.PowerOnVM_Task())
    return vm


def test_an_instant_clone_runs_on_the_host_of_its_source(running, result):
    option = vim.option.OptionValue(key="guestinfo.role", value="copy")
    made = result(running.InstantClone_Task(spec(config=[option])))
    assert (made.name, made.runtime.powerState, made.runtime.host) == ("copy", "poweredOn", running.runtime.host)
    assert made.config.uuid != running.config.uuid
    assert {one.key: one.value for one in made.config.extraConfig}["guestinfo.role"] == "copy"
    macs = [one.macAddress for vm in (made, running) for one in vm.config.hardware.device if hasattr(one, "macAddress")]
    assert len(set(macs)) == len(macs) == 2


def test_only_a_running_vm_without_passed_through_devices_is_cloned(client, vms, running, result):
    with pytest.raises(vim.fault.InvalidPowerState):
        result(client.reference(vms["vm-2"]).InstantClone_Task(spec()))
    with pytest.raises(vim.fault.DuplicateName):
        result(running.InstantClone_Task(spec("vm-2")))
    other = next(one for one in client.view(vim.HostSystem).view if one != running.runtime.host)
    with pytest.raises(vmodl.fault.InvalidArgument):
        result(running.InstantClone_Task(spec(host=other)))
    with pytest.raises(vmodl.fault.NotSupported):
        running.InstantClone_Task(spec(diskMoveType="moveAllDiskBackings"))
    backing = vim.vm.device.VirtualPCIPassthrough.VmiopBackingInfo(vgpu="grid_a40-4c")
    vms["vm-1"].devices.append(vim.vm.device.VirtualPCIPassthrough(key=13000, backing=backing))
    with pytest.raises(vim.fault.DisallowedMigrationDeviceAttached) as caught:
        result(running.InstantClone_Task(spec()))
    assert isinstance(caught.value.fault, vim.fault.DeviceNotSupported)


def test_a_running_vm_gives_tickets_of_known_types(client, vms, running):
    ticket = running.AcquireTicket("webmks")
    assert ticket.url == f"wss://{ticket.host}:443/ticket/{ticket.ticket}"
    assert running.AcquireTicket("device").url is None
    for wrong, fault in (("other", vmodl.fault.InvalidArgument), ("mks", vmodl.fault.NotSupported)):
        with pytest.raises(fault):
            running.AcquireTicket(wrong)
    with pytest.raises(vim.fault.InvalidPowerState):
        client.reference(vms["vm-2"]).AcquireTicket("webmks")
