"""Content libraries: items to create VMs from, and ISO images."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field


def _now():
    return datetime.datetime.now(datetime.timezone.utc)


@dataclass(frozen=True)
class CheckOut:
    """A VM that was checked out of a template, by whom and when."""

    vm: object
    user: str
    time: datetime.datetime = field(default_factory=_now)


@dataclass
class Item:
    """One item; a template is a VM of the inventory, an OVF is a copy outside of the inventory."""

    id: str
    name: str
    kind: str
    source: object = None
    description: str = ""
    eula: str = ""
    # Bytes and files as they were captured; without, they follow from the source.
    bytes: int | None = None
    files: list | None = None
    content: dict[str, bytes] = field(default_factory=dict)  # files that clients sent, by name
    version: int = 1
    created: datetime.datetime = field(default_factory=_now)
    cached: bool = True  # a library that gets files on demand has their names only
    origin: str = ""  # the item of the published library that a subscribed item is a copy of
    check_out: CheckOut | None = None
    previous: tuple | None = None  # (version, template) before the last check-in; one at most is kept

    @property
    def size(self):
        if self.bytes is not None:
            return self.bytes
        if self.content:
            return sum(map(len, self.content.values()))
        return self.source.disk_bytes if self.source is not None else 0


@dataclass
class Library:
    """A library with its items by id."""

    id: str
    name: str
    kind: str
    store: object
    items: dict[str, Item] = field(default_factory=dict)
    description: str = ""
    created: datetime.datetime = field(default_factory=_now)
    info: dict = field(default_factory=dict)  # the publication of a local library, or the subscription of another one
    password: str = field(default="", repr=False)  # of the publication, or by which the library subscribes

    def __post_init__(self):
        self.info = {"authentication_method": "NONE"}
        if self.kind == "LOCAL":
            self.info.update(published=False, persist_json_enabled=False)
        else:  # the publisher of a library of a seed is not in the twin
            url = f"https://publisher.example/cls/vcsp/lib/{self.id}/lib.json"
            self.info.update(automatic_sync_enabled=True, on_demand=False, subscription_url=url)


class Libraries:
    """All libraries of a vCenter, by id."""

    def __init__(self):
        self.known: dict[str, Library] = {}
        self.sessions: dict = {}  # id: the session of an upload or a download

    def add(self, world, name, kind="LOCAL", store=None, ident=None):
        made = Library(ident or world.new_uuid("library"), name, kind, store)
        self.known[made.id] = made
        return made

    def item(self, name):
        """The library and the item with this id, or (None, None)."""
        for library in self.known.values():
            if name in library.items:
                return library, library.items[name]
        return None, None


def checked_out(world, item):
    """The check-out of an item, or None; it ends with its VM."""
    held = item.check_out
    if held is not None and world.get(held.vm.moid) is not held.vm:
        item.check_out = None
    return item.check_out
