"""VMs start, or it is reported why not; they stop as gently as the user wants; guests are waited for together."""

from __future__ import annotations

import pytest

from vsphere_twin.model.tasks import Task

from .lab import READY, lab, result
from .meanwhile import meanwhile
from .observe import virtual_machine

pytestmark = pytest.mark.usefixtures("brisk")

NET = {"networks": ["VM Network"]}
ON = {"power": "on", **NET}


def fleet(size):
    return [{"name": f"train-{number:02}"} for number in range(1, size + 1)]


def vm_of(running, name):
    (found,) = [vm for vm in running.world.of_kind("VirtualMachine") if vm.name == name]
    return found


def power_of(running, name):
    with virtual_machine(running, name) as machine:
        return machine.runtime.powerState


NO_WINDOW = {**READY, "extra_config": {}}


@pytest.mark.parametrize(
    "vm, reason, says",
    [
        (
            {key: value for key, value in READY.items() if key != "memory_reservation"},
            "no_full_reservation",
            "Reserve all memory of the VM (vm_shape with memory_reservation=all)",
        ),
        (NO_WINDOW, "mmio_too_small", "Set the window for memory mapped I/O large enough for all devices together"),
        (
            {**READY, "memory_gb": 4096},
            None,
            "Free memory on the host or in the resource pool: a VM with a vGPU reserves all of its memory",
        ),
        ({**READY, "vgpus": ["grid_a100-40c"], "held": True}, None, "Find or free a GPU that offers this profile"),
    ],
    ids=["reservation", "window", "memory of the host", "GPU taken"],
)
def test_why_a_vm_does_not_start_is_reported_with_what_to_do_and_the_others_start(twin, drive, vm, reason, says):
    vm = dict(vm)
    # Another VM that runs holds the only GPU.
    first = {**READY, "power": "on"} if vm.pop("held", False) else {}
    running = twin(seed=lab(first, vm, {}))
    answer = drive(running)("vm_power", vms=fleet(3), state="on")
    refused = result(answer, "train-02")
    assert says in refused["msg"]
    assert "VM train-02: cannot be powered on. vCenter answered " in refused["msg"]
    assert refused["failure"].get("reason") == reason
    assert not refused["changed"]
    assert power_of(running, "train-02") == "poweredOff"
    assert power_of(running, "train-03") == "poweredOn"


def test_a_rule_of_drs_that_forbids_the_host_is_named(twin, drive):
    running = twin(seed=lab({}, {}))
    running.world.of_kind("ClusterComputeResource")[0].drs = "manual"
    module = drive(running)
    module("drs_placement", cluster="gpu", name="apart", vms=["train-01", "train-02"], mandatory=False)
    (rule,) = running.world.of_kind("ClusterComputeResource")[0].rules
    rule.mandatory = True
    answer = module("vm_power", vms=fleet(2), state="on", tasks_in_flight=1)
    (failed,) = [vm for vm in answer["vms"] if vm["failed"]]
    assert "would violate the rule 'apart'" in failed["msg"]
    assert "Move the VM to another host, or change the DRS rule" in failed["msg"]
    assert failed["failure"]["reason"] == "drs_rule"


def test_a_suspended_vm_is_resumed(twin, drive):
    running = twin(seed=lab(ON))
    with virtual_machine(running, "train-01") as machine:
        machine.SuspendVM_Task()
        answer = None
        while machine.runtime.powerState != "suspended":
            pass
    refused = drive(running)("vm_power", name="train-01", state="off")
    assert "The VM is suspended, and the memory of its guest would be lost." in refused["msg"]
    answer = drive(running)("vm_power", name="train-01", state="on")
    assert not answer["failed"], answer["msg"]
    assert power_of(running, "train-01") == "poweredOn"


def test_a_guest_that_cannot_be_asked_runs_on_unless_force_is_said(twin, drive):
    running = twin(seed=lab({"power": "on", "tools": "none"}))
    module = drive(running)
    answer = module("vm_power", name="train-01", state="off")
    assert "VMware Tools do not run in the guest, so vCenter cannot shut it down." in answer["msg"]
    assert "Shut it down from inside, or set force=true to cut its power." in answer["msg"]
    assert power_of(running, "train-01") == "poweredOn"
    assert running.requests["PowerOffVM_Task"] == 0
    assert not module("vm_power", name="train-01", state="off", force=True)["failed"]
    assert power_of(running, "train-01") == "poweredOff"


