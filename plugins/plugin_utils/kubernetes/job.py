# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Jobs of a training in pods: an MPIJob for Horovod, a TrainJob for torchrun. Pure."""

from __future__ import annotations

import hashlib
import json
import pathlib
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import network_operator, nodes, schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Made = dict[str, Any]

MPIJOB, TRAINJOB = ("kubeflow.org", "v2beta1", "MPIJob"), ("trainer.kubeflow.org", "v1alpha1", "TrainJob")
OPERATORS = {"MPIJob": "MPI Operator", "TrainJob": "Kubeflow Trainer"}
QUEUE = "kueue.x-k8s.io/queue-name"
# On the template of the pods, with the label of a level of a Topology as its value.
TOPOLOGY = "kueue.x-k8s.io/podset-{}-topology"
SCRIPTS, MOUNTED = "aiready-trainings", "/opt/aiready"
FILES = pathlib.Path(__file__).parents[3] / "roles" / "horovod" / "files" / "trainings"
INTERFACE = "eth0"  # network of the pods
DATA = "net1"  # first interface of Multus in a pod
HOSTNAME = "kubernetes.io/hostname"
# Images contain no host keys of SSH, and each pod has new ones. The key pair of the operator protects the connection.
KEY = "/etc/ssh/ssh_host_ed25519_key"
SSHD = f"mkdir -p /run/sshd; test -e {KEY} || ssh-keygen -q -t ed25519 -N '' -f {KEY}; exec /usr/sbin/sshd -De"
# The launcher starts with the workers, before their servers listen.
SSH = "-o ConnectionAttempts=60 -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
# The job of a runtime whose pods train, and its container.
NODE = "node"
# Kubeflow Trainer renamed the field with every release: 2.2, 2.1, 2.0.
PATCHES, TEMPLATES, SPECS = "runtimePatches", "podTemplateOverrides", "podSpecOverrides"
MANAGER = "aiready.vsphere/kubernetes"


def kind_of(requested: Mapping[str, Any]) -> tuple[str, str, str]:
    """Group, version and kind of the job."""
    return MPIJOB if requested["engine"] == "horovod" else TRAINJOB


def objects(requested: Mapping[str, Any], definitions: Sequence[Mapping[str, Any]]) -> list[Made]:
    """The scripts of a built-in training, and the job."""
    made = [_scripts(requested)] if requested["builtin"] else []
    group, version, kind = kind_of(requested)
    if kind == "MPIJob":
        spec = _mpijob(requested)
    else:
        spec = _trainjob(requested, schema.served(definitions, group, kind).get(version) or {})
    labels = {**({QUEUE: requested["queue"]} if requested.get("queue") else {}), **(requested.get("labels") or {})}
    job: Made = {"apiVersion": f"{group}/{version}", "kind": kind, "metadata": {}, "spec": spec}
    metadata: Made = {
        "name": f"{requested.get('prefix', 'aiready')}-{_digest([job, labels, made, requested['run']])}",
        "namespace": requested["namespace"],
    }
    # The pods of a job do not change, so each other job has another name.
    job["metadata"] = {**metadata, **({"labels": labels} if labels else {})}
    return [*made, job]


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:10]


def _scripts(requested: Mapping[str, Any]) -> Made:
    names = (f"{requested['builtin']}.py", "engines.py")
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": requested.get("scripts", SCRIPTS), "namespace": requested["namespace"]},
        "data": {name: (FILES / name).read_text(encoding="utf-8") for name in names},
    }


def _command(requested: Mapping[str, Any]) -> list[str]:
    if requested["builtin"]:
        return [
            "python3",
            f"{MOUNTED}/{requested['builtin']}.py",
            "--engine",
            requested["engine"],
            *requested["arguments"],
        ]
    return [*requested["command"], *requested["arguments"]]


