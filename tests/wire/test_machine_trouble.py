"""Trouble at any request about a VM ends in what was wanted, made once, or in an error that the next run cures."""

from __future__ import annotations

import pytest
from pyVmomi import vim

from vsphere_twin.vcenter.server import Handler

from . import machine_troubles as troubles
from .held import Held
from .machine_troubles import CASES, REFERENCE, REMOVAL
from .nth import Nth

pytestmark = pytest.mark.usefixtures("brisk")

# A second run may take up where the first one ended, but never makes the same thing again.
MAKERS = ("CloneVM_Task", "ReconfigureComputeResource_Task", "UpgradeVM_Task")


def reported(answer, where):
    """An error for an operator: which object, why, and a code; the same for the VM and for the task."""
    failure = answer["failure"]
    assert failure["code"], where
    assert failure["subject"], where
    assert answer["msg"].startswith(f"{failure['subject']}: "), where
    assert "Traceback" not in answer["msg"], where
    assert "SystemError" not in answer["msg"], where


def undisturbed(running, drive, case):
    """What the task makes of a VM when nothing goes wrong, and by which tasks."""
    before, was = troubles.tasks_of(running), troubles.state(running, REFERENCE)
    answer = drive(case.module, **case.params(REFERENCE))
    assert not answer["failed"], answer["msg"]
    made = troubles.state(running, REFERENCE)
    assert made != was
    return made, troubles.deeds(running, before)


def _refused(patch, running, number):
    nth = Nth(number, lambda: True)
    patch.setattr(running.world.faults, "take_unavailable", nth)
    return nth


def _session_lost(patch, running, number):
    nth = Nth(number, running.world.faults.drop_sessions)
    patch.setattr(running.world.faults, "take_unavailable", nth)
    return nth


def _cut_before(patch, running, number):
    nth = Nth(number, lambda: True)

    def available(handler):
        handler.close_connection = nth()
        return not handler.close_connection

    patch.setattr(Handler, "_available", available)
    return nth


def _cut_after(patch, running, number):
    nth = Nth(number, lambda: True)
    patch.setattr(running.world.faults, "take_closing", nth)
    return nth


ON_THE_WAY = {
    "503": _refused,
    "the session is dropped": _session_lost,
    "the connection is cut before the request is taken": _cut_before,
    "the connection is cut after the request was taken": _cut_after,
}


# In a run of many requests, troubles of which nothing was done take turns: (the first request, from one to the next).
TURNS = {trouble: (number, 3) for number, trouble in enumerate(list(ON_THE_WAY)[:3], start=1)}


@pytest.mark.parametrize("trouble", ON_THE_WAY)
@pytest.mark.parametrize("case", [*CASES, REMOVAL], ids=str)
def test_trouble_on_the_way_at_any_request_is_survived_and_nothing_is_done_twice(
    twin, drive, monkeypatch, case, trouble
):
    running = twin(seed=case.seed())
    call = drive(running)
    wanted, deeds = undisturbed(running, call, case)
    first, step = TURNS.get(trouble, (1, 1)) if case.step > 1 else (1, 1)
    for number, name in zip(range(first, case.most, step), case.names, strict=False):
        where, before = f"request {number}", troubles.tasks_of(running)
        with monkeypatch.context() as patch:
            nth = ON_THE_WAY[trouble](patch, running, number)
            answer = call(case.module, **case.params(name))
        if not nth.happened:
            break
        assert not answer["failed"], f"{where}: {answer['msg']}"
        assert answer["changed"], where
        assert troubles.state(running, name) == wanted, where
        assert troubles.deeds(running, before) == deeds, where
    assert number > 7
    assert not nth.happened


def test_a_move_whose_answer_was_lost_is_awaited_and_not_begun_again(twin, drive, monkeypatch):
    (case,) = [case for case in CASES if str(case) == "vm_clone, to another datastore"]
    running = twin(seed=case.seed())
    call = drive(running)
    wanted, deeds = undisturbed(running, call, case)
    name, before = case.names[0], troubles.tasks_of(running)
    long = Held(monkeypatch, running, "RelocateVM_Task")
    running.control.close_after(method="RelocateVM_Task")
    asked = []

    def ended(method):
        """The move ends when the module has asked for the tasks of the VM and waits."""
        asked.append(method)
        if "RelocateVM_Task" in asked and asked[-1] == "WaitForUpdatesEx":
            long.let_go()
        return really(method)

    really = running.world.faults.take_closing
    monkeypatch.setattr(running.world.faults, "take_closing", ended)
    answer = call(case.module, **case.params(name))
    assert not answer["failed"], answer["msg"]
    assert troubles.state(running, name) == wanted
    assert troubles.deeds(running, before) == deeds


