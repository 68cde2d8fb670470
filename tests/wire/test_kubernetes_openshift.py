"""A training in a cluster with the labels of OpenShift: the API server takes all objects, and once."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.plan import plan
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.refused import refused

from unit.plugins.plugin_utils.kubernetes import test_openshift as unit
from unit.plugins.plugin_utils.kubernetes.clusters import requested
from unit.plugins.plugin_utils.kubernetes.test_job import DEFINITIONS, TORCH, with_training

from . import kubernetes_lab
from .kubernetes_client import Role

CONSTRAINTS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "securitycontextconstraints.security.openshift.io"},
    "spec": {
        "group": "security.openshift.io",
        "names": {"plural": "securitycontextconstraints", "kind": "SecurityContextConstraints"},
        "scope": "Cluster",
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": unit.CONSTRAINT}},
        ],
    },
}


def test_objects_of_a_training_are_applied_once():
    with kubernetes_lab.launch() as server:
        cluster, role = server.cluster, Role(str(server.kubeconfig_file))
        with cluster.lock:
            cluster.create("customresourcedefinitions", CONSTRAINTS)
            cluster.create("namespaces", {"metadata": {"name": "aiready"}})
            for node in cluster.list("nodes"):
                cluster.labelled("nodes", node, {**node["metadata"]["labels"], **unit.LABEL})
        seen = {
            "definitions": DEFINITIONS,
            "namespaces": role.read("v1", "Namespace")["resources"],
            "nodes": role.read("v1", "Node")["resources"],
            "policies": role.read("nvidia.com/v1", "ClusterPolicy")["resources"],
            "features": role.read("nfd.openshift.io/v1", "NodeFeatureDiscovery")["resources"],
        }
        made = plan(requested(with_training(TORCH)), seen)
        # The labels of the nodes replace the object of the operator, which this cluster does not serve.
        assert (made["problems"], made["openshift"], seen["features"]) == ([], True, [])
        applied = role.apply([*made["permissions"], *made["training"]])
        assert refused(applied) == []
        assert [one["changed"] for one in role.apply([*made["permissions"], *made["training"]])] == [False] * 3
        (constraint,) = cluster.list("securitycontextconstraints")
        assert constraint["users"] == ["system:serviceaccount:aiready:aiready-training"]
