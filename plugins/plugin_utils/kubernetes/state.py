# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The state of the GPU Operator and its nodes, with the cause of each fault. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import refusals
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import mig, nodes
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.causes import EXCEEDED, of_log, of_pods, short
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.job import QUEUE
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.logs import bounded
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.sockets import over_sockets, transport

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Objects = Sequence[Mapping[str, Any]]


# The name of a job has a hash of its definition, so another run of the playbook finds the failed job.
AGAIN = " A failed job does not run again. Correct the cause, and set site.kubernetes.training.run to another name."
# Labels with the name of the job: of the MPI Operator, and of the JobSet of a TrainJob, which has its name.
JOB_LABELS = ("training.kubeflow.org/job-name", "jobset.sigs.k8s.io/jobset-name")
# Ends of the names of batch jobs: the launcher of the MPI Operator, and the jobs of the runtimes of Kubeflow Trainer.
JOB_ENDS = r"-(launcher|(node|launcher|dataset-initializer|model-initializer)-\d+)"


def policy_ready(policies: Any) -> bool:
    """Whether the operator reconciled its policy. Its state is ready also without labels of NFD."""
    status = (policies[0].get("status") or {}) if policies else {}
    return status.get("state") == "ready" and _ready(status).get("reason", "Reconciled") == "Reconciled"


def faults(requested: Mapping[str, Any], seen: Mapping[str, Objects]) -> list[str]:
    """Each reason why pods cannot use the GPUs; seen has policies, nodes, pods and events."""
    chosen = nodes.chosen(seen["nodes"], requested["nodes"])
    found = [*of_pods(seen["pods"], seen["events"]), *_of_nodes(requested, chosen)]
    if not chosen:
        found.append(
            "No node of the cluster has a GPU. No node has the label nvidia.com/gpu.present=true. Check that node "
            "feature discovery runs on the nodes, and that their VMs have a GPU."
        )
    found += mig.faults(chosen, requested.get("gpu_operator") or {})
    if not policy_ready(seen["policies"]):
        found.append(_of_policy(seen["policies"]))
    return found


def settled(jobs: Objects) -> bool:
    """Whether a job ended, with or without success. A job that is suspended without a queue does not continue."""
    return bool(jobs) and (any(_end(jobs[0])) or (_is_suspended(jobs[0]) and not nodes.labels(jobs[0]).get(QUEUE)))


def job_stop(jobs: Objects) -> dict[str, Any]:
    """The part of the job that suspends it, so that its pods release their GPUs; empty if it does not hold any.

    Kueue starts an admitted job again that others suspend, so a job in a queue is left to its own time limit.
    """
    if not jobs or settled(jobs) or nodes.labels(jobs[0]).get(QUEUE):
        return {}
    return {"spec": {"runPolicy": {"suspend": True}} if jobs[0]["kind"] == "MPIJob" else {"suspend": True}}


def _is_suspended(job: Mapping[str, Any]) -> bool:
    spec = job.get("spec") or {}
    return bool(spec.get("suspend") or (spec.get("runPolicy") or {}).get("suspend"))


def job_faults(requested: Mapping[str, Any], seen: Mapping[str, Any]) -> list[str]:
    """Each reason why the training failed; seen has jobs, pods, events and the log of the launcher.

    seen also has suspended: whether the role suspended the job after its time.
    """
    jobs, (log, cut) = seen["jobs"], bounded(seen.get("log"))
    found = failures(requested, {**seen, "log": log})
    done, failed = _end(jobs[0]) if jobs else ({}, {})
    if done:
        return found
    last = f" The last line of its log: {short(log.splitlines()[-1])}." if log.strip() else ""
    last += f" {cut}" if cut else ""
    limit = "" if failed else f" The limit site.training.limits.wall_s is {requested['training']['limit_s']} s."
    limit += _afterwards(jobs[0], bool(seen.get("suspended"))) if jobs and not failed else ""
    return [*found[:-1], f"{_unsuccessful('training', jobs)}{limit}{last}{AGAIN if failed else ''}"]


