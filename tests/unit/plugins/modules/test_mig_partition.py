# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import json

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import identify, inventory, params
from ansible_collections.aiready.vsphere.plugins.modules import mig_partition

NAME = "aiready.vsphere.mig_partition"
COMPARED = ("type", "elements", "choices", "default", "required")


def essence(options):
    """{name: what spec and documentation have to agree on}."""
    return {name: {key: option.get(key) for key in COMPARED} for name, option in options.items()}


def tasks():
    """The parameters of every call in the examples."""
    for play in yaml.safe_load(mig_partition.EXAMPLES):
        for task in play["tasks"]:
            if NAME in task:
                yield pytest.param(task[NAME], id=task["name"])


def test_the_documentation_describes_exactly_the_arguments():
    assert essence(yaml.safe_load(mig_partition.DOCUMENTATION)["options"]) == essence(params.ARGUMENTS)


@pytest.mark.parametrize("arguments", list(tasks()))
def test_every_example_is_a_call_that_the_module_takes(arguments):
    checked = ArgumentSpecValidator(params.ARGUMENTS).validate(arguments)
    assert checked.error_messages == []
    assert params.check_params(checked.validated_parameters) == []


@pytest.mark.parametrize(
    "layout, mode, problems",
    [
        (None, "enabled", 0),
        ([], "disabled", 0),
        (["3g", 9, {"profile": "1g"}], "enabled", 0),
        (["3g"], "disabled", 1),
        ([{"start": 1}, {"profile": "1g", "start": -1}], "disabled", 3),
    ],
)
def test_every_contradiction_is_reported_at_once(layout, mode, problems):
    assert len(params.check_params({"gpus": ["0"], "layout": layout, "mode": mode})) == problems


def test_the_samples_of_the_result_are_possible():
    returned = yaml.safe_load(mig_partition.RETURN)
    one = returned["gpus"]["contains"]
    assert identify.by_model(one["name"]["sample"]).key == "a100_40gb"
    assert inventory.pci_address(one["pci"]["sample"]) == one["pci"]["sample"]
    assert set(one["before"]["sample"]) == set(one["after"]["sample"]) == set(one["after"]["contains"])
    assert json.dumps(returned["failure"]["sample"]).count("illegal_layout") == 1
