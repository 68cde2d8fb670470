"""What one thing is by default is the same wherever it can be set: module, role and site."""

from __future__ import annotations

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.vgpu_params import ARGUMENTS
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import machines, specification

from .role_readme import ROOT

PREFIX = "training_vm_"
ROLE = yaml.safe_load((ROOT / "roles/training_vm/meta/argument_specs.yml").read_text())["argument_specs"]["main"][
    "options"
]
# These two carry the role's name for the state of its vGPUs and nothing for what it manages.
RENAMED = {"vgpu_state": "state"}
# What the role checks itself.
OWN = {"cluster", "vms"}
SHARED = sorted({name[len(PREFIX) :] for name in ROLE} - OWN)


@pytest.mark.parametrize("name", SHARED)
def test_role_input_has_type_choices_and_default_of_the_modules_option(name):
    option, argument = ROLE[PREFIX + name], ARGUMENTS.spec[RENAMED.get(name, name)]
    assert option["type"] == argument["type"]
    assert option.get("choices") == argument.get("choices")
    # An option without a default is left out by the role when its input is 0 or empty.
    assert (option["default"] or None) == argument.get("default")


@pytest.mark.parametrize("name", sorted(set(machines({"gpu": {"mode": "vgpu"}, "vms": []})) - {"vms"}))
def test_site_has_the_default_of_the_role(name):
    assert machines({"gpu": {"mode": "vgpu"}, "vms": []})[name] == ROLE[PREFIX + name]["default"]


def test_site_has_the_choices_of_the_role():
    site = specification()["site"]["options"]
    options = {**site, **site["gpu"]["options"]}
    same = [name for name in SHARED if name in options and "choices" in ROLE[PREFIX + name]]
    assert same
    assert {name: options[name]["choices"] for name in same} == {name: ROLE[PREFIX + name]["choices"] for name in same}