def failures(requested: Mapping[str, Any], seen: Mapping[str, Any]) -> list[str]:
    """Each reason why a job did not succeed, or succeeded over sockets; seen is that of job_faults."""
    jobs, log = seen["jobs"], str(seen.get("log") or "")
    if not jobs:
        return [_unsuccessful("job", jobs)]
    pods, events = _own(str(jobs[0]["metadata"]["name"]), seen)
    # NCCL uses sockets without an error, so the job succeeds.
    sockets = over_sockets(requested["training"], pods, log)
    if _end(jobs[0])[0]:
        return sockets
    found = [*of_pods(pods, events), *_held(jobs[0])]
    found += [
        f"The log of {short(jobs[0]['metadata']['name'])} says: {short(line)}. {cause}. {fix}."
        for line, cause, fix in of_log(log)
    ]
    return [*found, *sockets, _unsuccessful("job", jobs)]


def exceeded(jobs: Objects) -> bool:
    """Whether a job reached its limit: it did not end, or its controller ended it."""
    failed = _end(jobs[0])[1] if jobs else {}
    return not settled(jobs) or EXCEEDED in f"{failed.get('reason')} {failed.get('message')}"


def _unsuccessful(what: str, jobs: Objects) -> str:
    if not jobs:
        return f"The {what} did not succeed. The cluster does not have it."
    failed = _end(jobs[0])[1]
    reported = f"{failed.get('reason')}: {failed.get('message')}" if failed else "no condition says that it ended"
    name = short(jobs[0]["metadata"]["name"])
    return f"The {what} {name} did not succeed. The cluster reports: {short(reported)}."


def job_success(requested: Mapping[str, Any], seen: Mapping[str, Any]) -> str:
    """What a job without faults proved; seen is that of job_faults."""
    name = short(seen["jobs"][0]["metadata"]["name"])
    log, cut = bounded(seen.get("log"))
    return " ".join(filter(None, (f"The training {name} succeeded.", transport(requested["training"], log), cut)))


def _afterwards(job: Mapping[str, Any], suspended: bool) -> str:
    """What happens with the GPUs of a job that did not end in its time."""
    again = "Raise the limit or correct the job, and set site.kubernetes.training.run to another name."
    if suspended:
        return f" The role suspended the job, so its pods release their GPUs. {again}"
    metadata, kind = job["metadata"], str(job.get("kind") or "job").lower()
    end = f"kubectl --namespace {short(metadata.get('namespace') or 'default')} delete {kind} {short(metadata['name'])}"
    if _is_suspended(job) and not nodes.labels(job).get(QUEUE):
        return f" The job is suspended and holds no GPUs. {again} Delete the job with: {end}"
    return f" The job was not suspended and may hold GPUs, or start later. End it with: {end}"


def _held(job: Mapping[str, Any]) -> list[str]:
    """Why a job does not start, or does not disappear."""
    metadata = job["metadata"]
    name, found = short(metadata["name"]), []
    if metadata.get("deletionTimestamp"):
        keepers = ", ".join(map(short, metadata.get("finalizers") or ["none"]))
        found.append(
            f"The job {name} is being deleted and does not end. Its finalizers are {keepers}. Check the controller "
            "that owns them, or set site.kubernetes.training.run to another name."
        )
    queue = nodes.labels(job).get(QUEUE)
    if queue and _is_suspended(job):
        found.append(
            f"Kueue has not admitted the job {name}. It waits in the queue {short(queue)}, which may be missing or "
            f"full. Read the reason with: kubectl --namespace {short(metadata['namespace'])} describe "
            "workloads,localqueues"
        )
    return found


