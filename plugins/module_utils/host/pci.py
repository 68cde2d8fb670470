# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""PCI devices as a tree of bridges: addresses, roots, NUMA nodes, and which GPU is near which port. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Iterable, Mapping

NVIDIA = 0x10DE
MELLANOX = 0x15B3
# The upper byte of a class code: display controllers, network controllers, bridges.
DISPLAY, NETWORK, BRIDGE = 0x03, 0x02, 0x06

_ADDRESS = re.compile(r"(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Device:
    """One PCI function."""

    address: str
    vendor: int
    device: int
    kind: int
    name: str
    parent: str = ""


def normal_address(text: str) -> str | None:
    """An address as ESXi writes it, such as 0000:3b:00.0; None for anything else.

    nvidia-smi writes eight digits of the domain, lspci often none.
    """
    match = _ADDRESS.match(text.strip())
    if match is None:
        return None
    domain, bus, slot, function = match.groups()
    return f"{int(domain or '0', 16):04x}:{bus}:{slot}.{function}".lower()


class Tree:
    """The devices of a host, by address."""

    def __init__(self, devices: Iterable[Device], numa_nodes: Mapping[str, int] | None = None) -> None:
        self._devices = {device.address: device for device in devices}
        self._numa = dict(numa_nodes or {})

    def __contains__(self, address: str) -> bool:
        return address in self._devices

    def get(self, address: str) -> Device | None:
        return self._devices.get(address)

    def all(self) -> list[Device]:
        return list(self._devices.values())

    def nvswitches(self) -> int:
        """Return the number of NVSwitches, which are NVIDIA bridges."""
        return sum((one.vendor, one.kind) == (NVIDIA, BRIDGE) for one in self._devices.values())

    def bridges(self, address: str) -> list[str]:
        """The bridges above a device, from its own slot up to the root port."""
        above = []
        device = self._devices.get(address)
        while device is not None and device.parent and device.parent not in above:
            above.append(device.parent)
            device = self._devices.get(device.parent)
        return above

    def root(self, address: str) -> str:
        """The root complex that a device hangs off, by its bus: every root port of one complex is on one bus."""
        top = ([address] + self.bridges(address))[-1]
        return top.rpartition(":")[0]

    def numa_node(self, address: str) -> int | None:
        """Return the node of a device, or of the nearest bridge with a reported node; None without a report."""
        return next((self._numa[one] for one in [address] + self.bridges(address) if one in self._numa), None)

    def pair(self, gpu: str, port: str) -> dict[str, bool | None]:
        """Return the distance of two devices: GPUDirect needs one switch or root complex, and NVIDIA requires one node
        too."""
        nodes = self.numa_node(gpu), self.numa_node(port)
        return {
            "same_root": self.root(gpu) == self.root(port),
            "same_switch": bool(set(self.bridges(gpu)) & set(self.bridges(port))),
            "same_numa": None if None in nodes else nodes[0] == nodes[1],
        }


def tree_of(pci_devices: Iterable[Any] | None, numa_info: Any) -> Tree:
    """The tree from hardware.pciDevice and hardware.numaInfo."""
    nodes = {
        address: node.typeId
        for node in (numa_info.numaNode if numa_info else None) or []
        for address in node.pciId or []
    }
    return Tree(
        [
            Device(
                address=entry.id,
                # The API declares these fields as signed.
                vendor=entry.vendorId & 0xFFFF,
                device=entry.deviceId & 0xFFFF,
                kind=(entry.classId & 0xFFFF) >> 8,
                name=entry.deviceName or "",
                parent=entry.parentBridge or "",
            )
            for entry in pci_devices or []
        ],
        nodes,
    )
