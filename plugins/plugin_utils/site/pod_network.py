# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""RDMA networks of pods from a site: inputs of the role kubernetes, and the checks of their section."""

from __future__ import annotations

import ipaddress
import itertools
import re
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import intent
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import vks
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.directpath import DIRECTPATH
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.guests import given
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.machines import gpudirect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

KEY = "site.kubernetes.network_operator"
# A PVRDMA adapter has no device plugin.
PATHS = ("sriov", "passthrough", DIRECTPATH)
HANDED_ON = ("namespace", "attachment", "repository", "version", "pull_secrets", "name", "subnets", "per_node")
MORE = ("chart", "exclude", "interfaces", "devices", "gid_index", "spec", "vfs", "sriov_namespace", "resource_prefix")
# Most virtual functions that the webhook of the SR-IOV Network Operator allows for an adapter of NVIDIA.
MOST_VFS = 128
LEVELS = {"enabled": "PHB", "disabled": "LOC"}
# Pods use the traffic class of the site. Another value would use another queue than the fabric expects.
OF_INTENT = ("NCCL_IB_TC", "UCX_IB_TRAFFIC_CLASS")
# Names of resources and networks; - becomes _ in a resource.
LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?")
DOMAIN = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+")
# Namespace of pods without a training, and with the checks of the nodes alone.
NO_TRAINING, OF_CHECKS = "default", "aiready"


def pod_network(site: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs, from a validated site with this section."""
    requested, network = site["kubernetes"]["network_operator"], site["network"]
    return {
        **{key: requested[key] for key in (*HANDED_ON, *MORE)},
        "pods": (site["kubernetes"]["training"] or {}).get("namespace", NO_TRAINING),
        "mtu": network["mtu"],
        "traffic_class": intent(given(site["roce"])).traffic_class,
        "gpudirect": LEVELS.get(gpudirect(network), ""),
    }


def of_checks(requested: Mapping[str, Any]) -> str:
    """The namespace of the pods that check the nodes. It does not move the networks, which other pods may use."""
    return str((requested["training"] or {}).get("namespace", OF_CHECKS))


def problems(site: Mapping[str, Any]) -> Iterator[str]:
    """Conflicts between the networks of pods and the other sections of a validated site."""
    requested, path = site["kubernetes"]["network_operator"], site["network"]["path"]
    if not requested:
        return
    if path not in PATHS:
        cause = "a PVRDMA adapter has no device plugin" if path == "pvrdma" else "pods would have no RDMA adapter"
        yield (
            f"{KEY}: site.network.path is {path}, and {cause}. Set site.network.path to sriov, passthrough or "
            f"directpath, or remove {KEY}."
        )
    for name in ("namespace", "name"):
        if not LABEL.fullmatch(requested[name]):
            yield (
                f"{KEY}.{name}: {requested[name]} is not a valid name in Kubernetes. Use at most 42 lower-case "
                "letters, digits and -."
            )
    if requested["per_node"] < 1:
        yield f"{KEY}.per_node: {requested['per_node']} is not a valid number of addresses. Use at least 1."
    if requested["attachment"] == "sriov":
        yield from _functions(requested, _of_vms(site))
    yield from _rails(requested, site["network"]["adapters"])
    yield from _addresses(requested)
    yield from _intent(site)


def _of_vms(site: Mapping[str, Any]) -> str:
    """Why the nodes are VMs, or an empty text if they may be physical machines."""
    if vks.is_vks(site["kubernetes"]):
        return "the nodes of VKS are VMs"
    for key, value, of_vms in (
        ("network.path", site["network"]["path"], (DIRECTPATH,)),
        ("gpu.mode", site["gpu"]["mode"], ("vgpu", "mig")),
    ):
        if value in of_vms:
            return f"site.{key} {value} exists only in VMs"
    return ""


def _functions(requested: Mapping[str, Any], vms: str) -> Iterator[str]:
    if vms:
        yield (
            f"{KEY}.attachment: it is sriov, and {vms}. An adapter in a VM has no SR-IOV capability. Set it to "
            "host_device."
        )
    if not 1 <= requested["vfs"] <= MOST_VFS:
        yield f"{KEY}.vfs: {requested['vfs']} is not a valid number of virtual functions. Use 1 to {MOST_VFS}."
    if requested["sriov_namespace"] and not LABEL.fullmatch(requested["sriov_namespace"]):
        yield (
            f"{KEY}.sriov_namespace: {requested['sriov_namespace']} is not a valid name in Kubernetes. Use at most 42 "
            "lower-case letters, digits and -."
        )
    if not DOMAIN.fullmatch(requested["resource_prefix"]):
        yield (
            f"{KEY}.resource_prefix: {requested['resource_prefix']} is not a domain. Use the prefix of the SR-IOV "
            "Network Operator, such as nvidia.com or openshift.io."
        )


def _rails(requested: Mapping[str, Any], adapters: int) -> Iterator[str]:
    count, names = len(requested["subnets"]), requested["interfaces"]
    if not count:
        yield f"{KEY}.subnets: it is empty. Add one subnet with addresses of pods for each adapter of a node."
        return
    if count > adapters:
        yield (
            f"{KEY}.subnets: there are {count} subnets, but site.network.adapters is {adapters}. Each network needs an "
            "adapter of its own. Remove subnets, or add adapters."
        )
    if requested["attachment"] in ("macvlan", "sriov") and not names:
        yield (
            f"{KEY}.interfaces: it is empty, and attachment {requested['attachment']} needs the interface of each "
            "network. Add the names of the interfaces in the nodes."
        )
    elif count > 1 and not names:
        yield (
            f"{KEY}.interfaces: it is empty, so the networks cannot be assigned to adapters. Add the interface of each "
            "network in the nodes."
        )
    elif names and len(names) != count:
        yield (
            f"{KEY}.interfaces: there are {len(names)} interfaces and {count} subnets. Name one interface for each "
            "subnet, in the same order."
        )


def _addresses(requested: Mapping[str, Any]) -> Iterator[str]:
    subnets = []
    for text in requested["subnets"]:
        try:
            subnets.append(ipaddress.IPv4Network(text))
        except ValueError:
            yield f"{KEY}.subnets: {text} is not an IPv4 subnet. Write it as 192.0.2.0/24, without host bits."
    for one, other in itertools.combinations(subnets, 2):
        if one.overlaps(other):
            yield f"{KEY}.subnets: {one} and {other} overlap. Use separate subnets."
    for text in requested["exclude"]:
        first, dummy, last = text.partition("-")
        try:
            begin, end = ipaddress.IPv4Address(first.strip()), ipaddress.IPv4Address((last or first).strip())
        except ValueError:
            yield f"{KEY}.exclude: {text} is not a range of addresses. Write it as 192.0.2.1-192.0.2.20."
            continue
        if begin > end or not any(begin in one and end in one for one in subnets):
            yield f"{KEY}.exclude: {text} is not a range within one of the subnets. Correct it, or remove it."


def _intent(site: Mapping[str, Any]) -> Iterator[str]:
    if not site["kubernetes"]["training"] or not site["training"]:
        return
    expected = str(intent(given(site["roce"])).traffic_class)
    for name in OF_INTENT:
        found = site["training"]["environment"].get(name)
        if found is not None and str(found) != expected:
            yield (
                f"site.training.environment.{name}: it is {found}, but site.roce requires the traffic class {expected}."
                " Hosts and switches would not treat the packets of the pods as RoCE. Remove it, or change site.roce."
            )