def _own(job: str, seen: Mapping[str, Any]) -> tuple[Objects, Objects]:
    """The pods and events of a namespace without those of other jobs, such as pods that an earlier run left."""
    pods = [pod for pod in seen["pods"] if {nodes.labels(pod).get(key, job) for key in JOB_LABELS} == {job}]
    owners = {one.get("name") for pod in pods for one in pod["metadata"].get("ownerReferences") or ()}
    events = [one for one in seen["events"] if _is_own(job, owners, one.get("involvedObject") or {})]
    return pods, events


def _is_own(job: str, owners: set[Any], about: Mapping[str, Any]) -> bool:
    """Whether an event is about the job or its batch jobs. A prefix would include train-2 for the job train."""
    kind, name = about.get("kind"), str(about.get("name") or "")
    # Events of pods are compared with the selected pods.
    return (
        kind == "Pod"
        or name in (job, *owners)
        or (kind == "Job" and bool(re.fullmatch(re.escape(job) + JOB_ENDS, name)))
    )


def _end(job: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """(the condition of a success or {}, that of a failure or {})."""
    conditions = [one for one in (job.get("status") or {}).get("conditions") or [] if one.get("status") == "True"]
    done: Mapping[str, Any] = next((one for one in conditions if one.get("type") in ("Succeeded", "Complete")), {})
    return done, next((one for one in conditions if one.get("type") == "Failed"), {})


def _ready(status: Mapping[str, Any]) -> Mapping[str, Any]:
    conditions = status.get("conditions") or []
    return next((one for one in conditions if one.get("type") == "Ready"), {})


def _of_policy(policies: Objects) -> str:
    status = (policies[0].get("status") or {}) if policies else {}
    state = short(status.get("state") or "no state")
    reported = [
        f"{one.get('reason')}: {one.get('message')}"
        for one in status.get("conditions") or []
        if (one.get("type"), one.get("status")) in (("Error", "True"), ("Ready", "False")) and one.get("message")
    ]
    reported += [_ready(status).get("reason") or ""] if state == "ready" else []
    if not status:
        return (
            "The GPU Operator is not ready. It has not reported a state. Check that its pod runs, for example with: "
            "kubectl get pods --all-namespaces -l app=gpu-operator"
        )
    reason = f" It reports {short(reported[0])}." if reported else ""
    return f"The GPU Operator is not ready. Its ClusterPolicy has the state {state}.{reason} Check its pods."


def _of_nodes(requested: Mapping[str, Any], chosen: Objects) -> Iterator[str]:
    for one in chosen:
        name, own = short(one["metadata"]["name"]), nodes.labels(one)
        if not nodes.is_ready(one):
            yield f"Node {name} is not ready. Its kubelet does not report. Check the VM of the node and its kubelet."
            continue
        if own.get("nvidia.com/gpu.present") != "true":
            yield (
                f"Node {name} has no GPU that the operator knows. It has {_pci(own)}. Check that the VM of the node "
                "has a GPU, and that node feature discovery tolerates the taints of the node."
            )
            continue
        pair = _pair(name, own)
        if pair:
            yield pair
        elif nodes.offered(one) < requested["gpus"]:
            yield (
                f"Node {name} offers {nodes.offered(one)} GPUs, but site.gpu.per_vm requests {requested['gpus']}. "
                "The device plugin reports only GPUs that work. Check the pods of the operator on this node, and Xid "
                "errors in the log of its kernel."
            )


def _pci(own: Mapping[str, str]) -> str:
    if any(own.get(key) == "true" for key in nodes.PCI):
        return "a PCI device of NVIDIA, but not the label nvidia.com/gpu.present"
    return "no label of a PCI device of NVIDIA"


def _pair(name: str, own: Mapping[str, str]) -> str:
    host, guest = own.get(nodes.HOST_DRIVER), own.get(nodes.GUEST_DRIVER)
    try:
        refusals.refuse_pair(f"node {name}", "cannot use its vGPU", host, guest)
    except OperatorError as error:
        return error.message
    return ""
