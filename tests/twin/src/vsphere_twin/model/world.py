"""The registry of everything that exists in the twin, and the signal that something changed."""

from __future__ import annotations

import contextlib
import datetime
import itertools
import re
import threading
import uuid

from ..switches.model import Fabric, SwitchFaults
from .bmc_faults import BmcFaults
from .cluster_modules import Module
from .command_faults import CommandFaults
from .content_libraries import Libraries
from .depots import Depots
from .faults import FaultPlan
from .journal import Journal
from .operations import Operations
from .sso import Sso
from .storage_policies import StoragePolicies
from .supervisor import Workloads
from .tagging import Tagging
from .timeline import Timeline


class Entity:
    """Something with an identity: an inventory object, a service, a task, a filter."""

    kind = ""  # the name of its managed object type on the wire, such as VirtualMachine

    def __init__(self, moid):
        self.moid = moid
        # Bumped at every change; a cache of anything derived from it keys on this. None: no property is ever cached.
        self.version = 0

    def __repr__(self):
        return f"<{self.kind} {self.moid}>"


class Clocks:
    """Time of each clock: vCenter under the empty name, and the hosts."""

    def __init__(self):
        self._ahead_s = {}

    def set_ahead(self, name, seconds):
        self._ahead_s[name] = float(seconds)

    def now(self, name):
        return datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=self._ahead_s.get(name, 0))


class World:
    """All entities. Readers and writers hold the lock."""

    def __init__(self):
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self.generation = 0  # grows with every change of any entity
        self.faults = FaultPlan()
        self.bmc_faults = BmcFaults()
        self.command_faults = CommandFaults()
        self.switch_faults = SwitchFaults()
        self.fabric = Fabric(self)
        self.timeline = Timeline(self.lock)
        self.guests = None  # twin.guests.guests.Guests, where guests are machines of their own
        self.closed = False
        self.depots = Depots()
        self.operations = Operations()
        self.journal = Journal()
        self.leases: dict = {}  # secret part of the address: the lease of an import or export that goes on
        self.service_tickets: dict = {}  # ticket: (method, address, user) of the one request that it is for
        self.removed_hosts: dict = {}  # by name: hosts that left the inventory
        self.clone_tickets: dict[str, str] = {}  # ticket: whose session it continues
        self.libraries = Libraries()
        self.cluster_modules: dict[str, Module] = {}
        self.tagging = Tagging()
        self.storage_policies = StoragePolicies(self)
        self.workloads = Workloads()
        self.users: dict[str, str] = {}
        self.sso = Sso(self)
        self.clocks = Clocks()
        self.permissions = None  # twin.model.permissions.Permissions: privileges of the users
        self.release = None  # twin.model.release.Release of the vCenter
        self.instance_uuid = ""
        self.captured = ""  # time of the capture that the world is made of, or empty
        self.assumptions: list[dict] = []  # what is no part of the capture, with the value that the twin assumes
        self.root_folder = None
        self.task_seconds: dict[str, float] = {}
        self.most_per_page: int | None = None  # objects in one page of an answer, where the client sets no less
        self._entities = {}
        self._by_kind = {}
        self._numbers = {}
        self._given: dict[str, list[str]] = {}  # by prefix: ids that the next objects get
        self._uuid_space = uuid.UUID("6b0e8f6a-5d1c-4c55-9c0b-2f7d6f1f2a10")

    def new_moid(self, prefix):
        """Return an id in the style of vCenter: vm-101, host-12, task-7; and group-v4, domain-c8 after a single
        letter.
        """
        if self._given.get(prefix):
            return self._given[prefix].pop(0)
        counter = self._numbers.setdefault(prefix, itertools.count(101))
        dash = "" if prefix[-2:-1] == "-" else "-"
        return next(moid for moid in (f"{prefix}{dash}{number}" for number in counter) if moid not in self._entities)

    @contextlib.contextmanager
    def given_moids(self, moids):
        """Give the objects that are made in here these ids, by their prefixes; others get new ones."""
        before, self._given = self._given, {}
        for moid in moids:
            self._given.setdefault(re.sub(r"-?\d+$", "", moid), []).append(moid)
        try:
            yield
        finally:
            self._given = before

    def new_uuid(self, of):
        """A UUID that the same seed gives again."""
        number = next(self._numbers.setdefault(f"uuid of {of}", itertools.count()))
        return str(uuid.uuid5(self._uuid_space, f"{of}#{number}"))

    def add(self, entity):
        with self.changed:
            self._entities[entity.moid] = entity
            self._by_kind.setdefault(entity.kind, {})[entity.moid] = entity
            self.touch(entity)
        return entity

    def remove(self, entity):
        with self.changed:
            self._entities.pop(entity.moid, None)
            self._by_kind.get(entity.kind, {}).pop(entity.moid, None)
            self.generation += 1
            self.changed.notify_all()

    def entities(self):
        """Return everything that exists."""
        return list(self._entities.values())

    def get(self, moid):
        return self._entities.get(moid)

    def of_kind(self, kind):
        return list(self._by_kind.get(kind, {}).values())

    def touch(self, *entities):
        """Mark these entities as changed; wakes all waiters for updates."""
        with self.changed:
            self.generation += 1
            for entity in entities:
                if entity.version is not None:
                    entity.version = self.generation
            self.changed.notify_all()

    def close(self):
        """Stop the background work, and wake all waiters for events that will no longer happen."""
        self.timeline.stop()
        with self.changed:
            self.closed = True
            self.changed.notify_all()
