# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vm import apply
from pyVmomi import vim

from ..gpu.worlds import Module, Permissive, planned, powered, ready, requested, vm
from .machines import Clock, Machine, Rehearsed, Several

NO_GPU = vim.fault.InsufficientResourcesFault(msg="No GPU is free.")
CONCURRENT = vim.fault.ConcurrentAccess()
BAD_DEVICE = vim.fault.InvalidDeviceSpec(property="backing.vgpu", msg="Invalid device.")


def carry_out(state, requested_one, machine=None, **options):
    machine = machine or Machine(state, Clock(), **options)
    item = Item("train-01", requested_one, {"moid": "vm-1"}, now=state)
    item.wanted, item.changes = planned(state, requested_one)
    fleet, noun = Rehearsed(machine), Permissive(Module())
    apply.apply(noun, fleet, [item])
    if item.touched:
        apply.prove(noun, fleet, [item])
    assert machine.gone or item.proved == machine.state
    return item, machine


A100 = requested("grid_a100-40c")
CYCLE = requested("grid_a100-40c", power="cycle")
RUNNING = vm(power="on", tools_running=True)


def settled(machine, power="off"):
    return powered(ready("grid_a100-40c", power=power), change_version=machine.state.vm.change_version)


def test_a_vm_that_is_off_takes_one_reconfiguration():
    item, machine = carry_out(vm(), A100)
    assert machine.log == ["reconfigure"]
    assert item.error is None
    assert machine.state == settled(machine)


def test_a_setting_follows_its_device_when_vsphere_chose_another_key():
    item, machine = carry_out(vm(), A100, first_key=13003)
    assert machine.log == ["reconfigure", "reconfigure"]
    assert item.error is None
    assert machine.state.devices == ((13003, "grid_a100-40c"),)
    assert machine.state.vmx["pciPassthru3.cfg.enable_uvm"] == "1"
    assert "pciPassthru0.cfg.enable_uvm" not in machine.state.vmx


@pytest.mark.parametrize(
    "trouble, log",
    [
        (["answer lost"], ["reconfigure"]),
        (["request lost"], ["reconfigure", "reconfigure"]),
        ([CONCURRENT], ["reconfigure", "reconfigure"]),
    ],
    ids=["done though the answer was lost", "not done", "somebody else was faster"],
)
def test_an_uncertain_change_is_judged_by_a_new_reading_and_never_made_twice(trouble, log):
    item, machine = carry_out(vm(), A100, trouble={"reconfigure": trouble})
    assert machine.log == log
    assert item.error is None
    assert machine.state.profiles == ["grid_a100-40c"]


def test_a_vm_that_somebody_changes_between_its_reading_and_its_change_is_read_again_first():
    class Changed(Machine):
        def ReconfigVM_Task(self, spec):
            if not self.log:
                self.change()
            stale = spec.changeVersion and spec.changeVersion != self.state.vm.change_version
            self.trouble = {"reconfigure": [CONCURRENT] if stale else []}
            return super().ReconfigVM_Task(spec)

    state = vm(change_version="7")
    item, machine = carry_out(state, A100, machine=Changed(state, Clock()))
    assert machine.log == ["reconfigure", "reconfigure"]
    assert item.error is None


def test_a_change_that_never_gets_through_ends_with_the_last_reason():
    item, machine = carry_out(vm(), A100, trouble={"reconfigure": [CONCURRENT] * 9})
    assert item.error.code == "concurrent"
    assert machine.log == ["reconfigure"] * 3
    assert not item.touched


def test_a_vm_that_somebody_removed_meanwhile_is_reported():
    item, machine = carry_out(vm(), A100, trouble={"reconfigure": ["removed"]})
    assert item.error.code == "vm_gone"
    assert machine.log == ["reconfigure"]


def test_a_refused_change_leaves_the_vm_untouched_and_says_why():
    item, machine = carry_out(vm(), A100, trouble={"reconfigure": [BAD_DEVICE]})
    assert machine.log == ["reconfigure"]
    assert item.error.code == "invalid_device"
    assert not item.touched


def test_a_running_vm_is_shut_down_changed_and_started():
    item, machine = carry_out(RUNNING, CYCLE, guest_takes_s=20)
    assert machine.log == ["note", "shut down", "reconfigure", "power on", "note"]
    assert item.error is None
    assert machine.state == powered(settled(machine, power="on"), tools_running=True)


