"""Placement asks a vCenter that knows the capacity of its hosts, and says who answered."""

from __future__ import annotations

import pytest
from pyVim.task import WaitForTask

from .observe import virtual_machine, warned
from .placement_lab import esx, far, lab, near, ready, requested

USER = "automation@vsphere.local"
SINCE = "9.1.0"
PASSED = {"passthrough": True, "label": "train"}
# Name: (GPUs of the hosts, profiles of running VMs, requested VMs, further options).
STATES = {
    "empty": ([near(), far()], [], [requested("a", "40c"), requested("b", "20c")], {}),
    "some vGPUs": ([near(), far()], ["20c"], [requested("a", "40c"), requested("b", "20c"), requested("c", "10c")], {}),
    "mixed sizes": (
        [near(vgpu_mode="mixedSize"), far()],
        ["20c", "10c"],
        [requested("a", "10c"), requested("b", "8c")],
        {},
    ),
    "MIG": ([near(mig=True), far()], ["3-20c"], [requested("a", "3-20c"), requested("b", "1-5c")], {"gpu_mode": "mig"}),
    "passthrough": (
        [near(**PASSED), far(**PASSED)],
        [],
        [{"name": "a", "gpus": 1, "memory_gb": 64}],
        {"gpu_mode": "passthrough", "gpu_label": "train"},
    ),
}


def started(twin, gpus, profiles, release=SINCE, **more):
    vms = [ready(f"old-{number}", "esx-01", one, power="on") for number, one in enumerate(profiles)]
    return twin(seed={**lab(esx(1, gpus), esx(2), vms=vms, release=release), **more})


@pytest.mark.parametrize("state", STATES)
def test_vcenter_and_the_model_agree(twin, drive, state):
    gpus, profiles, vms, task = STATES[state]
    answer = drive(started(twin, gpus, profiles))("vm_placement_info", cluster="gpu", vms=vms, fit="report", **task)
    capacity = answer["capacity"]
    assert (capacity["source"], capacity["why_model"]) == ("server", [])
    assert answer["placement"]["table"].endswith("\nGPU capacity answered by vCenter.\n")
    assert {(one["place"], one["kind"]) for one in capacity["checks"]} == {("gpu", "cluster")}
    assert [one["server_free"] for one in capacity["checks"]] == [one["model_free"] for one in capacity["checks"]]


def test_devices_of_vms_of_the_request_count_as_used_in_the_comparison(twin, drive):
    running = started(twin, [near(), far()], ["40c", "40c"])
    answer = drive(running)("vm_placement_info", vms=[requested("old-0", "40c")], leaving=[moid(running, "old-1")])
    assert [(one["server_free"], one["model_free"]) for one in answer["capacity"]["checks"]] == [(1, 1)]


def moid(running, name):
    return next(vm.moid for vm in running.world.of_kind("VirtualMachine") if vm.name == name)


def test_an_earlier_vcenter_is_answered_by_the_model(twin, drive):
    answer = drive(started(twin, [near()], [], release="8.0.3"))("vm_placement_info", vms=[requested("a", "40c")])
    assert answer["capacity"] == {
        "source": "model",
        "why_model": ["vCenter 8.0.3 reports no capacity, vSphere 9.0 and newer do"],
        "unsure": [],
        "checks": [],
    }
    assert "GPU capacity" not in answer["placement"]["table"]


def test_a_user_without_the_privilege_gets_the_answer_of_the_model(twin, drive):
    users = {USER: "secret", "administrator@vsphere.local": "VMware1!"}
    granted = {"roles": {"readers": []}, "permissions": [{"user": USER, "role": "readers"}], "users": users}
    answer = drive(started(twin, [near()], [], **granted))("vm_placement_info", vms=[requested("a", "40c")])
    assert not answer["failed"], answer["msg"]
    assert answer["capacity"]["source"] == "model"
    why = "the user lacks the privilege DirectPathProfileManager.Manage"
    assert answer["capacity"]["why_model"] == [why]
    assert answer["placement"]["table"].endswith(f"GPU capacity answered by the model ({why}).\n")


def scattered(twin):
    """A GPU of mixed sizes whose free memory is in two places, which vCenter alone can see."""
    running = started(twin, [near(vgpu_mode="mixedSize")], ["10c"] * 4)
    for name in ("old-0", "old-2"):
        with virtual_machine(running, name) as machine:
            WaitForTask(machine.PowerOffVM_Task())
    return running


def test_a_disagreement_is_a_warning_with_both_numbers_and_the_plan_heeds_the_smaller_one(twin, drive, capsys):
    answer = drive(scattered(twin))(
        "vm_placement_info", vms=[requested("a", "20c"), requested("b", "20c"), requested("c", "20c")], fit="report"
    )
    said = "vCenter reports 0 free, the model of this collection computes 1. The plan uses the smaller number."
    assert f"Capacity for grid_a100-20c on esx-01: {said}" in warned(answer, capsys)
    assert [one["host"] for one in answer["placement"]["vms"]] == ["esx-02", "esx-02", None]
    (short,) = answer["placement"]["shortages"]
    assert (short["resource"], short["free"], short["short"]) == ("vGPUs grid_a100-20c", 2, 1)
    places = [(one["place"], one["server_free"], one["model_free"]) for one in answer["capacity"]["checks"]]
    assert places == [("gpu", 2, 3), ("esx-01", 0, 1), ("esx-02", 2, 2)]
