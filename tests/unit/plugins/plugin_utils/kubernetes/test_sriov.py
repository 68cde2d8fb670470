# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Objects of the SR-IOV Network Operator for a site, what is rejected, and its states with their causes."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import (
    network_operator,
    network_state,
    nodes,
    schema,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.plan import plan
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.sriov import settled
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.checks import problems

from house.collection import filter_example, filter_sample
from unit.plugins.plugin_utils.kubernetes import clusters
from unit.plugins.plugin_utils.kubernetes.clusters import before, node, requested
from unit.plugins.plugin_utils.kubernetes.test_network_operator import (
    DEFINITIONS,
    NAMESPACES,
    POOL,
    READY,
    with_network,
)
from unit.roles.variables import holds

OWN = [
    clusters.definition("sriovnetwork.openshift.io", kind, "v1") for kind in ("SriovNetworkNodePolicy", "SriovNetwork")
]
SPACE = "openshift-sriov-network-operator"


def physical(path="passthrough", mode="passthrough", **more):
    made = with_network(path, **{"attachment": "sriov", "interfaces": ["ens1f0"], "vfs": 4, **more})
    return {**made, "gpu": {"mode": mode} if mode == "passthrough" else made["gpu"]}


def planned(whole, **seen):
    given = {"definitions": [*DEFINITIONS, *OWN], "namespaces": NAMESPACES, **seen}
    return plan(requested(whole), before(**given))


