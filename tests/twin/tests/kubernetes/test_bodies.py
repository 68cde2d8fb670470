"""Bodies and options that do not fit; the texts are those of kube-apiserver 1.36.2."""

from __future__ import annotations

import base64

import pytest

from vsphere_twin.kubernetes import unmarshal
from vsphere_twin.kubernetes.cluster import Cluster
from vsphere_twin.kubernetes.service import Service

from .conftest import Client

CORE, MAPS = "/api/v1/namespaces/default", "/api/v1/namespaces/default/configmaps"
APPS, RBAC = "/apis/apps/v1/namespaces/default", "/apis/rbac.authorization.k8s.io/v1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
MERGE = "application/merge-patch+json"


@pytest.fixture(scope="module")
def client():
    return Client(Service(Cluster(crds=())))


def named(kind, name="x", **rest):
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **rest}


def answer(found):
    """(status, message) of an error."""
    return found[0], found[1]["message"]


@pytest.mark.parametrize(
    "metadata,given,where",
    [
        ("x", "string", "ConfigMap.metadata of type v1.ObjectMeta"),
        ({"name": 5}, "number", "ObjectMeta.metadata.name of type string"),
        ({"name": "x", "labels": ["x"]}, "array", "ObjectMeta.metadata.labels of type map[string]string"),
        ({"name": "x", "finalizers": [1]}, "number", "ObjectMeta.metadata.finalizers of type string"),
        (
            {"name": "x", "ownerReferences": ["x"]},
            "string",
            "ObjectMeta.metadata.ownerReferences of type v1.OwnerReference",
        ),
        (
            {"name": "x", "ownerReferences": [{"controller": "x"}]},
            "string",
            "OwnerReference.metadata.ownerReferences.controller of type bool",
        ),
    ],
)
def test_metadata_of_another_type_is_named(client, metadata, given, where):
    text = f'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal {given}'
    found = client.create(MAPS, {"metadata": metadata})
    assert answer(found) == (400, f"{text} into Go struct field {where}")


def test_a_body_that_is_no_object_is_rejected(client):
    status, text = answer(client.create(MAPS, [1]))
    start = (
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: "
    )
    assert (status, text.partition("json: cannot unmarshal array")[0], text[-8:]) == (400, start, "(5b315d)")
    text = 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required'
    assert answer(client.create(MAPS, {"metadata": None})) == (422, text)


@pytest.mark.parametrize(
    "path,body,status,text",
    [
        (
            f"{APPS}/deployments",
            {"metadata": {"name": "x"}},
            422,
            "[spec.selector: Required value, spec.template.metadata",
        ),
        (
            f"{APPS}/daemonsets",
            {"metadata": {"name": "x"}},
            422,
            "[spec.template.metadata.labels: Invalid value: null: `sel",
        ),
        (
            f"{CORE}/services",
            named("Service", spec={"ports": [{"name": "a"}]}),
            422,
            "[spec.ports[0].port: Invalid value: 0: ",
        ),
        (f"{CORE}/services", named("Service"), 422, "spec.ports: Required value"),
        (
            f"{CORE}/services",
            named("Service", "my.svc", spec={"ports": [{"port": 1}]}),
            422,
            '"my.svc": must not contain dots',
        ),
        (f"{CORE}/pods", named("Pod", spec={"containers": [None]}), 422, "spec.containers[0].name: Required value"),
        (
            DEFINITIONS,
            {"metadata": {"name": "as.b.c"}, "spec": {}},
            422,
            "spec.scope: Required value, spec.versions: Inval",
        ),
        (
            DEFINITIONS,
            {"metadata": {"name": "as.b.c"}, "spec": {"names": "x"}},
            400,
            "CustomResourceDefinitionSpec.spec.names",
        ),
        (REVIEWS, {"spec": {"resourceAttributes": "x"}}, 400, "spec.resourceAttributes of type v1.ResourceAttributes"),
        (REVIEWS, {"spec": {}}, 422, '.authorization.k8s.io "" is invalid: spec.resourceAttributes: '),
    ],
)
def test_parts_that_are_missing_or_of_another_type_are_named(client, path, body, status, text):
    found = answer(client.create(path, body))
    assert (found[0], text in found[1]) == (status, True), found


