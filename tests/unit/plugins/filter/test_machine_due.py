"""What is left to do after a look, and which VMs have to be off for it."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule

from .machine_inputs import inputs

machine_due = FilterModule().filters()["machine_due"]
VMS = [{"name": "a", "profiles": ["grid_a100-40c"]}, {"name": "b", "profiles": ["grid_a100-40c"]}]
STEPS = FilterModule().filters()["machine_steps"](VMS, inputs())


def look(*paths):
    """The answer of a module for a VM with these changes."""
    return {"changes": [{"path": path} for path in paths], "changed": bool(paths), "after": {"address": "10.0.0.1"}}


def names(entries):
    return [entry["name"] for entry in entries]


def looks(config=((), ()), power=((), ())):
    return {step: [look(*paths) for paths in found] for step, found in {"config": config, "power": power}.items()}


def test_vms_that_are_as_they_shall_be_are_not_asked_again():
    due = machine_due(STEPS, looks(config=((), ("profiles",))))
    assert (names(due["config"]), due["anything"]) == (["b"], True)
    assert machine_due(STEPS, looks())["anything"] is False


def test_step_that_was_not_looked_at_is_due_whole():
    assert names(machine_due(STEPS, {})["config"]) == ["a", "b"]


def test_running_vm_that_is_power_cycled_is_waited_for():
    due = machine_due(STEPS, looks(config=((), ("memory_gb", "profiles", "power_cycle"))))
    assert (due["running"], names(due["config"]), names(due["on"])) == (["b"], ["b"], ["b"])


def test_settings_for_which_a_running_vm_must_be_off_are_named():
    missing = ("pciPassthru.RelaxACSforP2P", "pciPassthru.allowP2P", "power_cycle")
    due = machine_due(STEPS, looks(config=(("memory_reservation",), missing)))
    assert due["differences"] == ["b: pciPassthru.RelaxACSforP2P, pciPassthru.allowP2P"]
    assert machine_due(STEPS, looks(config=((), missing[:1])))["differences"] == []


def test_change_that_a_running_vm_takes_needs_nothing_off():
    due = machine_due(STEPS, looks(config=((), ("memory_reservation",))))
    assert (due["running"], due["on"], names(due["config"])) == ([], [], ["b"])


def test_vm_that_a_killed_run_left_off_is_powered_on_even_if_nothing_else_is_left_to_do():
    due = machine_due(STEPS, looks(config=((), ("power_on_again", "power"))))
    assert (due["config"], names(due["on"]), due["anything"]) == ([], ["b"], True)


def test_vm_that_a_killed_run_left_off_is_changed_first():
    due = machine_due(STEPS, looks(config=((), ("memory_gb", "power_on_again", "power"))))
    assert (due["running"], names(due["config"]), names(due["on"])) == ([], ["b"], ["b"])


def test_vms_that_are_off_are_powered_on_only_where_all_shall_run():
    found = looks(power=((), ("power",)))
    assert names(machine_due(STEPS, found, start="all")["on"]) == ["b"]
    assert machine_due(STEPS, found, start="ignore")["on"] == []


def test_vm_whose_address_was_not_waited_for_to_the_end_is_waited_for_again():
    found = looks()
    found["power"][0]["after"]["address"] = None
    assert names(machine_due(STEPS, found, start="all", wait_for="address")["on"]) == ["a"]
    assert machine_due(STEPS, found, start="all", wait_for="tools")["on"] == []