@pytest.fixture
def disturbed(twin, drive, monkeypatch):
    """Calls a case for one VM after another while others do something at ever later requests of the run.

    Yields (twin, drive, what an undisturbed run makes, name of the VM, where it happened, answer).
    """

    def runs(case, do, **seconds):
        running = twin(seed=case.seed(**seconds))
        call = drive(running)
        wanted, _deeds = undisturbed(running, call, case)
        for number, name in zip(range(1, case.most, case.step), case.names, strict=False):
            with monkeypatch.context() as patch:
                nth = Nth(number, lambda name=name: do(running, name))
                patch.setattr(running.world.faults, "take_unavailable", nth)
                answer = call(case.module, **case.params(name))
            if not nth.happened:
                break
            where = f"request {number}"
            if answer["failed"]:
                reported(answer, where)
            yield running, call, wanted, name, where, answer
        assert number > 7

    return runs


@pytest.mark.parametrize("case", [*CASES, REMOVAL], ids=str)
def test_a_host_that_vcenter_loses_at_any_request_is_reported_and_cured_by_the_next_run(disturbed, case):
    for running, call, wanted, name, where, answer in disturbed(case, troubles.lose_host):
        troubles.lose_host(running, state="connected")
        if answer["failed"]:
            again = call(case.module, **case.params(name))
            assert not again["failed"], f"{where}: {answer['msg']} Then: {again['msg']}"
        assert troubles.state(running, name) == wanted, where


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_vm_that_somebody_removes_at_any_request_is_missed_and_only_cloning_makes_it_again(disturbed, case):
    for running, call, _wanted, name, where, answer in disturbed(case, troubles.remove):
        if case.module == "vm_clone":
            again = call(case.module, **case.params(name))
            assert not again["failed"], f"{where}: {answer['msg']} Then: {again['msg']}"
            assert len(troubles.state(running, name)["vms"]) == 1, where
            continue
        assert troubles.state(running, name)["vms"] == [], where
        again = call(case.module, **case.params(name))
        assert again["failed"], where
        reported(again, where)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_change_by_somebody_else_at_any_request_is_kept_beside_ours(disturbed, case):
    kept = 0
    for running, _call, wanted, name, where, answer in disturbed(case, troubles.edit):
        assert not answer["failed"], f"{where}: {answer['msg']}"
        made = troubles.state(running, name)
        (vm,) = made["vms"]
        kept += vm["annotation"] == troubles.SOMEBODYS
        vm["annotation"] = wanted["vms"][0]["annotation"]
        assert made == wanted, where
    assert kept > 3


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_task_of_somebody_else_at_any_request_is_waited_for(disturbed, case):
    for running, _call, wanted, name, where, answer in disturbed(case, troubles.occupy, CreateSnapshot_Task=0.02):
        assert not answer["failed"], f"{where}: {answer['msg']}"
        assert troubles.state(running, name) == wanted, where


TASKS = [pytest.param(case, method, id=f"{case}, {method}") for case in [*CASES, REMOVAL] for method in case.tasks]


@pytest.mark.parametrize("case, method", TASKS)
def test_a_task_that_fails_is_reported_in_the_vendors_words_and_the_next_run_ends_well(twin, drive, case, method):
    running = twin(seed=case.seed())
    call = drive(running)
    wanted, _deeds = undisturbed(running, call, case)
    name = case.names[0]
    before = troubles.state(running, name)
    running.control.fail_tasks(method=method, fault="FileLocked", message="The file is locked.")
    answer = call(case.module, **case.params(name))
    assert answer["failed"]
    reported(answer, method)
    assert "The file is locked." in answer["msg"]
    left = troubles.state(running, name)
    left_off = troubles.powers(left) != troubles.powers(before)
    assert (left_off, troubles.is_noted(left)) != (True, False)
    again = call(case.module, **case.params(name))
    assert not again["failed"], again["msg"]
    assert troubles.state(running, name) == wanted


