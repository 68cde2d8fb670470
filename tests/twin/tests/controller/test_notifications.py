"""Settings and messages of notifications that the controller accepts or rejects."""

from __future__ import annotations

import pytest

MAIL = {"host": "smtp.example.org", "port": 25, "sender": "a@example.org", "recipients": ["b@example.org"]}
MAIL |= {"use_tls": False, "use_ssl": False, "username": "", "password": ""}
HOOK = {"url": "https://hooks.example.org", "headers": {}}


@pytest.mark.parametrize(
    "kind, settings, words",
    [
        ("email", {}, "Missing required fields for Notification Configuration: ['host', 'port', 'username', "),
        ("email", {**MAIL, "port": "25"}, "Configuration field 'port' incorrect type, expected int."),
        ("email", {**MAIL, "use_tls": "no"}, "Configuration field 'use_tls' incorrect type, expected bool."),
        ("email", {**MAIL, "recipients": []}, "No values specified for field 'recipients'"),
        ("webhook", {"url": "x"}, "Missing required fields for Notification Configuration: ['headers']."),
        ("webhook", {**HOOK, "http_method": "GET"}, "HTTP method must be either 'POST' or 'PUT'."),
        ("webhook", {**HOOK, "headers": "x"}, "Configuration field 'headers' incorrect type, expected object."),
        ("slack", {"token": "x"}, "Missing required fields for Notification Configuration: ['channels']."),
        (
            "grafana",
            {"bogus": 1},
            "Missing required fields for Notification Configuration: ['grafana_url'",
        ),
        ("awssns", {"aws_region": 1}, "Configuration field 'aws_region' incorrect type, expected string."),
        ("irc", {"port": 1}, "Missing required fields for Notification Configuration: ['server', 'nickname', 'passw"),
        (
            "mattermost",
            {},
            "Missing required fields for Notification Configuration: ['mattermost_url'",
        ),
        (
            "pagerduty",
            {},
            "Missing required fields for Notification Configuration: ['subdomain', 'token'",
        ),
        (
            "rocketchat",
            {"rocketchat_url": "x", "rocketchat_no_verify_ssl": "no"},
            "Configuration field 'rocketchat",
        ),
        (
            "twilio",
            {},
            "Missing required fields for Notification Configuration: ['account_sid', 'account_token'",
        ),
    ],
)
def test_settings_of_notifications_that_awx_rejects(client, kind, settings, words):
    organization = client.make("organizations", name="ops")
    fields = {"name": "n", "organization": organization, "notification_type": kind}
    answer = client.refused("notification_templates", **fields, notification_configuration=settings)
    assert answer["__all__"][0].startswith(words)


@pytest.mark.parametrize(
    "messages, words",
    [
        ({"started": {"message": "{{ colour }}"}}, "Field 'colour' unavailable"),
        ({"started": {"message": "{{ job.colour }}"}}, "Field 'colour' unavailable"),
        (
            {"success": {"message": "{{ job.artifacts.aiready_validation.text }}"}},
            "Field 'aiready_validation' unavailable",
        ),
        ({"finished": {}}, "Event 'finished' invalid"),
        ({"started": {"text": "x"}}, "Message type 'text' invalid"),
        ({"started": {"message": "a\nb"}}, "Messages cannot contain newlines"),
        ({"started": {"message": "{{ job"}}, "Unable to render message '{{ job'"),
        ({"workflow_approval": {"asked": {"message": "x"}}}, "Workflow Approval event 'asked' invalid"),
    ],
)
def test_messages_of_notifications_that_awx_rejects(client, messages, words):
    organization = client.make("organizations", name="ops")
    fields = {"name": "n", "organization": organization, "notification_type": "email"}
    answer = client.refused("notification_templates", **fields, notification_configuration=MAIL, messages=messages)
    assert [text.startswith(words) for text in answer["messages"]] == [True]


def test_messages_may_use_artifacts_that_they_test_first(client):
    organization = client.make("organizations", name="ops")
    tested = "{% if job.artifacts.a is defined %}{{ job.artifacts.a.text }}{% endif %}"
    body = "{{ job.artifacts.get('a', {}).get('text', '') }} {{ job.summary_fields.inventory.name }} {{ url | upper }}"
    body += "{% set own %}x{% endset %}{{ own | trim }}"
    fields = {"name": "n", "organization": organization, "notification_type": "email"}
    messages = {"started": {"message": tested, "body": body}, "success": None}
    client.make("notification_templates", **fields, notification_configuration=MAIL, messages=messages)


def test_the_api_hides_every_secret_of_a_type(client):
    organization = client.make("organizations", name="ops")
    settings = {"aws_access_key_id": "id", "aws_secret_access_key": "a", "aws_session_token": "b", "sns_topic_arn": "c"}
    fields = {"name": "n", "organization": organization, "notification_type": "awssns"}
    made = client.make("notification_templates", **fields, notification_configuration=settings)
    shown = client.get(f"notification_templates/{made}/")["notification_configuration"]
    hidden = dict.fromkeys(("aws_secret_access_key", "aws_session_token"), "$encrypted$")
    assert shown == {**settings, "aws_region": "", **hidden}
