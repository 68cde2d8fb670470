"""Notifications of the simulated controller arrive at a mail server and a webhook, with the texts of AWX."""

from __future__ import annotations

import itertools
import json

import pytest

from rehearse import awx_sinks
from rehearse.awx_notifications import Sender
from rehearse.awx_sinks import mail_settings, webhook_settings
from vsphere_twin.controller.jobs import WORKFLOWS, Outcome
from vsphere_twin.controller.objects import NODES
from vsphere_twin.controller.service import Service

ADDRESS = "https://awx.example.org"
EVENTS = ("started", "success", "error", "approvals")


@pytest.fixture
def mails():
    with awx_sinks.mails() as sink:
        yield sink


@pytest.fixture
def hook():
    with awx_sinks.hook() as sink:
        yield sink


class Lab:
    """A workflow: plan, an approval, then site."""

    def __init__(self, folder):
        (folder / "p").mkdir()
        (folder / "p" / "site.yml").write_text("- hosts: all\n")
        self.service = Service(folder, "admin", "p")
        self.objects, self.jobs, self.outcomes = self.service.objects, self.service.jobs, {}
        self.jobs.start, self.jobs.deliver = (lambda work: work()), Sender(ADDRESS)
        self.jobs.execute = lambda job: self.outcomes.get(job["name"], Outcome())
        make = self.objects.create
        self.organization = make("organizations", {"name": "ops"})
        project = make("projects", {"name": "p", "organization": self.organization, "local_path": "p"})
        inventory = make("inventories", {"name": "i", "organization": self.organization})
        self.flow = make(WORKFLOWS, {"name": "flow", "organization": self.organization})
        fields = {"project": project, "inventory": inventory, "playbook": "site.yml"}
        self.plan, site = (make("job_templates", {"name": name, **fields}) for name in ("plan", "site"))
        nodes = []
        for name, template in (("plan", self.plan), ("approval", None), ("site", site)):
            node = {"identifier": name, "workflow_job_template": self.flow, "unified_job_template": template}
            nodes.append(make(NODES, node))
        self.objects.approve_by(nodes[1], {"name": "Approve plan"})
        for one, other in itertools.pairwise(nodes):
            self.objects.link(NODES, one, "success_nodes", {"id": other})

    def notify(self, kind, settings, **more):
        given = {"name": kind, "organization": self.organization, "notification_type": kind, **more}
        number = self.objects.create("notification_templates", {**given, "notification_configuration": settings})
        for event in EVENTS:
            self.objects.link(WORKFLOWS, self.flow, f"notification_templates_{event}", {"id": number})

    def launch(self):
        return self.jobs.launch(WORKFLOWS, self.flow, {})[0]

    def answer(self, approved):
        (waiting,) = [row for row in self.jobs.listed("workflow_approvals") if row["status"] == "pending"]
        self.jobs.answer(waiting["id"], approved, {"id": 1})


@pytest.fixture
def lab(tmp_path):
    return Lab(tmp_path)


def subject(one):
    """A long subject begins on a line of its own."""
    return one["Subject"].strip()


def test_a_mail_reports_the_start_the_approval_and_the_success(lab, mails):
    port, seen = mails
    lab.notify("email", mail_settings(port))
    flow = lab.launch()
    url = f"{ADDRESS}/#/jobs/workflow/{flow['id']}"
    started, waiting = seen
    assert (started["From"], started["To"]) == ("awx@example.org", "a@example.org")
    assert subject(started) == f"Workflow Job #{flow['id']} 'flow' running: {url}"
    first, empty, *data = started.get_content().splitlines()
    assert (first, empty) == (f"Workflow Job #{flow['id']} had status running, view details at {url}", "")
    data = json.loads("".join(data))
    assert (data["name"], data["status"], data["friendly_name"]) == ("flow", "running", "Workflow Job")
    assert subject(waiting) == f"The approval node 'Approve plan' needs review. This node can be viewed at: {url}"
    lab.answer(True)
    assert [subject(one) for one in seen[2:]] == [
        f"The approval node 'Approve plan' was approved. {url}",
        f"Workflow Job #{flow['id']} 'flow' successful: {url}",
    ]


def test_a_webhook_reports_the_denial_and_the_failure(lab, hook):
    url, seen = hook
    lab.notify("webhook", webhook_settings(url))
    flow = lab.launch()
    lab.answer(False)
    assert {(path, header) for path, header, _body in seen} == {("/hook", "training")}
    started, waiting, denied, failed = (body for _path, _header, body in seen)
    assert (started["id"], started["status"]) == (flow["id"], "running")
    assert waiting["body"].startswith("The approval node 'Approve plan' needs review.")
    assert denied["body"].startswith("The approval node 'Approve plan' was denied.")
    assert (failed["id"], failed["status"]) == (flow["id"], "failed")


def test_an_own_message_has_the_artifacts_of_the_job(lab, mails):
    port, seen = mails
    lab.outcomes["plan"] = Outcome(successful=False, artifacts={"aiready_preflight": {"text": "4 checks: 1 block."}})
    text = "{{ job.name }}: {{ job.artifacts.get('aiready_preflight', {}).get('text', '') }}"
    body = "{% if job.failed %}{{ job.status.colour() }}{% endif %}"
    own = {"started": None, "success": None, "error": {"message": text, "body": body}, "workflow_approval": None}
    lab.notify("email", mail_settings(port), messages=own)
    number = lab.objects.linked(WORKFLOWS, lab.flow, "notification_templates_error")[1][0]
    lab.objects.link("job_templates", lab.plan, "notification_templates_error", {"id": number})
    lab.launch()
    assert [(subject(one), one.get_content().strip()) for one in seen if "4 checks" in subject(one)] == [
        ("plan: 4 checks: 1 block.", "")
    ]
