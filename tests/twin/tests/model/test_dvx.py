"""Enhanced DirectPath I/O: classes of devices that vendors' code gives to VMs, and who moves with them."""

from __future__ import annotations

import pytest
from pyVmomi import vim

from vsphere_twin.model import dvx, passthru, power, relocation, snapshots
from vsphere_twin.vcenter.projections import host_pci

DEVICE = vim.vm.device
CLASS = "com.example.gpu"
GPU = "0000:17:00.0"
VM = {"name": "vm", "host": "esx-1", "pci_devices": [{"dvx": CLASS}]}


def host(name="esx-1", checkpoint=True, number=1, **more):
    given = {"class": CLASS, "vendor": "Example", "checkpoint": checkpoint}
    return {"name": name, "gpus": [{"board": "a100_pcie_40gb", "dvx": given}] * number, **more}


def add(here, backing, **more):
    device = DEVICE.VirtualPCIPassthrough(key=-1, backing=backing)
    return here.reconfigure("vm", deviceChange=[DEVICE.VirtualDeviceSpec(operation="add", device=device)], **more)


def move(here):
    spec = vim.vm.RelocateSpec(host=vim.HostSystem(here.hosts[1].moid))
    return here.task("RelocateVM_Task", here.vm("vm"), lambda: relocation.relocate(here.world, here.vm("vm"), spec))


def test_power_on_takes_a_device_of_the_class_and_power_off_gives_it_back(lab):
    here = lab(hosts=[host()], vms=[VM])
    assert here.power_on("vm").error is None
    (esx,) = here.hosts
    assert [(address, holder.vm.name) for address, holder in esx.claimed.items()] == [(GPU, "vm")]
    assert esx.gpus[0].held_by is here.vm("vm")
    here.power_off("vm")
    assert (esx.claimed, esx.gpus[0].held_by) == ({}, None)


@pytest.mark.parametrize("release, shown", [("9.0.0", False), ("9.1.0", True)])
def test_the_host_shows_which_device_a_running_vm_has_from_9_1_on(lab, release, shown):
    here = lab(hosts=[host()], vms=[VM], release=release)
    (esx,) = here.hosts
    assert host_pci.bindings(esx) == []
    here.power_on("vm")
    (one,) = host_pci.bindings(esx)
    key = here.vm("vm").passthrough_devices[0].key
    assert one.vm._GetMoId() == here.vm("vm").moid
    assert (one.pciId, one.deviceKey) == ((GPU, key) if shown else (None, None))


REFUSED = {
    "a class that no device has": (host(), [{**VM, "pci_devices": [{"dvx": "com.example.other"}]}], "not available"),
    "more devices than the class has": (host(), [{**VM, "name": "other"}, VM], "not available"),
    "memory that is not reserved": (host(), [{**VM, "memory_reservation": "none"}], "memory reservation"),
    "a small window for the GPU": (host(), [{**VM, "extra_config": {}}], "PCI MMIO"),
}


@pytest.mark.parametrize("esx, vms, words", REFUSED.values(), ids=REFUSED)
def test_power_on_is_refused_for(lab, esx, vms, words):
    here = lab(hosts=[esx], vms=vms)
    for one in vms[:-1]:
        assert here.power_on(one["name"]).error is None
    assert words in here.power_on("vm").error.msg


@pytest.mark.parametrize(
    "more, name, fault",
    [
        ({"hardware_version": 19}, CLASS, vim.fault.DeviceUnsupportedForVmVersion),
        ({}, None, vim.fault.InvalidDeviceSpec),
        ({}, CLASS, None),
    ],
    ids=["old hardware", "no class", "a class"],
)
def test_a_request_needs_a_class_and_hardware_version_20(lab, more, name, fault):
    here = lab(hosts=[host()], vms=[{"name": "vm", **more}])
    error = add(here, dvx.BACKING(deviceClass=name)).error
    assert type(error) is (fault or type(None))


@pytest.mark.parametrize("release, found", [("7.0.3", []), ("8.0.3", [CLASS]), ("9.1.0", [CLASS])])
def test_classes_exist_from_vsphere_8_on(lab, release, found):
    (esx,) = lab(hosts=[host()], release=release).hosts
    assert (list(dvx.registered(esx)), list(dvx.offered(esx))) == (found, found)


def test_a_gpu_that_the_vendors_code_has_carries_no_vgpu_and_is_in_no_group(lab):
    here = lab(hosts=[host()], vms=[{"name": "vm", "vgpus": ["grid_a100-40c"]}])
    assert "graphics resource" in here.power_on("vm").error.msg


@pytest.mark.parametrize("checkpoint", [True, False])
def test_a_running_vm_moves_suspends_and_has_snapshots_only_where_the_class_saves_its_state(lab, checkpoint):
    here = lab(hosts=[host(checkpoint=checkpoint), host("esx-2", checkpoint=checkpoint)], vms=[VM])
    here.power_on("vm")
    vm = here.vm("vm")
    moved = move(here)
    assert (moved.error is None, vm.host.name) == (checkpoint, "esx-2" if checkpoint else "esx-1")
    taken = here.task("CreateSnapshot_Task", vm, lambda: snapshots.create(here.world, vm, "one", ""))
    assert (taken.error is None) is checkpoint
    suspended = here.task("SuspendVM_Task", vm, lambda: power.suspend(here.world, vm))
    assert (suspended.error is None) is checkpoint


def test_a_running_vm_does_not_move_to_a_host_without_a_free_device(lab):
    second = {"name": "esx-2", "gpus": [{"board": "a100_pcie_40gb"}]}
    here = lab(hosts=[host(), second], vms=[VM])
    here.power_on("vm")
    assert "not available on the host" in move(here).error.msg
    assert here.vm("vm").host.name == "esx-1"


def test_passthrough_ends_the_enhanced_mode(lab):
    here = lab(hosts=[host()])
    (esx,) = here.hosts
    passthru.configure(here.world, esx, [vim.host.PciPassthruConfig(id=GPU, passthruEnabled=True)])
    assert dvx.offered(esx) == {}
    assert esx.passthru[GPU].active
