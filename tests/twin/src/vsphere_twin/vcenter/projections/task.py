"""Tasks and the services that list things."""

from __future__ import annotations

from pyVmomi import VmomiSupport, vim

from vsphere_twin.model import accounts, tasks

from .. import types
from ..registry import prop
from .shape import make

# Long operations that a method without a task of its own begins [unsure: general knowledge of event logs].
OPERATIONS = {"ImportVApp": "ResourcePool.ImportVAppLRO"}


@prop("Task", "info")
def task_info(task, world):
    return make(
        vim.TaskInfo,
        key=task.moid,
        task=types.reference(task),
        name=_method_name(task),
        descriptionId=_description_id(task),
        entity=types.reference(task.entity) if task.entity is not None else None,
        entityName=task.entity_name,
        state=task.state,
        cancelled=task.cancelled,
        cancelable=True,
        error=task.error,
        result=_result(task.result),
        progress=task.progress,
        reason=make(vim.TaskReasonUser, userName=accounts.principal(task.user) or "root"),
        queueTime=task.queued_at,
        startTime=task.started_at,
        completeTime=task.completed_at,
        eventChainId=task.event_chain,
    )


@prop("Task", "info.state")
def task_state(task, world):
    return task.state


@prop("Task", "info.error")
def task_error(task, world):
    return task.error


@prop("Task", "info.progress")
def task_progress(task, world):
    return task.progress


@prop("TaskManager", "recentTask")
def recent_task(manager, world):
    return tasks.recent(world)


@prop("TaskManager", "maxCollector")
def max_collector(manager, world):
    return 32


@prop("TaskManager", "description")
def description(manager, world):
    states = [make(vim.ElementDescription, key=state, label=state, summary=state) for state in ("running", "success")]
    reason = make(vim.TypeDescription, key=vim.TaskReasonUser, label="user task", summary="user task")
    method = make(
        vim.ElementDescription,
        key="VirtualMachine.powerOn",
        label="Power On virtual machine",
        summary="Power On this virtual machine",
    )
    return make(vim.TaskDescription, methodInfo=[method], state=states, reason=[reason])


def _result(value):
    return types.reference(value) if hasattr(value, "moid") else value


def _method_name(task):
    """The method that made the task."""
    return VmomiSupport.GuessWsdlMethod(task.method)


def _description_id(task):
    """Type and method by their names in the API's own model: HostSystem.reboot, VirtualMachine.powerOn."""
    if task.method in OPERATIONS:
        return OPERATIONS[task.method]
    kind = task.entity.kind if task.entity is not None else "Task"
    name = VmomiSupport.GuessWsdlMethod(task.method).info.name
    return f"{kind}.{name[:1].lower()}{name[1:]}"
