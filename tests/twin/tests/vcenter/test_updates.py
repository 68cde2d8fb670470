"""Filters and WaitForUpdatesEx: what clients hear of changes, and that they hear all of it."""

from __future__ import annotations

import threading

import pytest
from pyVmomi import vim, vmodl

from vsphere_twin.vcenter.updates import KEPT_VERSIONS

WaitOptions = vmodl.query.PropertyCollector.WaitOptions
AT_ONCE = WaitOptions(maxWaitSeconds=0)


@pytest.fixture
def watched(client, specs):
    """A filter on the names of all VMs."""
    filter_spec, traversal = specs
    view = client.view(vim.VirtualMachine)
    spec = filter_spec([view], {vim.VirtualMachine: ["name"]}, [traversal(vim.view.ContainerView, "view")], skip=True)
    return client.collector.CreateFilter(spec, True)


def rename(world, vm, name):
    vm.name = name
    world.touch(vm)


def reported(update_set):
    return sorted(
        (update.kind, update.changeSet[0].val if update.changeSet else None)
        for of_filter in update_set.filterSet
        for update in of_filter.objectSet
    )


def test_first_answer_is_everything_and_the_next_only_what_changed(client, watched, world, vms):
    first = client.collector.WaitForUpdatesEx("", AT_ONCE)
    assert reported(first) == [("enter", "vm-1"), ("enter", "vm-2"), ("enter", "vm-3")]
    assert first.filterSet[0].filter == watched
    assert client.collector.WaitForUpdatesEx(first.version, AT_ONCE) is None
    rename(world, vms["vm-2"], "other")
    assert reported(client.collector.WaitForUpdatesEx(first.version, AT_ONCE)) == [("modify", "other")]


def test_change_of_something_else_is_no_update(client, watched, world, vms):
    first = client.collector.WaitForUpdatesEx("", AT_ONCE)
    world.touch(vms["vm-1"], *world.of_kind("HostSystem"))
    assert client.collector.WaitForUpdatesEx(first.version, AT_ONCE) is None


def test_object_that_goes_leaves(client, watched, world, vms):
    first = client.collector.WaitForUpdatesEx("", AT_ONCE)
    vm = vms["vm-1"]
    vm.parent.children.pop(vm.moid)
    world.remove(vm)
    world.touch(vm.parent)
    assert reported(client.collector.WaitForUpdatesEx(first.version, AT_ONCE)) == [("leave", None)]


def test_property_that_becomes_unset_is_assigned_nothing(client, specs, world, vms):
    client.collector.CreateFilter(
        specs[0]([client.reference(vms["vm-1"])], {vim.VirtualMachine: ["name", "parent"]}), False
    )
    first = client.collector.WaitForUpdatesEx("", AT_ONCE)
    vms["vm-1"].parent = None
    world.touch(vms["vm-1"])
    (update,) = client.collector.WaitForUpdatesEx(first.version, AT_ONCE).filterSet[0].objectSet
    assert [(one.name, one.op, one.val) for one in update.changeSet] == [("parent", "assign", None)]


def test_answer_that_got_lost_can_be_asked_for_again(client, watched, world, vms):
    first = client.collector.WaitForUpdatesEx("", AT_ONCE)
    rename(world, vms["vm-2"], "other")
    lost = client.collector.WaitForUpdatesEx(first.version, AT_ONCE)
    again = client.collector.WaitForUpdatesEx(first.version, AT_ONCE)
    assert reported(again) == reported(lost) == [("modify", "other")]
    assert client.collector.WaitForUpdatesEx(again.version, AT_ONCE) is None


@pytest.mark.parametrize("version", ["0", "7", "nonsense"])
def test_version_that_was_never_given_is_refused(client, watched, version):
    with pytest.raises(vmodl.query.InvalidCollectorVersion):
        client.collector.WaitForUpdatesEx(version, AT_ONCE)


def test_version_stays_valid_after_the_client_went_on_until_it_is_old(client, watched, world, vms):
    first = client.collector.WaitForUpdatesEx("", AT_ONCE)
    rename(world, vms["vm-2"], "other")
    second = client.collector.WaitForUpdatesEx(first.version, AT_ONCE)
    client.collector.WaitForUpdatesEx(second.version, AT_ONCE)
    assert reported(client.collector.WaitForUpdatesEx(first.version, AT_ONCE)) == [("modify", "other")]
    for _ in range(KEPT_VERSIONS):
        client.collector.WaitForUpdatesEx("", AT_ONCE)
    with pytest.raises(vmodl.query.InvalidCollectorVersion):
        client.collector.WaitForUpdatesEx(first.version, AT_ONCE)


