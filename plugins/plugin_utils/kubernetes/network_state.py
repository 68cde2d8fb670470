# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The state of the Network Operator, its networks and its nodes, with the cause of each fault. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import network_operator, nodes, sriov
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.causes import of_pods, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Objects = Sequence[Mapping[str, Any]]

KEY = "site.kubernetes.network_operator"


def policy_ready(policies: Any) -> bool:
    """Whether the operator applied its policy."""
    return bool(policies) and _status(policies[0]).get("state") == "ready"


def faults(requested: Mapping[str, Any], seen: Mapping[str, Objects]) -> list[str]:
    """Each reason why pods cannot use RDMA; seen has policies, networks, pools, nodes, pods and events.

    With SR-IOV, seen also has states (SriovNetworkNodeState) and attachments (NetworkAttachmentDefinition).
    """
    own, chosen = requested["network_operator"], nodes.chosen(seen["nodes"], requested["nodes"])
    if not own:
        return []
    found = [*of_pods(seen["pods"], seen["events"]), *_of_policy(seen["policies"])]
    if found:
        return found  # the rest follows from it
    rails = network_operator.rails(own)
    if own["attachment"] == network_operator.SRIOV:
        found += sriov.faults(own, rails, seen, chosen)
    for rail in rails:
        found += _of_network(own, rail, seen["networks"])
        found += _of_pool(rail, seen["pools"], chosen)
    return [*found, *_of_nodes(own, chosen)]


def _status(one: Mapping[str, Any]) -> Mapping[str, Any]:
    return one.get("status") or {}


def _of_policy(policies: Objects) -> Iterator[str]:
    if policy_ready(policies):
        return
    status = _status(policies[0]) if policies else {}
    if not status:
        yield (
            "The Network Operator is not ready. It has not reported a state. Check that its pod runs, for example "
            "with: kubectl get pods --all-namespaces -l app.kubernetes.io/name=network-operator"
        )
        return
    # Components that the policy does not have are ignored.
    late = [one for one in status.get("appliedStates") or [] if one.get("state") not in ("ready", "ignore")]
    reported = "; ".join(": ".join(filter(None, (one.get("name"), one.get("message")))) for one in late)
    reason = f" It reports {short(reported)}." if reported else ""
    yield (
        f"The Network Operator is not ready. Its NicClusterPolicy has the state {short(status.get('state'))}.{reason} "
        f"Check its pods, and repository, version and pull_secrets of {KEY}."
    )


def _of_network(own: Mapping[str, Any], rail: Mapping[str, Any], networks: Objects) -> Iterator[str]:
    name, kind = rail["name"], network_operator.KINDS[own["attachment"]]
    network = next((one for one in networks if one["metadata"]["name"] == name), None)
    status = _status(network or {})
    if kind == sriov.NETWORK:
        if network is None:
            yield f"The {kind} {name} is missing. Check who deleted it, and run the playbook again."
    elif status.get("state") != "ready":
        reported = status.get("reason") or status.get("state") or "no state"
        yield (
            f"The {kind} {name} is not ready. The operator reports: {short(reported).rstrip('.')}. Pods that use it do "
            f"not start. Correct {KEY}, or check the log of the operator."
        )


def _of_pool(rail: Mapping[str, Any], pools: Objects, chosen: Objects) -> Iterator[str]:
    pool = next((one for one in pools if one["metadata"]["name"] == rail["name"]), {})
    having = {one.get("nodeName") for one in _status(pool).get("allocations") or []}
    missing = [short(one["metadata"]["name"]) for one in chosen if one["metadata"]["name"] not in having]
    if missing:
        yield (
            f"{', '.join(missing)} got no addresses of the IPPool {rail['name']}. Its subnet {rail['subnet']} may be "
            "used up, or the nodes do not have its labels. Use a larger subnet, lower per_node, or label the nodes."
        )


def _of_nodes(own: Mapping[str, Any], chosen: Objects) -> Iterator[str]:
    for one in chosen:
        name, offered = short(one["metadata"]["name"]), _status(one).get("allocatable") or {}
        missing = [key for key in network_operator.resources(own) if str(offered.get(key, "0")) == "0"]
        if not missing:
            continue
        if nodes.labels(one).get(network_operator.NIC) != "true":
            yield (
                f"Node {name} has no RDMA adapter that the operator knows. It has no label {network_operator.NIC}. "
                "Check that the VM of the node has the adapter of site.network.path, and that node feature discovery "
                "runs on the node."
            )
        else:
            yield (
                f"Node {name} does not offer {' and '.join(missing)}. The device plugin found no adapter that matches. "
                f"Check interfaces of {KEY}, and with attachment host_device that no interface of the node is in use "
                "by the pod network."
            )
