"""A VM that is still being copied: vCenter shows it, and does not report its configuration yet."""

from __future__ import annotations

import pytest

from . import machine_troubles as troubles
from .machine_troubles import CASES
from .test_machine_trouble import VMS, reported

pytestmark = pytest.mark.usefixtures("brisk")

# A rule of the cluster may name a VM whatever its state is.
OF_VMS = [case for case in CASES if case.vm is not None and case.module != "drs_placement"]


@pytest.mark.parametrize("case", OF_VMS, ids=str)
def test_a_vm_that_is_still_being_copied_is_reported_and_left_alone(twin, drive, case):
    running = twin(seed=case.seed(CloneVM_Task=60))
    troubles.begin_copy(running, "copied")
    before = troubles.tasks_of(running)
    answer = drive(running)(case.module, task_timeout_s=1, **case.params("copied"))
    assert answer["failed"]
    reported(answer, case.name)
    assert troubles.tasks_of(running) == before


def test_a_plan_beside_a_vm_that_is_still_being_copied_counts_the_others_and_says_what_it_cannot(twin, drive):
    running = twin()
    running.world.task_seconds["CloneVM_Task"] = 60
    call = drive(running)
    plan = call("vm_placement_info", cluster="gpu", vms=VMS, anti_affinity=True)
    troubles.begin_copy(running, "copied")
    beside = call("vm_placement_info", cluster="gpu", vms=VMS, anti_affinity=True)
    assert not beside["failed"], beside["msg"]
    assert beside["placement"]["vms"] == plan["placement"]["vms"]
    wanted = [{**VMS[0], "name": "copied"}]
    answer = call("vm_placement_info", cluster="gpu", vms=wanted)
    (copied,) = answer["placement"]["vms"]
    assert (answer["failed"], copied["name"], copied["action"]) == (False, "copied", "keep")


@pytest.mark.parametrize("case", [case for case in OF_VMS if case.module != "vm_clone"], ids=str)
def test_a_vm_that_a_killed_run_still_copies_is_planned_from_its_template(twin, drive, case):
    running = twin(seed=case.seed(CloneVM_Task=60))
    call, planned = drive(running), {"planned": {"template": "ubuntu-template", "host": "esx-01"}}
    new = call(case.module, check=True, **case.params("copied"), **planned)
    troubles.begin_copy(running, "copied")
    look = call(case.module, check=True, **case.params("copied"), **planned)
    assert look == new
    assert look["failed"] is False, look["msg"]
