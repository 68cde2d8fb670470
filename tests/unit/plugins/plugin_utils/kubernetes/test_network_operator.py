"""Objects of the Network Operator for a site, and its states with their causes."""

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import network_operator, network_state, schema
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.plan import plan
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.checks import problems

from house.collection import filter_example, filter_sample
from unit.plugins.plugin_utils.kubernetes import clusters
from unit.plugins.plugin_utils.kubernetes.clusters import before, node, requested, site, waiting

DEFINITIONS = [
    clusters.definition("nvidia.com", "ClusterPolicy", "v1"),
    *(
        clusters.definition("mellanox.com", kind, "v1alpha1")
        for kind in ("NicClusterPolicy", "HostDeviceNetwork", "MacvlanNetwork")
    ),
    clusters.definition("nv-ipam.nvidia.com", "IPPool", "v1alpha1"),
    clusters.definition("kubeflow.org", "MPIJob", "v2beta1"),
]
NAMESPACES = [{"metadata": {"name": name}} for name in ("gpu-operator", "nvidia-network-operator", "aiready")]
OPERATOR = {"version": "network-operator-v26.4.1", "subnets": ["192.168.50.0/24"]}
RAILS = {"subnets": ["192.168.50.0/24", "192.168.51.0/24"], "interfaces": ["ens224", "ens256"]}
HOROVOD = {"image": "images.example.org/horovod:0.28.1", "engine": "horovod", "builtin": "small"}


def with_network(path="sriov", adapters=1, training=None, environment=None, **more):
    """The site with networks for pods."""
    own = {"network_operator": {**OPERATOR, **more}, **({"training": training} if training is not None else {})}
    made = {**site(**own), "network": {"path": path, "nics": ["vmnic4"], "adapters": adapters}}
    return {**made, "training": {**HOROVOD, "environment": environment or {}}} if training is not None else made


def planned(whole, **seen):
    made = plan(requested(whole), before(**{"definitions": DEFINITIONS, "namespaces": NAMESPACES, **seen}))
    assert made["problems"] == []
    return made


def of_kind(objects, kind):
    return [one for one in objects if one["kind"] == kind]


def test_host_device_moves_the_adapter_into_a_pod():
    made = planned(with_network(pull_secrets=["registry"], exclude=["192.168.50.1-192.168.50.9", "192.168.50.99"]))
    (policy,) = of_kind(made["objects"], "NicClusterPolicy")
    spec = policy["spec"]
    assert policy["metadata"]["name"] == "nic-cluster-policy"
    assert sorted(spec) == ["nvIpam", "secondaryNetwork", "sriovDevicePlugin"]
    assert spec["secondaryNetwork"]["multus"] == {
        "repository": "nvcr.io/nvidia/mellanox",
        "image": "multus-cni",
        "version": "network-operator-v26.4.1",
        "imagePullSecrets": ["registry"],
    }
    (row,) = json.loads(spec["sriovDevicePlugin"]["config"])["resourceList"]
    assert row == {
        "resourcePrefix": "nvidia.com",
        "resourceName": "roce",
        "selectors": {"vendors": ["15b3"], "isRdma": True},
    }
    pool, network = made["networks"]
    assert pool["metadata"] == {"name": "roce", "namespace": "nvidia-network-operator"}
    assert pool["spec"]["exclusions"] == [
        {"startIP": "192.168.50.1", "endIP": "192.168.50.9"},
        {"startIP": "192.168.50.99", "endIP": "192.168.50.99"},
    ]
    assert network["kind"] == "HostDeviceNetwork"
    assert network["spec"] == {
        "networkNamespace": "default",
        "resourceName": "roce",
        "ipam": '{"poolName": "roce", "type": "nv-ipam"}',
    }


