# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""NUMA: how vCPUs and devices of a VM are laid over the nodes of a host. Pure."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Collection, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import keys

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.params import ShapeRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.state import Direct, Host, Shape

# Devices get a NUMA node from vSphere 8.0 on, in VMs with this hardware version (vSphere 8 release, FD 2022-10-25).
DEVICE_RELEASE = (8,)
DEVICE_HARDWARE = 20


def method(now: Shape, requested: ShapeRequest, hardware_version: int) -> str:
    """Return the method that brings the VM near its devices: affinity or device.

    Only a node affinity holds a VM at nodes of the host, and it hampers vMotion. A VM with a passthrough device cannot
    be moved while it runs anyway, so there it costs nothing.
    """
    if requested.numa_method != "auto":
        return requested.numa_method
    if passed_through(now, requested) or not knows_device_nodes(now.host, hardware_version):
        return "affinity"
    return "device"


def passed_through(now: Shape, requested: ShapeRequest) -> bool:
    """Return whether the VM has, or will have, a device that is bound to its host."""
    announced = bool(requested.direct_nics) or any(":" in gpu for gpu in requested.gpus or [])
    present = any(one.kind in ("pci", "sriov") for one in now.direct)
    return announced or present or requested.gpudirect == "enabled"


def knows_device_nodes(host: Host | None, hardware_version: int) -> bool:
    """Return whether a device of the VM can be given a NUMA node; unknown hosts count as new ones."""
    new = host is None or not host.release or host.release >= DEVICE_RELEASE
    return new and hardware_version >= DEVICE_HARDWARE


def cores_per_socket(now: Shape, requested: ShapeRequest, cpus: int) -> int | None:
    """Return the requested number, else one socket per NUMA node, else the present number."""
    if requested.cores_per_socket is not None:
        return requested.cores_per_socket
    nodes = requested.numa_nodes
    if nodes and cpus % len(nodes) == 0:
        return cpus // len(nodes)
    return now.cores_per_socket


def with_nodes(wanted: Shape, requested: ShapeRequest) -> Shape:
    """Return the shape with its requested NUMA settings; those of the other method are removed."""
    nodes = requested.numa_nodes
    if nodes is None:
        return wanted
    vmx = dict(wanted.vmx)
    vmx.pop(keys.NODE_AFFINITY, None)
    if not nodes or method(wanted, requested, wanted.hardware_version) == "affinity":
        if nodes:
            vmx[keys.NODE_AFFINITY] = ",".join(str(node) for node in sorted(nodes))
        direct = wanted.direct
        # Without configured virtual nodes, another client chose the node of a device.
        if wanted.cores_per_node is not None:
            direct = tuple(dataclasses.replace(one, node=None) for one in direct)
        return dataclasses.replace(wanted, vmx=vmx, cores_per_node=None, direct=direct)
    return dataclasses.replace(
        wanted,
        vmx=vmx,
        cores_per_node=wanted.cpus // len(nodes),
        direct=tuple(dataclasses.replace(one, node=virtual_node(one, nodes, wanted.host)) for one in wanted.direct),
    )


def virtual_node(one: Direct, nodes: Collection[int], host: Host | None) -> int | None:
    """Return the virtual NUMA node of a device: the position of its host's node among those of the VM.

    vSphere chooses the GPU of a vGPU at power-on, so in a VM over several nodes such a device keeps its node.
    """
    if len(nodes) == 1:
        return 0
    physical = host.node_of(one.address) if host is not None and one.address else None
    return sorted(nodes).index(cast(int, physical)) if physical in nodes else one.node


def same_affinity(one: str | None, other: str | None) -> bool:
    """Return whether two values of numa.nodeAffinity name the same nodes."""
    return _listed(one) == _listed(other)


def _listed(text: str | None) -> list[str]:
    return sorted(part.strip() for part in (text or "").split(",") if part.strip())
