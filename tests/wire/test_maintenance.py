"""In and out of service: what stands in the way is reported before anything begins, and no run forgets what it did."""

from __future__ import annotations

import pytest

from .lab import READY, lab
from .rows.esxi_maintenance import host_system, service

HOST = "esx-01"
ON = {"power": "on"}


def state(running):
    return service(running, HOST)


def test_running_vms_are_listed_in_check_mode_already_and_nothing_is_touched(twin, drive):
    running = twin(seed=lab(ON, {**ON, **READY}))
    for check in (True, False):
        answer = drive(running)("esxi_maintenance", host=HOST, check=check)
        assert answer["failure"]["code"] == "running_vms"
        assert "2 VMs run on it: train-01, train-02 (grid_a100-40c)" in answer["msg"]
    assert state(running) == {"in maintenance": False, "note": ""}


def test_vms_that_will_be_off_do_not_count_in_check_mode_and_others_do(twin, drive):
    running = twin(seed=lab(ON, ON))
    first, second = (vm.moid for vm in running.world.of_kind("VirtualMachine"))
    module = drive(running)
    for off, failed in (([first, second], False), ([first], True)):
        assert module("esxi_maintenance", host=HOST, check=True, planned={"powered_off": off})["failed"] is failed
    # In a real run they have to be off.
    assert (
        module("esxi_maintenance", host=HOST, planned={"powered_off": [first, second]})["failure"]["code"]
        == "running_vms"
    )


@pytest.mark.parametrize(
    "requested, named", [("drs", "DRS of gpu is not fully automated"), ("refuse", "1 VMs run on it")]
)
def test_what_nothing_would_move_is_refused_at_once_instead_of_waited_for(twin, drive, requested, named):
    running = twin(seed=lab(ON))
    answer = drive(running)("esxi_maintenance", host=HOST, evacuation=requested)
    assert named in answer["msg"]
    assert running.requests["EnterMaintenanceMode_Task"] == 0


def test_drs_moves_what_may_move(twin, drive):
    seed = lab(ON, others=({"name": "esx-02"},))
    seed["datacenters"][0]["clusters"][0]["drs"] = "fullyAutomated"
    running = twin(seed=seed)
    answer = drive(running)("esxi_maintenance", host=HOST, evacuation="drs")
    assert not answer["failed"], answer["msg"]
    (vm,) = [vm for vm in running.world.of_kind("VirtualMachine") if vm.name == "train-01"]
    assert (vm.host.name, vm.power) == ("esx-02", "poweredOn")


def test_maintenance_of_others_is_neither_noted_nor_ended(twin, drive):
    running = twin(seed=lab(maintenance=True))
    entered = drive(running)("esxi_maintenance", host=HOST)
    left = drive(running)("esxi_maintenance", host=HOST, state="left")
    assert [entered["changed"], left["changed"]] == [False, False]
    assert left["host"]["after"]["owner"] == "others"
    assert state(running) == {"in maintenance": True, "note": ""}
    assert drive(running)("esxi_maintenance", host=HOST, state="left", owner="any")["changed"]
    assert state(running)["in maintenance"] is False


@pytest.mark.parametrize(
    "method, requested", [("EnterMaintenanceMode_Task", "entered"), ("ExitMaintenanceMode_Task", "left")]
)
def test_lost_answer_is_no_reason_to_ask_twice(twin, drive, method, requested):
    running = twin(seed=lab())
    if requested == "left":
        drive(running)("esxi_maintenance", host=HOST)
    running.world.faults.close_after(method)
    answer = drive(running)("esxi_maintenance", host=HOST, state=requested)
    assert not answer["failed"], answer["msg"]
    assert state(running)["in maintenance"] is (requested == "entered")
    assert running.requests[method] == 1


def test_task_of_a_killed_run_is_waited_for_instead_of_being_started_again(twin, drive):
    running = twin(seed={**lab(), "task_seconds": {"EnterMaintenanceMode_Task": 1.0}})
    with host_system(running, HOST) as host:
        host.EnterMaintenanceMode_Task(timeout=60)
    answer = drive(running)("esxi_maintenance", host=HOST)
    assert not answer["failed"], answer["msg"]
    assert running.requests["EnterMaintenanceMode_Task"] == 1


def test_task_that_fails_takes_the_note_back(twin, drive):
    running = twin(seed=lab())
    running.world.faults.fail_tasks("EnterMaintenanceMode_Task", message="Somebody said no.", entity=HOST)
    answer = drive(running)("esxi_maintenance", host=HOST)
    assert "Somebody said no." in answer["msg"]
    assert state(running) == {"in maintenance": False, "note": ""}


def test_host_that_vcenter_cannot_reach_is_reported(twin, drive):
    answer = drive(twin(seed=lab(connection="notResponding")))("esxi_maintenance", host=HOST)
    assert answer["failure"]["code"] == "host_not_connected"


@pytest.mark.parametrize("state_wanted", ["started", "stopped"])
def test_service_that_does_not_exist_is_reported_with_those_that_do(twin, drive, state_wanted):
    answer = drive(twin(seed=lab()))("esxi_service", host=HOST, service="TSM-SHH", state=state_wanted)
    assert answer["failure"]["code"] == "service_not_found"
    assert "Did you mean TSM-SSH?" in answer["msg"]


def test_service_that_ran_before_is_left_running(twin, drive):
    running = twin(seed=lab(ssh="running"))
    for requested in ("started", "restored"):
        assert drive(running)("esxi_service", host=HOST, service="TSM-SSH", state=requested)["changed"] is False
