"""Scheduled tasks over the protocol."""

from __future__ import annotations

import datetime

import pytest
from pyVmomi import vim, vmodl

Daily = vim.scheduler.DailyTaskScheduler
NONE = vim.action.MethodActionArgument()


@pytest.fixture
def plan(client, vms):
    manager = client.content.scheduledTaskManager

    def create(name="start", minutes=30, action=vim.VirtualMachine.PowerOn, enabled=True, arguments=(), scheduler=None):
        at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=minutes)
        spec = vim.scheduler.ScheduledTaskSpec(
            name=name,
            description="Starts the VM",
            enabled=enabled,
            scheduler=scheduler or vim.scheduler.OnceTaskScheduler(runAt=at),
            action=vim.action.MethodAction(name=action, argument=list(arguments)),
        )
        return manager.CreateScheduledTask(client.reference(vms["vm-1"]), spec)

    return create


def test_a_scheduled_task_runs_once_at_its_time(client, world, vms, plan):
    manager, vm = client.content.scheduledTaskManager, vms["vm-1"]
    made = plan()
    assert (made.info.state, made.info.nextRunTime) == ("queued", made.info.scheduler.runAt)
    assert [one.info.name for one in manager.scheduledTask] == ["start"]
    assert list(manager.RetrieveEntityScheduledTask(client.reference(vms["vm-2"]))) == []
    assert vm.power == "poweredOff"
    world.timeline.settle()
    assert (vm.power, made.info.state, made.info.nextRunTime) == ("poweredOn", "success", None)
    made.RemoveScheduledTask()
    assert list(manager.scheduledTask) == []


def test_a_disabled_or_removed_task_does_not_run_and_run_now_does(world, vms, plan):
    disabled = plan("disabled", enabled=False)
    plan("removed").RemoveScheduledTask()
    world.timeline.settle()
    assert vms["vm-1"].power == "poweredOff"
    disabled.RunScheduledTask()
    world.timeline.settle()
    assert vms["vm-1"].power == "poweredOn"


def test_a_run_that_the_method_rejects_is_an_error(world, plan):
    made = plan(action=vim.VirtualMachine.PowerOff)
    world.timeline.settle()
    assert made.info.state == "error"
    assert isinstance(made.info.error, vim.fault.InvalidPowerState)


def test_a_task_that_cannot_be_is_not_created(client, plan):
    plan()
    for options, fault in (
        ({}, vim.fault.DuplicateName),
        ({"name": ""}, vim.fault.InvalidName),
        ({"name": "late", "minutes": -1}, vmodl.fault.InvalidArgument),
        ({"name": "host", "action": vim.HostSystem.Reboot}, vmodl.fault.InvalidArgument),
        (
            {"name": "many", "arguments": [vim.action.MethodActionArgument(value=1)] * 2},
            vmodl.fault.InvalidArgument,
        ),
        ({"name": "type", "arguments": [vim.action.MethodActionArgument(value="host")]}, vmodl.fault.InvalidArgument),
        ({"name": "none", "action": vim.VirtualMachine.Reconfigure, "arguments": [NONE]}, vmodl.fault.InvalidArgument),
        ({"name": "daily", "scheduler": Daily(interval=1, hour=1, minute=0)}, vmodl.fault.NotSupported),
    ):
        with pytest.raises(fault):
            plan(**options)
    assert len(client.content.scheduledTaskManager.scheduledTask) == 1


def test_a_time_without_a_zone_is_in_utc(client, plan, monkeypatch):
    written = client.stub.SerializeRequest
    monkeypatch.setattr(client.stub, "SerializeRequest", lambda *one: written(*one).replace(b"00:00:00Z", b"00:00:00"))
    at = datetime.datetime(2999, 1, 1)
    made = plan(scheduler=vim.scheduler.OnceTaskScheduler(runAt=at))
    assert made.info.nextRunTime == at.replace(tzinfo=datetime.timezone.utc)
    ByTime = vim.TaskFilterSpec.ByTime
    late = vim.TaskFilterSpec(time=ByTime(timeType="queuedTime", beginTime=at))
    assert client.content.taskManager.CreateCollectorForTasks(late).ReadNextTasks(1) == []
