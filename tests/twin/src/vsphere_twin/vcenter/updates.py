"""Changes since the last request of a client: filters, snapshots of their data, and the difference."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import groupby
from xml.sax.saxutils import escape

from pyVmomi import vmodl

from ..model.world import Entity
from . import fragments
from .calls import ClientGone

LOOK_UP_S = 1.0  # interval at which a waiting poll checks that client and session still exist
KEPT_VERSIONS = 50  # of each collector; more than the requests that a client has at the same time


@dataclass(frozen=True, eq=False)
class Seen:
    """One object as a filter saw it."""

    obj: str
    props: dict
    missing: dict


@dataclass(frozen=True)
class Update:
    """One object that entered, changed or left."""

    filter_moid: str
    moid: str
    kind: str
    seen: Seen
    before: Seen | None = None


class Filter(Entity):
    """A property filter of one session."""

    kind = "PropertyFilter"

    def __init__(self, moid, collector, spec, selection, partial_updates):
        super().__init__(moid)
        self.collector = collector
        self.spec = spec
        self.selection = selection
        self.partial_updates = bool(partial_updates)
        self._known = {}

    def look(self, reader):
        """Read all objects in their present state; an unchanged object is the same Seen as last time."""
        known, seen = self._known, {}
        for entity in self.selection.entities(reader):
            last = known.get(entity.moid)
            if last is None or last[0] != entity.version or entity.version is None:
                props, missing = fragments.properties(reader, entity, self.selection)
                last = (entity.version, Seen(fragments.reference("obj", entity), props, missing))
            seen[entity.moid] = last
        self._known = seen
        return {moid: one for moid, (_version, one) in seen.items()}


class Collector(Entity):
    """Property collector of one session: its filters, and the data that its client already has."""

    kind = "PropertyCollector"

    def __init__(self, moid, world):
        super().__init__(moid)
        self.version = None
        self.world = world
        self.filters = {}
        self.pages = {}
        self._reported = {}  # the client's state at each version that it may still continue from
        self._number = 0
        self._cancelled = 0
        self._changed = 0  # counts changes of the filters

    def add_filter(self, filter_):
        """Watch with one more filter; wakes a poll that waits."""
        self.filters[filter_.moid] = filter_
        self._wake()

    def drop_filter(self, filter_):
        """Watch with one filter less."""
        self.filters.pop(filter_.moid, None)
        self._wake()

    def cancel(self):
        """End the polls that wait."""
        self._cancelled += 1
        self._wake()

    def wait(self, call, version, limit=None, max_wait_s=None):
        """The updates since a version as an UpdateSet element; an empty text when the time is over."""
        reported, cancelled, looked = self._base(version), self._cancelled, None
        deadline = None if max_wait_s is None else time.monotonic() + max_wait_s
        while True:
            self._refuse_ended(call, cancelled)
            state = (self.world.generation, self._changed)
            if state != looked:
                updates = self._updates(call.reader, reported)
                if updates:
                    return self._report(reported, updates[:limit], bool(limit) and len(updates) > limit)
                looked = state
            left_s = LOOK_UP_S if deadline is None else min(LOOK_UP_S, deadline - time.monotonic())
            if left_s <= 0:
                return ""
            self.world.changed.wait(left_s)
            if call.client is not None and call.client.hung_up():
                raise ClientGone

    def _refuse_ended(self, call, cancelled):
        if not call.session.alive:
            call.session = None
            call.require_session()
        if cancelled != self._cancelled:
            raise vmodl.fault.RequestCanceled(msg="The request was canceled.")

    def _base(self, version):
        if not version:
            return {}
        number = int(version) if version.isdigit() else -1
        if number not in self._reported:
            raise vmodl.query.InvalidCollectorVersion(msg=f"The collector version {version} is not valid.")
        return self._reported[number]

    def _updates(self, reader, reported):
        now = {moid: filter_.look(reader) for moid, filter_ in self.filters.items()}
        return list(_differences(reported, now))

    def _report(self, reported, updates, truncated):
        reported = {moid: dict(seen) for moid, seen in reported.items() if moid in self.filters}
        for update in updates:
            seen = reported.setdefault(update.filter_moid, {})
            if update.kind == "leave":
                seen.pop(update.moid, None)
            else:
                seen[update.moid] = update.seen
        self._number += 1
        self._reported[self._number] = reported
        self._reported.pop(self._number - KEPT_VERSIONS, None)
        return _written(self._number, updates, truncated)

    def _wake(self):
        with self.world.changed:
            self._changed += 1
            self.world.changed.notify_all()


def _differences(reported, now):
    for filter_moid, seen in now.items():
        before = reported.get(filter_moid, {})
        for moid, one in seen.items():
            old = before.get(moid)
            if old is None:
                yield Update(filter_moid, moid, "enter", one)
            elif old is not one and (old.props != one.props or old.missing != one.missing):
                yield Update(filter_moid, moid, "modify", one, old)
        for moid, old in before.items():
            if moid not in seen:
                yield Update(filter_moid, moid, "leave", old)


def _written(number, updates, truncated):
    out = [f"<returnval><version>{number}</version>"]
    for filter_moid, group in groupby(updates, key=lambda update: update.filter_moid):
        out.append(f'<filterSet><filter type="PropertyFilter">{filter_moid}</filter>')
        for update in group:
            out.append(f"<objectSet><kind>{update.kind}</kind>{update.seen.obj}")
            if update.kind != "leave":
                _write_changes(out, update)
            out.append("</objectSet>")
        out.append("</filterSet>")
    if truncated:
        out.append("<truncated>true</truncated>")
    out.append("</returnval>")
    return "".join(out)


def _write_changes(out, update):
    before = update.before.props if update.before else {}
    missing_before = update.before.missing if update.before else {}
    for path, value in update.seen.props.items():
        if value != before.get(path):
            out.append(f"<changeSet><name>{escape(path)}</name><op>assign</op>{value}</changeSet>")
    for path in before:
        if path not in update.seen.props:
            out.append(f"<changeSet><name>{escape(path)}</name><op>assign</op></changeSet>")
    for path, fault in update.seen.missing.items():
        if fault != missing_before.get(path):
            out.append(fragments.missing(path, fault))
