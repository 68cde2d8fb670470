"""Third-party clients at the twin's Kubernetes API server: the Python client, and the modules of kubernetes.core."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import config, dynamic
from kubernetes.dynamic.exceptions import ConflictError, UnprocessibleEntityError

from vsphere_twin.kubernetes.launch import launch_cluster

NCP = {"apiVersion": "mellanox.com/v1alpha1", "kind": "NicClusterPolicy", "metadata": {"name": "nic-cluster-policy"}}
IPAM = {"image": "nvidia-k8s-ipam", "repository": "registry.example/nvidia", "version": "v0.3.7"}


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    with launch_cluster() as running:
        running.world.add_node("train-01", adapters=1)
        yield running


@pytest.fixture(scope="module")
def api(server: Any) -> Any:
    return dynamic.DynamicClient(config.new_client_from_config(str(server.kubeconfig_file)))


def test_the_dynamic_client_applies_and_sees_conflicts(api: Any) -> None:
    policies = api.resources.get(api_version="mellanox.com/v1alpha1", kind="NicClusterPolicy")
    body = {**NCP, "spec": {"nvIpam": IPAM}}
    first = policies.server_side_apply(body=body, field_manager="aiready.vsphere")
    again = policies.server_side_apply(body=body, field_manager="aiready.vsphere")
    assert again.metadata.managedFields[0].time == first.metadata.managedFields[0].time
    other = {**NCP, "spec": {"nvIpam": {**IPAM, "version": "v2"}}}
    with pytest.raises(ConflictError, match=r"\.spec\.nvIpam\.version"):
        policies.server_side_apply(body=other, field_manager="other")
    policies.delete(name="nic-cluster-policy")


def test_the_dynamic_client_watches(api: Any, server: Any) -> None:
    maps = api.resources.get(api_version="v1", kind="ConfigMap")
    body = {"metadata": {"name": "seen", "labels": {"watch": "me"}}}
    server.cluster.create("configmaps", body, "default")
    events = list(maps.watch(namespace="default", label_selector="watch=me", timeout=1))
    assert [(one["type"], one["object"].metadata.name) for one in events] == [("ADDED", "seen")]


def test_the_dynamic_client_reads_the_causes_of_a_rejection(api: Any) -> None:
    policies = api.resources.get(api_version="nvidia.com/v1", kind="ClusterPolicy")
    body = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": "p"}, "spec": {"driver": {}}}
    with pytest.raises(UnprocessibleEntityError) as caught:
        policies.create(body=body)
    fields = [one["field"] for one in json.loads(caught.value.body or "")["details"]["causes"]]
    assert "spec.toolkit" in fields


def ansible(server: Any, module: str, check: bool = False, **arguments: Any) -> dict[str, Any]:
    """The result of a module of kubernetes.core."""
    arguments["kubeconfig"] = str(server.kubeconfig_file)
    command = [str(Path(sys.executable).with_name("ansible")), "localhost", "-m", f"kubernetes.core.{module}"]
    env = {**os.environ, "ANSIBLE_STDOUT_CALLBACK": "json", "ANSIBLE_LOAD_CALLBACK_PLUGINS": "1"}
    extra = ["-e", f"ansible_python_interpreter={sys.executable}", *(["--check"] if check else [])]
    ran = subprocess.run(
        [*command, "-a", json.dumps(arguments), *extra], env=env, capture_output=True, text=True, check=False
    )
    found: dict[str, Any] = json.loads(ran.stdout)["plays"][0]["tasks"][0]["hosts"]["localhost"]
    return found


def test_kubernetes_core_applies_once_and_waits(server: Any) -> None:
    definition = {**NCP, "spec": {"nvIpam": IPAM}}
    apply: dict[str, Any] = {
        "definition": definition,
        "apply": True,
        "server_side_apply": {"field_manager": "aiready.vsphere"},
    }
    assert ansible(server, "k8s", check=True, **apply)["changed"] is True
    assert server.cluster.get("nicclusterpolicies", "nic-cluster-policy") is None
    assert ansible(server, "k8s", **apply)["changed"] is True
    assert ansible(server, "k8s", **apply)["changed"] is False
    query: dict[str, Any] = {
        "api_version": "mellanox.com/v1alpha1",
        "kind": "NicClusterPolicy",
        "name": "nic-cluster-policy",
    }
    assert ansible(server, "k8s_info", **query)["resources"][0]["status"]["state"] == "ready"
