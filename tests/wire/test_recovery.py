"""Trouble that passes is waited out, and a change is made once whatever happens on the way."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import session

from vsphere_twin.model.tasks import Task

from .drive import Driver, connection
from .held import Held
from .lab import lab
from .meanwhile import meanwhile
from .neighbours import Line, serving
from .nth import Nth
from .observe import gpu_setup

pytestmark = pytest.mark.usefixtures("brisk")

REQUEST = {"name": "train-01", "profiles": ["grid_a100-40c"]}


def has_its_vgpu(twin):
    return gpu_setup(twin, "train-01")["train-01"]["profiles"] == ["grid_a100-40c"]


def test_a_session_that_vcenter_dropped_between_two_tasks_is_renewed_with_one_login(twin, drive):
    running = twin()
    module = drive(running)
    module("vgpu_profile", check=True, **REQUEST)
    running.control.drop_sessions()
    running.requests.clear()
    answer = module("vgpu_profile", **REQUEST)
    assert not answer["failed"], answer["msg"]
    assert answer["changed"]
    assert running.requests["Login"] == 1
    assert has_its_vgpu(running)


def test_a_session_that_vcenter_drops_while_a_task_is_awaited_does_not_lose_the_task(twin, drive, monkeypatch):
    running = twin(seed=lab())
    module, change = drive(running), Held(monkeypatch, running, "ReconfigVM_Task")

    def drop():
        running.control.drop_sessions()
        change.let_go()

    with meanwhile(lambda: running.requests["WaitForUpdatesEx"], drop):
        answer = module("vgpu_profile", **REQUEST)
    assert not answer["failed"], answer["msg"]
    assert answer["changed"]
    assert running.requests["Login"] == 2
    assert running.requests["ReconfigVM_Task"] == 1
    assert has_its_vgpu(running)


def test_503_answers_at_the_login_are_waited_out(twin, drive):
    running = twin(faults=[("unavailable", {"count": 3})])
    answer = drive(running)("vgpu_profile", **REQUEST)
    assert not answer["failed"], answer["msg"]
    assert has_its_vgpu(running)


TROUBLES = {
    "503": ("take_unavailable", lambda faults: True),
    "the session is dropped": ("take_unavailable", lambda faults: faults.drop_sessions()),
    "the connection is cut after the request was taken": ("take_closing", lambda faults: True),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_trouble_at_any_request_of_a_run_ends_with_exactly_one_vgpu(twin, drive, monkeypatch, trouble):
    running = twin(seed=lab(*[{}] * 16, task_seconds={"ReconfigVM_Task": 0.01}))
    faults = running.world.faults
    module = drive(running)
    module("vgpu_profile", check=True, **REQUEST)
    place, action = TROUBLES[trouble]
    for number in range(1, 17):
        nth = Nth(number, lambda: action(faults))
        monkeypatch.setattr(faults, place, nth)
        name = f"train-{number:02}"
        answer = module("vgpu_profile", name=name, profiles=["grid_a100-4c"])
        if not nth.happened:
            break
        assert not answer["failed"], f"request {number}: {answer['msg']}"
        assert answer["changed"], f"request {number}"
        assert gpu_setup(running, name)[name]["profiles"] == ["grid_a100-4c"], f"request {number}"
    # Find, read, reconfigure, four to wait with, a new reading, the proof, and two to tidy up.
    assert number > 10
    assert not nth.happened


def test_connections_that_are_reset_are_opened_again(twin, tmp_path):
    running = twin()
    line = Line(running.port)
    line.resets = 2
    with serving(line) as port:
        module = Driver({**connection(running, tmp_path / "sessions"), "port": port})
        answer = module("vgpu_profile", **REQUEST)
    assert not answer["failed"], answer["msg"]
    assert line.resets == 0
    assert has_its_vgpu(running)


def test_a_slow_vcenter_is_waited_for(twin, drive):
    running = twin(faults=[("latency", {"seconds": 0.03})])
    answer = drive(running)("vgpu_profile", request_timeout_s=60, **REQUEST)
    assert not answer["failed"], answer["msg"]
    assert has_its_vgpu(running)


def test_a_task_of_somebody_else_is_waited_for_and_its_change_is_kept(twin, drive):
    """TaskInProgress first, then ConcurrentAccess: the other task changed the VM between read and reconfiguration."""
    running = twin()
    vm = _named(running, "train-01")
    with running.world.lock:
        vm.busy_with = running.world.add(Task(running.world, "ReconfigVM_Task", vm, "somebody"))

    def others_are_done():
        with running.world.lock:
            vm.annotation, vm.busy_with = "Changed by somebody else.", None
            vm.changed()
            running.world.touch(vm)

    with meanwhile(lambda: running.requests["ReconfigVM_Task"] == 1, others_are_done):
        answer = drive(running)("vgpu_profile", **REQUEST)
    assert not answer["failed"], answer["msg"]
    assert answer["changed"]
    assert running.requests["ReconfigVM_Task"] == 3
    assert vm.annotation == "Changed by somebody else."
    assert has_its_vgpu(running)


@pytest.mark.parametrize(
    "fault, said, code, todo",
    [
        (
            "InsufficientGraphicsResourcesFault",
            "No GPU is left.",
            "no_graphics_resources",
            "Find or free a GPU that offers this profile",
        ),
        ("GenericVmConfigFault", "Device 7 is odd.", "vm_config", "Correct the setting or the device that"),
        ("FileLocked", "The file is locked.", "file_locked", "Wait for the host or task that locks the file"),
        ("NoPermission", "Permission was denied.", "no_permission", "Give the user a role that holds this privilege"),
        ("HostNotConnected", "The host is gone.", "host_not_connected", "Reconnect the host in vCenter"),
    ],
)
def test_a_task_that_fails_is_reported_in_the_words_of_the_vendor_and_with_a_way_out(
    twin, drive, fault, said, code, todo
):
    running = twin(faults=[("fail_tasks", {"method": "ReconfigVM_Task", "fault": fault, "message": said})])
    answer = drive(running)("vgpu_profile", **REQUEST)
    assert answer["failed"]
    assert answer["msg"].startswith("VM train-01: cannot change its vGPU configuration.")
    assert f"vCenter answered {fault}: {said}" in answer["msg"]
    assert todo in answer["msg"]
    assert answer["failure"]["code"] == code
    assert (answer["failure"]["fault"], answer["failure"]["vendor_message"]) == (fault, said)
    assert not answer["changed"]


def test_a_task_that_does_not_end_in_time_is_named_and_left_alone(twin, drive):
    running = twin(seed=lab(task_seconds={"ReconfigVM_Task": 60}))
    answer = drive(running)("vgpu_profile", task_timeout_s=1, **REQUEST)
    (task,) = [task for task in running.world.of_kind("Task") if task.method == "ReconfigVM_Task"]
    assert f"The task {task.moid} did not end within 1 seconds; last seen: " in answer["msg"]
    assert "Wait for the task in vCenter, where it still runs" in answer["msg"]
    assert answer["failure"]["code"] == "task_timeout"
    assert not task.cancelled


SPOKEN = {
    "7.0.2": "7.0.2.0",
    "7.0.3": "7.0.3.0",
    "8.0.0": "8.0.0.1",
    "8.0.3": "8.0.3.0",
    "9.0.1": "9.0.0.0",
    "9.1.0": "9.1.0.0",
}


def test_version_id_that_is_no_number_is_newer_than_the_release_before_it(twin, drive, tmp_path):
    running = twin(seed={**lab(release="9.1.0"), "api_version": "m5CA1EF4D"})
    module = drive(running)
    vcenter = session.connect({"validate_certs": True, "request_timeout_s": 10, **module.connection})
    assert vcenter.api_version_text == "m5CA1EF4D"
    assert vcenter.wire.version == "vim.version.v9_1_0_1"
    assert [one for one in ("8.0.0.1", "9.1.0.0", "m5CA1EF4D", "9.1.1.0") if vcenter.offers(one)] == [
        "8.0.0.1",
        "9.1.0.0",
        "m5CA1EF4D",
    ]
    vcenter.close()
    assert not module("vgpu_profile", **REQUEST)["failed"]


@pytest.mark.parametrize("release", SPOKEN)
def test_every_release_is_spoken_to_in_its_own_version(twin, drive, tmp_path, release):
    running = twin(seed=lab(release=release))
    module = drive(running)
    vcenter = session.connect({"validate_certs": True, "request_timeout_s": 10, **module.connection})
    assert vcenter.api_version_text == SPOKEN[release]
    vcenter.close()
    for changes in (True, False):
        answer = module("vgpu_profile", **REQUEST)
        assert not answer["failed"], answer["msg"]
        assert answer["changed"] is changes
    assert has_its_vgpu(running)
    assert running.unserved.total() == 0


def _named(running, name):
    (found,) = [vm for vm in running.world.of_kind("VirtualMachine") if vm.name == name]
    return found
