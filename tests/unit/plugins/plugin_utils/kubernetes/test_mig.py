"""A MIG layout on nodes: planned for the product of each node, with the profile names of its driver."""

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import mig, plan, schema, state

from house.collection import filter_sample

from . import clusters

A100 = "NVIDIA-A100-PCIE-40GB"


def operator(*layout, strategy="mixed"):
    return {"mig_layout": list(layout), "mig_strategy": strategy, "namespace": "gpu-operator"}


def node(product=A100, status=None, name="gpu-01"):
    labels = {mig.PRODUCT: product} if product else {}
    # The manager reports a state of a node that has a configuration.
    reported = {mig.CONFIG: "aiready-a100-40gb", mig.STATE: status} if status else {}
    return clusters.node(name, labels={**labels, **reported})


def test_nothing_happens_without_a_layout():
    assert mig.objects(operator(), [node()]) == ([], [])
    assert mig.settled([node()], operator(), {}) is True
    assert list(mig.faults([node()], operator())) == []


@pytest.mark.parametrize("product", [A100, f"{A100}-MIG-3g.20gb"])
def test_the_configuration_has_the_names_of_the_driver(product):
    made, problems = mig.objects(operator("3g", "2g", "1g", "1g"), [node(product)])
    assert problems == []
    config_map, labelled = made
    configs = json.loads(config_map["data"]["config.yaml"])["mig-configs"]
    assert configs.pop("all-disabled") == [{"devices": "all", "mig-enabled": False}]
    (config,) = configs.items()
    devices = {"3g.20gb": 1, "2g.10gb": 1, "1g.5gb": 2}
    assert config == ("aiready-a100-40gb", [{"devices": "all", "mig-enabled": True, "mig-devices": devices}])
    assert labelled["metadata"] == {"name": "gpu-01", "labels": {"nvidia.com/mig.config": "aiready-a100-40gb"}}


@pytest.mark.parametrize(
    "requested, product, why",
    [
        (operator("4g", "4g"), A100, "4g, 4g do not fit on one GPU."),
        (operator("9g"), A100, "Correct site.stack.mig.layout."),
        (operator("3g"), "Tesla-T4", "Its label nvidia.com/gpu.product is Tesla-T4, which has no MIG profiles"),
        (operator("3g"), None, "Its label nvidia.com/gpu.product is not set"),
        (operator("3g", "2g", strategy="single"), A100, "The strategy single needs instances of one profile"),
    ],
)
def test_a_layout_that_cannot_be_is_a_problem(requested, product, why):
    made, (problem,) = mig.objects(requested, [node(product)])
    assert made == []
    assert why in problem


@pytest.mark.parametrize(
    "status, ended, fault",
    [
        ("success", True, False),
        ("failed", True, True),
        ("pending", False, True),
        ("rebooting", False, True),
        (None, False, True),
    ],
)
def test_the_state_of_the_manager(status, ended, fault):
    assert mig.settled([node(status=status)], operator("3g"), {}) is ended
    assert bool(list(mig.faults([node(status=status)], operator("3g")))) is fault


def test_the_policy_names_the_configuration_in_fields_of_its_schema():
    whole = clusters.site()
    whole["gpu"] = {"mode": "passthrough"}
    whole["stack"] = {"mig": {"layout": ["1g.5gb"] * 7}, "gds": {"check": "required"}}
    requested = clusters.requested(whole)
    made = plan.plan(requested, clusters.before(nodes=[node()]))
    assert made["problems"] == []
    kinds = [one["kind"] for one in made["objects"]]
    assert kinds.index("ConfigMap") < kinds.index("ClusterPolicy") < kinds.index("Node")
    (policy,) = [one for one in made["objects"] if one["kind"] == "ClusterPolicy"]
    assert policy["spec"]["migManager"] == {"enabled": True, "config": {"name": "aiready-mig-config"}}
    assert policy["spec"]["gds"] == {"enabled": True}
    assert list(schema.problems(clusters.schema("nvidia.com", "ClusterPolicy", "v1"), policy)) == []
    seen = {"policies": [clusters.ready()], "nodes": [node(status="failed")], "pods": [], "events": []}
    assert "The MIG manager did not apply the layout on node gpu-01" in " ".join(state.faults(requested, seen))


def test_the_example_of_the_filter():
    labels = {"nvidia.com/gpu.present": "true", mig.STATE: "pending"}
    found = [{"metadata": {"name": "gpu-01", "labels": labels}}]
    assert mig.settled(found, operator("3g", "3g"), {}) is filter_sample("kubernetes_mig_settled")
