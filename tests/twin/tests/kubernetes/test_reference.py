"""Answers in which the API server once differed from kube-apiserver 1.36.2; the texts are those of the reference."""

from __future__ import annotations

import pytest
import yaml

from vsphere_twin.kubernetes import access
from vsphere_twin.kubernetes.cluster import Cluster
from vsphere_twin.kubernetes.service import Service

from .conftest import Client

CORE, RBAC = "/api/v1/namespaces/default", "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
CLASSES = "/apis/vmoperator.vmware.com/v1alpha6/namespaces/default/virtualmachineclasses"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
MERGE = "application/merge-patch+json"


@pytest.fixture(scope="module")
def client():
    return Client(Service(Cluster(crds=("virtualmachineclasses.vmoperator.vmware.com",))))


@pytest.fixture(scope="module")
def eve(client):
    """A user whose role allows to read and patch ConfigMaps."""
    client.service.tokens["eve"] = access.User("eve", (access.AUTHENTICATED,))
    role = {"metadata": {"name": "r"}, "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["patch"]}]}
    client.create(f"{RBAC}/roles", role)
    binding = {"metadata": {"name": "b"}, "subjects": [{"kind": "User", "name": "eve"}]}
    binding["roleRef"] = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}
    assert client.create(f"{RBAC}/rolebindings", binding)[0] == 201
    return Client(client.service, "eve")


def named(kind, name="x", **rest):
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **rest}