def test_a_binding_keeps_its_role(client):
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    path = f"{RBAC}/clusterrolebindings"
    client.create(path, {"metadata": {"name": "b"}, "roleRef": role})
    status, text = answer(client.call("PUT", f"{path}/b", {"metadata": {"name": "b"}}))
    rest = (
        'roleRef.kind: Unsupported value: "": supported values: "ClusterRole", roleRef.name: Required value, roleRef: '
    )
    assert (status, rest in text, text.endswith('"Kind":"","Name":""}: cannot change roleRef]')) == (422, True, True)


@pytest.mark.parametrize(
    "query,status,text",
    [
        ("continue=e30=", 400, "invalid continue token: continue key is not valid"),
        ("watch=1&timeoutSeconds=abc", 400, 'strconv.ParseInt: parsing "abc": invalid syntax'),
        ("timeoutSeconds=1.5", 400, 'strconv.ParseInt: parsing "1.5": invalid syntax'),
    ],
)
def test_options_of_a_list_are_judged(client, query, status, text):
    assert answer(client.call("GET", f"{MAPS}?{query}")) == (status, text)


@pytest.mark.parametrize(
    "options,text",
    [
        ({"dryRun": [{}]}, "object into Go struct field DeleteOptions.dryRun of type string"),
        (
            {"preconditions": {"uid": 5}},
            "number into Go struct field Preconditions.preconditions.uid of type types.UID",
        ),
    ],
)
def test_options_of_a_deletion_have_types(client, options, text):
    assert answer(client.call("DELETE", f"{MAPS}/x", options)) == (400, f"json: cannot unmarshal {text}")


@pytest.mark.parametrize(
    "body,status,text",
    [
        ({"metadata": {"name": "x", "foo": "bar"}}, 500, ".metadata.foo: field not declared in schema"),
        (
            {"metadata": {"labels": {"a": 1}}},
            500,
            ".metadata.labels.a: expected string, got &value.valueUnstructured{Value:1}",
        ),
        (
            {"metadata": {"finalizers": [1]}},
            500,
            ".metadata.finalizers[=1]: expected string, got &value.valueUnstructured{",
        ),
        (
            {"metadata": {"ownerReferences": [{"uid": "u", "foo": 1}]}},
            500,
            '.ownerReferences[uid="u"].foo: field not declared',
        ),
        (
            {"metadata": {"ownerReferences": ["x"]}},
            500,
            "element 0: associative list with keys may not have non-map elements",
        ),
        ({"apiVersion": None}, 400, "invalid object type: /, Kind=ConfigMap"),
        (
            [1],
            400,
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go",
        ),
    ],
)
def test_an_apply_is_typed_with_its_metadata(client, body, status, text):
    given = {"apiVersion": "v1", "kind": "ConfigMap", **body} if isinstance(body, dict) else body
    found = answer(client.apply(f"{MAPS}/x", given))
    assert (found[0], text in found[1]) == (status, True), found