def environment(requested: Mapping[str, Any]) -> dict[str, str]:
    """The environment of the ranks. The user's values have precedence."""
    network = requested.get("network") or {}
    made = {"NCCL_SOCKET_IFNAME": INTERFACE}
    made.update(network_operator.environment(network) if network else {"NCCL_IB_DISABLE": "1"})
    if network and requested.get("transport") == "tcp":
        # TCP over the same adapter, to compare it with RDMA.
        made.update(NCCL_IB_DISABLE="1", NCCL_SOCKET_IFNAME=DATA)
    if requested["gpus"]:
        made.update(NCCL_DEBUG="INFO", NCCL_DEBUG_SUBSYS="INIT,NET")
    if requested["engine"] != "horovod":
        made.update(PYTHONUNBUFFERED="1", GLOO_SOCKET_IFNAME=INTERFACE)
    return {**made, **{key: str(value) for key, value in requested["environment"].items()}}


def _resources(requested: Mapping[str, Any]) -> dict[str, int]:
    gpus = {"nvidia.com/gpu": requested["gpus"]} if requested["gpus"] else {}
    return {**gpus, **network_operator.resources(requested.get("network") or {})}


def _pod(requested: Mapping[str, Any]) -> tuple[Made, Made]:
    """(fields of the pod, fields of its container) that both kinds share."""
    mounts: list[Made] = [{"name": "shm", "mountPath": "/dev/shm"}]
    # The default of 64 MiB is too small for the ranks of a node.
    volumes: list[Made] = [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": _size(requested["shm_size"])}}]
    if requested["builtin"]:
        mounts.append({"name": "trainings", "mountPath": MOUNTED})
        volumes.append({"name": "trainings", "configMap": {"name": requested.get("scripts", SCRIPTS)}})
    pod: Made = {"volumes": volumes}
    if requested["pull_secrets"]:
        pod["imagePullSecrets"] = [{"name": name} for name in requested["pull_secrets"]]
    if requested.get("service_account"):
        pod["serviceAccountName"] = requested["service_account"]
    if requested["nodes_with"]:
        pod["nodeSelector"] = {key: str(value) for key, value in requested["nodes_with"].items()}
    if requested.get("hosts"):
        pod["affinity"] = _spread(requested["hosts"], requested["labels"])
    # RDMA locks its memory, and pods have no other means to raise the limit.
    return pod, {"volumeMounts": mounts, "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}}}


def _spread(hosts: Sequence[str], labels: Mapping[str, str]) -> Made:
    """The affinity of pods that run on these nodes, one on each."""
    term = {"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": list(hosts)}]}
    apart = {"labelSelector": {"matchLabels": dict(labels)}, "topologyKey": HOSTNAME}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    return {"nodeAffinity": {required: {"nodeSelectorTerms": [term]}}, "podAntiAffinity": {required: [apart]}}


def _annotations(requested: Mapping[str, Any]) -> dict[str, str]:
    """The annotations of pods with ranks: their networks, and the level of the topology that Kueue keeps them in."""
    topology = requested.get("topology") or {}
    placed = {TOPOLOGY.format(topology["mode"]): topology["level"]} if topology else {}
    return {**network_operator.pod_annotations(requested.get("network") or {}, requested["namespace"]), **placed}


def _metadata(annotations: Mapping[str, str], labels: Mapping[str, str]) -> Made:
    """The metadata of pods; empty without any."""
    found = {"annotations": dict(annotations), "labels": dict(labels)}
    found = {key: value for key, value in found.items() if value}
    return {"metadata": found} if found else {}


def _size(text: str) -> str:
    """A size of a container engine as a quantity of Kubernetes: both count in powers of two."""
    number, unit = text.rstrip("bBkKmMgG"), text.strip("0123456789.").lower().rstrip("b")
    return number + {"k": "Ki", "m": "Mi", "g": "Gi"}.get(unit, "")


def mpirun(requested: Mapping[str, Any], *options: str) -> list[str]:
    """The command of the launcher, without that of the ranks."""
    exported = [word for name, value in environment(requested).items() for word in ("-x", f"{name}={value}")]
    # sshd starts the ranks without the environment of their container.
    words = ["mpirun", "--allow-run-as-root", "-np", str(requested["nodes"] * requested["slots"]), "-bind-to", "none"]
    words += ["-map-by", "slot", *options]
    words += ["-mca", "pml", "ob1", "-mca", "btl", "^openib"]
    words += ["-mca", "btl_tcp_if_include", requested.get("interface", INTERFACE), "-mca", "plm_rsh_args", SSH]
    return [*words, *exported, "-x", "LD_LIBRARY_PATH", "-x", "PATH"]


