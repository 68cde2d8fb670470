"""Jobs for a training of the site, and the causes of their failures."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import causes, job, nodes, schema, state
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.plan import plan
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.checks import problems

from unit.plugins.plugin_utils.kubernetes import clusters
from unit.plugins.plugin_utils.kubernetes.clusters import before, event, requested, site, waiting

DEFINITIONS = [
    clusters.definition("nvidia.com", "ClusterPolicy", "v1"),
    clusters.definition("kubeflow.org", "MPIJob", "v2beta1"),
    clusters.definition("trainer.kubeflow.org", "TrainJob", "v1alpha1"),
]
NAMESPACES = [{"metadata": {"name": name}} for name in ("gpu-operator", "aiready")]
HOROVOD = {"image": "images.example.org/horovod:0.28.1", "engine": "horovod", "builtin": "small"}
TORCH = {
    "image": "images.example.org/pytorch:24.05",
    "command": ["python3", "/data/train.py"],
    "arguments": ["--epochs", "1"],
}


def with_training(training, **more):
    return {**site(training=more), "training": training}


def made(training, **more):
    planned = plan(requested(with_training(training, **more)), before(definitions=DEFINITIONS, namespaces=NAMESPACES))
    assert (planned["problems"], planned["later"]) == ([], [])
    return planned["training"]


def test_horovod_is_an_mpijob_with_its_script():
    scripts, mpijob = made(HOROVOD)
    assert sorted(scripts["data"]) == ["engines.py", "small.py"]
    replicas = mpijob["spec"]["mpiReplicaSpecs"]
    assert (replicas["Launcher"]["replicas"], replicas["Worker"]["replicas"], mpijob["spec"]["slotsPerWorker"]) == (
        1,
        2,
        1,
    )
    (launcher,) = replicas["Launcher"]["template"]["spec"]["containers"]
    assert launcher["command"][:4] == ["mpirun", "--allow-run-as-root", "-np", "2"]
    assert job.SSH in launcher["command"]
    assert launcher["command"][-4:] == ["python3", "/opt/aiready/small.py", "--engine", "horovod"]
    # sshd would drop an environment of the worker.
    assert "NCCL_SOCKET_IFNAME=eth0" in launcher["command"]
    (worker,) = replicas["Worker"]["template"]["spec"]["containers"]
    assert worker["resources"] == {"limits": {"nvidia.com/gpu": 1}}
    assert worker["securityContext"] == {"capabilities": {"add": ["IPC_LOCK"]}}
    tolerations = {str(one["template"]["spec"]["tolerations"]) for one in replicas.values()}
    assert tolerations == {str(list(nodes.TOLERATIONS))}


def test_torchrun_is_a_trainjob():
    (trainjob,) = made(TORCH, nodes=4)
    trainer = trainjob["spec"]["trainer"]
    assert (trainer["numNodes"], trainer["numProcPerNode"]) == (4, 1)
    assert trainer["command"] == ["torchrun", "/data/train.py", "--epochs", "1"]
    assert trainer["resourcesPerNode"] == {"limits": {"nvidia.com/gpu": 1}}
    (patch,) = trainjob["spec"]["runtimePatches"]
    (node,) = patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    (shm,) = node["template"]["spec"]["template"]["spec"]["volumes"]
    assert shm == {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}


def test_program_that_is_not_python():
    (trainjob,) = made({**TORCH, "command": ["/opt/train"], "arguments": []})
    assert trainjob["spec"]["trainer"]["command"] == ["torchrun", "--no-python", "/opt/train"]


@pytest.mark.parametrize(
    "field, found",
    [
        ("podTemplateOverrides", {"targetJobs", "spec"}),
        ("podSpecOverrides", {"targetJobs", "volumes", "containers"}),
    ],
)
def test_older_trainer_has_another_field_for_pods(field, found):
    definition = copy.deepcopy(clusters.definition("trainer.kubeflow.org", "TrainJob", "v1alpha1"))
    spec = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    del spec["runtimePatches"]
    spec[field] = {"type": "array", "items": {"type": "object"}}
    (trainjob,) = job.objects(requested(with_training(TORCH))["training"], [definition])
    (override,) = trainjob["spec"][field]
    assert set(override) == found


@pytest.mark.parametrize(
    "training", [HOROVOD, TORCH, {**HOROVOD, "gpus": "none", "slots": 2}, {**TORCH, "gpus": "none"}]
)
@pytest.mark.parametrize("more", [{}, {"queue": "gpus", "pull_secrets": ["registry"]}])
def test_job_fits_the_schema_of_its_operator(training, more):
    last = made(training, **more)[-1]
    group, version = last["apiVersion"].split("/")
    assert list(schema.problems(clusters.schema(group, last["kind"], version), last)) == []


def test_queue_and_pull_secret():
    (trainjob,) = made(TORCH, queue="gpus", pull_secrets=["registry"])
    assert trainjob["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "gpus"}
    (patch,) = trainjob["spec"]["runtimePatches"]
    pod = patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    assert pod["imagePullSecrets"] == [{"name": "registry"}]


@pytest.mark.parametrize("training", [HOROVOD, TORCH])
@pytest.mark.parametrize("mode", ["required", "preferred"])
def test_topology_is_an_annotation_of_the_pods_with_ranks(training, mode):
    last = made(training, queue="gpus", topology={"level": "example.com/rack", "mode": mode})[-1]
    if training is HOROVOD:
        replicas = last["spec"]["mpiReplicaSpecs"]
        assert "metadata" not in replicas["Launcher"]["template"]
        template = replicas["Worker"]["template"]
    else:
        (patch,) = last["spec"]["runtimePatches"]
        (node,) = patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
        template = node["template"]["spec"]["template"]
    assert template["metadata"] == {"annotations": {f"kueue.x-k8s.io/podset-{mode}-topology": "example.com/rack"}}
    group, version = last["apiVersion"].split("/")
    assert list(schema.problems(clusters.schema(group, last["kind"], version), last)) == []


@pytest.mark.parametrize(
    "more, reported",
    [
        ({"topology": {"level": "example.com/rack"}}, "site.kubernetes.training.topology: only Kueue reads it"),
        ({"queue": "gpus", "topology": {"level": "a rack"}}, "site.kubernetes.training.topology.level: a rack is not"),
        ({"queue": "gpus", "topology": {"level": "rack"}}, ""),
    ],
)
def test_topology_needs_a_queue_and_a_label(more, reported):
    found = problems(with_training(TORCH, **more))
    assert [one[: len(reported)] for one in found] == ([reported] if reported else [])


def test_unchanged_job_has_the_same_name_and_another_run_a_new_one():
    names = [made(TORCH, **more)[-1]["metadata"]["name"] for more in ({}, {}, {"run": "2"}, {"nodes": 3})]
    assert names[0] == names[1]
    assert len(set(names)) == 3


def test_environment_of_the_user_has_precedence():
    (trainjob,) = made({**TORCH, "environment": {"NCCL_DEBUG": "WARN"}})
    assert {"name": "NCCL_DEBUG", "value": "WARN"} in trainjob["spec"]["trainer"]["env"]


@pytest.mark.parametrize(
    "given, size", [("1g", "1Gi"), ("512m", "512Mi"), ("64MB", "64Mi"), ("1073741824", "1073741824")]
)
def test_size_of_the_shared_memory(given, size):
    (trainjob,) = made({**TORCH, "shm_size": given})
    assert size in str(trainjob)


def test_cluster_without_the_operator_of_the_job():
    planned = plan(requested(with_training(HOROVOD)), before(namespaces=NAMESPACES))
    (found,) = planned["problems"]
    assert "Install the MPI Operator" in found


def test_namespace_that_does_not_exist_yet():
    planned = plan(requested(with_training(TORCH)), before(definitions=DEFINITIONS))
    assert planned["later"] == [planned["training"][-1]["metadata"]["name"]]
    assert [one["metadata"]["name"] for one in planned["objects"]] == ["gpu-operator", "aiready", "cluster-policy"]


@pytest.mark.parametrize(
    "whole, found",
    [
        (site(training={}), "the site has no training"),
        (with_training({**TORCH, "engine": "ray"}), "site.training.engine: it is ray"),
        (
            with_training({**TORCH, "restarts": 1}),
            "site.training.restarts: site.kubernetes.training does not support it",
        ),
        (with_training(TORCH, nodes=0), "site.kubernetes.training.nodes: 0 is not a valid number"),
        (with_training(TORCH, namespace="Ai"), "site.kubernetes.training.namespace: Ai is not a valid name"),
        (
            {
                **with_training(TORCH),
                "kubernetes": {"kubeconfig": "/k", "training": {}, "gpu_operator": {"mig_strategy": "mixed"}},
            },
            "Set it to single.",
        ),
    ],
)
def test_site_with_a_problem(whole, found):
    (only,) = problems(whole)
    assert found in only


def test_site_without_a_problem():
    assert problems(with_training(TORCH)) == []


def ended(kind, reason="", message=""):
    condition = {"type": kind, "status": "True", "reason": reason, "message": message}
    return [
        {
            "metadata": {"name": "aiready-1"},
            "status": {"conditions": [{"type": "Created", "status": "True"}, condition]},
        }
    ]


def faults(**seen):
    whole = {"jobs": ended("Failed", "BackoffLimitExceeded", "launcher failed"), "pods": [], "events": [], "log": ""}
    return state.job_faults({"training": {"limit_s": 60}}, {**whole, **seen})


@pytest.mark.parametrize("kind, over", [("Succeeded", True), ("Complete", True), ("Failed", True), ("Running", False)])
def test_job_that_ended(kind, over):
    assert state.settled(ended(kind)) is over


def test_job_that_does_not_exist_has_not_ended():
    assert state.settled([]) is False


@pytest.mark.parametrize("kind", ["Succeeded", "Complete"])
def test_success(kind):
    assert faults(jobs=ended(kind)) == []


def test_failure_has_the_last_line_of_the_log():
    (found,) = faults(log="step 1\nboom\n")
    assert found == (
        "The training aiready-1 did not succeed. The cluster reports: BackoffLimitExceeded: launcher failed. "
        "The last line of its log: boom. A failed job does not run again. Correct the cause, and set "
        "site.kubernetes.training.run to another name."
    )


@pytest.mark.parametrize(
    "line, cause",
    [
        ("ssh: Could not resolve hostname aiready-1-worker-0", "does not reach the workers"),
        ("There are not enough slots available in the system", "more ranks than slots"),
        ("ibv_reg_mr failed: Cannot allocate memory", "lock enough memory"),
        ("ModuleNotFoundError: No module named 'horovod'", "contains no Horovod"),
        ("CUDA driver version is insufficient for CUDA runtime version", "does not fit the CUDA release"),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", "too little free memory"),
        ("RuntimeError: CUDA error: out of memory", "too little free memory"),
        ("CUDA error: no kernel image is available for execution on the device", "no code for this type of GPU"),
        ("CUDA error: an illegal memory access was encountered", "Xid errors"),
    ],
)
def test_cause_in_the_log(line, cause):
    first, _last = faults(log=f"step 1\n{line}\nend")
    assert cause in first


def test_each_cause_has_its_first_line():
    log = "CUDA error: out of memory\nCUDA error: unknown error\nCUDA error: other\nNo module named 'horovod'\n"
    lines = [line for line, _cause, _fix in causes.of_log(log)]
    assert lines == ["No module named 'horovod'", "CUDA error: out of memory", "CUDA error: unknown error"]


def test_time_limit():
    (found,) = faults(jobs=ended("Running"))
    assert "The limit site.training.limits.wall_s is 60 s." in found


def test_pod_that_waits_for_a_gpu():
    first, _last = faults(
        pods=[{"metadata": {"name": "pod-1"}, "status": {"phase": "Pending"}}],
        events=[event("1 Insufficient nvidia.com/gpu")],
    )
    assert "enough free GPUs" in first


def test_image_of_the_training():
    first, _last = faults(pods=[waiting("ErrImagePull", "not found")])
    assert "no image with this name" in first


def test_job_that_the_operator_rejects_has_no_condition():
    reported = event("Found validation errors: replicas", "ValidationError", "MPIJob", "aiready-1")
    first, last = faults(jobs=[{"metadata": {"name": "aiready-1"}}], events=[reported])
    assert first.startswith("MPIJob aiready-1: ")
    assert "no condition says that it ended" in last


@pytest.mark.parametrize("key", ["training.kubeflow.org/job-name", "jobset.sigs.k8s.io/jobset-name"])
def test_pods_and_events_of_other_jobs_are_no_cause(key):
    mine, other = (waiting("ErrImagePull", "not found", f"{name}-worker-0") for name in ("aiready-1", "aiready-0"))
    mine["metadata"]["labels"], other["metadata"]["labels"] = {key: "aiready-1"}, {key: "aiready-0"}
    reported = [event("exceeded quota: gpus", "FailedCreate", "Job", f"aiready-{n}-launcher") for n in (0, 1)]
    *causes, _last = faults(pods=[mine, other], events=reported)
    assert [one.partition(":")[0] for one in causes] == ["aiready-1-worker-0", "Job aiready-1-launcher"]


@pytest.mark.parametrize(
    "kind, name, own",
    [
        ("MPIJob", "train", True),
        ("Job", "train-launcher", True),
        ("Job", "train-node-0", True),
        ("Job", "train-own-0", True),
        ("MPIJob", "train-2", False),
        ("Job", "train-2-launcher", False),
        ("Job", "train-2-node-0", False),
        ("MPIJob", "train-launcher", False),
    ],
)
def test_events_of_a_job_with_a_longer_name_are_no_cause(kind, name, own):
    owner = {"kind": "Job", "name": "train-own-0"}
    labels = {"jobset.sigs.k8s.io/jobset-name": "train"}
    pod = {"metadata": {"name": "train-own-0-0", "labels": labels, "ownerReferences": [owner]}, "status": {}}
    reported = event("exceeded quota: gpus", "FailedCreate", kind, name)
    found = faults(jobs=[{"metadata": {"name": "train"}}], pods=[pod], events=[reported])
    assert any(one.startswith(f"{kind} {name}: ") for one in found) is own
