"""Tokens, their audiences, and the rights of users; the texts are those of kube-apiserver 1.36.2."""

from __future__ import annotations

import dataclasses
import datetime

import pytest

from vsphere_twin.kubernetes import access
from vsphere_twin.kubernetes.cluster import Cluster
from vsphere_twin.kubernetes.service import Service

from .conftest import Client

CORE, RBAC = "/api/v1/namespaces/default", "/apis/rbac.authorization.k8s.io/v1"
ACCOUNTS = f"{CORE}/serviceaccounts"
TOKEN, REVIEW = f"{ACCOUNTS}/runner/token", "/apis/authentication.k8s.io/v1/tokenreviews"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@pytest.fixture(scope="module")
def client():
    found = Client(Service(Cluster(crds=())))
    found.create(ACCOUNTS, {"metadata": {"name": "runner"}})
    for name in ("eve", "bob"):
        found.service.tokens[name] = access.User(name, (access.AUTHENTICATED,))
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    body = {"metadata": {"name": "bob"}, "subjects": [{"kind": "User", "name": "bob"}], "roleRef": role}
    assert found.create(f"{RBAC}/clusterrolebindings", body)[0] == 201
    return found


@pytest.fixture(scope="module")
def eve(client):
    """A user without a role."""
    return Client(client.service, "eve")


def issued(client, **spec):
    return client.create(TOKEN, {"spec": {"boundObjectRef": None, **spec}})[1]["status"]["token"]


def reviewed(client, token, **spec):
    return client.create(REVIEW, {"spec": {"token": token, **spec}})[1]["status"]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_a_token_is_created_and_nothing_else(client, method):
    before = set(client.service.tokens)
    assert client.call(method, TOKEN, {})[0] == 405
    assert set(client.service.tokens) == before


@pytest.mark.parametrize("path", ["pods/x/status", "deployments/x/scale"])
def test_a_subresource_has_its_own_verbs(client, path):
    folder = "/apis/apps/v1/namespaces/default" if path.startswith("dep") else CORE
    assert client.create(f"{folder}/{path}", {})[0] == 405


def test_null_asks_for_the_usual_token(client):
    spec = {"audiences": None, "expirationSeconds": None, "boundObjectRef": None}
    status, made = client.create(TOKEN, {"spec": spec})
    usual = {"audiences": [access.ISSUER], "expirationSeconds": 3600, "boundObjectRef": None}
    assert (status, made["spec"]) == (201, usual)


@pytest.mark.parametrize(
    "spec,status,text",
    [
        ("x", 400, "string into Go struct field TokenRequest.spec of type v1.TokenRequestSpec"),
        (
            {"expirationSeconds": "x"},
            400,
            "string into Go struct field TokenRequestSpec.spec.expirationSeconds of type int64",
        ),
        ({"expirationSeconds": 2**32 + 1}, 422, "4294967297: may not specify a duration larger than 2^32 seconds"),
    ],
)
def test_a_request_for_a_token_is_validated(client, spec, status, text):
    found = client.create(TOKEN, {"spec": spec})
    assert (found[0], found[1]["message"].endswith(text)) == (status, True)


def test_a_token_is_for_its_audiences(client):
    token = issued(client, audiences=["x", "y"])
    assert Client(client.service, token).call("GET", f"{CORE}/pods")[0] == 401
    assert reviewed(client, token, audiences=["y", "z"])["audiences"] == ["y"]
    text = f'token audiences ["x" "y"] is invalid for the target audiences ["{access.ISSUER}"]'
    assert reviewed(client, token) == {"user": {}, "error": f"[invalid bearer token, {text}]"}


def test_a_token_ends(client):
    token = issued(client)
    assert reviewed(client, token)["authenticated"]
    past = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=1)
    client.service.tokens[token] = dataclasses.replace(client.service.tokens[token], until=past)
    assert Client(client.service, token).call("GET", f"{CORE}/pods")[0] == 401
    assert reviewed(client, token)["error"] == "[invalid bearer token, service account token has expired]"


