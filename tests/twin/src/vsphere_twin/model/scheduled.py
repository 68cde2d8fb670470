"""Scheduled tasks of vCenter: a method of an object that runs later."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from . import kept
from .tasks import in_utc, utc_now
from .world import Entity

LONGEST_NAME = 80


class ScheduledTask(Entity):
    """One scheduled task. It stays in the list after its run (vSphere API reference, ScheduledTask)."""

    kind = "ScheduledTask"

    def __init__(self, world, entity, spec, user):
        super().__init__(world.new_moid("schedule"))
        self.entity = entity
        self.state = "queued"
        self.previous_run = None
        self.active = None  # the task of its last run
        self.error = None
        self.change(spec, user)

    def change(self, spec, user):
        """Take a checked specification."""
        self.spec = spec
        self.user = user
        self.modified = utc_now()
        self.planned = object()  # a run that was planned before a change does not happen

    @property
    def next_run(self):
        """The time of the next run, or None."""
        at = self.spec.scheduler.runAt
        return at if self.spec.enabled and self.previous_run is None and at is not None else None

    def begun(self, task):
        """Record a run."""
        self.previous_run, self.active, self.error, self.state = utc_now(), task, None, "running" if task else "success"

    def failed(self, fault):
        """Record a run that the method rejected."""
        self.previous_run, self.active, self.error, self.state = utc_now(), None, fault, "error"


def check(world, spec, itself=None):
    """Refuse a specification that vCenter refuses; only schedulers that run once are served."""
    if not spec.name or len(spec.name) > LONGEST_NAME:
        raise vim.fault.InvalidName(msg=f"The name '{spec.name}' is not valid.", name=spec.name or "")
    if any(one.spec.name == spec.name for one in world.of_kind("ScheduledTask") if one is not itself):
        raise vim.fault.DuplicateName(msg=f"The name '{spec.name}' already exists.", name=spec.name)
    for part, served in ((spec.scheduler, vim.scheduler.OnceTaskScheduler), (spec.action, vim.action.MethodAction)):
        if not isinstance(part, served):
            what = f"the twin has no {type(part)._wsdlName}"
            raise vmodl.fault.NotSupported(msg=f"The operation is not supported on the object: {what}.")
    spec.scheduler.runAt = in_utc(spec.scheduler.runAt)
    if spec.scheduler.runAt is not None and spec.scheduler.runAt < utc_now():
        raise kept.wrong("spec.scheduler.runAt")  # that vCenter refuses a time in the past is [unsure]


def delay(spec):
    """Seconds until a specification is due; without a time at once (vSphere API reference, OnceTaskScheduler)."""
    at = spec.scheduler.runAt
    return max(0.0, (at - utc_now()).total_seconds()) if at is not None else 0.0
