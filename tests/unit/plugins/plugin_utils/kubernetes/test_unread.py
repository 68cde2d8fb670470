"""Reasons why a cluster cannot be read."""

from __future__ import annotations

import json

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.unread import is_gone, unread

from house.collection import ROOT


def crashed(text):
    return {"msg": "MODULE FAILURE: see stdout/stderr", "exception": f"Traceback\n  File x\n{text}\n"}


def body(**status):
    return f"HTTP response headers: HTTPHeaderDict({{'Server': 'x'}})\nHTTP response body: {json.dumps(status)}"


@pytest.mark.parametrize(
    "result, cause",
    [
        (crashed(f"401\nReason: Unauthorized\n{body(message='Unauthorized')}"), "rejects the login"),
        (
            crashed("SSLError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed')"),
            "not from the authority",
        ),
        (crashed("Max retries (Caused by NameResolutionError(\"Failed to resolve 'x'\"))"), "cannot resolve the name"),
        (crashed("certificate verify failed: certificate has expired (_ssl.c:1006)"), "has expired"),
        (crashed("certificate verify failed: IP address mismatch, certificate is not valid for"), "not for the server"),
        (crashed("Caused by ProxyError(OSError('Tunnel connection failed: 403 Forbidden'))"), "The proxy"),
        (crashed(f"403\nReason: Forbidden\n{body(message='User system:anonymous cannot')}"), "has no login"),
        (crashed("[Errno 111] Connection refused"), "cannot connect"),
        ({"msg": "Could not create API client: Invalid kube-config file."}, "no usable cluster, user or context"),
        ({"msg": "something else"}, "The API server reports: something else."),
        # Newer releases of ansible-core.
        ({"msg": "Module failed", "module_stderr": "Connection refused"}, "cannot connect"),
    ],
)
def test_cause(result, cause):
    (sentence,) = unread([result, result])
    assert sentence.startswith("Cannot read the cluster. ")
    assert cause in sentence


def test_only_a_cluster_without_an_answer_is_gone():
    for text in ("[Errno 111] Connection refused", "Could not create API client: Invalid kube-config file."):
        assert is_gone(crashed(text))
    untrusted = (
        "HTTPSConnectionPool(host='kube.example.org', port=6443): Max retries exceeded with url: /version (Caused by "
        "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to "
        "get local issuer certificate (_ssl.c:1006)')))"
    )
    for text in ("401\nReason: Unauthorized", "403\nReason: Forbidden", "certificate verify failed", untrusted):
        assert not is_gone(crashed(text))
    assert not is_gone({"resources": []})


def test_missing_right_shows_the_object():
    reported = body(message="nodes is forbidden: User a cannot list", reason="Forbidden")
    text = f"Exception '403\nReason: Forbidden\n{reported}"
    (sentence,) = unread([{"msg": text}])
    assert "The API server reports: nodes is forbidden: User a cannot list." in sentence


def test_success_has_no_reason():
    assert unread([{"resources": [], "api_found": False}, {"skipped": True}]) == []


def tasks(found):
    """The tasks of a file, with those of its blocks."""
    return [one for task in found for one in [task, *tasks(task.get("block") or [])]]


def test_no_task_drops_the_message_that_the_next_one_reports():
    """failed_when drops the message of a module that ends with a traceback (ansible-core 2.19)."""
    dropped = []
    for file in sorted((ROOT / "roles/kubernetes/tasks").glob("*.yml")):
        known = tasks(yaml.safe_load(file.read_text()))
        reported = " ".join(str(one["vars"]) for one in known if "__unread" in (one.get("vars") or {}))
        dropped += [one["name"] for one in known if "failed_when" in one and str(one.get("register")) in reported]
    assert dropped == []
