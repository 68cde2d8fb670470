"""Places that follow from what others of the task are given, and from what a host can see."""

from __future__ import annotations

import pytest

from .lab import result
from .rows.vm_clone import CALL, vm_of, world

pytestmark = pytest.mark.usefixtures("brisk")


def test_vms_without_a_host_go_where_the_others_of_the_task_leave_room(twin, drive):
    running = twin(seed=world())
    pinned = [{"name": f"new-{number:02}", "host": "esx-02"} for number in (2, 3)]
    answer = drive(running)("vm_clone", **{**CALL, "vms": [{"name": "new-01"}, *pinned]})
    assert not answer["failed"], answer["msg"]
    # The template counts on esx-01, and the two that were named on esx-02.
    assert vm_of(running, "new-01").host.name == "esx-01"


def test_a_vm_that_moves_to_a_host_without_its_datastore_takes_its_files_along(twin, drive):
    running = twin(seed=world())
    module = drive(running)
    assert module("vm_clone", **{**CALL, "vms": CALL["vms"][:1]})["changed"]
    with running.world.lock:
        (host,) = [one for one in running.world.of_kind("HostSystem") if one.name == "esx-02"]
        (store,) = [one for one in running.world.of_kind("Datastore") if one.name == "datastore-01"]
        store.hosts.pop(host.moid)
        host.datastores.pop(store.moid)
        running.world.touch(host, store)
    call = {**CALL, "vms": [{"name": "new-01", "host": "esx-02"}], "move": "cold"}
    predicted = module("vm_clone", check=True, **call)
    answer = module("vm_clone", **call)
    assert not answer["failed"], answer["msg"]
    after = result(answer, "new-01")["after"]
    assert (after["host"], after["datastore"]) == ("esx-02", "datastore-02")
    assert after == result(predicted, "new-01")["after"]
    moved = vm_of(running, "new-01")
    assert (moved.host.name, [one.name for one in moved.datastores.values()]) == ("esx-02", ["datastore-02"])
