# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Causes of pods that do not run, from their states and events. Pure.

Texts of a cluster come from images and users of the cluster, so messages show only their beginning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core.plain_text import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Objects = Sequence[Mapping[str, Any]]

LONGEST = 300
# Events of an owner whose pods do not exist.
OF_OWNERS = ("FailedCreate", "ValidationError")
# Further pods with the same cause are counted.
NAMED = 3


@dataclass(frozen=True)
class Cause:
    """A cause and its fix; a pattern of a reason and one of a message select it."""

    reason: str
    message: str
    cause: str
    fix: str


TAINT = (
    "The nodes have a taint that the pod does not tolerate",
    "Remove the taint, or add a toleration in site.kubernetes.gpu_operator.spec.daemonsets.tolerations, or in the "
    "runtime of a TrainJob. Other pods of the role tolerate only the taint nvidia.com/gpu",
)
EXCEEDED = "DeadlineExceeded"
IMAGE = r"ImagePullBackOff|ErrImagePull|ErrImageNeverPull|InvalidImageName"
# The first match counts. Reasons and messages are those of the kubelet, the scheduler and the container runtimes. Texts
# of registries differ by runtime, so their patterns are short.
CAUSES = (
    Cause(
        IMAGE,
        r"not found|manifest unknown|InvalidImageName",
        "The registry has no image with this name and tag",
        "Check name and tag. For the driver, the operator adds the suffix of the operating system to the version, such "
        "as -ubuntu22.04",
    ),
    Cause(
        IMAGE,
        r"unauthorized|denied|\b40[13]\b|authentication",
        "The registry rejects the login",
        "Set site.kubernetes.pull_secret, or create the pull secret in the namespace of the pod and name it in "
        "pull_secrets of site.kubernetes.gpu_operator.driver, training or checks",
    ),
    Cause(
        IMAGE,
        r"x509|no such host|i/o timeout|connection refused",
        "The node cannot reach the registry, or does not trust its certificate",
        "Check name resolution, proxy and certificate authorities of the nodes",
    ),
    Cause(IMAGE, "", "The node cannot pull the image", "Check image, registry and pull secret"),
    Cause(
        "",
        r"no runtime for \"?nvidia\"? is configured",
        "The container runtime of the node has no runtime nvidia",
        "Check the pod of the container toolkit on the node. For RKE2 and k3s, set CONTAINERD_CONFIG and "
        "CONTAINERD_SOCKET in site.kubernetes.gpu_operator.spec.toolkit.env",
    ),
    Cause(
        "",
        r"unresolvable CDI devices",
        "The container runtime does not find the CDI specification of the GPU",
        "Use a container toolkit that is not older than the device plugin, or set "
        "site.kubernetes.gpu_operator.spec.cdi.enabled to false",
    ),
    Cause(
        "",
        r"violates PodSecurity",
        "The pod security level of the namespace rejects the pod",
        "Label the namespace with pod-security.kubernetes.io/enforce=privileged",
    ),
    Cause(
        "",
        r"unable to validate against any security context constraint",
        "No SecurityContextConstraints of OpenShift allow the pod",
        "Check that the users of the SecurityContextConstraints aiready-training-NAMESPACE have the service account of "
        "the pod",
    ),
    Cause(
        "",
        r"failed quota: .*must specify",
        "A quota of the namespace requires requests or limits that the pod does not have",
        "Create a LimitRange with defaults in the namespace, or use a namespace without this quota",
    ),
    Cause(
        "",
        r"exceeded quota",
        "The quota of the namespace is used up",
        "Raise the ResourceQuota of the namespace, or remove other pods",
    ),
    Cause(
        "",
        r"Insufficient nvidia\.com/(gpu|mig-)",
        "No node has enough free GPUs for the pod",
        "End other pods with GPUs, or request fewer GPUs. With the MIG strategy mixed, request the resource of the "
        "profile",
    ),
    Cause(
        "",
        r"Insufficient (nvidia\.com|rdma)/",
        "No node has a free RDMA adapter for the pod",
        "End other pods that use the network. With attachment host_device, each adapter serves one pod, so use macvlan "
        "in site.kubernetes.network_operator for several pods on a node",
    ),
    Cause(
        "",
        r"Insufficient (\S+)",
        "No node has enough free resources for the pod",
        "End other pods, or request less",
    ),
    Cause(
        "",
        r"were unschedulable",
        "The node of the pod is cordoned",
        "Uncordon it, or leave it out with site.kubernetes.nodes",
    ),
    Cause(
        "",
        r"didn't match pod (anti-)?affinity rules",
        "A pod of an earlier check is still on the node",
        "Delete the pods with the label aiready.vsphere/check, and check the kubelet of their node",
    ),
    # Each message also counts the nodes of the control plane.
    Cause("", r"untolerated taint \{(?!node-role\.kubernetes\.io/(control-plane|master)\b)", *TAINT),
    Cause(
        "",
        r"didn't match Pod's node (affinity|selector)",
        "No node has the labels that the pod requires",
        "Label the nodes, and check node feature discovery",
    ),
    Cause("", r"untolerated taint", *TAINT),
    Cause("", r"Too many pods", "No node may start another pod", "End other pods, or raise maxPods of the kubelets"),
    Cause(
        "",
        r"cannot find a network-attachment-definition",
        "The network of the pod does not exist in this namespace",
        "Check name and namespace of the network attachment",
    ),
    Cause(
        "",
        r"nv-ipam|no free (IP|address)",
        "The address pool of the network has no free address for the pod",
        "Raise per_node of site.kubernetes.network_operator, or use a larger subnet",
    ),
    Cause(
        "",
        r"persistentvolumeclaim \"[^\"]*\" not found",
        "The namespace of the pod has no PersistentVolumeClaim with this name",
        "Create it, or correct site.kubernetes.checks.gds_claim",
    ),
    Cause(
        "",
        r"unbound immediate PersistentVolumeClaims",
        "The PersistentVolumeClaim of the pod has no volume",
        "Check its StorageClass and its PersistentVolume",
    ),
    Cause(
        "FailedAttachVolume",
        r"Multi-Attach error",
        "Another node uses the volume, which allows only one",
        "Use a PersistentVolumeClaim with the access mode ReadOnlyMany or ReadWriteMany in "
        "site.kubernetes.checks.gds_claim",
    ),
    Cause(
        "FailedMount",
        r"hostPath type check failed",
        "The node has no folder with the file of site.stack.gds.read_file",
        "Mount the storage on the node, or name a PersistentVolumeClaim in site.kubernetes.checks.gds_claim",
    ),
    Cause(
        "UnexpectedAdmissionError",
        "",
        "The kubelet could not allocate the device",
        "Check the device plugin on the node, and request one time slice only",
    ),
    Cause(
        "",
        r"unsatisfied condition: cuda",
        "The driver of the node does not fit the CUDA release of the image",
        "Use an image for the driver of the nodes, or update the driver",
    ),
    Cause(
        "",
        r"nvml error: driver not loaded|nvidia-container-cli: initialization error",
        "The driver of the GPU is not loaded on the node",
        "Read the log of the driver pod on the node, or run nvidia-smi on a node with its own driver",
    ),
    Cause(
        r"Evicted|NodeLost|NodeShutdown|Terminated|Preempting|NodeAffinity|OutOf.+",
        "",
        "The node rejected or removed the pod",
        "Check the resources and the events of the node, with: kubectl describe node",
    ),
    Cause(
        "",
        r"error code system not yet initialized",
        "The Fabric Manager of the NVSwitches does not run",
        "Start it on the host, and give the VM a complete set of GPUs",
    ),
    Cause(
        EXCEEDED,
        "",
        "The pod exceeded its limit, which includes the pull of its image",
        "Raise site.kubernetes.checks.limit_s, or site.training.limits.wall_s for NCCL and trainings",
    ),
    Cause("OOMKilled", "", "The container exceeded its memory limit", "Raise the limit"),
    Cause(
        "CrashLoopBackOff|Error|StartError|RunContainerError",
        "",
        "The container ends after its start",
        "Read its last log, with: kubectl logs --previous",
    ),
    Cause(
        "ValidationError", "", "The MPI Operator rejects the job", "Correct site.training or site.kubernetes.training"
    ),
    Cause(
        "FailedCreate",
        r"is forbidden|denied the request",
        "The admission of the cluster rejects the pod",
        "Change what it reports, or ask the owner of the LimitRange or webhook",
    ),
    Cause(
        "CreateContainerError|FailedCreatePodSandBox",
        "",
        "The container runtime or the network plugin of the node cannot start the pod",
        "Correct what they report, and check their logs on the node",
    ),
    Cause("CreateContainerConfigError", "", "A secret or ConfigMap of the pod is missing", "Create it"),
    Cause("FailedMount", r"not found|non-existent", "A secret or ConfigMap of the pod is missing", "Create it"),
)
DRIVER = Cause(
    "",
    "",
    "The driver of the GPU cannot be built or loaded",
    "Read the log of the container nvidia-driver-ctr. Without a repository for the headers of the kernel, set "
    "site.kubernetes.gpu_operator.spec.driver.repoConfig. For a vGPU, compare its branch with the driver of the host",
)
DRIVER_CONTAINER = "nvidia-driver-ctr"
SECURITY = "violates PodSecurity"
GENERATED = re.compile(r'(pods "[^"]*-)[a-z0-9]{5}(?=")')


