"""Tasks: long operations, their states, and their results."""

from __future__ import annotations

import datetime
import logging

from pyVmomi import vim, vmodl

from .world import Entity

LOG = logging.getLogger(__name__)
# Seconds of model time by method; a seed may set others. Short, but never zero: clients must really wait.
SECONDS = {
    "PowerOnVM_Task": 0.15,
    "PowerOffVM_Task": 0.1,
    "ResetVM_Task": 0.1,
    "SuspendVM_Task": 0.15,
    "ReconfigVM_Task": 0.08,
    "CloneVM_Task": 0.3,
    "CreateVM_Task": 0.1,
    "RelocateVM_Task": 0.2,
    "ShutdownGuest": 0.4,
    "RebootGuest": 0.4,
    "boot": 0.3,
}
LONG_S = 1.0
LATER = object()  # work that gives this back has not ended: it calls finish() itself
ALONE = ("VirtualMachine", "HostSystem")  # reject a second task [unsure: hosts]; on others it waits
RECENT = 4  # finished tasks that an object still lists
KEPT = 50  # finished tasks that a TaskManager still lists


class Task(Entity):
    kind = "Task"

    def __init__(self, world, method, entity, user):
        super().__init__(world.new_moid("task"))
        self.method = method
        self.entity = entity
        self.entity_name = getattr(entity, "name", None)
        self.user = user
        self.state = "queued"
        self.progress = None
        self.result = None
        self.error = None
        self.queued_at = utc_now()
        self.started_at = None
        self.completed_at = None
        self.cancelled = False
        self.on_cancel = None  # called when a client cancels waiting work
        self.on_failure = None  # called when it ends with a fault, to remove partial results

    @property
    def event_chain(self):
        return int(self.moid.rpartition("-")[2])


def utc_now():
    """Now, as vSphere writes it."""
    return datetime.datetime.now(datetime.timezone.utc)


def in_utc(at):
    """A time of a client; one without a zone is in UTC [unsure]."""
    return at.replace(tzinfo=datetime.timezone.utc) if at is not None and at.tzinfo is None else at


def _recent(entity):
    """The tasks that an object lists besides a new one: all that run, and the last that ended."""
    ended = [task for task in entity.recent_tasks if task.completed_at is not None]
    return [task for task in entity.recent_tasks if task.completed_at is None or task in ended[-RECENT:]]


def begun(world, method, entity, user=""):
    """A task that does not end by itself: its work calls finish()."""
    task = world.add(Task(world, method, entity, user))
    world.journal.begun(task)
    if entity is not None:
        entity.recent_tasks = [*_recent(entity), task]
        world.touch(entity)
    return task


def start(world, method, entity, work, user="", exclusive=True):
    """Begin a task that calls `work` at its end; its return value is the result, its fault the error."""
    task = begun(world, method, entity, user)
    if exclusive and entity is not None:
        if entity.busy_with is None:
            entity.busy_with = task
        elif entity.kind in ALONE:
            finish(world, task, error=task_in_progress(entity.busy_with))
            return task
        else:
            entity.waiting_tasks.append((task, work))
            return task
    _schedule(world, task, work)
    return task


def _schedule(world, task, work):
    method = task.method
    seconds = world.task_seconds.get(method, SECONDS.get(method, 0.05))
    world.timeline.after(seconds / 10, lambda: _begin(world, task))
    for percent in _steps(seconds):
        world.timeline.after(seconds * percent / 100, lambda percent=percent: _advance(world, task, percent))
    world.timeline.after(seconds, lambda: _end(world, task, work))


def _go_on(world, entity):
    """Start the next task of an object that is free again; none does if the object is gone."""
    while entity.waiting_tasks and entity.busy_with is None:
        task, work = entity.waiting_tasks.pop(0)
        if world.get(entity.moid) is not entity:
            gone = f"The object '{entity.kind}:{entity.moid}' has already been deleted"
            finish(world, task, error=vmodl.fault.ManagedObjectNotFound(msg=gone, obj=vim.ManagedEntity(entity.moid)))
        elif task.completed_at is None:
            entity.busy_with = task
            _schedule(world, task, work)


def _steps(seconds):
    """Return the number of progress updates: long tasks report in tenths."""
    return range(10, 100, 10) if seconds >= LONG_S else (50,)


def cancel(world, task):
    """Ask a task to stop; one that has finished stays as it is."""
    if task.completed_at is not None:
        raise vim.fault.InvalidState(msg="The operation is not allowed in the current state.")
    task.cancelled = True
    world.touch(task)
    if task.on_cancel is not None:
        task.on_cancel()
        finish(world, task, error=_cancelled())


def task_in_progress(other):
    """The fault for a second task on an object that is busy."""
    return vim.fault.TaskInProgress(msg="Another task is already in progress.", task=vim.Task(other.moid))


def recent(world):
    """The newest tasks, as TaskManager lists them."""
    return world.of_kind("Task")[-KEPT:]


def _begin(world, task):
    if task.completed_at is None:
        task.state, task.started_at, task.progress = "running", utc_now(), 0
        world.touch(task)


def _advance(world, task, progress):
    if task.completed_at is None:
        task.progress = progress
        world.touch(task)


def _end(world, task, work):
    if task.completed_at is not None:
        return
    planned = world.faults.take_task_fault(task.method, task.entity_name)
    if task.cancelled:
        finish(world, task, error=_cancelled())
    elif planned is not None:
        finish(world, task, error=planned)
    else:
        result, fault = attempted(task, work)
        if result is not LATER:
            finish(world, task, result, fault)


def attempted(task, work):
    """The result of the work of a task, and its fault. A defect of the twin is a fault too; the log has its place."""
    try:
        return work(), None
    except vmodl.MethodFault as fault:
        return None, fault
    except Exception as defect:
        LOG.exception("%s of %s failed in the twin itself.", task.method, task.entity_name)
        return None, vmodl.fault.SystemError(msg="The twin failed.", reason=repr(defect))


def _cancelled():
    return vmodl.fault.RequestCanceled(msg="The task was canceled by a user.")


def finish(world, task, result=None, error=None):
    """End a task with its result or its fault."""
    task.started_at = task.started_at or utc_now()
    task.completed_at = utc_now()
    task.result, task.error = result, error
    task.state = "success" if error is None else "error"
    task.progress = None
    if error is not None and task.on_failure is not None:
        task.on_failure()
    entity = task.entity
    touched = [task]
    freed = getattr(entity, "busy_with", None) is task
    if entity is not None:
        if freed:
            entity.busy_with = None
        touched.append(entity)
    world.touch(*touched)
    world.journal.ended(task)
    _forget_old(world)
    if freed:
        _go_on(world, entity)


def _forget_old(world):
    """A long run would otherwise keep every task that ever was."""
    tasks = world.of_kind("Task")
    for old in tasks[: max(0, len(tasks) - 20 * KEPT)]:
        if old.completed_at is not None:
            if old.entity is not None:
                old.entity.recent_tasks = [one for one in old.entity.recent_tasks if one is not old]
            world.remove(old)
