# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The passthrough devices of a VM as they are set, and how a reading reports them."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Iterable, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.host.pci import normal_address
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.near import HostDevices
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.place import Place
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row

STATIC, DYNAMIC, GROUP, DVX = "static", "dynamic", "group", "dvx"
# Clients write this as the system of a static device that is not bound to one (vCenter returns it too).
ANY_SYSTEM = "BYPASS"
# Format of addresses in VMX files: every part of this form is decimal (public notes on VMX files).
_DECIMAL = re.compile(r"(\d{5}):(\d{3}):(\d{2})\.(\d)\Z")


@dataclass(frozen=True)
class Asked:
    """Request of a VM: a device at an address, one of a kind or of a class, or a vendor's group of devices."""

    kind: str
    id: str = ""
    allowed: tuple[str, ...] = ()
    label: str = ""
    group: str = ""
    # Class of Enhanced DirectPath I/O (DVX).
    device_class: str = ""
    # A static device that was recorded on another host, or before another card came to its slot: it does not start.
    stale: bool = False

    def __str__(self) -> str:
        if self.kind == STATIC:
            return f"static {self.id}" + (", recorded for another device" if self.stale else "")
        if self.kind == GROUP:
            return f"group {self.group}"
        if self.kind == DVX:
            return f"dvx {self.device_class}"
        return f"dynamic {' or '.join(self.allowed)}" + (f" labelled {self.label}" if self.label else "")


@dataclass(frozen=True)
class Direct:
    """One passthrough device of a VM, or one group of them; without devices while it is only requested."""

    asked: Asked
    numa_node: int | None = None
    # The API's devices, by which they are removed, and put back as they were.
    devices: tuple[vim.vm.device.VirtualDevice, ...] = ()
    instance: int | None = None
    # PCI address of the device that a running VM has through it, where the host reports it.
    held: str = ""

    def __str__(self) -> str:
        return str(self.asked) if self.numa_node is None else f"{self.asked} on node {self.numa_node}"


@dataclass(frozen=True)
class DirectState:
    """Passthrough devices of a VM, and the offer of its host."""

    vm: Vm
    devices: tuple[Direct, ...] = ()
    # Profiles of the vGPUs beside them.
    vgpus: tuple[str, ...] = ()
    place: Place | None = None
    host: HostDevices | None = None
    # The hosts on which DRS may start the VM, its own included.
    reach: tuple[HostDevices, ...] = ()


if TYPE_CHECKING:

    class Placed(DirectState):
        """The state of a VM whose host was read."""

        host: HostDevices

    class StaticDevice(vim.vm.device.VirtualPCIPassthrough):
        """A device at an address."""

        backing: vim.vm.device.VirtualPCIPassthrough.DeviceBackingInfo


def state_of(
    row: Row, vm: Vm, place: Place | None, host: HostDevices | None, reach: Iterable[HostDevices] = (), system: str = ""
) -> DirectState:
    """Return the state in the row of a VM.

    host are the devices of its host, reach those of all hosts that it may start on, system is the host's own ID in
    static devices, if it was read.
    """
    passthrough = [
        device
        for device in row.get("config.hardware.device") or []
        if isinstance(device, vim.vm.device.VirtualPCIPassthrough)
    ]
    grouped = [device for device in row.get("config.hardware.device") or [] if _instance(device) is not None]
    alone = [device for device in passthrough if _instance(device) is None]
    bound = host.bound if host is not None else {}
    directs = [
        Direct(asked, _node(device), (device,), held=bound.get((row.moid, device.key), ""))
        for device in alone
        for asked in _asked(device)
    ]
    now = DirectState(
        vm=vm,
        devices=tuple(directs + _groups(grouped, row.get("config.deviceGroups"))),
        vgpus=tuple(
            sorted(
                cast("str", cast("vim.vm.device.VirtualPCIPassthrough.VmiopBackingInfo", device.backing).vgpu)
                for device in alone
                if _is_vgpu(device)
            )
        ),
        place=place,
        host=host,
        reach=tuple(reach),
    )
    return on_system(now, system)


def on_system(now: DirectState, system: str) -> DirectState:
    """Compare the static devices with the devices at their addresses, and with the host of this ID."""
    if now.vm.power == "on":
        # A running VM is better proof than any comparison of values that clients may have written in several forms.
        return now
    return dataclasses.replace(now, devices=tuple(_held_against(one, now.host, system) for one in now.devices))


def plain_address(text: str) -> str:
    """The address of a static backing as the host writes it."""
    match = _DECIMAL.match(text.strip())
    if match is None:
        return normal_address(text) or text
    domain, bus, slot, function = (int(part) for part in match.groups())
    return f"{domain:04x}:{bus:02x}:{slot:02x}.{function}"


