"""The role awx names nodes that somebody added to a workflow, and schedules without a next run, also in check mode."""

from __future__ import annotations

import pytest
import yaml

from vsphere_twin.controller.jobs import WORKFLOWS
from vsphere_twin.controller.objects import NODES

from .awx import access, here, token_of

RULE = "DTSTART:20260101T020000Z RRULE:FREQ=DAILY;INTERVAL=1"
# The results of the earlier tasks of the role, as awx.awx returns them. All tasks of the role take minutes.
RESULTS = {
    "__awx_workflow_job_template": "{{ {'results': flows} }}",
    "__awx_schedule": "{{ {'results': schedules} }}",
}


@pytest.fixture
def controller(lab):
    """The lab, its objects, and the results of the role for a workflow with one node and two schedules."""
    lab = lab(faces=("controller",))
    make = lab.twin.controller.service.objects.create
    organization = make("organizations", {"name": "aiready"})
    project = make("projects", {"name": "p", "organization": organization, "scm_type": "git", "scm_url": "/none"})
    number, other = (make(WORKFLOWS, {"name": name, "organization": organization}) for name in ("aiready", "b"))
    node = {"workflow_job_template": number, "unified_job_template": project}
    make(NODES, {**node, "identifier": "preflight"})
    make(NODES, {**node, "identifier": "x", "workflow_job_template": other})
    flow = {"name": "aiready", "simplified_workflow_nodes": [{"identifier": "preflight"}]}
    schedules = [
        {
            "id": make(
                "schedules", {"name": name, "unified_job_template": project, "rrule": RULE + more, "enabled": on}
            ),
            "changed": changed,
            "item": {"name": name, "enabled": on},
        }
        for name, more, on, changed in (
            ("each night", "", True, False),
            ("once", ";COUNT=1", True, False),
            ("changed", ";COUNT=1", True, True),
            ("off", ";COUNT=1", False, False),
        )
    ]
    return lab, make, node, {"flows": [{"id": number, "item": flow}, {"item": flow}], "schedules": schedules}


def test_unmanaged_nodes_and_ended_schedules_are_named(controller):
    lab, make, node, results = controller
    role = [
        {"ansible.builtin.include_role": {"name": "aiready.vsphere.awx", "tasks_from": file}, "vars": RESULTS}
        for file in ("ended_schedules", "unmanaged_nodes")
    ]
    play = {"hosts": "localhost", "gather_facts": False, "vars": results, "tasks": role}
    path = lab.work / "play.yml"
    path.write_text(yaml.safe_dump([play]))
    env, inventory = access(lab.twin, token_of(lab.twin)), here(lab)

    def run(*arguments):
        found = lab.run(*arguments, of=path, inventory=inventory, env=env)
        return found.status, " ".join(found.text.split())

    status, text = run()
    assert status == 0, text
    assert "Warning: These schedules have no next run: once, changed. " in text
    make(NODES, {**node, "identifier": "6a0c"})
    status, text = run("--check")
    assert status != 0
    # The saved rule of a changed schedule is an earlier one.
    assert "These schedules have no next run: once. " in text
    assert "Cannot configure the workflow aiready. " in text
    assert "they can run without the approval: 6a0c (p). Delete them" in text
