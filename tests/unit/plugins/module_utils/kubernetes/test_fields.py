"""Fields of the objects of a cluster."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.kubernetes import fields, noun

LABEL = "nvidia.com/mig.config"
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "a", "uid": "1", "labels": {LABEL: "all-1g.10gb", "pool": "gpu"}},
    "spec": {"taints": [{"key": "x"}], "other": {}},
    "status": {"phase": "x"},
}


def test_a_path_names_each_key():
    found = fields.leaves(NODE)
    assert found == {
        f"metadata.labels[{LABEL}]": "all-1g.10gb",
        "metadata.labels.pool": "gpu",
        "spec.taints": [{"key": "x"}],
    }
    assert [fields.parts(path) for path in found][:2] == [["metadata", "labels", LABEL], ["metadata", "labels", "pool"]]


def test_a_removed_field_takes_empty_parents_along():
    gone = fields.put(NODE, f"metadata.labels[{LABEL}]", None)
    assert gone["metadata"]["labels"] == {"pool": "gpu"}
    assert "labels" not in fields.put(gone, "metadata.labels.pool", None)["metadata"]
    assert fields.put(gone, "spec.a.b", 1)["spec"]["a"] == {"b": 1}
    assert fields.put(gone, "spec.a.b", None) == gone


@pytest.mark.parametrize(
    "owned, subresource, found",
    [
        ({"f:spec": {"f:driver": {}}}, "", ["other"]),
        ({"f:spec": {"f:runPolicy": {"f:suspend": {}}}}, "", []),
        ({"f:metadata": {"f:finalizers": {".": {}, 'v:"x"': {}}}}, "", []),
        ({"f:spec": {"f:driver": {}}}, "status", []),
        ({"f:metadata": {"f:labels": {"f:team": {}}}}, "", ["other"]),
    ],
)
def test_another_manager_counts_only_with_fields_of_users(owned, subresource, found):
    entry = {"manager": "other", "fieldsV1": owned, "subresource": subresource}
    assert fields.others([entry, {"manager": "aiready.vsphere", "fieldsV1": {"f:x": {}}}], "aiready.vsphere") == found


def test_fields_that_others_changed_leave_the_definition():
    definition = {"metadata": {"name": "a"}, "spec": {"a": 1, "b": 2, "c": 3}}
    request = noun.Request(definition, values={"spec.a": None, "spec.b": 7})
    now = noun.State(True, {"spec.a": 1, "spec.b": 2, "spec.c": 9})
    assert noun.before_runs(request, now)["spec"] == {"b": 7}


@pytest.mark.parametrize(
    "definition, state, count",
    [({}, "present", 3), ({"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}}, "absent", 1)],
)
def test_incomplete_parameters_are_named(definition, state, count):
    assert len(noun.check_params({"definition": definition, "state": state})) == count