def ids_text(vendor: int, device: int) -> str:
    """Vendor and device as 10de:20f1; the API declares some of these fields as signed."""
    return f"{vendor & 0xFFFF:04x}:{device & 0xFFFF:04x}"


def assigned_to(device: vim.vm.device.VirtualDevice) -> str | None:
    """Return the address that a running VM holds through this device of it, or None."""
    backing = device.backing
    if isinstance(backing, vim.vm.device.VirtualPCIPassthrough.DeviceBackingInfo):
        return plain_address(backing.id or "")
    if isinstance(backing, vim.vm.device.VirtualPCIPassthrough.DynamicBackingInfo) and backing.assignedId:
        return plain_address(backing.assignedId)
    return None


def _asked(device: vim.vm.device.VirtualDevice) -> list[Asked]:
    """Return the request of a device that is in no group; nothing for vGPUs and other kinds, which are not managed
    here."""
    backing = device.backing
    if isinstance(backing, vim.vm.device.VirtualPCIPassthrough.DeviceBackingInfo):
        return [Asked(STATIC, id=plain_address(backing.id or ""))]
    if isinstance(backing, vim.vm.device.VirtualPCIPassthrough.DynamicBackingInfo):
        allowed = tuple(sorted(_allowed_text(one) for one in backing.allowedDevice or []))
        return [Asked(DYNAMIC, allowed=allowed, label=backing.customLabel or "")]
    # Type libraries before 8.0.0.1 do not know the backing.
    dvx = getattr(vim.vm.device.VirtualPCIPassthrough, "DvxBackingInfo", None)
    if dvx is not None and isinstance(backing, dvx):
        return [Asked(DVX, device_class=backing.deviceClass or "")]
    return []


def _held_against(one: Direct, host: HostDevices | None, system: str) -> Direct:
    if one.asked.kind != STATIC or host is None:
        return one
    (device,) = cast("tuple[StaticDevice]", one.devices)
    stale = device.backing.systemId not in ("", None, ANY_SYSTEM, system) if system else one.asked.stale
    there = host.tree.get(one.asked.id)
    if there is not None and device.backing.vendorId is not None:
        stale = stale or device.backing.vendorId & 0xFFFF != there.vendor
        stale = stale or not _is_number(device.backing.deviceId, there.device)
    return dataclasses.replace(one, asked=dataclasses.replace(one.asked, stale=stale))


def _is_number(text: str | None, number: int) -> bool:
    """Return whether the text is this device ID in a form that clients write: hexadecimal or decimal, signed or not, or
    empty."""
    digits = (text or "").strip().lower()
    signed = number - 0x10000 if number > 0x7FFF else number
    shapes = {
        f"{number:x}",
        f"{number:04x}",
        f"0x{number:x}",
        f"0x{number:04x}",
        f"{signed:x}",
        str(number),
        str(signed),
    }
    return digits in ("", "0") or digits in shapes


def _allowed_text(one: vim.vm.device.VirtualPCIPassthrough.AllowedDevice) -> str:
    """A kind that is narrowed down by its subsystem is another kind than one that is not."""
    text = ids_text(one.vendorId, one.deviceId)
    if one.subVendorId is None and one.subDeviceId is None:
        return text
    return f"{text}:{ids_text(one.subVendorId or 0, one.subDeviceId or 0)}"


def _groups(
    devices: Iterable[vim.vm.device.VirtualDevice], device_groups: vim.vm.VirtualDeviceGroups | None
) -> list[Direct]:
    names = {
        one.groupInstanceKey: getattr(one, "deviceGroupName", "")
        for one in getattr(device_groups, "deviceGroup", None) or []
    }
    members: dict[int, list[vim.vm.device.VirtualDevice]] = {}
    for device in devices:
        members.setdefault(cast("int", _instance(device)), []).append(device)
    return [
        Direct(Asked(GROUP, group=names.get(instance, "")), _common_node(group), tuple(group), instance)
        for instance, group in sorted(members.items())
    ]


def _instance(device: vim.vm.device.VirtualDevice) -> int | None:
    info = getattr(device, "deviceGroupInfo", None)
    return info.groupInstanceKey if info is not None else None


def _common_node(devices: Iterable[vim.vm.device.VirtualDevice]) -> int | None:
    nodes = {_node(device) for device in devices}
    return nodes.pop() if len(nodes) == 1 else None


def _node(device: vim.vm.device.VirtualDevice) -> int | None:
    # Negative is the API's word for none; servers before 8.0 do not know the field.
    node = getattr(device, "numaNode", None)
    return node if node is not None and node >= 0 else None


def _is_vgpu(device: vim.vm.device.VirtualDevice) -> bool:
    return isinstance(device.backing, vim.vm.device.VirtualPCIPassthrough.VmiopBackingInfo)