def short(text: object) -> str:
    """One line of a text of the cluster, without control characters."""
    line = " ".join(shown(str(text)).split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 3]}..."


def of_pods(pods: Objects, events: Objects) -> list[str]:
    """Each cause once, with the names of its pods."""
    grouped: dict[tuple[Cause, str], list[str]] = {}
    for pod in pods:
        found = None if _runs(pod) else _of_pod(pod, events)
        if found:
            grouped.setdefault(found, []).append(short(pod["metadata"]["name"]))
    for event in events:
        # A pod that was rejected does not exist, only an event of its owner.
        if event.get("reason") in OF_OWNERS and _owner(event)[0] != "Pod" and not _is_past(event, pods):
            # Each attempt has another generated name.
            message = GENERATED.sub(r"\1*", event.get("message") or "")
            cause = _match(event["reason"], message)
            if cause:
                names = grouped.setdefault((cause, short(message)), [])
                names.append(short(" ".join(map(str, _owner(event)))))
    return [_sentence(cause, reported, names) for (cause, reported), names in grouped.items()]


def _owner(event: Mapping[str, Any]) -> tuple[Any, Any]:
    about = event.get("involvedObject") or {}
    return about.get("kind"), about.get("name")


def _is_past(event: Mapping[str, Any], pods: Objects) -> bool:
    """Whether the owner created a pod after the event. A cluster keeps events for an hour after their cause is gone."""
    at = str(event.get("lastTimestamp") or event.get("eventTime") or "")
    created = [
        str(pod["metadata"].get("creationTimestamp") or "")
        for pod in pods
        for one in pod["metadata"].get("ownerReferences") or ()
        if (one.get("kind"), one.get("name")) == _owner(event)
    ]
    # The level of a namespace rejects all pods of an owner or none, so one of the same second shows that it changed.
    level = SECURITY in (event.get("message") or "")
    return bool(at) and any(one > at or (level and one == at) for one in created)