def test_functions_network_and_request_of_pods_have_one_resource():
    whole = physical(sriov_namespace=SPACE, resource_prefix="openshift.io", training={})
    made = planned(whole)
    assert made["problems"] == []
    pool, policy, network = made["networks"]
    assert pool["kind"] == "IPPool"
    assert {one["metadata"]["namespace"] for one in (policy, network)} == {SPACE}
    assert policy["spec"] == {
        "nodeSelector": nodes.PRESENT,  # no other node is drained
        "nicSelector": {"vendor": "15b3", "pfNames": ["ens1f0"]},
        "numVfs": 4,
        "resourceName": "roce",
        "deviceType": "netdevice",
        "isRdma": True,
        "mtu": 9000,
    }
    ipam = '{"poolName": "roce", "type": "nv-ipam"}'
    assert network["spec"] == {"resourceName": "roce", "networkNamespace": "aiready", "ipam": ipam}
    (nic,) = [one for one in made["objects"] if one["kind"] == "NicClusterPolicy"]
    assert sorted(nic["spec"]) == ["nvIpam", "secondaryNetwork"]
    template = made["training"][-1]["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]
    assert template["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": 1, "openshift.io/roce": 1}


def test_a_cluster_without_the_operator():
    (problem,) = planned(physical(), definitions=DEFINITIONS)["problems"]
    assert "Cannot configure the SR-IOV Network Operator. The cluster does not serve SriovNetworkNodePolicy" in problem
    assert "with sriovNetworkOperator.enabled in the values" in problem


@pytest.mark.parametrize("space, own", [("", True), (SPACE, False)])
def test_the_chart_of_the_network_operator_has_the_sriov_operator(space, own):
    chart = {"install": True, "repository": "https://charts.example.org/nvidia", "version": "26.4.1"}
    (release,) = planned(physical(sriov_namespace=space, chart=chart))["releases"]
    assert ("sriovNetworkOperator" in release["values"]) is own


@pytest.mark.parametrize(
    "spec, labels",
    [
        ({"providerID": "vsphere://420b"}, {}),
        ({}, {"feature.node.kubernetes.io/cpu-cpuid.HYPERVISOR": "true"}),
        ({}, {"nvidia.com/vgpu.present": "true"}),
        ({}, {"nvidia.com/gpu.machine": "VMware7,1"}),
    ],
)
def test_vms_have_no_functions_of_their_own(spec, labels):
    vm = {**node(labels=labels), "spec": spec}
    assert nodes.is_vm(vm)
    (problem,) = planned(physical(), nodes=[vm])["problems"]
    assert "Cannot create virtual functions on gpu-01. They are VMs" in problem
    assert planned(physical(), nodes=[{**node(), "spec": {"providerID": "metal://1"}}])["problems"] == []


@pytest.mark.parametrize(
    "whole, found",
    [
        (physical("directpath"), "site.network.path directpath exists only in VMs"),
        (physical("pvrdma"), "a PVRDMA adapter has no device plugin"),
        (physical("tcp"), "pods would have no RDMA adapter"),
        (physical(mode="vgpu"), "site.gpu.mode vgpu exists only in VMs"),
        (physical(interfaces=[]), "attachment sriov needs the interface of each network"),
        (physical(vfs=0), "vfs: 0 is not a valid number of virtual functions. Use 1 to 128."),
        (physical(vfs=129), "vfs: 129 is not a valid number"),
        (physical(sriov_namespace="A"), "sriov_namespace: A is not a valid name"),
        (physical(resource_prefix="nvidia"), "resource_prefix: nvidia is not a domain"),
    ],
)
def test_site_that_is_rejected(whole, found):
    (problem,) = [one for one in problems(whole) if "network_operator" in one]
    assert found in problem


def test_vks_is_rejected():
    whole = physical()
    whole["kubernetes"].update(kind="vks")
    assert any("the nodes of VKS are VMs" in one for one in problems(whole))
    assert [one for one in problems(physical()) if "network_operator" in one] == []


PF = {"name": "ens1f0", "vendor": "15b3", "pciAddress": "0000:3b:00.0", "totalvfs": 8, "numVfs": 4}
NAMED = {"metadata": {"name": "roce"}}


def faults(sync="Succeeded", error="", pfs=(PF,), state=True, offered="4", **seen):
    one = node(labels={network_operator.NIC: "true"})
    one["status"]["allocatable"]["nvidia.com/roce"] = offered
    status = {"syncStatus": sync, "lastSyncError": error, "interfaces": list(pfs)}
    states = [{"metadata": {"name": "gpu-01"}, "status": status}] if state else []
    whole = {"policies": [READY], "networks": [NAMED], "pools": [POOL], "nodes": [one], "pods": [], "events": []}
    return network_state.faults(requested(physical()), {**whole, "states": states, "attachments": [NAMED], **seen})


@pytest.mark.parametrize(
    "given, found",
    [
        ({"state": False}, "has no SriovNetworkNodeState of the node"),
        ({"pfs": []}, "Node gpu-01 has no adapter ens1f0 with SR-IOV. Adapters of vendor 15b3 with SR-IOV: none."),
        ({"pfs": [{**PF, "name": "ens2f0"}]}, "with SR-IOV: ens2f0."),
        ({"pfs": [{**PF, "totalvfs": 2}]}, "has at most 2 virtual functions"),
        ({"sync": "Failed", "error": "no\x1bspace"}, "It reports: no\\x1bspace. Check the log"),
        ({"sync": "InProgress"}, "still configures node gpu-01"),
        ({"attachments": []}, "The SriovNetwork roce has no network attachment in the namespace default."),
        ({"networks": []}, "The SriovNetwork roce is missing."),
        ({"pfs": [{**PF, "numVfs": 2}]}, "has 2 of 4 virtual functions"),
        ({"offered": "0"}, "Node gpu-01 does not offer nvidia.com/roce."),
    ],
)
def test_states_have_their_cause(given, found):
    reported = faults(**given)
    assert any(found in one for one in reported), reported


def test_ready_functions_have_no_fault():
    assert faults() == []


def state(sync, name="gpu-01", **pf):
    return {"metadata": {"name": name}, "status": {"syncStatus": sync, "interfaces": [{**PF, **pf}]}}


@pytest.mark.parametrize(
    "states, done",
    [
        ([], False),
        ([state("InProgress")], False),
        ([state("")], False),
        ([state("Succeeded")], True),
        ([state("Succeeded", numVfs=2)], False),  # that of an earlier policy
        ([state("Failed", numVfs=2)], True),
        ([state("Succeeded", numVfs=2, totalvfs=2)], True),
        ([state("Succeeded"), state("InProgress", "storage-01")], True),
    ],
)
def test_the_role_waits_for_functions_of_chosen_nodes(states, done):
    assert settled(states, requested(physical()), [node(), node("storage-01", gpus=0)]) is done


def test_example_of_the_filter():
    made = filter_example("kubernetes_sriov_settled")
    assert settled(made["states"], made["requested"], made["nodes"]) == filter_sample("kubernetes_sriov_settled")


@pytest.mark.parametrize("spec", [{"numVf": 1}, {"deviceType": "vfio"}])
def test_schemas_reject_other_fields(spec):
    known = clusters.schema("sriovnetwork.openshift.io", "SriovNetworkNodePolicy", "v1")
    whole = {"nicSelector": {}, "nodeSelector": {}, "numVfs": 1, "resourceName": "x", **spec}
    assert list(schema.problems(known, {"spec": whole}))


@pytest.mark.parametrize(
    "answer, done",
    [
        ({"failed": True, "msg": "sriovnetworknodestates is forbidden"}, True),
        ({"failed": True, "msg": "Connection refused"}, False),  # the server may be on a node that restarts
        ({"resources": [state("InProgress")]}, False),
        ({"resources": [state("Succeeded")]}, True),
    ],
)
def test_the_role_ends_its_wait_on_a_read_that_stays_rejected(answer, done):
    whole = requested(physical())
    given = {f"kubernetes_{key}": whole[key] for key in ("nodes", "network_operator")}
    given.update(kubernetes_gpus=1, kubernetes_training={}, kubernetes_checks={}, kubernetes_host_driver="")
    given.update(__kubernetes_sriov_states=answer, __kubernetes_nodes_after={"resources": [node()]})
    name = "Wait until the nodes have their virtual functions"
    assert holds("kubernetes", "networks", name, "until", **given) is done
