# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A VKS cluster on a Supervisor: its Cluster object, its state, and the cause of each fault. Pure."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.causes import short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Objects = Sequence[Mapping[str, Any]]

GROUP = "cluster.x-k8s.io"
# Cluster API 1.11 introduced v1beta2. An older VKS serves only v1beta1.
VERSIONS = ("v1beta2", "v1beta1")
CONDITIONS = {
    "v1beta2": (
        "ControlPlaneInitialized",
        "RemoteConnectionProbe",
        "WorkersAvailable",
        "TopologyReconciled",
        "Available",
    ),
    "v1beta1": ("ControlPlaneReady", "InfrastructureReady", "TopologyReconciled", "Ready"),
}
# Cluster API ends the names of objects below a Cluster with characters without vowels, one group for each level. Older
# releases put infra or bootstrap before them.
GENERATED = "(-infra|-bootstrap)?(-[bcdfghjklmnpqrstvwxz2456789]{5,10}){1,3}"
OS_IMAGE = "run.tanzu.vmware.com/resolve-os-image"
# (pattern of a message, cause, fix); the first match counts.
CAUSES = (
    (
        r"could not resolve|no matching (?:TKr|KR)|OSImage|not compatible.*release",
        "The Supervisor has no release or node image for this version",
        "Set site.kubernetes.vks.version to a release that `kubectl get kubernetesreleases` lists, and add the content "
        "library with the node images to the namespace",
    ),
    (
        r"quota",
        "The quota of the namespace is exhausted",
        "Raise the limits of the namespace in vCenter, or reduce the nodes in site.vms",
    ),
    (
        r"VM class not found|virtualmachineclass.*not found|vmclass",
        "The namespace does not offer the VM class",
        "Add the VM class to the namespace in vCenter, or remove site.kubernetes.vks.vm_class so that the stage "
        "creates one",
    ),
    (
        r"free device|insufficient (?:resources|gpu)|no host|not enough .*(?:gpu|vgpu|device)|No compatible host",
        "The hosts have too few free GPUs for the node",
        "Free GPUs, or reduce the nodes in site.vms. gpu_capacity_info shows the free GPUs of each host",
    ),
    (
        r"storage ?class|storage ?policy",
        "The namespace does not offer the storage class",
        "Add the storage policy to the namespace in vCenter, or correct site.kubernetes.vks.storage_class",
    ),
)


def plan(requested: Mapping[str, Any], seen: Mapping[str, Any]) -> dict[str, Any]:
    """{objects, later, problems}: the Cluster object, and reasons why the Supervisor cannot run it.

    seen has versions (those of Cluster that the Supervisor serves), cluster_classes, vm_classes, which are names, and
    planned, which is true in check mode. later names the VM classes of the role that check mode only planned. The
    webhook of the Supervisor rejects a Cluster with such a class.
    """
    served = [version for version in VERSIONS if version in seen["versions"]]
    if not served:
        text = (
            "Cannot create the cluster. The Supervisor does not serve Cluster of cluster.x-k8s.io. Check that the "
            "kubeconfig or the address is that of a Supervisor with the service VKS. TanzuKubernetesCluster objects "
            "are not supported."
        )
        return {"objects": [], "later": [], "problems": [text]}
    managed = {one["name"] for one in requested.get("classes") or ()} if seen.get("planned") else set()
    later = sorted(managed - set(seen["vm_classes"]))
    found = [one for one in seen["cluster_classes"] if one["metadata"]["name"] == requested["cluster_class"]]
    reported = [*_class(requested, seen, found), *_vm_classes(requested, {*seen["vm_classes"], *later})]
    variables = _variables(found[0]) if found else set()
    return {"objects": [_cluster(requested, served[0], variables)], "later": later, "problems": reported}


def _class(requested: Mapping[str, Any], seen: Mapping[str, Any], found: Objects) -> Iterator[str]:
    if found:
        return
    names = sorted(short(one["metadata"]["name"]) for one in seen["cluster_classes"])
    yield (
        f"Cannot create the cluster with the cluster class {requested['cluster_class']}. The namespace "
        f"{requested['class_namespace']} has {', '.join(names) or 'no cluster class'}. Set "
        "site.kubernetes.vks.cluster_class, and class_namespace on a VKS older than 3.4."
    )


