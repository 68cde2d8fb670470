"""The lists of objects for AWX: names, references between them, and what is rejected."""

from __future__ import annotations

import pytest
import yaml
from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.credential_types import TYPES
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.objects import TEMPLATES, objects

from house.collection import ROOT

NEEDED = {
    "awx_execution_environment": {"image": "images.example.org/aiready:1"},
    "awx_project": {"scm_url": "https://git.example.org/aiready.git"},
}
MAIL = {"host": "smtp.example.org", "port": 25, "sender": "awx@example.org", "recipients": ["ops@example.org"]}
RULE = "DTSTART:20260101T020000Z RRULE:FREQ=DAILY;INTERVAL=1"
PROJECT = ROOT / "extensions" / "awx" / "project"
# Playbooks that others import, and those that configure the controller.
NOT_RUN = {"known_guests", "later_guests", "awx", "awx_files"}


class Variables(dict):
    """Variables of a play. A copy of them has a copy of all that templates need, which loads no more filters."""

    def __deepcopy__(self, memo):
        raise AssertionError("variables of a play were copied")


def made(**options):
    return objects({**NEEDED, **options})


def names(rows):
    return [row["name"] for row in rows]


def test_every_playbook_has_a_template_and_a_file_of_the_project():
    playbooks = {path.stem for path in (ROOT / "playbooks").glob("*.yml")} - NOT_RUN
    assert {one.file.removesuffix(".yml") for one in TEMPLATES} == playbooks
    for name in playbooks:
        (play,) = yaml.safe_load((PROJECT / f"{name}.yml").read_text())
        assert play["ansible.builtin.import_playbook"] == f"aiready.vsphere.{name}"


def test_variables_of_a_play_are_read_and_not_copied():
    given = Variables({name: Variables(one) for name, one in NEEDED.items()})
    assert objects(given)["controller_projects"][0]["scm_url"] == NEEDED["awx_project"]["scm_url"]


def test_the_image_is_required():
    with pytest.raises(AnsibleFilterError, match="image"):
        made(awx_execution_environment={})


def test_the_plan_is_a_job_in_check_mode_with_a_diff():
    plan = next(row for row in made()["controller_templates"] if row["name"] == "aiready plan")
    assert (plan["job_type"], plan["diff_mode"], plan["playbook"]) == ("check", True, "site.yml")


def test_only_hosts_run_in_slices_and_only_on_their_group():
    rows = {row["name"]: row for row in made(awx_slices={"hosts": 4})["controller_templates"]}
    found = {name: (row["job_slice_count"], row["limit"]) for name, row in rows.items()}
    assert found.pop("aiready hosts") == (4, "esxi_hosts")
    assert set(found.values()) == {(1, "")}
    rows = {row["name"]: row for row in made()["controller_templates"]}
    assert (rows["aiready hosts"]["job_slice_count"], rows["aiready hosts"]["limit"]) == (1, "")


def test_the_stages_of_slices_are_those_whose_playbook_permits_a_slice():
    permits = {
        path.stem for path in (ROOT / "playbooks").glob("*.yml") if " aiready_in_slices: true" in path.read_text()
    }
    assert {one.file.removesuffix(".yml") for one in TEMPLATES if one.sliced} == permits


@pytest.mark.parametrize(
    "given, templates, reason",
    [
        ({"site": 2}, [], "Its plays need all hosts and switches"),
        ({"fabric": 2}, [], "Its plays need all hosts and switches"),
        ({"nothing": 2}, [], "Name only hosts in awx_slices"),
        ({"hosts": 2}, ["preflight"], "awx_templates lacks it"),
        ({"hosts": 0}, [], "an integer of at least 1"),
        ({"hosts": "2"}, [], "an integer of at least 1"),
        ({"hosts": True}, [], "an integer of at least 1"),
    ],
)
def test_slices_that_cannot_give_the_result_of_one_run_are_rejected(given, templates, reason):
    with pytest.raises(AnsibleFilterError, match=reason):
        made(awx_slices=given, awx_templates=templates, awx_workflow={"enabled": False})


