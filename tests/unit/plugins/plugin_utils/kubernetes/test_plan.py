"""Objects for a cluster from a site, and reasons to apply none."""

from __future__ import annotations

import base64

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import gpu_operator, schema
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.plan import plan

from house.collection import filter_example
from unit.plugins.plugin_utils.kubernetes import clusters
from unit.plugins.plugin_utils.kubernetes.clusters import DRIVER, before, node, requested, site

TOKEN = "not-a-real-token"
OPENSHIFT = {"node.openshift.io/os_id": "rhel"}


def policy(whole, token="", **seen):
    made = plan(requested(whole), before(**seen), token)
    assert made["problems"] == []
    return made["objects"][-1]


def problem(whole, token="", **seen):
    (found,) = plan(requested(whole), before(**seen), token)["problems"]
    return found


def test_nodes_with_a_driver_of_their_own():
    spec = policy(site())["spec"]
    assert (spec["driver"], spec["toolkit"]) == ({"enabled": False}, {"enabled": False})
    assert spec["mig"] == {"strategy": "single"}


def test_driver_of_a_vgpu_with_its_licence():
    made = policy(site(gpu_operator={"driver": {**DRIVER, "pull_secrets": ["registry"]}}), TOKEN)
    assert made["spec"]["driver"] == {
        "enabled": True,
        **DRIVER,
        "imagePullSecrets": ["registry"],
        "licensingConfig": {"secretName": gpu_operator.licence_name(TOKEN), "nlsEnabled": True},
    }
    assert made["spec"]["toolkit"] == {"enabled": True}


def test_driver_of_a_whole_gpu_needs_no_licence():
    whole = {**site(gpu_operator={"driver": {"version": "580.95.05"}}), "gpu": {"mode": "passthrough"}}
    assert policy(whole)["spec"]["driver"] == {"enabled": True, "version": "580.95.05"}


def test_fields_of_the_user_have_precedence():
    more = {"toolkit": {"enabled": True, "env": [{"name": "CONTAINERD_SOCKET", "value": "/run/k3s/containerd.sock"}]}}
    assert policy(site(gpu_operator={"spec": more}))["spec"]["toolkit"] == more["toolkit"]


def with_kubelet(version):
    return {**node(), "status": {**node()["status"], "nodeInfo": {"kubeletVersion": version}}}


PATHS = [{"name": "CONTAINERD_CONFIG", "value": "/c"}, {"name": "CONTAINERD_SOCKET", "value": "/s"}]


@pytest.mark.parametrize(
    "version, more, missing",
    [
        (
            "v1.33.4+rke2r1",
            {},
            "Set CONTAINERD_CONFIG to /var/lib/rancher/rke2/agent/etc/containerd/config.toml and CO",
        ),
        (
            "v1.33.4+k3s1",
            {"toolkit": {"env": PATHS[:1]}},
            "Set CONTAINERD_SOCKET to /run/k3s/containerd/containerd.sock in",
        ),
        ("v1.33.4+rke2r1", {"toolkit": {"env": PATHS}}, ""),
        ("v1.33.4+rke2r1", {"toolkit": {"enabled": False}}, ""),
        ("v1.33.4+rke2r1", {"cdi": {"nriPluginEnabled": True}}, ""),
        ("v1.33.4", {}, ""),
    ],
)
def test_containerd_of_rke2_and_k3s_has_other_paths(version, more, missing):
    whole = site(gpu_operator={"driver": DRIVER, "spec": more})
    found = plan(requested(whole), before(nodes=[with_kubelet(version)]), TOKEN)["problems"]
    assert len(found) == bool(missing), found
    assert all(missing in one and version in one for one in found)


def test_namespace_lets_privileged_pods_in():
    first, _policy = plan(requested(), before())["objects"]
    assert (first["kind"], first["metadata"]["labels"]) == (
        "Namespace",
        {"pod-security.kubernetes.io/enforce": "privileged"},
    )


def test_openshift_has_its_own_pod_security_and_driver_toolkit():
    (only,) = plan(requested(), before(nodes=[node(labels=OPENSHIFT)], features=[{}]))["objects"]
    assert only["spec"]["operator"] == {"use_ocp_driver_toolkit": True}


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"driver": DRIVER, "toolkit": False, "mig_strategy": "mixed"}, id="driver"),
        pytest.param({"spec": {"cdi": {"enabled": False}, "gds": {"enabled": True}}}, id="more fields"),
    ],
)
def test_policy_fits_the_schema_of_the_operator(more):
    made = policy(site(gpu_operator=more), TOKEN)
    assert list(schema.problems(clusters.schema("nvidia.com", "ClusterPolicy", "v1"), made)) == []


