# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Reasons why vCPUs, memory and devices cannot be laid over the requested NUMA nodes. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Collection, Iterable, Mapping, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.rules import Problem
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import keys, numa
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.state import gb
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import is_on

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.params import ShapeRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.state import Host, Node, Shape


def problems(wanted: Shape, requested: ShapeRequest) -> list[Problem]:
    """Return all problems of numa_nodes; empty without them."""
    nodes = requested.numa_nodes
    if not nodes:
        return []
    found = [
        _uneven(wanted, nodes),
        _misaligned(wanted, nodes),
        _no_device_nodes(wanted, requested),
        _hot_add(wanted, nodes),
    ]
    found += _on_host(wanted, requested, nodes)
    return [problem for problem in found if problem is not None]


def _uneven(wanted: Shape, nodes: Collection[int]) -> Problem | None:
    if wanted.cpus % len(nodes) == 0:
        return None
    return Problem(
        "numa_uneven",
        f"{wanted.cpus} vCPUs cannot be spread evenly over {len(nodes)} NUMA nodes.",
        f"Set cpus to a multiple of {len(nodes)}.",
    )


def _misaligned(wanted: Shape, nodes: Collection[int]) -> Problem | None:
    cores = wanted.cores_per_socket
    if not cores or wanted.cpus % len(nodes):
        return None
    per_node = wanted.cpus // len(nodes)
    # A socket over the border of two nodes misleads the guest about caches (FD 2022-10-25).
    if cores % per_node == 0 or per_node % cores == 0:
        return None
    return Problem(
        "numa_misaligned",
        f"Sockets of {cores} cores do not fit onto NUMA nodes of {per_node} vCPUs.",
        f"Set cores_per_socket to {per_node}, or leave it out.",
    )


def _no_device_nodes(wanted: Shape, requested: ShapeRequest) -> Problem | None:
    if requested.numa_method != "device" or numa.knows_device_nodes(wanted.host, wanted.hardware_version):
        return None
    if wanted.host is not None and wanted.host.release and wanted.host.release < numa.DEVICE_RELEASE:
        return Problem(
            "numa_device_release",
            f"Host {wanted.host.name} has ESXi {wanted.host.version}, but NUMA nodes of devices need ESXi 8.0 "
            "or newer.",
            "Use numa_method=affinity.",
        )
    return Problem(
        "numa_device_hardware",
        f"The VM has virtual hardware version {wanted.hardware_version}, but NUMA nodes of devices need version "
        f"{numa.DEVICE_HARDWARE} or newer.",
        f"Set hardware_version={numa.DEVICE_HARDWARE}, or use numa_method=affinity.",
    )


def _hot_add(wanted: Shape, nodes: Collection[int]) -> Problem | None:
    if len(nodes) < 2 or not wanted.hides_nodes:
        return None
    return Problem(
        "numa_cpu_hot_add",
        "CPU hot add is on, and the guest of such a VM sees only one NUMA node (KB 2040375).",
        "Switch CPU hot add off, or set numa_nodes to a single node.",
    )


def _on_host(wanted: Shape, requested: ShapeRequest, nodes: Collection[int]) -> list[Problem | None]:
    """Return the parts that do not fit onto the nodes of the host."""
    host = wanted.host
    if host is None or not host.nodes:
        return []
    there = {node.number: node for node in host.nodes}
    unknown = sorted(set(nodes) - set(there))
    if unknown:
        return [
            Problem(
                "numa_node_unknown",
                f"Host {host.name} has the NUMA nodes {_listed(there)}, and {_listed(unknown)} "
                f"{'is' if len(unknown) == 1 else 'are'} not among them.",
                "Correct numa_nodes, or move the VM.",
            )
        ]
    return [_too_many(wanted, nodes, host), _too_much(wanted, requested, nodes, there)]


def _too_many(wanted: Shape, nodes: Collection[int], host: Host) -> Problem | None:
    hyperthreads = is_on(wanted.vmx.get(keys.PREFER_HT))
    per_node = (host.threads if hyperthreads else host.cores) // len(host.nodes)
    room = per_node * len(nodes)
    if not room or wanted.cpus <= room:
        return None
    unit = "hyperthreads" if hyperthreads else "cores"
    return Problem(
        "numa_too_many_cpus",
        f"The VM would have {wanted.cpus} vCPUs, and NUMA {_named(nodes)} of host {host.name} "
        f"{_has(nodes)} {room} {unit}.",
        f"Set cpus to {room} or less, or add nodes to numa_nodes"
        + ("." if hyperthreads else f", or count hyperthreads with advanced {keys.PREFER_HT}=TRUE."),
    )


def _too_much(
    wanted: Shape, requested: ShapeRequest, nodes: Collection[int], there: Mapping[int, Node]
) -> Problem | None:
    room = sum(there[node].memory_mb for node in nodes)
    # Only an affinity holds the memory at the nodes; fully reserved memory must be there (FD 2020-01-30).
    held = numa.method(wanted, requested, wanted.hardware_version) == "affinity" and wanted.memory_locked
    if not room or not held or wanted.memory_mb <= room:
        return None
    return Problem(
        "numa_too_much_memory",
        f"The VM would have {gb(wanted.memory_mb)} GB, and NUMA {_named(nodes)} of host "
        f"{cast('Host', wanted.host).name} {_has(nodes)} {gb(room)} GB.",
        "Lower memory_gb, or add nodes to numa_nodes.",
    )


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(str(number) for number in sorted(numbers))


def _named(nodes: Collection[int]) -> str:
    return f"{'node' if len(nodes) == 1 else 'nodes'} {_listed(nodes)}"


def _has(nodes: Collection[int]) -> str:
    return "has" if len(nodes) == 1 else "have"
