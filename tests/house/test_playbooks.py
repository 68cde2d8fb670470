"""Playbook site names its stages once for its variables and once as imports; each can be left out and planned."""

from __future__ import annotations

import re

import pytest

from house.collection import ROOT, load

SITE = load("playbooks/site.yml")
STAGES = SITE[0]["vars"]["__site_stages"]
# The playbook of a stage, where its name is another one.
PLAYBOOKS = {"validation": "validate"}
INSIDE = ("guests", "runtime", "training", "validation")


def playbook(stage: str) -> str:
    return f"{PLAYBOOKS.get(stage, stage)}.yml"


def text(stage: str) -> str:
    return (ROOT / "playbooks" / playbook(stage)).read_text()


def test_the_stages_that_can_be_chosen_are_those_that_run_in_their_order():
    imports = [play["ansible.builtin.import_playbook"] for play in SITE if "hosts" not in play]
    assert imports == [playbook(stage) for stage in STAGES]


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_can_be_left_out(stage):
    plays = [play for play in load(f"playbooks/{playbook(stage)}") if "hosts" in play]
    left_out = [play["name"] for play in plays if f"aiready.vsphere.stage_hosts('{stage}'" in play["hosts"]]
    assert left_out
    # The rest looks from the controller, and is asked task by task.
    assert [play["name"] for play in plays if play["name"] not in left_out and play["hosts"] != "localhost"] == []


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_has_a_tag_of_its_name(stage):
    assert re.search(rf"tags: \[(?:\w+, )*{stage}\b", text(stage))


@pytest.mark.parametrize("stage", INSIDE)
def test_a_stage_inside_of_guests_reports_a_plan_what_is_decided_once_they_are_there(stage):
    (play,) = [play for play in load(f"playbooks/{playbook(stage)}") if "later_guests.yml" in play.values()]
    assert play["vars"] == {"aiready_stage": stage}
    assert stage in play["tags"]
    assert "aiready.vsphere.decided_later('machines'" in (ROOT / "playbooks" / "later_guests.yml").read_text()


def test_the_page_on_stages_names_them_in_their_order():
    page = (ROOT / "docs" / "stages.md").read_text()
    assert f"in this order, {', '.join(f'`{stage}`' for stage in STAGES)}." in " ".join(page.split())


def test_no_list_loses_its_order_to_a_filter_for_sets():
    files = [*(ROOT / "playbooks").rglob("*.yml"), *(ROOT / "roles").rglob("*.yml")]
    shuffled = re.compile(r"\| (difference|symmetric_difference)\(")
    assert [str(file) for file in files if shuffled.search(file.read_text())] == []
