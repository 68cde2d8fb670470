# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import datetime
import itertools
from collections import Counter
from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import events
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import managed_type
from pyVmomi import vmodl

GIVEN = {"since": "2026-03-01T08:00:00Z", "objects": [], "limit": 1000}


@pytest.mark.parametrize(
    "changes, said",
    [({}, []), ({"since": "yesterday"}, ["since must be a time"]), ({"limit": 0}, ["limit must be at least 1"])],
)
def test_parameters_that_cannot_be_are_rejected(changes, said):
    found = events.check_params({**GIVEN, **changes})
    assert [text[: len(start)] for text, start in zip(found, said, strict=True)] == said


START = datetime.datetime(2026, 3, 1, tzinfo=datetime.timezone.utc)
_KEYS = itertools.count(1)


def event(user, hour, **objects):
    at = START + datetime.timedelta(hours=hour)
    return SimpleNamespace(key=next(_KEYS), userName=user, createdTime=at, **objects)


def argument(kind, moid):
    return SimpleNamespace(name=moid, **{kind: SimpleNamespace(_GetMoId=lambda: moid)})


class Manager:
    """Events of vCenter: the newest that a filter selects, at most 1,000, in no order."""

    def __init__(self, *found, deleted=(), last_moment=True):
        self.found, self.deleted, self.last_moment, self.requests = found, deleted, last_moment, 0

    def QueryEvents(self, **given):
        spec = given["filter"]
        self.requests += 1
        moid = spec.entity and spec.entity.entity._GetMoId()
        if moid in self.deleted:
            raise vmodl.fault.ManagedObjectNotFound()
        begin, end = spec.time.beginTime, spec.time.endTime
        fit = [one for one in self.found if not (begin and one.createdTime < begin or end and one.createdTime > end)]
        fit = [one for one in fit if moid in (None, _moid(one)) and (self.last_moment or one.createdTime != end)]
        newest = sorted(fit, key=lambda one: one.createdTime, reverse=True)[: spec.maxCount]
        return list(reversed(newest)) or None


def _moid(one):
    for kind in ("vm", "host"):
        if hasattr(one, kind):
            return getattr(getattr(one, kind), kind)._GetMoId()
    return ""


def vcenter(*found, **options):
    content = SimpleNamespace(eventManager=Manager(*found, **options))
    return SimpleNamespace(content=content, managed=lambda kind, moid: managed_type(kind)(moid, None))


def test_the_newest_event_of_the_narrowest_object_comes_first_and_those_without_a_user_are_left_out():
    one = vcenter(
        event("ann", 9, vm=argument("vm", "vm-1"), host=argument("host", "host-1")),
        event("bob", 10, host=argument("host", "host-1")),
        event("", 11, vm=argument("vm", "vm-1")),
        event("eve", 12),
    )
    reported = [(row["user"], row["moid"], row["at"]) for row in events.read(one, GIVEN)]
    assert reported == [("bob", "host-1", "2026-03-01T10:00:00Z"), ("ann", "vm-1", "2026-03-01T09:00:00Z")]
    assert [row["moid"] for row in events.read(one, dict(GIVEN, objects=["vm-1"], since=None))] == ["vm-1"]


def busy(moid, user="svc", most=2500):
    """More events than fit on a page, two in each moment."""
    return [event(user, 20 + number // 2 / 3600, vm=argument("vm", moid)) for number in range(most)]


def test_vcenter_filters_the_events_of_an_object_so_many_newer_ones_of_others_hide_none():
    one = vcenter(event("ann", 9, vm=argument("vm", "vm-1")), *busy("vm-2"))
    assert [row["user"] for row in events.read(one, dict(GIVEN, objects=["vm-1"]))] == ["ann"]
    assert one.content.eventManager.requests == 1


def test_events_without_a_user_do_not_count_towards_the_limit_and_older_pages_are_read():
    one = vcenter(event("ann", 9, vm=argument("vm", "vm-1")), *busy("vm-1", user=""))
    assert [row["user"] for row in events.read(one, dict(GIVEN, objects=["vm-1"], limit=1))] == ["ann"]


def test_events_of_deleted_and_other_objects_are_selected_from_all_pages():
    one = vcenter(
        event("ann", 9, vm=argument("vm", "vm-1")),
        event("bob", 10, host=argument("host", "strange")),
        *busy("vm-2"),
        deleted=["vm-1"],
    )
    found = events.read(one, dict(GIVEN, objects=["vm-1", "strange"]))
    assert [row["user"] for row in found] == ["bob", "ann"]


def test_the_limit_is_for_each_object_and_without_objects_for_all_together():
    one = vcenter(*busy("vm-1"), *busy("vm-2", user="ann"), *busy("vm-3", user="eve"), deleted=["vm-2", "vm-3"])
    found = events.read(one, dict(GIVEN, objects=["vm-1", "vm-2", "vm-3"], limit=1200))
    assert Counter(row["user"] for row in found) == {"svc": 1200, "ann": 1200, "eve": 1200}
    assert found[-1]["at"] == "2026-03-01T20:10:50Z"
    assert len(events.read(vcenter(*busy("vm-1"), *busy("vm-2")), dict(GIVEN, limit=3000))) == 3000
    assert len(events.read(vcenter(*busy("vm-1")), dict(GIVEN, limit=9000))) == 2500


@pytest.mark.parametrize("last_moment", [True, False], ids=["the end is in the range", "the end is not in the range"])
def test_events_of_one_moment_on_two_pages_are_all_read(last_moment):
    found = [event("ann", 20 + number // 3 / 3600, vm=argument("vm", "vm-1")) for number in range(1100)]
    assert len(events.read(vcenter(*found, last_moment=last_moment), dict(GIVEN, limit=2000))) == 1100


def test_no_page_is_read_after_the_limit_is_reached():
    one = vcenter(*busy("vm-1"))
    assert len(events.read(one, dict(GIVEN, objects=["vm-1"], limit=2))) == 2
    assert one.content.eventManager.requests == 1
