"""The Supervisor of the rehearsal: what its administrator prepares, and the VMs and nodes of the cluster it creates."""

from __future__ import annotations

import json
from typing import Any

from vsphere_twin.model.supervisor import Namespace

from . import center, playbook
from .failure import RehearsalFailed

NAMESPACE, CONTROL_PLANE = "training", "best-effort-medium"
NODES = ("gpu-train-0", "gpu-train-1")
# Installed by others, see docs/kubernetes.md.
MISSING = "The cluster does not serve ClusterPolicy of nvidia.com/v1. Install the"


def prepare(twin: Any) -> None:
    """Create a namespace with the VM class of control planes, as the administrator of the Supervisor does."""
    workloads = twin.world.workloads
    with twin.world.lock:
        workloads.create(twin.world.release, {"id": CONTROL_PLANE, "cpu_count": 2, "memory_MB": 8192})
        (cluster,) = twin.world.of_kind("ClusterComputeResource")
        workloads.namespaces[NAMESPACE] = made = Namespace(NAMESPACE, cluster.moid)
        workloads.offer(made, [CONTROL_PLANE])


def state(twin: Any) -> str:
    """All that a run changes in vCenter and on the Supervisor."""
    with twin.world.lock:
        workloads = twin.world.workloads
        clusters = [{**one, "status": None} for one in twin.kubernetes.cluster.list("clusters")]
        offered = {name: one.classes for name, one in workloads.namespaces.items()}
        vms = sorted((vm.name, vm.power, vm.change_version) for vm in twin.world.of_kind("VirtualMachine"))
        return json.dumps([workloads.classes, offered, clusters, vms])


def created(twin: Any, made: playbook.Run) -> str:
    """Check in the model that each node is a VM with a GPU and a port of its host, and that the run fails rightly."""
    if MISSING not in made.text:
        raise RehearsalFailed("The run does not end with the missing operator; its output is above.")
    with twin.world.lock:
        vms = {
            vm.name: vm for vm in twin.world.of_kind("VirtualMachine") if vm.name in NODES and vm.power == "poweredOn"
        }
        has = {name: [profile for _key, profile in vm.vgpus] for name, vm in vms.items()}
        ports = {name: sum(holder.vm is vm for holder in vm.host.claimed.values()) for name, vm in vms.items()}
        hosts = {vm.host.name for vm in vms.values()}
    wrong = [name for name in NODES if (has.get(name), ports.get(name)) != ([center.PROFILE], 1)]
    if wrong or len(hosts) != len(NODES):
        raise RehearsalFailed(
            f"Each of {', '.join(NODES)} must run on its own host with {center.PROFILE} and a port. They are on "
            f"{sorted(hosts)} and have {has} and {ports}."
        )
    (server,) = twin.kubernetes.made.values()
    with server.cluster.lock:
        missing = [name for name in NODES if server.cluster.get("nodes", name) is None]
    if missing:
        raise RehearsalFailed(f"The cluster does not have the nodes {', '.join(missing)}.")
    return f"{' and '.join(NODES)} run on separate hosts, each with {center.PROFILE} and a ConnectX port"
