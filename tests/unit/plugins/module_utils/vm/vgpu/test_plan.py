# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import dataclasses

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.state import Direct
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu import plan as vgpu_plan

from unit.plugins.module_utils.gpu.worlds import planned, ready, requested, vm

USE, SIZE = "pciPassthru.use64bitMMIO", "pciPassthru.64bitMMIOSizeGB"
UVM = "pciPassthru%d.cfg.enable_uvm"
PORT = Direct(13001, "pci", "0000:3a:00.0", ((0x15B3, 0x101D),))
GPU = Direct(13001, "pci", "0000:3b:00.0", ((0x10DE, 0x20F1),))


def plan(now, requested_one):
    return {change.path: (change.before, change.after) for change in planned(now, requested_one)[1]}


FIRST_VGPU = {
    "profiles": ([], ["grid_a100-40c"]),
    "memory_reservation": ("partial", "all"),
    SIZE: (None, "128"),
    USE: (None, "TRUE"),
    UVM % 0: (None, "1"),
}


def without(*paths):
    return {path: values for path, values in FIRST_VGPU.items() if path not in paths}


@pytest.mark.parametrize(
    "now, requested_one, changes",
    [
        (vm(), requested("grid_a100-40c"), FIRST_VGPU),
        (vm(), requested("grid_a100-40c", memory_reservation="ignore"), without("memory_reservation")),
        (
            vm(memory_locked=True),
            requested("grid_a100-40c", memory_reservation="ignore"),
            without("memory_reservation"),
        ),
        (vm(), requested("grid_a100-40c", mmio="ignore"), without(USE, SIZE)),
        (vm(), requested("grid_a100-40c", unified_memory="ignore"), without(UVM % 0)),
        (vm(), requested("grid_a100-40c", unified_memory="disabled"), without(UVM % 0)),
        (vm(power="on"), requested("grid_a100-40c", power="cycle"), {**FIRST_VGPU, "power_cycle": (False, True)}),
        (ready("grid_a100-40c"), requested("grid_a100-40c"), {}),
        (ready("grid_a100-40c", power="on"), requested("grid_a100-40c", power="cycle"), {}),
        (
            ready("grid_a100-20c", "grid_a100-10c", power="on"),
            requested("grid_a100-10c", "grid_a100-20c", power="cycle"),
            {SIZE: ("128", "256"), "power_cycle": (False, True)},
        ),
        (
            ready("grid_a100-40c"),
            requested("grid_a100-20c"),
            {"profiles": (["grid_a100-40c"], ["grid_a100-20c"])},
        ),
        (
            ready("grid_a100-40c"),
            requested("grid_a100-40c", "grid_a100-40c"),
            {
                "profiles": (["grid_a100-40c"], ["grid_a100-40c"] * 2),
                SIZE: ("128", "256"),
                UVM % 1: (None, "1"),
            },
        ),
        (ready("grid_a100-40c"), requested("grid_a100-40c", unified_memory="disabled"), {UVM % 0: ("1", None)}),
        (ready("grid_a100-40c"), requested("grid_a100-40c", mmio_size_gb=512), {SIZE: ("128", "512")}),
        (ready("grid_a100-40c", beside=(PORT,)), requested("grid_a100-40c"), {SIZE: ("128", "256")}),
        (ready("grid_a100-40c", beside=(GPU,)), requested("grid_a100-40c"), {SIZE: ("128", "256")}),
        (
            vm(vmx={USE: "true", SIZE: "512"}, memory_locked=True),
            requested("grid_a100-40c"),
            {"profiles": ([], ["grid_a100-40c"]), UVM % 0: (None, "1")},
        ),
        (
            vm(vmx={USE: "FALSE", SIZE: "unlimited"}, memory_locked=True),
            requested("grid_a100-40c"),
            {
                "profiles": ([], ["grid_a100-40c"]),
                USE: ("FALSE", "TRUE"),
                SIZE: ("unlimited", "128"),
                UVM % 0: (None, "1"),
            },
        ),
        (
            vm(),
            requested("grid_t4-16c"),
            {
                "profiles": ([], ["grid_t4-16c"]),
                "memory_reservation": ("partial", "all"),
                UVM % 0: (None, "1"),
            },
        ),
        (
            ready("grid_a100-40c"),
            requested(state="absent"),
            {"profiles": (["grid_a100-40c"], []), UVM % 0: ("1", None)},
        ),
        (
            ready("grid_a100-40c"),
            requested(state="absent", unified_memory="ignore"),
            {"profiles": (["grid_a100-40c"], [])},
        ),
        (vm(vmx={UVM % 3: "1"}), requested(state="absent"), {UVM % 3: ("1", None)}),
        (vm(vmx={UVM % 0: "1"}, other_keys=(13000,)), requested(state="absent"), {}),
        (vm(), requested("grid_a100-40c", state="absent"), {}),
    ],
    ids=[
        "first vGPU brings along what it needs",
        "memory left alone",
        "memory left alone, and locked",
        "MMIO left alone",
        "unified memory left alone",
        "unified memory off is how it starts",
        "a running VM is power cycled",
        "nothing to do",
        "nothing to do, so no power cycle",
        "order does not matter, but the window is for all",
        "another profile takes the same place",
        "twice means two",
        "unified memory switched off",
        "the window as reported",
        "a port beside it needs its part of the window",
        "a GPU beside it needs its part of the window",
        "a larger window is kept, however it is spelled",
        "a useless window is replaced",
        "a T4 needs no window",
        "absent leaves memory and window",
        "absent leaves what it must ignore",
        "absent clears settings of devices that are gone",
        "settings of other devices are theirs",
        "absent where there is none",
    ],
)
def test_the_plan_has_exactly_the_changes_that_are_due(now, requested_one, changes):
    assert plan(now, requested_one) == changes


