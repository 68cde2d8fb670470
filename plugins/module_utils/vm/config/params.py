# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The parameters of a whole VM: those of its parts, each as the module of the part has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Mapping

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

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Wish

_OF_PARTS = {
    SHAPE: shape.ARGUMENTS,
    VGPU: vgpu.ARGUMENTS,
    PASSTHROUGH: pci.ARGUMENTS,
    "vmxnet3": vmxnet3_noun.ARGUMENTS,
    "pvrdma": pvrdma_noun.ARGUMENTS,
    "sriov": sriov_noun.ARGUMENTS,
}
# Reservation and MMIO window are the shape's, which counts all devices, and placement is one for all VMs of a task.
FIXED: dict[str, dict[str, Any]] = {
    VGPU: {"memory_reservation": "ignore", "mmio": "ignore", "mmio_size_gb": None},
    PASSTHROUGH: {"placement": "host"},
}
_NEEDS_ADAPTERS = {"vmxnet3": ("present", "absent"), "pvrdma": ("present",), "sriov": ("present",)}


def _option(part: str) -> dict[str, Any]:
    options = {name: option for name, option in _OF_PARTS[part].part.items() if name not in FIXED.get(part, ())}
    # The parts hold no secrets, although the name passthrough sounds like one.
    return {"type": "dict", "no_log": False, "options": options}


ARGUMENTS = FleetArguments(per_vm={part: _option(part) for part in PARTS})


def wish_of(part: str, wish: Wish) -> Wish:
    """Return the request for one part in the form of the module of that part."""
    return dict(FIXED.get(part, {}), **wish[part])


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters together, one sentence each."""
    wishes = ARGUMENTS.wishes(params)
    asked = [wish_of(kind, wish) for wish in wishes for kind in ADAPTERS if wish[kind] is not None]
    return ARGUMENTS.problems(params, _check_wish) + nic.same_macs(asked)


def _check_wish(wish: Wish) -> Iterator[str]:
    managed = [part for part in PARTS if wish[part] is not None]
    if not managed:
        yield f"Nothing is requested. Set at least one of {', '.join(PARTS)}."
    for part in managed:
        for problem in _check_part(part, wish_of(part, wish)):
            yield f"{part}: {problem}"


def _check_part(part: str, wish: Wish) -> Iterator[str]:
    if part == SHAPE:
        yield from shape.check_wish(wish)
    elif part == VGPU:
        yield from vgpu.check_wish(wish)
    elif part == PASSTHROUGH:
        yield from pci.check_wish(wish)
    else:
        yield from nic.check_wish(wish, _NEEDS_ADAPTERS[part])
    for most in ("max_per_vm", "max_adapters"):
        if wish.get(most) is not None and wish[most] < 1:
            yield f"{most} is {wish[most]}; it must be at least 1."
