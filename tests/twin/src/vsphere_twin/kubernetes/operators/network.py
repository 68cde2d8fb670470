"""The network operator: device plugins, secondary networks and address pools."""

from __future__ import annotations

import ipaddress
import json

from .gpu import PCI, set_resource
from .parts import ensured, owner_of, put_status

MANAGER = "network-operator"
NAME = "nic-cluster-policy"
WAIT = "network.nvidia.com/operator.mofed.wait"
# (block, resource prefix of a row, key of the rows) of the device plugins.
_PLUGINS = {"rdmaSharedDevicePlugin": ("rdma", "configList"), "sriovDevicePlugin": ("nvidia.com", "resourceList")}
_STATES = {
    "ofedDriver": "state-OFED",
    "rdmaSharedDevicePlugin": "state-RDMA-device-plugin",
    "sriovDevicePlugin": "state-SRIOV-device-plugin",
    "nvIpam": "state-nv-ipam-cni",
    "nicFeatureDiscovery": "state-nic-feature-discovery",
}
_NETWORKS = {"macvlannetworks": "macvlan", "hostdevicenetworks": "host-device", "ipoibnetworks": "ipoib"}


def step(world):
    """Reconcile NicClusterPolicy and the networks."""
    cluster = world.cluster
    if not cluster.serves("nicclusterpolicies"):
        return
    for policy in cluster.list("nicclusterpolicies"):
        if policy["metadata"]["name"] != NAME:
            text = f"reconciliation of NicClusterPolicy is supported only for the name {NAME}"
            put_status(cluster, "nicclusterpolicies", policy, {"state": "ignore", "reason": text}, MANAGER)
            continue
        _reconcile(world, policy)
    for plural, plugin in _NETWORKS.items():
        for network in cluster.list(plural):
            _network(cluster, plural, plugin, network)
    for plural in ("ippools", "cidrpools"):
        for pool in cluster.list(plural):
            _pool(world, plural, pool)


def _images(spec):
    """The image of each component; `global` gives repository and version."""
    common = spec.get("global") or {}
    found = {}
    for block, one in spec.items():
        parts = {block: one} if isinstance(one, dict) and "image" in one else {}
        if block == "secondaryNetwork":
            parts = {name: part for name, part in one.items() if isinstance(part, dict) and "image" in part}
        for name, part in parts.items():
            repository, version = (part.get(key) or common.get(key, "") for key in ("repository", "version"))
            found[name] = (f"{repository}/{part['image']}:{version}", part.get("imagePullSecrets") or ())
    return found


def _reconcile(world, policy):
    cluster, spec = world.cluster, policy["spec"]
    nodes = [one for one in cluster.list("nodes") if one["metadata"].get("labels", {}).get(PCI[1]) == "true"]
    applied, good = [], True
    for name, (image, secrets) in sorted(_images(spec).items()):
        row = {"name": _STATES.get(name, f"state-{name}-cni"), "state": "ready"}
        why = world.images.refusal(image, secrets) or _bad_config(spec, name)
        if why:
            row.update(state="notReady", message=f"{image}: {why}")
            good = False
        applied.append(row)
    for name, state in _STATES.items():
        if name not in spec:
            applied.append({"name": state, "state": "ignore"})
    if good:
        for node in nodes:
            _resources(world, spec, node)
    status = {"state": "ready" if good else "notReady", "appliedStates": applied}
    put_status(cluster, "nicclusterpolicies", policy, status, MANAGER)


def _bad_config(spec, name):
    if name not in _PLUGINS:
        return ""
    try:
        rows = json.loads(spec[name].get("config") or "{}")[_PLUGINS[name][1]]
        return "" if all(row["resourceName"] for row in rows) else "a resource has no name"
    except (ValueError, KeyError, TypeError) as error:
        return f"failed to read the configuration of the device plugin: {error!r}"


def _resources(world, spec, node):
    cluster, name = world.cluster, node["metadata"]["name"]
    hardware = world.hardware[name]
    if node["metadata"]["labels"].get(WAIT) != "false":
        node = cluster.labelled("nodes", cluster.get("nodes", name), {WAIT: "false"}, MANAGER)
    for block, (prefix, key) in _PLUGINS.items():
        if block not in spec:
            continue
        for row in json.loads(spec[block]["config"])[key]:
            count = _selected(row.get("selectors") or {}, hardware)
            if block == "rdmaSharedDevicePlugin":
                count = count and int(row.get("rdmaHcaMax", 0))
            set_resource(cluster, name, f"{row.get('resourcePrefix', prefix)}/{row['resourceName']}", count)


