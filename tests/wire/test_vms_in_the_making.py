"""What pyVmomi sees of VMs that are being made or whose guests do not come up."""

from __future__ import annotations

import pytest
from pyVmomi import vim

from .observe import client, virtual_machine


def clone(service, name):
    """Start a clone and give its task."""
    find = service.content.searchIndex.FindByInventoryPath
    location = vim.vm.RelocateSpec(pool=find("lab/host/gpu").resourcePool)
    spec = vim.vm.CloneSpec(location=location, template=False, powerOn=False)
    return find("lab/vm/templates/ubuntu-template").CloneVM_Task(folder=find("lab/vm/training"), name=name, spec=spec)


def test_a_vm_in_the_making_has_a_name_and_no_configuration_and_goes_with_its_clone(twin):
    running = twin()
    running.world.task_seconds["CloneVM_Task"] = 3600.0
    with client(running) as service:
        task = clone(service, "new-01")
        made = service.content.searchIndex.FindByInventoryPath("lab/vm/training/new-01")
        assert (made.name, made.config, made.runtime.powerState) == ("new-01", None, "poweredOff")
        assert made.runtime.host.name.startswith("esx-")
        assert task.info.state == "queued"
        refused = made.ReconfigVM_Task(vim.vm.ConfigSpec(annotation="mine"))
        assert isinstance(refused.info.error, vim.fault.TaskInProgress)


def test_a_finished_clone_has_its_configuration_and_a_failed_one_is_gone(twin):
    running = twin(faults=[("fail_tasks", {"method": "CloneVM_Task", "fault": "FileLocked", "message": "Locked."})])
    with client(running) as service:
        for name, state in (("lost", "error"), ("kept", "success")):
            task = clone(service, name)
            ended(running, task)
            assert task.info.state == state
            found = service.content.searchIndex.FindByInventoryPath(f"lab/vm/training/{name}")
            assert (found is not None) == (state == "success")
        assert found == task.info.result
        assert found.config.firmware == "efi"


@pytest.mark.parametrize("verb,tools", [("guest_without_tools", False), ("guest_without_address", True)])
def test_a_guest_that_does_not_come_up_is_seen_as_in_life(twin, verb, tools):
    running = twin()
    getattr(running.control, verb)(vm="train-01")
    with virtual_machine(running, "train-01") as one, virtual_machine(running, "train-02") as other:
        for machine in (one, other):
            machine.PowerOnVM_Task()
        model = {vm.name: vm for vm in running.world.of_kind("VirtualMachine")}
        with running.world.changed:
            assert running.world.changed.wait_for(
                lambda: model["train-02"].addresses and model["train-01"].tools_running == tools, timeout=120
            )
        assert (one.guest.toolsRunningStatus == "guestToolsRunning") == tools
        assert one.guest.ipAddress is None
        assert other.guest.ipAddress == other.guest.net[0].ipAddress[0]


def ended(running, task):
    """Wait until the twin has ended a task."""
    model = running.world.get(task._moId)
    with running.world.changed:
        assert running.world.changed.wait_for(lambda: model.completed_at is not None, timeout=120)
