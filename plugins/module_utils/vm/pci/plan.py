# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""From a request and a present state to the desired state, and to the changes between the two. Pure."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.host.pci import normal_address
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import near
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.state import DVX, DYNAMIC, STATIC, Asked, Direct

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.params import DeviceRequest, PciRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.state import DirectState

# Value of a request that removes the node of a device; without a value the node stays.
NO_NODE = -1


def asked_of(entry: DeviceRequest) -> Asked:
    """Return the device that an entry of a request asks for."""
    if entry.kind == STATIC:
        return Asked(STATIC, id=cast("str", normal_address(entry.id or "")))
    if entry.kind == DYNAMIC:
        allowed = tuple(sorted({cast("str", normal_ids(one)) for one in entry.allowed or ()}))
        return Asked(DYNAMIC, allowed=allowed, label=(entry.label or "").strip())
    if entry.kind == DVX:
        return Asked(DVX, device_class=(entry.device_class or "").strip())
    return Asked(entry.kind, group=(entry.group or "").strip())


def normal_ids(text: str) -> str | None:
    """10DE:20F1, or 0x10de:0x20f1 as VMX files have it, as 10de:20f1; None for anything else."""
    parts = [part.strip().lower() for part in text.split(":")]
    parts = [part[2:] if part.startswith("0x") else part for part in parts]
    if len(parts) != 2 or not all(1 <= len(part) <= 4 and set(part) <= set("0123456789abcdef") for part in parts):
        return None
    return ":".join(part.rjust(4, "0") for part in parts)


def wanted_devices(now: DirectState, requested: PciRequest) -> tuple[Direct, ...]:
    """Return the desired devices of the VM: matching ones stay unchanged, the others are new."""
    entries = requested.devices if requested.state == "present" else []
    left = list(now.devices)
    # A device that is on the right node already is taken before one that would have to move.
    requests = sorted(((asked_of(entry), entry.numa_node) for entry in entries), key=lambda one: one[1] is None)
    devices = []
    for asked, node in requests:
        matches = [one for one in left if one.asked == asked]
        match = next((one for one in matches if one.numa_node == _node(node)), matches[0] if matches else None)
        if match is None:
            devices.append(Direct(asked, _node(node)))
            continue
        left = [one for one in left if one is not match]
        devices.append(match if node is None else dataclasses.replace(match, numa_node=_node(node)))
    return tuple(devices)


def want(now: DirectState, requested: PciRequest) -> DirectState:
    """Return the requested state, starting from the present one."""
    return dataclasses.replace(now, devices=wanted_devices(now, requested))


def setting_changes(now: DirectState, wanted: DirectState) -> list[Change]:
    """The changes that one reconfiguration of the VM makes."""
    before, after = _names(now), _names(wanted)
    return [Change("devices", before, after)] if before != after else []


def added(now: DirectState, wanted: DirectState) -> list[Direct]:
    """The devices that the VM does not have yet."""
    there = _identities(now)
    return [one for one in wanted.devices if not one.devices or _identity(one) not in there]


def removed(now: DirectState, wanted: DirectState) -> list[Direct]:
    """The devices that the VM must not have any more."""
    kept = _identities(wanted)
    return [one for one in now.devices if _identity(one) not in kept]


def moved(now: DirectState, wanted: DirectState) -> list[Direct]:
    """The devices that stay and get another node."""
    nodes = {_identity(one): one.numa_node for one in now.devices}
    return [one for one in wanted.devices if one.devices and nodes.get(_identity(one), one.numa_node) != one.numa_node]


def settings(state: DirectState) -> dict[str, object]:
    """A state in the user's terms."""
    return {
        "devices": [_reported(one, state) for one in sorted(state.devices, key=str)],
        "pairs": near.pairs(dataclasses.replace(state, devices=tuple(sorted(state.devices, key=str)))),
    }


def _reported(one: Direct, state: DirectState) -> dict[str, object]:
    asked = one.asked
    return {
        "kind": asked.kind,
        "id": asked.id or None,
        "allowed": list(asked.allowed),
        "label": asked.label or None,
        "group": asked.group or None,
        "device_class": asked.device_class or None,
        "numa_node": one.numa_node,
        "vmotion": near.vmotion(state.host, asked),
    }


def _names(state: DirectState) -> list[str]:
    return sorted(str(one) for one in state.devices)


def _node(requested: int | None) -> int | None:
    return None if requested in (None, NO_NODE) else requested


def _identities(state: DirectState) -> set[tuple[Asked, tuple[int, ...]]]:
    return {_identity(one) for one in state.devices if one.devices}


def _identity(one: Direct) -> tuple[Asked, tuple[int, ...]]:
    """vSphere gives the key of a removed device to a new one."""
    return one.asked, tuple(sorted(device.key for device in one.devices))
