"""VMs are made once, whatever happens on the way, and many of them cost vCenter little."""

from __future__ import annotations

import json

import pytest

from unit.plugins.module_utils.vm.clone.requests import request
from vsphere_twin.model import cloning

from .held import Held
from .lab import result
from .meanwhile import meanwhile
from .nth import Nth
from .rows.vm_clone import CALL, machine, machines, vm_of, world
from .test_recovery import TROUBLES

pytestmark = pytest.mark.usefixtures("brisk")

MADE = {"new-01": machine("new-01", "esx-01"), "new-02": machine("new-02", "esx-02")}
SLOW = {"CloneVM_Task": 0.4}


def test_vms_that_are_there_need_no_template_any_more(twin, drive):
    running = twin(seed=world({}))
    answer = drive(running)("vm_clone", template="gone", folder="", vms=[{"name": "train-01"}])
    assert not answer["failed"], answer["msg"]
    assert not answer["changed"]


OWNER = "aiready.vsphere.owner"
MADE_EARLIER = {"aiready.vsphere.cloned_from": "/lab/vm/templates/ubuntu-template"}


def test_a_vm_is_marked_with_its_owner_when_it_is_made_and_keeps_it(twin, drive):
    running = twin(seed=world({}))
    module = drive(running)
    made = module("vm_clone", owner="lab", **CALL)
    assert [vm["after"]["owner"] for vm in made["vms"]] == ["lab", "lab"]
    assert vm_of(running, "new-01").setting(OWNER) == "lab/new-01"
    again = module("vm_clone", owner="other", **CALL)
    assert not again["changed"]
    assert vm_of(running, "new-01").setting(OWNER) == "lab/new-01"


@pytest.mark.parametrize(
    "extra, mark",
    [(MADE_EARLIER, "lab/train-01"), ({}, None), ({**MADE_EARLIER, OWNER: "lab/train-09"}, "lab/train-09")],
    ids=["made without an owner", "not made by this module", "a copy of one that has an owner"],
)
def test_only_a_vm_of_this_module_without_an_owner_gets_one_later(twin, drive, extra, mark):
    running = twin(seed=world({"extra_config": extra, "power": "on"}))
    module = drive(running)
    requested = {**CALL, "folder": None, "owner": "lab", "vms": [{"name": "train-01"}]}
    looked = module("vm_clone", check=True, **requested)
    done = module("vm_clone", **requested)
    assert not done["failed"], done["msg"]
    assert [one["path"] for one in result(done)["changes"]] == (["owner"] if mark == "lab/train-01" else [])
    assert result(looked)["changes"] == result(done)["changes"]
    assert vm_of(running, "train-01").setting(OWNER) == mark
    assert not module("vm_clone", **requested)["changed"]