def links(workflow):
    return {one["identifier"]: one["success_nodes"] for one in workflow["simplified_workflow_nodes"]}


def test_a_workflow_waits_for_an_approval_between_plan_and_change():
    site, restore = made()["controller_workflows"]
    order = ["preflight", "plan", "approval", "setup", "validate"]
    for flow, names_of in ((site, order), (restore, ["restore_plan", "approval", "restore"])):
        found = links(flow)
        following = [[one] for one in names_of[1:]] + [[]]
        assert [found.pop(name) for name in names_of] == following
        assert found == {f"{name}_failed": [] for name in names_of}
    assert made(awx_workflow={"enabled": False})["controller_workflows"] == []


def test_each_failure_runs_the_next_steps_of_its_step():
    steps = yaml.safe_load((ROOT / "playbooks" / "next_steps.yml").read_text())[0]["vars"]["__steps"]
    seen = set()
    for flow in made(awx_prefix="gpu")["controller_workflows"]:
        nodes = {one["identifier"]: one for one in flow["simplified_workflow_nodes"]}
        for name in [name for name in nodes if not name.endswith("_failed")]:
            (failed,) = nodes[name]["failure_nodes"]
            assert nodes[failed]["unified_job_template"] == "gpu next steps"
            assert nodes[failed]["extra_data"] == {"next_steps_after": name, "next_steps_prefix": "gpu"}
            seen.add(name)
    assert seen == set(steps)
    (template,) = [one for one in made()["controller_templates"] if one["name"] == "aiready next steps"]
    assert template["ask_variables_on_launch"] is True


def test_only_plans_get_the_credential_of_the_controller_and_write_the_text_of_their_approval():
    found = made(awx_credentials=[{"kind": "vcenter"}, {"kind": "controller"}])
    of = {row["name"]: row["credentials"] for row in found["controller_templates"]}
    plans = {name for name, credentials in of.items() if "aiready controller" in credentials}
    assert plans == {"aiready plan", "aiready restore plan"}
    assert {name for name, credentials in of.items() if "aiready vCenter" not in credentials} == {"aiready next steps"}
    for has, rows in ((False, found), (True, made())):
        for flow in rows["controller_workflows"]:
            (node,) = [one for one in flow["simplified_workflow_nodes"] if "approval_node" in one]
            assert ("description" in node["approval_node"]) is has


def test_who_approves_gets_the_summary_of_each_plan():
    approver = {"name": "approvers", "type": "email", "configuration": MAIL, "events": ["approvals"]}
    rows = made(awx_notifications=[approver])["controller_templates"]
    told = {row["name"] for row in rows if row["notification_templates_success"] == ["approvers"]}
    assert told == {"aiready plan", "aiready restore plan"}


def test_every_reference_names_an_object_of_the_lists():
    found = made(
        awx_credentials=[{"kind": "vcenter", "inputs": {}}, {"kind": "scm"}, {"kind": "image_registry"}],
        awx_notifications=[{"name": "mail", "type": "email", "configuration": MAIL}],
        awx_instance_groups=[{"name": "gpu"}],
        awx_schedules=[{"name": "nightly", "template": "preflight", "rrule": RULE}],
    )
    templates = found["controller_templates"]
    credentials = set(names(found["controller_credentials"]))
    assert {one for row in templates for one in row["credentials"]} == {"aiready vCenter"}
    assert {found["controller_projects"][0]["credential"]} < credentials
    assert {found["controller_execution_environments"][0]["credential"]} < credentials
    assert {row["project"] for row in templates} == set(names(found["controller_projects"]))
    assert {row["inventory"] for row in templates} == set(names(found["controller_inventories"]))
    assert {one for row in templates for one in row["notification_templates_error"]} == {"mail"}
    assert found["controller_workflows"][0]["notification_templates_approvals"] == ["mail"]
    nodes = found["controller_workflows"][0]["simplified_workflow_nodes"]
    assert {one["unified_job_template"] for one in nodes if "unified_job_template" in one} <= set(names(templates))
    assert found["controller_schedules"][0]["unified_job_template"] in names(templates)


