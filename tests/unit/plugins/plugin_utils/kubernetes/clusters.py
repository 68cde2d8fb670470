"""Objects of clusters as an API server returns them, and the request of the role."""

from __future__ import annotations

import copy
from typing import Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.kubernetes import kubernetes

from vsphere_twin.kubernetes.kinds import definitions

SITE: dict[str, Any] = {
    "gpu": {"mode": "vgpu", "profile": "grid_a100-40c"},
    "driver": {"url": "https://depot.example.org/nvd.zip", "version": "550.54.16"},
    "kubernetes": {"kubeconfig": "/home/ops/kubeconfig"},
    "vms": [{"prefix": "train-", "count": 2}],
}
DRIVER = {"repository": "images.example.org/nvidia", "image": "vgpu-guest-driver", "version": "550.54.15"}


def definition(group: str, kind: str, version: str) -> dict[str, Any]:
    """The published custom resource definition, with one of its versions."""
    spec = next(
        one["spec"]
        for one in definitions().values()
        if (one["spec"]["group"], one["spec"]["names"]["kind"]) == (group, kind)
    )
    versions = [dict(one, served=True) for one in spec["versions"] if one["name"] == version]
    return {"metadata": {"name": f"{spec['names']['plural']}.{group}"}, "spec": {**spec, "versions": versions}}


def schema(group: str, kind: str, version: str) -> dict[str, Any]:
    (only,) = definition(group, kind, version)["spec"]["versions"]
    return only["schema"]["openAPIV3Schema"]


def site(**more: Any) -> dict[str, Any]:
    """The site with other keys in its section kubernetes."""
    made = copy.deepcopy(SITE)
    made["kubernetes"].update(more)
    return made


def requested(whole: dict[str, Any] | None = None) -> dict[str, Any]:
    return kubernetes(whole or SITE)


def node(name: str = "gpu-01", gpus: int = 1, labels: dict[str, str] | None = None) -> dict[str, Any]:
    """A node that offers GPUs."""
    own = {"nvidia.com/gpu.present": "true"} if gpus else {}
    return {
        "metadata": {"name": name, "labels": {**own, **(labels or {})}},
        "status": {
            "allocatable": {"cpu": "8", "nvidia.com/gpu": str(gpus)},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def ready(state: str = "ready", reason: str = "Reconciled", message: str = "") -> dict[str, Any]:
    """The policy with the state that the operator reports."""
    condition = {"type": "Ready", "status": "True" if state == "ready" else "False"}
    return {
        "metadata": {"name": "cluster-policy"},
        "status": {"state": state, "conditions": [dict(condition, reason=reason, message=message)]},
    }


def before(**more: Any) -> dict[str, Any]:
    """What the role reads before it applies anything."""
    seen = {
        "definitions": [definition("nvidia.com", "ClusterPolicy", "v1")],
        "namespaces": [{"metadata": {"name": "gpu-operator"}}],
        "nodes": [node()],
        "policies": [],
    }
    return {**seen, **more}


def waiting(reason: str, message: str = "", name: str = "pod-1", container: str = "main") -> dict[str, Any]:
    """A pod with a container that waits."""
    state = {"waiting": {"reason": reason, "message": message}}
    statuses = [{"name": container, "ready": False, "state": state}]
    return {"metadata": {"name": name}, "status": {"phase": "Pending", "containerStatuses": statuses}}


def event(message: str, reason: str = "FailedScheduling", kind: str = "Pod", name: str = "pod-1") -> dict[str, Any]:
    return {
        "type": "Warning",
        "reason": reason,
        "message": message,
        "involvedObject": {"kind": kind, "name": name},
    }
