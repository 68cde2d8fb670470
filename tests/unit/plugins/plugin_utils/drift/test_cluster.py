# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Rows of the drift table for the objects of a Kubernetes cluster."""

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.drift import recorded
from ansible_collections.aiready.vsphere.plugins.plugin_utils.drift.cluster import cluster
from ansible_collections.aiready.vsphere.plugins.plugin_utils.drift.seen import seen, stages
from ansible_collections.aiready.vsphere.plugins.plugin_utils.drift.table import answer
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.desired import desired, reads, without_content

READ = {"api_version": "nvidia.com/v1", "kind": "ClusterPolicy", "name": "cluster-policy"}


def policy(**spec):
    metadata = {"name": "cluster-policy"}
    return {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": metadata, "spec": spec}


def preview(made, found, *managers, **answer_of):
    entries = [
        {"manager": name, "operation": "Update", "time": at, "fieldsV1": {"f:spec": tree}}
        for name, at, tree in managers
    ]
    there = {**found, "metadata": {**found["metadata"], "managedFields": entries}}
    item = {**READ, "objects": [made]}
    return {"answers": [{"item": item, "api_found": True, "resources": [there], **answer_of}]}


def differing(*args, **more):
    rows = [row for row in cluster(preview(*args, **more)) if row.state != "as requested"]
    return [(row.setting, row.requested, row.found) for row in rows]


@pytest.mark.parametrize(
    "requested, found, rows",
    [
        ({"a": "1"}, {"a": "1", "default": True}, []),
        ({"a": {}}, {}, []),
        ({"a": 1}, {"a": "1"}, []),
        ({"a": True}, {"a": False}, [("spec.a", "true", "false")]),
        ({"a": 1}, {"a": True}, [("spec.a", "1", "true")]),
        ({"a": {"b": "1"}}, {}, [("spec.a.b", "1", "none")]),
        ({"a": ["x"]}, {"a": ["x", "y"]}, [("spec.a", "x", "x, y")]),
        ({"a": [{"name": "x", "value": "1"}]}, {"a": [{"name": "y"}, {"name": "x", "value": "1", "default": 2}]}, []),
        ({"a": [{"key": "x", "effect": "1"}]}, {"a": [{"key": "x", "effect": one} for one in "12"]}, []),
        ({"a": [{"port": 1}]}, {"a": [{"port": 1, "default": 2}]}, []),
        ({"a": [{"name": "x"}]}, {"a": "text"}, [("spec.a", "name: x", "text")]),
        ({"a": []}, {}, []),
    ],
)
def test_only_requested_fields_count(requested, found, rows):
    assert differing(policy(**requested), policy(**found)) == rows


def test_the_last_other_manager_of_the_field_is_named():
    """The time is that of the manager's entry. A name is text of others."""
    tree = {"f:driver": {"f:version": {}}}
    given = (("helm", "2026-01-01T00:00:00Z", tree), ("kube\x1bctl", "2026-02-01T00:00:00Z", tree))
    given += (("later", "2026-03-01T00:00:00Z", {"f:driver": {"f:image": {}}}), ("aiready.vsphere", "2026-04", tree))
    found = preview(policy(driver={"version": "1"}), policy(driver={"version": "2"}), *given)
    stage = {"name": "kubernetes", "state": "ok", "hosts": ["localhost"], "began": "2026-01-15T00:00:00Z", "seconds": 1}
    runs = recorded.known([("first", {"format": 1, "stages": [stage]})])
    reported = answer({"reads_machines": False, "kubernetes": found, "recorded": runs})
    (row,) = reported["rows"]
    assert (row["state"], row["run"]) == ("changed since", "first")
    assert (row["changed_by"], row["changed_at"]) == ("kube\\x1bctl", "2026-02-01T00:00:00Z")
    assert "field set by kube\\x1bctl" in reported["text"]


@pytest.mark.parametrize("entries", [None, "text", ["text"], [{"manager": "x", "fieldsV1": "text"}]])
def test_a_malformed_list_of_managers_names_nobody(entries):
    found = policy(a="2")
    found["metadata"] = {**found["metadata"], "managedFields": entries}
    (row,) = cluster({"answers": [{"item": {**READ, "objects": [policy(a="1")]}, "resources": [found]}]})
    assert (row.changed_by, row.found) == ("", "2")


def test_missing_and_ending_objects_and_kinds_that_are_not_served():
    made = policy(a="1")
    ending = {**made, "metadata": {**made["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    assert differing(made, ending) == [("exists", "true", "is being deleted")]
    assert differing(made, made, resources=[]) == [("exists", "true", "false")]
    (row,) = cluster(preview(made, made, resources=[], api_found=False))
    assert row.why == "The cluster does not serve ClusterPolicy of nvidia.com/v1."


def test_a_read_that_failed_is_unknown_and_does_not_hide_others():
    made = policy(a="1")
    other = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}}
    given = preview(made, made)
    item = {"api_version": "v1", "kind": "Namespace", "objects": [other]}
    given["answers"].append({"item": item, "msg": "namespaces is forbidden"})
    rows = {row.object: row for row in cluster(given)}
    assert rows["ClusterPolicy cluster-policy"].state == "as requested"
    assert rows["Namespace x"].state == "unknown"
    assert "The user of the kubeconfig may not read these objects." in rows["Namespace x"].why
    (row,) = cluster({"why": "Cannot read the cluster."})
    assert (row.object, row.state, row.why) == ("Kubernetes cluster", "unknown", "Cannot read the cluster.")


def test_the_cluster_of_vks_is_compared_in_its_version():
    made = {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "Cluster",
        "metadata": {"name": "gpu", "namespace": "training"},
        "spec": {"topology": {"version": "v1.33.4"}},
    }
    found = {**made, "spec": {"topology": {"version": "v1.34.0"}}}
    answers = [{"item": "v1beta2", "resources": [], "api_found": False}, {"item": "v1beta1", "resources": [found]}]
    classes = [{"item": {"name": "gpu-train"}, "vm_class": {"changes": [{"path": "cpus", "before": 8, "after": 16}]}}]
    given = {"cluster": [made], "clusters": answers, "classes": classes}
    rows = [(row.object, row.setting, row.found) for row in cluster(given)]
    assert rows == [("gpu-train", "cpus", "8"), ("Cluster training/gpu", "spec.topology.version", "v1.34.0")]


@pytest.mark.parametrize(
    "requested, found, drifts",
    [
        ("v1.33.4", "v1.33.4+vmware.1-vkr.1", False),
        ("v1.33", "v1.33.4+vmware.1-vkr.1", False),
        ("v1.33.4", "v1.33.40+vmware.1-vkr.1", True),
        ("v1.33.4", None, True),
    ],
)
def test_a_supervisor_completes_the_version_of_a_cluster(requested, found, drifts):
    made = {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": {"name": "gpu", "namespace": "a"}}
    made["spec"] = {"topology": {"version": requested}}
    there = {**made, "spec": {"topology": {"version": found} if found else {}}}
    rows = list(cluster({"cluster": [made], "clusters": [{"item": "v1beta2", "resources": [there]}]}))
    assert [row.state != "as requested" for row in rows] == [drifts]


def test_each_kind_is_read_once_and_no_content_of_secrets_is_kept():
    made = [policy(), *({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in "ab")]
    found = reads(made)
    assert [{key: one[key] for key in one if key != "objects"} for one in found] == [
        READ,
        {"api_version": "v1", "kind": "Namespace"},
    ]
    assert [one["objects"] for one in found] == [made[:1], made[1:]]
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x", "annotations": {"a": "c2VjcmV0"}}}
    kept = without_content([{"item": {}, "resources": [{**secret, "data": {"token": "c2VjcmV0"}}]}, {"msg": "no"}])
    assert "c2VjcmV0" not in json.dumps(kept)
    assert kept[0]["resources"][0]["metadata"]["name"] == "x"


@pytest.mark.parametrize("token", ["", "token"])
def test_a_missing_token_leaves_out_the_licence(token):
    requested = {
        "nodes": {},
        "gpus": 1,
        "host_driver": "",
        "gpu_operator": {"namespace": "gpu", "policy": "p", "licensed": True, "driver": {"version": "1"}},
    }
    found = desired(requested, [], token, {"name": "login"}, "own")
    names = [one.get("name", "") for one in found["secrets"]]
    assert names[-1 if token else 0] == "login"
    assert len(names) == 2
    assert ("licensingConfig" in json.dumps(found["reads"])) is bool(token)
    rows = list(cluster({"secrets": [{"item": one, "resources": []} for one in found["secrets"]]}))
    assert [row.state for row in rows].count("unknown") == (0 if token else 1)


def test_labels_of_nodes_come_from_the_read_of_the_nodes():
    label = "nvidia.com/mig.config"
    made = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu-01", "labels": {label: "aiready-a100"}}}
    found = {"metadata": {"name": "gpu-01", "labels": {label: "all-disabled"}}}
    answer = {"item": {"api_version": "v1", "kind": "Node", "objects": [made]}, "skipped": True}
    (row,) = cluster({"answers": [answer], "nodes": {"resources": [found]}})
    assert (row.object, row.setting, row.found) == ("Node gpu-01", f"metadata.labels[{label}]", "all-disabled")


def test_a_tag_selects_the_stage():
    assert stages(["kubernetes"]) == ["kubernetes"]
    given = {"localhost": {"kubernetes_preview": {"why": "gone"}, "site": {}}}
    assert seen(given, {}, {}, ["hosts"])["kubernetes"] == {}
    assert seen(given, {}, {}, [])["kubernetes"] == {"why": "gone"}
