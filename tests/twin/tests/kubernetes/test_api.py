"""The API server without operators: discovery, objects, validation, patches, ownership and access."""

from __future__ import annotations

import base64

import pytest

from vsphere_twin.kubernetes import access, schemas

MAPS = "/api/v1/namespaces/default/configmaps"
POLICIES = "/apis/nvidia.com/v1/clusterpolicies"
JOBS = "/apis/kubeflow.org/v2beta1/namespaces/default/mpijobs"
BLOCKS = (
    "daemonsets",
    "dcgm",
    "dcgmExporter",
    "devicePlugin",
    "driver",
    "gfd",
    "nodeStatusExporter",
    "operator",
    "toolkit",
)


def config(name="one", **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def policy(name="cluster-policy", **spec):
    spec = {**{block: {} for block in BLOCKS}, **spec}
    return {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": name}, "spec": spec}


def test_every_group_and_version_is_discovered(client):
    groups = {one["name"]: [v["version"] for v in one["versions"]] for one in client.get("/apis")["groups"]}
    assert groups["cluster.x-k8s.io"] == ["v1beta2", "v1beta1"]
    assert groups["vmoperator.vmware.com"][0] == "v1alpha6"
    assert groups["nvidia.com"] == ["v1", "v1alpha1"]
    rows = client.get("/apis/nvidia.com/v1")["resources"]
    assert [row["name"] for row in rows] == ["clusterpolicies", "clusterpolicies/status"]
    assert client.get("/version")["gitVersion"] == "v1.33.4"


def test_an_object_is_created_read_and_deleted(client):
    status, made = client.create(MAPS, config(a="1"))
    assert (status, made["data"]) == (201, {"a": "1"})
    assert client.get(f"{MAPS}/one")["metadata"]["uid"] == made["metadata"]["uid"]
    assert client.call("DELETE", f"{MAPS}/one")[1]["status"] == "Success"
    status, body = client.call("GET", f"{MAPS}/one")
    assert (status, body["reason"], body["message"]) == (404, "NotFound", 'configmaps "one" not found')


def test_a_dry_run_validates_and_stores_nothing(client):
    assert client.create(f"{MAPS}?dryRun=All", config())[0] == 201
    assert client.call("GET", f"{MAPS}/one")[0] == 404


def test_a_generated_name_has_five_characters_more(client):
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "part-"}}
    name = client.create(MAPS, body)[1]["metadata"]["name"]
    assert (name[:5], len(name)) == ("part-", 10)


def test_the_same_name_again_is_a_conflict(client):
    client.create(MAPS, config())
    status, body = client.create(MAPS, config())
    assert (status, body["reason"], body["message"]) == (409, "AlreadyExists", 'configmaps "one" already exists')


def test_an_old_version_of_an_object_is_not_stored(client):
    made = client.create(MAPS, config(a="1"))[1]
    client.call("PUT", f"{MAPS}/one", {**made, "data": {"a": "2"}})
    status, body = client.call("PUT", f"{MAPS}/one", {**made, "data": {"a": "3"}})
    assert (status, body["reason"]) == (409, "Conflict")
    assert "please apply your changes to the latest version and try again" in body["message"]


def test_an_object_needs_its_namespace(client):
    status, body = client.create("/api/v1/namespaces/gone/configmaps", config())
    assert (status, body["message"]) == (404, 'namespaces "gone" not found')


def test_missing_fields_are_rejected_by_their_paths(client):
    body = policy()
    del body["spec"]["gfd"]
    status, body = client.create(POLICIES, body)
    assert (status, body["reason"]) == (422, "Invalid")
    assert body["message"] == 'ClusterPolicy.nvidia.com "cluster-policy" is invalid: spec.gfd: Required value'
    assert body["details"]["causes"] == [
        {"reason": "FieldValueRequired", "message": "Required value", "field": "spec.gfd"}
    ]