def test_an_apply_needs_no_metadata_and_lists_need_objects(client):
    assert client.apply(f"{MAPS}/bare", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": None})[0] == 201
    pod = named("Pod", spec={"containers": ["nginx"]})
    assert answer(client.apply(f"{CORE}/pods/x", pod))[1].endswith("keys may not have non-map elements")


def test_an_update_names_its_object(client):
    client.create(MAPS, named("ConfigMap", "named"))
    text = "the name of the object (named based on URL) was undeterminable: name must be provided"
    assert answer(client.call("PATCH", f"{MAPS}/named", {"metadata": None}, MERGE)) == (400, text)
    text = "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"
    assert answer(client.call("PATCH", f"{MAPS}/named", [1], MERGE)) == (400, text)


def test_a_patch_of_a_list_with_items_of_another_type_is_rejected(client):
    client.create(f"{CORE}/services", named("Service", "s", spec={"ports": [{"port": 80}]}))
    strategic = "application/strategic-merge-patch+json"
    status, body = client.call("PATCH", f"{CORE}/services/s", {"spec": {"ports": ["x"]}}, strategic)
    text = "json: cannot unmarshal string into Go struct field ServiceSpec.spec.ports of type v1.ServicePort"
    assert (status, body["message"].endswith(text)) == (422, True)


@pytest.mark.parametrize(
    "rest,field,text",
    [
        ({"data": {"..": "x"}}, "data[..]", "must not be '..'"),
        ({"data": {"..a": "x"}}, "data[..a]", "must not start with '..'"),
        ({"binaryData": {"a/b": "eA=="}}, "binaryData[a/b]", "a valid config key must consist of"),
        ({"data": {"a": "x"}, "binaryData": {"a": "eA=="}}, "data[a]", "duplicate of key present in binaryData"),
    ],
)
def test_keys_of_data_are_names_of_files(client, rest, field, text):
    status, body = client.create(MAPS, named("ConfigMap", "data", **rest))
    (cause,) = body["details"]["causes"]
    assert (status, cause["field"], text in cause["message"]) == (422, field, True)


@pytest.mark.parametrize(
    "owners,text",
    [
        ([{"kind": "Pod", "name": "p", "uid": "u"}], "metadata.ownerReferences.apiVersion: Invalid value: "),
        (
            [{"apiVersion": "v1", "kind": "Pod", "name": name, "uid": name, "controller": True} for name in "pq"],
            'Only one reference can have Controller set to true. Found "true" in references for Pod/p and Pod/q',
        ),
    ],
)
def test_owners_have_a_version_and_one_of_them_controls(client, owners, text):
    status, body = client.create(MAPS, {"metadata": {"name": "owned", "ownerReferences": owners}})
    assert (status, text in body["message"]) == (422, True)


@pytest.mark.parametrize("name", [".", ".."])
def test_a_role_is_no_folder(client, name):
    status, text = answer(client.create(f"{RBAC}/clusterroles", {"metadata": {"name": name}}))
    assert (status, text.endswith(f"may not be '{name}'")) == (422, True)


@pytest.mark.parametrize("text,at", [("=aaa", 0), ("a=aa", 1), ("zz=", 3), ("aaaa=", 4), ("aa==aaaa", 4), ("aaaaa", 4)])
def test_base64_ends_with_its_padding(text, at):
    assert unmarshal.illegal_base64(text) == at
    assert unmarshal.illegal_base64("e3\r\n0=\n") is None


def test_line_breaks_of_base64_are_not_stored(client):
    made = client.create(f"{CORE}/secrets", named("Secret", "s", data={"a": "e3\n0="}))[1]
    assert made["data"] == {"a": "e30="}


@pytest.mark.parametrize(
    "value,text", [("x", "invalid character 'x' looking for"), ("[]", "cannot unmarshal array"), ("", "end")]
)
def test_the_login_of_a_registry_is_json(client, value, text):
    data = {".dockerconfigjson": base64.b64encode(value.encode()).decode()}
    body = client.create(f"{CORE}/secrets", named("Secret", "r", type="kubernetes.io/dockerconfigjson", data=data))[1]
    assert body["message"].startswith(
        'Secret "r" is invalid: data[.dockerconfigjson]: Invalid value: "<secret contents reda'
    )
    assert text in body["message"]


def test_an_error_of_the_server_is_an_answer(client, caplog):
    def broken(_kind, _new, _old):
        raise KeyError("spec")

    client.cluster.admission.append(lambda _cluster, *rest: broken(*rest))
    try:
        status, body = client.create(MAPS, named("ConfigMap", "broken"))
    finally:
        client.cluster.admission.clear()
    assert (status, body["reason"], body["message"]) == (
        500,
        "InternalError",
        "Internal error occurred: KeyError: 'spec'",
    )
    assert "POST /api/v1/namespaces/default/configmaps failed." in caplog.text


def test_the_deletion_of_a_collection_has_options(client):
    client.create(MAPS, {"metadata": {"name": "kept", "labels": {"part": "kept"}}})
    path = f"{MAPS}?labelSelector=part=kept"
    assert client.call("DELETE", path, {"dryRun": ["All"]})[0] == 200
    assert client.call("DELETE", path, {"preconditions": {"uid": "other"}})[0] == 409
    assert client.call("DELETE", path, {"propagationPolicy": "Nope"})[0] == 422
    assert client.call("GET", f"{MAPS}/kept")[0] == 200
    assert client.call("DELETE", path, {"preconditions": None})[0] == 200
    assert client.call("GET", f"{MAPS}/kept")[0] == 404
