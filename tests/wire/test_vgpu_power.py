"""vgpu_profile and VMs that run: nothing is switched off without the user's word, and what was on is on again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

from .held import Held, after_task
from .lab import READY, lab, result
from .observe import gpu_setup

pytestmark = pytest.mark.usefixtures("brisk")

CYCLE = {"name": "train-01", "profiles": ["grid_a100-40c"], "power": "cycle"}
NOTE = "aiready.vsphere.power_on_again"


def started(twin, vm=None, **seconds):
    """A twin whose VM runs, with its guest up if it has tools."""
    task_seconds = {"boot": 0.01, "ShutdownGuest": 0.1, **seconds}
    running = twin(seed=lab({"power": "on", **(vm or {})}, task_seconds=task_seconds))
    (machine,) = [one for one in running.world.of_kind("VirtualMachine") if one.name == "train-01"]
    until = time.monotonic() + 120
    while machine.tools_installed and not machine.tools_running:
        assert time.monotonic() < until, "the guest did not come up"
        time.sleep(0.01)
    return running


def seen(running):
    return gpu_setup(running, "train-01")["train-01"]


def test_a_running_vm_is_left_alone_and_what_would_change_is_reported(twin, drive):
    running = started(twin)
    before = seen(running)
    answer = drive(running)("vgpu_profile", name="train-01", profiles=["grid_a100-40c"])
    assert answer["failure"]["code"] == "vm_running"
    assert "profiles: none -> grid_a100-40c; memory_reservation: partial -> all" in answer["msg"]
    assert "set power=cycle: the module then shuts it down, changes it and powers it on again." in answer["msg"]
    assert seen(running) == before
    assert running.requests["ReconfigVM_Task"] == 0


def test_a_running_vm_that_is_as_wanted_is_no_reason_to_refuse(twin, drive):
    running = started(twin, READY)
    answer = drive(running)(
        "vgpu_profile", name="train-01", profiles=["grid_a100-40c"], unified_memory="ignore", power="refuse"
    )
    assert not answer["failed"], answer["msg"]
    assert not answer["changed"]


@pytest.mark.parametrize(
    "vm, seconds, limit_s, asked, cut",
    [
        ({}, {}, 60, 1, 0),
        ({"tools": "none"}, {}, 60, 0, 1),
        ({}, {"ShutdownGuest": 600}, 1, 1, 1),
        ({}, {"ShutdownGuest": 600}, 0, 1, 1),
    ],
    ids=["guest with tools", "guest without tools", "guest that hangs", "no patience"],
)
def test_the_guest_is_asked_first_and_the_power_is_cut_where_it_does_not_go(
    twin, drive, vm, seconds, limit_s, asked, cut
):
    running = started(twin, vm, **seconds)
    answer = drive(running)("vgpu_profile", guest_shutdown_timeout_s=limit_s, **CYCLE)
    assert not answer["failed"], answer["msg"]
    assert (running.requests["ShutdownGuest"], running.requests["PowerOffVM_Task"]) == (asked, cut)
    after = seen(running)
    assert (after["power"], after["profiles"]) == ("poweredOn", ["grid_a100-40c"])
    assert NOTE not in after["settings"]


def test_check_mode_announces_the_power_cycle_and_leaves_the_vm_running(twin, drive):
    running = started(twin)
    answer = drive(running)("vgpu_profile", check=True, **CYCLE)
    assert {"path": "power_cycle", "before": False, "after": True, "needs": None} in result(answer)["changes"]
    assert seen(running)["power"] == "poweredOn"
    assert running.requests["ShutdownGuest"] == running.requests["PowerOffVM_Task"] == 0


def test_the_vgpus_of_a_running_vm_are_taken_away_by_a_power_cycle(twin, drive):
    running = started(twin, READY)
    answer = drive(running)("vgpu_profile", name="train-01", state="absent", power="cycle")
    assert not answer["failed"], answer["msg"]
    assert (seen(running)["power"], seen(running)["profiles"]) == ("poweredOn", [])


def test_a_vm_that_was_off_stays_off(twin, drive):
    running = twin()
    answer = drive(running)("vgpu_profile", **CYCLE)
    assert not answer["failed"], answer["msg"]
    assert seen(running)["power"] == "poweredOff"
    assert running.requests["PowerOnVM_Task"] == 0


def test_a_vm_that_cannot_be_switched_off_runs_on_as_it_did(twin, drive):
    running = started(twin, {"tools": "none"})
    before = seen(running)
    running.control.fail_tasks(method="PowerOffVM_Task", message="It would not stop.")
    answer = drive(running)("vgpu_profile", **CYCLE)
    assert "cannot be powered off. vCenter answered GenericVmConfigFault: It would not stop." in answer["msg"]
    assert seen(running) == before


def test_a_vm_that_is_off_and_cannot_be_changed_is_switched_on_again(twin, drive, monkeypatch):
    running = started(twin, {"tools": "none"})
    before = seen(running)

    def spoil():
        running.control.fail_tasks(method="ReconfigVM_Task", message="Not now.")

    after_task(monkeypatch, running, "PowerOffVM_Task", spoil)
    answer = drive(running)("vgpu_profile", **CYCLE)
    assert "cannot change its vGPU configuration. vCenter answered GenericVmConfigFault: Not now." in answer["msg"]
    assert running.requests["PowerOffVM_Task"] == running.requests["PowerOnVM_Task"] == 1
    assert seen(running) == before


def test_a_vm_that_does_not_start_even_with_its_old_configuration_is_reported_as_off(twin, drive):
    running = started(twin)
    before = seen(running)
    running.control.fail_tasks(
        method="PowerOnVM_Task", count=2, fault="GenericVmConfigFault", message="Out of order today."
    )
    answer = drive(running)("vgpu_profile", **CYCLE)
    assert answer["failure"]["code"] == "power_on_refused"
    assert not answer["failure"]["running"]
    assert "Restoring the previous configuration and starting the VM failed too:" in answer["msg"]
    assert answer["msg"].count("Out of order today.") == 2
    assert "The VM is off." in answer["msg"]
    left = seen(running)
    assert (left["power"], left["profiles"]) == ("poweredOff", before["profiles"])

    # The note is still there, so the next run brings the VM back.
    assert left["settings"][NOTE] == "true"
    answer = drive(running)("vgpu_profile", **CYCLE)
    assert not answer["failed"], answer["msg"]
    assert (seen(running)["power"], seen(running)["profiles"]) == ("poweredOn", ["grid_a100-40c"])


def test_a_vm_that_finds_no_free_gpu_runs_again_as_it_did(twin, drive):
    running = twin(seed=lab({**READY, "power": "on"}, {"power": "on", "tools": "none"}))
    before = gpu_setup(running, "train-02")
    answer = drive(running)("vgpu_profile", **{**CYCLE, "name": "train-02"})
    assert answer["failure"]["code"] == "power_on_refused"
    assert "InsufficientGraphicsResourcesFault" in answer["msg"]
    assert "The previous configuration was restored, and the VM runs with it." in answer["msg"]
    assert gpu_setup(running, "train-02") == before


RUN = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
import conftest
from wire.drive import run
run("aiready.vsphere.vgpu_profile", json.loads(sys.argv[2]))
"""