def _sentence(cause: Cause, reported: str, names: Sequence[str]) -> str:
    unique = list(dict.fromkeys(names))
    more = f" and {len(unique) - NAMED} more" if len(unique) > NAMED else ""
    reported = f" The cluster reports: {reported.rstrip('.')}." if reported else ""
    return f"{', '.join(unique[:NAMED])}{more}: the pod does not run. {cause.cause}.{reported} {cause.fix}."


def _runs(pod: Mapping[str, Any]) -> bool:
    status = pod.get("status") or {}
    if status.get("phase") == "Succeeded":
        return True
    containers = status.get("containerStatuses") or []
    return status.get("phase") == "Running" and all(one.get("ready") for one in containers)


def _of_pod(pod: Mapping[str, Any], events: Objects) -> tuple[Cause, str] | None:
    name = pod["metadata"]["name"]
    for container, reason, message in _states(pod):
        if container == DRIVER_CONTAINER and reason in ("CrashLoopBackOff", "Error"):
            return DRIVER, short(message)
        found = _match(reason, message)
        if found:
            return found, short(message or reason)
    for event in reversed(events):
        own = event.get("involvedObject") or {}
        if own.get("kind") == "Pod" and own.get("name") == name and event.get("type") != "Normal":
            found = _match(event.get("reason") or "", event.get("message") or "")
            if found:
                return found, short(event.get("message") or "")
    return None