@pytest.mark.parametrize("case, method", TASKS)
def test_a_task_that_takes_too_long_is_left_alone_and_the_next_run_goes_on_from_what_it_made(
    twin, drive, monkeypatch, case, method
):
    running = twin(seed=case.seed())
    call = drive(running)
    wanted, deeds = undisturbed(running, call, case)
    name, before = case.names[0], troubles.tasks_of(running)
    long = Held(monkeypatch, running, method)

    def refused(_method):
        """It ends where the run has to go on after it, such as to switch the VM on again."""
        if any(isinstance(task.error, vim.fault.TaskInProgress) for task in running.world.of_kind("Task")):
            long.let_go()

    monkeypatch.setattr(running.world.faults, "take_closing", refused)
    answer = call(case.module, task_timeout_s=1, **case.params(name))
    assert answer["failed"]
    assert answer["failure"]["code"] == "task_timeout", answer["msg"]
    assert "Nothing was cancelled" in answer["msg"]
    # Else it ends while the next run is at work.
    nth = Nth(5, long.let_go)
    monkeypatch.setattr(running.world.faults, "take_unavailable", nth)
    again = call(case.module, **case.params(name))
    assert not again["failed"], again["msg"]
    assert nth.happened
    assert troubles.state(running, name) == wanted
    made = troubles.deeds(running, before)
    assert [made[one] for one in MAKERS] == [deeds[one] for one in MAKERS]


VMS = [{"name": name, "profiles": ["grid_a100-40c"], "memory_gb": 32, "cpus": 8} for name in ("job-01", "job-02")]


@pytest.mark.parametrize("seed", ["small", "small-9.1"])
@pytest.mark.parametrize("trouble", ON_THE_WAY)
def test_a_plan_is_the_same_whatever_happens_on_the_way(twin, drive, monkeypatch, trouble, seed):
    running = twin(seed=seed)
    call = drive(running)
    asked = {"cluster": "gpu", "path": "pvrdma", "portgroup": "pg-rdma", "anti_affinity": True, "vms": VMS}
    plan = call("vm_placement_info", **asked)
    assert plan["placement"]["fits"]
    for number in range(1, 30):
        with monkeypatch.context() as patch:
            nth = ON_THE_WAY[trouble](patch, running, number)
            answer = call("vm_placement_info", **asked)
        if not nth.happened:
            break
        assert not answer["failed"], answer["msg"]
        assert answer["placement"] == plan["placement"], f"request {number}"
        assert answer["capacity"] == plan["capacity"], f"request {number}"
    assert number > 2


def test_a_plan_made_while_a_host_or_a_vm_goes_away_is_reported_or_made_without_it(twin, drive, monkeypatch):
    running = twin()
    call = drive(running)
    call("vm_placement_info", cluster="gpu", vms=VMS)
    lost = troubles.host_of(running, "train-01").name
    for do in (lambda: troubles.lose_host(running, name=lost), lambda: troubles.remove(running, "train-01")):
        for number in range(1, 30):
            with monkeypatch.context() as patch:
                nth = Nth(number, do)
                patch.setattr(running.world.faults, "take_unavailable", nth)
                answer = call("vm_placement_info", cluster="gpu", vms=VMS, anti_affinity=True, fit="report")
            troubles.lose_host(running, name=lost, state="connected")
            if not nth.happened:
                break
            if answer["failed"]:
                reported(answer, number)
        assert number > 2


def test_a_guest_whose_shutdown_nobody_confirmed_is_waited_for_and_its_power_is_not_cut(twin, drive):
    (case,) = [one for one in CASES if one.name.startswith("vm_shape")]
    seed = case.seed(ShutdownGuest=0.2)
    seed["datacenters"][0]["vms"][0]["tools"] = "installed"
    running = twin(seed=seed, faults=[("close_after", {"method": "ShutdownGuest"})])
    answer = drive(running)(case.module, **case.params(REFERENCE))
    assert not answer["failed"], answer["msg"]
    assert running.requests["PowerOffVM_Task"] == 0
    assert troubles.powers(troubles.state(running, REFERENCE)) == ["poweredOn"]
