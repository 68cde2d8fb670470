# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Reasons why a VM cannot have a passthrough device: the VM itself, and the rules that span its devices. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import availability, near
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.costs import cost_sentence
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.state import DVX, DYNAMIC, GROUP, STATIC
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.rules import Problem, refusal

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.pci import Device
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.availability import Claim
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.offer import Offer
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.params import PciRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.state import Asked, Direct, DirectState, Placed

# Dynamic DirectPath I/O came with 17, device groups and DVX with 20 = vSphere 8.0 (frankdenneman.nl, 2022-08-30,
# 2023-06-06).
OLDEST_HARDWARE = {DYNAMIC: 17, GROUP: 20, DVX: 20}
_KINDS = {DYNAMIC: "A dynamic passthrough device", GROUP: "A device group", DVX: "Enhanced DirectPath I/O"}
# vSphere 8.0 brought the nodes of devices together with version 20; that older ones do without is [unsure].
NODES_FROM = 20
# The same source: 16 devices by DirectPath I/O in a VM, 32 from hardware version 20 on.
MOST, MOST_FROM_20 = 16, 32
# Multi-vGPU guide of NVIDIA AI Enterprise 2.0, for vSphere 7: servers with more GPUs than this take static passthrough.
MANY_GPUS = 4
_PATHS = {
    STATIC: "passthrough_static",
    DYNAMIC: "passthrough_dynamic",
    GROUP: "passthrough_dynamic",
    DVX: "passthrough_dvx",
}


def refuse_impossible(
    me: Claim,
    state: DirectState,
    new: Sequence[Direct],
    offer: Offer,
    claims: Mapping[Asked, Sequence[Claim]],
    requested: PciRequest,
) -> None:
    """Raise one OperatorError with every reason why the VM cannot be in this state, with the new devices.

    claims: {requested device: the VMs of this task that request it on the same host, once per device}; me is one.
    """
    problems = availability.against_host(state, offer)
    if not problems:
        problems = _against_vm(cast("Placed", state), new, requested)
        for one in new:
            problems += availability.against_device(cast("Placed", state), one, offer, claims, me)
    if problems:
        names = ", ".join(str(one) for one in new)
        raise refusal(me.label, f"cannot add these passthrough devices: {names}", list(dict.fromkeys(problems)))


def refuse_nodes(label: str, state: DirectState, changed: Sequence[Direct]) -> None:
    """Raise an OperatorError where the host knows no nodes of devices."""
    problems = _nodes(cast("Placed", state), changed, None) if state.host else []
    if problems:
        raise refusal(label, "cannot change the NUMA node of its devices", problems)


def far_apart(state: DirectState) -> list[str]:
    """Return the ports of a VM that share a PCIe root with none of its GPUs."""
    pairs = near.pairs(state)
    ports = sorted({pair["nic"] for pair in pairs})
    return [port for port in ports if all(pair["same_root"] is False for pair in pairs if pair["nic"] == port)]


def paths(new: Iterable[Direct]) -> list[str]:
    """The data paths that these devices mean, as the table of costs names them."""
    return sorted({_PATHS[one.asked.kind] for one in new})


def _against_vm(state: Placed, new: Sequence[Direct], requested: PciRequest) -> list[Problem]:
    problems = []
    for rule in (_hardware, _memory, _firmware, _snapshots, _too_many, _mixed, _many_gpus, _nodes):
        problems += rule(state, new, requested)
    return problems


def _hardware(state: Placed, new: Sequence[Direct], requested: PciRequest) -> list[Problem]:
    version = state.vm.hardware_version
    kind = max((one.asked.kind for one in new), key=lambda one: OLDEST_HARDWARE.get(one, 0), default="")
    needed = OLDEST_HARDWARE.get(kind, 0)
    if not version or version >= needed:
        return []
    return [
        Problem(
            "hardware_version",
            f"{_KINDS[kind]} needs hardware version {needed}, and the VM has {version}.",
            f"Raise it with aiready.vsphere.vm_shape and hardware_version={needed}.",
        )
    ]


def _memory(state: Placed, new: Sequence[Direct], requested: PciRequest) -> list[Problem]:
    if state.vm.fully_reserved:
        return []
    return [
        Problem(
            "memory_not_reserved",
            "Not all of its memory is reserved. vSphere starts a VM with a passthrough device only with all "
            "memory reserved, "
            "since the device reads and writes it directly.",
            "Reserve all of it with aiready.vsphere.vm_shape and memory_reservation=all.",
        )
    ]


