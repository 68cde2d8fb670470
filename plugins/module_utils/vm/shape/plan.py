# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Desired settings of a VM, computed from a reading and a request, and the changes to reach them. Pure."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Collection, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import mmio
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import keys, numa, window
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.state import device_nodes, gb
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import is_on

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.keys import Found
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.params import ShapeRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.state import Host, Shape
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm

# Settings that a running VM applies at once; it reads all others when it starts (vSphere API).
_HOT = ("cpu_reservation_mhz", "memory_reservation")
# First hardware version with "Peer-to-Peer for all Passthrough Devices". No text states whether it still needs the two
# settings of GPUDirect [unsure], and they do no known harm.
_PEER_TO_PEER = 22


def want(now: Shape, requested: ShapeRequest) -> Shape:
    """Return the requested shape; never refuses, see rules.py."""
    cpus = requested.cpus or now.cpus
    latency = now.latency if requested.latency_sensitivity == "ignore" else requested.latency_sensitivity
    vm, locked = now.vm, now.memory_locked or requested.memory_reservation == "all"
    if requested.memory_reservation_mb is not None:
        vm, locked = dataclasses.replace(vm, memory_reserved_mb=requested.memory_reservation_mb), False
    wanted = dataclasses.replace(
        now,
        vm=vm,
        cpus=cpus,
        cores_per_socket=numa.cores_per_socket(now, requested, cpus),
        memory_mb=requested.memory_gb * 1024 if requested.memory_gb else now.memory_mb,
        memory_locked=locked,
        # Never lowered: a guest that was used to newer hardware does not get its old one back.
        hardware_version=max(now.hardware_version, requested.hardware_version or 0),
        latency=latency,
        cpu_reserved_mhz=_cpu_reservation(now, requested, cpus, latency),
        vmx=_vmx(now, requested),
    )
    return numa.with_nodes(wanted, requested)


def vm_to_be(vm: Vm, wanted: Shape) -> Vm:
    """The VM as its other parts find it, once it has this shape; hardware is never lowered."""
    known = keys.known(vm.extra)
    extra = {name: value for name, value in vm.extra.items() if keys.canonical(name) not in known}
    extra.update((name.lower(), value) for name, value in wanted.vmx.items())
    return dataclasses.replace(
        vm,
        hardware_version=max(vm.hardware_version, wanted.hardware_version),
        memory_mb=wanted.memory_mb,
        memory_locked=wanted.memory_locked,
        memory_reserved_mb=wanted.vm.memory_reserved_mb,
        extra=extra,
    )


def setting_changes(now: Shape, wanted: Shape) -> list[Change]:
    """The changes that one reconfiguration of the VM makes."""
    pairs = [
        ("cpus", now.cpus, wanted.cpus),
        ("cores_per_socket", now.cores_per_socket, wanted.cores_per_socket),
        ("memory_gb", gb(now.memory_mb), gb(wanted.memory_mb)),
        ("memory_reservation", _reservation(now), _reservation(wanted)),
        ("cpu_reservation_mhz", now.cpu_reserved_mhz, wanted.cpu_reserved_mhz),
        ("hardware_version", now.hardware_version, max(now.hardware_version, wanted.hardware_version)),
        ("latency_sensitivity", now.latency, wanted.latency),
        ("cores_per_numa_node", now.cores_per_node, wanted.cores_per_node),
        ("numa_devices", device_nodes(now), device_nodes(wanted)),
    ]
    pairs += [(name, now.vmx.get(name), wanted.vmx.get(name)) for name in changed_keys(now, wanted)]
    return [Change(path, before, after) for path, before, after in pairs if before != after]


def is_hot(now: Shape, wanted: Shape) -> bool:
    """Return whether a running VM accepts all differences."""
    return all(change.path in _HOT for change in setting_changes(now, wanted))


def changed_keys(now: Shape, wanted: Shape) -> list[str]:
    """The VMX keys that differ in meaning."""
    return [
        name
        for name in sorted(set(now.vmx) | set(wanted.vmx))
        if not _same_setting(name, now.vmx.get(name), wanted.vmx.get(name))
    ]


