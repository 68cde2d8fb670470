"""What restore does with VMs and DRS settings, from the results of its steps in check mode."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.judge import DUE, KEPT
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.machine_restore import plan


def result(module, state=DUE, whole=False, args=None):
    step = {"object": "job-01", "module": module, "args": args or {}, "whole": whole}
    row = {"setting": "power", "state": state}
    return {"item": step, "rows": [row], "restored": {"changed": state == DUE, "moid": "vm-42"}}


def off(whole=False):
    return result("vm_power", whole=whole, args={"state": "off"})


@pytest.mark.parametrize("power, refused", [("cycle", 0), ("refuse", 1)])
def test_a_vm_that_only_the_runs_powered_on_needs_a_permission(power, refused):
    found = plan([off(), result("vm_config")], power)
    assert (len(found["due"]), len(found["refusals"]), len(found["rows"])) == (2, refused, 2)


def test_the_permission_to_delete_includes_the_power_off():
    assert plan([off(whole=True), result("vm_clone", whole=True)])["refusals"] == []


def test_a_vm_that_is_not_deleted_keeps_running():
    found = plan([off(whole=True), result("vm_clone", KEPT, whole=True)])
    assert [step["module"] for step in found["steps"]] == ["vm_clone"]
    assert (found["due"], [row["state"] for row in found["rows"]]) == ([], [KEPT])


def test_a_step_that_cannot_be_compared_ends_the_run():
    failed = {"item": result("vm_config")["item"], "msg": "VM job-01: it runs."}
    assert plan([failed, {"skipped": True}])["refusals"] == ["Cannot compare vm_config of job-01. VM job-01: it runs."]


def test_no_steps_need_nothing():
    assert plan([]) == {"steps": [], "due": [], "off": [], "refusals": [], "rows": []}


@pytest.mark.parametrize(
    "steps, powered_off",
    [
        ([off(whole=True), result("vm_clone", whole=True)], ["vm-42"]),
        ([off(whole=True), result("vm_clone", KEPT, whole=True)], []),
        ([off(), result("vm_config")], ["vm-42"]),
        ([result("vm_power", KEPT, args={"state": "off"})], []),
        ([result("vm_power", args={"state": "on"})], []),
    ],
)
def test_vms_that_a_run_would_power_off_are_named_for_the_plan_of_their_hosts(steps, powered_off):
    assert plan(steps, "cycle")["off"] == powered_off