def _states(pod: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """(container, reason, message) of each container that does not run, and of the pod itself."""
    status = pod.get("status") or {}
    if status.get("reason"):  # first, because the kubelet kills the containers of such a pod
        yield "", status["reason"], status.get("message") or ""
    for kind in ("initContainerStatuses", "containerStatuses"):
        for one in status.get(kind) or []:
            state, last = one.get("state") or {}, one.get("lastState") or {}
            for part in (last.get("terminated"), state.get("waiting"), state.get("terminated")):
                if part and part.get("reason") not in (None, "Completed", "PodInitializing", "ContainerCreating"):
                    yield one.get("name") or "", part["reason"], part.get("message") or ""
    for one in status.get("conditions") or []:
        if one.get("type") == "PodScheduled" and one.get("status") == "False":
            yield "", one.get("reason") or "", one.get("message") or ""


def _match(reason: str, message: str) -> Cause | None:
    text = f"{reason} {message}"
    for one in CAUSES:
        if (not one.reason or re.fullmatch(one.reason, reason)) and re.search(one.message, text):
            return one
    return None


# (pattern of a line, cause, fix)
LOGS = (
    (
        r"Could not resolve hostname|Connection refused",
        "The launcher does not reach the workers over SSH",
        "Check that the workers run and that their image contains sshd",
    ),
    (
        r"There are not enough slots",
        "The job has more ranks than slots",
        "Lower site.training.slots",
    ),
    (
        r"ibv_(reg_mr|create_cq).*(Cannot allocate memory|failed)",
        "The container may not lock enough memory for RDMA",
        "Raise the memlock limit of the container runtime on the nodes",
    ),
    (
        r"No module named .?horovod",
        "The image contains no Horovod",
        "Name another image in site.training.image",
    ),
    (
        r"CUDA (?:error: )?out of memory|CUDA_ERROR_OUT_OF_MEMORY",
        "The GPU has too little free memory for the training",
        "Use a smaller batch, or a GPU, a vGPU or a MIG profile with more memory. Check other processes on the GPU",
    ),
    (
        r"CUDA driver version is insufficient|unsupported toolchain|forward compatibility was attempted",
        "The driver of the node does not fit the CUDA release of the image",
        "Use an image for the driver of the nodes",
    ),
    (
        r"no kernel image is available",
        "The image contains no code for this type of GPU",
        "Use an image that is built for the GPUs of the nodes",
    ),
    (
        r"CUDA error",
        "CUDA reports an error of the GPU or of the training",
        "Read Xid errors in the log of the kernel of the node, and the lines before this one in the log",
    ),
)


def of_log(text: str) -> list[tuple[str, str, str]]:
    """(line, cause, fix) of the first line of each known cause in a log."""
    found: dict[int, str] = {}
    for line in text.splitlines():
        # Of a line, the first pattern counts: later ones are more general.
        number = next((number for number, one in enumerate(LOGS) if re.search(one[0], line)), None)
        if number is not None:
            found.setdefault(number, line)
    return [(found[number], *LOGS[number][1:]) for number in sorted(found)]
