"""What the role awx reads of the controller: IDs, templates that need no change, and nodes of others."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.answers import (
    ids,
    notification_state,
    unmanaged_nodes,
)

MAIL = {"host": "mail.example.org", "password": "secret", "port": 25}
WANTED = {"name": "operations", "notification_type": "email", "notification_configuration": MAIL, "messages": None}
FOUND = {**WANTED, "id": 3, "notification_configuration": {**MAIL, "password": "$encrypted$"}}


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({}, "exists"),
        ({"name": "others"}, "present"),
        ({"notification_type": "slack"}, "present"),
        ({"messages": {"success": {"message": "done"}}}, "present"),
        ({"notification_configuration": {**FOUND["notification_configuration"], "port": 26}}, "present"),
        ({"notification_configuration": {"host": "mail.example.org", "port": 25}}, "present"),
        ({"notification_configuration": {**MAIL, "password": ""}}, "present"),
    ],
)
def test_a_template_that_differs_in_its_secret_alone_stays(changes, expected):
    assert notification_state(WANTED, [{**FOUND, **changes}]) == expected


def test_a_removed_secret_is_a_change():
    assert notification_state({**WANTED, "notification_configuration": {**MAIL, "password": ""}}, [FOUND]) == "present"


def test_a_new_template_is_a_change():
    assert notification_state(WANTED, []) == "present"


def test_a_new_object_has_its_name_in_check_mode():
    results = [{"item": {"name": "a"}, "id": 7}, {"item": {"name": "b"}, "changed": True}]
    assert ids(results) == {"a": "7", "b": "b"}


def test_nodes_of_this_workflow_that_the_role_did_not_create_are_named():
    rows = [("plan", 1, {"name": "p"}), ("6a0c", 1, {"name": "cleanup"}), ("7b1d", 1, None), ("8c2e", 2, None)]
    nodes = [
        {"identifier": name, "workflow_job_template": of, "summary_fields": {"unified_job_template": template}}
        for name, of, template in rows
    ]
    workflow = {"id": 1, "item": {"simplified_workflow_nodes": [{"identifier": "plan"}]}}
    assert unmanaged_nodes(nodes, workflow) == ["6a0c (cleanup)", "7b1d (no template)"]
