# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import datetime
from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import events

GIVEN = {"since": "2026-03-01T08:00:00Z", "objects": [], "limit": 1000}


@pytest.mark.parametrize(
    "changes, said",
    [({}, []), ({"since": "yesterday"}, ["since must be a time"]), ({"limit": 0}, ["limit must be at least 1"])],
)
def test_parameters_that_cannot_be_are_rejected(changes, said):
    found = events.check_params({**GIVEN, **changes})
    assert [text[: len(start)] for text, start in zip(found, said, strict=True)] == said


def event(user, hour, **objects):
    at = datetime.datetime(2026, 3, 1, hour, tzinfo=datetime.timezone.utc)
    return SimpleNamespace(userName=user, createdTime=at, **objects)


def argument(kind, moid):
    return SimpleNamespace(name=moid, **{kind: SimpleNamespace(_GetMoId=lambda: moid)})


def vcenter(*found):
    manager = SimpleNamespace(QueryEvents=lambda **_spec: list(found))
    return SimpleNamespace(content=SimpleNamespace(eventManager=manager))


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
