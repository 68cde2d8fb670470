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


def play(lab, results, files, **keywords):
    """A playbook with the first task of the role, and some of its files of tasks."""
    first = {"awx.awx.organization": {"name": "{{ item }}", "state": "exists"}, "loop": ["aiready"]}
    role = [
        {"ansible.builtin.include_role": {"name": "aiready.vsphere.awx", "tasks_from": file}, "vars": RESULTS}
        for file in files
    ]
    tasks = [{**first, "register": "__awx_organization"}, *role]
    path = lab.work / "play.yml"
    path.write_text(
        yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "vars": results, "tasks": tasks, **keywords}])
    )
    return path


def test_unmanaged_nodes_and_ended_schedules_are_named(controller):
    lab, make, node, results = controller
    path = play(lab, results, ("ended_schedules", "unmanaged_nodes"))
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


OF_THE_ROLE = "Reads a list for the role aiready.vsphere.awx"


def test_each_login_of_awx_awx_finds_the_nodes_or_names_the_check_that_did_not_run(controller):
    lab, make, node, results = controller
    make(NODES, {**node, "identifier": "6a0c"})
    twin, inventory, token = lab.twin, here(lab), token_of(lab.twin)
    # One token of a run that was killed long ago, and one of a run in progress.
    left, used = (token_of(twin, scope="read", description=OF_THE_ROLE) for _time in range(2))
    twin.controller.service.tokens[left]["created"] = "2026-01-01T00:00:00.000000Z"
    login, common = twin.controller.endpoint(), {"SSL_CERT_FILE": str(twin.ca_file)}
    address, user, password = (login[key] for key in ("url", "username", "password"))
    given = f"host: {address}\nusername: {user}\npassword: {password}\n"
    (lab.work / "a.cfg").write_text(given)
    (lab.work / ".tower_cli.cfg").write_text(given)
    # The type "Red Hat Ansible Automation Platform" of AWX sets all of these.
    credential = {
        f"{kind}_{key}": value
        for kind in ("TOWER", "CONTROLLER")
        for key, value in (
            ("HOST", address),
            ("USERNAME", user),
            ("PASSWORD", password),
            ("VERIFY_SSL", "False"),
            ("OAUTH_TOKEN", ""),
        )
    }
    options = {"controller_host": address, "controller_oauthtoken": token, "request_timeout": 120}
    # The environment of another controller, which module_defaults replace.
    other = {"CONTROLLER_HOST": "https://awx.invalid", "CONTROLLER_OAUTH_TOKEN": "unknown"}
    found = "they can run without the approval: 6a0c (p). Delete them"
    for env, defaults, words in (
        (credential, {}, found),
        ({**common, "HOME": str(lab.work)}, {}, found),
        ({**common, **other}, options, found),
        (
            common,
            {"controller_config_file": str(lab.work / "a.cfg")},
            "only in the file of controller_config_file, which a lookup of awx.awx does not read. Nodes that somebody "
            "added to the workflows were not looked for, and they can run without the approval. Set CONTROLLER_HOST",
        ),
    ):
        keywords = {"module_defaults": {"group/awx.awx.controller": defaults}} if defaults else {}
        path = play(lab, results, ("unmanaged_nodes",), **keywords)
        run = lab.run(of=path, inventory=inventory, env={"CONTROLLER_REQUEST_TIMEOUT": "120", **env})
        text = " ".join(run.text.split())
        assert words in text
        assert (run.status != 0) is (words == found)
        assert password not in text
        assert token not in text
    # Each token of a lookup is deleted.
    assert list(twin.controller.service.tokens) == [token, used]