def test_secret_has_the_keys_that_the_driver_container_reads():
    made = gpu_operator.licence_secret("gpu-operator", TOKEN)
    assert sorted(made["data"]) == ["client_configuration_token.tok", "gridd.conf"]
    assert base64.b64decode(made["data"]["client_configuration_token.tok"]).decode() == TOKEN
    assert TOKEN not in made["metadata"]["name"]


def test_another_token_gets_another_secret():
    assert gpu_operator.licence_name(TOKEN) != gpu_operator.licence_name(f"{TOKEN}2")


def test_plan_does_not_show_the_token():
    whole = site(gpu_operator={"driver": DRIVER})
    assert TOKEN not in str(plan(requested(whole), before(), TOKEN))


def test_misspelt_field_is_rejected_because_the_server_would_drop_it():
    found = problem(site(gpu_operator={"spec": {"driver": {"licencingConfig": {}}}}))
    assert "spec.driver.licencingConfig is unknown" in found


def test_cluster_without_the_operator():
    assert "does not serve ClusterPolicy" in problem(site(), definitions=[])


CHART = {"install": True, "repository": "https://charts.example.org/nvidia", "version": "v26.7.0"}


def test_chart_gets_the_values_of_the_policy():
    own = {"driver": DRIVER, "chart": {**CHART, "values": {"nfd": {"enabled": False}}}}
    made = plan(requested(site(gpu_operator=own)), before(definitions=[], namespaces=[], installing=True), TOKEN)
    (release,) = made["releases"]
    values = release.pop("values")
    assert release == {
        "name": "gpu-operator",
        "namespace": "gpu-operator",
        "ref": "gpu-operator",
        "repository": CHART["repository"],
        "version": "v26.7.0",
    }
    assert values["driver"] == made["objects"][-1]["spec"]["driver"]
    assert (values["nfd"], "gfd" in values) == ({"enabled": False}, False)
    assert (made["problems"], made["uninstalled"]) == ([], ["gpu-operator"])


@pytest.mark.parametrize("installing", [True, False])
def test_installed_operator_is_not_awaited(installing):
    made = plan(requested(site(gpu_operator={"chart": CHART})), before(installing=installing))
    assert (made["problems"], made["uninstalled"], len(made["releases"])) == ([], [], 1)


def test_chart_that_created_no_definition():
    (found,) = plan(requested(site(gpu_operator={"chart": CHART})), before(definitions=[]))["problems"]
    assert "does not serve ClusterPolicy" in found


def test_chart_without_a_request_is_not_installed():
    made = plan(
        requested(site(gpu_operator={"chart": {**CHART, "install": False}})), before(definitions=[], installing=True)
    )
    assert (made["releases"], made["uninstalled"], len(made["problems"])) == ([], [], 1)


def test_chart_of_the_network_operator_brings_no_second_feature_discovery():
    network = {"version": "network-operator-v26.4.1", "subnets": ["192.168.50.0/24"], "chart": CHART}
    whole = {**site(network_operator=network), "network": {"path": "sriov", "nics": ["vmnic4"]}}
    made = plan(requested(whole), before(installing=True))
    (release,) = made["releases"]
    assert (release["name"], release["namespace"]) == ("network-operator", "nvidia-network-operator")
    assert release["values"] == {"nfd": {"enabled": False, "deployNodeFeatureRules": True}}
    assert (made["problems"], made["uninstalled"]) == ([], ["network-operator"])


def test_chart_is_not_installed_on_openshift():
    found = problem(site(gpu_operator={"chart": CHART}), nodes=[node(labels=OPENSHIFT)], installing=True)
    assert "Install it from OperatorHub" in found


def test_namespace_that_does_not_exist():
    assert "Set site.kubernetes.gpu_operator.namespace" in problem(site(), namespaces=[])


def test_second_policy():
    found = problem(site(), policies=[{"metadata": {"name": "gpu-cluster-policy"}}])
    assert found.endswith("Set site.kubernetes.gpu_operator.policy to gpu-cluster-policy.")


def test_licence_without_a_token():
    assert "site_licence_token" in problem(site(gpu_operator={"driver": DRIVER}))


def test_labels_that_no_node_has():
    assert "No node has the labels pool=gpu" in problem(site(nodes={"pool": "gpu"}))


def test_driver_that_the_host_of_a_node_does_not_support():
    host = {"nvidia.com/vgpu.host-driver-version": "580.65.05"}
    whole = site(gpu_operator={"driver": DRIVER | {"version": "470.57.02"}})
    del whole["driver"]
    found = problem(whole, TOKEN, nodes=[node(labels=host)])
    assert found.startswith("node gpu-01: cannot install the driver. The host driver 580.65.05 does not support")


def test_example_of_the_filter():
    example = filter_example("kubernetes_plan")
    (found,) = plan(example["request"], example["seen"])["problems"]
    assert "Install the operator" in found
