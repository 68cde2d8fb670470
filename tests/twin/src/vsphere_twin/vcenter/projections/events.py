"""Events as the API shows them, and the description of all kinds."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from vsphere_twin.model import accounts, journal

from .. import types
from ..registry import prop
from . import task as tasks
from .shape import make

EVENT = vim.event
ARGUMENTS = {
    # kind of an entity: (field of the event, type of its argument, field of the argument)
    "ClusterComputeResource": ("computeResource", EVENT.ComputeResourceEventArgument, "computeResource"),
    "ComputeResource": ("computeResource", EVENT.ComputeResourceEventArgument, "computeResource"),
    "Datacenter": ("datacenter", EVENT.DatacenterEventArgument, "datacenter"),
    "Datastore": ("ds", EVENT.DatastoreEventArgument, "datastore"),
    "HostSystem": ("host", EVENT.HostEventArgument, "host"),
    "Network": ("net", EVENT.NetworkEventArgument, "network"),
    "VirtualMachine": ("vm", EVENT.VmEventArgument, "vm"),
}
# Events with a required argument about the state before their task: its kind, and the name of the field.
BEFORE = {
    "VmClonedEvent": ("VirtualMachine", "sourceVm"),
    "VmMigratedEvent": ("HostSystem", "sourceHost"),
    "VmRelocatedEvent": ("HostSystem", "sourceHost"),
}
SESSION_KINDS = ("UserLoginSessionEvent", "UserLogoutSessionEvent")
OTHERS = ("TaskEvent", "GeneralUserEvent", "CustomizationStartedEvent", "CustomizationSucceeded")
KINDS = sorted({*journal.WORDS, *SESSION_KINDS, *OTHERS})


def shown(event, world):
    """Return the event with its arguments: its object and the location of that."""
    values = {}
    for kind, moid, name in event.above:
        if kind in ARGUMENTS:
            field, argument, inner = ARGUMENTS[kind]
            values.setdefault(field, make(argument, name=name, **{inner: _reference(kind, moid)}))
    if event.kind in BEFORE:
        kind, field = BEFORE[event.kind]
        _field, argument, inner = ARGUMENTS[kind]
        _kind, moid, name = _before(event, kind, world)
        values[field] = make(argument, name=name, **{inner: _reference(kind, moid)})
    for name, value in event.fields.items():
        if name == "reason" and value is not None:
            values["reason"] = value
        elif name == "task" and event.kind == "TaskEvent":
            values["info"] = tasks.task_info(value, world)
        elif name not in ("reason", "task"):
            values[name] = value
    return make(
        getattr(EVENT, event.kind),
        key=event.key,
        chainId=event.chain,
        createdTime=event.created,
        userName=accounts.principal(event.user),
        fullFormattedMessage=event.message,
        **values,
    )


def _before(event, kind, world):
    """The object of a kind when the task of an event began; the present one if that event is gone."""
    chain = [one for one in world.journal.events if one.chain == event.chain and one.kind == "TaskEvent"]
    return next(row for one in [*chain, event] for row in one.above if row[0] == kind)


@prop("EventManager", "latestEvent")
def latest_event(manager, world):
    return shown(world.journal.events[-1], world) if world.journal.events else None


@prop("EventManager", "description")
def description(manager, world):
    levels = [("info", "Information"), ("warning", "Warning"), ("error", "Error"), ("user", "User")]
    return make(
        EVENT.EventDescription,
        category=[make(vim.ElementDescription, key=key, label=label, summary=label) for key, label in levels],
        eventInfo=[
            make(
                EVENT.EventDescription.EventDetail,
                key=getattr(EVENT, kind),
                description=kind,
                category="error" if "Failed" in kind else "info",
                formatOnDatacenter=journal.WORDS.get(kind, ""),
                formatOnComputeResource=journal.WORDS.get(kind, ""),
                formatOnHost=journal.WORDS.get(kind, ""),
                formatOnVm=journal.WORDS.get(kind, ""),
                fullFormat=journal.WORDS.get(kind, kind),
            )
            for kind in KINDS
        ],
    )


def _reference(kind, moid):
    return types.managed_type(kind)(moid)


def fits(event, spec):
    """Return whether an event matches a filter."""
    if spec.entity is not None and not _about(event, spec.entity):
        return False
    if spec.time is not None:
        begin, end = spec.time.beginTime, spec.time.endTime
        if begin is not None and event.created < begin or end is not None and event.created > end:
            return False
    if spec.userName is not None and spec.userName.userList is not None:
        wanted = [name.casefold() for name in spec.userName.userList]
        if accounts.principal(event.user).casefold() not in wanted:
            return False
    if spec.eventChainId is not None and event.chain != spec.eventChainId:
        return False
    kind = getattr(EVENT, event.kind)
    names = [name.rpartition(".")[2] for name in spec.eventTypeId or []]
    if names and event.kind not in names:
        return False
    if spec.type and not any(issubclass(kind, one) for one in spec.type):
        return False
    return not spec.category or ("error" if "Failed" in event.kind else "info") in spec.category


def _about(event, wanted):
    moid = wanted.entity._moId
    if wanted.recursion == "self":
        return bool(event.above) and event.above[0][1] == moid
    below = any(one == moid for _kind, one, _name in event.above) or moid == "group-d1"
    if wanted.recursion == "children":
        return below and not (event.above and event.above[0][1] == moid)
    return below


def faulted(name):
    """The fault for a filter or a size that makes no sense."""
    return vmodl.fault.InvalidArgument(msg=f"A specified parameter was not correct: {name}", invalidProperty=name)