def disks_of(running, *names):
    return [[disk.capacityInKB // 1024**2 for disk in vm_of(running, name).disks] for name in names]


def test_the_disk_of_new_vms_grows_in_the_request_that_makes_them_and_others_keep_theirs(twin, drive):
    running = twin(seed=world({"disk_gb": 30}))
    module = drive(running)
    call = {**CALL, "disk_gb": 80}
    looked = module("vm_clone", check=True, **call)
    made = module("vm_clone", **call)
    assert not made["failed"], made["msg"]
    assert {"path": "disk_gb", "before": None, "after": 80, "needs": None} in result(made, "new-01")["changes"]
    assert [vm["changes"] for vm in looked["vms"]] == [vm["changes"] for vm in made["vms"]]
    assert looked["diff"] == made["diff"]
    assert disks_of(running, "new-01", "new-02", "ubuntu-template") == [[80], [80], [40]]
    assert len({disk.backing.fileName for vm in running.world.of_kind("VirtualMachine") for disk in vm.disks}) == 4
    assert running.requests["ReconfigVM_Task"] == 0
    # A VM that is there keeps its size, smaller or larger.
    for size in (0, 60, 90):
        assert not module("vm_clone", **{**CALL, "disk_gb": size})["changed"]
    there = module("vm_clone", disk_gb=80, template="ubuntu-template", vms=[{"name": "train-01"}])
    assert (there["changed"], result(there)["after"]["disk_gb"]) == (False, 30)
    assert disks_of(running, "new-01", "train-01") == [[80], [30]]


@pytest.mark.parametrize("kind, fits", [("thick", False), ("thin", True)])
def test_a_disk_that_grows_needs_its_whole_size_only_where_it_is_thick(twin, drive, kind, fits):
    running = twin(seed=world({}))
    answer = drive(running)("vm_clone", check=True, disk=kind, disk_gb=600, **CALL)
    assert answer["failed"] is not fits
    assert [vm["failure"].get("code") for vm in answer["vms"]].count("no_disk_space") == (0 if fits else 1)


def test_one_that_fails_does_not_keep_the_others_and_leaves_nothing(twin, drive):
    fault = {"method": "CloneVM_Task", "fault": "FileLocked", "message": "The disk is locked."}
    running = twin(seed=world({}), faults=[("fail_tasks", fault)])
    module = drive(running)
    answer = module("vm_clone", tasks_in_flight=1, **CALL)
    assert answer["failed"]
    assert answer["changed"]
    (failed,) = [vm for vm in answer["vms"] if vm["failed"]]
    assert "cannot be cloned from /lab/vm/templates/ubuntu-template" in failed["msg"]
    assert "vCenter answered FileLocked: The disk is locked." in failed["msg"]
    made = machines("new-")(running)
    assert set(made) == {"new-01", "new-02"} - {failed["name"]}
    again = module("vm_clone", **CALL)
    assert [vm["changed"] for vm in again["vms"]] == [vm["failed"] for vm in answer["vms"]]
    assert machines("new-")(running) == MADE


def begin_clone(running, name, user=None):
    """What a run that was killed leaves: a copy on its way in vCenter, which goes on by itself."""
    source = vm_of(running, "ubuntu-template")
    with running.world.lock:
        (folder,) = [one for one in running.world.of_kind("Folder") if one.name == "training"]
        user = user or running.username
        return cloning.start(running.world, source, folder, name, _spec(running, name), user)


def _spec(running, name):
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import spec, state
    from pyVmomi import vim

    (host,) = [one for one in running.world.of_kind("HostSystem") if one.name == f"esx-{name[-2:]}"]
    (store,) = [one for one in running.world.of_kind("Datastore") if one.name == "datastore-01"]
    target = state.Target(
        None,
        state.HostPlace(vim.HostSystem(host.moid), host.moid, host.name, "connected", False, "", (), 0),
        state.Store(vim.Datastore(store.moid), store.moid, store.name, 0, True),
        vim.ResourcePool(host.compute.pool.moid),
    )
    return spec.clone(request(name), target, state.Source(path="/lab/vm/templates/ubuntu-template"), "template")


def test_copies_that_a_killed_run_has_begun_are_waited_for_and_not_made_twice(twin, drive):
    running = twin(seed=world({}, task_seconds=SLOW))
    begin_clone(running, "new-01")
    answer = drive(running)("vm_clone", **CALL)
    assert not answer["failed"], answer["msg"]
    assert running.requests["CloneVM_Task"] == 1
    assert machines("new-")(running) == MADE


def test_a_copy_that_somebody_else_has_begun_is_waited_for_and_taken_for_what_it_is(twin, drive):
    running = twin(seed=world({}, task_seconds=SLOW))
    begin_clone(running, "new-01", user="LAB\\somebody")
    answer = drive(running)("vm_clone", **CALL)
    assert not answer["failed"], answer["msg"]
    assert running.requests["CloneVM_Task"] == 1
    assert machines("new-")(running) == MADE


def test_a_copy_of_somebody_else_that_fails_is_made_after_all(twin, drive):
    fault = {"method": "CloneVM_Task", "fault": "FileLocked", "message": "Locked."}
    running = twin(seed=world({}, task_seconds=SLOW), faults=[("fail_tasks", fault)])
    begin_clone(running, "new-01", user="LAB\\somebody")
    answer = drive(running)("vm_clone", **{**CALL, "vms": CALL["vms"][:1]})
    assert not answer["failed"], answer["msg"]
    assert machines("new-")(running) == {"new-01": MADE["new-01"]}


def test_a_copy_of_somebody_else_that_never_ends_is_reported(twin, drive):
    running = twin(seed=world({}, task_seconds={"CloneVM_Task": 60}))
    begin_clone(running, "new-01", user="LAB\\somebody")
    module = drive(running)
    call = {**CALL, "vms": CALL["vms"][:1]}
    answer = module("vm_clone", task_timeout_s=1, **call)
    assert "Another task is creating a VM of this name, and has not ended within 1 seconds." in answer["msg"]
    assert answer["failure"]["code"] == "being_made"
    assert running.requests["CloneVM_Task"] == 0
    gone = module("vm_clone", vms=call["vms"], folder="training", state="absent")
    assert "VM new-01: cannot be set to state=absent. Another task is creating a VM of this name." in gone["msg"]


def test_a_session_that_vcenter_drops_while_copies_are_awaited_loses_none(twin, drive, monkeypatch):
    running = twin(seed=world({}))
    copies = Held(monkeypatch, running, "CloneVM_Task")

    def drop():
        running.control.drop_sessions()
        copies.let_go()

    with meanwhile(lambda: running.requests["WaitForUpdatesEx"], drop):
        answer = drive(running)("vm_clone", **CALL)
    assert not answer["failed"], answer["msg"]
    assert running.requests["CloneVM_Task"] == 2
    assert machines("new-")(running) == MADE


def test_a_request_whose_answer_is_lost_makes_no_second_vm(twin, drive):
    running = twin(seed=world({}, task_seconds=SLOW), faults=[("close_after", {"method": "CloneVM_Task", "count": 2})])
    answer = drive(running)("vm_clone", **CALL)
    assert not answer["failed"], answer["msg"]
    assert running.requests["CloneVM_Task"] == 2
    assert machines("new-")(running) == MADE


@pytest.mark.parametrize("trouble", TROUBLES)
def test_trouble_at_any_request_of_a_run_ends_with_exactly_one_vm(twin, drive, monkeypatch, trouble):
    running = twin(seed=world({}, task_seconds={"CloneVM_Task": 0.01}))
    faults, module = running.world.faults, drive(running)
    module("vm_clone", check=True, **CALL)
    place, action = TROUBLES[trouble]
    for number in range(1, 30):
        nth = Nth(number, lambda: action(faults))
        monkeypatch.setattr(faults, place, nth)
        answer = module("vm_clone", template="ubuntu-template", vms=[{"name": f"new-{number:02}", "host": "esx-01"}])
        if not nth.happened:
            break
        assert not answer["failed"], f"request {number}: {answer['msg']}"
        assert answer["changed"], f"request {number}"
    assert number > 10
    names = [vm.name for vm in running.world.of_kind("VirtualMachine") if vm.name.startswith("new-")]
    assert sorted(names) == [f"new-{one:02}" for one in range(1, number + 1)]


def test_a_copy_that_takes_too_long_is_named_and_left_to_vcenter(twin, drive):
    running = twin(seed=world({}, task_seconds={"CloneVM_Task": 60}))
    answer = drive(running)("vm_clone", task_timeout_s=1, template="ubuntu-template", vms=[{"name": "new-01"}])
    assert "did not end within 1 seconds" in answer["msg"]
    assert answer["failure"]["code"] == "task_timeout"


@pytest.mark.parametrize("size", [1, 20])
def test_a_fleet_costs_one_request_per_vm_and_a_few_for_all(twin, drive, size):
    running = twin(seed=world({}, task_seconds={"CloneVM_Task": 0.001}))
    module = drive(running)
    call = {**CALL, "vms": [{"name": f"new-{number:02}"} for number in range(size)]}
    module("vm_clone", check=True, **call)
    running.requests.clear()
    answer = module("vm_clone", **call)
    assert not answer["failed"], answer["msg"]
    assert running.requests["CloneVM_Task"] == size
    # Datacenters, inventory, template; its tasks; twice a new reading of two requests; and what a wait costs.
    assert running.requests.total() - size - running.requests["WaitForUpdatesEx"] <= 14
    running.requests.clear()
    assert not module("vm_clone", **call)["changed"]
    assert running.requests.total() <= 3


def test_many_copies_are_on_their_way_at_once_but_no_more_than_allowed(twin, drive, monkeypatch):
    running = twin(seed=world({}))
    copies, under_way = Held(monkeypatch, running, "CloneVM_Task"), []

    def answered(method):
        if method == "CloneVM_Task":
            under_way.append(sum(task.completed_at is None for task in running.world.of_kind("Task")))

    monkeypatch.setattr(running.world.faults, "take_closing", answered)
    # None ends before the module has begun what it may, and waits for one.
    with meanwhile(lambda: running.requests["WaitForUpdatesEx"], copies.let_go):
        fleet = [{"name": f"new-{number:02}"} for number in range(9)]
        answer = drive(running)("vm_clone", tasks_in_flight=6, **{**CALL, "vms": fleet})
    assert not answer["failed"], answer["msg"]
    assert under_way[:6] == [1, 2, 3, 4, 5, 6]
    assert (len(under_way), max(under_way)) == (9, 6)


def test_nothing_of_the_userdata_is_reported(twin, drive):
    running = twin(seed=world({}))
    module = drive(running)
    for check in (True, False):
        answer = module("vm_clone", check=check, cloud_init={"userdata": "#cloud-config\npassword: hush-hush"}, **CALL)
        assert not answer["failed"], answer["msg"]
        assert "hush" not in json.dumps(answer)
        assert result(answer, "new-01")["after"]["cloud_init"] == ["metadata", "userdata"]