def test_an_unknown_field_is_pruned_with_a_warning(client):
    status, made = client.create(POLICIES, policy(driver={"licencingConfig": {}}))
    assert (status, made["spec"]["driver"].get("licencingConfig")) == (201, None)
    assert client.answer.headers["Warning"] == '299 - "unknown field \\"spec.driver.licencingConfig\\""'


def test_elements_below_a_preserved_field_keep_their_fields():
    opened = {"x-kubernetes-preserve-unknown-fields": True}
    schema = {"properties": {"value": opened, "plain": {"items": {"properties": {"a": {}}}}}}
    made = {"value": [{"name": "x", "inner": [{"y": 1}]}], "plain": [{"a": 1, "b": 2}]}
    assert schemas.prune(schema, made) == ["plain[0].b"]
    assert made == {"value": [{"name": "x", "inner": [{"y": 1}]}], "plain": [{"a": 1}]}


def test_an_unknown_field_is_rejected_by_strict_validation(client):
    status, body = client.create(f"{POLICIES}?fieldValidation=Strict", policy(drivers={}))
    text = 'ClusterPolicy in version "v1" cannot be handled as a ClusterPolicy: '
    text += 'strict decoding error: unknown field "spec.drivers"'
    assert (status, body["reason"], body["message"]) == (400, "BadRequest", text)


def test_an_unknown_field_of_a_pod_is_rejected_by_strict_validation(client):
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    pod["spec"]["nodeSelektor"] = {}
    status, body = client.create("/api/v1/namespaces/default/pods?fieldValidation=Strict", pod)
    assert (status, body["message"].rpartition(": ")[2]) == (400, 'unknown field "spec.nodeSelektor"')


def test_the_defaults_of_a_custom_resource_are_filled_in(client):
    spec = client.create(POLICIES, policy(cdi={}))[1]["spec"]
    assert spec["cdi"] == {"enabled": True, "default": False, "nriPluginEnabled": False}
    assert spec["driver"]["kernelModuleType"] == "auto"


def test_two_equal_vgpus_are_duplicates_of_a_vm_class(client):
    devices = {"vgpuDevices": [{"profileName": "grid_a100-40c"}, {"profileName": "grid_a100-40c"}]}
    body = {"apiVersion": "vmoperator.vmware.com/v1alpha5", "kind": "VirtualMachineClass", "metadata": {"name": "gpu"}}
    body["spec"] = {"hardware": {"cpus": 8, "memory": "64Gi", "devices": devices}}
    status, body = client.create("/apis/vmoperator.vmware.com/v1alpha5/namespaces/default/virtualmachineclasses", body)
    text = 'spec.hardware.devices.vgpuDevices[1]: Duplicate value: {"profileName":"grid_a100-40c"}'
    assert (status, body["message"].partition(" is invalid: ")[2]) == (422, text)


@pytest.mark.parametrize(
    "content,patch,expected",
    [
        ("application/merge-patch+json", {"data": {"a": None, "b": "2"}}, {"b": "2", "c": "3"}),
        ("application/strategic-merge-patch+json", {"data": {"a": "9"}}, {"a": "9", "c": "3"}),
        ("application/json-patch+json", [{"op": "remove", "path": "/data/a"}], {"c": "3"}),
    ],
)
def test_patches_change_an_object(client, content, patch, expected):
    client.create(MAPS, config(a="1", c="3"))
    status, body = client.call("PATCH", f"{MAPS}/one", patch, content)
    assert (status, body["data"]) == (200, expected)


def test_a_custom_resource_takes_no_strategic_patch(client):
    client.create(POLICIES, policy())
    kind = "application/strategic-merge-patch+json"
    status, body = client.call("PATCH", f"{POLICIES}/cluster-policy", {"spec": {}}, kind)
    assert (status, body["reason"]) == (415, "UnsupportedMediaType")