def _vm_classes(requested: Mapping[str, Any], offered: set[str]) -> Iterator[str]:
    needed = {requested["control_plane"]["vm_class"], *(pool["vm_class"] for pool in requested["pools"])}
    for name in sorted(needed - offered):
        yield (
            f"Cannot create the cluster with the VM class {name}. The namespace {requested['namespace']} does not "
            "offer it. Add the class to the namespace in vCenter, or correct site.kubernetes.vks."
        )


def _variables(found: Mapping[str, Any]) -> set[str]:
    """Names of the variables of a cluster class. Without a status, those of the newest class."""
    rows = (found.get("status") or {}).get("variables") or ()
    return {str(one.get("name")) for one in rows}


def _cluster(requested: Mapping[str, Any], version: str, variables: set[str]) -> dict[str, Any]:
    reference: dict[str, Any] = {
        "classRef": {"name": requested["cluster_class"], "namespace": requested["class_namespace"]}
    }
    if version == "v1beta1":
        reference = {"class": requested["cluster_class"], "classNamespace": requested["class_namespace"]}
    storage = requested["storage_class"]
    # Classes up to builtin-generic-v3.3.0 have other names for the same settings.
    older = "vsphereOptions" not in variables and "defaultStorageClass" in variables
    rows = [
        {"name": "vmClass", "value": requested["control_plane"]["vm_class"]},
        {"name": "storageClass", "value": storage},
        {"name": "defaultStorageClass", "value": storage}
        if older
        else {"name": "vsphereOptions", "value": {"persistentVolumes": {"defaultStorageClass": storage}}},
    ]
    image = {"metadata": {"annotations": {OS_IMAGE: requested["os_image"]}}} if requested["os_image"] else {}
    topology = {
        **reference,
        "version": requested["version"],
        "controlPlane": {"replicas": requested["control_plane"]["nodes"], **image},
        "variables": rows,
        "workers": {"machineDeployments": [_pool(pool, requested, image, older) for pool in requested["pools"]]},
    }
    spec: dict[str, Any] = {"topology": topology}
    blocks = {key: {"cidrBlocks": [requested[key]]} for key in ("pods", "services") if requested.get(key)}
    if blocks:
        spec["clusterNetwork"] = {**blocks, "serviceDomain": "cluster.local"}
    return {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "Cluster",
        "metadata": {"name": requested["name"], "namespace": requested["namespace"]},
        "spec": spec,
    }


def _pool(
    pool: Mapping[str, Any], requested: Mapping[str, Any], image: Mapping[str, Any], older: bool
) -> dict[str, Any]:
    # Images with GPU libraries do not fit into the root disk of 20 GB.
    volume: dict[str, Any] = {"name": "containerd", "mountPath": "/var/lib/containerd"}
    size = f"{requested['containerd_gb']}Gi"
    volume["capacity"] = {"storage": size} if older else size
    volume["storageClass"] = requested["storage_class"]
    name = "nodePoolVolumes" if older else "volumes"
    overrides = [{"name": "vmClass", "value": pool["vm_class"]}, {"name": name, "value": [volume]}]
    return {
        "class": "node-pool",
        "name": pool["name"],
        "replicas": pool["nodes"],
        **image,
        "variables": {"overrides": overrides},
    }


def ready(clusters: Any) -> bool:
    """Whether all parts of a cluster are available. Its phase is Provisioned before any worker is."""
    return bool(clusters) and not _not_ready(clusters[0])


