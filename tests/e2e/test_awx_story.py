"""An empty controller, and its workflow from preflight to the report of the validation: each job is real.

awx.awx creates the objects and launches the workflow, and awxkit approves it. ansible-runner runs the jobs against the
twin, and the notifications arrive at a mail server and a webhook. The VMs of the twin have no guests, so the guest is
this machine: the validation reads it, and changes nothing on it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import awxkit
import jq
import pytest
import yaml

from rehearse import awx_sinks, playbook
from rehearse.awx_jobs import OF_JOBS, Executor, events, repository
from rehearse.awx_notifications import Sender
from vsphere_twin.controller.jobs import WORKFLOWS
from vsphere_twin.controller.objects import NODES
from wire.test_controller_launch import api_of

from .awx import AWX, access, here, project, token_of, vcenter_of

WAIT_S = 900
QUERIES = yaml.safe_load((playbook.ROOT / "extensions" / "audit" / "event_query.yml").read_text())
NAME, PROFILE = "train-01", "grid_a100-40c"
FLOW = "aiready site with approval"
STEPS = ("preflight", "plan", "setup", "validate")
SITE = {
    "vms": [{"name": NAME}],
    "machine": {"start": "all"},
    # The verdict depends on this machine.
    "validation": {"packages": "ignore", "checks": [], "nccl_command": [], "baseline": "", "fail_on": "never"},
}
# The answer replaces a profile that preflight would reject.
LAUNCH = {"name": FLOW, "extra_vars": {"site_answer_gpu__profile": PROFILE}, "wait": False}
BOOK = [
    {"ansible.builtin.import_playbook": str(AWX)},
    {"hosts": "localhost", "gather_facts": False, "tasks": [{"awx.awx.workflow_launch": LAUNCH}]},
]
SUMMARY = """\
Plan of job {}: 6 changes on 1 object, 0 restarts.
machines: 6 changes on train-01
validation: planned after machines, for train-01"""


def options(twin, address, token, port, url):
    """The options of the role awx."""
    credentials = {"vcenter": vcenter_of(twin), "controller": {"host": twin.controller.url, "token": token}}
    hook = {**awx_sinks.webhook_settings(url), "password": "not-a-real-one"}
    sinks = {"email": awx_sinks.mail_settings(port), "webhook": hook}
    return {
        "awx_project": {"scm_url": address},
        "awx_execution_environment": {"image": "images.example.org/aiready:1"},
        "awx_credentials": [{"kind": kind, "inputs": inputs} for kind, inputs in credentials.items()],
        "awx_survey": ["gpu.profile"],
        "awx_templates": [*STEPS, "restore_plan", "restore", "next_steps"],
        "awx_notifications": [
            {"name": kind, "type": kind, "configuration": given, "events": ["success", "error", "approvals"]}
            for kind, given in sinks.items()
        ],
    }


@pytest.mark.turn(1, of=6)
def test_the_workflow_runs_from_preflight_to_the_report(lab, monkeypatch):
    lab = lab(faces=("controller",))
    twin, controller = lab.twin, lab.twin.controller
    results, target, jobs = lab.work / "results", lab.work / "target", controller.service.jobs
    project(lab.work / "project", twin, guests=[NAME], **SITE)
    target.mkdir()
    of_jobs = {key: value for key, value in playbook.environment(lab.work).items() if key.startswith("ANSIBLE_")}
    of_jobs |= {"AIREADY_RESULTS": str(results), "AIREADY_RESULTS_TARGET": str(target)}
    of_jobs |= {"ANSIBLE_STDOUT_CALLBACK": "aiready.vsphere.stages", "SSL_CERT_FILE": str(twin.ca_file)}
    of_jobs |= {"ANSIBLE_CALLBACKS_ENABLED": "aiready.vsphere.record"}
    executor = jobs.execute = Executor(controller.service, lab.work, of_jobs)
    jobs.deliver, token, book = Sender(controller.url), token_of(twin), lab.work / "book.yml"
    book.write_text(yaml.safe_dump(BOOK))
    with awx_sinks.mails() as (port, mails), awx_sinks.hook() as (url, hooks):
        given = json.dumps(options(twin, repository(lab.work / "project"), token, port, url))
        words = {"inventory": here(lab), "env": access(twin, token)}
        run = lab.run("-e", given, of=book, **words)
        assert run.status == 0, run.output
        v2 = api_of(twin, monkeypatch)
        (flow,) = v2.workflow_jobs.get(name=FLOW).results
        (approval,) = awxkit.utils.poll_until(lambda: v2.workflow_approvals.get(status="pending").results, 0.2, WAIT_S)
        assert lab.profiles(NAME) == {NAME: []}
        approval.approve()
        assert flow.wait_until_completed(0.2, WAIT_S).status == "successful"
    assert lab.profiles(NAME) == {NAME: [PROFILE]}
    configured_again(lab, json.loads(given), words)
    done = jobs.listed("jobs")
    assert [(job["name"], job["status"], job["job_type"]) for job in done] == [
        (f"aiready {step}", "successful", "check" if step == "plan" else "run") for step in STEPS
    ]
    texts = artifacts(done, approval.description, results)
    notified(texts, mails, hooks)
    shown = [output(job) for job in done]
    changes = "6 changes as planned, 0 made but not planned, 0 planned but not made."
    assert f"Compared with the plan in {done[1]['artifacts']['aiready_plan']}: {changes}" in shown[2]
    assert "  The playbook of this run does not have machines." in shown[3]
    secrets = (token, vcenter_of(twin)["password"])
    for job in done:
        kept(job, events(executor.result(job["id"])), results, target, secrets)
    nodes = [counted(events(executor.result(job["id"]))) for job in done]
    (vm,) = (one for one in twin.world.of_kind("VirtualMachine") if one.name == NAME)
    managed = {f"{NAME} ({vm.moid}, {vm.instance_uuid})": {"moid": vm.moid, "instance_uuid": vm.instance_uuid}}
    # The validation reads guests and manages none.
    assert nodes == [managed, managed, managed, {}]


def configured_again(lab, given, words):
    """Check mode finds a node by hand and a changed setting beside a secret. Without them, a run changes nothing."""
    objects = lab.twin.controller.service.objects
    (project,) = (row["id"] for _table, row in objects.rows("projects"))
    flow = next(row["id"] for _table, row in objects.rows(WORKFLOWS) if row["name"] == FLOW)
    fields = {"identifier": "6a0c", "workflow_job_template": flow, "unified_job_template": project}
    node, (mail, hook) = objects.create(NODES, fields), given["awx_notifications"]
    headers = {**hook["configuration"], "headers": {"X-Site": "other"}}
    other = {**given, "awx_notifications": [mail, {**hook, "configuration": headers}]}
    found = lab.run("-e", json.dumps(other), "--check", of=AWX, **words)
    assert (found.status != 0, found.changed) == (True, 1), found.output
    task = found.output.partition("Configure the notification templates]")[2].partition("TASK [")[0]
    assert (task.count("changed: "), task.count("ok: ")) == (1, 1)
    assert "they can run without the approval: 6a0c (aiready). Delete them" in " ".join(found.text.split())
    objects.delete(NODES, node)
    again = lab.run("-e", json.dumps(given), of=AWX, **words)
    assert (again.status, again.changed) == (0, 0), again.output


def artifacts(done, description, results):
    """Compare the artifacts of the jobs with the files of their runs; {name of a job: its text for a person}."""
    preflight, plan, setup, validate = (job["artifacts"] for job in done)
    checked = preflight["aiready_preflight"]
    rows = json.loads(Path(checked["report"]).read_text())["findings"]
    states = [one["state"] for one in rows]
    assert checked["counts"] == {state: states.count(state) for state in checked["counts"]}
    # The callbacks are set, and the credential keeps the check of the certificate. The results are on no mount. The VM
    # is off, so its guest is not checked.
    assert {(one["where"], one["what"]) for one in rows if one["state"] == "open"} == {
        ("this job", "results"),
        (NAME, "guest"),
    }
    assert (checked["status"], plan["aiready_site"]["check"], setup["aiready_site"]["check"]) == ("open", True, False)
    assert plan["aiready_plan"] == plan["aiready_site"]["report"]
    stages = plan["aiready_site"]["stages"]
    assert (setup["aiready_site"]["stages"], stages[-1]) == (stages[:-1], "validation")
    summary = plan["aiready_approval"]["text"]
    assert summary == description == SUMMARY.format(done[1]["id"])
    judged = validate["aiready_validation"]
    report = Path(judged["report"])
    verdict = json.loads((report / "validation.json").read_text())["verdict"]
    assert (judged["status"], judged["text"]) == (verdict["state"], verdict["sentence"])
    assert judged["counts"]["pass"] > 0
    assert judged["text"] in (report / "report.md").read_text()
    assert report.parent == results
    assert {"report.html", "report.json"} <= {path.name for path in report.iterdir()}
    return dict(zip((job["name"] for job in done), (checked["text"], summary, "", judged["text"]), strict=True))


def notified(texts, mails, hooks):
    """Each job, the approval and the workflow have a mail and a call of the webhook, with the text of the artifact."""
    subjects = [mail["Subject"].strip().rpartition(": ")[0] for mail in mails]
    expected = [f"'{name}' successful" for name in (*texts, FLOW)]
    assert [subject.partition(" #")[2].partition(" ")[2] for subject in subjects if "#" in subject] == expected
    assert len(mails) == len(hooks) == len(expected) + 2
    for name, text in texts.items():
        ((_first, *lines),) = [
            mail.get_content().splitlines() for mail in mails if f"'{name}' successful" in mail["Subject"]
        ]
        assert "\n".join(lines).strip().startswith(text or "{")
        ((_path, _header, body),) = [one for one in hooks if one[2].get("job", {}).get("name") == name]
        assert (body["job"]["status"], body["text"]) == ("successful", text)
    asked, answered = (mail for mail in mails if "approval node" in mail["Subject"])
    assert "'Approve aiready plan' needs review" in asked["Subject"]
    assert "'Approve aiready plan' was approved" in answered["Subject"]


def output(job):
    """The output with progress and verdict as lines, with colours and without lines that change in place."""
    shown = re.sub(r"\x1b\[[0-9;]*m", "", job["result_stdout"])
    assert not {"\x1b", "\r"} & set(shown)
    lines = shown.splitlines()
    assert any(line.startswith("STAGE [") for line in lines)
    verdict = next(number for number, line in enumerate(lines) if line.startswith("Verdict: "))
    assert any(line.startswith("Results: ") for line in lines[verdict:])
    return lines


def counted(seen):
    """{name: canonical facts} of the nodes that automation controller counts for a job."""
    found = {}
    for data in (one["event_data"] for one in seen):
        query = QUERIES.get(data.get("resolved_action"))
        for record in jq.compile(query["query"]).input_value(data["res"]).all() if query and "res" in data else ():
            # Names are unique in a job.
            assert found.setdefault(record["name"], record["canonical_facts"]) == record["canonical_facts"]
    return found


def kept(job, seen, results, target, secrets):
    """The results of a job are at the target, and its events have no secret and are small."""
    (folder,) = results.glob(f"*-job{job['id']}")
    copied = {path.name for path in (target / folder.name).iterdir()}
    # The check of the target writes a file.
    assert copied - {"access.txt"} == {path.name for path in folder.iterdir()} >= {"stages.json"}
    assert "playbook_on_stats" in {one["event"] for one in seen}
    assert not [secret for secret in secrets if secret in json.dumps(seen)]
    # AWX empties the result of an event above this size.
    largest = max(len(json.dumps(one["event_data"].get("res"))) for one in seen)
    assert largest < int(OF_JOBS["MAX_EVENT_RES"]) / 10
