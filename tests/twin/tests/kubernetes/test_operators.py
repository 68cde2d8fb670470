"""The controllers: scheduling, GPU and network operators, MPIJob and TrainJob."""

from __future__ import annotations

import json

import pytest

from vsphere_twin.kubernetes import cluster
from vsphere_twin.kubernetes.operators.world import World
from vsphere_twin.kubernetes.refused import Refused

BLOCKS = (
    "daemonsets",
    "dcgm",
    "dcgmExporter",
    "devicePlugin",
    "driver",
    "gfd",
    "nodeStatusExporter",
    "operator",
    "toolkit",
)
IMAGES = {"driver": "vgpu-guest-driver-7", "toolkit": "container-toolkit", "devicePlugin": "k8s-device-plugin"}
IMAGES.update(gfd="k8s-device-plugin", dcgmExporter="dcgm-exporter")
GPU = "nvidia.com/gpu"
TOKEN = "client_configuration_token.tok"


@pytest.fixture
def world(client):
    """A cluster of two nodes with a vGPU each, and the operators."""
    world = World(client.cluster)
    client.service.tick = world.tick
    for name in ("gpu-1", "gpu-2"):
        world.add_node(name, vgpu=True, host_branch="580")
    return world


def policy(name="cluster-policy", version="580.95.05", **driver):
    spec = {block: {} for block in BLOCKS}
    for block, image in IMAGES.items():
        spec[block] = {"repository": "registry.example/nvidia", "image": image, "version": "v1"}
    spec["dcgm"] = {"enabled": False}
    spec["driver"].update(version=version, licensingConfig={"secretName": "licensing-config"}, **driver)
    return {"metadata": {"name": name}, "spec": spec}


def with_gpus(world, **options):
    """Install the GPU operator's policy and its licence."""
    world.cluster.create("namespaces", {"metadata": {"name": "gpu-operator"}})
    secret = {"metadata": {"name": "licensing-config"}, "stringData": {"gridd.conf": "", TOKEN: "x"}}
    world.cluster.create("secrets", secret, "gpu-operator")
    world.cluster.create("clusterpolicies", policy(**options))
    world.settle()


def state(world, plural="clusterpolicies", name="cluster-policy"):
    return world.cluster.get(plural, name)["status"]


def allocatable(world, node="gpu-1"):
    return world.cluster.get("nodes", node)["status"]["allocatable"]


def pod(name="p", gpus=1, **spec):
    limits = {"resources": {"limits": {GPU: gpus}}} if gpus else {}
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i:1", **limits}], **spec}}


def events(world, reason):
    return [one["message"] for one in world.cluster.list("events") if one["reason"] == reason]


def test_gpus_appear_when_driver_and_device_plugin_run(world):
    with_gpus(world)
    assert (state(world)["state"], state(world)["conditions"][0]["reason"]) == ("ready", "Reconciled")
    assert allocatable(world)[GPU] == "1"
    labels = world.cluster.get("nodes", "gpu-2")["metadata"]["labels"]
    assert (labels["nvidia.com/gpu.count"], labels["nvidia.com/vgpu.host-driver-branch"]) == ("1", "580")


def test_a_policy_passes_through_not_ready(world, client):
    world.cluster.create("namespaces", {"metadata": {"name": "gpu-operator"}})
    secret = {"metadata": {"name": "licensing-config"}, "stringData": {"gridd.conf": "", TOKEN: "x"}}
    world.cluster.create("secrets", secret, "gpu-operator")
    world.cluster.create("clusterpolicies", policy())
    seen = [client.get("/apis/nvidia.com/v1/clusterpolicies/cluster-policy")["status"]["state"] for _read in range(20)]
    assert sorted(set(seen), key=seen.index) == ["notReady", "ready"]


def test_a_cluster_without_node_features_is_ready_without_gpus(world):
    world.feature_discovery = False
    with_gpus(world)
    assert (state(world)["state"], state(world)["conditions"][0]["reason"]) == ("ready", "NFDLabelsMissing")
    assert GPU not in allocatable(world)


def test_a_second_policy_is_ignored(world):
    with_gpus(world)
    world.cluster.create("clusterpolicies", policy("other"))
    world.settle()
    assert state(world, name="other")["state"] == "ignored"


