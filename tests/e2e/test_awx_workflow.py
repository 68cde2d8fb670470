"""The workflow of the simulated controller: the approval has the summary of the plan, and a failure has next steps.

ansible-runner runs the plan and the next steps. Their workflow has the nodes that the role awx creates.
"""

from __future__ import annotations

import json

import awxkit
import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.credential_types import TYPES
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.objects import objects

from rehearse import playbook
from rehearse.awx_jobs import Executor, commit, events, repository
from vsphere_twin.controller.jobs import WORKFLOWS, Outcome
from vsphere_twin.controller.objects import NODES
from wire.test_controller_launch import api_of

from .awx import project, token_of, vcenter_of

WAIT_S = 600
OPTIONS = {
    "awx_project": {"scm_url": "https://git.example.org/aiready.git"},
    "awx_execution_environment": {"image": "i:1"},
}


def create(objects_of, inputs, address, which=0):
    """Create the objects of the role for one of its workflows, with these credentials; the ID of the workflow."""
    kinds = [kind for kind, one in TYPES.items() if one["name"] in inputs]
    lists = objects({**OPTIONS, "awx_credentials": [{"kind": kind} for kind in kinds]})
    make, link = objects_of.create, objects_of.link
    organization = make("organizations", {"name": "aiready"})
    given = {"name": "aiready", "organization": organization, "scm_type": "git", "scm_url": address}
    local = make("projects", given)
    inventory = make("inventories", {"name": "aiready", "organization": organization})
    source = {"name": "s", "inventory": inventory, "source": "scm", "source_project": local}
    make("inventory_sources", {**source, "source_path": "inventory/hosts.yml"})
    kinds = {row["name"]: make("credential_types", dict(row)) for row in lists["controller_credential_types"]}
    credentials = {
        row["name"]: make(
            "credentials",
            {
                "name": row["name"],
                "organization": organization,
                "credential_type": kinds[row["name"]],
                "inputs": inputs[row["name"]],
            },
        )
        for row in lists["controller_credentials"]
    }
    flow = lists["controller_workflows"][which]
    used = {node.get("unified_job_template") for node in flow["simplified_workflow_nodes"]}
    templates = {}
    for row in lists["controller_templates"]:
        if row["name"] in used:
            keys = ("name", "job_type", "diff_mode", "playbook", "ask_variables_on_launch")
            given = {**{key: row[key] for key in keys}, "extra_vars": json.dumps(row["extra_vars"])}
            templates[row["name"]] = make("job_templates", {**given, "project": local, "inventory": inventory})
            for name in row["credentials"]:
                link("job_templates", templates[row["name"]], "credentials", {"id": credentials[name]})
    number = make(WORKFLOWS, {"name": flow["name"], "organization": organization})
    nodes = {}
    for node in flow["simplified_workflow_nodes"]:
        name, template = node["identifier"], templates.get(node.get("unified_job_template"))
        given = {"identifier": name, "workflow_job_template": number, "unified_job_template": template}
        nodes[name] = make(NODES, {**given, "extra_data": node.get("extra_data", {})})
        if "approval_node" in node:
            objects_of.approve_by(nodes[name], node["approval_node"])
    for node in flow["simplified_workflow_nodes"]:
        for kind in ("success_nodes", "failure_nodes"):
            for other in node[kind]:
                link(NODES, nodes[node["identifier"]], kind, {"id": nodes[other]})
    return number


# Takes the place of the whole run, which takes minutes: its last play, with a record that exists.
PLAN = [
    {
        "hosts": "localhost",
        "gather_facts": False,
        "tasks": [
            {
                "ansible.builtin.include_tasks": str(playbook.ROOT / "playbooks" / "tasks" / "return_plan.yml"),
                "vars": {"__summary": "Plan of job {{ awx_job_id }}: {{ ('%s' | aiready.vsphere.plan_summary).text }}"},
            }
        ],
    }
]
RECORD = {
    "format": 1,
    "began": "2026-01-01T02:00:00Z",
    "ended": "2026-01-01T02:01:00Z",
    "stages": [
        {
            "name": "hosts",
            "state": "ok",
            "check_mode": True,
            "changes": [
                {"object": "esx-01", "what": "sriov", "before": 0, "after": 8},
                {"object": "esx-01", "what": "boot_time", "before": "t", "after": "later than t"},
            ],
        }
    ],
}
TEXT = "2 changes on 1 object, 1 restart.\nhosts: 2 changes on esx-01"