def test_hosts_of_vcenter_are_a_source_with_its_credential():
    source = {"vcenter_files": ["vcenter/esxi_hosts.yml"]}
    assert (PROJECT / "vcenter" / "esxi_hosts.yml").is_file()
    found = made(awx_inventory=source, awx_credentials=[{"kind": "vcenter"}])["controller_inventory_sources"]
    assert [(row["source_path"], row.get("credential")) for row in found] == [
        ("inventory/hosts.yml", None),
        ("vcenter/esxi_hosts.yml", "aiready vCenter"),
    ]
    # The second source keeps the variables of the first one, such as bmc_address.
    assert [row["overwrite_vars"] for row in found] == [True, False]
    assert {row["execution_environment"] for row in found} == {"aiready"}
    with pytest.raises(AnsibleFilterError, match="no credential of the kind vcenter"):
        made(awx_inventory=source)


def test_only_used_credential_types_are_created():
    assert names(made(awx_credentials=[{"kind": "bmc"}])["controller_credential_types"]) == ["aiready BMC"]


def test_the_type_for_vcenter_keeps_the_check_of_its_certificate():
    assert TYPES["vcenter"]["injectors"]["env"]["VMWARE_VALIDATE_CERTS"] == "True"


def test_no_type_sets_a_name_that_awx_rejects():
    assert [
        name for one in TYPES.values() for name in one["injectors"].get("env", {}) if name.startswith("ANSIBLE_")
    ] == []


@pytest.mark.parametrize(
    "options, words",
    [
        ({"awx_templates": ["colour"]}, "has no such playbook"),
        ({"awx_templates": ["site"]}, "awx_templates lacks next_steps, plan, preflight, setup, validate"),
        ({"awx_schedules": [{"name": "n", "template": "x", "rrule": RULE}]}, "is not one of awx_templates"),
        (
            {
                "awx_schedules": [{"name": "n", "template": "site", "rrule": RULE}],
                "awx_survey": [{"key": "gpu.profile", "required": True}],
            },
            "without the answer to a required question",
        ),
        ({"awx_credentials": [{"kind": "bmc"}, {"kind": "bmc", "name": "b"}]}, "accepts one credential of the type"),
        ({"awx_credentials": [{"kind": "colour"}]}, "value of kind must be one of"),
        ({"awx_project": {"scm": "git"}}, "Unknown option: awx_project.scm"),
        ({"awx_project": {}}, "Set awx_project.scm_url"),
        ({"awx_project": {"scm_type": "manual"}}, "Set awx_project.local_path"),
        ({"awx_project": {"scm_type": "manual", "local_path": "p"}}, "no inventory files from a manual project"),
    ],
)
def test_wrong_options_are_rejected_by_name(options, words):
    with pytest.raises(AnsibleFilterError, match=words):
        made(**options)


def test_a_manual_project_needs_an_inventory_without_files():
    found = made(awx_project={"scm_type": "manual", "local_path": "p"}, awx_inventory={"files": []})
    assert (found["controller_inventory_sources"], found["controller_projects"][0]["local_path"]) == ([], "p")


def test_several_vaults_are_attached_to_a_template():
    vaults = [{"kind": "vault", "name": "a"}, {"kind": "vault", "name": "b", "inputs": {"vault_id": "second"}}]
    found = made(awx_credentials=vaults)
    assert all(row["credentials"] == ["a", "b"] for row in found["controller_templates"])
    del vaults[1]["inputs"]
    with pytest.raises(AnsibleFilterError, match="Cannot attach the credentials a and b .* one vault of each ID"):
        made(awx_credentials=vaults)
