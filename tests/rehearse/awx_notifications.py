"""Send the notifications of the simulated controller by SMTP and webhook, with the texts of AWX.

[sure] where not marked. The default texts of approvals and webhooks are [unsure]: older sources of AWX have them.
"""

from __future__ import annotations

import json
import smtplib
from email.message import EmailMessage
from typing import Any

import requests
from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

FRIENDLY = {"job": "Job", "workflow_job": "Workflow Job", "workflow_approval": "Workflow Approval"}
PAGES = {"job": "playbook", "workflow_job": "workflow", "workflow_approval": "workflow"}
# Status of an approval -> the name of its message.
ANSWERS = {"pending": "running", "successful": "approved", "failed": "denied"}
MESSAGE = "{{ job_friendly_name }} #{{ job.id }} '{{ job.name }}' {{ job.status }}: {{ url }}"
BODY = (
    "{{ job_friendly_name }} #{{ job.id }} had status {{ job.status }}, view details at {{ url }}\n\n{{ job_metadata }}"
)
_NODE = "The approval node '{{ approval_node_name }}'"
APPROVALS = {
    "running": f"{_NODE} needs review. This node can be viewed at: {{{{ workflow_url }}}}",
    "approved": f"{_NODE} was approved. {{{{ workflow_url }}}}",
    "denied": f"{_NODE} was denied. {{{{ workflow_url }}}}",
    "timed_out": f"{_NODE} has timed out. {{{{ workflow_url }}}}",
}
METADATA = ("id", "name", "started", "finished", "status", "inventory", "playbook", "limit", "extra_vars")
TIMEOUT_S = 30


class Sender:
    """Takes the place of Jobs.deliver."""

    def __init__(self, address: str) -> None:
        self._address = address

    def __call__(self, template: dict[str, Any], event: str, job: dict[str, Any]) -> None:
        message, body = self._texts(template, event, job)
        _SENDERS[template["notification_type"]](template["notification_configuration"], message, body)

    def _texts(self, template: dict[str, Any], event: str, job: dict[str, Any]) -> tuple[str, str]:
        """The own text of a notification template, or AWX's."""
        is_mail, own = template["notification_type"] == "email", template.get("messages") or {}
        if event == "approvals":
            answer = "timed_out" if job["timed_out"] else ANSWERS[job["status"]]
            own = (own.get("workflow_approval") or {}).get(answer) or {}
            message = APPROVALS[answer]
            # [unsure: the body of a webhook without an own one]
            body = f"{message}\n\n{{{{ job_metadata }}}}" if is_mail else json.dumps({"body": message})
        else:
            own = own.get(event) or {}
            message, body = MESSAGE, BODY if is_mail else "{{ job_metadata }}"
        names = self._names(job)
        return _rendered(own.get("message") or message, names), _rendered(own.get("body") or body, names)

    def _names(self, job: dict[str, Any]) -> dict[str, Any]:
        number = job.get("workflow_job", job["id"]) if job["type"] == "workflow_approval" else job["id"]
        # [unsure: the path of a workflow in 24.6.1]
        url = f"{self._address}/#/jobs/{PAGES[job['type']]}/{number}"
        about = {**{name: job[name] for name in METADATA if name in job}, "url": url}
        return {
            "job": job,
            "job_friendly_name": FRIENDLY[job["type"]],
            "url": url,
            "workflow_url": url,
            "approval_node_name": job["name"],
            "job_metadata": json.dumps({**about, "friendly_name": FRIENDLY[job["type"]]}, indent=4),
        }


def _rendered(text: str, names: dict[str, Any]) -> str:
    """AWX sends an empty text instead of a broken one."""
    try:
        return ImmutableSandboxedEnvironment().from_string(text).render(names)
    except TemplateError:
        return ""


def _mail(settings: dict[str, Any], subject: str, body: str) -> None:
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = subject, settings["sender"], ", ".join(settings["recipients"])
    mail.set_content(body)
    kind = smtplib.SMTP_SSL if settings["use_ssl"] else smtplib.SMTP
    with kind(settings["host"], settings["port"], timeout=settings.get("timeout", TIMEOUT_S)) as server:
        if settings["use_tls"]:
            server.starttls()
        if settings["username"]:
            server.login(settings["username"], settings["password"])
        server.send_message(mail)


def _webhook(settings: dict[str, Any], _message: str, body: str) -> None:
    """The body as JSON; one that is no dictionary is sent as an empty one. [unsure: read in an older AWX]"""
    try:
        found = json.loads(body)
    except ValueError:
        found = {}
    login = (settings["username"], settings["password"]) if settings.get("username") else None
    answer = requests.request(
        settings["http_method"],
        settings["url"],
        json=found if isinstance(found, dict) else {},
        headers=settings["headers"],
        auth=login,
        verify=not settings["disable_ssl_verification"],
        timeout=TIMEOUT_S,
    )
    answer.raise_for_status()


_SENDERS = {"email": _mail, "webhook": _webhook}
