"""What a plan counted on is gone: reported with the reason, nothing half made, mended by a next run."""

from __future__ import annotations

import pytest

from vsphere_twin.model import power

from .held import after_task
from .lab import READY, lab, result
from .machine_troubles import NOTE, vm_of
from .nics import network_lab, see
from .nth import Nth
from .observe import power_on
from .rows.vm_clone import machines, world
from .rows.vm_power import powers

SEVERAL = {"code": "some_failed", "next": "docs/failure_codes.md#some_failed"}

pytestmark = pytest.mark.usefixtures("brisk")

FIVE = {
    "template": "ubuntu-template",
    "folder": "training",
    "datastore": "datastore-01",
    "tasks_in_flight": 1,
    "vms": [{"name": f"new-0{number}"} for number in range(1, 6)],
}
GB = 1024**3


def named(running, kind, name):
    with running.world.lock:
        (found,) = [one for one in running.world.of_kind(kind) if one.name == name]
    return found


def test_a_datastore_that_others_fill_in_the_middle_of_a_fleet_leaves_whole_vms_and_the_rest_follows(
    twin, drive, monkeypatch
):
    running = twin(seed=world({}))
    store, module = named(running, "Datastore", "datastore-01"), drive(running)
    room = store.base_free

    def fill():
        store.base_free -= store.free - 2 * GB
        running.world.touch(store)

    after_task(monkeypatch, running, "CloneVM_Task", fill, number=2)
    answer = module("vm_clone", **FIVE)
    made = [vm["name"] for vm in answer["vms"] if not vm["failed"]]
    assert 2 <= len(made) < 5
    failed = [vm["name"] for vm in answer["vms"] if vm["failed"]]
    assert answer["failure"] == {**SEVERAL, "failed": failed}
    assert "Insufficient disk space on datastore 'datastore-01'. Free space on the datastore" in answer["msg"]
    assert sorted(machines("new-")(running)) == made
    cloned = running.requests["CloneVM_Task"]
    refused = module("vm_clone", **FIVE)
    assert "GB on datastore datastore-01 for all new VMs of this task." in refused["msg"]
    assert running.requests["CloneVM_Task"] == cloned
    with running.world.lock:
        store.base_free = room
        running.world.touch(store)
    again = module("vm_clone", **FIVE)
    assert not again["failed"], again["msg"]
    assert [vm["name"] for vm in again["vms"] if not vm["changed"]] == made
    assert sorted(machines("new-")(running)) == [vm["name"] for vm in FIVE["vms"]]
    assert running.requests["CloneVM_Task"] == cloned + 5 - len(made)


def test_a_folder_that_is_removed_before_the_first_copy_is_reported_and_no_vm_lands_elsewhere(twin, drive, monkeypatch):
    running = twin(seed=world({}))
    folder, module = named(running, "Folder", "training"), drive(running)
    module("vm_clone", check=True, **FIVE)
    running.requests.clear()
    module("vm_clone", check=True, **FIVE)

    def remove():
        with running.world.lock:
            folder.parent.children.pop(folder.moid)
            running.world.touch(folder.parent)
            running.world.remove(folder)

    monkeypatch.setattr(running.world.faults, "take_unavailable", Nth(running.requests.total() + 1, remove))
    answer = module("vm_clone", **FIVE)
    assert answer["failed"]
    assert "Traceback" not in answer["msg"]
    assert answer["failure"]["failed"] == [vm["name"] for vm in FIVE["vms"]]
    assert machines("new-")(running) == {}
    again = module("vm_clone", **FIVE)
    assert "cannot find folder training. Datacenter lab has no such folder of VMs" in again["msg"]


def test_a_user_who_may_not_clone_is_reported_the_privilege_for_each_vm(twin, drive):
    fault = {"method": "CloneVM_Task", "count": 9, "fault": "NoPermission", "message": "Permission was denied."}
    running = twin(seed=world({}), faults=[("fail_tasks", fault)])
    answer = drive(running)("vm_clone", **FIVE)
    assert answer["failure"]["failed"] == [vm["name"] for vm in FIVE["vms"]]
    for vm in answer["vms"]:
        assert vm["failure"]["code"] == "no_permission"
        assert "Give the user a role that holds this privilege" in vm["msg"]
    assert machines("new-")(running) == {}


