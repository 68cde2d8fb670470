"""What only OpenShift needs: permission for the pods of the training, and node feature discovery."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import checks, openshift, schema
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.plan import plan

from unit.plugins.plugin_utils.kubernetes.clusters import before, node, requested, site
from unit.plugins.plugin_utils.kubernetes.test_job import DEFINITIONS, HOROVOD, NAMESPACES, TORCH, with_training

LABEL = {"node.openshift.io/os_id": "rhel"}
FEATURES = {"features": [{"metadata": {"name": "nfd-instance"}}]}
ACCOUNT = "aiready-training"
# openshift/api, security/v1: required fields, and the fields that have another type than a flag.
LISTS = (
    "allowedCapabilities",
    "defaultAddCapabilities",
    "requiredDropCapabilities",
    "volumes",
    "users",
    "groups",
)
HOST = ("DirVolumePlugin", "IPC", "Network", "PID", "Ports")
FLAGS = (*(f"allowHost{name}" for name in HOST), "allowPrivilegedContainer", "readOnlyRootFilesystem")
STRATEGIES = ("fsGroup", "runAsUser", "seLinuxContext", "supplementalGroups")
CONSTRAINT = {
    "type": "object",
    "required": [*FLAGS, *LISTS[:4], "priority"],
    "properties": {
        **{name: {"type": "string"} for name in ("apiVersion", "kind")},
        "metadata": {"type": "object"},
        "priority": {"type": "integer", "nullable": True},
        **{name: {"type": "boolean"} for name in FLAGS},
        **{name: {"type": "array", "items": {"type": "string"}} for name in LISTS},
        **{name: {"type": "object", "properties": {"type": {"type": "string"}}} for name in STRATEGIES},
    },
}


def planned(training, **seen):
    found = {"definitions": DEFINITIONS, "namespaces": NAMESPACES, "nodes": [node(labels=LABEL)], **FEATURES, **seen}
    return plan(requested(with_training(training)), before(**found))


def test_constraint_fits_its_schema_and_allows_only_locked_memory():
    account, constraint = openshift.objects("aiready")
    assert list(schema.problems(CONSTRAINT, constraint)) == []
    assert constraint["allowedCapabilities"] == ["IPC_LOCK"]
    assert [key for key in FLAGS if constraint[key]] == []
    assert constraint["users"] == [f"system:serviceaccount:aiready:{account['metadata']['name']}"]


def test_namespaces_have_constraints_of_their_own():
    names = {openshift.objects(name)[1]["metadata"]["name"] for name in ("aiready", "other")}
    assert len(names) == 2


def test_pods_of_an_mpijob_use_the_account():
    made = planned(HOROVOD)
    assert made["problems"] == []
    assert [one["kind"] for one in made["permissions"]] == ["ServiceAccount", "SecurityContextConstraints"]
    for replica in made["training"][-1]["spec"]["mpiReplicaSpecs"].values():
        assert replica["template"]["spec"]["serviceAccountName"] == ACCOUNT


def test_pods_of_a_trainjob_use_the_account():
    made = planned(TORCH)
    (patch,) = made["training"][-1]["spec"]["runtimePatches"]
    (job,) = patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    assert (made["problems"], job["template"]["spec"]["template"]["spec"]["serviceAccountName"]) == ([], ACCOUNT)


def test_pods_of_checks_use_the_account():
    request = requested(site(checks={"image": "images.example.org/cuda:12.4"}))
    found = {"definitions": DEFINITIONS, "namespaces": NAMESPACES, "nodes": [node(labels=LABEL)], **FEATURES}
    made = plan(request, before(**found))
    (pod,) = checks.pods(request, found["nodes"])
    account, constraint = made["permissions"]
    assert (pod["spec"]["serviceAccountName"], account["metadata"]["namespace"]) == (ACCOUNT, "aiready")
    added = pod["spec"]["containers"][0]["securityContext"]["capabilities"]["add"]
    assert constraint["allowedCapabilities"] == added
    assert (made["problems"], made["training"]) == ([], [])
    (other,) = checks.pods(request, [node()])
    assert "serviceAccountName" not in other["spec"]


def test_other_clusters_have_no_such_objects():
    made = planned(TORCH, nodes=[node()])
    assert ([one["kind"] for one in made["training"]], made["permissions"]) == (["TrainJob"], [])
    assert ACCOUNT not in str(made)


def test_constraint_needs_no_namespace():
    made = planned(TORCH, namespaces=NAMESPACES[:1])
    assert ["SecurityContextConstraints" in str(one) for one in made["later"]] == [False, False]


@pytest.mark.parametrize(
    "features, more, count",
    [
        ([], {}, 1),
        ([{}], {}, 0),  # the user may not read them
        ([], {"feature.node.kubernetes.io/pci-10de.present": "true"}, 0),
    ],
)
def test_node_feature_discovery_is_needed(features, more, count):
    made = planned(TORCH, features=features, nodes=[node(labels={**LABEL, **more})])
    assert len(made["problems"]) == count
    assert all("Node Feature Discovery Operator" in one for one in made["problems"])