def test_macvlan_shares_the_adapter():
    made = planned(with_network(attachment="macvlan", interfaces=["ens224"]))
    (policy,) = of_kind(made["objects"], "NicClusterPolicy")
    (row,) = json.loads(policy["spec"]["rdmaSharedDevicePlugin"]["config"])["configList"]
    assert row == {
        "resourceName": "roce",
        "rdmaHcaMax": 63,
        "selectors": {"vendors": ["15b3"], "ifNames": ["ens224"]},
    }
    (network,) = of_kind(made["networks"], "MacvlanNetwork")
    assert (network["spec"]["master"], network["spec"]["mode"], network["spec"]["mtu"]) == ("ens224", "bridge", 9000)


def test_each_rail_has_its_own_network_pool_and_resource():
    whole = with_network(adapters=2, training={}, **RAILS)
    made = planned(whole)
    assert [one["metadata"]["name"] for one in made["networks"]] == ["roce-1", "roce-1", "roce-2", "roce-2"]
    (policy,) = of_kind(made["objects"], "NicClusterPolicy")
    rows = json.loads(policy["spec"]["sriovDevicePlugin"]["config"])["resourceList"]
    assert [(row["resourceName"], row["selectors"]["pfNames"]) for row in rows] == [
        ("roce_1", ["ens224"]),
        ("roce_2", ["ens256"]),
    ]
    template = made["training"][-1]["spec"]["mpiReplicaSpecs"]["Worker"]["template"]
    assert template["metadata"]["annotations"] == {"k8s.v1.cni.cncf.io/networks": "roce-1,roce-2"}
    (worker,) = template["spec"]["containers"]
    assert worker["resources"]["limits"] == {"nvidia.com/gpu": 1, "nvidia.com/roce_1": 1, "nvidia.com/roce_2": 1}


def test_pools_belong_to_the_nodes_of_the_site():
    made = planned(
        {**with_network(), "kubernetes": {**with_network()["kubernetes"], "nodes": {"pool": "gpu"}}},
        nodes=[node(labels={"pool": "gpu"})],
    )
    (term,) = made["networks"][0]["spec"]["nodeSelector"]["nodeSelectorTerms"]
    assert term == {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["gpu"]}]}


def test_openshift_has_its_own_multus():
    made = planned(with_network(), nodes=[node(labels={"node.openshift.io/os_id": "rhel"})])
    (policy,) = of_kind(made["objects"], "NicClusterPolicy")
    assert "secondaryNetwork" not in policy["spec"]
    assert of_kind(made["objects"], "Namespace") == []


def test_fields_of_the_user_have_precedence():
    made = planned(with_network(spec={"nvIpam": {"enableWebhook": True}}))
    (policy,) = of_kind(made["objects"], "NicClusterPolicy")
    assert policy["spec"]["nvIpam"]["enableWebhook"] is True
    assert policy["spec"]["nvIpam"]["image"] == "nvidia-k8s-ipam"


def test_pools_are_unserved_until_the_operator_installs_its_ipam():
    made = planned(with_network(), definitions=[one for one in DEFINITIONS if "ippools" not in one["metadata"]["name"]])
    assert made["unserved"] == ["roce", "roce"]


def test_ranks_get_the_roce_intent_of_the_site():
    job = planned(with_network(training={}))["training"][-1]
    (launcher,) = job["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"]
    exported = dict(word.split("=", 1) for word in launcher["command"] if "=" in word)
    assert exported["NCCL_IB_TC"] == exported["UCX_IB_TRAFFIC_CLASS"] == "106"
    assert exported["NCCL_IB_ADDR_RANGE"] == "192.168.50.0/24"
    assert exported["NCCL_NET_GDR_LEVEL"] == "PHB"
    assert "NCCL_IB_DISABLE" not in exported
    (worker,) = job["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"]
    assert worker["resources"]["limits"] == {"nvidia.com/gpu": 1, "nvidia.com/roce": 1}


def test_devices_and_gid_index_of_an_older_nccl():
    made = network_operator.environment(
        requested(with_network(devices=["mlx5_0", "mlx5_1"], gid_index=3))["network_operator"]
    )
    assert (made["NCCL_IB_HCA"], made["NCCL_IB_GID_INDEX"]) == ("=mlx5_0,mlx5_1", "3")
    assert "NCCL_IB_ADDR_RANGE" not in made