def test_a_host_whose_memory_is_gone_starts_what_it_can_and_the_next_run_starts_the_rest(twin, drive):
    half = {"memory_gb": 64, "memory_reservation": "all"}
    running = twin(seed=lab(half, half, hardware={"memory_gb": 96}))
    module, call = drive(running), {"vms": [{"name": "train-01"}, {"name": "train-02"}], "state": "on"}
    answer = module("vm_power", tasks_in_flight=1, **call)
    assert answer["failure"]["code"] == "some_failed"
    assert "Free memory on the host or in the resource pool" in answer["msg"]
    (refused,) = answer["failure"]["failed"]
    assert [power for name, (power, _notes) in powers(running).items() if name == refused] == ["poweredOff"]
    assert [power for name, (power, _notes) in powers(running).items() if name != refused] == ["poweredOn"]
    with running.world.lock:
        named(running, "HostSystem", "esx-01").hardware.memory_gb = 512
    again = module("vm_power", **call)
    assert [vm["name"] for vm in again["vms"] if vm["changed"]] == [refused]
    assert powers(running) == {name: ("poweredOn", {}) for name in ("train-01", "train-02")}


def test_the_last_virtual_function_taken_by_a_stranger_before_the_start_is_reported_and_the_vm_keeps_its_adapter(
    twin, drive
):
    stranger = {"adapters": [{"type": "sriov", "network": "pg-sriov"}] * 8}
    running = twin(seed=network_lab({}, stranger, hosts=({"nics": {"vmnic4": {"uplink_of": None}}},)))
    module = drive(running)
    requested = {"name": "train-01", "adapters": [{"portgroup": "pg-sriov", "physical_function": "vmnic3"}]}
    look = module("sriov_nic", check=True, **requested)
    assert not look["failed"], look["msg"]
    assert not module("sriov_nic", **requested)["failed"]
    assert power_on(running, "train-02") is None
    refused = module("vm_power", name="train-01", state="on")
    assert "No SR-IOV virtual function (VF) is available" in refused["msg"]
    assert "Free a virtual function of this port, or configure more of them on the host" in refused["msg"]
    assert refused["failure"]["reason"] == "no_virtual_function"
    assert [kind for kind, *_rest in see("train-01")(running)["train-01"]].count("VirtualSriovEthernetCard") == 1
    assert not module("sriov_nic", **requested)["changed"]
    module("vm_power", name="train-02", state="off", force=True)
    started = module("vm_power", name="train-01", state="on")
    assert not started["failed"], started["msg"]


@pytest.mark.parametrize("again", [False, True])
def test_a_gpu_that_a_stranger_takes_while_the_vm_is_off_leaves_the_note_and_the_next_run_brings_it_back(
    twin, drive, monkeypatch, again
):
    running = twin(seed=lab({**READY, "power": "on", "tools": "none"}, READY))
    module = drive(running)
    requested = {"name": "train-01", "profiles": ["grid_a100-20c"], "power": "cycle"}
    after_task(
        monkeypatch, running, "PowerOffVM_Task", lambda: power.power_on(running.world, vm_of(running, "train-02"))
    )
    answer = module("vgpu_profile", **requested)
    assert vm_of(running, "train-02").power == "poweredOn"
    assert answer["failed"]
    assert "vSphere refused to power it on" in answer["msg"]
    left = vm_of(running, "train-01")
    assert (left.power, left.setting(NOTE)) == ("poweredOff", "true")
    assert result(answer)["pending"] == [{"what": "power", "needs": "power_on"}]
    if again:
        still = module("vgpu_profile", **requested)
        assert still["failed"]
        assert vm_of(running, "train-01").setting(NOTE) == "true"
    module("vm_power", name="train-02", state="off", force=True)
    cured = module("vgpu_profile", **requested)
    assert not cured["failed"], cured["msg"]
    vm = vm_of(running, "train-01")
    assert (vm.power, vm.setting(NOTE) or "", [profile for _key, profile in vm.vgpus]) == (
        "poweredOn",
        "",
        ["grid_a100-20c"],
    )