@pytest.mark.parametrize(
    "metadata,field,text",
    [
        ({"labels": {"a": "x y"}}, "metadata.labels", "a valid label must be an empty string or consist of"),
        ({"labels": {"a b": "x"}}, "metadata.labels", "name part must consist of alphanumeric characters"),
        ({"annotations": {"a b": "x"}}, "metadata.annotations", "name part must consist of alphanumeric characters"),
        ({"finalizers": ["nope"]}, "metadata.finalizers[0]", "name is neither a standard finalizer name"),
        ({"name": "a" * 254}, "metadata.name", "must be no more than 253 characters"),
        (
            {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": ""}]},
            "metadata.ownerReferences.uid",
            "not be empty",
        ),
    ],
)
def test_metadata_is_validated(client, metadata, field, text):
    status, body = client.create(f"{CORE}/configmaps", named("ConfigMap", metadata={"name": "x", **metadata}))
    (cause,) = body["details"]["causes"]
    assert (status, cause["field"]) == (422, field)
    assert text in cause["message"]


@pytest.mark.parametrize(
    "query,text",
    [
        ("fieldValidation=Nope", 'fieldValidation: Unsupported value: "Nope": supported values: "", "Ignore", '),
        ("dryRun=Some", 'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]'),
    ],
)
def test_options_are_judged_before_the_body(client, query, text):
    status, body = client.create(f"{CORE}/configmaps?{query}", {})
    assert (status, text in body["message"]) == (422, True)


def test_a_body_replaces_the_options_of_the_query(client):
    client.create(f"{CORE}/configmaps", named("ConfigMap", "query"))
    path = f"{CORE}/configmaps/query"
    status, body = client.call("DELETE", f"{path}?dryRun=All", {"preconditions": {"uid": "other"}})
    text = 'on ConfigMap "query": the UID in the precondition (other) does not match the UID in record'
    assert (status, text in body["message"]) == (409, True)
    assert client.call("DELETE", f"{path}?propagationPolicy=Nope")[0] == 422
    client.call("DELETE", f"{path}?dryRun=All", {"kind": "DeleteOptions", "apiVersion": "v1"})
    assert client.call("GET", path)[0] == 404


def test_a_patch_keeps_the_identity_and_the_finalizers_of_a_deletion(client):
    made = named("ConfigMap", metadata={"name": "held", "finalizers": ["a.example.org/f"]})
    client.create(f"{CORE}/configmaps", made)
    path = f"{CORE}/configmaps/held"
    body = client.call("PATCH", path, {"metadata": {"uid": "other"}}, MERGE)[1]
    assert body["message"].endswith('metadata.uid: Invalid value: "other": field is immutable')
    client.call("DELETE", path)
    more = {"metadata": {"finalizers": ["a.example.org/f", "b.example.org/f"]}}
    assert "no new finalizers can be added" in client.call("PATCH", path, more, MERGE)[1]["message"]
    text = 'object is being deleted: configmaps "held" already exists'
    assert client.create(f"{CORE}/configmaps", made)[1]["message"] == text


def test_a_patch_that_does_not_fit_shows_its_result(client):
    client.create(f"{CORE}/configmaps", named("ConfigMap", "fit"))
    status, body = client.call("PATCH", f"{CORE}/configmaps/fit", {"data": {"a": 1}}, MERGE)
    assert (status, body["details"]["causes"][0]["field"]) == (422, "patch")
    status, body = client.call("PATCH", f"{CORE}/configmaps/fit", [{"op": "no"}], "application/json-patch+json")
    assert (status, body["message"]) == (422, "the server rejected our request due to an error in our request")


@pytest.mark.parametrize(
    "spec,text",
    [
        ({"hardware": {"cpus": "x"}}, ".spec.hardware.cpus: expected numeric (int or float), got &{x}"),
        ({"hardware": []}, ".spec.hardware: expected map, got &{[]}"),
        (
            {"hardware": {"devices": {"vgpuDevices": [{"profileName": "g"}, {"profileName": "g"}]}}},
            '.spec.hardware.devices.vgpuDevices: duplicate entries for key [profileName="g"]',
        ),
    ],
)
def test_an_apply_is_typed_before_it_is_validated(client, spec, text):
    made = {"apiVersion": "vmoperator.vmware.com/v1alpha6", "kind": "VirtualMachineClass", "spec": spec}
    status, body = client.apply(f"{CLASSES}/gpu", {**made, "metadata": {"name": "gpu"}})
    where = "(/gpu; vmoperator.vmware.com/v1alpha6, Kind=VirtualMachineClass)"
    assert (status, body["message"]) == (500, f"failed to create typed patch object {where}: {text}")


def test_a_manager_owns_the_maps_that_it_creates(client):
    made = client.create(f"{CORE}/configmaps", named("ConfigMap", "maps", data={"a": "1"}))[1]
    assert made["metadata"]["managedFields"][0]["fieldsV1"] == {"f:data": {".": {}, "f:a": {}}}


def test_an_apply_that_creates_needs_the_right_to_create(client, eve):
    status, body = eve.apply(f"{CORE}/configmaps/new", named("ConfigMap", "new"))
    assert (status, 'User "eve" cannot create resource "configmaps"' in body["message"]) == (403, True)
    client.create(f"{CORE}/configmaps", named("ConfigMap", "new"))
    assert eve.apply(f"{CORE}/configmaps/new", named("ConfigMap", "new"))[0] == 200


def test_roles_decide_before_a_path_is_unknown(client, eve):
    assert eve.call("GET", "/apis/nope.example.org/v1/nopes")[0] == 403
    assert client.call("GET", "/apis/nope.example.org/v1/nopes")[0] == 404
    text = 'namespaces "default" is forbidden: User "eve" cannot get resource "namespaces" in API group "" '
    assert eve.get("/api/v1/namespaces/default")["message"] == text + 'in the namespace "default"'
    change = {"roleRef": {"name": "other"}}
    assert "cannot change roleRef" in client.call("PATCH", f"{RBAC}/rolebindings/b", change, MERGE)[1]["message"]


def test_a_user_asks_for_its_rights(eve):
    def allowed(verb):
        resource = {"verb": verb, "resource": "configmaps", "namespace": "default"}
        return eve.create(REVIEWS, {"spec": {"resourceAttributes": resource}})[1]["status"]["allowed"]

    assert (allowed("patch"), allowed("create")) == (True, False)
    who = eve.create("/apis/authentication.k8s.io/v1/selfsubjectreviews", {})[1]["status"]["userInfo"]
    assert who == {"username": "eve", "groups": [access.AUTHENTICATED]}


def test_a_token_of_a_service_account_logs_in(client):
    client.create(f"{CORE}/serviceaccounts", named("ServiceAccount", "runner"))
    path = f"{CORE}/serviceaccounts/runner/token"
    made = client.create(path, {"kind": "TokenRequest", "spec": {"expirationSeconds": 600}})[1]
    runner = Client(client.service, made["status"]["token"])
    text = 'User "system:serviceaccount:default:runner" cannot list'
    assert text in runner.get(f"{CORE}/secrets")["message"]
    status, body = client.create(path, {"kind": "TokenRequest", "spec": {"expirationSeconds": 5}})
    assert (status, "may not specify a duration less than 10 minutes" in body["message"]) == (422, True)


@pytest.mark.parametrize(
    "rest,status,text",
    [
        ({"data": {"a": "!!"}}, 400, "illegal base64 data at input byte 0"),
        ({"type": "kubernetes.io/tls"}, 422, "[data[tls.crt]: Required value, data[tls.key]: Required value]"),
        ({"data": {"a/b": "eA=="}}, 422, "a valid config key must consist of"),
        (
            {"type": "kubernetes.io/service-account-token"},
            422,
            "metadata.annotations[kubernetes.io/service-account.name]: Req",
        ),
        ({"type": "kubernetes.io/basic-auth"}, 422, "[data[username]: Required value, data[password]: Required value]"),
    ],
)
def test_the_content_of_a_secret_is_validated(client, rest, status, text):
    answer = client.create(f"{CORE}/secrets", named("Secret", "s", **rest))
    assert (answer[0], text in answer[1]["message"]) == (status, True)


def test_quantities_of_core_kinds_are_text(client):
    container = {"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 1}}}
    made = client.create(f"{CORE}/pods", named("Pod", "p", spec={"containers": [container]}))[1]
    limits = {"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}}
    assert made["spec"]["containers"][0]["resources"] == limits
    assert client.call("GET", f"{CORE}/pods/p/log")[0] == 204
    assert client.create(f"{CORE}/pods", named("Pod", "empty"))[0] == 422


def test_selectors_compare_numbers(client):
    for number in ("1", "2"):
        made = named("ConfigMap", metadata={"name": f"n{number}", "labels": {"n": number}})
        client.create(f"{CORE}/configmaps", made)
    found = client.get(f"{CORE}/configmaps?labelSelector=n%3E1")["items"]
    assert [one["metadata"]["name"] for one in found] == ["n2"]


@pytest.mark.parametrize(
    "kind,part,field",
    [("ConfigMap", {"data": {"a": "x" * (2**20 + 1)}}, "[]"), ("Secret", {"data": {"a": "eHh4" * 349526}}, "data")],
)
def test_data_has_a_limit(client, kind, part, field):
    status, body = client.create(f"{CORE}/{kind.lower()}s", named(kind, "big", **part))
    (cause,) = body["details"]["causes"]
    assert (status, cause["field"], cause["message"]) == (422, field, "Too long: may not be more than 1048576 bytes")


def test_annotations_have_a_limit(client):
    """kubectl apply reaches it, with a large object in its annotation."""
    metadata = {"name": "big", "annotations": {"a": "x" * 2**18}}
    status, body = client.create(f"{CORE}/configmaps", named("ConfigMap", metadata=metadata))
    (cause,) = body["details"]["causes"]
    assert (status, cause["field"]) == (422, "metadata.annotations")
    assert cause["message"] == "Too long: may not be more than 262144 bytes"


def test_a_body_has_a_limit(client):
    status, body = client.create(f"{CORE}/configmaps", named("ConfigMap", "big", data={"a": "x" * 3 * 2**20}))
    assert (status, body["reason"]) == (413, "RequestEntityTooLarge")
    assert body["message"] == "Request entity too large: limit is 3145728"


@pytest.mark.parametrize("name", ["default", "kube-public", "kube-system"])
def test_a_namespace_of_the_server_stays(client, name):
    status, body = client.call("DELETE", f"/api/v1/namespaces/{name}")
    assert (status, body["message"]) == (403, f'namespaces "{name}" is forbidden: this namespace may not be deleted')


def test_an_answer_is_yaml_on_request(client):
    headers = {"Authorization": f"Bearer {client.token}", "Accept": "application/yaml"}
    answer = client.service.handle("GET", "/api/v1/namespaces/default", headers)
    assert answer.content_type == "application/yaml"
    assert yaml.safe_load(answer.body)["metadata"]["name"] == "default"