def test_a_run_that_is_killed_with_the_vm_off_is_finished_by_the_next(twin, drive, monkeypatch):
    running = started(twin, {"tools": "none"})
    (machine,) = [one for one in running.world.of_kind("VirtualMachine") if one.name == "train-01"]
    changes = []
    after_task(
        monkeypatch,
        running,
        "PowerOffVM_Task",
        lambda: changes.append(Held(monkeypatch, running, "ReconfigVM_Task")),
    )
    module = drive(running)
    arguments = json.dumps({**module.connection, **CYCLE})
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, json.dumps(sys.path), arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    while machine.power == "poweredOn" and process.poll() is None:
        time.sleep(0.005)
    process.kill()
    output, _nothing = process.communicate()
    assert process.returncode == -signal.SIGKILL, output.decode()
    assert (seen(running)["power"], seen(running)["settings"][NOTE]) == ("poweredOff", "true")
    changes[0].let_go()

    careful = module("vgpu_profile", check=True, **{**CYCLE, "power": "refuse"})
    assert result(careful)["pending"] == [{"what": "power", "needs": "power_on"}]

    answer = module("vgpu_profile", **CYCLE)
    assert not answer["failed"], answer["msg"]
    after = seen(running)
    assert (after["power"], after["profiles"]) == ("poweredOn", ["grid_a100-40c"])
    assert NOTE not in after["settings"]
