"""The stage for VMs creates, places and shapes them with each data path; test_machines_broken has what it repairs."""

from __future__ import annotations

import json

import pytest

from rehearse import plan

from .machines import (
    GOOD,
    NAMES,
    NETWORKS,
    PROFILE,
    created,
    desired,
    setup,
    traffic,
    untouched,
    vms_of,
)


# Without RDMA they are made in the tests below.
@pytest.mark.parametrize("path", [path for path in NETWORKS if path != "tcp"])
def test_vms_are_created_from_nothing_as_announced_and_the_second_run_changes_nothing(lab, path):
    lab = lab()
    machine = {**created(path)["machine"], "disk_gb": 120}
    site = lab.site(**created(path, machine=machine))
    planned, made = lab.work / "plan", lab.work / "made"
    look = lab.run("--check", "--diff", *site, env=plan.environment(planned))
    assert look.status == 0, look.output
    assert [vm.name for vm in lab.twin.world.of_kind("VirtualMachine") if vm.name in NAMES] == []
    # Whatever is going to be set stands in the diff, and the plan beside it.
    for word in (
        "job-01",
        "esx-02.lab.example",
        '"memory_gb": 64',
        '"disk_gb": 120',
        PROFILE,
        NETWORKS[path].get("portgroup", "0000:3b:00.0"),
    ):
        assert word in look.output, look.output
    first = lab.run(*site, env=plan.environment(made))
    assert first.status == 0, first.output
    assert plan.kept(planned, made)
    # On hosts that are ready nothing stays open.
    (stage,) = json.loads((planned / "stages.json").read_text())["stages"]
    assert stage.get("decided_later", []) == []
    assert [setup(vm) for vm in vms_of(lab)] == [desired(), desired()]
    assert [disk.capacityInKB // 1024**2 for vm in vms_of(lab) for disk in vm.disks] == [120, 120]
    assert {vm.host.name for vm in vms_of(lab)} == {"esx-01.lab.example", "esx-02.lab.example"}
    assert traffic(lab, path) == GOOD[path]
    before = [untouched(vm) for vm in vms_of(lab)]
    again = lab.run(*site)
    assert (again.status, again.changed) == (0, 0), again.output
    assert [untouched(vm) for vm in vms_of(lab)] == before


def test_another_profile_for_one_vm_touches_only_that_vm_and_needs_leave_to_power_it_off(lab):
    lab = lab()
    assert lab.run(*lab.site(**created("tcp"))).status == 0
    one, two = vms_of(lab)
    bystander, before = untouched(one), untouched(two)
    vms = [{"name": "job-01"}, {"name": "job-02", "profiles": ["grid_a100-20c"]}]
    refused = lab.run(*lab.site(**created("tcp", vms)))
    assert refused.status != 0
    assert "job-02: cannot change these VMs while they run. The changes need a VM that is powered off." in refused.text
    assert untouched(two) == before
    planned = lab.run("--check", *lab.site(**created("tcp", vms)))
    assert planned.status == 0, planned.output
    assert "A run would end here:" in planned.output
    assert "job-02: cannot change these VMs while they run" in planned.text
    assert untouched(two) == before
    changed = lab.run(*lab.site(**created("tcp", vms, power="cycle")))
    assert changed.status == 0, changed.output
    assert [setup(vm) for vm in vms_of(lab)] == [desired(), desired("grid_a100-20c")]
    assert untouched(one) == bystander


def test_vms_that_do_not_fit_are_shown_in_the_plan_and_none_is_created(lab):
    lab = lab()
    refused = lab.run(*lab.site(**created("tcp", [{"prefix": "job-", "count": 3}])))
    assert refused.status != 0
    # A line of its own, and not the table on one line within the error of the module.
    (row,) = [line for line in refused.output.splitlines() if line.strip().startswith('"job-03 ')]
    assert "has a VM of the job (2 hosts)" in row
    assert "hosts for job aiready-training, one per VM: 3 requested, 2 free, 1 short" in refused.text
    assert [vm.name for vm in lab.twin.world.of_kind("VirtualMachine") if vm.name in NAMES] == []


def test_vms_come_from_an_item_of_a_content_library(lab):
    lab = lab()
    machine = {
        **created("tcp")["machine"],
        "template": None,
        "content_library": "images",
        "content_item": "ubuntu-24.04",
    }
    site = lab.site(**created("tcp", machine=machine))
    first = lab.run(*site)
    assert first.status == 0, first.output
    assert [setup(vm) for vm in vms_of(lab)] == [desired(), desired()]
    assert traffic(lab, "tcp") == GOOD["tcp"]
    again = lab.run(*site)
    assert (again.status, again.changed) == (0, 0), again.output
