"""What is left to do after a look, and which VMs have to be off for it."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule

from .machine_inputs import inputs, placed

machine_due = FilterModule().filters()["machine_due"]
VMS = [{"name": "a", "profiles": ["grid_a100-40c"]}, {"name": "b", "profiles": ["grid_a100-40c"]}]
STEPS = FilterModule().filters()["machine_steps"](VMS, inputs())
BOUND = FilterModule().filters()["machine_steps"](VMS, inputs(template="t"), placed("a", "b"))


def look(*paths):
    """The answer of a module for a VM with these changes."""
    return {"changes": [{"path": path} for path in paths], "changed": bool(paths), "after": {"address": "10.0.0.1"}}


def names(entries):
    return [entry["name"] for entry in entries]


def looks(shape=((), ()), vgpu=((), ()), power=((), ())):
    seen = {"shape": shape, "vgpu": vgpu, "power": power}
    return {step: [look(*paths) for paths in found] for step, found in seen.items()}


def test_vms_that_are_as_they_shall_be_are_not_asked_again():
    due = machine_due(STEPS, looks(vgpu=((), ("profiles",))))
    assert (due["shape"], names(due["vgpu"]), due["anything"]) == ([], ["b"], True)
    assert machine_due(STEPS, looks())["anything"] is False


def test_step_that_was_not_looked_at_is_due_whole():
    assert names(machine_due(STEPS, {})["vgpu"]) == ["a", "b"]


def test_module_that_alone_changes_a_running_vm_cycles_it_itself_so_that_it_can_put_it_back():
    due = machine_due(STEPS, looks(vgpu=((), ("profiles", "power_cycle"))), "cycle")
    assert (due["running"], due["off"], due["on"], due["power"]) == (["b"], [], [], "cycle")


def test_running_vm_that_several_modules_change_is_off_once_for_all_of_them():
    found = looks(shape=((), ("memory_gb", "power_cycle")), vgpu=((), ("profiles", "power_cycle")))
    due = machine_due(STEPS, found, "cycle")
    assert (names(due["off"]), names(due["on"]), due["power"]) == (["b"], ["b"], "refuse")


def test_running_vm_whose_new_devices_are_bound_to_numa_nodes_afterwards_is_off_once():
    due = machine_due(BOUND, looks(vgpu=((), ("profiles", "power_cycle"))), "cycle")
    assert (names(due["off"]), names(due["on"]), names(due["again"])) == (["b"], ["b"], ["b"])


def test_change_that_a_running_vm_takes_needs_nothing_off():
    due = machine_due(STEPS, looks(shape=((), ("memory_reservation",))), "refuse")
    assert (due["running"], due["off"], names(due["shape"])) == ([], [], ["b"])


def test_vm_that_a_killed_run_left_off_is_powered_on_even_if_nothing_else_is_left_to_do():
    noted = ((), ("power_on_again", "power"))
    due = machine_due(STEPS, looks(shape=noted, vgpu=noted), "cycle")
    assert (due["shape"], due["vgpu"], names(due["on"]), due["anything"]) == ([], [], ["b"], True)


def test_vm_that_a_killed_run_left_off_stays_off_until_all_of_it_is_done():
    found = looks(
        shape=((), ("memory_gb", "power_on_again", "power")), vgpu=((), ("profiles", "power_on_again", "power"))
    )
    due = machine_due(STEPS, found, "cycle")
    assert (due["off"], names(due["on"]), due["power"]) == ([], ["b"], "refuse")


def test_vms_that_are_off_are_powered_on_only_where_all_shall_run():
    found = looks(power=((), ("power",)))
    assert names(machine_due(STEPS, found, start="all")["on"]) == ["b"]
    assert machine_due(STEPS, found, start="ignore")["on"] == []


def test_vm_whose_address_was_not_waited_for_to_the_end_is_waited_for_again():
    found = looks()
    found["power"][0]["after"]["address"] = None
    assert names(machine_due(STEPS, found, start="all", wait_for="address")["on"]) == ["a"]
    assert machine_due(STEPS, found, start="all", wait_for="tools")["on"] == []
