# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Devices that a host offers, and the GPUs and NICs under the same root. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Iterable, NamedTuple, TypedDict, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.host import dvx, passthrough
from ansible_collections.aiready.vsphere.plugins.module_utils.host.pci import DISPLAY, NETWORK, NVIDIA, Tree, tree_of
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import release as releases

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.pci import Device
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.state import Asked, Direct, DirectState

    class Pair(TypedDict):
        """A GPU and a port of one VM, and whether both are under one PCIe root."""

        gpu: str
        nic: str
        same_root: bool | None


HOST_PROPERTIES = (
    "config.graphicsConfig",
    "config.graphicsInfo",
    "config.pciPassthruInfo",
    "config.product.version",
    "hardware.numaInfo",
    "hardware.pciDevice",
)


class Graphics(NamedTuple):
    """Graphics configuration of a GPU: shared, sharedDirect, direct ...; mode is empty before vSphere 8.0 U3."""

    active: str
    configured: str
    mode: str


@dataclass(frozen=True)
class HostDevices:
    """The PCI devices of a host."""

    name: str
    version: str
    tree: Tree
    given: dict[str, passthrough.Given] = field(default_factory=dict)
    graphics: dict[str, Graphics] = field(default_factory=dict)
    # Device classes of Enhanced DirectPath I/O by name.
    dvx: dict[str, dvx.DvxClass] = field(default_factory=dict)
    # {(MoID of a running VM, key of its device): PCI address}, from vSphere 9.1 on.
    bound: dict[tuple[str, int], str] = field(default_factory=dict)

    @property
    def release(self) -> tuple[int, ...]:
        """The version as numbers that compare, e.g. (8, 0, 3)."""
        return releases.numbers(self.version)

    def before(self, release: tuple[int, ...]) -> bool:
        return bool(self.release) and self.release < release

    def active(self) -> list[Device]:
        """The devices that VMs can have now."""
        return [
            cast("Device", self.tree.get(one.id)) for one in self.given.values() if one.active and one.id in self.tree
        ]

    def of_kind(self, allowed: Iterable[str]) -> list[Device]:
        """Return all devices with one of these IDs, assigned or not."""
        return [device for device in self.tree.all() if fits(device, allowed)]

    def choice(self, asked: Asked) -> list[Device]:
        """Return the devices that match a VM's request."""
        if asked.id:
            return [cast("Device", self.tree.get(asked.id))] if asked.id in self.tree else []
        return [
            device
            for device in self.active()
            if fits(device, asked.allowed) and asked.label in ("", self.given[device.address].label)
        ]

    def gpus(self) -> list[Device]:
        """The NVIDIA GPUs by the host's account of its graphics devices, which leaves their virtual functions out."""
        return [cast("Device", self.tree.get(address)) for address in self.graphics if address in self.tree]


def host_devices(row: Row) -> HostDevices:
    """The devices that the row of a host reports."""
    config = row.get("config.graphicsConfig")
    configured = {entry.deviceId: entry.graphicsType for entry in (config.deviceType if config else None) or []}
    default = config.hostDefaultGraphicsType if config else ""
    return HostDevices(
        name=row.get("name", ""),
        version=row.get("config.product.version") or "",
        tree=tree_of(row.get("hardware.pciDevice"), row.get("hardware.numaInfo")),
        given=passthrough.devices_of(row.get("config.pciPassthruInfo")),
        graphics={
            info.pciId: Graphics(
                info.graphicsType, configured.get(info.pciId, default), getattr(info, "vgpuMode", None) or ""
            )
            for info in row.get("config.graphicsInfo") or []
            if "nvidia" in (info.vendorName or "").lower()
        },
        dvx=dvx.classes_of(row.get(dvx.PROPERTY)),
        bound=dvx.bound_of(row.get(dvx.BINDINGS)),
    )


def vmotion(host: HostDevices | None, asked: Asked) -> bool | None:
    """Return whether a running VM can move with a device; None if the host does not report the class."""
    if not asked.device_class:
        return False
    known = host.dvx.get(asked.device_class) if host is not None else None
    return known.checkpoint if known is not None else None


def fits(device: Device, allowed: Iterable[str]) -> bool:
    """Return whether a device has one of the kinds, given as 10de:20f1."""
    # Some hosts do not report a subsystem that narrows a kind down further, so vSphere decides on it.
    return any(one[:9] == f"{device.vendor:04x}:{device.device:04x}" for one in allowed)


def is_gpu(device: Device) -> bool:
    return device.vendor == NVIDIA and device.kind == DISPLAY


def is_port(device: Device) -> bool:
    return device.kind == NETWORK


def needs_efi(device: Device) -> bool:
    """Return whether the memory window of a GPU is too large for BIOS firmware: true for all but the T4."""
    board = catalogue.board_of_pci(device.vendor, device.device)
    return is_gpu(device) and (board is None or board.mmio_gb != 0)


def pairs(state: DirectState) -> list[Pair]:
    """Pair each GPU of a VM with each NIC port: whether GPUDirect RDMA finds both under one PCIe root.

    None if that depends on the choice of vSphere at power-on. Groups are left out: their vendor has arranged them.
    Devices of a class are left out unless the host reports them: no API names the devices of a class.
    """
    if state.host is None:
        return []
    chosen = [(str(one.asked), _choice(state.host, one)) for one in state.devices if not one.asked.group]
    gpus = [(name, devices) for name, devices in chosen if devices and all(is_gpu(one) for one in devices)]
    gpus += [(f"vGPU {profile}", _boards(state.host, profile)) for profile in state.vgpus]
    ports = [(name, devices) for name, devices in chosen if devices and all(is_port(one) for one in devices)]
    return [
        {"gpu": gpu, "nic": port, "same_root": _same_root(state.host.tree, some, others)}
        for gpu, some in gpus
        for port, others in ports
    ]


def _choice(host: HostDevices, one: Direct) -> list[Device]:
    """The device that a running VM has, or all that match its request."""
    return [cast("Device", host.tree.get(one.held))] if one.held in host.tree else host.choice(one.asked)


def _boards(host: HostDevices, profile: str) -> list[Device]:
    """The GPUs that can carry a profile."""
    board = catalogue.board_of(profile)
    gpus = [gpu for gpu in host.gpus() if not host.given.get(gpu.address) or not host.given[gpu.address].active]
    return [gpu for gpu in gpus if board is None or catalogue.board_of_pci(gpu.vendor, gpu.device) is board]


def _same_root(tree: Tree, gpus: Iterable[Device], ports: Iterable[Device]) -> bool | None:
    answers = {tree.pair(gpu.address, port.address)["same_root"] for gpu in gpus for port in ports}
    return answers.pop() if len(answers) == 1 else None