def interfaces(hardware):
    """The interfaces of the RDMA adapters of a node: vSphere puts its adapters 32 apart."""
    return [f"ens{224 + 32 * number}" for number in range(hardware.adapters)]


def _selected(selectors, hardware):
    """The number of adapters of a node that selectors match."""
    rows = selectors if isinstance(selectors, list) else [selectors]
    found = set()
    for one in rows:
        names = one.get("ifNames") or one.get("pfNames")
        if "15b3" in one.get("vendors", ["15b3"]):
            found.update(name for name in interfaces(hardware) if names is None or name in names)
    return len(found)


def _network(cluster, plural, plugin, network):
    spec, name = network.get("spec") or {}, network["metadata"]["name"]
    namespace = spec.get("networkNamespace") or "default"
    try:
        ipam = json.loads(spec.get("ipam") or "{}")
    except ValueError as error:
        status = {"state": "error", "reason": f"failed to parse ipam: {error}"}
        put_status(cluster, plural, network, status, MANAGER)
        return
    if cluster.get("namespaces", namespace) is None:
        status = {"state": "error", "reason": f'namespaces "{namespace}" not found'}
        put_status(cluster, plural, network, status, MANAGER)
        return
    config = {"cniVersion": "0.3.1", "name": name, "type": plugin, "ipam": ipam}
    metadata = {"name": name, "ownerReferences": owner_of(network), "annotations": {}}
    if plugin == "host-device":
        metadata["annotations"]["k8s.v1.cni.cncf.io/resourceName"] = f"nvidia.com/{spec.get('resourceName', '')}"
    else:
        config.update({key: spec[key] for key in ("master", "mode", "mtu") if key in spec})
    body = {"metadata": metadata, "spec": {"config": json.dumps(config)}}
    made = ensured(cluster, "network-attachment-definitions", body, namespace, MANAGER)
    if made["spec"] != body["spec"]:
        cluster.change("network-attachment-definitions", made, MANAGER, spec=body["spec"])
    status = {"state": "ready"}
    if plugin != "ipoib":
        reference = f"k8s.cni.cncf.io/v1/namespaces/{namespace}/network-attachment-definitions/{name}"
        status[f"{'macvlan' if plugin == 'macvlan' else 'hostDevice'}NetworkAttachmentDef"] = reference
    put_status(cluster, plural, network, status, MANAGER)


def _belongs(spec, node):
    """Whether the selector of a pool takes a node: one of its terms, with all of its expressions."""
    terms = (spec.get("nodeSelector") or {}).get("nodeSelectorTerms")
    labels = node["metadata"].get("labels", {})
    return terms is None or any(
        all(labels.get(row["key"]) in row.get("values", ()) for row in term.get("matchExpressions") or ())
        for term in terms
    )


def _pool(world, plural, pool):
    """A block of addresses for each node, as long as the subnet has some."""
    cluster, spec, rows = world.cluster, pool["spec"], []
    names = sorted(one["metadata"]["name"] for one in cluster.list("nodes") if _belongs(spec, one))
    if plural == "ippools":
        subnet, size = ipaddress.ip_network(spec["subnet"], strict=False), spec["perNodeBlockSize"]
        first = int(subnet.network_address) + 1
        for at, name in enumerate(names):
            start, end = first + at * size, first + (at + 1) * size - 1
            if end >= int(subnet.broadcast_address):
                text = f"failed to allocate a block for {name}: no free IP ranges"
                cluster.event(pool, "NoFreeRanges", text, "Warning", "nv-ipam")
                continue
            ends = {"startIP": str(ipaddress.ip_address(start)), "endIP": str(ipaddress.ip_address(end))}
            rows.append({"nodeName": name, **ends})
    else:
        networks = ipaddress.ip_network(spec["cidr"], strict=False).subnets(new_prefix=spec["perNodeNetworkPrefix"])
        rows = [{"nodeName": name, "prefix": str(network)} for name, network in zip(names, networks, strict=False)]
    put_status(cluster, plural, pool, {"allocations": rows}, MANAGER)
