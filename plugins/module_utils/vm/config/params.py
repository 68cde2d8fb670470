# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The parameters of a whole VM: those of its parts, each as the module of the part has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.config.state import (
    ADAPTERS,
    PARTS,
    PASSTHROUGH,
    SHAPE,
    VGPU,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic import params as nic
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic import pvrdma_noun, sriov_noun, vmxnet3_noun
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.params import FleetArguments
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import params as pci
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import params as shape
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu import params as vgpu

_OF_PARTS: dict[str, FleetArguments[Any]] = {
    SHAPE: shape.ARGUMENTS,
    VGPU: vgpu.ARGUMENTS,
    PASSTHROUGH: pci.ARGUMENTS,
    "vmxnet3": vmxnet3_noun.ARGUMENTS,
    "pvrdma": pvrdma_noun.ARGUMENTS,
    "sriov": sriov_noun.ARGUMENTS,
}
# Reservation and MMIO window are the shape's, which counts all devices, and placement is one for all VMs of a task.
FIXED: dict[str, dict[str, object]] = {
    VGPU: {"memory_reservation": "ignore", "mmio": "ignore", "mmio_size_gb": None},
    PASSTHROUGH: {"placement": "host"},
}
_NEEDS_ADAPTERS = {"vmxnet3": ("present", "absent"), "pvrdma": ("present",), "sriov": ("present",)}


def _option(part: str) -> dict[str, object]:
    options = {name: option for name, option in _OF_PARTS[part].part.items() if name not in FIXED.get(part, ())}
    # The parts hold no secrets, although the name passthrough sounds like one.
    return {"type": "dict", "no_log": False, "options": options}


@dataclass(frozen=True)
class ConfigRequest:
    """The parts of one VM that a task manages."""

    # {part: its request, as the module of the part has it}
    parts: Mapping[str, Any]

    @property
    def managed(self) -> list[str]:
        """The names of these parts, in the order of PARTS."""
        return [part for part in PARTS if part in self.parts]


def _request(options: Mapping[str, Any]) -> ConfigRequest:
    managed = {part: dict(options[part], **FIXED.get(part, {})) for part in PARTS if options[part] is not None}
    return ConfigRequest({part: _OF_PARTS[part].settings(own) for part, own in managed.items()})


ARGUMENTS: FleetArguments[ConfigRequest] = FleetArguments(
    settings=_request, per_vm={part: _option(part) for part in PARTS}
)


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters together, one sentence each."""
    requests = [one.settings for one in ARGUMENTS.requests(params)]
    adapters = [one.parts[kind] for one in requests for kind in ADAPTERS if kind in one.parts]
    return ARGUMENTS.problems(params, _check) + nic.same_macs(adapters)


def _check(requested: ConfigRequest) -> Iterator[str]:
    if not requested.managed:
        yield f"Nothing is requested. Set at least one of {', '.join(PARTS)}."
    for part in requested.managed:
        for problem in _check_part(part, requested.parts[part]):
            yield f"{part}: {problem}"


def _check_part(part: str, requested: Any) -> Iterator[str]:
    if part == SHAPE:
        yield from shape.check_request(requested)
    elif part == VGPU:
        yield from vgpu.check_request(requested)
    elif part == PASSTHROUGH:
        yield from pci.check_request(requested)
    else:
        yield from nic.check_request(requested, _NEEDS_ADAPTERS[part])
    for name in ("max_per_vm", "max_adapters"):
        most = getattr(requested, name, None)
        if most is not None and most < 1:
            yield f"{name} is {most}; it must be at least 1."