def test_a_guest_that_does_not_shut_down_in_time_has_its_power_cut():
    requested_one = requested("grid_a100-40c", power="cycle", guest_shutdown_timeout_s=60)
    item, machine = carry_out(RUNNING, requested_one, guest_takes_s=None)
    assert machine.log == ["note", "shut down", "power off", "reconfigure", "power on", "note"]
    assert 60 <= machine.clock.now() < 70
    assert item.error is None


def test_a_guest_without_tools_is_not_waited_for():
    item, machine = carry_out(vm(power="on"), CYCLE)
    assert machine.log == ["note", "power off", "reconfigure", "power on", "note"]
    assert machine.clock.now() == 0
    assert item.error is None


def test_a_vm_that_is_removed_while_its_guest_shuts_down_is_not_waited_for():
    class Removed(Machine):
        def ShutdownGuest(self):
            super().ShutdownGuest()
            self.gone = True

    item, machine = carry_out(RUNNING, CYCLE, machine=Removed(RUNNING, Clock()))
    assert machine.clock.now() < 1
    assert item.error.code == "vm_gone"


def test_a_vm_that_could_not_be_noted_is_not_switched_off():
    item, machine = carry_out(RUNNING, CYCLE, trouble={"note": [BAD_DEVICE]})
    assert machine.log == ["note"]
    assert (item.error.code, machine.state.vm.power) == ("invalid_device", "on")


def test_a_vm_that_cannot_be_changed_is_started_as_it_was():
    item, machine = carry_out(RUNNING, CYCLE, guest_takes_s=5, trouble={"reconfigure": [BAD_DEVICE]})
    assert machine.log == ["note", "shut down", "reconfigure", "power on", "note"]
    assert item.error.code == "invalid_device"
    assert (machine.state.vm.power, machine.state.profiles) == ("on", [])
    assert not machine.state.vm.power_on_again


def test_a_vm_that_does_not_start_with_its_vgpu_gets_its_old_configuration_back():
    item, machine = carry_out(RUNNING, CYCLE, guest_takes_s=5, trouble={"power on": [NO_GPU]})
    assert machine.log == ["note", "shut down", "reconfigure", "power on", "reconfigure", "power on", "note"]
    assert item.error.code == "power_on_refused"
    assert "No GPU is free." in item.error.message
    assert "previous configuration was restored, and the VM runs with it" in item.error.message
    kept = powered(RUNNING, change_version=machine.state.vm.change_version)
    assert machine.state == kept
    assert item.touched


def test_a_vm_that_runs_with_its_new_configuration_keeps_it_when_only_its_note_stays():
    item, machine = carry_out(RUNNING, CYCLE, guest_takes_s=5, trouble={"note": [None, BAD_DEVICE]})
    assert machine.log == ["note", "shut down", "reconfigure", "power on", "note"]
    assert (item.error.code, machine.state.vm.power) == ("invalid_device", "on")
    assert machine.state.profiles == ["grid_a100-40c"]


def test_when_the_way_back_fails_too_the_error_says_both_and_the_note_stays():
    item, machine = carry_out(RUNNING, CYCLE, guest_takes_s=5, trouble={"power on": [NO_GPU, BAD_DEVICE]})
    assert "No GPU is free." in item.error.message
    assert "failed too: vCenter answered InvalidDeviceSpec" in item.error.message
    assert "The VM is off." in item.error.message
    assert (machine.state.vm.power, machine.state.vm.power_on_again) == ("off", True)


def test_a_vm_that_may_be_starting_yet_keeps_its_new_configuration():
    item, machine = carry_out(RUNNING, CYCLE, guest_takes_s=5, trouble={"power on": ["late"]})
    assert machine.log == ["note", "shut down", "reconfigure", "power on"]
    assert item.error.code == "task_timeout"
    assert machine.state.profiles == ["grid_a100-40c"]


def test_a_vm_that_can_be_neither_changed_nor_started_is_reported_with_both_reasons():
    item, machine = carry_out(
        RUNNING, CYCLE, guest_takes_s=5, trouble={"reconfigure": [BAD_DEVICE], "power on": [NO_GPU]}
    )
    assert machine.log == ["note", "shut down", "reconfigure", "power on"]
    assert item.error.code == "invalid_device"
    assert "Invalid device. vSphere refused to power it on: " in item.error.message
    assert "No GPU is free. The VM is off." in item.error.message


