"""Revisions of NVUE: pending ones of each user, the applied one, the one waiting for a confirmation, the saved one."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field

from . import cumulus_qos
from .cumulus_schema import Invalid, schema
from .cumulus_tree import apply_steps, as_yaml, diff, lookup, ordered, patched, read_document

STARTUP = "/etc/nvue.d/startup.yaml"
KEPT = ("applied", "startup", "empty")


@dataclass
class Revision:
    """One revision: the tree, and the applied one that it began from."""

    number: int
    user: str
    tree: dict
    base: dict
    state: str = "pending"
    message: str = ""


@dataclass
class Waiting:
    """An apply that rolls back by itself."""

    revision: Revision
    before: dict
    due_s: float


@dataclass
class Revisions:
    """All revisions of a switch."""

    device: object
    applied: dict = field(default_factory=dict)
    pending: dict = field(default_factory=dict)  # by user: Revision
    known: list = field(default_factory=list)
    waiting: Waiting | None = None
    applies: int = 0
    next_number: int = 1

    @property
    def schema(self):
        return schema(self.device.release)

    def open(self, user):
        """Return the pending revision of a user; a missing one is created."""
        if user not in self.pending:
            self.pending[user] = self._new(user, copy.deepcopy(self.applied))
        return self.pending[user]

    def _new(self, user, tree):
        revision = Revision(self.next_number, user, tree, copy.deepcopy(self.applied))
        self.next_number += 1
        self.known.append(revision)
        return revision

    def detach(self, user):
        """The pending revision is no longer the user's; its number remains."""
        revision = self.pending.pop(user, None)
        if revision is not None:
            revision.state = "detached"
        return revision

    def load(self, user, text, replace):
        """nv config patch and replace: a document into the pending revision."""
        steps = read_document(self.schema, text)
        revision = self.open(user)
        revision.tree = apply_steps({} if replace else revision.tree, steps)

    def tree_of(self, name, user):
        """The tree of a revision by its name or number."""
        if name == "applied":
            return self.applied
        if name == "empty":
            return {}
        if name == "startup":
            return self.startup()
        if name == "pending":
            return self.pending[user].tree if user in self.pending else self.applied
        return self.numbered(name).tree

    def numbered(self, name):
        """A revision by its number."""
        for revision in self.known:
            if str(revision.number) == name:
                return revision
        raise Invalid(f"Revision '{name}' not found.")

    def target(self, revision):
        """Return the configuration to apply: the revision's own changes on the currently applied one."""
        return patched(self.applied, *diff(revision.base, revision.tree))

    def apply(self, revision, timeout_s=None, message=""):
        """Apply a revision; return problems as a list of sentences, and then nothing has changed."""
        target = self.target(revision)
        found = cumulus_qos.problems(target, self.device.release, self.device.ports())
        if found:
            revision.state = "invalid"
            return found
        before = self.applied
        self.applied, revision.base, revision.tree = target, copy.deepcopy(target), copy.deepcopy(target)
        revision.message, self.applies = message, self.applies + 1
        for user in [user for user, one in self.pending.items() if one is revision]:
            self.pending.pop(user)
        if timeout_s is None:
            revision.state = "applied"
            return []
        timeline = self.device.world.timeline
        revision.state = "confirm"
        self.waiting = waiting = Waiting(revision, before, timeline.now() + timeout_s)
        timeline.after(timeout_s, lambda: self.expire(waiting))
        return []

    def expire(self, waiting):
        """Roll back to the earlier configuration if the confirmation did not arrive in time."""
        if self.waiting is waiting:
            self.waiting = None
            self.applied = waiting.before
            waiting.revision.state = "rolled back"

    def confirm(self):
        """Confirm the applied configuration."""
        waiting, self.waiting = self.waiting, None
        waiting.revision.state = "applied"
        return waiting.revision

    def saves_itself(self):
        """Return whether applying saves: the default since 5.9."""
        own = lookup(self.applied, ("system", "config", "auto-save"), {})
        chosen = {"on": True, "enabled": True, "off": False, "disabled": False}
        return chosen.get(own.get("state") or own.get("enable"), self.device.release >= (5, 9))

    def save(self):
        """Write the applied configuration; False where the disk is full."""
        if self.device.switch.full_flash:
            return False
        self.device.files[STARTUP] = self.document(self.applied)
        return True

    def startup(self):
        """Return the startup configuration."""
        return apply_steps({}, read_document(self.schema, self.device.files.get(STARTUP, "")))

    def document(self, tree):
        """A configuration as nv config show writes it."""
        return as_yaml([{"header": self.header()}, {"set": ordered(tree)}])

    def header(self):
        return {
            "model": self.device.model,
            "nvue-api-version": "nvue_v1",
            "rev-id": 1.0,
            "version": f"Cumulus Linux {self.device.version}",
        }

    def restart(self):
        """After a boot: the startup configuration runs, and nothing is pending."""
        self.waiting = None
        self.pending.clear()
        self.known.clear()
        self.applied = self.startup()
        self.applies = 0


def seconds(text):
    """Return the time of --confirm in seconds: minutes, unless it has a unit."""
    match = re.fullmatch(r"(\d+)([smh]?)", text)
    return int(match[1]) * {"s": 1, "": 60, "m": 60, "h": 3600}[match[2]] if match else None
