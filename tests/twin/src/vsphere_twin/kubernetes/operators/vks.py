"""Clusters of a Supervisor: machines that join one by one, and the API server of the new cluster."""

from __future__ import annotations

import copy
import re

from .. import machines as machines_of
from ..cluster import encode
from ..refused import Refused
from .parts import condition, owned, owner_of, put_status

MANAGER = "vks"
FINALIZER = "cluster.cluster.x-k8s.io"
CLASSES = "vmware-system-vks-public"
CLASS = "builtin-generic-v3.6.0"
VARIABLES = ("kubernetes", "node", "osConfiguration", "storageClass", "vmClass", "volumes", "vsphereOptions")
RESTRICTED_SINCE = (1, 26)
BUILD = "+vmware.1-vkr.1"  # of each release
_TEMPLATE = {
    "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
    "kind": "VSphereMachineTemplate",
    "name": "builtin",
}


def pod_security(version):
    """The level that a cluster enforces in namespaces without a label: restricted since Kubernetes 1.26."""
    release = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    return "restricted" if release >= RESTRICTED_SINCE else "privileged"


def prepare(world, classes=(CLASS,)):
    """Add what a Supervisor has before the first cluster: cluster classes with their variables."""
    cluster = world.cluster
    cluster.create("namespaces", {"metadata": {"name": CLASSES}})
    schema = {"openAPIV3Schema": {"x-kubernetes-preserve-unknown-fields": True}}
    definition = [{"from": "inline", "required": False, "schema": schema}]
    rows = [{"name": one, "definitions": definition, "definitionsConflict": False} for one in VARIABLES]
    for name in classes:
        parts = {"controlPlane": {"templateRef": _TEMPLATE}, "infrastructure": {"templateRef": _TEMPLATE}}
        body = {"metadata": {"name": name}, "spec": parts, "status": {"variables": rows}}
        cluster.create("clusterclasses", body, CLASSES)


def admit(cluster, kind, new, old):
    """The webhooks of clusters: they complete the version. The class, its variables and the VM classes must exist."""
    topology = new.get("spec", {}).get("topology") if kind.kind == "Cluster" else None
    if not topology:
        return
    if "+" not in topology["version"]:
        topology["version"] += BUILD
    if kind.version != kind.storage:
        return
    reference, namespace = topology["classRef"], new["metadata"]["namespace"]
    known = cluster.get("clusterclasses", reference["name"], reference.get("namespace") or namespace)
    if known is None:
        return  # The class may come later.
    names = {one["name"] for one in known.get("status", {}).get("variables", ())}
    rows = list(topology.get("variables") or ())
    for pool in (topology.get("workers") or {}).get("machineDeployments") or ():
        rows += (pool.get("variables") or {}).get("overrides") or ()
    for one in rows:
        text = ""
        if one["name"] not in names:
            text = f'spec.topology.variables[{one["name"]}]: Invalid value: "{one["name"]}": variable is not defined'
        elif one["name"] == "vmClass" and cluster.get("virtualmachineclasses", one["value"], namespace) is None:
            text = f'spec.topology.variables[vmClass]: Invalid value: "{one["value"]}": VM class not found'
        if text:
            webhook = "default.validating.cluster.cluster.x-k8s.io"
            full = f'Cluster.cluster.x-k8s.io "{new["metadata"]["name"]}" is invalid: {text}'
            raise Refused(422, f'admission webhook "{webhook}" denied the request: {full}', "Invalid")


def step(world):
    """One more machine of each cluster, then its status."""
    cluster = world.cluster
    if not cluster.serves("clusters") or world.spawn is None:
        return
    for one in cluster.list("clusters"):
        topology = one.get("spec", {}).get("topology")
        if not topology:
            continue
        if "deletionTimestamp" in one["metadata"]:
            _end(world, one)
        elif FINALIZER not in one["metadata"].get("finalizers", ()):
            metadata = copy.deepcopy(one["metadata"])
            metadata["finalizers"] = [*metadata.get("finalizers", ()), FINALIZER]
            metadata["labels"] = {**metadata.get("labels", {}), "run.tanzu.vmware.com/tkr": _release(topology)}
            cluster.change("clusters", one, MANAGER, metadata=metadata)
        else:
            _machines(world, one, topology)


def _release(topology):
    return topology["version"].replace("+", "---")


def _end(world, one):
    cluster, metadata = world.cluster, copy.deepcopy(one["metadata"])
    world.end(one["metadata"]["uid"])
    for machine in owned(cluster, "machines", one):
        world.machines.remove(machine["metadata"]["namespace"], machine["metadata"]["name"])
    metadata["finalizers"] = [name for name in metadata.get("finalizers", ()) if name != FINALIZER]
    cluster.change("clusters", one, MANAGER, metadata=metadata)