def test_a_token_ends_with_its_account(client):
    client.create(ACCOUNTS, {"metadata": {"name": "gone"}})
    token = client.create(f"{ACCOUNTS}/gone/token", {"spec": {}})[1]["status"]["token"]
    client.call("DELETE", f"{ACCOUNTS}/gone")
    assert reviewed(client, token)["error"] == '[invalid bearer token, serviceaccounts "gone" not found]'
    client.create(ACCOUNTS, {"metadata": {"name": "gone"}})
    assert "does not match claim" in reviewed(client, token)["error"]
    assert Client(client.service, token).call("GET", f"{CORE}/pods")[0] == 401


def test_a_review_needs_a_token(client):
    body = client.create(REVIEW, {"spec": {}})[1]
    assert (body["code"], body["message"]) == (400, "token is required for TokenReview in authentication")


@pytest.mark.parametrize(
    "method,path,text",
    [
        (
            "GET",
            "nopes",
            'nopes.x.org is forbidden: User "eve" cannot list resource "nopes" in API group "x.org" at the cl',
        ),
        (
            "GET",
            "nopes?watch=1",
            'nopes.x.org is forbidden: User "eve" cannot watch resource "nopes" in API group "x.org"',
        ),
        (
            "DELETE",
            "namespaces/q/nopes",
            'cannot deletecollection resource "nopes" in API group "x.org" in the namespace "q"',
        ),
        (
            "PATCH",
            "namespaces/q/nopes/a/status",
            'nopes.x.org "a" is forbidden: User "eve" cannot patch resource "nopes/sta',
        ),
        (
            "PUT",
            "nopes/a",
            'nopes.x.org "a" is forbidden: User "eve" cannot update resource "nopes" in API group "x.org"',
        ),
    ],
)
def test_the_request_for_an_unknown_resource_is_named(eve, method, path, text):
    status, body = eve.call(method, f"/apis/x.org/v1/{path}")
    assert (status, text in body["message"]) == (403, True)


def test_an_unknown_path_is_not_found_with_the_right(client, eve):
    bob, page = Client(client.service, "bob"), b"404 page not found\n"
    for path in ("/apis/x.org/v1/nopes", "/apis/x.org/v1/nopes/a", "/apis/x.org", "/foo"):
        assert bob.call("GET", path) == (404, page)
    for path in ("/api/v1/nopes", "/apis/apps/v1/nopes", f"{CORE}/nopes/a"):
        assert bob.call("GET", path)[1]["message"] == "the server could not find the requested resource"
    assert eve.call("GET", "/apis/x.org") == (404, page)
    assert eve.get("/foo")["message"] == 'forbidden: User "eve" cannot get path "/foo"'


@pytest.mark.parametrize(
    "spec,expected",
    [
        (
            {
                "resourceAttributes": {
                    "verb": "create",
                    "group": "authorization.k8s.io",
                    "resource": REVIEWS.rpartition("/")[2],
                }
            },
            True,
        ),
        (
            {
                "resourceAttributes": {
                    "verb": "get",
                    "group": "authorization.k8s.io",
                    "resource": REVIEWS.rpartition("/")[2],
                }
            },
            False,
        ),
        ({"nonResourceAttributes": {"verb": "get", "path": "/apis/x"}}, True),
        ({"nonResourceAttributes": {"verb": "get", "path": "/metrics"}}, False),
    ],
)
def test_a_review_knows_what_everyone_may(eve, spec, expected):
    assert eve.create(REVIEWS, {"spec": spec})[1]["status"] == {"allowed": expected}


def test_a_rule_without_verbs_is_rejected(client):
    role = {"metadata": {"name": "empty"}, "rules": [{"nonResourceURLs": ["/metrics"]}]}
    status, body = client.create(f"{RBAC}/clusterroles", role)
    assert (status, "rules[0].verbs: Required value: verbs must contain" in body["message"]) == (422, True)


def test_a_custom_resource_may_have_the_plural_of_a_review(client):
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
    names = {"plural": "tokenreviews", "kind": "TokenReview"}
    spec = {"group": "example.com", "names": names, "scope": "Namespaced", "versions": [version]}
    assert client.create(DEFINITIONS, {"metadata": {"name": "tokenreviews.example.com"}, "spec": spec})[0] == 201
    path = "/apis/example.com/v1/namespaces/default/tokenreviews"
    body = {"apiVersion": "example.com/v1", "kind": "TokenReview", "metadata": {"name": "a"}}
    assert client.create(path, body)[0] == 201
    assert "status" not in client.get(f"{path}/a")