def _firmware(state: Placed, new: Sequence[Direct], requested: PciRequest) -> list[Problem]:
    gpus = [one for one in new if any(near.needs_efi(device) for device in _meant(state, one))]
    if state.vm.firmware != "bios" or not gpus:
        return []
    # The firmware is never changed here: a guest that was installed under BIOS does not start under EFI.
    return [
        Problem(
            "firmware_bios",
            "Its firmware is BIOS, which cannot map the memory window of this GPU.",
            "Use a VM that was installed with EFI firmware. The firmware of an installed guest cannot be changed.",
        )
    ]


def _snapshots(state: Placed, new: Sequence[Direct], requested: PciRequest) -> list[Problem]:
    if not state.vm.snapshots:
        return []
    costs = " ".join(cost_sentence(path) for path in paths(new))
    return [Problem("snapshots", f"The VM has snapshots. {costs}", "Remove its snapshots first.")]


def _too_many(state: Placed, new: Sequence[Direct], requested: PciRequest) -> list[Problem]:
    most = requested.max_per_vm or (MOST_FROM_20 if state.vm.hardware_version >= 20 else MOST)
    number = len(state.devices)
    if number <= most:
        return []
    more = " A VM of hardware version 20 supports 32." if most == MOST and not requested.max_per_vm else ""
    return [
        Problem(
            "too_many",
            f"A VM supports {most} passthrough devices at most; {number} were requested.{more}",
            "List fewer devices, or set max_per_vm if your release supports more.",
        )
    ]


def _mixed(state: Placed, new: Sequence[Direct], requested: PciRequest) -> list[Problem]:
    """Refuse a board in both static and dynamic mode in one VM: the dynamic device may get the static one [unsure]."""
    if requested.mixed == "allow":
        return []
    fixed = [one.asked.id for one in state.devices if one.asked.kind == STATIC]
    kinds = {kind for one in state.devices if one.asked.kind == DYNAMIC for kind in one.asked.allowed}
    both = sorted(
        address
        for address in set(fixed)
        if address in state.host.tree and near.fits(cast("Device", state.host.tree.get(address)), sorted(kinds))
    )
    if not both:
        return []
    return [
        Problem(
            "static_and_dynamic",
            f"{availability.listed(both)} would be a static device beside dynamic ones of the same kind, "
            "and vSphere may assign that device to a dynamic one at power-on.",
            "Use one kind for all devices of a type, or set mixed=allow.",
        )
    ]


def _many_gpus(state: Placed, new: Sequence[Direct], requested: PciRequest) -> list[Problem]:
    dynamic = [one for one in state.devices if one.asked.kind == DYNAMIC]
    gpus = [one for one in dynamic if any(near.is_gpu(device) for device in _meant(state, one))]
    there = len(state.host.gpus())
    if len(gpus) < 2 or there <= MANY_GPUS or not state.host.before((8,)):
        return []
    return [
        Problem(
            "many_gpus",
            f"Host {state.host.name} has {there} GPUs and vSphere {state.host.version}. With this release, "
            "NVIDIA supports "
            f"several GPUs in a VM on a host with more than {MANY_GPUS} only by static passthrough.",
            "List the GPUs by their addresses with kind=static, all of one NUMA node, or use vSphere 8.0.",
        )
    ]


def _nodes(state: Placed, new: Sequence[Direct], requested: PciRequest | None) -> list[Problem]:
    version, host = state.vm.hardware_version, state.host
    if not any(one.numa_node is not None for one in new):
        return []
    if host.before((8,)):
        found = f"The NUMA node of a device needs vSphere 8.0, and host {host.name} has {host.version}."
        todo = "Remove numa_node, and use numa_nodes of aiready.vsphere.vm_shape instead."
    elif 0 < version < NODES_FROM:
        found = f"The NUMA node of a device needs hardware version {NODES_FROM}, and the VM has {version}."
        todo = f"Raise it with aiready.vsphere.vm_shape and hardware_version={NODES_FROM}, or remove numa_node."
    else:
        return []
    return [Problem("no_device_nodes", found, todo)]


def _meant(state: Placed, one: Direct) -> list[Device]:
    """Return all devices of the host that match a request, assigned or not."""
    asked = one.asked
    if asked.kind == STATIC:
        return state.host.choice(asked)
    return state.host.of_kind(asked.allowed) if asked.kind == DYNAMIC else []
