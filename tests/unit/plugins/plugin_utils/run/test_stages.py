"""Every playbook of the collection has its stage, and those of others have one only where they say so."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import stages as run_stages

from house.collection import NAME, ROOT, roles

PLAYBOOKS = ROOT / "playbooks"
# They hold no play of their own.
ONLY_IMPORT = {"site"}
# They change nothing of the site and belong to no stage.
NO_STAGE = ("awx", "awx_files", "capture", "check", "health", "next_steps")
# Roles of these.
NO_STAGE_ROLES = {"awx"}
# The playbooks that import it set its stage.
OF_ANY_STAGE = "later_guests"


@pytest.mark.parametrize(
    "name", sorted({path.stem for path in PLAYBOOKS.glob("*.yml")} - ONLY_IMPORT - {*NO_STAGE, OF_ANY_STAGE})
)
def test_a_play_of_a_playbook_of_the_collection_is_reported_by_its_file(name):
    stage, prepares = run_stages.of_play(f"{PLAYBOOKS}/{name}.yml:12", {})
    assert (stage in run_stages.USUAL) is not prepares


@pytest.mark.parametrize("name", NO_STAGE)
def test_playbook_that_leaves_the_site_as_it_is_is_no_stage(name):
    assert run_stages.of_play(f"{PLAYBOOKS}/{name}.yml:12", {}) == (None, False)


@pytest.mark.parametrize("role", sorted(set(roles()) - {"site"} - NO_STAGE_ROLES))
def test_every_role_but_the_one_that_all_stages_have_belongs_to_a_stage(role):
    assert run_stages.of_role(f"{NAME}.{role}") in run_stages.USUAL


@pytest.mark.parametrize("role", ["aiready.vsphere.site", "esxi_host", "other.collection.switch", ""])
def test_roles_that_report_no_stage(role):
    assert run_stages.of_role(role) is None


@pytest.mark.parametrize(
    "path, variables, stage",
    [
        pytest.param("/tmp/hosts.yml:1", {}, None, id="a playbook of the same name elsewhere"),
        pytest.param("", {}, None, id="no path"),
        pytest.param("/tmp/any.yml:1", {"aiready_stage": "hosts"}, "hosts", id="said"),
        pytest.param(
            "/tmp/any.yml:1", {"aiready_stage": "tape library"}, "tape library", id="a stage of the user's own"
        ),
        pytest.param(
            f"{PLAYBOOKS}/hosts.yml:1", {"aiready_stage": "first rack"}, "first rack", id="what is said counts"
        ),
        pytest.param("/tmp/any.yml:1", {"aiready_stage": "{{ later }}"}, None, id="not known yet"),
        pytest.param("/tmp/any.yml:1", {"aiready_stage": ["hosts"]}, None, id="no text"),
    ],
)
def test_the_stage_of_a_play(path, variables, stage):
    assert run_stages.of_play(path, variables) == (stage, False)


def test_what_prepares_a_stage_belongs_to_the_one_that_comes_next():
    files = ["machines", "known_guests", "guests", "known_guests", "runtime"]
    planned = run_stages.plan([(number, f"{PLAYBOOKS}/{name}.yml:1", {}) for number, name in enumerate(files)])
    assert [stage for stage, prepares in planned.values()] == ["machines", "guests", "guests", "runtime", "runtime"]
    assert [prepares for stage, prepares in planned.values()] == [False, True, False, True, False]
    assert run_stages.in_order(planned) == ["machines", "guests", "runtime"]


@pytest.mark.parametrize(
    "files, stages",
    [
        (["fabric", "fabric_check"], ["fabric", "fabric"]),
        (["known_guests", "validate", "fabric_check", "validate"], ["validation"] * 4),
        (["fabric_check"], ["fabric"]),
        (["machines", "fabric_check"], ["machines", "fabric"]),
    ],
)
def test_a_comparison_is_part_of_the_stage_that_asks_for_it(files, stages):
    planned = run_stages.plan([(number, f"{PLAYBOOKS}/{name}.yml:1", {}) for number, name in enumerate(files)])
    assert [stage for stage, prepares in planned.values()] == stages


def test_what_prepares_nothing_has_no_stage():
    assert run_stages.plan([(1, f"{PLAYBOOKS}/known_guests.yml:1", {})]) == {1: (None, True)}
