"""vgpu_profile and many VMs: each has its own result, and none is hidden or held up by another."""

from __future__ import annotations

from .lab import A100, READY, lab
from .observe import gpu_setup

SEVERAL = {"code": "some_failed", "next": "docs/failure_codes.md#some_failed"}

WHOLE = ["grid_a100-40c"]


def test_bad_vms_of_a_fleet_do_not_keep_the_others_from_their_gpu(twin, drive):
    running = twin(seed=lab({}, {"firmware": "bios"}, {}))
    running.control.fail_tasks(method="ReconfigVM_Task", entity="train-03", fault="FileLocked", message="Locked.")
    fleet = [{"name": name} for name in ("train-04", "train-03", "train-02", "train-01")]
    answer = drive(running)("vgpu_profile", vms=fleet, profiles=WHOLE)
    assert answer["failed"]
    assert answer["msg"].startswith("3 of 4 failed. VM train-04: cannot find the VM. ")
    assert answer["failure"] == {**SEVERAL, "failed": ["train-04", "train-03", "train-02"]}
    assert [vm["name"] for vm in answer["vms"]] == [entry["name"] for entry in fleet]
    assert [vm["failure"].get("code") for vm in answer["vms"]] == ["vm_not_found", "file_locked", "firmware_bios", None]
    assert [vm["changed"] for vm in answer["vms"]] == [False, False, False, True]
    assert answer["changed"]
    seen = gpu_setup(running, "train-01", "train-02", "train-03")
    assert {name: vm["profiles"] for name, vm in seen.items()} == {"train-01": WHOLE, "train-02": [], "train-03": []}


def test_all_results_have_the_same_keys_whatever_became_of_the_vm(twin, drive):
    running = twin(seed=lab({}, {"firmware": "bios"}, READY))
    fleet = [{"name": f"train-{number:02}"} for number in range(1, 5)]
    module = drive(running)
    answers = [
        module("vgpu_profile", check=check, vms=fleet, profiles=WHOLE, unified_memory="ignore")
        for check in (True, False)
    ]
    assert [vm["changed"] for vm in answers[0]["vms"]] == [True, False, False, False]
    assert len({frozenset(vm) for answer in answers for vm in answer["vms"]}) == 1


def test_one_vm_in_two_spellings_is_refused_in_both(twin, drive):
    running = twin()
    answer = drive(running)(
        "vgpu_profile", vms=[{"name": "train-01"}, {"path": "/lab/vm/training/train-01"}], profiles=WHOLE
    )
    assert {vm["failure"]["code"] for vm in answer["vms"]} == {"duplicate_vm"}
    assert not answer["changed"]


def test_only_the_vms_that_change_are_power_cycled(twin, drive):
    running = twin(seed=lab({**READY, "power": "on"}, {"power": "on"}, gpus=[{**A100, "count": 2}]))
    answer = drive(running)(
        "vgpu_profile",
        vms=[{"name": "train-01"}, {"name": "train-02"}],
        profiles=WHOLE,
        unified_memory="ignore",
        power="cycle",
    )
    assert not answer["failed"], answer["msg"]
    assert [vm["changed"] for vm in answer["vms"]] == [False, True]
    assert running.requests["PowerOnVM_Task"] == 1
    after = gpu_setup(running, "train-02")["train-02"]
    assert (after["profiles"], after["power"]) == (WHOLE, "poweredOn")


def test_a_fleet_is_cycled_together_and_not_one_by_one(twin, drive):
    running = twin(seed=lab(*[{"power": "on", "tools": "none"}] * 8))
    fleet = [{"name": f"train-{number:02}"} for number in range(1, 9)]
    answer = drive(running)("vgpu_profile", vms=fleet, profiles=["grid_a100-5c"], power="cycle")
    assert not answer["failed"], answer["msg"]
    assert running.requests["PowerOffVM_Task"] == running.requests["PowerOnVM_Task"] == len(fleet)
    # Note, change and note again, three rounds of waiting each; one VM after the other would take eight times that.
    assert running.requests["CreateFilter"] <= 6
    assert {vm.power for vm in running.world.of_kind("VirtualMachine")} == {"poweredOn"}


def test_a_vm_that_is_just_being_cloned_is_reported_so_and_left_alone(twin, drive):
    running = twin(seed=lab({}, {}))
    (young,) = [vm for vm in running.world.of_kind("VirtualMachine") if vm.name == "train-02"]
    young.unfinished = True
    answer = drive(running)("vgpu_profile", vms=[{"name": "train-02"}, {"name": "train-01"}], profiles=WHOLE)
    assert [vm["failure"].get("code") for vm in answer["vms"]] == ["vm_unfinished", None]
    assert "VM train-02: has no configuration yet. vCenter reports no configuration while a VM is" in answer["msg"]
    assert not answer["vms"][0]["changed"]
    assert running.requests["ReconfigVM_Task"] == 1
