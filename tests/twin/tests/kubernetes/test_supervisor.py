"""Clusters of a Supervisor: machines, nodes with the devices of their VM class, kubeconfig."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
import yaml

from vsphere_twin.kubernetes import fields
from vsphere_twin.kubernetes.launch import launch_cluster
from vsphere_twin.kubernetes.operators import vks
from vsphere_twin.kubernetes.refused import Refused
from vsphere_twin.launch import launch
from vsphere_twin.model.supervisor import Namespace


@pytest.fixture
def supervisor():
    with launch_cluster(installed=("vks",)) as server:
        vgpu = {"profileName": "grid_a100-40c"}
        hardware = {"cpus": 8, "memory": "64Gi", "devices": {"vgpuDevices": [vgpu]}}
        for name, spec in (
            ("best-effort-medium", {"hardware": {"cpus": 2, "memory": "8Gi"}}),
            ("gpu", {"hardware": hardware}),
        ):
            server.cluster.create("virtualmachineclasses", {"metadata": {"name": name}, "spec": spec}, "default")
        yield server


def cluster(replicas=2, **variables):
    rows = [{"name": "vmClass", "value": "best-effort-medium"}]
    rows += [{"name": name, "value": value} for name, value in variables.items()]
    overrides = {"overrides": [{"name": "vmClass", "value": "gpu"}]}
    pool = {"class": "node-pool", "name": "gpu", "replicas": replicas, "variables": overrides}
    topology = {"classRef": {"name": "builtin-generic-v3.6.0", "namespace": "vmware-system-vks-public"}}
    topology.update(version="v1.33.4", controlPlane={"replicas": 1}, variables=rows)
    topology["workers"] = {"machineDeployments": [pool]}
    return {"metadata": {"name": "c"}, "spec": {"topology": topology}}


def available(server):
    rows = server.cluster.get("clusters", "c", "default")["status"]["conditions"]
    return {one["type"]: one["status"] for one in rows}["Available"]


def test_a_cluster_becomes_an_api_server_with_nodes(supervisor):
    supervisor.cluster.create("clusters", cluster())
    supervisor.world.settle()
    status = supervisor.cluster.get("clusters", "c", "default")["status"]
    assert (status["phase"], status["workers"]["availableReplicas"], available(supervisor)) == (
        "Provisioned",
        2,
        "True",
    )
    secret = supervisor.cluster.get("secrets", "c-kubeconfig", "default")
    (made,) = supervisor.made.values()
    found = yaml.safe_load(base64.b64decode(secret["data"]["value"]))
    assert found["clusters"][0]["cluster"]["server"] == made.url
    # The Supervisor completes v1.33.4.
    assert made.cluster.version == "v1.33.4+vmware.1-vkr.1"
    assert sorted(made.world.hardware) == ["c-control-0", "c-gpu-0", "c-gpu-1"]
    assert [one.gpus for _name, one in sorted(made.world.hardware.items())] == [0, 1, 1]


def test_a_namespace_without_a_label_rejects_pods_with_capabilities(supervisor):
    supervisor.cluster.create("clusters", cluster())
    supervisor.world.settle()
    (made,) = supervisor.made.values()
    context = {"capabilities": {"add": ["IPC_LOCK"]}}
    body = {
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i", "securityContext": context}]},
    }
    made.cluster.create("namespaces", {"metadata": {"name": "aiready"}})
    with pytest.raises(Refused, match='violates PodSecurity "restricted:latest"'):
        made.cluster.create("pods", body, "aiready")
    own = made.cluster.get("namespaces", "aiready")
    made.cluster.labelled("namespaces", own, {"pod-security.kubernetes.io/enforce": "privileged"}, "kubectl-label")
    assert made.cluster.create("pods", body, "aiready")
    assert (vks.pod_security("v1.25.7+vmware.3"), vks.pod_security("v1.26.5")) == ("privileged", "restricted")


def test_a_cluster_is_provisioned_before_its_workers_are_there(supervisor):
    supervisor.cluster.create("clusters", cluster())
    for _step in range(2):
        supervisor.world.tick()
    status = supervisor.cluster.get("clusters", "c", "default")["status"]
    assert (status["phase"], status["workers"]["availableReplicas"], available(supervisor)) == (
        "Provisioned",
        0,
        "False",
    )


def test_without_a_free_gpu_the_workers_stay_away(supervisor):
    supervisor.world.machines.free_gpus = 1
    supervisor.cluster.create("clusters", cluster())
    supervisor.world.settle()
    assert supervisor.cluster.get("clusters", "c", "default")["status"]["workers"]["availableReplicas"] == 1
    assert available(supervisor) == "False"


def test_a_variable_of_another_class_is_denied(supervisor):
    with pytest.raises(Exception, match="variable is not defined"):
        supervisor.cluster.create("clusters", cluster(nodePoolVolumes=[]))


def test_a_deleted_cluster_takes_its_api_server_along(supervisor):
    made = supervisor.cluster.create("clusters", cluster())
    supervisor.world.settle()
    supervisor.cluster.deleted(supervisor.cluster.kind("clusters"), supervisor.cluster.get("clusters", "c", "default"))
    supervisor.world.settle()
    assert (supervisor.made, supervisor.cluster.list("machines", "default")) == ({}, [])
    assert made["metadata"]["name"] == "c"


def test_a_twin_has_a_supervisor_as_a_face():
    with launch(faces=("kubernetes",)) as twin:
        found = twin.endpoint()["kubernetes"]
        assert found["url"] == twin.kubernetes.url
        config = yaml.safe_load(Path(found["kubeconfig"]).read_text())
    assert config["clusters"][0]["cluster"]["server"] == found["url"]


def test_a_class_that_a_namespace_offers_becomes_an_object_there():
    with launch(faces=("kubernetes",)) as twin:
        held, cluster = twin.world.workloads, twin.kubernetes.cluster
        held.create(twin.world.release, {"id": "gpu", "cpu_count": 4, "memory_MB": 4096, "memory_reservation": 100})
        held.namespaces["training"] = namespace = Namespace("training", "domain-c1")
        held.offer(namespace, ["gpu"])
        held.update(twin.world.release, "gpu", {"cpu_count": 8})
        found = cluster.get("virtualmachineclasses", "gpu", "training")["spec"]
        assert found["hardware"] == {"cpus": 8, "memory": "4096Mi"}
        assert found["policies"] == {"resources": {"requests": {"memory": "4096Mi"}}}
        held.offer(namespace, [])
        assert cluster.list("virtualmachineclasses", "training") == []


def test_a_user_of_vcenter_gets_a_token():
    with launch(faces=("kubernetes",)) as twin:
        service, (user, password) = twin.kubernetes.service, next(iter(twin.world.users.items()))
        answers = []
        for word in (password, "wrong"):
            given = base64.b64encode(f"{user}:{word}".encode()).decode()
            answers.append(service.handle("POST", "/wcp/login", {"Authorization": f"Basic {given}"}))
        assert [answer.status for answer in answers] == [200, 401]
        token = {"Authorization": f"Bearer {answers[0].body['session_id']}"}
        assert service.handle("GET", "/api/v1/namespaces", token).status == 200


def test_a_field_without_a_schema_keeps_what_is_below_it(supervisor):
    spec = cluster()
    spec["spec"]["topology"]["variables"].append({"name": "vsphereOptions", "value": {"persistentVolumes": {"a": "b"}}})
    schema = supervisor.cluster.kind("clusters").schema
    paths = fields.leaves(schema, {"spec": spec["spec"]}, strict=True)
    assert "b" in paths.values()