def _not_ready(cluster: Mapping[str, Any]) -> list[str]:
    status, generation = cluster.get("status") or {}, cluster["metadata"].get("generation")
    version = str(cluster.get("apiVersion") or "").rpartition("/")[2]
    rows = {one.get("type"): one for one in status.get("conditions") or []}
    reported = []
    for name in CONDITIONS.get(version, CONDITIONS["v1beta2"]):
        row = rows.get(name) or {}
        late = row.get("observedGeneration") not in (None, generation)
        if row.get("status") != "True" or late:
            text = row.get("message") or row.get("reason") or "not reported"
            reported.append(f"{name}: {'not updated yet' if late else short(text)}")
    # v1beta1 has the numbers below v1beta2.
    workers = status.get("workers") or (status.get("v1beta2") or {}).get("workers") or {}
    if workers.get("availableReplicas", 0) < workers.get("desiredReplicas", 0):
        reported.append(f"{workers.get('availableReplicas', 0)} of {workers['desiredReplicas']} workers are available")
    return reported


def faults(requested: Mapping[str, Any], seen: Mapping[str, Objects]) -> list[str]:
    """Each reason why the cluster is not available; seen has clusters, machines and events."""
    clusters = seen["clusters"]
    if ready(clusters):
        return []
    name = requested["name"]
    left = _not_ready(clusters[0]) if clusters else ["the Supervisor has no such Cluster"]
    texts = [*left, *(str(one.get("message") or "") for one in seen["events"] if _is_about(requested, seen, one))]
    found = list(dict.fromkeys(_cause(text) for text in texts if _cause(text)))
    waiting = [short(one["metadata"]["name"]) for one in seen["machines"] if not _has_node(one)]
    if waiting:
        found.append(f"These machines have no node yet: {', '.join(sorted(waiting))}. Check their VMs in vCenter.")
    limit = f"The limit site.kubernetes.wait_s is {requested['wait_s']} s."
    return [*found, f"The cluster {name} is not available. It reports: {'; '.join(left)}. {limit}"]


def _cause(text: str) -> str:
    for pattern, cause, fix in CAUSES:
        if re.search(pattern, text, re.IGNORECASE):
            return f"{cause}. The Supervisor reports: {short(text).rstrip('.')}. {fix}."
    return ""


def _is_about(requested: Mapping[str, Any], seen: Mapping[str, Objects], event: Mapping[str, Any]) -> bool:
    """Whether an event warns about the Cluster or an object below it. A prefix would include gpu-2 for gpu."""
    name, about = requested["name"], str((event.get("involvedObject") or {}).get("name") or "")
    machines = [one["metadata"] for one in seen["machines"]]
    owners = (one.get("name") for machine in machines for one in machine.get("ownerReferences") or ())
    pools = "|".join(
        re.escape(f"-{one}") for one in ("control-plane", *(row["name"] for row in requested.get("pools") or ()))
    )
    below = re.fullmatch(f"{re.escape(name)}({pools})?{GENERATED}", about)
    own = bool(below) or about in (name, *owners, *(machine["name"] for machine in machines))
    return event.get("type") == "Warning" and own


def _has_node(machine: Mapping[str, Any]) -> bool:
    return bool(((machine.get("status") or {}).get("nodeRef") or {}).get("name"))


def kubeconfig(secrets: Any) -> str:
    """The kubeconfig of a new cluster from its secret; empty for none."""
    data = (secrets[0].get("data") or {}) if secrets else {}
    try:
        return base64.b64decode(str(data.get("value") or ""), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


def login_problem(answer: Mapping[str, Any]) -> str:
    """Why the Supervisor gave no token; empty for a token. answer is the result of ansible.builtin.uri."""
    reported = answer.get("json")
    if isinstance(reported, Mapping) and reported.get("session_id"):
        return ""
    status = answer.get("status")
    if status == 401:
        return "It rejects the user. Check site.vcenter.username and site_vcenter_password."
    if status == 404:
        return "It has no login service. Set site.kubernetes.vks.supervisor to the address of the Supervisor."
    text = short(answer.get("msg") or "It gave no answer")
    if re.search(r"certificate|x509|ssl", text, re.IGNORECASE):
        return f"Its certificate is not trusted: {text}. Set site.kubernetes.vks.ca_file."
    return f"It answers {status}: {text}. Check site.kubernetes.vks.supervisor."
