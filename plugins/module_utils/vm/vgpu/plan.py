# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""From a request and a present state to the desired state, and to the changes between the two. Pure."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import TYPE_CHECKING, Iterable, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import mmio
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import window
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import is_on
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu.state import (
    FIRST_KEY,
    MMIO_SIZE,
    USE_64BIT_MMIO,
    device_name,
    uvm_setting,
    uvm_settings,
)

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu.params import VgpuRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu.state import VmState


def wanted_devices(now: VmState, requested: VgpuRequest) -> tuple[tuple[int, str], ...]:
    """Return the desired devices of the VM: matching ones stay, new ones get the keys that vSphere will choose."""
    missing = Counter(requested.profiles if requested.state == "present" else [])
    kept = []
    for key, profile in now.devices:
        if missing[profile]:
            missing[profile] -= 1
            kept.append((key, profile))
    taken = set(now.other_keys).union(key for key, profile in kept)
    for profile in sorted(missing.elements()):
        key = next(key for key in range(FIRST_KEY, FIRST_KEY + len(taken) + 1) if key not in taken)
        taken.add(key)
        kept.append((key, profile))
    return tuple(sorted(kept))


def added_profiles(now: VmState, devices: Sequence[tuple[int, str]]) -> list[str]:
    """Return the profiles among the requested devices that the VM does not have yet."""
    return sorted((Counter(profile for key, profile in devices) - Counter(now.profiles)).elements())


def want(now: VmState, requested: VgpuRequest) -> VmState:
    """Return the requested state, starting from the present one."""
    devices = wanted_devices(now, requested)
    vmx = dict(now.vmx)
    locked = now.memory_locked
    # absent leaves reservation and MMIO as they are: other devices may need them, and alone they do no harm
    if requested.state == "present":
        locked = locked or requested.memory_reservation == "all"
        if requested.mmio == "auto":
            vmx.update(_mmio(now, devices, requested.mmio_size_gb))
    vmx = _unified_memory(vmx, devices, now.other_keys, requested.unified_memory)
    return dataclasses.replace(now, devices=devices, memory_locked=locked, vmx=vmx)


def setting_changes(now: VmState, wanted: VmState) -> list[Change]:
    """The changes that one reconfiguration of the VM makes."""
    changes = []
    if now.profiles != wanted.profiles:
        changes.append(Change("profiles", now.profiles, wanted.profiles))
    if now.memory_locked != wanted.memory_locked:
        changes.append(Change("memory_reservation", "partial", "all"))
    for key in sorted(set(now.vmx) | set(wanted.vmx)):
        if now.vmx.get(key) != wanted.vmx.get(key):
            changes.append(Change(key, now.vmx.get(key), wanted.vmx.get(key)))
    return changes


def _mmio(now: VmState, devices: Sequence[tuple[int, str]], size_gb: int | None) -> dict[str, str]:
    """Return the MMIO settings; a larger present window is kept, since oversizing is cheap."""
    offered = now.host.offered if now.host else ()
    gpus, ports = window.demand(now.beside, offered)
    needed = mmio.window_gb([*gpus, *(mmio.gpu_mmio_gb(profile, offered) for key, profile in devices)], ports)
    size = size_gb or max(needed, now.mmio_size_gb or 0)
    if not needed and not size_gb:
        return {}
    settings = {} if now.mmio_64bit else {USE_64BIT_MMIO: "TRUE"}
    if now.mmio_size_gb != size:
        settings[MMIO_SIZE] = str(size)
    return settings


def _unified_memory(
    vmx: dict[str, str], devices: Sequence[tuple[int, str]], other_keys: Iterable[int], choice: str
) -> dict[str, str]:
    """Return the VMX settings with the requested unified memory; settings of a removed device are removed too."""
    if choice == "ignore":
        return vmx
    ours = {device_name(key): uvm_setting(key) for key, profile in devices}
    unmanaged = [device_name(key) for key in other_keys]
    for name, value in uvm_settings(vmx).items():
        if name not in unmanaged and is_on(value) and (name not in ours or choice == "disabled"):
            del vmx[f"{name}.cfg.enable_uvm"]
    if choice == "enabled":
        vmx.update((setting, "1") for setting in ours.values() if not is_on(vmx.get(setting)))
    return vmx
