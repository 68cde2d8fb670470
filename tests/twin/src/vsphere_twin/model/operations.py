"""Long work of the REST services, as its tasks show it."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field


def utc_now():
    """Now."""
    return datetime.datetime.now(datetime.timezone.utc)


@dataclass
class Operation:
    """One task of the REST services."""

    id: str
    service: str
    operation: str
    user: str
    target: str = ""
    state: str = "PENDING"  # RUNNING, SUCCEEDED, FAILED
    percent: int = 0
    text: str = ""
    result: object = None
    error: dict | None = None
    started: datetime.datetime = field(default_factory=utc_now)
    ended: datetime.datetime | None = None

    def advance(self, percent, text):
        """Report the progress."""
        self.state, self.percent, self.text = "RUNNING", percent, text

    def succeed(self, result=None):
        """It is done."""
        self.state, self.percent, self.result, self.ended = "SUCCEEDED", 100, result, utc_now()

    def fail(self, error, result=None):
        """It could not be done; the error is as the REST API writes it."""
        self.state, self.error, self.result, self.ended = "FAILED", error, result, utc_now()


class Operations:
    """All tasks of the REST services, by their ids."""

    def __init__(self):
        self._known: dict[str, Operation] = {}

    def begin(self, world, service, operation, user, target=""):
        """A new task; its id is a UUID and the name of its service, as vCenter makes them."""
        made = Operation(f"{world.new_uuid('operation')}:{service}", service, operation, user, target)
        self._known[made.id] = made
        return made

    def get(self, name):
        return self._known.get(name)

    def living(self, target):
        """The task that works on a target now, or None."""
        return next((one for one in self._known.values() if one.target == target and one.ended is None), None)
