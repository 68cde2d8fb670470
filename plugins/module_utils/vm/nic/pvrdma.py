# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Fields and rules of PVRDMA adapters. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Iterable, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic import guest, rules
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import costs
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.rules import Problem
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import is_on

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.networks import Fabric
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.params import AdapterRequest, PvrdmaRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import Adapter, NicState
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.surroundings import PvrdmaOffer

OLDEST_HARDWARE = 13
# Versions whose adapters carry a protocol; before and after, vSphere accepts none (as community.vmware has it).
CHOOSABLE = range(14, 20)
DEFAULT_PROTOCOL = "rocev2"
_PROTOCOLS = ("rocev1", "rocev2")
# Set on VMs whose GPU and network adapter must talk without the processor (NVIDIA AI Enterprise user guide 5.0).
_P2P = ("pcipassthru.allowp2p", "pcipassthru.relaxacsforp2p")


def details(adapter: Adapter, entry: AdapterRequest, now: NicState) -> Adapter:
    """The protocol, where the hardware version has one."""
    if now.vm.hardware_version not in CHOOSABLE:
        return adapter
    return replace(adapter, protocol=entry.protocol or adapter.protocol or DEFAULT_PROTOCOL)


def card(adapter: Adapter, now: NicState) -> vim.vm.device.VirtualVmxnet3Vrdma:
    """Return the device of an adapter, without the fields common to all kinds.

    An adapter of a VM with upgraded hardware may still report a protocol that vSphere no longer accepts.
    """
    choice = now.vm.hardware_version in CHOOSABLE
    return vim.vm.device.VirtualVmxnet3Vrdma(deviceProtocol=adapter.protocol if choice else None)


def against(
    now: NicState, wanted: NicState, requested: PvrdmaRequest, fabric: Fabric, offer: PvrdmaOffer
) -> list[Problem]:
    """Return all problems of these adapters in this VM, on a host with this offer."""
    problems = rules.against_hardware(now, OLDEST_HARDWARE, "PVRDMA")
    if requested.unreserved_memory == "refuse":
        problems += rules.against_reservation(now, "PVRDMA")
    if requested.guest_os == "check":
        problems += _against_guest(now)
    problems += _against_protocol(now, requested.adapters)
    problems += _against_offer(now, wanted, offer)
    problems += _against_gpudirect(now, requested.gpudirect)
    problems += _against_standard(wanted, fabric)
    problems += rules.against_number(now, wanted)
    return problems + _against_limit(now, wanted, requested.max_adapters or offer.most)


def uuids_of(state: NicState) -> set[str]:
    """The distributed switches that the adapters are on."""
    return {one.switch_uuid for one in state.adapters if one.switch_uuid}


def switches_of(state: NicState, fabric: Fabric) -> frozenset[str]:
    """Return the same by name, if the port groups are known."""
    groups = [fabric.named(one.network) for one in state.adapters]
    return frozenset(group.switch for group in groups if group is not None and group.distributed)


def against_split(switches: Mapping[str, frozenset[str]]) -> list[Problem]:
    """VMs of one task on different switches; switches are those of each VM, by its label."""
    reported = {names for names in switches.values() if names}
    if len(reported) < 2:
        return []
    listed = "; ".join(
        f"{', '.join(sorted(label for label, names in switches.items() if names == group))} on "
        f"{' and '.join(sorted(group))}"
        for group in sorted(reported, key=sorted)
    )
    return [
        Problem(
            "different_switches",
            f"The VMs of this task would be on different distributed switches ({listed}), and PVRDMA peers on "
            "different switches fall back to TCP.",
            "Use port groups of one switch, manage each job in its own task, or set same_switch=false.",
        )
    ]


def protocols_of(state: NicState) -> frozenset[str]:
    """The RoCE versions that the adapters are set to."""
    return frozenset(one.protocol for one in state.adapters if one.protocol)


def against_mix(protocols: Mapping[str, frozenset[str]]) -> list[Problem]:
    """VMs of one task that use different RoCE versions; protocols are those of each VM, by its label."""
    reported = {
        version: sorted(label for label, mine in protocols.items() if version in mine) for version in _PROTOCOLS
    }
    if not all(reported.values()):
        return []
    listed = "; ".join(f"{version} on {', '.join(labels)}" for version, labels in reported.items())
    return [
        Problem(
            "different_protocols",
            f"The VMs of this task would use different RoCE versions ({listed}) and fall back to TCP.",
            "Set the same `protocol` for all of them, or manage each job in its own task.",
        )
    ]


