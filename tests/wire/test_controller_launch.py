"""The modules of awx.awx launch a workflow of the twin's controller and answer its approval."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import awxkit
import pytest
import yaml

from rehearse.awx_jobs import Executor, events, repository
from vsphere_twin.controller.jobs import Outcome
from vsphere_twin.controller.objects import NODES

ANSIBLE = Path(sys.executable).with_name("ansible-playbook")
TASKS = [
    {"awx.awx.workflow_launch": {"name": "flow", "wait": False}, "register": "flow"},
    {
        "awx.awx.workflow_approval": {
            "workflow_job_id": "{{ flow.id }}",
            "name": "Approve plan",
            "interval": 0.1,
            # The default of 10 s is short for a plan on a busy machine.
            "timeout": 120,
        }
    },
    {
        "awx.awx.workflow_node_wait": {
            "workflow_job_id": "{{ flow.id }}",
            "name": "site",
            "interval": 0.1,
            "timeout": 60,
        }
    },
]


def create(objects):
    """plan in check mode, then an approval, then site."""
    organization = objects.create("organizations", {"name": "ops"})
    project = objects.create("projects", {"name": "p", "organization": organization, "local_path": "p"})
    inventory = objects.create("inventories", {"name": "i", "organization": organization})
    flow = objects.create("workflow_job_templates", {"name": "flow", "organization": organization})
    nodes = []
    for name in ("plan", "approval", "site"):
        node = {"identifier": name, "workflow_job_template": flow}
        if name != "approval":
            fields = {"name": name, "project": project, "inventory": inventory, "playbook": "site.yml"}
            fields |= {"job_type": "check", "diff_mode": True} if name == "plan" else {}
            node["unified_job_template"] = objects.create("job_templates", fields)
        nodes.append(objects.create(NODES, node))
    objects.approve_by(nodes[1], {"name": "Approve plan"})
    for one, other in itertools.pairwise(nodes):
        objects.link(NODES, one, "success_nodes", {"id": other})


def run_tasks(running, folder, tasks):
    """Run tasks with the modules of awx.awx against the controller."""
    controller, book = running.controller, folder / "book.yml"
    book.write_text(yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]))
    environment = {
        **os.environ,
        "CONTROLLER_HOST": controller.url,
        # A launch reads the inventory; the default of 10 s is short on a busy machine.
        "CONTROLLER_REQUEST_TIMEOUT": "120",
        "CONTROLLER_USERNAME": controller.endpoint()["username"],
        "CONTROLLER_PASSWORD": controller.endpoint()["password"],
        "SSL_CERT_FILE": str(running.ca_file),
    }
    # The implicit localhost uses the Python of this test.
    command = [str(ANSIBLE), str(book)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_workflow_is_launched_and_approved_by_modules(twin, tmp_path):
    running = twin(faces=("controller",))
    controller, changed = running.controller, tmp_path / "changed"
    tasks = [
        {"ansible.builtin.copy": {"content": "{{ aiready_plan | default('') }}", "dest": str(changed)}},
        {
            "ansible.builtin.set_stats": {"data": {"aiready_plan": "/srv/results/{{ awx_job_id }}"}},
            "when": "ansible_check_mode",
        },
    ]
    (controller.projects / "p").mkdir()
    book = [{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]
    (controller.projects / "p" / "site.yml").write_text(yaml.safe_dump(book))
    create(controller.service.objects)
    executor = controller.service.jobs.execute = Executor(controller.service, tmp_path, {})
    run_tasks(running, tmp_path, TASKS)
    jobs = controller.service.jobs.listed("jobs")
    assert [job["name"] for job in jobs] == ["plan", "site"]
    assert jobs[0]["artifacts"] == {"aiready_plan": f"/srv/results/{jobs[0]['id']}"}, jobs[0]["result_stdout"]
    # The job in check mode reported the change and did not make it. The next one has its artifact as a variable.
    for job in jobs:
        seen = [one["event_data"] for one in events(executor.result(job["id"])) if one["event"] == "runner_on_ok"]
        assert (seen[0]["task_action"], seen[0]["res"]["changed"]) == ("ansible.builtin.copy", True)
        assert bool(seen[0]["res"].get("diff")) is (job["name"] == "plan")
    assert changed.read_text() == jobs[0]["artifacts"]["aiready_plan"]


def api_of(running, monkeypatch):
    """The API of the controller as awxkit reads it, with a login."""
    login = running.controller.endpoint()
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(running.ca_file))
    monkeypatch.setattr(awxkit.config, "base_url", login["url"], raising=False)
    monkeypatch.setattr(awxkit.config, "assume_untrusted", False, raising=False)
    root = awxkit.api.Api()
    root.connection.login(login["username"], login["password"])
    return root.get().available_versions.v2.get()


def test_awxkit_creates_changes_and_deletes_an_object(twin, monkeypatch):
    running = twin(faces=("controller",))
    v2, objects = api_of(running, monkeypatch), running.controller.service.objects
    organization = v2.organizations.post({"name": "ops", "description": ""})
    inventory = v2.inventory.create(name="aiready", organization=organization)
    assert v2.inventory.get(name="aiready").results[0].id == inventory.id
    assert inventory.related.organization.get().name == "ops"
    organization.patch(description="GPU clusters")
    assert objects.row("organizations", organization.id)["description"] == "GPU clusters"
    with pytest.raises(awxkit.exceptions.Duplicate):
        v2.organizations.post({"name": "ops"})
    organization.delete()
    assert v2.organizations.get(name="ops").count == 0


def test_awxkit_launches_the_workflow_and_approves_it(twin, monkeypatch):
    running = twin(faces=("controller",))
    controller, ran = running.controller, []
    controller.service.jobs.execute = lambda job: ran.append(job["name"]) or Outcome()
    (controller.projects / "p").mkdir()
    (controller.projects / "p" / "site.yml").write_text("- hosts: all\n")
    create(controller.service.objects)
    v2 = api_of(running, monkeypatch)
    flow = v2.workflow_job_templates.get(name="flow").results[0].launch()
    approvals = awxkit.utils.poll_until(lambda: v2.workflow_approvals.get(status="pending").results, 0.1, 20)
    approvals[0].approve()
    assert flow.wait_until_completed(interval=0.1, timeout=20).status == "successful"
    assert ran == ["plan", "site"]


def play(hosts):
    return {"hosts": hosts, "gather_facts": False, "tasks": [{"ansible.builtin.debug": {"msg": "{{ groups }}"}}]}


def test_each_slice_has_its_hosts_and_runs_the_plays_on_localhost(twin, tmp_path):
    running = twin(faces=("controller",))
    controller, objects = running.controller, running.controller.service.objects
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "hosts.yml").write_text(yaml.safe_dump([play("localhost"), play("esxi_hosts"), play("switches")]))
    names = [f"esx-0{number}" for number in range(1, 4)]
    groups = {"esxi_hosts": {"hosts": dict.fromkeys(names)}, "switches": {"hosts": {"leaf-01": None}}}
    local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    inventory = {"all": {"vars": local, "hosts": {"localhost": None}, "children": groups}}
    (folder / "inventory.yml").write_text(yaml.safe_dump(inventory))
    address = repository(folder)
    organization = objects.create("organizations", {"name": "ops"})
    project = objects.create(
        "projects", {"name": "p", "organization": organization, "scm_type": "git", "scm_url": address}
    )
    number = objects.create("inventories", {"name": "i", "organization": organization})
    source = {"name": "s", "inventory": number, "source": "scm", "source_project": project}
    objects.create("inventory_sources", {**source, "source_path": "inventory.yml"})
    fields = {"name": "hosts", "project": project, "inventory": number, "playbook": "hosts.yml"}
    objects.create("job_templates", {**fields, "job_slice_count": 2})
    jobs = controller.service.jobs
    executor = jobs.execute = Executor(controller.service, tmp_path, {})
    jobs.hosts = executor.hosts
    run_tasks(running, tmp_path, [{"awx.awx.job_launch": {"name": "hosts", "wait": True, "interval": 0.1}}])
    slices = jobs.listed("jobs")
    assert [(job["status"], job["job_slice_number"], job["job_slice_count"]) for job in slices] == [
        ("successful", 1, 2),
        ("successful", 2, 2),
    ], slices[0].get("result_stdout")
    ran = []
    for job in slices:
        seen = [one["event_data"] for one in events(executor.result(job["id"])) if one["event"] == "runner_on_ok"]
        ran.append(sorted(one["host"] for one in seen))
    # Every second host by its name. The second slice has no localhost, and runs that play on the implicit one.
    assert ran == [["esx-01", "esx-03", "localhost"], ["esx-02", "leaf-01", "localhost"]]
