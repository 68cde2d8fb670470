"""The texts of notifications: AWX accepts them, and they have what the jobs returned."""

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.messages import of_type
from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from vsphere_twin.controller import notifications

OURS = ("email", "webhook", "slack", "mattermost", "rocketchat")
# Names that AWX gives the text of an approval.
APPROVAL = {"approval_node_name": "Approve", "workflow_url": "https://awx/7", "approval_status": "running"}
METADATA = json.dumps({"id": 7, "name": "aiready plan"})


def render(text, artifacts):
    """As AWX 24.6.1 checks a text: an undefined name is an error."""
    names = {
        "job": {"id": 7, "name": "aiready plan", "status": "failed", "artifacts": artifacts},
        "job_friendly_name": "Job",
        "url": "https://awx/7",
        "job_metadata": METADATA,
    }
    return ImmutableSandboxedEnvironment(undefined=StrictUndefined).from_string(text).render({**names, **APPROVAL})


@pytest.mark.parametrize("kind", OURS)
@pytest.mark.parametrize("event", ["success", "error"])
def test_a_text_has_the_summary_of_the_plan_and_the_next_steps(kind, event):
    found = [text for text in of_type(kind)[event].values() if text]
    assert all("\n" not in text for name, text in of_type(kind)[event].items() if name == "message" and text)
    assert any("needs review" not in render(text, {}) for text in found)
    given = {"aiready_approval": {"text": 'a "plan"'}, "aiready_next_steps": {"text": "launch restore"}}
    shown = "".join(render(text, given) for text in found)
    if kind == "webhook":
        shown = json.loads(shown)
        assert shown["job"] == json.loads(METADATA)
        shown = shown["text"]
    assert 'a "plan"\nlaunch restore' in shown


def test_the_text_of_an_approval_uses_the_names_that_awx_gives_it():
    body = of_type("email")["workflow_approval"]["running"]["body"]
    text = ImmutableSandboxedEnvironment(undefined=StrictUndefined).from_string(body)
    assert "needs review: https://awx/7" in text.render({**APPROVAL, "job_metadata": METADATA})


@pytest.mark.parametrize("kind", OURS)
def test_messages_have_every_event_that_awx_adds(kind):
    assert set(of_type(kind)) == {"started", "success", "error", "workflow_approval"}


@pytest.mark.parametrize("kind", OURS)
def test_the_simulated_controller_accepts_the_texts(kind):
    notifications.check_messages(of_type(kind))


def test_other_types_keep_the_texts_of_the_controller():
    assert of_type("pagerduty") is None
