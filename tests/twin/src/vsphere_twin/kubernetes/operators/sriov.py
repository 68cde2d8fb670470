"""The SR-IOV network operator: states of nodes, virtual functions, and attachments.

Rejections are those of pkg/webhook/validate.go of sriov-network-operator. The words of the daemon's error are [unsure].
"""

from __future__ import annotations

import json
import re

from ..refused import Refused
from .gpu import set_resource
from .network import interfaces
from .parts import ensured, owner_of, put_status

MANAGER, OPERATOR = "sriov-network-operator", "sriov-operator"
_VENDOR, _DEVICE, _MOST = "15b3", "1021", 128
_WEBHOOK = "operator-webhook.sriovnetwork.openshift.io"


def step(world):
    """Report the adapters of each node, create the functions of its policies, and render the networks."""
    cluster, namespace = world.cluster, world.sriov_namespace
    if cluster.get("namespaces", namespace) is None:
        return
    policies = cluster.list("sriovnetworknodepolicies", namespace)
    for node in cluster.list("nodes"):
        if all(node["metadata"].get("labels", {}).get(key) == value for key, value in world.sriov_nodes.items()):
            _node(world, node, [one for one in policies if _takes(one, node)])
    for network in cluster.list("sriovnetworks", namespace):
        _network(world, network)


def _takes(policy, node):
    labels = node["metadata"].get("labels", {})
    return all(labels.get(key) == value for key, value in policy["spec"]["nodeSelector"].items())


def _adapters(hardware):
    """Physical functions alone: a function in a VM has no file sriov_totalvfs."""
    names = interfaces(hardware) if hardware.total_vfs else ()
    common = {"vendor": _VENDOR, "deviceID": _DEVICE, "driver": "mlx5_core", "linkType": "ETH", "mtu": hardware.mtu}
    return [
        {**common, "name": name, "pciAddress": f"0000:{0x3B + at:02x}:00.0", "totalvfs": hardware.total_vfs}
        for at, name in enumerate(names)
    ]


def _selects(policy, adapter):
    selector = policy["spec"]["nicSelector"]
    names = [one.partition("#")[0] for one in selector.get("pfNames") or ()]
    vendor = selector.get("vendor") in (None, "", adapter["vendor"])
    return vendor and (not names or adapter["name"] in names)


def _node(world, node, policies):
    cluster, name = world.cluster, node["metadata"]["name"]
    body = {"metadata": {"name": name}, "spec": {}}
    state = ensured(cluster, "sriovnetworknodestates", body, world.sriov_namespace, MANAGER)
    adapters, wanted, error, counts = _adapters(world.hardware[name]), [], "", {}
    for adapter in adapters:
        for policy in (one for one in policies if _selects(one, adapter)):
            spec, own = policy["spec"], policy["metadata"]["name"]
            group = {"policyName": own, "resourceName": spec["resourceName"], "vfRange": f"0-{spec['numVfs'] - 1}"}
            wanted.append({**_named(adapter), "numVfs": spec["numVfs"], "vfGroups": [group]})
            if spec["numVfs"] > adapter["totalvfs"]:
                error = f"cannot config SRIOV device {adapter['pciAddress']}: NumVfs is larger than TotalVfs"
                continue
            adapter["numVfs"] = spec["numVfs"]
            counts[spec["resourceName"]] = counts.get(spec["resourceName"], 0) + spec["numVfs"]
    if (state["spec"].get("interfaces") or []) != wanted:
        state = cluster.change("sriovnetworknodestates", state, MANAGER, spec={"interfaces": wanted} if wanted else {})
        put_status(cluster, "sriovnetworknodestates", state, _status(adapters, "InProgress"), MANAGER)
        return
    put_status(
        cluster, "sriovnetworknodestates", state, _status(adapters, "Failed" if error else "Succeeded", error), MANAGER
    )
    known = {one["spec"]["resourceName"] for one in policies}
    for resource in known:
        set_resource(cluster, name, f"{world.sriov_prefix}/{resource}", counts.get(resource, 0))


def _named(adapter):
    return {key: adapter[key] for key in ("name", "pciAddress")}


def _status(adapters, sync, error=""):
    return {"interfaces": adapters, "syncStatus": sync, **({"lastSyncError": error} if error else {})}


def _network(world, network):
    """The attachment of a network; without its namespace, the operator tries again later."""
    cluster, spec, name = world.cluster, network["spec"], network["metadata"]["name"]
    namespace = spec.get("networkNamespace") or network["metadata"]["namespace"]
    if cluster.get("namespaces", namespace) is None:
        return
    config = {"cniVersion": "1.0.0", "name": name, "type": "sriov", "ipam": json.loads(spec.get("ipam") or "{}")}
    annotations = {"k8s.v1.cni.cncf.io/resourceName": f"{world.sriov_prefix}/{spec['resourceName']}"}
    metadata = {"name": name, "annotations": annotations}
    if namespace == network["metadata"]["namespace"]:
        metadata["ownerReferences"] = owner_of(network)
    body = {"metadata": metadata, "spec": {"config": json.dumps(config)}}
    made = ensured(cluster, "network-attachment-definitions", body, namespace, MANAGER)
    if made["spec"] != body["spec"]:
        cluster.change("network-attachment-definitions", made, MANAGER, spec=body["spec"])


def admission(world):
    """The webhook of the operator. The chart of NVIDIA installs it on request, OpenShift always."""

    def admit(cluster, kind, new, _old):
        if kind.kind == "SriovNetworkNodePolicy" and world.sriov_webhook and OPERATOR in world.installed:
            why = _problem(world, cluster, new)
            if why:
                raise Refused(403, f'admission webhook "{_WEBHOOK}" denied the request: {why}')

    return admit


def _problem(world, cluster, policy):
    spec, name = policy["spec"], policy["metadata"]["name"]
    if not re.fullmatch(r"[a-zA-Z0-9_]+", spec["resourceName"]):
        text = "contains invalid characters, the accepted syntax of the regular expressions is"
        return f'resource name "{spec["resourceName"]}" {text}: "^[a-zA-Z0-9_]+$"'
    if spec.get("deviceType") == "vfio-pci" and spec.get("isRdma"):
        return "'deviceType: vfio-pci' conflicts with 'isRdma: true'"
    nodes = [one for one in cluster.list("nodes") if _takes(policy, one)]
    if not nodes:
        return f"no matched node is selected by the nodeSelector in CR {name}"
    found = [one for node in nodes for one in _adapters(world.hardware[node["metadata"]["name"]])]
    found = [one for one in found if _selects(policy, one)]
    if found and not 0 < spec["numVfs"] <= _MOST:
        above = spec["numVfs"] > _MOST
        text = f"exceed the maximum allowed value({_MOST}) interface({found[0]['name']})" if above else "is not allowed"
        return f"numVfs({spec['numVfs']}) in CR {name} {text}"
    return "" if found else f"no supported NIC is selected by the nicSelector in CR {name}"
