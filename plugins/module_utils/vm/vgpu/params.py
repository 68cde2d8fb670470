# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The parameters of vgpu_profile: their spec and the rules between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.mmio import power_of_two
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.params import FleetArguments


@dataclass(frozen=True)
class VgpuRequest:
    """The vGPUs of one VM."""

    state: str
    profiles: Sequence[str] | None
    memory_reservation: str
    mmio: str
    mmio_size_gb: int | None
    unified_memory: str
    max_per_vm: int | None


ARGUMENTS: FleetArguments[VgpuRequest] = FleetArguments(
    settings=lambda options: request(VgpuRequest, options),
    per_vm={
        "profiles": {"type": "list", "elements": "str"},
        "memory_reservation": {"type": "str", "choices": ["all", "ignore"], "default": "all"},
        "mmio": {"type": "str", "choices": ["auto", "ignore"], "default": "auto"},
        "mmio_size_gb": {"type": "int"},
        "unified_memory": {"type": "str", "choices": ["enabled", "disabled", "ignore"], "default": "enabled"},
    },
    task={
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "max_per_vm": {"type": "int"},
    },
)


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters together, one sentence each."""
    problems = ARGUMENTS.problems(params, check_request)
    if params["max_per_vm"] is not None and params["max_per_vm"] < 1:
        problems.append(f"max_per_vm is {params['max_per_vm']}; it must be at least 1.")
    return problems


def check_request(requested: VgpuRequest) -> Iterator[str]:
    """Yield all problems of the request for one VM, one sentence each."""
    if requested.state == "absent":
        return
    profiles = requested.profiles or []
    if not profiles:
        yield "profiles must name at least one profile; use state=absent to remove all vGPUs."
    if not all(profile.strip() for profile in profiles):
        yield "profiles has an empty entry; remove it."
    size = requested.mmio_size_gb
    if size is None:
        return
    if requested.mmio == "ignore":
        yield "mmio_size_gb is set, but mmio=ignore leaves the MMIO size unchanged; remove one of them."
    if size < 1 or size != power_of_two(size):
        yield f"mmio_size_gb is {size}; it must be a power of two, for example {power_of_two(max(size, 1))}."