def test_an_apply_again_changes_nothing(client):
    first = client.apply(f"{MAPS}/one", config(a="1"))
    second = client.apply(f"{MAPS}/one", config(a="1"))
    assert (first[0], second) == (201, (200, first[1]))
    owners = first[1]["metadata"]["managedFields"]
    assert [(one["manager"], one["operation"], one["fieldsV1"]) for one in owners] == [
        ("me", "Apply", {"f:data": {"f:a": {}}})
    ]


def test_an_apply_removes_what_its_manager_no_longer_applies(client):
    client.apply(f"{MAPS}/one", config(a="1", b="2"))
    client.call("PATCH", f"{MAPS}/one", {"data": {"c": "3"}}, "application/merge-patch+json")
    assert client.apply(f"{MAPS}/one", config(a="1"))[1]["data"] == {"a": "1", "c": "3"}


def test_an_apply_of_a_field_of_another_manager_is_a_conflict(client):
    client.apply(f"{MAPS}/one", config(a="1"))
    status, body = client.apply(f"{MAPS}/one", config(a="2"), "you")
    assert (status, body["message"]) == (409, 'Apply failed with 1 conflict: conflict with "me": .data.a')
    assert body["details"]["causes"] == [
        {"reason": "FieldManagerConflict", "message": 'conflict with "me"', "field": ".data.a"}
    ]


def test_a_forced_apply_takes_the_field_over(client):
    client.apply(f"{MAPS}/one", config(a="1"))
    status, body = client.apply(f"{MAPS}/one", config(a="2"), "you", force="true")
    owners = [one["manager"] for one in body["metadata"]["managedFields"]]
    assert (status, body["data"], owners) == (200, {"a": "2"}, ["you"])


def test_conflicts_with_an_update_name_its_version(client):
    client.create(MAPS, config(a="1", b="1"))
    body = client.apply(f"{MAPS}/one", config(a="2", b="2"))[1]
    assert body["message"] == 'Apply failed with 2 conflicts: conflicts with "test" using v1:\n- .data.a\n- .data.b'


def test_an_apply_of_an_undeclared_field_is_an_error_of_the_server(client):
    status, body = client.apply(f"{POLICIES}/cluster-policy", policy(drivers={}))
    text = "failed to create typed patch object (/cluster-policy; nvidia.com/v1, Kind=ClusterPolicy): "
    assert (status, body["message"]) == (500, text + ".spec.drivers: field not declared in schema")


def test_an_apply_merges_lists_by_their_keys(client):
    job = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}
    path = "/api/v1/namespaces/default/services/s"
    client.apply(path, {**job, "spec": {"ports": [{"port": 80, "protocol": "TCP"}]}}, "a")
    body = client.apply(path, {**job, "spec": {"ports": [{"port": 81, "protocol": "TCP"}]}}, "b")[1]
    assert [one["port"] for one in body["spec"]["ports"]] == [80, 81]
    body = client.apply(path, {**job, "spec": {"selector": {"a": "b"}}}, "a")[1]
    assert [one["port"] for one in body["spec"]["ports"]] == [81]


def test_selectors_and_pages_of_a_list(client):
    for name in ("a", "b", "c"):
        body = config(name)
        body["metadata"]["labels"] = {"part": name}
        client.create(MAPS, body)
    found = client.get(f"{MAPS}?labelSelector=part%20in%20(a,c)")["items"]
    assert [one["metadata"]["name"] for one in found] == ["a", "c"]
    found = client.get(f"{MAPS}?fieldSelector=metadata.name=b")["items"]
    assert [one["metadata"]["name"] for one in found] == ["b"]
    page = client.get(f"{MAPS}?limit=2&labelSelector=part")
    assert "remainingItemCount" not in page["metadata"]
    assert client.get(f"{MAPS}?limit=3")["metadata"]["remainingItemCount"] == 1
    rest = client.get(f"{MAPS}?limit=2&labelSelector=part&continue={page['metadata']['continue']}")
    assert [one["metadata"]["name"] for one in rest["items"]] == ["c"]


def test_a_field_without_an_index_cannot_be_selected(client):
    status, body = client.call("GET", f"{MAPS}?fieldSelector=data.a=1")
    assert (status, body["message"]) == (
        400,
        '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
    )