def _mpijob(requested: Mapping[str, Any]) -> Made:
    pod, container = _pod(requested)
    # A TrainJob has those of its runtime, and a list in the job would replace them.
    pod["tolerations"] = list(nodes.TOLERATIONS)
    words = requested.get("launcher") or [*mpirun(requested), *_command(requested)]
    launcher = {"containers": [{"name": "launcher", "image": requested["image"], "command": words}]}
    worker = {"name": "worker", "image": requested["image"], "command": ["/bin/sh", "-c", SSHD], **container}
    if _resources(requested):
        worker["resources"] = {"limits": _resources(requested)}
    template: Made = {"spec": {"containers": [worker], **pod}}
    template.update(_metadata(_annotations(requested), requested.get("labels") or {}))
    if requested.get("kept"):
        # Workers that are kept end by themselves, also without the controller. The pull of the image counts.
        template["spec"]["activeDeadlineSeconds"] = requested["start_s"] + requested["limit_s"]
    pulled = {key: pod[key] for key in ("imagePullSecrets", "serviceAccountName", "tolerations") if key in pod}
    return {
        "slotsPerWorker": requested["slots"],
        "launcherCreationPolicy": "WaitForWorkersReady",
        "runPolicy": {
            "cleanPodPolicy": "None" if requested.get("kept") else "Running",
            "backoffLimit": 0,
            "activeDeadlineSeconds": requested["limit_s"],
        },
        "mpiReplicaSpecs": {
            "Launcher": {"replicas": 1, "restartPolicy": "Never", "template": {"spec": {**launcher, **pulled}}},
            "Worker": {
                "replicas": requested["nodes"],
                "restartPolicy": "Never",
                "template": template,
            },
        },
    }


def _trainjob(requested: Mapping[str, Any], served: Mapping[str, Any]) -> Made:
    pod, container = _pod(requested)
    trainer: Made = {
        "image": requested["image"],
        "numNodes": requested["nodes"],
        "numProcPerNode": requested["slots"],
        "command": ["torchrun", *([] if _is_python(requested) else ["--no-python"]), *_words(requested)],
        "env": [{"name": name, "value": value} for name, value in environment(requested).items()],
    }
    if _resources(requested):
        trainer["resourcesPerNode"] = {"limits": _resources(requested)}
    made: Made = {"runtimeRef": {"name": requested["runtime"]}, "trainer": trainer}
    if "activeDeadlineSeconds" in _known(served):
        made["activeDeadlineSeconds"] = requested.get("start_s", 0) + requested["limit_s"]
    metadata = _metadata(_annotations(requested), requested.get("labels") or {})
    return {**made, **_overrides(served, {**pod, "containers": [{"name": NODE, **container}]}, metadata)}


def takes_annotations(requested: Mapping[str, Any], definitions: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the pods of the job can have annotations, which attach them to networks."""
    group, version, kind = kind_of(requested)
    known = _known(schema.served(definitions, group, kind).get(version) or {})
    return kind == "MPIJob" or not known or bool({PATCHES, TEMPLATES} & set(known))


def _is_python(requested: Mapping[str, Any]) -> bool:
    return _command(requested)[0] in ("python", "python3")


def _words(requested: Mapping[str, Any]) -> list[str]:
    words = _command(requested)
    return words[1:] if _is_python(requested) else words


def _known(served: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of the spec that a served version has."""
    return ((served.get("properties") or {}).get("spec") or {}).get("properties") or {}


def _overrides(served: Mapping[str, Any], spec: Made, metadata: Made) -> Made:
    """The fields of the pods, in the field that the served version has."""
    known = _known(served)
    if PATCHES in known:
        job = {"name": NODE, "template": {"spec": {"template": {**metadata, "spec": spec}}}}
        runtime = {"template": {"spec": {"replicatedJobs": [job]}}}
        return {PATCHES: [{"manager": MANAGER, "trainingRuntimeSpec": runtime}]}
    target = {"targetJobs": [{"name": NODE}]}
    if TEMPLATES in known:
        return {TEMPLATES: [{**target, **metadata, "spec": spec}]}
    # Has no field for annotations.
    return {SPECS: [{**target, **spec}]}
