"""What all controllers share: conditions, quantities, owners and the hardware of nodes."""

from __future__ import annotations

import dataclasses
import re

from ..cluster import now

_UNITS = {"": 1, "m": 0.001, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_UNITS.update({"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50})


@dataclasses.dataclass
class Hardware:
    """The hardware of a node. The operators read it only through labels and drivers."""

    gpus: int = 1
    product: str = "NVIDIA-A100-PCIE-40GB"
    memory_mib: int = 40960
    vgpu: bool = False
    host_branch: str = "580"  # of the host driver, where the GPU is a vGPU
    adapters: int = 1  # RDMA functions of vendor 15b3
    total_vfs: int = 0  # of each adapter; only physical nodes have any
    system: str = "ubuntu22.04"
    cpus: int = 16
    memory: str = "128Gi"
    licensed: bool = True  # whether the licence server grants a licence to a valid token
    mtu: int = 9000  # of the RDMA adapters
    memlock: str = "unlimited"  # limit of containers, in kB or unlimited
    xids: tuple = ()  # errors in the log of the kernel
    failed_tests: tuple = ()  # of the diagnostic of DCGM
    storage: tuple = ("NVMe",)  # that nvidia_fs serves, as gdscheck names it
    files: dict = dataclasses.field(default_factory=lambda: {"/data/sample.bin": 2 << 30})  # path: size, of the storage
    copies: bool = False  # whether cuFile falls back to a copy through host memory
    failed_gpus: tuple = ()  # indexes of GPUs with an error that the health watches of DCGM report
    watched: str = ""  # the pod whose host engine of DCGM keeps health watches
    mig: tuple = ()  # profiles of each GPU, None for one whose MIG mode is off; empty until a MIG manager worked
    mig_applied: tuple = ()  # (the pod of the MIG manager, the label that it applied last)
    environment: dict = dataclasses.field(default_factory=dict)  # what a webhook sets in each container of the node


def amount(value):
    """A quantity as a number."""
    found = re.fullmatch(r"([+-]?[\d.]+)([A-Za-z]*)", str(value))
    return float(found[1]) * _UNITS[found[2]]


def condition(rows, type_, status, reason="", message=""):
    """The conditions with this one set; its time changes with its status alone."""
    old = next((one for one in rows or () if one["type"] == type_), {})
    new = {"type": type_, "status": status, "lastTransitionTime": now()}
    if old.get("status") == status:
        new["lastTransitionTime"] = old["lastTransitionTime"]
    if reason:
        new.update(reason=reason, message=message)
    return [one for one in rows or () if one["type"] != type_] + [new]


def is_true(obj, type_):
    """Whether a condition of an object is True."""
    rows = obj.get("status", {}).get("conditions") or ()
    return any(one["type"] == type_ and one["status"] == "True" for one in rows)


def owner_of(obj):
    """The ownerReferences of an object that a controller creates for this one."""
    metadata = obj["metadata"]
    reference = {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "name": metadata["name"], "uid": metadata["uid"]}
    return [{**reference, "controller": True, "blockOwnerDeletion": True}]


def owned(cluster, plural, owner):
    """Objects of a kind that an object owns, without those that are being deleted."""
    uid, namespace = owner["metadata"]["uid"], owner["metadata"].get("namespace")
    return [
        obj
        for obj in cluster.list(plural, namespace)
        if any(one["uid"] == uid for one in obj["metadata"].get("ownerReferences", ()))
        and "deletionTimestamp" not in obj["metadata"]
    ]


def requests_of(spec):
    """The resources that a pod requests."""
    found = {}
    for container in spec.get("containers", ()):
        resources = container.get("resources") or {}
        for name, value in {**(resources.get("limits") or {}), **(resources.get("requests") or {})}.items():
            found[name] = found.get(name, 0) + amount(value)
    return found


def put_status(cluster, plural, obj, status, manager):
    """Write a status where it differs."""
    if obj.get("status") != status:
        cluster.set_status(plural, obj, status, manager)


def ensured(cluster, plural, obj, namespace="", manager="kubernetes"):
    """Create an object where it is missing; return it."""
    return cluster.get(plural, obj["metadata"]["name"], namespace) or cluster.create(plural, obj, namespace, manager)
