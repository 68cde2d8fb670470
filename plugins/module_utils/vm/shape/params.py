# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parameters of vm_shape: their spec, and the problems of a request before any reading."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.mmio import power_of_two
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import parse
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.params import FleetArguments
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import keys

PCI_IDS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{4}")
# Versions of vSphere 6.0 and later; the host reports the versions that it supports.
_HARDWARE = (11, 99)


@dataclass(frozen=True)
class ShapeRequest:
    """Size and settings of one VM. None keeps the present value."""

    cpus: int | None
    cores_per_socket: int | None
    memory_gb: int | None
    memory_reservation: str
    memory_reservation_mb: int | None
    cpu_reservation: str
    cpu_reservation_mhz: int | None
    hardware_version: int | None
    firmware: str
    numa_nodes: Sequence[int] | None
    numa_method: str
    latency_sensitivity: str
    gpudirect: str
    mmio: str
    mmio_size_gb: int | None
    gpus: Sequence[str] | None
    direct_nics: int | None
    advanced: Mapping[str, object] | None


def _choice(default: str, *choices: str) -> dict[str, object]:
    return {"type": "str", "choices": list(choices), "default": default}


ARGUMENTS: FleetArguments[ShapeRequest] = FleetArguments(
    settings=lambda options: request(ShapeRequest, options),
    per_vm={
        "cpus": {"type": "int"},
        "cores_per_socket": {"type": "int"},
        "memory_gb": {"type": "int"},
        "memory_reservation": _choice("all", "all", "ignore"),
        "memory_reservation_mb": {"type": "int"},
        "cpu_reservation": _choice("auto", "auto", "ignore"),
        "cpu_reservation_mhz": {"type": "int"},
        "hardware_version": {"type": "int"},
        "firmware": _choice("ignore", "efi", "ignore"),
        "numa_nodes": {"type": "list", "elements": "int"},
        "numa_method": _choice("auto", "auto", "affinity", "device"),
        "latency_sensitivity": _choice("ignore", "low", "normal", "medium", "high", "ignore"),
        "gpudirect": _choice("ignore", "enabled", "disabled", "ignore"),
        "mmio": _choice("auto", "auto", "none", "ignore"),
        "mmio_size_gb": {"type": "int"},
        "gpus": {"type": "list", "elements": "str"},
        "direct_nics": {"type": "int"},
        "advanced": {"type": "dict"},
    },
)


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters together, one sentence each."""
    return ARGUMENTS.problems(params, check_request)


def check_request(requested: ShapeRequest) -> Iterator[str]:
    """Yield all problems of the request for one VM, one sentence each."""
    yield from _too_small(requested)
    yield from _layout(requested)
    yield from _window(requested)
    yield from keys.wrong_keys(requested.advanced or {})


def _too_small(requested: ShapeRequest) -> Iterator[str]:
    lowest = {"cpus": 1, "cores_per_socket": 1, "memory_gb": 1, "cpu_reservation_mhz": 0, "direct_nics": 0}
    lowest["memory_reservation_mb"] = 0
    for name, low in lowest.items():
        value = getattr(requested, name)
        if value is not None and value < low:
            yield f"{name} is {value}; it must be at least {low}."
    version = requested.hardware_version
    if version is not None and not _HARDWARE[0] <= version <= _HARDWARE[1]:
        yield f"hardware_version is {version}; write the number only, such as 21 for vmx-21, {_HARDWARE[0]} or higher."
    if requested.cpu_reservation_mhz is not None and requested.cpu_reservation == "ignore":
        yield (
            "cpu_reservation_mhz is set, but cpu_reservation=ignore leaves the reservation unchanged; "
            "remove one of them."
        )


def _layout(requested: ShapeRequest) -> Iterator[str]:
    cpus, cores, nodes = requested.cpus, requested.cores_per_socket, requested.numa_nodes
    if cpus and cores and cores > 0 and cpus % cores:
        yield f"{cpus} cpus cannot be put into sockets of {cores}; set cores_per_socket to a divisor of cpus."
    if not nodes:
        if requested.numa_method != "auto":
            yield f"numa_method={requested.numa_method} is set without numa_nodes; set numa_nodes too."
        return
    if min(nodes) < 0:
        yield f"numa_nodes has {min(nodes)}; NUMA nodes are counted from 0."
    if len(set(nodes)) < len(nodes):
        yield "numa_nodes lists a node twice; list it once."
    if cpus and cpus % len(nodes):
        yield (
            f"{cpus} cpus cannot be spread evenly over {len(nodes)} NUMA nodes; set cpus to a multiple of {len(nodes)}."
        )


def _window(requested: ShapeRequest) -> Iterator[str]:
    for gpu in requested.gpus or []:
        if parse(gpu) is None and not PCI_IDS.fullmatch(gpu):
            yield (
                f"gpus has {gpu}, which is neither a vGPU profile such as grid_a100-40c "
                "nor the vendor and device of a PCI device such as 10de:20f1."
            )
    size = requested.mmio_size_gb
    if size is None:
        return
    if requested.mmio == "ignore":
        yield "mmio_size_gb is set, but mmio=ignore leaves the MMIO size unchanged; remove one of them."
    if requested.mmio == "none":
        yield "mmio_size_gb is set, but mmio=none removes the MMIO window; remove one of them."
    if size < 1 or size != power_of_two(size):
        yield f"mmio_size_gb is {size}; it must be a power of two, for example {power_of_two(max(size, 1))}."
