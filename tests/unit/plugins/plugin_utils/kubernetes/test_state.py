"""States of a cluster, and the causes that they name."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import causes, nodes, state

from unit.plugins.plugin_utils.kubernetes.clusters import event, node, ready, waiting

REQUESTED = {"nodes": {}, "gpus": 1}
RUNS = {
    "metadata": {"name": "pod-0"},
    "status": {"phase": "Running", "containerStatuses": [{"name": "main", "ready": True}]},
}
DONE = {"metadata": {"name": "pod-9"}, "status": {"phase": "Succeeded"}}
PENDING = {"metadata": {"name": "pod-1"}, "status": {"phase": "Pending"}}


def faults(requested=None, **seen):
    whole = {"policies": [ready()], "nodes": [node()], "pods": [RUNS, DONE], "events": []}
    return state.faults({**REQUESTED, **(requested or {})}, {**whole, **seen})


def test_cluster_without_a_fault():
    assert faults() == []


@pytest.mark.parametrize(
    "reason, message, cause",
    [
        ("ImagePullBackOff", "driver:580-ubuntu24.04: not found", "no image with this name"),
        ("ErrImagePull", "manifest unknown", "no image with this name"),
        ("InvalidImageName", "couldn't parse image reference", "no image with this name"),
        ("ErrImagePull", "401 Unauthorized", "rejects the login"),
        ("ImagePullBackOff", "pull access denied", "rejects the login"),
        ("ErrImagePull", "x509: certificate signed by unknown authority", "cannot reach the registry"),
        ("ErrImagePull", "dial tcp: lookup images.example.org: no such host", "cannot reach the registry"),
        ("ErrImagePull", "unexpected EOF", "cannot pull the image"),
        ("CreateContainerError", "CDI device injection failed: unresolvable CDI devices", "CDI specification"),
        ("CreateContainerConfigError", 'secret "registry" not found', "secret or ConfigMap of the pod is missing"),
        ("CrashLoopBackOff", "back-off 5m0s restarting failed container", "ends after its start"),
    ],
)
def test_container_that_waits(reason, message, cause):
    (found,) = faults(pods=[RUNS, waiting(reason, message)])
    assert found.startswith("pod-1: the pod does not run.")
    assert cause in found


def test_driver_that_cannot_be_built():
    pod = waiting("CrashLoopBackOff", "", "nvidia-driver-daemonset-1", causes.DRIVER_CONTAINER)
    (found,) = faults(pods=[pod])
    assert "nvidia-driver-daemonset-1: the pod does not run. The driver of the GPU cannot be built or loaded." in found


def test_container_that_used_too_much_memory():
    pod = waiting("CrashLoopBackOff")
    pod["status"]["containerStatuses"][0]["lastState"] = {"terminated": {"reason": "OOMKilled"}}
    (found,) = faults(pods=[pod])
    assert "exceeded its memory limit" in found


def test_pod_that_exceeded_its_limit():
    pod = waiting("Error")
    pod["status"].update(phase="Failed", reason="DeadlineExceeded", message="Pod was active on the node longer")
    (found,) = faults(pods=[pod])
    assert "The pod exceeded its limit, which includes the pull of its image" in found


def test_job_that_does_not_exist():
    empty = {"jobs": [], "pods": [], "events": []}
    assert state.failures({}, empty) == ["The job did not succeed. The cluster does not have it."]


@pytest.mark.parametrize(
    "reported, cause",
    [
        (event("0/3 nodes are available: 2 Insufficient nvidia.com/gpu."), "enough free GPUs"),
        (event("0/3 nodes are available: 3 Insufficient cpu."), "enough free resources"),
        (event("1 node(s) had untolerated taint {dedicated: ai}"), "taint that the pod does not tolerate"),
        (
            event(
                "1 node(s) didn't match Pod's node affinity/selector, 2 node(s) didn't match pod anti-affinity rules"
            ),
            "A pod of an earlier check is still on the node",
        ),
        (event("3 node(s) didn't match Pod's node affinity/selector"), "labels that the pod requires"),
        (
            event(
                "1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 node(s) didn't match "
                "Pod's node affinity/selector"
            ),
            "labels that the pod requires",
        ),
        (
            event("1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }"),
            "taint that the pod does not tolerate",
        ),
        (event("0/2 nodes are available: 2 Too many pods."), "another pod"),
        (
            event("nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.4", "Failed"),
            "does not fit the CUDA release",
        ),
        (event("nvidia-container-cli: initialization error: nvml error: driver not loaded", "Failed"), "not loaded"),
        (event('plugin type="calico" failed (add): timeout', "FailedCreatePodSandBox"), "network plugin of the node"),
        (event('no runtime for "nvidia" is configured', "FailedCreatePodSandBox"), "no runtime nvidia"),
        (
            event("cannot find a network-attachment-definition (roce) in namespace (x)", "FailedCreatePodSandBox"),
            "network",
        ),
        (event("error code system not yet initialized", "Failed"), "Fabric Manager"),
    ],
)
def test_event_of_a_pod(reported, cause):
    (found,) = faults(pods=[PENDING], events=[reported])
    assert cause in found


@pytest.mark.parametrize(
    "message, cause",
    [
        ('pods "x" is forbidden: violates PodSecurity "restricted:latest"', "pod security level"),
        ("pods x is forbidden: exceeded quota: gpus", "quota of the namespace"),
        ("pods x is forbidden: failed quota: q: must specify limits.cpu for: worker", "requires requests or limits"),
        (
            'pods "x-" is forbidden: unable to validate against any security context constraint: [provider "anyuid"]',
            "SecurityContextConstraints",
        ),
        ("pods x is forbidden: maximum cpu usage per Container is 2, but limit is 4", "admission of the cluster"),
        ('admission webhook "a.example.org" denied the request: no label team', "admission of the cluster"),
    ],
)
def test_pod_that_was_never_created(message, cause):
    (found,) = faults(events=[event(message, "FailedCreate", "DaemonSet", "driver")])
    assert found.startswith("DaemonSet driver: ")
    assert cause in found


def test_failure_of_the_api_server_is_no_cause():
    """The controller tries again, and the event stays for an hour."""
    assert not faults(events=[event("etcdserver: request timed out", "FailedCreate", "DaemonSet", "driver")])


@pytest.mark.parametrize(
    "owner, created, past",
    [
        ("driver", "2026-03-01T08:20:00Z", True),
        ("driver", "2026-03-01T08:15:30Z", True),
        ("driver", "2026-03-01T08:10:00Z", False),
        ("toolkit", "2026-03-01T08:20:00Z", False),
    ],
)
def test_rejection_before_a_newer_pod_of_the_same_owner_is_past(owner, created, past):
    reported = event(
        'pods "x" is forbidden: violates PodSecurity "restricted:latest"', "FailedCreate", "DaemonSet", "driver"
    )
    references = [{"kind": "DaemonSet", "name": owner}]
    pod = {**RUNS, "metadata": {"name": "pod-0", "creationTimestamp": created, "ownerReferences": references}}
    found = faults(pods=[pod], events=[{**reported, "lastTimestamp": "2026-03-01T08:15:30Z"}])
    assert bool(found) is not past


def test_rejections_of_generated_names_are_one_cause():
    texts = [f'pods "driver-{name}" is forbidden: exceeded quota: gpus' for name in ("8f2zr", "dcjkf")]
    (found,) = faults(events=[event(text, "FailedCreate", "DaemonSet", "driver") for text in texts])
    assert 'pods "driver-*" is forbidden' in found


@pytest.mark.parametrize("reason", ["Evicted", "NodeShutdown", "OutOfnvidia.com/gpu"])
def test_pod_that_its_node_removed(reason):
    pod = {"metadata": {"name": "pod-1"}, "status": {"phase": "Failed", "reason": reason, "message": "low on memory"}}
    (found,) = faults(pods=[pod])
    assert "The node rejected or removed the pod. The cluster reports: low on memory." in found


def test_rejected_device():
    pod = {"metadata": {"name": "pod-1"}, "status": {"phase": "Failed", "reason": "UnexpectedAdmissionError"}}
    (found,) = faults(pods=[pod])
    assert "could not allocate the device" in found


def test_event_of_a_pod_that_runs_is_past():
    assert faults(events=[event("Insufficient nvidia.com/gpu", name="pod-0")]) == []


def test_cause_of_many_pods_is_reported_once():
    pods = [waiting("ErrImagePull", "not found", f"pod-{number}") for number in range(5)]
    (found,) = faults(pods=pods)
    assert found.startswith("pod-0, pod-1, pod-2 and 2 more: ")


def test_text_of_a_pod_is_one_short_line_without_control_characters():
    (found,) = faults(pods=[waiting("ErrImagePull", f"not found\n\x1b[31m{'x' * 5000}")])
    assert "\x1b" not in found
    assert "\n" not in found
    assert len(found) < 700


@pytest.mark.parametrize(
    "reported, found",
    [
        pytest.param([], "It has not reported a state", id="no policy"),
        pytest.param([{"metadata": {}}], "It has not reported a state", id="no state"),
        pytest.param(
            [ready("notReady", "OperandNotReady", "states not ready: [state-driver]")], "state-driver", id="part"
        ),
        pytest.param([ready("ready", "NFDLabelsMissing")], "NFDLabelsMissing", id="no labels"),
        pytest.param([ready("ignored", "")], "has the state ignored", id="second policy"),
    ],
)
def test_operator_that_is_not_ready(reported, found):
    (only,) = faults(policies=reported)
    assert found in only


def test_older_operator_without_conditions_is_ready():
    assert state.policy_ready([{"status": {"state": "ready"}}])


def test_node_with_too_few_gpus():
    (found,) = faults({"gpus": 2})
    assert found.startswith("Node gpu-01 offers 1 GPUs, but site.gpu.per_vm requests 2.")


@pytest.mark.parametrize("quantity, offered", [("8", 8), (8, 8), ("1k", 1000), ("many", 0), (None, 0)])
def test_number_of_gpus_as_a_quantity(quantity, offered):
    assert nodes.offered({"status": {"allocatable": {"nvidia.com/gpu": quantity}}}) == offered


def test_mig_instances_count():
    one = node(gpus=1)
    one["status"]["allocatable"] = {"nvidia.com/gpu": "0", "nvidia.com/mig-1g.10gb": "7"}
    assert faults({"gpus": 7}, nodes=[one]) == []


def test_node_that_is_not_ready():
    one = node()
    one["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    (found,) = faults(nodes=[one])
    assert found.startswith("Node gpu-01 is not ready.")


@pytest.mark.parametrize(
    "labels, found",
    [
        ({}, "no label of a PCI device of NVIDIA"),
        ({"feature.node.kubernetes.io/pci-10de.present": "true"}, "but not the label nvidia.com/gpu.present"),
    ],
)
def test_node_without_the_label_of_the_operator(labels, found):
    (only,) = faults({"nodes": {"pool": "gpu"}}, nodes=[node(gpus=0, labels={"pool": "gpu", **labels})])
    assert found in only


def test_cluster_without_a_gpu_node():
    (found,) = faults(nodes=[node(gpus=0)])
    assert found.startswith("No node of the cluster has a GPU.")


def test_driver_of_a_node_that_does_not_fit_its_host():
    labels = {"nvidia.com/vgpu.host-driver-version": "580.65.05", "nvidia.com/cuda.driver-version.full": "470.57.02"}
    (found,) = faults(nodes=[node(labels=labels)])
    assert "does not support this guest driver" in found


@pytest.mark.parametrize(
    "metadata, spec, cause",
    [
        (
            {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.org/backup"]},
            {},
            "The job a is being deleted and does not end. Its finalizers are example.org/backup.",
        ),
        (
            {"labels": {"kueue.x-k8s.io/queue-name": "gpus"}},
            {"runPolicy": {"suspend": True}},
            "Kueue has not admitted the job a. It waits in the queue gpus, which may be missing or full.",
        ),
        ({"labels": {"kueue.x-k8s.io/queue-name": "gpus"}}, {"suspend": True}, "Kueue has not admitted the job a."),
    ],
)
def test_job_that_something_holds(metadata, spec, cause):
    job = {"metadata": {"name": "a", "namespace": "aiready", **metadata}, "spec": spec}
    seen = {"jobs": [job], "pods": [], "events": []}
    assert cause in " ".join(state.job_faults({**REQUESTED, "training": {"limit_s": 60}}, seen))