def test_a_vm_that_somebody_starts_while_its_configuration_is_put_back_is_not_called_off():
    class Started(Machine):
        def _reconfigure(self, spec):
            super()._reconfigure(spec)
            if self.log.count("reconfigure") == 2:
                self.change(power="on")

    machine = Started(RUNNING, Clock(), trouble={"power on": [NO_GPU]}, guest_takes_s=5)
    item, machine = carry_out(RUNNING, CYCLE, machine=machine)
    assert item.error.data["running"]
    assert "the VM runs with it" in item.error.message


@pytest.mark.parametrize(
    "state, log",
    [
        (ready("grid_a100-40c", power_on_again=True), ["power on", "note"]),
        (vm(power_on_again=True), ["reconfigure", "power on", "note"]),
        (ready("grid_a100-40c", power="on", power_on_again=True), ["note"]),
        (vm(power="on", power_on_again=True), ["power off", "reconfigure", "power on", "note"]),
    ],
    ids=["before the start", "before the change", "before the note was removed", "before it was switched off"],
)
def test_a_run_that_was_killed_is_finished_by_the_next(state, log):
    item, machine = carry_out(state, CYCLE)
    assert machine.log == log
    assert item.error is None
    assert machine.state == settled(machine, power="on")


def test_a_lost_answer_to_a_power_operation_is_judged_by_the_power():
    trouble = {"power off": ["answer lost"], "power on": ["request lost", "answer lost"]}
    item, machine = carry_out(vm(power="on"), CYCLE, trouble=trouble)
    assert machine.log == ["note", "power off", "reconfigure", "power on", "power on", "note"]
    assert item.error is None


def carry_out_all(*troubles):
    """What becomes of VMs whose requests meet these troubles, each its own; (items, machines)."""
    clock = Clock()
    machines = {f"vm-{number}": Machine(vm(), clock, trouble) for number, trouble in enumerate(troubles)}
    items = []
    for moid, machine in machines.items():
        item = Item(moid, A100, {"moid": moid}, now=machine.state)
        item.wanted, item.changes = planned(machine.state, A100)
        items.append(item)
    fleet, noun = Several(machines), Permissive(Module())
    apply.apply(noun, fleet, items)
    apply.prove(noun, fleet, [item for item in items if item.touched])
    return items, list(machines.values())


@pytest.mark.parametrize("trouble, code", [(BAD_DEVICE, "invalid_device"), ("removed", "vm_gone")])
def test_a_vm_that_fails_does_not_keep_the_next_from_another_attempt(trouble, code):
    items, machines = carry_out_all({"reconfigure": [trouble]}, {"reconfigure": ["request lost"]})
    assert [item.error.code if item.error else None for item in items] == [code, None]
    assert machines[1].log == ["reconfigure", "reconfigure"]
    assert machines[1].state.profiles == ["grid_a100-40c"]


def test_a_vm_that_is_done_is_not_asked_again_while_another_is_tried_again():
    items, machines = carry_out_all({}, {"reconfigure": [CONCURRENT]}, {})
    assert [machine.log for machine in machines] == [["reconfigure"], ["reconfigure"] * 2, ["reconfigure"]]
    assert [item.error for item in items] == [None] * 3


def test_an_error_of_one_vm_does_not_keep_the_next_from_being_proved():
    state = ready("grid_a100-40c")
    items = [
        Item(moid, requested("grid_a100-20c"), {"moid": moid}, now=state, wanted=state) for moid in ("vm-0", "vm-1")
    ]
    items[0].error = OperatorError("VM vm-0", "it should change", "It did not.", "", "file_locked")
    apply.prove(Permissive(Module()), Several({moid: Machine(state, Clock()) for moid in ("vm-0", "vm-1")}), items)
    assert [item.error.code for item in items] == ["file_locked", "not_proved"]


def test_what_vsphere_accepts_but_does_not_keep_is_an_error():
    state = ready("grid_a100-40c")
    item = Item("train-01", requested("grid_a100-20c"), {"moid": "vm-1"}, now=state, wanted=state)
    apply.prove(Permissive(Module()), Rehearsed(Machine(state, Clock())), [item])
    assert item.error.code == "not_proved"
    assert "profiles: grid_a100-40c -> grid_a100-20c" in item.error.message
