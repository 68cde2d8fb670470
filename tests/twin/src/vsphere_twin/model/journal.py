"""Events that vCenter keeps, of tasks, VMs, hosts and sessions."""

from __future__ import annotations

import datetime
import itertools
from dataclasses import dataclass, field

MOST = 2_000  # events that are kept
# Event of a task's success, and its object: the task's entity or its result.
OF_TASKS = {
    "CloneVM_Task": ("VmClonedEvent", "result"),
    "CreateVM_Task": ("VmCreatedEvent", "result"),
    "EnterMaintenanceMode_Task": ("EnteredMaintenanceModeEvent", "entity"),
    "ExitMaintenanceMode_Task": ("ExitMaintenanceModeEvent", "entity"),
    "MigrateVM_Task": ("VmMigratedEvent", "entity"),
    "PowerOffVM_Task": ("VmPoweredOffEvent", "entity"),
    "PowerOnVM_Task": ("VmPoweredOnEvent", "entity"),
    "ReconfigVM_Task": ("VmReconfiguredEvent", "entity"),
    "RegisterVM_Task": ("VmRegisteredEvent", "result"),
    "RelocateVM_Task": ("VmRelocatedEvent", "entity"),
    "ResetVM_Task": ("VmResettingEvent", "entity"),
    "SuspendVM_Task": ("VmSuspendedEvent", "entity"),
}
FAILED = {"PowerOnVM_Task": "VmFailedToPowerOnEvent", "PowerOffVM_Task": "VmFailedToPowerOffEvent"}
WORDS = {  # [unsure: the words of each]
    "EnteredMaintenanceModeEvent": "Host {host} in {datacenter} has entered maintenance mode",
    "ExitMaintenanceModeEvent": "Host {host} in {datacenter} has exited maintenance mode",
    "VmClonedEvent": "Virtual machine {vm} was cloned on host {host} in {datacenter}",
    "VmCreatedEvent": "Created virtual machine {vm} on {host} in {datacenter}",
    "VmFailedToPowerOffEvent": "Cannot power off {vm} on {host} in {datacenter}: {reason}",
    "VmFailedToPowerOnEvent": "Cannot power on {vm} on {host} in {datacenter}: {reason}",
    "VmMigratedEvent": "Migration of virtual machine {vm} to {host} in {datacenter} completed",
    "VmPoweredOffEvent": "{vm} on {host} in {datacenter} is powered off",
    "VmPoweredOnEvent": "{vm} on {host} in {datacenter} is powered on",
    "VmReconfiguredEvent": "Reconfigured {vm} on {host} in {datacenter}",
    "VmRegisteredEvent": "Registered {vm} on {host} in {datacenter}",
    "VmRelocatedEvent": "Completed the relocation of the virtual machine {vm} to {host} in {datacenter}",
    "VmRemovedEvent": "Removed {vm} on {host} from {datacenter}",
    "VmResettingEvent": "{vm} on {host} in {datacenter} is reset",
    "VmSuspendedEvent": "{vm} on {host} in {datacenter} is suspended",
}


@dataclass(frozen=True)
class Event:
    """One event; it keeps names of objects that no longer exist."""

    key: int
    chain: int
    kind: str  # by its name in vim.event
    created: datetime.datetime
    user: str
    message: str
    above: tuple = ()  # (kind, moid, name) of the entity and of all above it
    fields: dict = field(default_factory=dict)


class Journal:
    """All events, oldest first."""

    def __init__(self):
        self.events: list[Event] = []
        self._keys = itertools.count(1)

    def post(self, kind, entity=None, user="", message=None, chain=None, **fields):
        """Note an event about an entity."""
        key = next(self._keys)
        above = tuple(_above(entity))
        names = {"vm": "", "host": "", "datacenter": ""}
        for one_kind, _moid, name in above:
            names[{"VirtualMachine": "vm", "HostSystem": "host", "Datacenter": "datacenter"}.get(one_kind, "")] = name
        names["reason"] = getattr(fields.get("reason"), "msg", "")
        if message is None:
            message = WORDS.get(kind, "{vm}").format(**{name: value for name, value in names.items() if name})
        now = datetime.datetime.now(datetime.timezone.utc)
        made = Event(key, chain or key, kind, now, user, message, above, fields)
        self.events = [*self.events[-MOST:], made]
        return made

    def begun(self, task):
        """Record the request of a task."""
        if task.user:
            words = f"Task: {task.method.removesuffix('_Task')}"
            self.post("TaskEvent", task.entity, task.user, words, task.event_chain, task=task)

    def ended(self, task):
        """Record the end of a task; its effect is an event of its own."""
        if task.error is not None:
            kind, about = FAILED.get(task.method), task.entity
        else:
            kind, which = OF_TASKS.get(task.method, (None, "entity"))
            about = task.entity if which == "entity" else task.result
        if kind is not None and about is not None and hasattr(about, "moid"):
            self.post(kind, about, task.user, chain=task.event_chain, reason=task.error, task=task)

    def of(self, *kinds):
        """The events of these kinds."""
        return [event for event in self.events if event.kind in kinds]


def _above(entity):
    """The entity, the host and the cluster under a VM, and the folders above both."""
    todo, seen = [entity], set()
    while todo:
        one = todo.pop(0)
        if one is None or one.moid in seen or not hasattr(one, "name"):
            continue
        seen.add(one.moid)
        yield one.kind, one.moid, one.name
        todo += [getattr(one, "parent", None), getattr(one, "host", None), getattr(one, "pool", None)]