def test_the_generation_counts_changes_of_the_spec_alone(client):
    client.create(POLICIES, policy())
    merge = "application/merge-patch+json"
    labels = client.call("PATCH", f"{POLICIES}/cluster-policy", {"metadata": {"labels": {"a": "b"}}}, merge)[1]
    spec = client.call("PATCH", f"{POLICIES}/cluster-policy", {"spec": {"cdi": {"enabled": False}}}, merge)[1]
    assert (labels["metadata"]["generation"], spec["metadata"]["generation"]) == (1, 2)


def test_the_status_is_written_by_its_subresource_alone(client):
    made = client.create(POLICIES, {**policy(), "status": {"state": "ready", "namespace": "x"}})[1]
    assert "status" not in made
    path, merge = f"{POLICIES}/cluster-policy/status", "application/merge-patch+json"
    patch = {"status": {"state": "ready", "namespace": "x"}, "spec": {"cdi": {}}}
    made = client.call("PATCH", path, patch, merge)[1]
    assert (made["status"]["state"], "cdi" in made["spec"]) == ("ready", False)


def test_a_finalizer_holds_an_object(client):
    body = config()
    body["metadata"]["finalizers"] = ["test/hold"]
    client.create(MAPS, body)
    assert "deletionTimestamp" in client.call("DELETE", f"{MAPS}/one")[1]["metadata"]
    client.call("PATCH", f"{MAPS}/one", {"metadata": {"finalizers": None}}, "application/merge-patch+json")
    assert client.call("GET", f"{MAPS}/one")[0] == 404


def test_text_of_a_secret_is_stored_as_data(client):
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"gridd.conf": "x"}}
    made = client.create("/api/v1/namespaces/default/secrets", body)[1]
    assert (made["data"], made["type"]) == ({"gridd.conf": base64.b64encode(b"x").decode()}, "Opaque")


def test_versions_of_a_cluster_are_converted(client):
    body = {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster", "metadata": {"name": "c"}}
    body["spec"] = {"topology": {"class": "builtin", "version": "v1.33.4"}}
    path = "/apis/cluster.x-k8s.io/{}/namespaces/default/clusters"
    client.create(path.format("v1beta1"), body)
    text = "cluster.x-k8s.io/v1beta1 Cluster is deprecated; use cluster.x-k8s.io/v1beta2 Cluster"
    assert client.answer.headers["Warning"] == f'299 - "{text}"'
    assert client.get(path.format("v1beta2") + "/c")["spec"]["topology"]["classRef"] == {"name": "builtin"}
    assert client.get(path.format("v1beta1") + "/c")["spec"]["topology"]["class"] == "builtin"


def test_the_schemas_of_custom_resources_can_be_read(client):
    crd = client.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/trainjobs.trainer.kubeflow.org")
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    assert {"runtimePatches", "podTemplateOverrides"} & set(spec) == {"runtimePatches"}


def test_a_deleted_definition_ends_its_kind(client):
    client.call("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/mpijobs.kubeflow.org")
    assert client.call("GET", JOBS) == (404, b"404 page not found\n")


def test_an_unknown_token_is_unauthorized(client):
    client.token = "other"
    assert client.call("GET", MAPS)[1]["reason"] == "Unauthorized"


def test_a_user_may_do_what_a_role_allows(client):
    client.service.tokens["t"] = access.User("eve", ("system:authenticated",))
    subjects = [{"kind": "User", "name": "eve"}]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    client.cluster.create("rolebindings", {"metadata": {"name": "b"}, "subjects": subjects, "roleRef": role}, "default")
    client.token = "t"
    assert client.call("GET", MAPS)[0] == 200
    status, body = client.create(MAPS, config())
    text = 'configmaps is forbidden: User "eve" cannot create resource "configmaps" in API group "" '
    text += 'in the namespace "default"'
    assert (status, body["reason"], body["message"]) == (403, "Forbidden", text)
