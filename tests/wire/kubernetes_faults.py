"""Planted faults of a cluster: how each is planted, the stage that reports it, and its cause in the message.

The stages are those of the role: read the cluster, plan, apply the objects, prove the GPUs, start the job, train.
"""

from __future__ import annotations

import base64
import copy
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import (
    gpu_operator,
    plan,
    refused,
    state,
    unread,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.kubernetes import kubernetes

from vsphere_twin.kubernetes.refused import Refused
from vsphere_twin.vcenter.certificates import server_context

from . import kubernetes_lab
from .kubernetes_client import Role

STAGES = ("read", "plan", "apply", "prove", "start", "train")
TOKEN = "not-a-real-token"
NAMESPACE = "aiready"
GPU = "nvidia.com/gpu"
CRDS = ("clusterpolicies.nvidia.com", "mpijobs.kubeflow.org", "trainjobs.trainer.kubeflow.org")
SITE: dict[str, Any] = {
    "gpu": {"mode": "vgpu", "profile": "grid_a100-40c"},
    "vms": [{"prefix": "train-", "count": 2}],
    "training": {"image": "images.example.org/pytorch:24.05", "engine": "horovod", "builtin": "small"},
    "kubernetes": {"training": {}, "gpu_operator": {"driver": kubernetes_lab.DRIVER}},
}


@dataclass
class Lab:
    """A cluster, and what the role is given."""

    server: Any
    site: dict[str, Any]
    kubeconfig: dict[str, Any]
    token: str = TOKEN

    @property
    def cluster(self) -> Any:
        return self.server.cluster

    @property
    def world(self) -> Any:
        return self.server.world


def lab(server: Any) -> Lab:
    return Lab(server, copy.deepcopy(SITE), yaml.safe_load(server.kubeconfig()))


def reported(one: Lab, plant: Callable[[Lab], None], before: str) -> tuple[str, list[str]]:
    """Plant the fault before a stage, and return the first stage with messages; ("", []) if no stage has any."""
    for stage in STAGES:
        if stage == before:
            plant(one)
        if stage == "read":
            file = Path(tempfile.mkdtemp(dir=one.server.directory)) / "kubeconfig"
            file.write_text(yaml.safe_dump(one.kubeconfig))
            given = {**one.site, "kubernetes": {"kubeconfig": str(file), **one.site["kubernetes"]}}
            run = _Run(Role(str(file)), kubernetes(given), one)
        found = getattr(run, stage)()
        if found:
            return stage, found
    return "", []


class _Run:
    """The tasks of the role, stage by stage."""

    def __init__(self, role: Role, requested: Mapping[str, Any], one: Lab) -> None:
        self.role, self.requested, self.lab = role, requested, one
        self.seen: dict[str, Any] = {}
        self.planned: dict[str, Any] = {}

    def read(self) -> list[str]:
        read = self.role.read
        namespaces = (self.requested["gpu_operator"]["namespace"], NAMESPACE)
        rows = {
            "definitions": [read("apiextensions.k8s.io/v1", "CustomResourceDefinition", name=name) for name in CRDS],
            "namespaces": [read("v1", "Namespace", name=name) for name in namespaces],
            "nodes": [read("v1", "Node")],
            "policies": [read("nvidia.com/v1", "ClusterPolicy")],
        }
        self.seen = {key: [obj for row in found for obj in row.get("resources", ())] for key, found in rows.items()}
        return unread.unread([row for found in rows.values() for row in found])

    def plan(self) -> list[str]:
        self.planned = plan.plan(self.requested, self.seen, self.lab.token)
        return self.planned["problems"]

    def apply(self) -> list[str]:
        secret = gpu_operator.licence_secret(self.requested["gpu_operator"]["namespace"], self.lab.token)
        return refused.refused(self.role.apply([secret, *self.planned["objects"]]))

    def prove(self) -> list[str]:
        self.lab.world.settle()
        policies = self._list("nvidia.com/v1", "ClusterPolicy")
        return state.faults(self.requested, {"policies": policies, **self._pods(kubernetes_lab.NAMESPACE)})

    def start(self) -> list[str]:
        return refused.refused(self.role.apply(self.planned["training"]))

    def train(self) -> list[str]:
        self.lab.world.settle()
        job = self.planned["training"][-1]
        found = self._list(job["apiVersion"], job["kind"], name=job["metadata"]["name"], namespace=NAMESPACE)
        cluster = self.lab.cluster
        logs = "".join(text for (_where, _pod, name), text in cluster.logs.items() if name == "launcher")
        return state.job_faults(self.requested, {"jobs": found, "log": logs, **self._pods(NAMESPACE)})

    def _list(self, version: str, kind: str, **where: Any) -> list[dict[str, Any]]:
        return self.role.read(version, kind, **where)["resources"]

    def _pods(self, namespace: str) -> dict[str, Any]:
        rows = {f"{kind.lower()}s": self._list("v1", kind, namespace=namespace) for kind in ("Pod", "Event")}
        return {"nodes": self._list("v1", "Node"), **rows}


@dataclass(frozen=True)
class Fault:
    """before: the stage before which it is planted. stage: the stage that reports it, with these words."""

    plant: Callable[[Lab], None]
    stage: str
    cause: str
    before: str = "read"


def _server(url: str) -> Callable[[Lab], None]:
    def plant(one: Lab) -> None:
        one.kubeconfig["clusters"][0]["cluster"]["server"] = url

    return plant


def _login(token: str, role: str = "") -> Callable[[Lab], None]:
    def plant(one: Lab) -> None:
        if role:
            one.server.user("ops", token)
        if role not in ("", "none"):
            reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
            subject = {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "ops"}
            body = {"metadata": {"name": "ops"}, "roleRef": reference, "subjects": [subject]}
            one.cluster.create("clusterrolebindings", body)
        one.kubeconfig["users"][0]["user"] = {"token": token}

    return plant


def _wrong_authority(one: Lab) -> None:
    folder = Path(tempfile.mkdtemp(dir=one.server.directory))
    server_context(folder)
    text = base64.b64encode((folder / "ca.pem").read_bytes()).decode()
    one.kubeconfig["clusters"][0]["cluster"]["certificate-authority-data"] = text


def _without_definition(name: str) -> Callable[[Lab], None]:
    def plant(one: Lab) -> None:
        kind = one.cluster.kind("customresourcedefinitions")
        one.cluster.deleted(kind, one.cluster.get("customresourcedefinitions", name))

    return plant


def _other_version(one: Lab) -> None:
    definition = copy.deepcopy(one.cluster.get("customresourcedefinitions", "mpijobs.kubeflow.org"))
    (version,) = definition["spec"]["versions"]
    version["name"] = "v1"
    _without_definition("mpijobs.kubeflow.org")(one)
    metadata = {"name": definition["metadata"]["name"]}
    one.cluster.create("customresourcedefinitions", {"metadata": metadata, "spec": definition["spec"]})


def _operator(**options: Any) -> Callable[[Lab], None]:
    def plant(one: Lab) -> None:
        own = one.site["kubernetes"]["gpu_operator"]
        one.site["kubernetes"]["gpu_operator"] = {**own, **options}

    return plant


def _kubernetes(**options: Any) -> Callable[[Lab], None]:
    def plant(one: Lab) -> None:
        one.site["kubernetes"].update(options)

    return plant


def _no_token(one: Lab) -> None:
    one.token = ""


def _labels(**labels: Any) -> Callable[[Lab], None]:
    named = {key.replace("__", "/").replace("_", "-"): value for key, value in labels.items()}

    def plant(one: Lab) -> None:
        for node in one.cluster.list("nodes"):
            one.cluster.labelled("nodes", node, named)

    return plant


def _host_driver(one: Lab) -> None:
    for node in one.cluster.list("nodes"):
        one.cluster.labelled("nodes", node, {"nvidia.com/vgpu.host-driver-version": "580.95.02"})


def _other_driver(one: Lab) -> None:
    policy = one.cluster.get("clusterpolicies", "cluster-policy")
    spec = copy.deepcopy(policy["spec"])
    spec["driver"]["version"] = "550.90.07"
    one.cluster.change("clusterpolicies", policy, "helm", spec=spec)


def _denies(kind: str) -> Callable[[Lab], None]:
    def plant(one: Lab) -> None:
        def admit(_cluster: Any, of: Any, _new: Any, _old: Any) -> None:
            if of.kind == kind:
                raise Refused(403, 'admission webhook "policy.example.org" denied the request: label team is missing')

        one.cluster.admission.append(admit)

    return plant


def _ending_namespace(one: Lab) -> None:
    """A namespace whose last object has a finalizer that nobody removes."""
    held = {"metadata": {"name": "held", "finalizers": ["example.org/backup"]}, "data": {}}
    one.cluster.create("configmaps", held, NAMESPACE)
    kind = one.cluster.kind("namespaces")
    one.cluster.deleted(kind, one.cluster.get("namespaces", NAMESPACE))


def _missing_image(one: Lab) -> None:
    driver = kubernetes_lab.DRIVER
    one.world.images.missing.add(f"{driver['repository']}/{driver['image']}:{driver['version']}-ubuntu22.04")


def _private_image(one: Lab) -> None:
    one.world.images.private[kubernetes_lab.DRIVER["repository"]] = "registry"


def _branch(one: Lab) -> None:
    for hardware in one.world.hardware.values():
        hardware.host_branch = "580"


def _undiscovered(one: Lab) -> None:
    one.world.feature_discovery = False
    for node in one.cluster.list("nodes"):
        gone = [key for key in node["metadata"]["labels"] if key.startswith(("feature.node", "nvidia.com"))]
        one.cluster.labelled("nodes", node, dict.fromkeys(gone))


def _kubelet(one: Lab) -> None:
    node = one.cluster.get("nodes", "train-02")
    rows = [{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": "Kubelet stopped"}]
    one.cluster.set_status("nodes", node, {**node["status"], "conditions": rows})


def _lost_gpu(one: Lab) -> None:
    one.world.hardware["train-02"].gpus = 0


def _no_secret(one: Lab) -> None:
    for secret in one.cluster.list("secrets", kubernetes_lab.NAMESPACE):
        one.cluster.deleted(one.cluster.kind("secrets"), secret)


def _taint(one: Lab) -> None:
    for node in one.cluster.list("nodes"):
        taint = {"key": "team", "value": "vision", "effect": "NoSchedule"}
        one.cluster.change("nodes", node, spec={**node["spec"], "taints": [taint]})


def _held_gpus(one: Lab) -> None:
    for name in ("other-1", "other-2"):
        container = {"name": "c", "image": "i:1", "resources": {"limits": {GPU: 1}}}
        one.cluster.create("pods", {"metadata": {"name": name}, "spec": {"containers": [container]}}, "default")
    one.world.settle()


def _quota(one: Lab) -> None:
    body = {"metadata": {"name": "team"}, "spec": {"hard": {f"requests.{GPU}": "1"}}}
    one.cluster.create("resourcequotas", body, NAMESPACE)


def _security(one: Lab) -> None:
    namespace = one.cluster.get("namespaces", NAMESPACE)
    one.cluster.labelled("namespaces", namespace, {"pod-security.kubernetes.io/enforce": "baseline"})


def _pool(one: Lab) -> None:
    _labels(pool="gpu")(one)
    one.site["kubernetes"]["nodes"] = {"pool": "gpu"}


def _relabelled(one: Lab) -> None:
    """The nodes lose their label after the plan."""
    _pool(one)
    one.cluster.admission.append(_unlabels)


def _unlabels(_cluster: Any, kind: Any, new: Any, old: Any) -> None:
    if kind.kind == "Pod" and old is None and "pool" in (new["spec"].get("nodeSelector") or {}):
        new["spec"]["nodeSelector"] = {"pool": "gpu-old"}


def _queue(one: Lab) -> None:
    """Kueue suspends each job of a queue, and there is no such queue."""
    one.site["kubernetes"]["training"] = {"queue": "gpus"}

    def suspend(_cluster: Any, kind: Any, new: Any, _old: Any) -> None:
        if kind.kind == "MPIJob":
            new["spec"].setdefault("runPolicy", {})["suspend"] = True

    one.cluster.admission.append(suspend)


def _finalizer(one: Lab) -> None:
    """The job of an earlier run is being deleted, and a finalizer holds it."""
    (job,) = one.cluster.list("mpijobs")
    metadata = {**copy.deepcopy(job["metadata"]), "finalizers": ["example.org/backup"]}
    job = one.cluster.change("mpijobs", job, metadata=metadata)
    one.cluster.deleted(one.cluster.kind("mpijobs"), job)
    one.world.programs["launcher"] = lambda *_ignored: (None, "")


def _log(text: str) -> Callable[[Lab], None]:
    def plant(one: Lab) -> None:
        one.world.programs["launcher"] = lambda *_ignored: (1, f"{text}\n")

    return plant


def _torchrun(one: Lab) -> None:
    one.site["training"]["engine"] = "torchrun"
    kind = one.cluster.kind("clustertrainingruntimes")
    one.cluster.deleted(kind, one.cluster.get("clustertrainingruntimes", "torch-distributed"))


FAULTS = {
    "api-unreachable": Fault(_server("https://127.0.0.1:1"), "read", "cannot connect to the API server"),
    "api-name": Fault(_server("https://kube.invalid:6443"), "read", "cannot resolve the name of the API server"),
    "authority-wrong": Fault(_wrong_authority, "read", "is not from the authority of the kubeconfig"),
    "token-expired": Fault(_login("old"), "read", "rejects the login, for example because the token"),
    "rbac-read": Fault(_login("new", "none"), "read", 'User "ops" cannot get resource "customresourcedefinitions"'),
    "policy-not-served": Fault(
        _without_definition("clusterpolicies.nvidia.com"), "plan", "does not serve ClusterPolicy of nvidia.com/v1"
    ),
    "job-version-not-served": Fault(_other_version, "plan", "does not serve MPIJob of kubeflow.org/v2beta1"),
    "operator-elsewhere": Fault(_operator(namespace="nvidia"), "plan", "The cluster has no such namespace"),
    "policy-second": Fault(_operator(policy="mine"), "plan", "the operator ignores a second one"),
    "licence-token-missing": Fault(_no_token, "plan", "There is no client configuration token"),
    "driver-branch-known": Fault(_host_driver, "plan", "580.95.02"),
    "field-unknown": Fault(_operator(spec={"devicePlugni": {}}), "plan", "spec.devicePlugni is unknown"),
    "labels-missing": Fault(_kubernetes(nodes={"pool": "gpu"}), "plan", "No node has the labels pool=gpu"),
    "field-conflict": Fault(_other_driver, "apply", 'conflict with "helm"'),
    "webhook-denies": Fault(_denies("ClusterPolicy"), "apply", "ask the owner of the webhook"),
    "rbac-apply": Fault(_login("new", "view"), "apply", "Use a kubeconfig whose user may read and apply these objects"),
    "image-missing": Fault(_missing_image, "prove", "The registry has no image with this name and tag"),
    "image-private": Fault(_private_image, "prove", "The registry rejects the login"),
    "driver-branch": Fault(_branch, "prove", "The driver of the GPU cannot be built or loaded"),
    "features-missing": Fault(_undiscovered, "prove", "No node has the label nvidia.com/gpu.present=true", "prove"),
    "node-not-ready": Fault(_kubelet, "prove", "Node train-02 is not ready. Its kubelet does not report"),
    "gpu-lost": Fault(_lost_gpu, "prove", "Node train-02 offers 0 GPUs, but site.gpu.per_vm requests 1"),
    "secret-missing": Fault(_no_secret, "prove", "A secret or ConfigMap of the pod is missing", "prove"),
    "namespace-ends": Fault(_ending_namespace, "start", "remove what the finalizers of its objects wait for", "start"),
    "runtime-missing": Fault(_torchrun, "start", 'clustertrainingruntimes.trainer.kubeflow.org "torch-distributed"'),
    "taint": Fault(_taint, "train", "The nodes have a taint that the pod does not tolerate", "start"),
    "gpus-held": Fault(_held_gpus, "train", "No node has enough free GPUs for the pod", "start"),
    "quota": Fault(_quota, "train", "The quota of the namespace is used up", "start"),
    "pod-security": Fault(_security, "train", "The pod security level of the namespace rejects the pod", "start"),
    "labels-gone": Fault(_relabelled, "train", "No node has the labels that the pod requires"),
    "queue-missing": Fault(_queue, "train", "It waits in the queue gpus, which may be missing or full"),
    "finalizer": Fault(_finalizer, "train", "Its finalizers are example.org/backup", "train"),
    "memlock": Fault(
        _log("ibv_reg_mr failed: Cannot allocate memory"), "train", "The container may not lock enough memory for RDMA"
    ),
    "ssh": Fault(
        _log("ssh: connect to host w-0 port 22: Connection refused"), "train", "does not reach the workers over SSH"
    ),
    "slots": Fault(_log("There are not enough slots available"), "train", "The job has more ranks than slots"),
    "horovod-missing": Fault(_log("No module named 'horovod'"), "train", "The image contains no Horovod"),
}
