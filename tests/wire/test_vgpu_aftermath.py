"""vgpu_profile and what is left behind: reported in the diff before it happens, and put back where it failed."""

from __future__ import annotations

import pytest
from pyVmomi import vim

from .lab import A100, READY, lab, result
from .nth import Nth
from .observe import gpu_setup, power_on, reconfigure, virtual_machine

pytestmark = pytest.mark.usefixtures("brisk")

RUNNING = {"power": "on", "tools": "none"}
CYCLE = {"profiles": ["grid_a100-40c"], "power": "cycle"}


@pytest.mark.parametrize("check", [True, False])
def test_the_diff_names_the_power_cycle_and_every_setting(twin, drive, check):
    running = twin(seed=lab(RUNNING))
    answer = drive(running)("vgpu_profile", check=check, name="train-01", **CYCLE)
    (diff,) = answer["diff"]
    assert diff["before_header"] == "/lab/vm/train-01"
    assert diff["before"] == {
        "memory_reservation": "partial",
        "pciPassthru.64bitMMIOSizeGB": None,
        "pciPassthru.use64bitMMIO": None,
        "pciPassthru0.cfg.enable_uvm": None,
        "power_cycle": False,
        "profiles": [],
    }
    assert diff["after"] == {
        "memory_reservation": "all",
        "pciPassthru.64bitMMIOSizeGB": "128",
        "pciPassthru.use64bitMMIO": "TRUE",
        "pciPassthru0.cfg.enable_uvm": "1",
        "power_cycle": True,
        "profiles": ["grid_a100-40c"],
    }


def test_the_memory_reservation_of_before_is_put_back_with_the_old_configuration(twin, drive):
    running = twin(seed=lab({**READY, "power": "on"}, {**RUNNING, "memory_gb": 16}))
    (machine,) = [vm for vm in running.world.of_kind("VirtualMachine") if vm.name == "train-02"]
    with running.world.lock:
        machine.memory_allocation.reservation = 2048
        running.world.touch(machine)
    answer = drive(running)("vgpu_profile", name="train-02", **CYCLE)
    assert "The previous configuration was restored, and the VM runs with it." in answer["msg"]
    with virtual_machine(running, "train-02") as seen:
        assert not seen.config.memoryReservationLockedToMax
        assert seen.config.memoryAllocation.reservation == 2048


def test_settings_that_somebody_spelled_in_another_way_are_used_and_not_doubled(twin, drive):
    spelled = {"pciPassthru.use64BitMMIO": "FALSE", "PciPassthru.64bitMmioSizeGb": "64"}
    running = twin(seed=lab({"extra_config": spelled}))
    module = drive(running)
    answer = module("vgpu_profile", name="train-01", profiles=["grid_a100-40c"])
    assert not answer["failed"], answer["msg"]
    assert running.requests["ReconfigVM_Task"] == 1
    (machine,) = running.world.of_kind("VirtualMachine")
    assert [machine.extra[key] for key in spelled] == ["TRUE", "128"]
    assert power_on(running, "train-01") is None
    assert not module("vgpu_profile", name="train-01", profiles=["grid_a100-40c"])["changed"]


def test_a_vm_that_somebody_else_switched_on_loses_the_note_of_the_killed_run(twin, drive):
    running = twin(seed=lab({**RUNNING, **READY}))
    note = vim.option.OptionValue(key="aiready.vsphere.power_on_again", value="true")
    reconfigure(running, "train-01", extraConfig=[note])
    requested = {"name": "train-01", "profiles": ["grid_a100-40c"], "unified_memory": "ignore"}
    answer = drive(running)("vgpu_profile", **requested)
    assert not answer["failed"], answer["msg"]
    assert [change["path"] for change in result(answer)["changes"]] == ["power_on_again"]
    seen = gpu_setup(running, "train-01")["train-01"]
    assert (seen["power"], "aiready.vsphere.power_on_again" in seen["settings"]) == ("poweredOn", False)


def test_what_was_done_is_reported_when_vcenter_goes_away_in_the_middle(twin, drive, monkeypatch):
    running = twin(seed=lab({}, {}, READY))
    module = drive(running)

    def leaves(method):
        running.world.faults.refuse(method == "ReconfigVM_Task" or running.world.faults.refusing)
        return method == "ReconfigVM_Task"

    monkeypatch.setattr(running.world.faults, "take_closing", leaves)
    fleet = [{"name": f"train-{number:02}"} for number in (1, 2, 3)]
    answer = module("vgpu_profile", vms=fleet, profiles=["grid_a100-40c"], unified_memory="ignore")
    assert answer["failed"]
    assert answer["changed"]
    assert [(vm["name"], vm["failed"]) for vm in answer["vms"]] == [
        ("train-01", True),
        ("train-02", True),
        ("train-03", False),
    ]


def test_an_answer_lost_at_any_request_of_a_power_cycle_ends_with_a_vm_that_runs_with_one_vgpu(
    twin, drive, monkeypatch
):
    seconds = dict.fromkeys(("ReconfigVM_Task", "PowerOnVM_Task", "PowerOffVM_Task"), 0.01)
    running = twin(
        seed=lab(*[RUNNING] * 60, task_seconds=seconds, hardware={"memory_gb": 4096}, gpus=[{**A100, "count": 8}])
    )
    module = drive(running)
    module("vgpu_profile", check=True, name="train-01", **CYCLE)
    for number in range(1, 61):
        nth = Nth(number, lambda: True)
        monkeypatch.setattr(running.world.faults, "take_closing", nth)
        name = f"train-{number:02}"
        answer = module("vgpu_profile", name=name, profiles=["grid_a100-4c"], power="cycle")
        if not nth.happened:
            break
        assert not answer["failed"], f"request {number}: {answer['msg']}"
        seen = gpu_setup(running, name)[name]
        assert (seen["profiles"], seen["power"]) == (["grid_a100-4c"], "poweredOn"), f"request {number}"
        assert "aiready.vsphere.power_on_again" not in seen["settings"], f"request {number}"
    assert number > 30
