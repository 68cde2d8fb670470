"""Bodies in protobuf, which kubectl 1.33 sends for core kinds."""

from __future__ import annotations

import pytest

from vsphere_twin.kubernetes import access

PROTOBUF = "application/vnd.kubernetes.protobuf"
DEFAULT = "/api/v1/namespaces/default"


def field(number, value):
    """A field of a message: text, bytes, or a number."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    data = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2, len(data)]) + data


def body(api_version, kind, raw):
    return b"k8s\0" + field(1, field(1, api_version) + field(2, kind)) + field(2, raw) + field(3, "") + field(4, "")


def metadata(name):
    """Metadata as Go writes it: with the empty fields."""
    return field(1, field(1, name) + field(2, "") + field(3, "default") + field(5, "") + field(8, b""))


def send(client, path, raw, content=PROTOBUF):
    headers = {"Authorization": f"Bearer {client.token}", "Content-Type": content}
    answer = client.service.handle("POST", path, headers, raw)
    return answer.status, answer.body


def test_a_secret_is_created(client):
    raw = metadata("s1") + field(2, field(1, "p") + field(2, b"q")) + field(3, "Opaque")
    status, made = send(client, f"{DEFAULT}/secrets", body("v1", "Secret", raw))
    assert (status, made["data"], made["type"]) == (201, {"p": "cQ=="}, "Opaque")
    assert made["metadata"]["namespace"] == "default"


def test_numbers_lists_and_inline_parts_are_read(client):
    """Zero counts only for a pointer: replicas are 0, and hostNetwork is left out."""
    reference = field(1, field(1, "one")) + field(2, "key")  # the name is in an inline LocalObjectReference
    variable = field(1, "A") + field(2, "") + field(3, field(4, reference))
    limits = field(1, field(1, "cpu") + field(2, field(1, "2")))
    port = field(1, "") + field(2, 0) + field(3, 80) + field(4, "TCP")
    container = field(1, "c") + field(2, "busybox") + field(6, port) + field(7, variable) + field(8, limits)
    labels = field(11, field(1, "app") + field(2, "web"))
    template = field(1, labels) + field(2, field(2, container) + field(11, 0))
    spec = field(1, 0) + field(2, field(1, field(1, "app") + field(2, "web"))) + field(3, template)
    raw = metadata("web") + field(2, spec)
    status, made = send(client, "/apis/apps/v1/namespaces/default/deployments", body("apps/v1", "Deployment", raw))
    (one,) = made["spec"]["template"]["spec"]["containers"]
    assert (status, made["spec"]["replicas"]) == (201, 0)
    assert "hostNetwork" not in made["spec"]["template"]["spec"]
    assert one["env"] == [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "one", "key": "key"}}}]
    assert one["resources"]["limits"] == {"cpu": "2"}
    assert one["ports"] == [{"containerPort": 80, "protocol": "TCP"}]


def test_a_lease_of_a_leader_is_renewed(client):
    """As a program with client-go elects its leader."""
    path = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    seconds, microseconds = bytes([8, 0x80, 0x94, 0xEB, 0xDC, 0x03]), bytes([16, 0xE8, 0x07])  # 1 000 000 000 s, 1 us
    spec = field(1, "one") + field(2, 15) + field(4, seconds + microseconds)
    status, made = send(client, path, body("coordination.k8s.io/v1", "Lease", metadata("leader") + field(2, spec)))
    renewed = {"holderIdentity": "one", "leaseDurationSeconds": 15, "renewTime": "2001-09-09T01:46:40.000001Z"}
    assert (status, made["spec"]) == (201, renewed)
    taken = {**made, "spec": {**renewed, "holderIdentity": "two"}}
    assert [client.call("PUT", f"{path}/leader", taken)[0] for _attempt in range(2)] == [200, 409]


@pytest.mark.parametrize(
    "raw,text",
    [
        (b"{}", "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"),
        (b"k8s\0\x0a\x7f", "unexpected EOF"),
        (
            body("v1", "Secret", field(1, field(8, field(1, "no number")))),
            "proto: a field has a wrong wireType, or a value out of range",
        ),
        (body("v1", "Nope", b""), 'no kind "Nope" is registered for version "v1"'),
    ],
)
def test_a_body_that_is_no_message_is_rejected(client, raw, text):
    status, answer = send(client, f"{DEFAULT}/secrets", raw)
    assert (status, answer["message"]) == (400, text)


def test_a_custom_resource_has_no_protobuf_form(client):
    assert send(client, "/apis/nvidia.com/v1/clusterpolicies", b"k8s\0")[0] == 415


def test_an_impersonated_user_has_only_its_own_rights(client):
    """`kubectl --as` must not get the rights of the administrator."""
    headers = {"Authorization": f"Bearer {client.token}", "Impersonate-User": "bob"}
    answer = client.service.handle("GET", "/api/v1/nodes", headers)
    assert answer.status == 403
    assert 'User "bob" cannot list resource "nodes"' in answer.body["message"]
    client.service.tokens["eve"] = access.User("eve", (access.AUTHENTICATED,))
    answer = client.service.handle("GET", "/api/v1/nodes", {**headers, "Authorization": "Bearer eve"})
    assert 'User "eve" cannot impersonate resource "users" in API group ""' in answer.body["message"]


def test_a_group_of_service_accounts_is_impersonated_only_with_a_role(client):
    client.service.tokens["eve"] = access.User("eve", (access.AUTHENTICATED,))
    rule = {"apiGroups": [""], "resources": ["users"], "verbs": ["impersonate"]}
    client.cluster.create("clusterroles", {"metadata": {"name": "as"}, "rules": [rule]})
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "as"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "eve"}
    binding = {"metadata": {"name": "as"}, "roleRef": reference, "subjects": [subject]}
    client.cluster.create("clusterrolebindings", binding)
    headers = {"Authorization": "Bearer eve", "Content-Type": "application/json", "Impersonate-User": "bob"}
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    assert client.service.handle("POST", path, headers, b"{}").status == 201
    headers["Impersonate-Group"] = "system:serviceaccounts:kube-system"
    answer = client.service.handle("POST", path, headers, b"{}")
    assert answer.status == 403
    assert 'User "eve" cannot impersonate resource "groups"' in answer.body["message"]


def test_the_rules_of_a_user_are_listed(client):
    path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
    status, body = client.create(path, {"spec": {"namespace": "default"}})
    assert (status, body["status"]["resourceRules"][0]["verbs"]) == (201, ["*"])
    assert client.create(path, {"spec": {}})[0] == 400


def test_events_of_an_object_are_selected_as_kubectl_does(client):
    words = "involvedObject.kind=Pod,involvedObject.apiVersion=v1,involvedObject.name=p1"
    assert client.call("GET", f"{DEFAULT}/events?fieldSelector={words}")[0] == 200


def test_kubectl_explain_finds_the_schema(client):
    schemas = client.get("/openapi/v3/api/v1")["components"]["schemas"]
    pod = schemas["io.k8s.api.core.v1.Pod"]
    assert pod["x-kubernetes-group-version-kind"] == [{"group": "", "version": "v1", "kind": "Pod"}]
    assert pod["properties"]["spec"]["properties"]["containers"]["type"] == "array"
    assert client.call("GET", "/openapi/v3/nope")[0] == 404


def test_the_checks_of_health_are_listed(client):
    assert client.get("/readyz?verbose").endswith(b"[+]etcd ok\nreadyz check passed\n")
    assert client.get("/livez/ping") == b"ok"
    assert "/apis/apps/v1" in client.get("/")["paths"]


def test_an_unknown_type_of_answers_is_rejected(client):
    headers = {"Authorization": f"Bearer {client.token}", "Accept": "text/html"}
    answer = client.service.handle("GET", "/api/v1/nodes", headers)
    text = "only the following media types are accepted: application/json, application/yaml"
    assert (answer.status, answer.body["reason"], answer.body["message"]) == (406, "NotAcceptable", text)