def test_a_guest_that_does_not_go_in_time_runs_on_without_a_note_unless_force_is_said(twin, drive):
    running = twin(seed=lab(ON, task_seconds={"ShutdownGuest": 60}))
    module = drive(running)
    module("vm_power", name="train-01", state="on", wait_for="tools")
    call = {"name": "train-01", "state": "off", "guest_shutdown_timeout_s": 0, "again": True}
    answer = module("vm_power", **call)
    assert "did not shut down. The guest got the request, but the VM is still on after 0 seconds." in answer["msg"]
    assert "set force=true to cut its power after that time" in answer["msg"]
    assert answer["failure"]["code"] == "guest_not_down"
    assert power_of(running, "train-01") == "poweredOn"
    assert vm_of(running, "train-01").setting("aiready.vsphere.power_on_again") is None
    assert not answer["changed"]
    forced = module("vm_power", force=True, **call)
    assert not forced["failed"], forced["msg"]
    assert forced["vms"][0]["pending"] == [{"what": "power", "needs": "power_on"}]


def test_a_note_that_a_run_has_left_on_a_running_vm_is_removed(twin, drive):
    running = twin(seed=lab({**ON, "extra_config": {"aiready.vsphere.power_on_again": "true"}}))
    answer = drive(running)("vm_power", name="train-01", state="on")
    assert [change["path"] for change in answer["vms"][0]["changes"]] == ["power_on_again"]
    assert running.requests["PowerOnVM_Task"] == 0
    assert vm_of(running, "train-01").setting("aiready.vsphere.power_on_again") is None


def test_addresses_are_reported_by_mac_and_network(twin, drive):
    running = twin(seed=lab(NET))
    answer = drive(running)("vm_power", name="train-01", state="on", wait_for="address")
    after = result(answer)["after"]
    (nic,) = vm_of(running, "train-01").nics
    (address,) = vm_of(running, "train-01").addresses.values()
    assert after["address"] == address
    assert after["addresses"] == [{"mac": nic.macAddress, "network": "VM Network", "addresses": [address]}]


def test_a_vm_that_runs_already_is_waited_for_too(twin, drive):
    running = twin(seed=lab(NET, task_seconds={"boot": 0.5}))
    module = drive(running)
    first = module("vm_power", name="train-01", state="on")
    assert result(first)["after"]["address"] is None
    second = module("vm_power", name="train-01", state="on", wait_for="address")
    assert not second["changed"]
    assert result(second)["after"]["address"] is not None
    assert second["diff"] == []


def test_guests_that_do_not_come_are_named_with_what_they_have(twin, drive):
    running = twin(seed=lab(NET, NET, NET))
    running.control.guest_without_tools(vm="train-01")
    running.control.guest_without_address(vm="train-02")
    answer = drive(running)("vm_power", vms=fleet(3), state="on", wait_for="address", wait_timeout_s=5)
    mute, lost, fine = (result(answer, vm["name"]) for vm in fleet(3))
    assert "has no guest address after 5 seconds. VMware Tools do not run in the guest" in mute["msg"]
    assert "Check on its console that the guest starts" in mute["msg"]
    assert "VMware Tools run in the guest, and it" in lost["msg"]
    assert "Check that the adapter of the guest is connected and that DHCP answers" in lost["msg"]
    assert lost["failure"]["code"] == mute["failure"]["code"] == "guest_timeout"
    assert not fine["failed"], fine["msg"]
    # They were switched on and stay so.
    assert [vm["changed"] for vm in answer["vms"]] == [True] * 3
    assert {power_of(running, vm["name"]) for vm in fleet(3)} == {"poweredOn"}


def test_check_mode_waits_for_no_guest(twin, drive):
    running = twin(seed=lab(ON))
    running.control.guest_without_address(vm="train-01")
    call = {"name": "train-01", "state": "on", "wait_for": "address", "wait_timeout_s": 1}
    answer = drive(running)("vm_power", check=True, **call)
    assert not answer["failed"], answer["msg"]
    assert drive(running)("vm_power", **call)["failed"]


