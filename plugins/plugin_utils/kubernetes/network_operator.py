# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Objects of the Network Operator for RDMA in pods, and what a pod needs to use them. Pure.

The names of images and of the namespace are those of NVIDIA's documentation of the Network Operator 25.7 to 26.4.
"""

from __future__ import annotations

import ipaddress
import json
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import nodes, schema, sriov
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.merge import merged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Objects = Sequence[Mapping[str, Any]]
    Made = dict[str, Any]

GROUP, VERSION, POOLS = "mellanox.com", "v1alpha1", "nv-ipam.nvidia.com"
POLICY = "NicClusterPolicy"
NAME = "nic-cluster-policy"  # the operator ignores any other
HOST_DEVICE, MACVLAN, SRIOV = "host_device", "macvlan", "sriov"
KINDS = {HOST_DEVICE: "HostDeviceNetwork", MACVLAN: "MacvlanNetwork", SRIOV: sriov.NETWORK}
# (component, image, key of the rows in its configuration, prefix of its resources)
PLUGINS = {
    HOST_DEVICE: ("sriovDevicePlugin", "sriov-network-device-plugin", "resourceList", "nvidia.com"),
    MACVLAN: ("rdmaSharedDevicePlugin", "k8s-rdma-shared-dev-plugin", "configList", "rdma"),
}
VENDOR = "15b3"
NIC = f"feature.node.kubernetes.io/pci-{VENDOR}.present"
# Pods that can share one adapter. The documentation of the operator uses this number.
SHARED = 63
NETWORKS = "k8s.v1.cni.cncf.io/networks"


def rails(requested: Mapping[str, Any]) -> list[Made]:
    """[{name: of the network and its pool, resource, subnet, interface}] of each network."""
    names, subnets = requested["interfaces"], requested["subnets"]
    own = requested["attachment"] == SRIOV  # the operator has a device plugin of its own
    prefix = requested["resource_prefix"] if own else PLUGINS[requested["attachment"]][3]
    found = []
    for number, subnet in enumerate(subnets, 1):
        name = requested["name"] if len(subnets) == 1 else f"{requested['name']}-{number}"
        rail = {"name": name, "short": name.replace("-", "_"), "subnet": subnet}
        rail.update(resource=f"{prefix}/{rail['short']}", interface=names[number - 1] if names else "")
        found.append(rail)
    return found


def policy(requested: Mapping[str, Any], openshift: bool) -> Made:
    """The NicClusterPolicy with the device plugin, the IPAM and, except on OpenShift, Multus."""
    made: Made = {}
    if requested["attachment"] != SRIOV:
        component, image, key, dummy = PLUGINS[requested["attachment"]]
        row = _shared if requested["attachment"] == MACVLAN else _whole
        config = json.dumps({key: [row(rail) for rail in rails(requested)]}, sort_keys=True)
        made[component] = {**_image(requested, image), "config": config}
    made["nvIpam"] = {**_image(requested, "nvidia-k8s-ipam"), "enableWebhook": False}
    if not openshift:  # has its own Multus
        made["secondaryNetwork"] = {
            "cniPlugins": _image(requested, "plugins"),
            "multus": _image(requested, "multus-cni"),
        }
    return _object(GROUP, POLICY, {"name": NAME}, merged(made, requested.get("spec") or {}))


def networks(requested: Mapping[str, Any], selector: Mapping[str, str]) -> list[Made]:
    """For each rail, the pool with its addresses and the network. They exist after the operator applied its policy."""
    found = []
    for rail in rails(requested):
        pool = {"name": rail["name"], "namespace": requested["namespace"]}
        found.append(_object(POOLS, "IPPool", pool, _pool(requested, rail, selector)))
        ipam = json.dumps({"type": "nv-ipam", "poolName": rail["name"]}, sort_keys=True)
        if requested["attachment"] == SRIOV:
            found.append(sriov.policy(requested, rail, selector or nodes.PRESENT))
            found.append(sriov.network(requested, rail, ipam))
            continue
        spec: Made = {"networkNamespace": requested["pods"], "ipam": ipam}
        if requested["attachment"] == MACVLAN:
            spec.update(master=rail["interface"], mode="bridge", mtu=requested["mtu"])
        else:
            # Without the prefix of the resource.
            spec["resourceName"] = rail["short"]
        found.append(_object(GROUP, KINDS[requested["attachment"]], {"name": rail["name"]}, spec))
    return found


def _object(group: str, kind: str, metadata: Made, spec: Made) -> Made:
    return {"apiVersion": f"{group}/{VERSION}", "kind": kind, "metadata": metadata, "spec": spec}


def _image(requested: Mapping[str, Any], image: str) -> Made:
    made: Made = {"repository": requested["repository"], "image": image, "version": requested["version"]}
    return {**made, **({"imagePullSecrets": list(requested["pull_secrets"])} if requested["pull_secrets"] else {})}


def _shared(rail: Mapping[str, Any]) -> Made:
    selectors = {"vendors": [VENDOR], "ifNames": [rail["interface"]]}
    return {"resourceName": rail["short"], "rdmaHcaMax": SHARED, "selectors": selectors}


def _whole(rail: Mapping[str, Any]) -> Made:
    selectors: Made = {"vendors": [VENDOR], "isRdma": True}
    if rail["interface"]:
        # [unsure: for a function in a VM, the plugin takes its own interface as that of the physical function]
        selectors["pfNames"] = [rail["interface"]]
    return {"resourcePrefix": PLUGINS[HOST_DEVICE][3], "resourceName": rail["short"], "selectors": selectors}


def _pool(requested: Mapping[str, Any], rail: Mapping[str, Any], selector: Mapping[str, str]) -> Made:
    labels = selector or {NIC: "true"}
    terms = [{"key": key, "operator": "In", "values": [str(value)]} for key, value in sorted(labels.items())]
    made: Made = {
        "subnet": rail["subnet"],
        "perNodeBlockSize": requested["per_node"],
        "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": terms}]},
    }
    inside = [one for one in map(bounds, requested["exclude"]) if one[0] in ipaddress.ip_network(rail["subnet"])]
    if inside:
        made["exclusions"] = [{"startIP": str(first), "endIP": str(last)} for first, last in inside]
    return made


def bounds(text: str) -> tuple[ipaddress.IPv4Address, ipaddress.IPv4Address]:
    """The first and the last address of a range such as 192.0.2.1-192.0.2.20."""
    first, dummy, last = text.partition("-")
    return ipaddress.IPv4Address(first.strip()), ipaddress.IPv4Address((last or first).strip())


def pod_annotations(requested: Mapping[str, Any], namespace: str) -> dict[str, str]:
    """The annotation of a pod that uses the networks. Multus finds names without a namespace in that of the pod.

    [unsure: with namespaceIsolation, Multus lets other namespaces use only networks of its globalNamespaces, which has
    default, where the networks of a site without a training are]
    """
    before = f"{requested['pods']}/" if requested and requested["pods"] != namespace else ""
    return {NETWORKS: ",".join(before + rail["name"] for rail in rails(requested))} if requested else {}


def resources(requested: Mapping[str, Any]) -> dict[str, int]:
    """The resources that a pod requests for the networks."""
    return {rail["resource"]: 1 for rail in rails(requested)} if requested else {}


def environment(requested: Mapping[str, Any]) -> dict[str, str]:
    """The environment of ranks that use RDMA, from the RoCE intent of the site."""
    text = str(requested["traffic_class"])
    made = {"NCCL_IB_TC": text, "UCX_IB_TRAFFIC_CLASS": text}
    if requested["devices"]:
        made["NCCL_IB_HCA"] = f"={','.join(requested['devices'])}"
    if requested["gid_index"] is not None:
        made["NCCL_IB_GID_INDEX"] = str(requested["gid_index"])
    elif len(requested["subnets"]) == 1:
        # The positions in the table differ by pod. NCCL 2.21 finds the entry by this range.
        made["NCCL_IB_ADDR_RANGE"] = requested["subnets"][0]
    if requested["gpudirect"]:
        made["NCCL_NET_GDR_LEVEL"] = requested["gpudirect"]
    return made


def problems(
    requested: Mapping[str, Any], seen: Mapping[str, Objects], selector: Mapping[str, str], pending: bool = False
) -> Iterator[str]:
    """Reasons why the cluster cannot have these networks; pending means that the operator is installed later."""
    for group, version, kind in () if pending else kinds(requested):
        if version not in schema.served(seen["definitions"], group, kind):
            other, how = ("SR-IOV ", sriov.INSTALL) if group == sriov.GROUP else ("", "with its Helm chart")
            yield (
                f"Cannot configure the {other}Network Operator. The cluster does not serve {kind} of "
                f"{group}/{version}. Install the operator {how} or from OperatorHub, or remove "
                "site.kubernetes.network_operator."
            )
            return
    if requested["attachment"] == SRIOV:
        yield from sriov.problems(nodes.chosen(seen["nodes"], selector))
    if requested["namespace"] not in [one["metadata"]["name"] for one in seen["namespaces"]] and not pending:
        yield (
            f"Cannot configure the Network Operator in the namespace {requested['namespace']}. The cluster has no such "
            "namespace. Set site.kubernetes.network_operator.namespace to the namespace of the operator."
        )
    chosen = len(nodes.chosen(seen["nodes"], selector))
    for rail in rails(requested):
        usable = ipaddress.ip_network(rail["subnet"]).num_addresses - 2
        if chosen * requested["per_node"] > usable:
            yield (
                f"Cannot give each node {requested['per_node']} addresses of {rail['subnet']}. The subnet has {usable} "
                f"addresses, and {chosen} nodes need {chosen * requested['per_node']}. Use a larger subnet in "
                "site.kubernetes.network_operator.subnets, or lower per_node."
            )


def kinds(requested: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """(group, version, kind) of what the cluster must serve, without the pools."""
    if requested["attachment"] == SRIOV:
        own = [(sriov.GROUP, sriov.VERSION, kind) for kind in (sriov.POLICY, sriov.NETWORK)]
        return [(GROUP, VERSION, POLICY), *own]
    return [(GROUP, VERSION, kind) for kind in (POLICY, KINDS[requested["attachment"]])]


def is_served(definitions_seen: Objects) -> bool:
    """Whether the cluster serves pools. The operator may create their definition only with its IPAM."""
    return VERSION in schema.served(definitions_seen, POOLS, "IPPool")
