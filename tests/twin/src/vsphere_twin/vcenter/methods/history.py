"""EventManager, TaskManager and their collectors: past events, page by page."""

from __future__ import annotations

from vsphere_twin.model import tasks
from vsphere_twin.model.world import Entity

from ..projections import events
from ..projections import task as task_projection
from ..registry import method, prop

DEFAULT_PAGE, MOST_PAGE = 10, 1000


class Collector(Entity):
    """A page of history and a place in it; it belongs to one session."""

    def __init__(self, moid, kind, filter_, read):
        self.kind = kind
        super().__init__(moid)
        self.version = None
        self.filter = filter_
        self.read = read  # f(): all items that fit, oldest first
        self.page = DEFAULT_PAGE
        self.place = None  # how many items lie behind; None: nothing was read, and both directions are open

    @property
    def latest(self):
        return list(reversed(self.read()[-self.page :]))

    def next(self, count):
        """The items after the place, oldest first."""
        start = self.place or 0
        found = self.read()[start : start + _checked(count)]
        self.place = start + len(found)
        return found

    def previous(self, count):
        """The items before the place, newest first."""
        items = self.read()
        end = len(items) if self.place is None else self.place
        self.place = max(0, end - _checked(count))
        return list(reversed(items[self.place : end]))


def _checked(count):
    if not 0 < count <= MOST_PAGE:
        raise events.faulted("maxCount")
    return count


def _begin(call, kind, filter_, read):
    return call.session.add(Collector(call.session.new_moid(), kind, filter_, read))


@method("EventManager", "QueryEvents")
def query_events(call, this, filter, eventViewSpec=None):
    found = _events(call, filter)()
    return found[-filter.maxCount :] if filter.maxCount else found


@method("EventManager", "CreateCollectorForEvents")
def collector_for_events(call, this, filter):
    return _begin(call, "EventHistoryCollector", filter, _events(call, filter))


@method("EventManager", "LogUserEvent")
def log_user_event(call, this, entity, msg):
    target = call.resolve(entity)
    call.world.journal.post("GeneralUserEvent", target, call.session.user, f"User logged event: {msg}")


@method("TaskManager", "CreateCollectorForTasks")
def collector_for_tasks(call, this, filter):
    return _begin(call, "TaskHistoryCollector", filter, lambda: _tasks(call.world, filter))


@method("EventHistoryCollector", "ReadNextEvents")
def read_next_events(call, this, maxCount):
    return this.next(maxCount)


@method("EventHistoryCollector", "ReadPreviousEvents")
def read_previous_events(call, this, maxCount):
    return this.previous(maxCount)


@method("TaskHistoryCollector", "ReadNextTasks")
def read_next_tasks(call, this, maxCount):
    return this.next(maxCount)


@method("TaskHistoryCollector", "ReadPreviousTasks")
def read_previous_tasks(call, this, maxCount):
    return this.previous(maxCount)


@method("HistoryCollector", "SetCollectorPageSize")
def set_page_size(call, this, maxCount):
    this.page = _checked(maxCount)


@method("HistoryCollector", "RewindCollector")
def rewind(call, this):
    this.place = 0


@method("HistoryCollector", "ResetCollector")
def reset(call, this):
    this.place = len(this.read())


@method("HistoryCollector", "DestroyCollector")
def destroy(call, this):
    call.session.objects.pop(this.moid, None)


@prop("HistoryCollector", "filter")
def filter_of(collector, world):
    return collector.filter


@prop("EventHistoryCollector", "latestPage")
@prop("TaskHistoryCollector", "latestPage")
def latest_page(collector, world):
    return collector.latest


def _events(call, spec):
    world = call.world
    if spec.entity is not None:
        call.resolve(spec.entity.entity)
    return lambda: [events.shown(one, world) for one in world.journal.events if events.fits(one, spec)]


def _tasks(world, spec):
    found = [task for task in world.of_kind("Task") if _fits(task, spec)]
    return [task_projection.task_info(task, world) for task in found]


def _fits(task, spec):
    if spec.state and task.state not in spec.state:
        return False
    if spec.eventChainId and task.event_chain not in spec.eventChainId:
        return False
    if spec.time is not None:
        when = {"startedTime": task.started_at, "completedTime": task.completed_at}.get(
            spec.time.timeType, task.queued_at
        )
        begin, end = tasks.in_utc(spec.time.beginTime), tasks.in_utc(spec.time.endTime)
        if when is None or begin is not None and when < begin or end is not None and when > end:
            return False
    return spec.entity is None or _below(task.entity, spec.entity)


def _below(entity, wanted):
    chain = []
    while entity is not None:
        chain.append(entity.moid)
        entity = getattr(entity, "parent", None)
    if wanted.recursion == "self":
        return chain[:1] == [wanted.entity._moId]
    if wanted.recursion == "children":
        return wanted.entity._moId in chain[1:]
    return wanted.entity._moId in chain
