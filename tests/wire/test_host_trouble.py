"""Trouble at any request about a host ends in what was wanted, made once, or in an error that the next run cures."""

from __future__ import annotations

import pytest

from twin_labs.host_lab import host

from .drive import run
from .host_troubles import CASES, NAMES, deeds, go_away, hosts, renew
from .nth import Nth

pytestmark = pytest.mark.usefixtures("brisk")

TROUBLES = {
    "503": ("take_unavailable", lambda running, name: True),
    "the session is dropped": ("take_unavailable", lambda running, name: running.world.faults.drop_sessions()),
    "the connection is cut after the request was taken": ("take_closing", lambda running, name: True),
    "vCenter loses the host": ("take_unavailable", go_away),
}


def reported(answer, where):
    """An error for an operator: which object, why, and a code."""
    failure = answer["failure"]
    assert failure["code"], where
    assert failure["subject"], where
    assert answer["msg"].startswith(f"{failure['subject']}: "), where
    assert "Traceback" not in answer["msg"], where
    assert answer["host"]["failed"], where


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_trouble_at_any_request_is_survived_or_reported_and_cured_by_the_next_run(
    twin, drive, monkeypatch, case, trouble
):
    running = twin(seed=case.seed)
    call = drive(running)
    call(case.module, check=True, host=NAMES[-1], **case.params)
    place, action = TROUBLES[trouble]
    for number, name in enumerate(NAMES, start=1):
        renew(running)
        where = f"request {number}"
        with deeds(monkeypatch, running) as done_twice, monkeypatch.context() as patch:
            nth = Nth(number, lambda name=name: action(running, name))
            patch.setattr(running.world.faults, place, nth)
            answer = call(case.module, host=name, **case.params)
            if not nth.happened:
                break
            if answer["failed"]:
                reported(answer, where)
                go_away(running, name, "connected")
                again = call(case.module, host=name, **case.params)
                assert not again["failed"], f"{where}: {answer['msg']} Then: {again['msg']}"
            else:
                assert answer["changed"], where
            go_away(running, name, "connected")
        assert case.observe(running, name) == case.wanted, f"{where}: {answer['msg'] if answer['failed'] else ''}"
        assert done_twice() == [], where
    assert number > 5
    assert not nth.happened


# The requests of a restart up to the wait, whose number is a matter of time.
UP_TO_THE_WAIT = 12


@pytest.mark.parametrize("trouble", [name for name in TROUBLES if name != "vCenter loses the host"])
def test_trouble_at_any_request_of_a_restart_ends_with_one_boot(twin, drive, monkeypatch, trouble):
    running = twin(seed=hosts(maintenance=True))
    call = drive(running)
    place, action = TROUBLES[trouble]
    for number, name in zip(range(1, UP_TO_THE_WAIT + 1), NAMES, strict=False):
        where, boots = f"request {number}", host(running, name).boots
        nth = Nth(number, lambda name=name: action(running, name))
        with monkeypatch.context() as patch:
            patch.setattr(running.world.faults, place, nth)
            answer = run("aiready.vsphere.esxi_reboot", {**call.connection, "host": name})
        assert nth.happened, where
        if answer["failed"]:
            reported(answer, where)
            back = run("aiready.vsphere.esxi_reboot", {**call.connection, "host": name})
            assert not back["failed"], f"{where}: {answer['msg']} Then: {back['msg']}"
        assert host(running, name).boots == boots + 1, where
        assert host(running, name).connection == "connected", where
