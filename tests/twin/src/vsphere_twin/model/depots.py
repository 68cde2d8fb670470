"""Imported offline depots, from which vSphere Lifecycle Manager builds images."""

from __future__ import annotations

import datetime
import itertools
from dataclasses import dataclass, field

from . import vib as vibs
from .depot import Bundle


@dataclass
class OfflineDepot:
    """One imported depot."""

    id: str
    description: str
    location: str
    bundle: Bundle
    owner: str
    created: datetime.datetime = field(default_factory=lambda: datetime.datetime.now(datetime.timezone.utc))


class Depots:
    """All depots of a vCenter."""

    def __init__(self):
        self.offline: dict[str, OfflineDepot] = {}
        self._numbers = itertools.count(1)

    def add(self, description, location, bundle, owner):
        """Keep a depot that was imported."""
        made = OfflineDepot(str(next(self._numbers)), description, location, bundle, owner)
        self.offline[made.id] = made
        return made

    def components(self):
        """Every component of every depot."""
        return [component for depot in self.offline.values() for component in depot.bundle.components]

    def component(self, name, version=""):
        """A component by name and version, the newest without one; None where no depot has it."""
        found = [one for one in self.components() if one.name == name and version in ("", one.version)]
        return max(found, key=lambda one: vibs.sort_key(one.version), default=None)

    def contents(self, component):
        """The VIBs of a component."""
        known = {one.id: one for depot in self.offline.values() for one in depot.bundle.vibs}
        return [known[name] for name in component.vibs]