def needed_mmio_gb(now: Shape, requested: ShapeRequest, with_ports: bool = True) -> int:
    """Return the window for the present devices, or for the future ones, whichever is larger."""
    offered = now.host.offered if now.host is not None else ()
    has, ports = window.demand(now.direct, offered)
    will = [_announced(gpu, offered) or 0 for gpu in requested.gpus or []]
    # Either may be announced without the other.
    ports = max(ports, requested.direct_nics or 0) if with_ports else 0
    return max(mmio.window_gb(has, ports), mmio.window_gb(will, ports))


def pci_ids(text: str) -> tuple[int, int]:
    """The numbers of a PCI device that is written vendor:device, such as 10de:20f1."""
    vendor, dummy, device = text.partition(":")
    return int(vendor, 16), int(device, 16)


def _announced(gpu: str, offered: Collection[str]) -> int | None:
    return mmio.passthrough_mmio_gb(*pci_ids(gpu)) if ":" in gpu else mmio.gpu_mmio_gb(gpu, offered)


def _cpu_reservation(now: Shape, requested: ShapeRequest, cpus: int, latency: str) -> int:
    if requested.cpu_reservation_mhz is not None:
        return requested.cpu_reservation_mhz
    if requested.cpu_reservation == "ignore" or latency != "high":
        return now.cpu_reserved_mhz
    return max(now.cpu_reserved_mhz, full_cpu_mhz(now.host, cpus))


def full_cpu_mhz(host: Host | None, cpus: int) -> int:
    """Every vCPU at the nominal frequency of the host (vSphere Resource Management, low-latency VMs); 0 if unknown."""
    return cpus * host.mhz if host is not None else 0


def _vmx(now: Shape, requested: ShapeRequest) -> dict[str, str]:
    vmx = dict(now.vmx)
    if requested.gpudirect == "enabled" and not _is_peer_to_peer(now):
        vmx.update((key, "TRUE") for key in (keys.ALLOW_P2P, keys.RELAX_ACS) if not is_on(vmx.get(key)))
    elif requested.gpudirect == "disabled":
        # An existing FALSE means the same, and is not worth a power cycle.
        for key in (keys.ALLOW_P2P, keys.RELAX_ACS):
            if is_on(vmx.get(key)):
                del vmx[key]
    if requested.mmio == "auto":
        vmx.update(_mmio(now, requested))
    elif requested.mmio == "none":
        for key in (keys.USE_64BIT_MMIO, keys.MMIO_SIZE):
            vmx.pop(key, None)
    for name, value in (requested.advanced or {}).items():
        if value is None:
            vmx.pop(cast(str, keys.canonical(name)), None)
        else:
            vmx[cast(str, keys.canonical(name))] = cast(str, keys.text(cast("Found", keys.find(name))[0], value))
    return vmx


def _is_peer_to_peer(now: Shape) -> bool:
    """Whether a VM is right without the settings of GPUDirect: it runs on hardware that has peer-to-peer traffic."""
    return now.hardware_version >= _PEER_TO_PEER and now.vm.power != "off"


def _mmio(now: Shape, requested: ShapeRequest) -> dict[str, str]:
    """Return the window; a larger present one is kept, since oversizing is cheap (FD 2023-05-30)."""
    needed = needed_mmio_gb(now, requested)
    size = requested.mmio_size_gb or max(needed, now.mmio_size_gb or 0)
    if not needed and not requested.mmio_size_gb:
        return {}
    return {keys.USE_64BIT_MMIO: "TRUE", keys.MMIO_SIZE: str(size)}


def _same_setting(name: str, one: str | None, other: str | None) -> bool:
    if name == keys.NODE_AFFINITY:
        return numa.same_affinity(one, other)
    return keys.same(name, one, other)


def _reservation(shape: Shape) -> str:
    reserved = shape.vm.memory_reserved_mb or 0
    return "all" if shape.memory_locked else f"{reserved} MB" if reserved else "partial"
