"""Events of an object that many newer events of others follow, and those of a deleted object."""

from __future__ import annotations

import pytest

# More than vCenter returns at once.
NEWER = 1100


@pytest.mark.parametrize("deleted", [False, True], ids=["there", "deleted"])
def test_older_events_of_an_object_are_returned_despite_many_newer_ones_of_others(twin, drive, deleted):
    running = twin()
    vm, other = sorted(running.world.of_kind("VirtualMachine"), key=lambda one: one.name)[:2]
    moid = vm.moid
    running.world.journal.post("VmReconfiguredEvent", vm, "ann")
    for _ in range(NEWER):
        running.world.journal.post("VmReconfiguredEvent", other, "svc")
    if deleted:
        running.world.remove(vm)
    answer = drive(running)("vcenter_event_info", objects=[moid])
    assert not answer["failed"], answer["msg"]
    assert [row["moid"] for row in answer["events"]] == [moid] * len(answer["events"])
    assert "ann" in answer["events"][0]["user"]
    assert running.requests["QueryEvents"] == (3 if deleted else 1)
