"""A MIG layout on nodes: planned for the product of each node, with the profile names of its driver."""

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import mig, nodes, plan, schema, state

from house.collection import filter_sample

from . import clusters

A100 = "NVIDIA-A100-PCIE-40GB"


def operator(*layout, strategy="mixed"):
    return {"mig_layout": list(layout), "mig_strategy": strategy, "namespace": "gpu-operator"}


def node(product=A100, status=None, name="gpu-01", **instances):
    labels = {nodes.PRODUCT: product} if product else {}
    # The manager reports a state of a node that has a configuration.
    reported = {mig.CONFIG: "aiready-a100-40gb", mig.STATE: status} if status else {}
    made = clusters.node(name, labels={**labels, **reported})
    made["status"]["allocatable"].update({f"nvidia.com/mig-{key}": str(one) for key, one in instances.items()})
    return made


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
    labels = {"nvidia.com/mig.config": "aiready-a100-40gb"}
    annotations = {"aiready.vsphere/mig-layout": "2 1g.5gb, 1 2g.10gb, 1 3g.20gb"}
    assert labelled["metadata"] == {"name": "gpu-01", "labels": labels, "annotations": annotations}


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
    found = node(status=status, **{"3g.20gb": 1})
    assert mig.settled([found], operator("3g"), {}) is ended
    assert bool(list(mig.faults([found], operator("3g")))) is fault


def failed_at(time):
    found = node(status="failed")
    fields = {"f:metadata": {"f:labels": {f"f:{mig.STATE}": {}}}}
    found["metadata"]["managedFields"] = [{"manager": "kubectl-label", "time": time, "fieldsV1": fields}]
    return found


def test_a_failure_of_the_layout_before_does_not_count():
    old, again = failed_at("2026-03-01T10:00:00Z"), failed_at("2026-03-01T10:02:00Z")
    assert mig.settled([old], operator("3g"), {}, [old]) is False
    assert mig.settled([again], operator("3g"), {}, [old]) is True
    # This run changed nothing, so the manager does not begin again.
    assert mig.settled([old], operator("3g"), {}) is True


def of_seven(state, gpus, time="", config="aiready-a100-40gb"):
    found = node(f"{A100}-MIG-1g.5gb", state)
    found["metadata"]["labels"][mig.CONFIG] = config
    fields = {"f:metadata": {"f:labels": {f"f:{mig.STATE}": {}}}}
    found["metadata"]["managedFields"] = [{"manager": "kubectl-label", "time": time, "fieldsV1": fields}]
    found["status"]["allocatable"]["nvidia.com/gpu"] = str(gpus)
    return found


@pytest.mark.parametrize(
    "old, now, ended",
    [
        pytest.param(of_seven("success", 14), of_seven("success", 14), False, id="the manager has not begun"),
        pytest.param(of_seven("success", 14), of_seven("pending", 14, "10:01"), False, id="it works"),
        pytest.param(of_seven("success", 14), of_seven("success", 2), True, id="the counts changed"),
        pytest.param(of_seven("success", 14), of_seven("success", 14, "10:02"), True, id="it reported again"),
        pytest.param(of_seven("success", 14, config="all-1g.5gb"), of_seven("success", 14), True, id="of others"),
    ],
)
def test_fewer_instances_of_one_profile_need_a_new_report_or_other_counts(old, now, ended):
    assert mig.settled([now], operator("1g"), {}, [old]) is ended


@pytest.mark.parametrize(
    "before, now, ended",
    [
        (["1g"] * 7, ["1g.5gb"] * 7, True),
        (["1g.5gb"] * 7, ["19"] * 7, True),
        (["1g"] * 7, ["1g"], False),
    ],
)
def test_another_notation_of_a_layout_is_the_same_layout(before, now, ended):
    """A manager whose layout is applied already writes nothing."""
    found = of_seven("success", 7)
    found["metadata"]["annotations"] = mig.objects(operator(*before), [found])[0][1]["metadata"]["annotations"]
    assert mig.settled([found], operator(*now), {}, [found]) is ended


@pytest.mark.parametrize(
    "strategy, layout, product, instances, gpus, offered",
    [
        ("mixed", ["3g", "2g"], A100, {"3g.20gb": 2, "2g.10gb": 2, "1g.5gb": 0}, 0, True),
        ("mixed", ["3g", "2g"], A100, {"3g.20gb": 2, "2g.10gb": 1}, 0, False),
        ("mixed", ["3g", "2g"], A100, {"3g.20gb": 2, "2g.10gb": 2, "1g.5gb": 1}, 0, False),
        ("mixed", ["3g", "2g"], A100, {}, 1, False),
        ("single", ["1g"] * 7, f"{A100}-MIG-1g.5gb", {}, 14, True),
        ("single", ["1g"] * 7, f"{A100}-MIG-1g.5gb", {}, 6, False),
        ("single", ["1g"] * 7, f"{A100}-MIG-3g.20gb", {}, 14, False),
        ("single", ["1g"] * 7, A100, {}, 7, False),
        ("single", ["1g+me"], f"{A100}-MIG-1g.5gb.me", {}, 1, True),
        ("single", ["1g"] * 7, f"{A100}-MIG-1g.5gb-SHARED", {}, 56, True),
        ("none", ["1g"] * 7, A100, {}, 1, True),
        ("mixed", ["3g"], "Tesla-T4", {}, 1, True),
        ("mixed", ["3g"], "", {"3g.20gb": 1}, 0, False),
    ],
)
def test_a_state_of_the_layout_before_is_no_success(strategy, layout, product, instances, gpus, offered):
    found, requested = node(product, "success", **instances), operator(*layout, strategy=strategy)
    found["status"]["allocatable"]["nvidia.com/gpu"] = str(gpus)
    assert mig.settled([found], requested, {}) is offered
    assert [one[:60] for one in mig.faults([found], requested)] == (
        [] if offered else ["Node gpu-01 does not offer the MIG layout of the site. Its M"]
    )


def test_each_layout_has_its_own_configmap():
    names = {mig.objects(operator(*one), [node()])[0][0]["metadata"]["name"] for one in (["3g", "2g"], ["2g", "3g"])}
    assert names == {mig.config_map(["3g", "2g"])}
    assert mig.config_map(["3g", "2g"]) != mig.config_map(["3g", "2g", "1g"])


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
    assert policy["spec"]["migManager"] == {"enabled": True, "config": {"name": mig.config_map(["1g.5gb"] * 7)}}
    assert policy["spec"]["gds"] == {"enabled": True}
    assert list(schema.problems(clusters.schema("nvidia.com", "ClusterPolicy", "v1"), policy)) == []
    seen = {"policies": [clusters.ready()], "nodes": [node(status="failed")], "pods": [], "events": []}
    assert "The MIG manager did not apply the layout on node gpu-01" in " ".join(state.faults(requested, seen))


def test_the_example_of_the_filter():
    labels = {"nvidia.com/gpu.present": "true", mig.STATE: "pending"}
    found = [{"metadata": {"name": "gpu-01", "labels": labels}}]
    assert mig.settled(found, operator("3g", "3g"), {}) is filter_sample("kubernetes_mig_settled")


def test_node_whose_product_was_not_known_before_is_settled_without_a_new_report():
    old, now = node(None, "success"), node(A100, "success")
    assert mig.settled([now], operator("1g", strategy="none"), {}, [old]) is True
