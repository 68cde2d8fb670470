"""The MIG manager: a label of a node changes its resources, or fails as on a real node."""

from __future__ import annotations

import json

import pytest

from vsphere_twin.kubernetes.operators.world import World

from .test_operators import GPU, allocatable, pod, policy

CONFIG, STATE = "nvidia.com/mig.config", "nvidia.com/mig.config.state"
PRODUCT = "NVIDIA-A100-PCIE-40GB"
MANAGER = {"repository": "registry.example/nvidia", "image": "k8s-mig-manager", "version": "v1"}
LAYOUTS = {"seven": {"1g.5gb": 7}, "several": {"3g.20gb": 1, "2g.10gb": 1, "1g.5gb": 2}, "much": {"3g.20gb": 3}}
LAYOUTS.update(wrong={"1g.12gb": 1}, empty={})


def launched(client, strategy="single", **hardware):
    world = World(client.cluster)
    client.service.tick = world.tick
    world.add_node("gpu-1", **hardware)
    whole = policy(version="580.95.05")
    del whole["spec"]["driver"]["licensingConfig"]
    whole["spec"].update(migManager={**MANAGER, "config": {"name": "layouts"}}, mig={"strategy": strategy})
    world.cluster.create("namespaces", {"metadata": {"name": "gpu-operator"}})
    world.cluster.create("configmaps", config_map("layouts", LAYOUTS), "gpu-operator")
    world.cluster.create("clusterpolicies", whole)
    world.settle()
    return world


def config_map(name, layouts):
    configs = {key: [{"devices": "all", "mig-enabled": True, "mig-devices": one}] for key, one in layouts.items()}
    configs["all-disabled"] = [{"devices": "all", "mig-enabled": False}]
    text = json.dumps({"version": "v1", "mig-configs": configs})
    return {"metadata": {"name": name}, "data": {"config.yaml": text}}


def labels(world):
    return world.cluster.get("nodes", "gpu-1")["metadata"]["labels"]


def chosen(world, name):
    """The state that the manager reports after a change of the label."""
    world.cluster.labelled("nodes", world.cluster.get("nodes", "gpu-1"), {CONFIG: name}, "kubectl")
    world.settle()
    return labels(world).get(STATE)


def test_a_node_without_a_label_gets_the_default(client):
    world = launched(client)
    assert (labels(world)[CONFIG], labels(world)[STATE]) == ("all-disabled", "success")
    assert allocatable(world)[GPU] == "1"


@pytest.mark.parametrize(
    "strategy, name, offered, product",
    [
        ("single", "seven", {GPU: "7"}, f"{PRODUCT}-MIG-1g.5gb"),
        ("mixed", "seven", {GPU: "0", "nvidia.com/mig-1g.5gb": "7"}, PRODUCT),
        (
            "mixed",
            "several",
            {GPU: "0", "nvidia.com/mig-1g.5gb": "2", "nvidia.com/mig-2g.10gb": "1", "nvidia.com/mig-3g.20gb": "1"},
            PRODUCT,
        ),
        ("single", "several", {GPU: "0"}, f"{PRODUCT}-MIG-INVALID"),
        ("single", "empty", {GPU: "0"}, f"{PRODUCT}-MIG-INVALID"),
        ("none", "seven", {GPU: "1"}, PRODUCT),
    ],
)
def test_the_strategy_decides_the_resources(client, strategy, name, offered, product):
    world = launched(client, strategy)
    assert chosen(world, name) == "success"
    found = {key: value for key, value in allocatable(world).items() if key.startswith("nvidia.com/")}
    assert (found, labels(world)["nvidia.com/gpu.product"]) == (offered, product)
    assert chosen(world, "all-disabled") == "success"
    found = {key: value for key, value in allocatable(world).items() if key.startswith("nvidia.com/")}
    assert (found, labels(world)["nvidia.com/gpu.product"]) == ({**dict.fromkeys(offered, "0"), GPU: "1"}, PRODUCT)


@pytest.mark.parametrize(
    "name, said",
    [
        ("eight", "selected mig-config not present: eight"),
        ("much", "Insufficient Resources"),
        ("wrong", "invalid MIG profile 1g.12gb"),
    ],
)
def test_a_layout_that_is_impossible_fails(client, name, said):
    world = launched(client)
    assert chosen(world, name) == "failed"
    assert said in world.rejections[-1]
    assert allocatable(world)[GPU] == "1"
    # The state is that of the last change.
    assert chosen(world, "seven") == "success"


def test_a_gpu_in_use_keeps_its_layout(client):
    world = launched(client)
    world.cluster.create("pods", pod("train"), "default")
    world.settle()
    assert chosen(world, "seven") == "failed"
    assert allocatable(world)[GPU] == "1"
    # A manager does not try again, and a new one does.
    world.cluster.remove("pods", world.cluster.get("pods", "train", "default"))
    world.settle()
    assert labels(world)[STATE] == "failed"
    world.cluster.remove("pods", manager(world))
    world.settle()
    assert (labels(world)[STATE], allocatable(world)[GPU]) == ("success", "7")


def manager(world):
    (found,) = [one for one in world.cluster.list("pods") if one["metadata"]["name"].startswith("nvidia-mig")]
    return found


def test_only_another_configmap_or_label_is_applied(client):
    world = launched(client)
    assert chosen(world, "seven") == "success"
    three = {"seven": {"2g.10gb": 3}}
    own = world.cluster.get("configmaps", "layouts", "gpu-operator")
    world.cluster.change("configmaps", own, data=config_map("layouts", three)["data"])
    world.settle()
    assert allocatable(world)[GPU] == "7"
    world.cluster.create("configmaps", config_map("others", three), "gpu-operator")
    own = world.cluster.get("clusterpolicies", "cluster-policy")
    manager = {**own["spec"]["migManager"], "config": {"name": "others"}}
    world.cluster.change("clusterpolicies", own, spec={**own["spec"], "migManager": manager})
    world.settle()
    assert (allocatable(world)[GPU], labels(world)[STATE]) == ("3", "success")


def test_a_resource_without_its_plugin_stays_with_zero(client):
    world = launched(client, "mixed")
    assert chosen(world, "seven") == "success"
    own = world.cluster.get("clusterpolicies", "cluster-policy")
    world.cluster.change("clusterpolicies", own, spec={**own["spec"], "devicePlugin": {"enabled": False}})
    world.settle()
    assert (allocatable(world)["nvidia.com/mig-1g.5gb"], allocatable(world)[GPU]) == ("0", "0")


def test_a_vgpu_has_no_manager(client):
    world = launched(client, vgpu=True)
    assert chosen(world, "seven") is None


def test_a_missing_configuration_holds_the_manager(client):
    world = launched(client)
    found = world.cluster.get("configmaps", "layouts", "gpu-operator")
    world.cluster.remove("configmaps", found)
    world.cluster.remove("pods", manager(world))
    before = labels(world)[STATE]
    assert chosen(world, "seven") == before
    assert allocatable(world)[GPU] == "1"
