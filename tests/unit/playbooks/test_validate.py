"""What playbook validate says of the comparison of the fabric where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

PLAYBOOK = Path(__file__).resolve().parents[3] / "playbooks" / "validate.yml"
# What a task registers that is left out by its condition, of its own or of the import of its playbook.
SKIPPED = {"changed": False, "skipped": True, "skip_reason": "Conditional result was False"}
COMPARED = {"changed": False, "disagreements": [], "paths": []}
SWITCHES = {"switches": ["leaf-01"]}


def given(inputs, groups, agreement=None, **compared):
    """What the role gets as the comparison."""
    site = {"fabric": {"agreement": agreement}} if agreement else {}
    known = {"groups": groups, "hostvars": {"localhost": {"site": site, **compared}, "leaf-01": {}}}
    templar = Templar(loader=DataLoader(), variables={**inputs, **known})
    return templar.template(inputs["validation_agreement"])


@pytest.fixture(scope="module", name="inputs")
def _inputs():
    plays = yaml.safe_load(PLAYBOOK.read_text())
    (task,) = [task for play in plays for task in play.get("tasks", ()) if task["name"] == "Run the measurements"]
    return {name: trust_as_template(text) for name, text in task["vars"].items()}


def test_a_comparison_is_handed_on(inputs):
    assert given(inputs, SWITCHES, __fabric_check=COMPARED) == COMPARED


@pytest.mark.parametrize(
    "groups, known, words",
    [
        (SWITCHES, {"agreement": "skip", "__fabric_check": SKIPPED}, "site.fabric.agreement is skip"),
        (SWITCHES, {"agreement": "skip"}, "site.fabric.agreement is skip"),
        ({}, {"__fabric_check": SKIPPED}, "the group switches is empty"),
        ({"switches": []}, {}, "the group switches is empty"),
        (SWITCHES, {}, "A limit, a tag or switch_state"),
        (SWITCHES, {"agreement": "warn", "__fabric_check": SKIPPED}, "A limit, a tag or switch_state"),
    ],
    ids=["the site says so", "and a tag too", "no switches", "an empty group", "a tag", "switches that are undone"],
)
def test_a_comparison_that_is_left_out_says_why(inputs, groups, known, words):
    reported = given(inputs, groups, **known)
    assert list(reported) == ["why"]
    assert words in reported["why"]