@pytest.fixture
def flow(lab):
    """The lab, the ID of the workflow, its program that runs jobs, and the token. Preflight is successful."""
    lab = lab(faces=("controller",))
    twin, controller = lab.twin, lab.twin.controller
    folder = lab.work / "project"
    project(folder, twin)
    saved = lab.work / "results" / "7"
    saved.mkdir(parents=True)
    (saved / "stages.json").write_text(json.dumps(RECORD))
    text = yaml.safe_dump(PLAN) % saved
    (folder / "site.yml").write_text(text)
    jobs, token = controller.service.jobs, token_of(twin)
    inputs = {"aiready vCenter": vcenter_of(twin), "aiready controller": {"host": controller.url, "token": token}}
    number = create(controller.service.objects, inputs, repository(folder))
    env = playbook.environment(lab.work)
    of_jobs = {name: value for name, value in env.items() if name.startswith("ANSIBLE_")}
    of_jobs |= {"AIREADY_RESULTS": str(lab.work / "results"), "SSL_CERT_FILE": str(twin.ca_file)}
    executor = Executor(controller.service, lab.work, of_jobs)
    jobs.start = lambda work: work()
    jobs.execute = lambda job: Outcome() if job["name"] == "aiready preflight" else executor(job)
    return jobs, number, executor, token


def test_an_approval_has_the_summary_of_its_plan_and_a_denial_the_next_steps(flow):
    jobs, number, executor, token = flow
    launched, _ignored = jobs.launch(WORKFLOWS, number, {})
    plan = jobs.listed("jobs")[-1]
    assert (plan["name"], plan["status"]) == ("aiready plan", "successful"), plan.get("result_stdout")
    text = plan["artifacts"]["aiready_approval"]["text"]
    assert text == f"Plan of job {plan['id']}: {TEXT}"
    (approval,) = jobs.listed("workflow_approvals")
    assert (approval["status"], approval["description"]) == ("pending", text)
    assert token not in json.dumps(events(executor.result(plan["id"])))
    jobs.answer(approval["id"], False, {"id": 1})
    last = jobs.listed("jobs")[-1]
    assert (last["name"], last["status"], launched["status"]) == ("aiready next steps", "failed", "failed")
    returned = last["artifacts"]["aiready_next_steps"]
    assert returned["step"] == "approval"
    assert "denied the plan" in returned["text"]
    assert "Launch this workflow again" in returned["text"]


def test_a_plan_whose_token_is_rejected_waits_for_no_approval(flow):
    jobs, number, _executor, token = flow
    jobs.objects.row("credentials", 2)["inputs"]["token"] = f"{token}\nx"
    jobs.execute, run = (lambda job: Outcome() if "plan" not in job["name"] else run(job)), jobs.execute
    jobs.launch(WORKFLOWS, number, {})
    (plan,) = [job for job in jobs.listed("jobs") if job["name"] == "aiready plan"]
    assert plan["status"] == "failed"
    assert not jobs.listed("workflow_approvals")
    words = " ".join(plan["result_stdout"].split())
    assert "Cannot put the summary of the plan into the text of the approval" in words
    assert "401" in words
    assert token not in words


SITE = {"gpu": {"mode": "vgpu", "profile": "grid_a100-40c"}}


@pytest.mark.turn(5, of=6)
def test_a_site_that_changed_after_its_plan_is_not_changed_by_the_approval(lab, monkeypatch):
    lab = lab(faces=("controller",))
    twin, service = lab.twin, lab.twin.controller.service
    project(lab.work / "project", twin, **SITE)
    number = create(service.objects, {"aiready vCenter": vcenter_of(twin)}, repository(lab.work / "project"))
    env = playbook.environment(lab.work)
    of_jobs = {name: value for name, value in env.items() if name.startswith("ANSIBLE_")}
    of_jobs |= {"AIREADY_RESULTS": str(lab.work / "results"), "ANSIBLE_CALLBACKS_ENABLED": "aiready.vsphere.record"}
    executor, jobs = Executor(service, lab.work, of_jobs), service.jobs
    jobs.execute = lambda job: Outcome() if job["name"] == "aiready preflight" else executor(job)
    v2 = api_of(twin, monkeypatch)
    flow = v2.workflow_job_templates.get(id=number).results[0].launch()
    (approval,) = awxkit.utils.poll_until(lambda: v2.workflow_approvals.get(status="pending").results, 0.2, WAIT_S)
    folder = jobs.listed("jobs")[-1]["artifacts"]["aiready_plan"]
    # Somebody pushes another site. AWX fetches the project before the next job.
    prepared = lab.work / "project" / "inventory" / "group_vars" / "all" / "prepared_default.yml"
    prepared.write_text(prepared.read_text().replace("grid_a100-40c", "grid_a100-20c"))
    commit(lab.work / "project")
    ((_table, row),) = service.objects.rows("projects")
    assert service.objects.projects.update(row)[0] == "successful"
    approval.approve()
    assert flow.wait_until_completed(0.2, WAIT_S).status == "failed"
    _preflight, _plan, setup, following = jobs.listed("jobs")
    assert [(one["name"], one["status"]) for one in (setup, following)] == [
        ("aiready setup", "failed"),
        ("aiready next steps", "failed"),
    ]
    words = f"Cannot run the plan in {folder}. The site or the inventory has changed since the plan: site.gpu.profile."
    assert words in " ".join(setup["result_stdout"].split())
    assert following["artifacts"]["aiready_next_steps"]["step"] == "setup"
    assert lab.profiles() == {"train-01": [], "train-02": []}
