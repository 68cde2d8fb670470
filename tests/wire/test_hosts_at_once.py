"""Several hosts are asked at the same time: one that is slow holds up no other, and each session ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from twin_labs.host_lab import esx, seed
from vsphere_twin.esxcli import command

NAMES = [f"esx-{number:02}.example.com" for number in range(1, 7)]
FIRST, LAST = "software.vib.list", "hardware.pci.list"
WORKERS = 3
PATIENCE_S = 120


@pytest.fixture
def during(monkeypatch):
    """during(function): the twin calls function(world, host) in the first esxcli command of each host."""

    def set_up(function):
        found = command.table()[FIRST]

        def run(world, host, **arguments):
            function(world, host)
            return found.function(world, host, **arguments)

        monkeypatch.setitem(command.table(), FIRST, replace(found, function=run))

    return set_up


def hosts_of(running):
    return running.world.of_kind("HostSystem")


def read(running, drive, **params):
    answer = drive(running)("esxi_host_info", hosts=NAMES, **params)
    assert not answer["failed"], answer["msg"]
    assert [one["item"] for one in answer["hosts"]] == NAMES
    assert [one["msg"] for one in answer["hosts"]] == [""] * len(NAMES)
    return answer


def test_a_slow_host_holds_up_no_other(twin, drive, during):
    running = twin(seed=seed(*map(esx, NAMES)))
    slow, present, most = hosts_of(running)[0].name, set(), []

    def wait(world, host):
        present.add(host.name)
        most.append(len(present))
        world.changed.notify_all()
        others = [one for one in hosts_of(running) if one.name != slow]
        if host.name == slow:
            done = world.changed.wait_for(lambda: all(one.esxcli_calls[LAST] for one in others), PATIENCE_S)
        else:
            done = world.changed.wait_for(lambda: max(most) >= WORKERS, PATIENCE_S)
        present.discard(host.name)
        assert done, "the hosts were asked one after the other"

    during(wait)
    read(running, drive, session="once")
    assert max(most) == WORKERS
    assert (running.requests["Login"], running.requests["Logout"], running.sessions) == (WORKERS, WORKERS, [])


@pytest.mark.parametrize("kept", ["reuse", "once"])
def test_a_session_that_vcenter_drops_is_renewed(twin, drive, during, kept):
    running = twin(seed=seed(*map(esx, NAMES)))
    begun = []

    def drop(world, host):
        begun.append(host.name)
        if len(begun) == WORKERS:
            running.control.drop_sessions()

    during(drop)
    read(running, drive, session=kept)
    if kept == "reuse":
        # One for all connections, and a new one for all.
        assert (running.requests["Login"], len(running.sessions)) == (2, 1)
    else:
        assert running.requests["Login"] > WORKERS
        assert running.sessions == []
