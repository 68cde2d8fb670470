"""Check mode of the role awx on an empty, a half-filled and a complete controller: it only reads, and counts alike.

Another organization has objects of the same names. The organization of the role exists, with a description by hand.

Workflows would double the time. tests/unit/roles/test_awx_check_mode.py has the messages about their missing nodes.
"""

from __future__ import annotations

import json
import shutil

import pytest

from rehearse.awx_jobs import repository

from .awx import AWX, PROJECT, access, here, token_of

LOGIN = {"username": "automation", "password": "not-a-real-one"}
INPUTS = {
    "vcenter": {"host": "vcenter.example.org", **LOGIN},
    "bmc": LOGIN,
    "switches": LOGIN,
    "licence": {"token": "not-a-real-one"},
    "registry": {"address": "images.example.org", "password": "not-a-real-one"},
    "controller": {"host": "https://awx.example.org", "token": "not-a-real-one"},
    "machine": LOGIN,
    "vault": {"vault_password": "not-a-real-one"},
}
MAIL = {
    "host": "smtp.example.org",
    "port": 25,
    "sender": "awx@example.org",
    "recipients": ["ops@example.org"],
    "timeout": 30,
    "use_tls": False,
    "use_ssl": False,
    "username": "awx",
    "password": "not-a-real-one",
}
RULE = "DTSTART:20260101T020000Z RRULE:FREQ=DAILY;INTERVAL=1"
HALF = {
    "awx_execution_environment": {"image": "images.example.org/aiready:1"},
    "awx_credentials": [{"kind": "bmc", "inputs": INPUTS["bmc"]}],
    "awx_templates": ["preflight"],
    "awx_workflow": {"enabled": False},
    "awx_schedules": [{"name": "each night", "template": "preflight", "rrule": RULE}],
}
WHOLE = {
    **HALF,
    "awx_credentials": [{"kind": kind, "inputs": inputs} for kind, inputs in INPUTS.items()],
    "awx_survey": ["gpu.profile"],
    "awx_instance_groups": [{"name": "training", "max_concurrent_jobs": 2}],
    "awx_notifications": [{"name": "operations", "type": "email", "configuration": MAIL}],
}


def others(objects):
    """Objects of another organization, with the names of those of the role; the ID of the organization of the role."""
    own, other = (objects.create("organizations", {"name": one, "description": "By hand"}) for one in ("aiready", "b"))
    rows = {row["name"]: row["id"] for _table, row in objects.rows("credential_types")}
    machine = {"credential_type": rows["Machine"], "inputs": {}}
    mail = {"notification_type": "email", "notification_configuration": dict(MAIL)}
    for table, name, values in (
        ("inventories", "aiready", {}),
        ("credentials", "aiready BMC", machine),
        ("notification_templates", "operations", mail),
    ):
        objects.create(table, {"name": name, "organization": other, **values})
    return own


@pytest.mark.turn(2, of=3)
def test_check_mode_only_reads_and_counts_the_changes_of_the_run(lab):
    lab = lab(faces=("controller",))
    service, env, inventory = lab.twin.controller.service, access(lab.twin, token_of(lab.twin)), here(lab)
    own = others(service.objects)
    project = {"scm_url": repository(shutil.copytree(PROJECT, lab.work / "project"))}

    def changes(options, *arguments):
        """The changed items of each task; a skipped list of items has none."""
        service.requests.clear()
        given = json.dumps({**options, "awx_project": project})
        run = lab.run("--extra-vars", given, *arguments, of=AWX, inventory=inventory, env=env)
        assert run.status == 0, run.text[-3000:]
        counted, task = {}, ""
        for line in run.output.splitlines():
            if line.startswith("TASK ["):
                task = line.rpartition(" : ")[2].rstrip("* ]")
            elif line.startswith("changed: "):
                counted[task] = counted.get(task, 0) + 1
        return counted

    for options in (HALF, WHOLE):
        planned = changes(options, "--check")
        assert {method for method, _path in service.requests} == {"GET"}
        assert planned == changes(options)
    assert service.objects.row("organizations", own)["description"] == "By hand"
    assert changes(WHOLE, "--check") == {}
    assert {method for method, _path in service.requests} == {"GET"}
