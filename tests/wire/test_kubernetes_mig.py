"""The configuration that the role renders for the MIG manager gives a node the requested resources."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import mig, nodes

from . import kubernetes_lab

IMAGE = {**kubernetes_lab.CHART, "image": "k8s-mig-manager"}
GPU = "nvidia.com/gpu"


def applied(server, layout, strategy):
    """Apply what the role renders, and the fields of the policy; return the labels and the resources of the node."""
    cluster, world = server.cluster, server.world
    operator = {"mig_layout": layout, "mig_strategy": strategy, "namespace": kubernetes_lab.NAMESPACE}
    before = cluster.list("nodes")
    made, problems = mig.objects(operator, before)
    assert problems == []
    for one in made:
        if one["kind"] == "Node":
            node = cluster.get("nodes", one["metadata"]["name"])
            cluster.labelled("nodes", node, one["metadata"]["labels"], "aiready.vsphere")
        else:
            cluster.create("configmaps", one, kubernetes_lab.NAMESPACE, "aiready.vsphere")
    policy = cluster.get("clusterpolicies", "cluster-policy")
    spec = copy.deepcopy(policy["spec"])
    spec.update(
        migManager={**IMAGE, "enabled": True, "config": {"name": mig.config_map(layout)}}, mig={"strategy": strategy}
    )
    cluster.change("clusterpolicies", policy, "aiready.vsphere", spec=spec)
    # A manager has not begun yet, so its state is none or that of the layout before.
    assert not mig.settled(cluster.list("nodes"), operator, {}, before)
    world.settle()
    assert mig.settled(cluster.list("nodes"), operator, {}, before)
    return list(mig.faults(cluster.list("nodes"), operator)), cluster.list("nodes")[0]


@pytest.mark.parametrize(
    "layout, strategy, offered",
    [
        (["1g.5gb"] * 7, "single", {GPU: "14"}),
        (["3g", "3g"], "single", {GPU: "4"}),
        (
            ["3g", "2g", "1g", "1g"],
            "mixed",
            {GPU: "0", "nvidia.com/mig-1g.5gb": "4", "nvidia.com/mig-2g.10gb": "2", "nvidia.com/mig-3g.20gb": "2"},
        ),
    ],
)
def test_the_layout_of_the_site_becomes_resources(layout, strategy, offered):
    with kubernetes_lab.launch(nodes=1, vgpu=False, gpus=2) as server, server.cluster.lock:
        faults, node = applied(server, layout, strategy)
    assert faults == []
    found = {
        key: one
        for key, one in node["status"]["allocatable"].items()
        if key.startswith(("nvidia.com/gpu", "nvidia.com/mig"))
    }
    assert found == offered
    assert nodes.offered(node) == len(layout) * 2


def test_another_layout_replaces_the_first():
    with kubernetes_lab.launch(nodes=1, vgpu=False) as server, server.cluster.lock:
        for layout, offered in ((["3g", "3g"], "2"), (["1g.5gb"] * 7, "7")):
            faults, node = applied(server, layout, "single")
            assert (faults, node["status"]["allocatable"][GPU]) == ([], offered)


def test_a_gpu_in_use_is_reported():
    with kubernetes_lab.launch(nodes=1, vgpu=False) as server, server.cluster.lock:
        limits = {"resources": {"limits": {GPU: 1}}}
        spec = {"containers": [{"name": "c", "image": "images.example.org/train:1", **limits}]}
        server.cluster.create("pods", {"metadata": {"name": "train"}, "spec": spec}, "default")
        server.world.settle()
        (fault,), node = applied(server, ["1g.5gb"] * 7, "single")
        assert "nvidia.com/mig.config.state is failed" in fault
        assert node["status"]["allocatable"][GPU] == "1"
        # The failure of this layout is not that of the next one.
        server.cluster.remove("pods", server.cluster.get("pods", "train", "default"))
        faults, node = applied(server, ["3g", "3g"], "single")
        assert (faults, node["status"]["allocatable"][GPU]) == ([], "2")
