"""Virtual functions on physical nodes: the objects of a site, and the faults of the operator with their causes."""

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import network_state, plan, refused
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.kubernetes import kubernetes

from . import kubernetes_lab
from .kubernetes_client import Role
from .test_kubernetes import NETWORK, SITE, changed, run

SPACE = "nvidia-network-operator"
OWN = {**NETWORK, "attachment": "sriov", "vfs": 4, "interfaces": ["ens224"]}
MORE = {"gpu": {"mode": "passthrough"}, "network": {"path": "sriov", "nics": ["vmnic4"]}}
CRD, SRIOV = "apiextensions.k8s.io/v1", "sriovnetwork.openshift.io/v1"


@pytest.fixture
def lab():
    with kubernetes_lab.launch(vgpu=False, total_vfs=8) as server:
        server.world.installed.add("sriov-operator")
        yield server


def request(**own):
    return kubernetes({**SITE, **MORE, "kubernetes": {"kubeconfig": "unused", "network_operator": {**OWN, **own}}})


def applied(server, **own):
    """(sentences of refused objects, faults) of a site, as the tasks of the role apply and read it."""
    role, asked = Role(str(server.kubeconfig_file)), request(**own)
    read = {"namespaces": ("v1", "Namespace"), "nodes": ("v1", "Node"), "policies": ("nvidia.com/v1", "ClusterPolicy")}
    read["definitions"] = (CRD, "CustomResourceDefinition")
    seen = {name: role.read(*kind)["resources"] for name, kind in read.items()}
    made = plan.plan(asked, seen)
    if made["problems"]:
        return made["problems"], []
    policy = [one for one in made["objects"] if one["kind"] == "NicClusterPolicy"]
    failed = refused.refused(role.apply([*policy, *made["networks"]]))
    server.world.settle()
    space = own.get("sriov_namespace", SPACE)
    now = {
        "policies": role.read("mellanox.com/v1alpha1", "NicClusterPolicy"),
        "networks": role.read(SRIOV, "SriovNetwork", namespace=space),
        "states": role.read(SRIOV, "SriovNetworkNodeState", namespace=space),
        "attachments": role.read("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", namespace="default"),
        "pools": role.read("nv-ipam.nvidia.com/v1alpha1", "IPPool", namespace=SPACE),
        "nodes": role.read("v1", "Node"),
    }
    found = {name: one["resources"] for name, one in now.items()}
    return failed, network_state.faults(asked, {**found, "pods": [], "events": []})


def test_nodes_offer_the_functions_that_pods_request(lab):
    assert applied(lab) == ([], [])
    for name in ("train-01", "train-02"):
        assert lab.cluster.get("nodes", name)["status"]["allocatable"]["nvidia.com/roce"] == "4"
    made = lab.cluster.get("network-attachment-definitions", "roce", "default")
    assert json.loads(made["spec"]["config"])["type"] == "sriov"
    assert made["metadata"]["annotations"]["k8s.v1.cni.cncf.io/resourceName"] == "nvidia.com/roce"
    lab.cluster.remove("network-attachment-definitions", made)
    lab.world.installed.discard("sriov-operator")
    dummy, faults = applied(lab)
    assert any("has no network attachment in the namespace default" in one for one in faults)


@pytest.mark.parametrize(
    "own, found",
    [
        ({"interfaces": ["ens999"]}, "Node train-01 has no adapter ens999 with SR-IOV."),
        ({"vfs": 16}, "has at most 8 virtual functions"),
        ({"sriov_namespace": "default"}, "does not configure node train-01"),
    ],
)
def test_faults_of_the_operator_have_their_cause(lab, own, found):
    failed, faults = applied(lab, **own)
    assert failed == []
    assert any(found in one for one in faults), faults


def test_the_webhook_rejects_an_adapter_that_no_node_has(lab):
    lab.world.sriov_webhook = True
    (failed,), dummy = applied(lab, interfaces=["ens999"])
    assert "no supported NIC is selected by the nicSelector in CR roce" in failed
    assert applied(lab) == ([], [])


def test_a_node_without_the_labels_of_the_operator_is_named(lab):
    lab.world.sriov_nodes["node-role.kubernetes.io/worker"] = ""
    dummy, faults = applied(lab)
    assert any("the node lacks the labels in configDaemonNodeSelector" in one for one in faults), faults


def test_vms_are_rejected_before_the_first_change():
    with kubernetes_lab.launch(vgpu=False) as server:
        server.world.installed.add("sriov-operator")
        (problem,), faults = applied(server)
        assert "Cannot create virtual functions on train-01, train-02. They are VMs" in problem
        assert server.cluster.list("sriovnetworknodepolicies") == []


@pytest.mark.turn(4, of=6)
def test_the_playbook_applies_it_once(lab, tmp_path):
    def play(*arguments):
        more = {**MORE, "training": {**SITE["training"], "engine": "horovod"}}
        return run(lab, tmp_path, *arguments, more=more, wait_s=10, network_operator=OWN)

    with kubernetes_lab.working(lab):
        done = play()
        assert done.status == 0, done.output
        (job,) = lab.cluster.list("mpijobs", "aiready")
        (worker,) = job["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"]
        assert worker["resources"]["limits"] == {"nvidia.com/gpu": 1, "nvidia.com/roce": 1}
        again = play("--check")
        assert (again.status, changed(again)) == (0, "0"), again.output