def test_a_vm_that_goes_off_while_it_is_waited_for_ends_the_waiting(twin, drive):
    running = twin(seed=lab(NET, task_seconds={"boot": 60}))

    def crash():
        with virtual_machine(running, "train-01") as machine:
            machine.PowerOffVM_Task()

    with meanwhile(lambda: vm_of(running, "train-01").power == "poweredOn", crash):
        answer = drive(running)("vm_power", name="train-01", state="on", wait_for="tools", wait_timeout_s=60)
    assert "has no running VMware Tools. The VM went off during the wait." in answer["msg"]
    assert answer["failure"]["code"] == "went_off"


def test_a_vm_that_drs_starts_on_another_host_is_reported_to_be_there(twin, drive):
    running = twin(seed=lab({"memory_gb": 200, "memory_reservation": "all"}, {}, others=[{"name": "esx-02"}]))
    (cluster,) = running.world.of_kind("ClusterComputeResource")
    cluster.drs = "fullyAutomated"
    (host,) = [one for one in running.world.of_kind("HostSystem") if one.name == "esx-01"]
    host.hardware.memory_gb = 128
    answer = drive(running)("vm_power", name="train-01", state="on")
    assert not answer["failed"], answer["msg"]
    assert result(answer)["host"] == "esx-02"


def test_a_lost_session_while_vms_start_loses_none(twin, drive):
    running = twin(seed=lab(NET, NET, task_seconds={"PowerOnVM_Task": 0.5}))
    with meanwhile(lambda: running.requests["WaitForUpdatesEx"], running.control.drop_sessions):
        answer = drive(running)("vm_power", vms=fleet(2), state="on", wait_for="address")
    assert not answer["failed"], answer["msg"]
    assert running.requests["PowerOnVM_Task"] == 2


def test_a_start_whose_answer_is_lost_is_read_again_and_not_repeated(twin, drive):
    running = twin(seed=lab(NET), faults=[("close_after", {"method": "PowerOnVM_Task"})])
    answer = drive(running)("vm_power", name="train-01", state="on")
    assert not answer["failed"], answer["msg"]
    assert power_of(running, "train-01") == "poweredOn"


def test_a_task_of_somebody_else_is_waited_for(twin, drive):
    running = twin(seed=lab(NET))
    vm = vm_of(running, "train-01")
    with running.world.lock:
        vm.busy_with = running.world.add(Task(running.world, "ReconfigVM_Task", vm, "somebody"))

    def done():
        with running.world.lock:
            vm.busy_with = None

    with meanwhile(lambda: running.requests["PowerOnVM_Task"] == 1, done):
        answer = drive(running)("vm_power", name="train-01", state="on")
    assert not answer["failed"], answer["msg"]
    assert power_of(running, "train-01") == "poweredOn"


def test_vms_that_earlier_tasks_will_make_count_as_off_in_check_mode(twin, drive):
    running = twin(seed=lab({}, {"name": "ubuntu-template", "template": True}))
    module = drive(running)
    call = {"name": "new-01", "state": "on", "planned": {"template": "ubuntu-template", "host": "esx-01"}}
    look = result(module("vm_power", check=True, **call), "new-01")
    assert (look["changed"], look["after"]["power"], look["moid"]) == (True, "on", None)
    assert "VM new-01: cannot find the VM. There is none" in module("vm_power", **call)["msg"]


@pytest.mark.parametrize("size", [1, 20])
def test_a_fleet_costs_one_request_per_vm_and_a_few_for_all(twin, drive, size):
    seconds = {"PowerOnVM_Task": 0.001, "boot": 0.001}
    running = twin(seed=lab(*[NET] * size, task_seconds=seconds, hardware={"memory_gb": 2048}))
    module = drive(running)
    module("vm_power", check=True, vms=fleet(size), state="on")
    running.requests.clear()
    answer = module("vm_power", vms=fleet(size), state="on", wait_for="address")
    assert not answer["failed"], answer["msg"]
    assert running.requests["PowerOnVM_Task"] == size
    looks = running.requests["WaitForUpdatesEx"] + running.requests["RetrievePropertiesEx"]
    assert running.requests.total() - size - looks <= 5
    assert running.requests["RetrievePropertiesEx"] <= 12
