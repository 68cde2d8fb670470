"""ScheduledTaskManager and its tasks."""

from __future__ import annotations

import dataclasses

from pyVmomi import vim, vmodl

from vsphere_twin.model import accounts, kept, scheduled
from vsphere_twin.model.host import wrong_state

from .. import registry, types
from ..projections.shape import make
from ..registry import method, prop

MANAGER, KIND = "ScheduledTaskManager", "ScheduledTask"


@method(MANAGER, "CreateScheduledTask")
@method(MANAGER, "CreateObjectScheduledTask")
def create(call, this, spec, entity=None, obj=None):
    target = call.resolve(entity if entity is not None else obj)
    call.require_privilege("ScheduledTask.Create", target)
    scheduled.check(call.world, spec)
    _check_action(call, target, spec.action)
    made = call.world.add(scheduled.ScheduledTask(call.world, target, spec, call.session.user))
    _plan(call, made)
    call.world.touch(this)
    return made


@method(MANAGER, "RetrieveEntityScheduledTask")
@method(MANAGER, "RetrieveObjectScheduledTask")
def retrieve(call, this, entity=None, obj=None):
    target = entity if entity is not None else obj
    wanted = call.resolve(target) if target is not None else None
    return [one for one in _all(call.world) if wanted in (None, one.entity)]


@method(KIND, "RemoveScheduledTask")
def remove(call, this):
    _require_idle(this)
    call.world.remove(this)
    call.world.touch(call.world.get(MANAGER))


@method(KIND, "ReconfigureScheduledTask")
def reconfigure(call, this, spec):
    _require_idle(this)
    scheduled.check(call.world, spec, itself=this)
    _check_action(call, this.entity, spec.action)
    this.change(spec, call.session.user)
    this.previous_run, this.state = None, "queued"
    _plan(call, this)
    call.world.touch(this)


@method(KIND, "RunScheduledTask")
def run_now(call, this):
    _require_idle(this)
    _run(call, this)


prop(MANAGER, "scheduledTask")(lambda manager, world: _all(world))


@prop(KIND, "info")
def info(one, world):
    task = one.active
    return make(
        vim.scheduler.ScheduledTaskInfo,
        **{name: getattr(one.spec, name) for name in ("name", "description", "enabled", "scheduler", "action")},
        notification=one.spec.notification,
        scheduledTask=one,
        entity=one.entity,
        taskObject=one.entity,
        lastModifiedTime=one.modified,
        lastModifiedUser=accounts.principal(one.user),
        nextRunTime=one.next_run,
        prevRunTime=one.previous_run,
        state=_state(one),
        error=task.error if task is not None else one.error,
        activeTask=task if _state(one) == "running" else None,
    )


def _all(world):
    """The scheduled tasks of objects that still exist."""
    return [one for one in world.of_kind(KIND) if world.get(one.entity.moid) is one.entity]


def _state(one):
    """The state of a scheduled task follows from the task of its run."""
    return one.active.state if one.active is not None else one.state


def _require_idle(one):
    if _state(one) == "running":
        raise wrong_state()


def _check_action(call, entity, action):
    """Refuse a method that the object does not have, and a wrong number of arguments."""
    name = action.name.info.wsdlName
    function = registry.find_method(entity.kind, name)
    if function is None:
        raise kept.wrong("spec.action.name")
    described = types.method_of(name, entity.kind)
    required = [one for one in described.params if not one.flags & types.OPTIONAL]
    if not len(required) <= len(action.argument) <= len(described.params):
        raise kept.wrong("spec.action.argument")
    for parameter, given in zip(described.params, action.argument, strict=False):
        try:
            types.check(parameter, given.value)
        except TypeError:
            raise kept.wrong("spec.action.argument") from None
    call.require_privilege(described.privId, entity)


def _plan(call, one):
    planned = one.planned

    def due():
        still = call.world.get(one.moid) is one and call.world.get(one.entity.moid) is one.entity
        if still and one.spec.enabled and one.planned is planned:
            _run(call, one)

    call.world.timeline.after(scheduled.delay(one.spec), due)


def _run(call, one):
    """Call the method in the name of the user who planned it."""
    name = one.spec.action.name.info.wsdlName
    described = types.method_of(name, one.entity.kind)
    values = {info.name: given.value for info, given in zip(described.params, one.spec.action.argument, strict=False)}
    try:
        call.require_privilege(described.privId, one.entity)
        function = registry.find_method(one.entity.kind, name)
        result = function(dataclasses.replace(call, method=name, message=b""), one.entity, **values)
        one.begun(result if getattr(result, "kind", None) == "Task" else None)
    except vmodl.MethodFault as fault:
        one.failed(fault)
    call.world.touch(one)
