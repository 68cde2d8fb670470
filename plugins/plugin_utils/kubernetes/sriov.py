# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Virtual functions for pods by the SR-IOV Network Operator: its objects, its states and their causes. Pure.

Fields and rejections are those of sriov-network-operator (api/v1, pkg/webhook/validate.go).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import nodes
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.causes import short

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Objects = Sequence[Mapping[str, Any]]
    Made = dict[str, Any]

GROUP, VERSION = "sriovnetwork.openshift.io", "v1"
NETWORK, POLICY = "SriovNetwork", "SriovNetworkNodePolicy"
VENDOR, KEY = "15b3", "site.kubernetes.network_operator"
BUSY = "InProgress"
# The chart of the Network Operator contains the SR-IOV Network Operator, and does not install it by default.
CHART = {"sriovNetworkOperator": {"enabled": True}}
INSTALL = "with sriovNetworkOperator.enabled in the values of the chart of the Network Operator"


def namespace(requested: Mapping[str, Any]) -> str:
    """The namespace of the SR-IOV Network Operator, which ignores its objects in others."""
    return str(requested.get("sriov_namespace") or requested["namespace"])


def policy(requested: Mapping[str, Any], rail: Mapping[str, Any], labels: Mapping[str, str]) -> Made:
    """The virtual functions of one adapter of each node, and their resource without its prefix."""
    spec: Made = {
        "nodeSelector": {key: str(value) for key, value in sorted(labels.items())},
        "nicSelector": {"vendor": VENDOR, "pfNames": [rail["interface"]]},
        "numVfs": requested["vfs"],
        "resourceName": rail["short"],
        "deviceType": "netdevice",
        "isRdma": True,
        "mtu": requested["mtu"],
    }
    return _object(requested, POLICY, rail, spec)


def network(requested: Mapping[str, Any], rail: Mapping[str, Any], ipam: str) -> Made:
    spec: Made = {"resourceName": rail["short"], "networkNamespace": requested["pods"], "ipam": ipam}
    return _object(requested, NETWORK, rail, spec)


def _object(requested: Mapping[str, Any], kind: str, rail: Mapping[str, Any], spec: Made) -> Made:
    metadata = {"name": rail["name"], "namespace": namespace(requested)}
    return {"apiVersion": f"{GROUP}/{VERSION}", "kind": kind, "metadata": metadata, "spec": spec}


def problems(chosen: Objects) -> Iterator[str]:
    """Nodes that cannot have virtual functions of their own."""
    vms = [short(one["metadata"]["name"]) for one in chosen if nodes.is_vm(one)]
    if vms:
        yield (
            f"Cannot create virtual functions on {', '.join(vms)}. They are VMs, and an adapter in a VM has no SR-IOV "
            f"capability. Set {KEY}.attachment to host_device, or site.kubernetes.nodes to labels of physical nodes."
        )


def settled(states: Any, requested: Mapping[str, Any], found: Any) -> bool:
    """Whether no chosen node is being configured; found are all nodes. The operator may drain and restart nodes."""
    names = {one["metadata"]["name"] for one in nodes.chosen(found or [], requested["nodes"])}
    own = [one for one in states or () if one["metadata"]["name"] in names]
    return bool(own) and all(_settled(one.get("status") or {}, requested["network_operator"]) for one in own)


def _settled(status: Mapping[str, Any], requested: Mapping[str, Any]) -> bool:
    """Whether a node failed, or has what it can have. Succeeded may be that of an earlier policy."""
    if status.get("syncStatus") != "Succeeded":
        return status.get("syncStatus") == "Failed"
    own = [one for one in status.get("interfaces") or [] if one.get("name") in requested["interfaces"]]
    limits = [min(requested["vfs"], int(one.get("totalvfs") or 0)) for one in own]
    return all(int(one.get("numVfs") or 0) >= limit for one, limit in zip(own, limits))


def faults(requested: Mapping[str, Any], rails: Objects, seen: Mapping[str, Objects], chosen: Objects) -> Iterator[str]:
    """Each reason why nodes have no functions, or pods no network; seen has states, networks and attachments."""
    states = {one["metadata"]["name"]: one for one in seen.get("states") or ()}
    for one in chosen:
        yield from _of_node(requested, rails, one, states.get(one["metadata"]["name"]))
    there = {one["metadata"]["name"] for one in seen.get("attachments") or ()}
    known = {one["metadata"]["name"] for one in seen["networks"]}
    for name in (rail["name"] for rail in rails):
        if name in known and name not in there:
            yield (
                f"The SriovNetwork {name} has no network attachment in the namespace {requested['pods']}. The "
                f"namespace may be missing, or the operator does not watch the namespace {namespace(requested)}. Check "
                f"{KEY}.sriov_namespace, and the log of the operator."
            )


def _of_node(
    requested: Mapping[str, Any], rails: Objects, node: Mapping[str, Any], state: Mapping[str, Any] | None
) -> Iterator[str]:
    name = short(node["metadata"]["name"])
    if state is None:
        yield (
            f"The SR-IOV Network Operator does not configure node {name}. The namespace {namespace(requested)} has no "
            "SriovNetworkNodeState of the node. The operator may not be installed there, or the node lacks the labels "
            f"in configDaemonNodeSelector of its SriovOperatorConfig. Check {KEY}.sriov_namespace, or label the node."
        )
        return
    status = state.get("status") or {}
    found = status.get("interfaces") or []
    for rail in rails:
        pf = next((one for one in found if (one.get("name"), one.get("vendor")) == (rail["interface"], VENDOR)), None)
        if pf is None:
            names = ", ".join(short(one.get("name")) for one in found if one.get("vendor") == VENDOR) or "none"
            yield (
                f"Node {name} has no adapter {rail['interface']} with SR-IOV. Adapters of vendor {VENDOR} with SR-IOV: "
                f"{names}. Correct {KEY}.interfaces, or enable SR-IOV in the BIOS and in the firmware of the adapter."
            )
        elif int(pf.get("totalvfs") or 0) < requested["vfs"]:
            yield (
                f"The adapter {rail['interface']} of node {name} has at most {int(pf.get('totalvfs') or 0)} virtual "
                f"functions, and {KEY}.vfs is {requested['vfs']}. Lower vfs, or raise NUM_OF_VFS in the firmware."
            )
        elif status.get("syncStatus") == "Succeeded" and int(pf.get("numVfs") or 0) < requested["vfs"]:
            yield (
                f"The adapter {rail['interface']} of node {name} has {int(pf.get('numVfs') or 0)} of "
                f"{requested['vfs']} virtual functions, although the SR-IOV Network Operator reports success. It may "
                "not have read the policy yet. Run the playbook again, and check the log of the operator."
            )
    if status.get("syncStatus") == "Failed":
        yield (
            f"The SR-IOV Network Operator did not configure node {name}. It reports: "
            f"{short(status.get('lastSyncError') or 'no reason').rstrip('.')}. Check the log of its pod "
            "sriov-network-config-daemon on the node."
        )
    elif status.get("syncStatus") == BUSY:
        yield (
            f"The SR-IOV Network Operator still configures node {name}. It may wait for the drain or the restart of "
            "the node. Check pods that cannot be evicted, and run the playbook again."
        )
