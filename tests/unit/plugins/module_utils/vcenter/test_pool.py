"""Several objects are read at the same time, over connections that are closed however the read ends."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import hosts, pool
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import managed_type
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from pyVmomi import vim

PATIENCE_S = 60


class Connection:
    """A connection that can open others, until vCenter refuses more than `most`."""

    def __init__(self, most=99):
        self.most, self.others, self.closed = most, [], 0

    def another(self):
        if len(self.others) == self.most:
            raise OperatorError("vc.example", "cannot log in", "There are too many sessions", "", "vsphere_fault")
        self.others.append(Connection())
        return self.others[-1]

    def close(self):
        self.closed += 1


def test_the_workers_overlap_and_the_results_keep_the_order():
    first, together, used = Connection(), threading.Barrier(3), set()

    def work(mine, item):
        used.add(mine)
        if item < 3:
            together.wait(PATIENCE_S)
        return item * 10

    assert pool.each(first, range(7), work, 3) == [0, 10, 20, 30, 40, 50, 60]
    assert used == {first, *first.others}
    assert ([one.closed for one in first.others], first.closed) == ([1, 1], 0)


@pytest.mark.parametrize("items, workers, others", [(0, 8, 0), (1, 8, 0), (3, 8, 2), (5, 1, 0), (5, 0, 0)])
def test_no_connection_is_opened_that_has_no_item(items, workers, others):
    first = Connection()
    assert pool.each(first, range(items), lambda _mine, item: item, workers) == list(range(items))
    assert len(first.others) == others


def test_the_first_connection_reads_everything_if_vcenter_refuses_others():
    first = Connection(most=1)
    assert pool.each(first, "abcd", lambda _mine, item: item.upper(), 4) == ["A", "B", "C", "D"]
    assert [one.closed for one in first.others] == [1]


def test_an_exception_ends_the_read_and_closes_the_connections():
    first, failed, begun = Connection(), threading.Event(), []

    def work(mine, item):
        begun.append(item)
        if mine is first:
            assert failed.wait(PATIENCE_S)
            return
        failed.set()
        raise KeyError(item)

    with pytest.raises(KeyError):
        pool.each(first, range(100), work, 2)
    # The first worker can begin one more item before the exception is noted.
    assert len(begun) <= 3
    assert first.others[0].closed == 1


def test_ctrl_c_waits_for_no_object_that_does_not_answer():
    first, begun, answered = Connection(), threading.Event(), threading.Event()
    items, threads = [], []

    def work(mine, item):
        items.append(item)
        if mine is first:
            assert begun.wait(PATIENCE_S)
            raise KeyboardInterrupt
        threads.append(threading.current_thread())
        begun.set()
        assert answered.wait(PATIENCE_S)

    try:
        with pytest.raises(KeyboardInterrupt):
            pool.each(first, range(9), work, 2)
        assert first.others[0].closed == 1
    finally:
        answered.set()
    threads[0].join(PATIENCE_S)
    assert len(items) == 2, "No further object is read after Ctrl-C."


@pytest.mark.parametrize("services", [True, False])
def test_a_host_and_its_services_are_asked_over_the_connection_of_the_worker(services):
    first, mine = (SimpleNamespace(stub=object()) for _number in range(2))
    manager = vim.host.ConfigManager(kernelModuleSystem=vim.host.KernelModuleSystem("kernel-1", first.stub))
    ref = vim.HostSystem("host-1", first.stub)
    row = Row(ref, {"configManager": manager} if services else {}, {})
    found = hosts.HostFound(ref, "host-1", "esx-01", "/dc", None, None, "dc", None, "connected", row)
    mine.managed = lambda kind, moid: managed_type(kind)(moid, mine.stub)
    moved = hosts.over(mine, found)
    assert (moved.ref, moved.ref._stub) == (ref, mine.stub)
    if services:
        system = moved.row.get("configManager").kernelModuleSystem
        assert (system._GetMoId(), system._stub) == ("kernel-1", mine.stub)
