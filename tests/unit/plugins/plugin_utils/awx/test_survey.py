"""Surveys made of the specification of a site, and the site with the answers."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.survey import answered, of_site, survey

SITE = {"gpu": {"mode": "vgpu", "per_vm": 1}, "vms": [{"name": "a"}]}


def question(key, **more):
    return of_site([{"key": key, **more}])[0]


def test_types_choices_and_help_come_from_the_site():
    assert question("gpu.per_vm")["type"] == "integer"
    assert question("gpu.profile")["type"] == "text"
    path = question("network.path")
    assert (path["type"], path["choices"][:2]) == ("multiplechoice", ["tcp", "pvrdma"])
    assert "The default of the site is tcp." in path["question_description"]
    assert question("validation.share_hosts")["choices"] == ["true", "false"]


def test_a_description_has_no_markup():
    text = question("hosts.reboot")["question_description"]
    assert [one for one in ("V(", "C(", "M(", "O(") if one in text] == []


def test_a_question_without_a_default_keeps_the_value_of_the_site():
    assert question("gpu.per_vm")["default"] == ""
    assert question("gpu.per_vm", default="4")["default"] == 4
    assert question("placement.anti_affinity", default=False)["default"] == "false"


def test_prepared_sites_are_the_first_question():
    first, second = of_site(["gpu.profile"], ["lab", "production"])
    assert (first["variable"], first["choices"], first["default"]) == ("site_choice", ["lab", "production"], "lab")
    assert not first["required"]
    assert second["variable"] == "site_answer_gpu__profile"


def test_no_question_is_no_survey():
    assert survey(of_site([])) == {}


@pytest.mark.parametrize("key", ["vms", "gpu", "gpu.colour", "", "gpu.mode.deeper"])
def test_only_keys_with_one_value_are_asked(key):
    with pytest.raises(AnsibleFilterError, match="Cannot ask for"):
        of_site([key])


def test_values_in_quotes_are_sent_as_awx_requires_them():
    # "The min limit in survey question 0 expected to be integer." [sure] AWX 24.6.1
    found = question("gpu.per_vm", min="1", max="8", required="no")
    assert (found["min"], found["max"], found["required"]) == (1, 8, False)
    assert question("gpu.per_vm", min=4, max=4)["max"] == 4


@pytest.mark.parametrize(
    "given, words",
    [
        ({"min": 8, "max": 1}, "It has min 8 above max 1. Swap them."),
        ({"max": "many"}, "Its max 'many' is not a whole number. Correct it"),
        ({"default": "one"}, "Its default 'one' is not a whole number. Correct it"),
        ({"required": "perhaps"}, "Its required 'perhaps' is not true or false. Correct it"),
    ],
)
def test_wrong_limits_of_a_question_are_rejected(given, words):
    with pytest.raises(AnsibleFilterError, match=f"Cannot ask for site.gpu.per_vm in a survey. {words}"):
        question("gpu.per_vm", **given)


def test_a_default_outside_the_choices_is_rejected():
    with pytest.raises(AnsibleFilterError, match="is not one of"):
        of_site([{"key": "network.path", "default": "telepathy"}])


def test_answers_replace_single_values_and_leave_the_rest():
    found = answered(SITE, {"site_answer_gpu__per_vm": "2", "site_answer_network__path": "pvrdma"})
    assert found == {"gpu": {"mode": "vgpu", "per_vm": 2}, "network": {"path": "pvrdma"}, "vms": [{"name": "a"}]}
    assert SITE["gpu"]["per_vm"] == 1


def test_an_empty_answer_keeps_the_value_of_the_site():
    assert answered(SITE, {"site_answer_gpu__per_vm": "", "site_answer_gpu__profile": None}) == SITE


def test_the_words_true_and_false_become_booleans():
    assert answered({}, {"site_answer_placement__anti_affinity": "false"}) == {"placement": {"anti_affinity": False}}


@pytest.mark.parametrize(
    "answers, words",
    [
        ({"site_answer_gpu__per_vm": "two"}, "is a whole number"),
        ({"site_answer_gpu__colour": "red"}, "has no single value gpu.colour"),
        ({"site_answer_network__path": "telepathy"}, "is not one of tcp"),
        ({"gpu": "x"}, "has no single value gpu"),
    ],
)
def test_wrong_answers_are_rejected_by_name(answers, words):
    with pytest.raises(AnsibleFilterError, match=words):
        answered(SITE, answers)


def test_a_site_that_is_no_dictionary_is_rejected():
    with pytest.raises(AnsibleFilterError, match="site_base is not a dictionary"):
        answered(None, {})


def test_the_site_is_neither_changed_nor_copied_with_its_templates():
    class Variables(dict):
        def __deepcopy__(self, memo):
            raise AssertionError("variables of a play were copied")

    site = Variables(gpu=Variables(per_vm=1))
    assert answered(site, {"site_answer_gpu__per_vm": 2}) == {"gpu": {"per_vm": 2}}
    assert site == {"gpu": {"per_vm": 1}}
