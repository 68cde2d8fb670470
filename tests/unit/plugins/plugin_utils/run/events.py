"""Plays, tasks and results as Ansible hands them to callbacks, and a clock that is moved by hand."""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta, timezone
from types import SimpleNamespace

from ansible.playbook.block import Block
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.course import Clock, Course
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.results import Seen

_ids = itertools.count()


class Time:
    """Moves only on request."""

    def __init__(self):
        self.now = 0.0

    def clock(self):
        began = datetime(2026, 3, 1, 8, 0, tzinfo=timezone.utc)
        return Clock(lambda: self.now, lambda: began + timedelta(seconds=self.now))


def course(time=None):
    return Course((time or Time()).clock())


def stage_plays(*names):
    """Plays that say their stage themselves; None is a play of something else."""
    return [(f"play-{number}", "", {"aiready_stage": name} if name else {}) for number, name in enumerate(names)]


def task(parent=None, tags=()):
    return SimpleNamespace(_uuid=f"task-{next(_ids)}", _parent=parent, tags=list(tags))


def block(tasks=(), rescue=(), parent=None):
    """A block with the tasks in it; they get it as their parent."""
    found = Block()
    found.block, found.rescue, found._parent = list(tasks), list(rescue), parent
    for one in [*found.block, *found.rescue]:
        one._parent = found
    return found


def item(changes=None, failed=False, changed=None, **ids):
    """One object of an answer of runner.run."""
    changes = changes or {}
    return {
        **ids,
        "changed": bool(changes) if changed is None else changed,
        "before": {path: before for path, (before, after) in changes.items()},
        "after": {path: after for path, (before, after) in changes.items()},
        "changes": [{"path": path, "before": b, "after": a, "needs": None} for path, (b, a) in changes.items()],
        "failed": failed,
        "msg": "",
    }


def seen(module="vm_shape", host="localhost", name="Do it", own=True, **more):
    """A result; the answer of a module is in data."""
    data = more.pop("data", {})
    action = f"aiready.vsphere.{module}" if own else module
    return Seen(host=host, action=action, task=name, data={"changed": _changed(data), **data}, **more)


def _changed(data):
    found = [entry for value in data.values() for entry in (value if isinstance(value, list) else [value])]
    return any(isinstance(entry, dict) and entry.get("changed") for entry in found)