@pytest.mark.parametrize(
    "driver,said",
    [
        ({"version": "570.10.01"}, "NVRM: the vGPU guest driver 570 does not match the host driver 580"),
        ({"image": "driver"}, "No devices were found"),
    ],
)
def test_a_wrong_driver_never_becomes_ready(world, client, driver, said):
    options = {"version": driver["version"]} if "version" in driver else driver
    with_gpus(world, **options)
    assert state(world)["state"] == "notReady"
    assert "state-driver" in next(one for one in state(world)["conditions"] if one["type"] == "Error")["message"]
    pods = client.get("/api/v1/namespaces/gpu-operator/pods?labelSelector=app=nvidia-driver-daemonset")["items"]
    assert pods[0]["status"]["containerStatuses"][0]["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    log = world.cluster.logs[("gpu-operator", pods[0]["metadata"]["name"], "nvidia-driver-ctr")]
    assert said in log


def test_a_driver_image_that_does_not_exist_is_not_pulled(world):
    world.images.missing.add("registry.example/nvidia/vgpu-guest-driver-7:580.95.05-ubuntu22.04")
    with_gpus(world)
    assert state(world)["state"] == "notReady"
    assert "not found" in events(world, "Failed")[0]


def test_a_private_image_needs_a_secret(world):
    world.images.private["registry.example/nvidia"] = "ngc"
    with_gpus(world)
    assert "401 Unauthorized" in events(world, "Failed")[0]


def test_a_missing_licence_secret_holds_the_driver(world):
    world.cluster.create("clusterpolicies", policy())
    world.settle()
    text = 'MountVolume.SetUp failed for volume "licensing-config" : secret "licensing-config" not found'
    assert events(world, "FailedMount")[0] == text
    assert state(world)["state"] == "notReady"


def test_an_unlicensed_driver_is_ready_all_the_same(world):
    for one in world.hardware.values():
        one.licensed = False
    with_gpus(world)
    logs = [text for (_ns, name, _ctr), text in world.cluster.logs.items() if name.startswith("nvidia-driver")]
    assert (state(world)["state"], ["Unlicensed" in text for text in logs]) == ("ready", [True, True])


def test_the_scheduler_counts_the_reasons_of_all_nodes(world):
    world.cluster.create("pods", pod())
    world.settle()
    text = "0/2 nodes are available: 2 Insufficient nvidia.com/gpu."
    found = world.cluster.get("pods", "p", "default")["status"]
    assert (found["phase"], found["conditions"][0]["message"]) == ("Pending", text)
    assert events(world, "FailedScheduling") == [text]


def test_a_repeated_event_is_counted_once_a_second(world, monkeypatch):
    monkeypatch.setattr(cluster, "now", lambda: "2026-03-01T10:00:00Z")
    world.cluster.create("pods", pod())
    world.settle()
    monkeypatch.setattr(cluster, "now", lambda: "2026-03-01T10:00:07Z")
    world.passed += 7
    world.settle()
    (event,) = [one for one in world.cluster.list("events") if one["reason"] == "FailedScheduling"]
    assert (event["count"], event["firstTimestamp"][-3:], event["lastTimestamp"][-3:]) == (2, "00Z", "07Z")


@pytest.mark.parametrize("line", ["stat", "dcgmi health --host", "ls", "cat 'a", "printenv '('"])
def test_a_line_that_the_twin_cannot_run_ends_only_its_pod(world, line):
    body = pod()
    body["spec"]["containers"][0]["command"] = ["/bin/sh", "-c", line]
    body["spec"]["containers"][0].pop("resources", None)
    body["spec"]["restartPolicy"] = "Never"
    world.cluster.create("pods", body)
    world.settle()
    (found,) = world.cluster.list("pods")
    assert found["status"]["phase"] == "Failed"


def test_nodes_and_pods_of_clients_do_not_stop_the_controllers(world):
    world.cluster.create("nodes", {"metadata": {"name": "bare"}})
    world.cluster.create("pods", {**pod(), "spec": {**pod()["spec"], "nodeName": "bare"}})
    world.settle()
    spec = {**pod()["spec"], "volumes": [{"name": "v", "secret": {}}]}
    with pytest.raises(Refused, match=r"spec.volumes\[0\].secret.secretName: Required value"):
        world.cluster.create("pods", {"metadata": {"name": "other"}, "spec": spec})


def test_a_taint_and_a_selector_are_named(world):
    node = world.cluster.get("nodes", "gpu-1")
    world.cluster.change("nodes", node, spec={"taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}]})
    world.cluster.create("pods", pod(gpus=0, nodeSelector={"x": "y"}))
    world.settle()
    text = "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, "
    text += "1 node(s) had untolerated taint {a: b}."
    assert events(world, "FailedScheduling") == [text]


def test_each_gpu_is_given_once(world):
    with_gpus(world)
    for name in ("a", "b", "c"):
        world.cluster.create("pods", pod(name))
    world.settle()
    phases = [world.cluster.get("pods", name, "default")["status"]["phase"] for name in ("a", "b", "c")]
    assert phases == ["Running", "Running", "Pending"]


def test_a_quota_rejects_a_pod(world, client):
    quota = {"metadata": {"name": "q"}, "spec": {"hard": {f"requests.{GPU}": "1"}}}
    world.cluster.create("resourcequotas", quota, "default")
    status, body = client.create("/api/v1/namespaces/default/pods", {"apiVersion": "v1", "kind": "Pod", **pod(gpus=2)})
    text = f'pods "p" is forbidden: exceeded quota: q, requested: requests.{GPU}=2, used: requests.{GPU}=0, '
    assert (status, body["message"]) == (403, f"{text}limited: requests.{GPU}=1")


def nic_policy(**spec):
    return {"metadata": {"name": "nic-cluster-policy"}, "spec": spec}


def plugin(config):
    return {"image": "p", "repository": "r", "version": "v", "config": config}


def test_rdma_resources_come_from_the_configuration_of_the_plugin(world):
    config = {"configList": [{"resourceName": "shared_a", "rdmaHcaMax": 63, "selectors": {"vendors": ["15b3"]}}]}
    hostdev = {"resourceList": [{"resourcePrefix": "nvidia.com", "resourceName": "hostdev", "selectors": {}}]}
    parts = {"rdmaSharedDevicePlugin": plugin(json.dumps(config)), "sriovDevicePlugin": plugin(json.dumps(hostdev))}
    world.cluster.create("nicclusterpolicies", nic_policy(**parts))
    world.settle()
    assert state(world, "nicclusterpolicies", "nic-cluster-policy")["state"] == "ready"
    found = allocatable(world)
    assert (found["rdma/shared_a"], found["nvidia.com/hostdev"]) == ("63", "1")


def test_a_broken_configuration_of_a_plugin_is_not_ready(world):
    world.cluster.create("nicclusterpolicies", nic_policy(rdmaSharedDevicePlugin=plugin("{")))
    world.settle()
    assert state(world, "nicclusterpolicies", "nic-cluster-policy")["state"] == "notReady"


def test_a_plugin_offers_only_the_interfaces_that_it_selects(world):
    rows = [
        {"resourceName": name, "rdmaHcaMax": 63, "selectors": {"vendors": ["15b3"], "ifNames": [interface]}}
        for name, interface in (("first", "ens224"), ("absent", "ens256"))
    ]
    world.cluster.create(
        "nicclusterpolicies", nic_policy(rdmaSharedDevicePlugin=plugin(json.dumps({"configList": rows})))
    )
    world.settle()
    found = allocatable(world)
    assert (found["rdma/first"], found["rdma/absent"]) == ("63", "0")


def test_a_pool_serves_only_the_nodes_of_its_selector(world):
    terms = [{"matchExpressions": [{"key": "pool", "operator": "In", "values": ["other"]}]}]
    spec = {"subnet": "10.0.0.0/24", "perNodeBlockSize": 8, "nodeSelector": {"nodeSelectorTerms": terms}}
    world.cluster.create("ippools", {"metadata": {"name": "p"}, "spec": spec}, "default")
    world.settle()
    assert world.cluster.get("ippools", "p", "default")["status"] == {"allocations": []}


def test_a_network_makes_its_attachment(world):
    spec = {"networkNamespace": "default", "resourceName": "hostdev", "ipam": '{"type": "nv-ipam", "poolName": "p"}'}
    world.cluster.create("hostdevicenetworks", {"metadata": {"name": "roce"}, "spec": spec})
    world.settle()
    assert state(world, "hostdevicenetworks", "roce")["state"] == "ready"
    made = world.cluster.get("network-attachment-definitions", "roce", "default")
    assert json.loads(made["spec"]["config"])["type"] == "host-device"


def test_a_pod_waits_for_its_network(world):
    body = pod(gpus=0)
    body["metadata"]["annotations"] = {"k8s.v1.cni.cncf.io/networks": "roce"}
    world.cluster.create("pods", body)
    world.settle()
    text = "cannot find a network-attachment-definition (roce) in namespace (default)"
    assert events(world, "FailedCreatePodSandBox") == [text]


def mpi_job(name="train", workers=2):
    def role(name, count, **container):
        return {"replicas": count, "template": {"spec": {"containers": [{"name": name, "image": "i:1", **container}]}}}

    worker = role("worker", workers, resources={"limits": {GPU: 1}})
    spec = {"mpiReplicaSpecs": {"Launcher": role("launcher", 1), "Worker": worker}}
    spec["mpiReplicaSpecs"]["Launcher"]["restartPolicy"] = "Never"
    spec.update(
        launcherCreationPolicy="WaitForWorkersReady", runPolicy={"cleanPodPolicy": "Running", "backoffLimit": 0}
    )
    return {"metadata": {"name": name}, "spec": spec}


def conditions(world, plural, name):
    rows = world.cluster.get(plural, name, "default").get("status", {}).get("conditions") or ()
    return {one["type"]: one["status"] for one in rows}


def test_an_mpi_job_runs_to_its_end(world, client):
    with_gpus(world)
    running = {"now": True}
    world.programs["launcher"] = lambda pod, container: (None if running["now"] else 0, "rank 0: loss 0.1\n")
    world.cluster.create("mpijobs", mpi_job())
    world.settle()
    assert conditions(world, "mpijobs", "train") == {"Created": "True", "Running": "True"}
    hosts = world.cluster.get("configmaps", "train-config", "default")["data"]["hostfile"]
    assert hosts.splitlines()[0] == "train-worker-0.train.default.svc slots=1"
    running["now"] = False
    world.programs["launcher"] = lambda pod, container: (0, "rank 0: loss 0.1\n")
    world.cluster.create("configmaps", {"metadata": {"name": "time-passes"}}, "default")
    world.settle()
    assert conditions(world, "mpijobs", "train") == {"Created": "True", "Running": "False", "Succeeded": "True"}
    pods = client.get("/api/v1/namespaces/default/pods")["items"]
    assert [one["metadata"]["labels"]["training.kubeflow.org/job-role"] for one in pods] == ["launcher"]
    assert client.get(f"/api/v1/namespaces/default/pods/{pods[0]['metadata']['name']}/log") == b"rank 0: loss 0.1\n"


def test_a_failed_launcher_fails_the_mpi_job(world):
    with_gpus(world)
    world.programs["launcher"] = lambda pod, container: (1, "ssh: Could not resolve hostname train-worker-0\n")
    world.cluster.create("mpijobs", mpi_job())
    world.settle()
    assert conditions(world, "mpijobs", "train")["Failed"] == "True"


def test_a_deadline_ends_a_pod_that_waits_for_its_image(world):
    with_gpus(world)
    world.images.missing.add("i:1")
    world.cluster.create("pods", pod(gpus=0, activeDeadlineSeconds=60))
    for passed, phase in ((0, "Pending"), (59, "Pending"), (60, "Failed")):
        world.passed = passed
        world.settle()
        assert world.cluster.get("pods", "p", "default")["status"]["phase"] == phase
    assert world.cluster.get("pods", "p", "default")["status"]["reason"] == "DeadlineExceeded"


def test_a_deadline_ends_an_mpi_job_and_its_launcher(world):
    with_gpus(world)
    world.programs["launcher"] = lambda pod, container: (None, "")
    job = mpi_job()
    job["spec"]["runPolicy"]["activeDeadlineSeconds"] = 60
    world.cluster.create("mpijobs", job)
    world.settle()
    world.passed += 60
    world.settle()
    rows = world.cluster.get("mpijobs", "train", "default")["status"]["conditions"]
    (failed,) = [one for one in rows if one["type"] == "Failed"]
    said = ("True", "DeadlineExceeded", "Job was active longer than specified deadline")
    assert (failed["status"], failed["reason"], failed["message"]) == said
    assert world.cluster.list("pods", "default") == []


def test_a_bad_mpi_job_has_an_event_and_no_condition(world):
    job = mpi_job("1st")
    job["spec"]["mpiReplicaSpecs"]["Wroker"] = job["spec"]["mpiReplicaSpecs"].pop("Worker")
    world.cluster.create("mpijobs", job)
    world.settle()
    assert conditions(world, "mpijobs", "1st") == {}
    assert events(world, "ValidationError")[0].startswith("Found validation errors: metadata.name: ")


def runtime():
    container = {"name": "node", "image": "pytorch:2"}
    template = {"metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}}
    template["spec"] = {"template": {"spec": {"containers": [container]}}}
    spec = {"mlPolicy": {"numNodes": 1, "torch": {}}, "template": {"spec": {"replicatedJobs": [{"name": "node"}]}}}
    spec["template"]["spec"]["replicatedJobs"][0]["template"] = template
    return {"metadata": {"name": "torch-distributed"}, "spec": spec}


def train_job():
    trainer = {"numNodes": 2, "command": ["torchrun", "train.py"], "resourcesPerNode": {"limits": {GPU: 1}}}
    return {"metadata": {"name": "t"}, "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": trainer}}


def test_a_train_job_runs_on_its_nodes(world):
    with_gpus(world)
    world.cluster.create("clustertrainingruntimes", runtime())
    world.programs["node"] = lambda pod, container: (0, "done\n")
    world.cluster.create("trainjobs", train_job())
    world.settle()
    assert conditions(world, "trainjobs", "t") == {"Complete": "True"}
    pods = world.cluster.list("pods", "default")
    assert sorted(one["spec"]["nodeName"] for one in pods) == ["gpu-1", "gpu-2"]
    env = {one["name"]: one.get("value") for one in pods[0]["spec"]["containers"][0]["env"]}
    assert env["PET_NNODES"] == "2"


def test_a_train_job_needs_its_runtime(world, client):
    body = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", **train_job()}
    status, found = client.create("/apis/trainer.kubeflow.org/v1alpha1/namespaces/default/trainjobs", body)
    assert (status, "denied the request" in found["message"]) == (403, True)


def test_owned_objects_go_with_their_owner(world, client):
    with_gpus(world)
    world.cluster.create("mpijobs", mpi_job())
    world.settle()
    client.call("DELETE", "/apis/kubeflow.org/v2beta1/namespaces/default/mpijobs/train")
    world.settle()
    assert world.cluster.list("pods", "default") == []
    assert world.cluster.get("secrets", "train-ssh", "default") is None


def test_a_namespace_goes_with_its_content(world, client):
    world.cluster.create("namespaces", {"metadata": {"name": "n"}})
    world.cluster.create("configmaps", {"metadata": {"name": "c"}}, "n")
    assert client.call("DELETE", "/api/v1/namespaces/n")[1]["status"]["phase"] == "Terminating"
    world.settle()
    assert client.call("GET", "/api/v1/namespaces/n")[0] == 404


def test_a_job_that_is_being_deleted_gets_no_new_pods(world, client):
    world.programs["launcher"] = lambda _pod, _container: (None, "")
    world.cluster.create("mpijobs", mpi_job())
    world.settle()
    body = {"propagationPolicy": "Foreground"}
    client.call("DELETE", "/apis/kubeflow.org/v2beta1/namespaces/default/mpijobs/train", body)
    world.settle()
    assert [world.cluster.list(plural, "default") for plural in ("mpijobs", "jobs", "pods")] == [[], [], []]


def test_a_diagnostic_needs_its_host_engine_and_a_known_level(world):
    with_gpus(world)
    lines = "dcgmi diag --run 1 --json\nnv-hostengine\ndcgmi diag --run all --json\n"
    body = pod(restartPolicy="Never")
    body["spec"]["containers"][0]["command"] = ["/bin/sh", "-c", lines]
    world.cluster.create("pods", body)
    world.settle()
    found = [line.partition(":")[0] for line in world.cluster.logs["default", "p", "c"].splitlines()]
    assert found == ["Error", "Error", "Started host engine version 4.2.3 using port number", "PARSE ERROR"]
