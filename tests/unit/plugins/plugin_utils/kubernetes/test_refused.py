"""Answers of an API server that did not accept an object."""

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.refused import refused

ITEM = {"kind": "ClusterPolicy", "metadata": {"name": "cluster-policy"}}


def result(status, text="Failed to apply object: "):
    return {"item": ITEM, "failed": True, "msg": f"{text}{json.dumps(status)}"}


def test_accepted_objects():
    assert refused([{"item": ITEM, "result": {"kind": "ClusterPolicy"}}]) == []


@pytest.mark.parametrize(
    "status, found, fix",
    [
        pytest.param(
            {
                "reason": "Conflict",
                "message": "Apply failed with 1 conflict",
                "details": {"causes": [{"field": ".spec.driver.version", "message": 'conflict with "helm"'}]},
            },
            '.spec.driver.version: conflict with "helm"',
            "site.kubernetes.force",
            id="conflict",
        ),
        pytest.param(
            {"reason": "Forbidden", "message": "clusterpolicies is forbidden"},
            "is forbidden",
            "whose user",
            id="forbidden",
        ),
        pytest.param(
            {"reason": "Invalid", "message": "spec.gfd: Required value"}, "Required value", "Correct", id="invalid"
        ),
        pytest.param({"message": "boom"}, "boom", "Check the API server", id="other"),
    ],
)
def test_status_of_the_server(status, found, fix):
    (only,) = refused([result(status)])
    assert only.startswith("Cannot apply the ClusterPolicy cluster-policy. The API server reports: ")
    assert found in only
    assert fix in only


@pytest.mark.parametrize("text", ["Connection refused", "{not json", "", "[1]"])
def test_answer_without_a_status(text):
    (only,) = refused([{"item": ITEM, "failed": True, "msg": text}])
    assert (text or "It gave no reason") in only


@pytest.mark.parametrize(
    "message, fix",
    [
        ('admission webhook "p" denied the request: no team', "ask the owner of the webhook"),
        (
            "unable to create new content in namespace a because it is being terminated",
            "Wait until the namespace is gone",
        ),
        (
            'pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1',
            "kubectl describe quota",
        ),
        ('pods "a" is forbidden: failed quota: q: must specify limits.cpu', "kubectl describe quota"),
        (
            'pods "a" is forbidden: violates PodSecurity "restricted:latest": unrestricted capabilities',
            "pod-security.kubernetes.io/enforce=privileged",
        ),
    ],
)
def test_rejection_whose_reason_says_less(message, fix):
    (sentence,) = refused([result({"message": message, "reason": "Forbidden"})])
    assert fix in sentence


def test_a_cause_without_a_field_does_not_hide_the_others():
    rules = {"field": "<nil>", "message": "Invalid value: null: some validation rules were not checked"}
    causes = [{"field": "spec.size", "message": "Required value"}, rules]
    status = {"reason": "Invalid", "details": {"causes": causes}}
    (text,) = refused([{"item": ITEM, "failed": True, "failure": {"status": status}}])
    assert "spec.size: Required value. Correct site.kubernetes" in text
    assert "<nil>" not in text


def test_an_object_that_the_schema_cannot_type_is_a_fault_of_the_site():
    text = 'failed to create typed patch object (/gpu; v1, Kind=X): .spec.list: duplicate entries for key [name="a"]'
    (found,) = refused([{"item": ITEM, "failed": True, "failure": {"status": {"message": text, "code": 500}}}])
    assert found.endswith("Correct site.kubernetes.")
