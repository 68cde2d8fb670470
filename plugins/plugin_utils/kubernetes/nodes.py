# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""GPUs and drivers of the nodes of a cluster, from their labels and resources. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Node = Mapping[str, Any]

PRESENT = {"nvidia.com/gpu.present": "true"}
# GPU feature discovery reads it from the PCI capability of a vGPU.
HOST_DRIVER = "nvidia.com/vgpu.host-driver-version"
GUEST_DRIVER = "nvidia.com/cuda.driver-version.full"
PCI = tuple(f"feature.node.kubernetes.io/pci-{name}10de.present" for name in ("", "0302_", "0300_"))
GPU, MIG, PRODUCT = "nvidia.com/gpu", "nvidia.com/mig-", "nvidia.com/gpu.product"
# Of the usual taint, which keeps pods without GPUs away.
TOLERATIONS = ({"key": GPU, "operator": "Exists", "effect": "NoSchedule"},)


def labels(node: Node) -> Mapping[str, str]:
    return node["metadata"].get("labels") or {}


def chosen(nodes: Sequence[Node], selector: Mapping[str, str]) -> list[Node]:
    """The nodes with these labels; without labels, those with a GPU that the operator knows."""
    selected = {key: str(value) for key, value in (selector or PRESENT).items()}
    return [one for one in nodes if all(labels(one).get(key) == value for key, value in selected.items())]


def offered(node: Node) -> int:
    """The number of GPUs or MIG instances that pods can request on this node."""
    resources = (node.get("status") or {}).get("allocatable") or {}
    return sum(_count(value) for key, value in resources.items() if key == GPU or key.startswith(MIG))


def instances(node: Node) -> dict[str, int]:
    """{profile: number} of the MIG instances that pods can request, with the strategies single and mixed."""
    resources = (node.get("status") or {}).get("allocatable") or {}
    found = {key[len(MIG) :]: _count(value) for key, value in resources.items() if key.startswith(MIG)}
    single = (labels(node).get(PRODUCT) or "").partition("-MIG-")[2]
    if single:
        # The suffix is that of time slices.
        found[single.removesuffix("-SHARED")] = _count(resources.get(GPU))
    return {profile: number for profile, number in found.items() if number}


def _count(quantity: object) -> int:
    """A whole number as the API server writes it: 1000 time slices are 1k. Another form offers nothing."""
    found = re.fullmatch(r"(\d{1,9})(k?)", str(quantity), re.ASCII)
    return int(found.group(1)) * (1000 if found.group(2) else 1) if found else 0


def is_ready(node: Node) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or []
    return any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)


def kubelet(node: Node) -> str:
    """The version of the kubelet, which names the distribution."""
    return str(((node.get("status") or {}).get("nodeInfo") or {}).get("kubeletVersion") or "")


def is_vm(node: Node) -> bool:
    """Whether labels of the node, or vSphere's cloud provider, show that it is a VM."""
    own = labels(node)
    return (
        str((node.get("spec") or {}).get("providerID") or "").startswith("vsphere://")
        or own.get("feature.node.kubernetes.io/cpu-cpuid.HYPERVISOR") == "true"
        or own.get("nvidia.com/vgpu.present") == "true"
        or str(own.get("nvidia.com/gpu.machine") or "").startswith("VMware")
    )


def is_openshift(nodes: Sequence[Node]) -> bool:
    return any("node.openshift.io/os_id" in labels(one) for one in nodes)
