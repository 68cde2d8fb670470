"""Run a method as a task."""

from __future__ import annotations

from vsphere_twin.model import tasks


def begin(call, method, entity, work, exclusive=True):
    """Start a task in the name of the caller."""
    return tasks.start(call.world, method, entity, work, user=call.session.user, exclusive=exclusive)


def resolved(call, ref):
    """The entity behind an optional reference."""
    return call.resolve(ref) if ref is not None else None