def doubts(now: NicState, requested: PvrdmaRequest) -> list[str]:
    """Return reasons why the adapters may have no effect."""
    doubt = guest.doubt(now.vm.guest_id) if requested.guest_os == "check" else None
    return [] if doubt is None else [doubt]


def _against_guest(now: NicState) -> list[Problem]:
    why = guest.unsuitable(now.vm.guest_id)
    if why is None:
        return []
    return [
        Problem(
            "guest_os",
            why,
            "Choose another data path, or correct the VM's guest operating system; guest_os=ignore skips this check.",
        )
    ]


def _against_protocol(now: NicState, entries: Iterable[AdapterRequest]) -> list[Problem]:
    version = now.vm.hardware_version
    if version in CHOOSABLE or version < OLDEST_HARDWARE:
        return []
    # From version 20 on, the default is accepted, since an unset protocol means it there [unsure].
    refused = sorted({entry.protocol for entry in entries if entry.protocol} - _harmless(version))
    if not refused:
        return []
    return [
        Problem(
            "protocol_not_choosable",
            f"The protocol {' and '.join(refused)} is set, but vSphere has no such setting at hardware version "
            f"{version}, "
            f"only from {CHOOSABLE[0]} to {CHOOSABLE[-1]}.",
            "Remove `protocol`.",
        )
    ]


def _against_offer(now: NicState, wanted: NicState, offer: PvrdmaOffer) -> list[Problem]:
    """ESX 9 has no RoCE v1; a host offers the protocols that it supports [unsure: no 9.x host was asked]."""
    if offer.protocols is None or now.vm.hardware_version not in CHOOSABLE:
        return []
    gone = sorted(protocols_of(wanted) - offer.protocols)
    if not gone:
        return []
    host = f"host {now.host.name}" if now.host is not None else "the host"
    return [
        Problem(
            "protocol_not_offered",
            f"The protocol {' and '.join(gone)} is set, but {host} offers only "
            f"{' and '.join(sorted(offer.protocols)) or 'no protocol'}. ESX 9.0 and newer have no RoCE v1.",
            f"Set protocol={DEFAULT_PROTOCOL} for all VMs of the job, or remove `protocol`.",
        )
    ]


def _harmless(version: int) -> set[str]:
    return {DEFAULT_PROTOCOL} if version > CHOOSABLE[-1] else set()


def _against_gpudirect(now: NicState, requested: str) -> list[Problem]:
    if requested == "wanted":
        return [
            Problem(
                "gpudirect",
                f"GPUDirect RDMA is requested together with PVRDMA. {costs.gpudirect_sentence('pvrdma')}",
                "Choose the data path sriov or passthrough for GPUDirect RDMA, or set gpudirect=ignore.",
            )
        ]
    on = [key for key in _P2P if is_on(now.vm.extra.get(key))]
    if requested == "ignore" or not on:
        return []
    return [
        Problem(
            "gpudirect",
            f"The VM is set up for GPUDirect RDMA ({', '.join(on)}). {costs.gpudirect_sentence('pvrdma')}",
            "Remove the settings with the module vm_shape and gpudirect=disabled, choose sriov or passthrough, "
            "or set gpudirect=ignore.",
        )
    ]


def _against_standard(wanted: NicState, fabric: Fabric) -> list[Problem]:
    groups = [fabric.named(one.network) for one in wanted.adapters]
    standard = {group for group in groups if group is not None and not group.distributed}
    if not standard:
        return []
    reported = sorted(f"{group.name} on {fabric.switch_of(group, wanted.host)}" for group in standard)
    what = "is a port group" if len(reported) == 1 else "are port groups"
    return [
        Problem(
            "standard_switch",
            f"{' and '.join(reported)} {what} of a standard switch, and PVRDMA works on a distributed switch only.",
            "Use a port group of a distributed switch whose only uplink is the RDMA port.",
        )
    ]


def _against_limit(now: NicState, wanted: NicState, most: int | None) -> list[Problem]:
    number = len(wanted.adapters)
    if most is None or number <= max(most, len(now.adapters)):
        return []
    return [
        Problem(
            "too_many_pvrdma",
            f"At hardware version {now.vm.hardware_version} a VM supports {most} PVRDMA "
            f"{'adapter' if most == 1 else 'adapters'} here; {number} were requested.",
            "List fewer adapters, raise the hardware version, or set max_adapters if your release supports more.",
        )
    ]