def _wanted(one, topology):
    """(name of a machine, its VM class, whether it is a worker) of all machines."""
    name = one["metadata"]["name"]
    general = {row["name"]: row["value"] for row in topology.get("variables") or ()}
    count = (topology.get("controlPlane") or {}).get("replicas", 1)
    rows = [(f"{name}-control-{at}", general.get("vmClass", ""), False) for at in range(count)]
    for pool in (topology.get("workers") or {}).get("machineDeployments") or ():
        overrides = {row["name"]: row["value"] for row in (pool.get("variables") or {}).get("overrides") or ()}
        vm_class = {**general, **overrides}.get("vmClass", "")
        rows += [(f"{name}-{pool['name']}-{at}", vm_class, True) for at in range(pool.get("replicas", 1))]
    return rows


def _machines(world, one, topology):
    cluster, uid = world.cluster, one["metadata"]["uid"]
    namespace, name = one["metadata"]["namespace"], one["metadata"]["name"]
    inner = world.spawn(uid, name, topology["version"])
    _secret(cluster, one, inner.kubeconfig())
    wanted, machines = _wanted(one, topology), {m["metadata"]["name"]: m for m in owned(cluster, "machines", one)}
    for gone in sorted(set(machines) - {row[0] for row in wanted}):
        cluster.deleted(cluster.kind("machines"), machines.pop(gone))
        world.machines.remove(namespace, gone)
        node = inner.cluster.get("nodes", gone)
        if node:
            inner.cluster.remove("nodes", node)
    reference = {"apiGroup": "vmware.infrastructure.cluster.x-k8s.io", "kind": "VSphereMachine"}
    for machine, vm_class, worker in wanted:
        if machine in machines:
            continue
        labels = {"cluster.x-k8s.io/cluster-name": name}
        spec = {"clusterName": name, "bootstrap": {"dataSecretName": machine}, "version": topology["version"]}
        spec["infrastructureRef"] = {**reference, "name": machine}
        body = {"metadata": {"name": machine, "labels": labels, "ownerReferences": owner_of(one)}, "spec": spec}
        body["status"] = {"phase": "Running", "nodeRef": {"name": machine}}
        known = cluster.get("virtualmachineclasses", vm_class, namespace)
        try:
            hardware = world.machines.create(namespace, machine, (known or {}).get("spec") or {}, vm_class)
        except machines_of.NoRoom as problem:
            del body["status"]["nodeRef"]
            body["status"]["phase"] = "Provisioning"
            cluster.event(one, "MachineProvisioning", f"{machine}: {problem}", "Warning", MANAGER)
            break
        cluster.create("machines", body, namespace, MANAGER)
        role = () if worker else {"node-role.kubernetes.io/control-plane": ""}
        taint = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
        with inner.cluster.lock:
            inner.world.add_node(machine, role, () if worker else (taint,), **hardware)
        break
    _status(cluster, one, wanted)


def _secret(cluster, one, text):
    name, namespace = one["metadata"]["name"], one["metadata"]["namespace"]
    if cluster.get("secrets", f"{name}-kubeconfig", namespace) is None:
        labels = {"cluster.x-k8s.io/cluster-name": name}
        metadata = {"name": f"{name}-kubeconfig", "labels": labels, "ownerReferences": owner_of(one)}
        body = {"metadata": metadata, "type": "cluster.x-k8s.io/secret", "data": {"value": encode(text)}}
        cluster.create("secrets", body, namespace, MANAGER)


def _status(cluster, one, wanted):
    one = cluster.get("clusters", one["metadata"]["name"], one["metadata"]["namespace"])
    present = {machine["metadata"]["name"] for machine in owned(cluster, "machines", one)}
    counts = []
    for worker in (False, True):
        names = [row[0] for row in wanted if row[2] is worker]
        there = len([name for name in names if name in present])
        keys = ("replicas", "readyReplicas", "availableReplicas", "upToDateReplicas")
        counts.append({"desiredReplicas": len(names), **dict.fromkeys(keys, there)})
    control, workers = counts
    good = control["availableReplicas"] > 0
    done = workers["availableReplicas"] == workers["desiredReplicas"]
    rows, generation = one.get("status", {}).get("conditions"), one["metadata"]["generation"]
    for type_, value in (
        ("ControlPlaneInitialized", good),
        ("RemoteConnectionProbe", good),
        ("WorkersAvailable", good and done),
        ("TopologyReconciled", True),
        ("Available", good and done),
    ):
        text = "" if value else f"{workers['availableReplicas']} of {workers['desiredReplicas']} workers are available"
        reason = {"Available": "Available", "TopologyReconciled": "ReconcileSucceeded"}.get(type_, type_)
        rows = condition(rows, type_, "True" if value else "False", reason if value else f"Not{type_}", text)
        rows[-1]["observedGeneration"] = generation
    # The phase is Provisioned before any worker is there.
    status = {"phase": "Provisioned" if good else "Provisioning", "conditions": rows, "observedGeneration": generation}
    status.update(controlPlane=control, workers=workers)
    status["initialization"] = {"infrastructureProvisioned": True, "controlPlaneInitialized": good}
    put_status(cluster, "clusters", one, status, MANAGER)
