"""What one thing is by default is the same wherever it can be set: module, role and site."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import params as clone
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import params as placement
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.power import params as power
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import params as shape
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu import params
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.machines import machines

from house.collection import parsed

from .role_readme import ROOT

PREFIX = "training_vm_"
ROLE = parsed((ROOT / "roles/training_vm/meta/argument_specs.yml").read_text())["argument_specs"]["main"]["options"]
MODULES = {
    "vm_clone": clone.ARGUMENTS,
    "vgpu_profile": params.ARGUMENTS.spec,
    "vm_placement_info": placement.ARGUMENTS,
    "vm_power": power.ARGUMENTS.spec,
    "vm_shape": shape.ARGUMENTS.spec,
}
# Inputs that carry another name, or say less, than the option that they become.
OTHERWISE = {
    "cluster",
    "vms",
    # What suits one job of training is not what suits any VM.
    "anti_affinity",
    "customization",
    # The role has an assignment for Enhanced DirectPath I/O.
    "gpu_mode",
    "gpudirect",
    "wait_for",
}
# Choices for VMs without GPUs, which are no training VMs.
# The role takes dvx from the assignment.
NOT_FOR_TRAINING = {("vm_shape", "mmio"): {"none"}, ("vm_placement_info", "path"): {"dvx"}}
SHARED = sorted(
    (module, name[len(PREFIX) :])
    for module, spec in MODULES.items()
    for name in ROLE
    if name[len(PREFIX) :] in set(spec) - OTHERWISE
    # To the others, it is the path of a VM in the inventory.
    and (name, module) not in {("training_vm_path", other) for other in set(MODULES) - {"vm_placement_info"}}
)
MACHINES = machines({"gpu": {"mode": "vgpu"}, "vms": []})


@pytest.mark.parametrize("module, name", SHARED)
def test_role_input_has_type_choices_and_default_of_the_modules_option(module, name):
    option, argument = ROLE[PREFIX + name], MODULES[module][name]
    assert option["type"] == argument["type"]
    left_out = NOT_FOR_TRAINING.get((module, name), set())
    choices = argument.get("choices")
    assert option.get("choices") == (choices and [one for one in choices if one not in left_out])
    # An option without a default is left out by the role when its input is 0 or empty.
    assert (option["default"] or None) == argument.get("default")


def test_every_module_of_vms_shares_inputs_with_the_role():
    assert {module for module, name in SHARED} == set(MODULES)


@pytest.mark.parametrize("name", sorted(set(MACHINES) - {"vms"}))
def test_site_has_the_default_of_the_role(name):
    # The site says what auto means; the role gets the value.
    assert MACHINES[name] == ROLE[PREFIX + name]["default"]


def test_role_is_reported_everything_that_a_site_says_of_vms():
    reported = {PREFIX + name for name in MACHINES}
    beyond = {
        "training_vm_site",
        "training_vm_vgpu_state",
        "training_vm_restore",
        "training_vm_undone_hosts",
        "training_vm_userdata",
        "training_vm_tasks_in_flight",
        "training_vm_task_timeout_s",
    }
    assert set(ROLE) - reported == beyond