@pytest.mark.parametrize("kind", ["NicClusterPolicy", "IPPool", "HostDeviceNetwork", "MacvlanNetwork"])
def test_schemas_reject_a_misspelt_field(kind):
    group = "nv-ipam.nvidia.com" if kind == "IPPool" else "mellanox.com"
    known = clusters.schema(group, kind, "v1alpha1")
    required = {"subnet": "192.168.50.0/24", "perNodeBlockSize": 8} if kind == "IPPool" else {}
    assert list(schema.problems(known, {"spec": {**required, "subnett": ""}})) == ["spec.subnett is unknown"]


def test_field_that_the_cluster_does_not_have():
    made = plan(
        requested(with_network(spec={"nvIpan": {"image": "i"}})), before(definitions=DEFINITIONS, namespaces=NAMESPACES)
    )
    (found,) = made["problems"]
    assert "Cannot apply the NicClusterPolicy nic-cluster-policy." in found
    assert "spec.nvIpan is unknown" in found


@pytest.mark.parametrize(
    "whole, seen, found",
    [
        pytest.param(with_network(), {"definitions": DEFINITIONS[:1]}, "does not serve NicCluster", id="operator"),
        pytest.param(
            with_network(namespace="other"), {}, "Network Operator in the namespace other. The cluster", id="namespace"
        ),
        pytest.param(
            with_network(subnets=["192.168.50.0/29"]), {}, "Cannot give each node 8 addresses", id="small subnet"
        ),
    ],
)
def test_cluster_that_cannot_have_the_networks(whole, seen, found):
    made = plan(requested(whole), before(**{"definitions": DEFINITIONS, "namespaces": NAMESPACES, **seen}))
    (problem,) = made["problems"]
    assert found in problem


def test_trainer_without_annotations_of_pods():
    old = clusters.definition("trainer.kubeflow.org", "TrainJob", "v1alpha1")
    fields = old["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    kept = {key: value for key, value in fields.items() if key != "runtimePatches"}
    kept["podSpecOverrides"] = {"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": True}}
    inner = {"type": "object", "properties": {"spec": {"type": "object", "properties": kept}}}
    old["spec"]["versions"] = [{**old["spec"]["versions"][0], "schema": {"openAPIV3Schema": inner}}]
    whole = with_network(training={"queue": "gpus", "topology": {"level": "example.com/rack"}})
    whole["training"] = {"image": "i", "command": ["python3", "train.py"]}
    made = plan(requested(whole), before(definitions=[*DEFINITIONS, old], namespaces=NAMESPACES))
    why = "Kubeflow Trainer 2.0 has no field for the annotations of pods. Install Kubeflow Trainer 2.1 or newer, or"
    assert [one for one in made["problems"] if "annotations" in one] == [
        f"Cannot attach the pods of the training to the RDMA networks. {why} remove site.kubernetes.network_operator.",
        f"Cannot name the topology of the pods of the training. {why} remove site.kubernetes.training.topology.",
    ]