def test_long_answer_comes_in_parts_and_nothing_is_lost(client, watched):
    part, seen = client.collector.WaitForUpdatesEx("", WaitOptions(maxObjectUpdates=2, maxWaitSeconds=0)), []
    assert (part.truncated, len(reported(part))) == (True, 2)
    while part is not None:
        seen += reported(part)
        part = client.collector.WaitForUpdatesEx(part.version, WaitOptions(maxObjectUpdates=2, maxWaitSeconds=0))
    assert seen == [("enter", "vm-1"), ("enter", "vm-2"), ("enter", "vm-3")]


def test_destroyed_filter_says_nothing_more(client, watched, world, vms):
    first = client.collector.WaitForUpdatesEx("", AT_ONCE)
    watched.DestroyPropertyFilter()
    rename(world, vms["vm-1"], "other")
    assert client.collector.WaitForUpdatesEx(first.version, AT_ONCE) is None
    with pytest.raises(vmodl.fault.ManagedObjectNotFound):
        watched.DestroyPropertyFilter()


def test_each_collector_has_filters_and_versions_of_its_own(client, watched, specs, vms):
    other = client.collector.CreatePropertyCollector()
    other.CreateFilter(specs[0]([client.reference(vms["vm-3"])], {vim.VirtualMachine: ["name"]}), True)
    assert reported(other.WaitForUpdatesEx("", AT_ONCE)) == [("enter", "vm-3")]
    assert len(reported(client.collector.WaitForUpdatesEx("", AT_ONCE))) == 3
    other.DestroyPropertyCollector()
    with pytest.raises(vmodl.fault.ManagedObjectNotFound):
        other.CheckForUpdates("")


def test_check_for_updates_never_waits(client, watched):
    first = client.collector.CheckForUpdates(None)
    assert len(reported(first)) == 3
    assert client.collector.CheckForUpdates(first.version) is None


class Waiting:
    """A poll on a thread of its own."""

    def __init__(self, client, version):
        self.answer = self.fault = None
        self._thread = threading.Thread(target=self._wait, args=(client, version), daemon=True)
        self._thread.start()

    def _wait(self, client, version):
        try:
            self.answer = client.collector.WaitForUpdatesEx(version, WaitOptions(maxWaitSeconds=300))
        except vmodl.MethodFault as fault:
            self.fault = fault

    def end(self):
        self._thread.join(timeout=120)
        assert not self._thread.is_alive(), "the poll was not woken"
        return self


@pytest.fixture
def waiting(client, dispatcher, watched):
    """A poll that has everything and waits for more."""
    first = client.collector.WaitForUpdatesEx("", AT_ONCE)
    before = dispatcher.requests["WaitForUpdatesEx"]
    poll = Waiting(client, first.version)
    while True:
        with dispatcher.world.lock:  # held by the poll until it waits
            if dispatcher.requests["WaitForUpdatesEx"] > before:
                return poll


def test_waiting_poll_is_woken_by_a_change(waiting, world, vms):
    rename(world, vms["vm-1"], "other")
    assert reported(waiting.end().answer) == [("modify", "other")]


def test_waiting_poll_is_woken_by_a_new_filter(waiting, client, specs, world):
    host = client.reference(world.of_kind("HostSystem")[0])
    client.collector.CreateFilter(specs[0]([host], {vim.HostSystem: ["name"]}), True)
    assert reported(waiting.end().answer) == [("enter", "host-1")]


def test_waiting_poll_ends_when_cancelled(waiting, client):
    client.collector.CancelWaitForUpdates()
    assert isinstance(waiting.end().fault, vmodl.fault.RequestCanceled)


def test_two_clients_of_one_collector_wait_at_the_same_time(waiting, client, watched, specs, world, vms):
    other = client.collector.CreateFilter(
        specs[0]([client.reference(vms["vm-3"])], {vim.VirtualMachine: ["name"]}), True
    )
    assert len(reported(waiting.end().answer)) == 1
    again = Waiting(client, waiting.answer.version)
    begun = client.collector.WaitForUpdatesEx("", AT_ONCE)
    assert len(reported(begun)) == 4
    assert client.collector.WaitForUpdatesEx(begun.version, AT_ONCE) is None
    other.DestroyPropertyFilter()
    rename(world, vms["vm-1"], "other")
    assert reported(client.collector.WaitForUpdatesEx(begun.version, AT_ONCE)) == [("modify", "other")]
    assert reported(again.end().answer) == [("modify", "other")]


def test_waiting_poll_ends_with_the_session(waiting, client):
    client.content.sessionManager.Logout()
    assert isinstance(waiting.end().fault, vim.fault.NotAuthenticated)