@pytest.mark.parametrize(
    "now, requested_one, devices",
    [
        (vm(), requested("a", "b"), ((13000, "a"), (13001, "b"))),
        (vm("a", "b"), requested("b", "c"), ((13000, "c"), (13001, "b"))),
        (vm(other_keys=(13000,)), requested("a"), ((13001, "a"),)),
        (vm("a", "a", "a"), requested("a"), ((13000, "a"),)),
        (vm(devices=((13002, "a"),)), requested("a", "a"), ((13000, "a"), (13002, "a"))),
    ],
    ids=["first free keys", "a freed key is used again", "keys of other devices are taken", "surplus goes", "gaps"],
)
def test_matching_devices_stay_and_new_ones_get_the_lowest_free_keys(now, requested_one, devices):
    assert vgpu_plan.wanted_devices(now, requested_one.settings) == devices


@pytest.mark.parametrize(
    "now",
    [vm(), ready("grid_a100-40c"), ready("grid_a100-20c", "grid_a100-20c"), vm(other_keys=(13000, 13001))],
)
@pytest.mark.parametrize("requested_one", [requested("grid_a100-40c", "grid_a100-20c"), requested(state="absent")])
def test_what_was_planned_once_needs_no_second_plan(now, requested_one):
    wanted = vgpu_plan.want(now, requested_one.settings)
    assert vgpu_plan.setting_changes(wanted, vgpu_plan.want(wanted, requested_one.settings)) == []


def test_a_device_that_got_another_key_than_predicted_has_its_setting_moved():
    predicted = vgpu_plan.want(vm(), requested("grid_a100-40c").settings)
    real = dataclasses.replace(predicted, devices=((13001, "grid_a100-40c"),))
    assert plan(real, requested("grid_a100-40c")) == {UVM % 0: ("1", None), UVM % 1: (None, "1")}


@pytest.mark.parametrize("power", ["refuse", "cycle"])
def test_a_note_on_a_vm_that_runs_again_is_removed_before_it_can_start_the_vm_against_somebody_s_will(power):
    now = ready("grid_a100-40c", power="on", power_on_again=True)
    assert plan(now, requested("grid_a100-40c", power=power)) == {"power_on_again": (True, False)}


@pytest.mark.parametrize(
    "power, changes",
    [
        ("off", {"power": ("off", "on"), "power_on_again": (True, False)}),
        ("on", {"power_on_again": (True, False)}),
    ],
)
def test_a_power_cycle_that_was_cut_short_is_finished(power, changes):
    now = ready("grid_a100-40c", power=power, power_on_again=True)
    assert plan(now, requested("grid_a100-40c", power="cycle")) == changes


def test_a_vm_is_not_switched_on_without_the_word_for_it():
    now = ready("grid_a100-40c", power="off", power_on_again=True)
    assert plan(now, requested("grid_a100-40c", power="refuse")) == {}
