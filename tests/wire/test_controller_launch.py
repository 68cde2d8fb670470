"""The modules of awx.awx launch a workflow of the twin's controller and answer its approval."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import awxkit
import yaml

from vsphere_twin.controller.jobs import Outcome
from vsphere_twin.controller.objects import NODES

ANSIBLE = Path(sys.executable).with_name("ansible-playbook")
TASKS = [
    {"awx.awx.workflow_launch": {"name": "flow", "wait": False}, "register": "flow"},
    {"awx.awx.workflow_approval": {"workflow_job_id": "{{ flow.id }}", "name": "Approve plan", "interval": 0.1}},
    {
        "awx.awx.workflow_node_wait": {
            "workflow_job_id": "{{ flow.id }}",
            "name": "site",
            "interval": 0.1,
            "timeout": 20,
        }
    },
]


def create(objects):
    """plan, then an approval, then site."""
    organization = objects.create("organizations", {"name": "ops"})
    project = objects.create("projects", {"name": "p", "organization": organization, "local_path": "p"})
    inventory = objects.create("inventories", {"name": "i", "organization": organization})
    flow = objects.create("workflow_job_templates", {"name": "flow", "organization": organization})
    nodes = []
    for name in ("plan", "approval", "site"):
        node = {"identifier": name, "workflow_job_template": flow}
        if name != "approval":
            fields = {"name": name, "project": project, "inventory": inventory, "playbook": "site.yml"}
            node["unified_job_template"] = objects.create("job_templates", fields)
        nodes.append(objects.create(NODES, node))
    objects.approve_by(nodes[1], {"name": "Approve plan"})
    for one, other in itertools.pairwise(nodes):
        objects.link(NODES, one, "success_nodes", {"id": other})


def test_a_workflow_is_launched_and_approved_by_modules(twin, tmp_path):
    running = twin(faces=("controller",))
    controller, ran = running.controller, []

    def execute(job):
        ran.append((job["name"], json.loads(job["extra_vars"])))
        return Outcome(artifacts={"aiready_plan": "/srv/results/1"} if job["name"] == "plan" else {})

    controller.service.jobs.execute = execute
    (controller.projects / "p").mkdir()
    (controller.projects / "p" / "site.yml").write_text("- hosts: all\n")
    create(controller.service.objects)
    book = tmp_path / "book.yml"
    book.write_text(yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": TASKS}]))
    environment = {
        **os.environ,
        "CONTROLLER_HOST": controller.url,
        "CONTROLLER_USERNAME": controller.endpoint()["username"],
        "CONTROLLER_PASSWORD": controller.endpoint()["password"],
        "SSL_CERT_FILE": str(running.ca_file),
    }
    # The implicit localhost uses the Python of this test.
    command = [str(ANSIBLE), str(book)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ran == [("plan", {}), ("site", {"aiready_plan": "/srv/results/1"})]


def test_awxkit_launches_the_workflow_and_approves_it(twin, monkeypatch):
    running = twin(faces=("controller",))
    controller, ran = running.controller, []
    controller.service.jobs.execute = lambda job: ran.append(job["name"]) or Outcome()
    (controller.projects / "p").mkdir()
    (controller.projects / "p" / "site.yml").write_text("- hosts: all\n")
    create(controller.service.objects)
    login = controller.endpoint()
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(running.ca_file))
    monkeypatch.setattr(awxkit.config, "base_url", login["url"], raising=False)
    monkeypatch.setattr(awxkit.config, "assume_untrusted", False)
    root = awxkit.api.Api()
    root.connection.login(login["username"], login["password"])
    v2 = root.get().available_versions.v2.get()
    flow = v2.workflow_job_templates.get(name="flow").results[0].launch()
    approvals = awxkit.utils.poll_until(lambda: v2.workflow_approvals.get(status="pending").results, 0.1, 20)
    approvals[0].approve()
    assert flow.wait_until_completed(interval=0.1, timeout=20).status == "successful"
    assert ran == ["plan", "site"]
