# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import dataclasses
import pathlib
from types import SimpleNamespace

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.training import params
from ansible_collections.aiready.vsphere.plugins.modules import training_run
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import STAGES
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training.noun import TrainingRun

from ..module_utils.training.runs import guests, planned
from .described import calls, checked, plan


@pytest.mark.parametrize("given", calls(training_run, {}))
def test_every_example_can_be_run(given):
    wanted = checked(given, params.ARGUMENTS, params.RELATIONS)
    assert params.check_params(wanted) == []


def test_the_role_goes_on_in_a_preview_only_after_errors_that_the_module_has():
    tree = pathlib.Path(training_run.__file__).parents[2]
    made_by = yaml.safe_load((tree / "roles/horovod/vars/main.yml").read_text())["__horovod_made_by"]
    raised = (tree / "plugins/module_utils/training/plan.py").read_text()
    assert [code for code in made_by if f'"{code}",\n' not in raised] == []
    assert set(made_by.values()) <= set(STAGES)


def test_a_preview_warns_of_what_the_image_does_not_report():
    made = dataclasses.replace(planned(), remarks=("The version of NCCL is not known.",))
    reported = []
    TrainingRun(made.request, None, None, reported.append).validate([SimpleNamespace(wanted=made)])
    assert reported == list(made.remarks)


def test_the_result_has_exactly_the_documented_keys():
    made = planned()
    noun = TrainingRun(made.request, None, None, None)
    noun._looks = guests()
    result = plan(noun, made.request, None, "training", {"name": "20260301-081530-6ed2"})
    contains = yaml.safe_load(training_run.RETURN)["training"]["contains"]
    assert set(result) == set(contains)
    assert set(result["after"]) == set(contains["after"]["contains"])
    assert result["after"]["result"] is None
