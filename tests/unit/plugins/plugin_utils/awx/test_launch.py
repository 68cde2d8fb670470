"""Questions about variables of a playbook: the playbook reads the variable, and a wrong answer launches nothing."""

from __future__ import annotations

import re

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.launch import QUESTIONS, questions
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.objects import TEMPLATES, WORKFLOWS, objects
from ansible_collections.aiready.vsphere.plugins.plugin_utils.upgrade.plan import GIVEN

from house.collection import ROOT
from vsphere_twin.controller import surveys

OPTIONS = {
    "awx_execution_environment": {"image": "i:1"},
    "awx_project": {"scm_url": "https://git.example.org/a.git"},
    "awx_survey": ["gpu.profile"],
}


def text_of(template):
    (playbook,) = [one.file for one in TEMPLATES if one.name == template]
    return (ROOT / "playbooks" / playbook).read_text()


@pytest.mark.parametrize("template", QUESTIONS)
def test_the_playbook_uses_each_variable_and_takes_an_empty_one_as_its_default(template):
    text = text_of(template)
    for one in QUESTIONS[template]:
        if one.choices == ("false", "true"):
            assert f"{one.variable} | default(false) | bool" in text
        else:
            assert re.search(rf"{one.variable} \| default\((''|[^()]*, true)\)", text), one.variable


@pytest.mark.parametrize("template, variable", [("drift", "drift_fail_on"), ("health", "health_fail_on")])
def test_the_choices_are_those_of_the_playbook(template, variable):
    (fails,) = re.findall(r"__fails: (\{.*\})", text_of(template))
    assert list(yaml.safe_load(fails)) == list(choices(template, variable))


def test_the_orders_are_those_of_the_plan():
    assert {tuple(one.split(", ")) for one in choices("upgrade", "upgrade_order")} == set(GIVEN)


def choices(template, variable):
    return next(one.choices for one in QUESTIONS[template] if one.variable == variable)


@pytest.mark.parametrize("template", QUESTIONS)
def test_the_controller_accepts_the_survey_and_rejects_wrong_answers(template):
    (row,) = [row for row in objects(OPTIONS)["controller_templates"] if row["name"] == f"aiready {title(template)}"]
    spec = row["survey_spec"]
    surveys.check(spec)
    assert row["survey_enabled"]
    assert surveys.problems(spec, {}) == []
    for one in questions(template):
        wrong = "x" * 5000 if one["type"] != "multiplechoice" else "perhaps"
        assert len(surveys.problems(spec, {one["variable"]: wrong})) == 1
        # AWX would send an empty one, and the variable of the inventory would have no effect.
        assert "default" not in one


def test_the_workflow_of_restore_asks_for_what_both_of_its_jobs_use():
    flows = {row["name"]: row for row in objects(OPTIONS)["controller_workflows"]}
    assert flows["aiready restore with approval"]["survey_spec"]["spec"] == questions("restore")
    assert QUESTIONS["restore_plan"] == QUESTIONS["restore"]
    (asked,) = flows["aiready site with approval"]["survey_spec"]["spec"]
    assert asked["variable"] == "site_answer_gpu__profile"
    assert len(flows) == len(WORKFLOWS)


def title(template):
    return template.replace("_", " ")