@pytest.mark.parametrize(
    "whole, found",
    [
        pytest.param(with_network("tcp"), "pods would have no RDMA adapter", id="TCP"),
        pytest.param(with_network("pvrdma"), "a PVRDMA adapter has no device plugin", id="PVRDMA"),
        pytest.param(with_network(version=None), "version", id="no version"),
        pytest.param(with_network(name="RoCE"), "name: RoCE is not a valid name", id="name"),
        pytest.param(with_network(per_node=0), "per_node: 0 is not a valid number", id="no addresses"),
        pytest.param(with_network(subnets=[]), "subnets: it is empty", id="no subnets"),
        pytest.param(with_network(subnets=["10.0.0.1/8"]), "10.0.0.1/8 is not an IPv4 subnet", id="host bits"),
        pytest.param(with_network(**RAILS), "site.network.adapters is 1", id="too few adapters"),
        pytest.param(
            with_network(adapters=2, subnets=RAILS["subnets"]), "cannot be assigned to adapters", id="no interfaces"
        ),
        pytest.param(
            with_network(interfaces=["a", "b"]), "there are 2 interfaces and 1 subnets", id="interfaces that differ"
        ),
        pytest.param(with_network(attachment="macvlan"), "attachment macvlan needs the interface", id="macvlan"),
        pytest.param(
            with_network(adapters=2, **{**RAILS, "subnets": ["10.0.0.0/8", "10.1.0.0/16"]}), "overlap", id="overlap"
        ),
        pytest.param(with_network(exclude=["10.0.0.1"]), "is not a range within one of the subnets", id="outside"),
        pytest.param(with_network(exclude=["first-last"]), "first-last is not a range of addresses", id="no range"),
        pytest.param(
            with_network(training={}, environment={"NCCL_IB_TC": 96}),
            "site.training.environment.NCCL_IB_TC: it is 96, but site.roce requires the traffic class 106",
            id="other traffic class",
        ),
    ],
)
def test_site_that_is_rejected(whole, found):
    (problem,) = [one for one in problems(whole) if "kubernetes" in one or "environment" in one]
    assert found in problem


def test_site_without_a_problem():
    whole = with_network(training={}, environment={"NCCL_IB_TC": "106"}, exclude=["192.168.50.1"])
    assert [one for one in problems(whole) if "kubernetes" in one or "environment" in one] == []


def rdma_node(name="gpu-01", **offered):
    made = node(name, labels={network_operator.NIC: "true"})
    made["status"]["allocatable"].update(offered or {"nvidia.com/roce": "1"})
    return made


READY = {"metadata": {"name": "nic-cluster-policy"}, "status": {"state": "ready"}}
NETWORK = {"metadata": {"name": "roce"}, "status": {"state": "ready"}}
POOL = {"metadata": {"name": "roce"}, "status": {"allocations": [{"nodeName": "gpu-01"}]}}


def faults(**seen):
    whole = {"policies": [READY], "networks": [NETWORK], "pools": [POOL], "nodes": [rdma_node()]}
    return network_state.faults(requested(with_network()), {**whole, "pods": [], "events": [], **seen})


def test_cluster_without_a_fault():
    assert faults() == []


@pytest.mark.parametrize(
    "seen, found",
    [
        pytest.param({"policies": []}, "The Network Operator is not ready. It has not reported a state.", id="silent"),
        pytest.param(
            {
                "policies": [
                    {
                        "status": {
                            "state": "notReady",
                            "appliedStates": [
                                {"name": "state-OFED", "state": "ignore"},
                                {"name": "state-multus-cni", "state": "notReady", "message": "not found"},
                            ],
                        }
                    }
                ]
            },
            "has the state notReady. It reports state-multus-cni: not found. Check its pods",
            id="component",
        ),
        pytest.param(
            {"pods": [waiting("ImagePullBackOff", "not found")]}, "The registry has no image with this name", id="image"
        ),
        pytest.param(
            {"networks": [{"metadata": {"name": "roce"}, "status": {"state": "error", "reason": "bad ipam"}}]},
            "The HostDeviceNetwork roce is not ready. The operator reports: bad ipam.",
            id="network",
        ),
        pytest.param({"networks": []}, "The operator reports: no state.", id="no network"),
        pytest.param({"pools": []}, "gpu-01 got no addresses of the IPPool roce.", id="pool"),
        pytest.param(
            {"nodes": [rdma_node(**{"nvidia.com/roce": "0"})]}, "Node gpu-01 does not offer nvidia.com/roce.", id="none"
        ),
        pytest.param({"nodes": [node()]}, "Node gpu-01 has no RDMA adapter that the operator knows.", id="no label"),
    ],
)
def test_fault_is_named(seen, found):
    (reported,) = faults(**seen)
    assert found in reported


def test_examples_of_the_filters():
    example = filter_example("kubernetes_network_faults")
    assert network_state.faults({"nodes": {}, "network_operator": {}}, example["seen"]) == []
    assert network_state.policy_ready([{"status": {"state": "ready"}}]) is filter_sample("kubernetes_network_ready")
