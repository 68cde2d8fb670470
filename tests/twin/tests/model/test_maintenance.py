"""Maintenance mode: it waits for running VMs, and DRS moves those that may move."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl

from vsphere_twin.model import lifecycle, maintenance, tasks

GPU = {"board": "a100_pcie_40gb"}
HOSTS = [{"name": "esx-1", "gpus": [GPU]}, {"name": "esx-2", "gpus": [GPU]}]
VM = {"name": "vm", "host": "esx-1", "power": "on"}


def enter(here, host, timeout_s=0, powered_off_too=False):
    """A task as SOAP starts it; it may still run when this returns."""
    started = tasks.start(
        here.world,
        "EnterMaintenanceMode_Task",
        host,
        lambda: maintenance.enter(here.world, host, started, timeout_s, powered_off_too),
    )
    here.world.timeline.settle()
    return started


def test_an_empty_host_enters_at_once_and_leaves_again(lab):
    here = lab(hosts=HOSTS)
    host = here.hosts[0]
    assert enter(here, host).state == "success"
    assert host.maintenance
    maintenance.leave(here.world, host)
    assert not host.maintenance


def test_the_task_waits_until_the_last_vm_is_off(lab):
    here = lab(hosts=HOSTS, vms=[VM])
    host = here.hosts[0]
    waiting = enter(here, host)
    assert (waiting.state, host.maintenance) == ("running", False)
    here.power_off("vm")
    assert (waiting.state, host.maintenance) == ("success", True)


def test_the_task_ends_when_its_time_is_over(lab):
    here = lab(hosts=HOSTS, vms=[VM])
    waiting = enter(here, here.hosts[0], timeout_s=30)
    assert isinstance(waiting.error, vim.fault.Timedout)
    assert here.hosts[0].entering_maintenance is None


def test_a_task_that_waits_can_be_cancelled(lab):
    here = lab(hosts=HOSTS, vms=[VM])
    host = here.hosts[0]
    waiting = enter(here, host)
    tasks.cancel(here.world, waiting)
    assert isinstance(waiting.error, vmodl.fault.RequestCanceled)
    here.power_off("vm")
    assert not host.maintenance
    assert enter(here, host).state == "success"


def test_a_host_that_dies_takes_the_task_with_it(lab):
    here = lab(hosts=HOSTS, vms=[VM])
    waiting = enter(here, here.hosts[0])
    lifecycle.power_off(here.world, here.hosts[0])
    assert isinstance(waiting.error, vmodl.fault.HostCommunication)
    assert not here.hosts[0].maintenance


@pytest.mark.parametrize("busy", ["in maintenance", "on its way there", "on its way down"])
def test_nobody_enters_twice(lab, busy):
    here = lab(hosts=HOSTS, vms=[VM] if busy == "on its way there" else [])
    host = here.hosts[0]
    if busy == "on its way down":
        lifecycle.restart(here.world, host)
    else:
        enter(here, host)
    with pytest.raises(vim.fault.InvalidState):
        maintenance.enter(here.world, host, None)


# What stands on the host, who may move it, and whether the host gets empty.
VGPU = {**VM, "vgpus": ["grid_a100-40c"]}
EVACUATIONS = {
    "manual DRS recommends and does nothing": (VM, {"drs": "manual"}, False),
    "fully automated DRS moves a plain VM": (VM, {"drs": "fullyAutomated"}, True),
    "DRS leaves a VM with a vGPU alone": (VGPU, {"drs": "fullyAutomated"}, False),
    "the option alone is not enough": (VGPU, {"drs": "fullyAutomated", "option": "-1"}, False),
    "vCenter's consent alone is not enough": (VGPU, {"drs": "fullyAutomated", "hot": True}, False),
    "option and consent move it": (VGPU, {"drs": "fullyAutomated", "option": "-1", "hot": True}, True),
    "no free GPU, no move": (VGPU, {"drs": "fullyAutomated", "option": "-1", "hot": True, "full": True}, False),
}


@pytest.mark.parametrize("vm,world,moves", EVACUATIONS.values(), ids=EVACUATIONS)
def test_who_is_evacuated(lab, vm, world, moves):
    others = [{**VGPU, "name": "other", "host": "esx-2"}] if world.get("full") else []
    here = lab(hosts=HOSTS, vms=[vm, *others], drs=world["drs"])
    host = here.hosts[0]
    host.compute.options.update({maintenance.VGPU_OPTION: world["option"]} if "option" in world else {})
    here.world.get("VpxSettings").values["vgpu.hotmigrate.enabled"] = "true" if world.get("hot") else "false"
    task = enter(here, host)
    assert (task.state == "success") == moves == host.maintenance
    assert (here.vm("vm").host is here.hosts[1]) == moves
    assert here.vm("vm").power == "poweredOn"


def test_a_vm_with_a_whole_gpu_never_moves(lab):
    passed = [{"name": name, "gpus": [{**GPU, "passthrough": True}]} for name in ("esx-1", "esx-2")]
    here = lab(hosts=passed, vms=[{"name": "vm", "host": "esx-1"}], drs="fullyAutomated")
    backing = vim.vm.device.VirtualPCIPassthrough.DynamicBackingInfo(
        deviceName="",
        allowedDevice=[vim.vm.device.VirtualPCIPassthrough.AllowedDevice(vendorId=0x10DE, deviceId=0x20F1)],
    )
    device = vim.vm.device.VirtualPCIPassthrough(key=-1, backing=backing)
    here.reconfigure("vm", deviceChange=[vim.vm.device.VirtualDeviceSpec(operation="add", device=device)])
    assert here.power_on("vm").state == "success"
    assert enter(here, here.hosts[0], timeout_s=60).state == "error"
    assert here.vm("vm").host is here.hosts[0]


def test_vms_that_are_off_move_when_that_is_asked_for(lab):
    here = lab(hosts=HOSTS, vms=[{"name": "vm", "host": "esx-1"}], drs="fullyAutomated")
    enter(here, here.hosts[0], powered_off_too=True)
    assert here.hosts[0].maintenance
    assert here.vm("vm").host is here.hosts[1]


def test_nothing_starts_on_a_host_in_maintenance(lab):
    here = lab(hosts=HOSTS, vms=[{"name": "vm", "host": "esx-1"}])
    enter(here, here.hosts[0])
    assert isinstance(here.power_on("vm").error, vim.fault.InvalidHostState)
