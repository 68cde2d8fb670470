# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Rules of passthrough devices: ports in use, storage adapters, virtual functions. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host import device_mode, passthrough
from ansible_collections.aiready.vsphere.plugins.module_utils.host.pci import (
    DISPLAY,
    NVIDIA,
    Tree,
    normal_address,
)

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host import graphics
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import Network
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.pci import Device

# T4: SR-IOV is on in the BIOS and never in vCenter (NVIDIA AI Enterprise user guide 5.0, chapter 2.7).
T4 = 0x1EB8
# Kernel name of a virtual function (the same guide, 4.2); it has the IDs and the name of the whole device.
_VF = re.compile(r"PF_[\d.]+_VF_\d+\Z")
# Rejections of a change whose cause can be a running VM.
_OPEN_CODES = ("vsphere_fault", "invalid_state", "rest_task_failed", "rest_refused")


@dataclass(frozen=True)
class Surroundings:
    """Host data besides the passthrough state of its devices."""

    tree: Tree
    network: Network
    # Addresses of virtual functions, and {address: vmhba} of storage adapters.
    functions: frozenset[str] = frozenset()
    storage: dict[str, str] = field(default_factory=dict)
    # {address: the GPU's graphics state}
    gpus: dict[str, graphics.Device] = field(default_factory=dict)
    # True if the host can bind a device anew without a restart.
    rebinds: bool = True
    # The interface for passthrough: auto, soap or rest.
    method: str = device_mode.AUTO


def functions_of(rows: Iterable[Mapping[str, Any]] | None) -> frozenset[str]:
    """Addresses of the virtual functions among the rows of `esxcli hardware pci list`."""
    return frozenset(
        address
        for address in (normal_address(str(row.get("Address", ""))) for row in rows or [] if _is_function(row))
        if address
    )


def _is_function(row: Mapping[str, Any]) -> bool:
    return bool(_VF.match(str(row.get("VMkernelName", ""))))


def check(
    subject: str,
    now: Mapping[str, passthrough.Given],
    around: Surroundings,
    requests: Sequence[passthrough.DeviceRequest],
) -> dict[str, passthrough.DeviceRequest]:
    """{address: entry} of the requests; reports all invalid ones at once."""
    problems, entries = [], {}
    for entry in requests:
        address = cast(str, normal_address(entry.id))
        if address in entries:
            problems.append((f"{address} is named twice.", "Name each device once."))
        found = list(_problems(now, around, address, entry))
        problems += found
        if not found:
            entries[address] = entry
    if problems:
        raise OperatorError(
            subject,
            "cannot change the passthrough state of its devices",
            " ".join(found for found, todo in problems),
            " ".join(dict.fromkeys(todo for found, todo in problems)),
            "passthrough_impossible",
            problems=[found for found, todo in problems],
            gone=[one.id for one in requests if normal_address(one.id) not in now],
        )
    return entries


def _problems(
    now: Mapping[str, passthrough.Given], around: Surroundings, address: str, entry: passthrough.DeviceRequest
) -> Iterator[tuple[str, str]]:
    state = now.get(address)
    if address in around.functions:
        yield (
            f"{address} is a virtual function.",
            "Name the whole device. `sriov_vfs` defines its functions.",
        )
        return
    if state is None or address not in around.tree:
        yield (
            f"There is no passthrough device {entry.id}; there are: {_capable(now, around)}.",
            "Correct `devices`.",
        )
        return
    name = f"{address} ({cast('Device', around.tree.get(address)).name})"
    if entry.state == "enabled" and not state.configured:
        yield from _not_to_give(around, state, name, entry)
    if entry.state is not None or entry.device_mode is not None:
        yield from device_mode.obstacles(around.method, name, state.mode, entry.device_mode is not None)
    if entry.sriov_vfs is not None:
        yield from _no_functions(around, state, name, entry.sriov_vfs)
    if entry.state == "enabled" and entry.sriov_vfs:
        yield (f"{name} cannot have passthrough and virtual functions together.", "Choose one.")


def _not_to_give(
    around: Surroundings, state: passthrough.Given, name: str, entry: passthrough.DeviceRequest
) -> Iterator[tuple[str, str]]:
    if not state.capable:
        yield (f"ESXi does not support passthrough of {name}.", "Check that the BIOS enables the IOMMU (VT-d).")
    yield from _carries(around, state.id, name)
    yield from _behind_nvswitch(around, state.id, name)
    if state.dependent not in ("", state.id):
        yield from _carries(around, state.dependent, f"{state.dependent}, which goes along with {name},")
    gpu = around.gpus.get(state.id)
    if gpu is not None and "sharedDirect" in (gpu.configured, gpu.active) and not entry.take_from_vgpu:
        yield (
            f"{name} is a GPU for vGPU: its graphics type is Shared Direct.",
            "Set `take_from_vgpu` to use it for passthrough.",
        )


def _behind_nvswitch(around: Surroundings, address: str, name: str) -> Iterator[tuple[str, str]]:
    """vSphere does not support passthrough of the GPUs of NVSwitches (NVIDIA AI Enterprise 8.0)."""
    device = cast("Device", around.tree.get(address))
    switches = around.tree.nvswitches()
    if switches and (device.vendor, device.kind) == (NVIDIA, DISPLAY):
        yield (
            f"{name} is on a host with {switches} NVSwitches, and vSphere does not support passthrough of its GPUs.",
            "Use time-sliced vGPUs, all of one VM (gpu.mode vgpu), with NVIDIA's Fabric Manager for ESXi.",
        )


def _carries(around: Surroundings, address: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield the traffic of a port or adapter that the change would interrupt."""
    port = next((one for one in around.network.ports if one.pci == address), None)
    if port is not None and port.switch:
        adapters = around.network.on_switch(port.switch)
        reported = ", ".join(f"{one.device} ({', '.join(one.services) or 'no service'})" for one in adapters)
        yield (
            f"{name} is {port.device}, an uplink of {port.switch}"
            + (f" with the VMkernel adapters {reported}." if reported else "."),
            f"Remove {port.device} from {port.switch} first, and use another port for its traffic.",
        )
    if address in around.storage:
        yield (
            f"{name} is the storage adapter {around.storage[address]}.",
            "Choose another device. The host would lose its datastores.",
        )


def _no_functions(around: Surroundings, state: passthrough.Given, name: str, number: int) -> Iterator[tuple[str, str]]:
    device = cast("Device", around.tree.get(state.id))
    if device.vendor == NVIDIA and device.device == T4:
        yield (
            f"{name} is a T4, for which SR-IOV must not be enabled in vCenter.",
            "Remove `sriov_vfs`. The T4 needs SR-IOV only in the BIOS.",
        )
    elif number and not state.sriov_capable:
        yield (f"{name} has no SR-IOV.", "Check SR-IOV in the BIOS and in the firmware of the adapter.")
    elif number > state.vfs_max:
        yield (
            f"{name} has at most {state.vfs_max} virtual functions, {number} requested.",
            "Set NUM_OF_VFS in its firmware higher with aiready.vsphere.nic_firmware, or request fewer.",
        )


def _capable(now: Mapping[str, passthrough.Given], around: Surroundings) -> str:
    return ", ".join(
        f"{address} ({cast('Device', around.tree.get(address)).name})"
        for address, state in sorted(now.items())
        if state.capable and address in around.tree and address not in around.functions
    )


def refuse_in_use(
    subject: str,
    around: Surroundings,
    now: Mapping[str, passthrough.Given],
    wanted_states: Mapping[str, passthrough.Given],
) -> None:
    """Raise an error for running VMs; called only before a change, because they may have ended since the plan."""
    changed = [
        address
        for address, state in now.items()
        if state.configured != wanted_states[address].configured
        or device_mode.leaves_host(state.mode, wanted_states[address].mode)
        or device_mode.enters_host(state.mode, wanted_states[address].mode)
    ]
    vms = sorted({vm for address in changed if address in around.gpus for vm in around.gpus[address].vms})
    if vms:
        raise OperatorError(
            subject,
            "cannot change the passthrough state of its GPUs",
            f"Running VMs use them: {', '.join(vms)}",
            "Shut the VMs down, or move them to another host",
            "gpu_in_use",
            vms=vms,
        )


def may_be_held(error: OperatorError) -> bool:
    """Whether a running VM can be the cause; a missing privilege or a lost answer is a cause of its own."""
    return error.code in _OPEN_CODES and error.data.get("status") not in (401, 403)


def held(error: OperatorError, holders: Mapping[str, Sequence[str]]) -> OperatorError:
    """The error of a change that vCenter rejected, with the running VMs that hold its devices."""
    shown = "; ".join(f"{address} by {', '.join(names)}" for address, names in sorted(holders.items()))
    vms = sorted({name for names in holders.values() for name in names})
    return OperatorError(
        error.subject,
        error.wanted,
        f"{error.found.rstrip('.')}. Running VMs use these devices: {shown}",
        "Shut the VMs down, or move them to another host",
        "device_held",
        **dict(error.data, vms=vms),
    )


def wanted(
    now: Mapping[str, passthrough.Given],
    around: Surroundings,
    entries: Mapping[str, passthrough.DeviceRequest],
    apply_now: bool,
) -> dict[str, passthrough.Given]:
    """The states of all devices after the entries."""
    at_once = apply_now and around.rebinds
    return {
        address: _in_mode(around, state, passthrough.requested_one(state, entries[address], at_once))
        if address in entries
        else state
        for address, state in now.items()
    }


def over_rest(
    subject: str,
    now: Mapping[str, passthrough.Given],
    around: Surroundings,
    wanted_states: Mapping[str, passthrough.Given],
    apply_now: bool,
) -> dict[str, list[str]]:
    """{address: modes in their order} of the changes over REST; rejects a mode that a device cannot have.

    Only SOAP can request that a change takes effect at once.
    """
    modes: dict[str, list[str]] = {}
    for address, state in now.items():
        after = wanted_states[address]
        if not device_mode.over_rest(around.method, state.mode):
            continue
        if (state.configured != after.configured and not apply_now) or device_mode.leaves_host(state.mode, after.mode):
            modes.setdefault(address, []).append(_target(around, after))
        if device_mode.enters_host(state.mode, after.mode):
            modes.setdefault(address, []).append(device_mode.SYSTEM)
    named = ((address, now[address].mode, mode) for address, every in modes.items() for mode in every)
    device_mode.refuse_impossible(
        subject,
        (
            (f"{address} ({cast('Device', around.tree.get(address)).name})", mode, target)
            for address, mode, target in named
            if mode is not None
        ),
    )
    return modes


def _target(around: Surroundings, wanted_state: passthrough.Given) -> str:
    """The mode for the requested state: a device that is returned to the host gets the mode of its graphics type."""
    if wanted_state.configured:
        return device_mode.DIRECT
    gpu = around.gpus.get(wanted_state.id)
    size = gpu.mode if gpu is not None else ""
    own = device_mode.by_state(False, gpu.configured if gpu is not None else "", size)
    offered = wanted_state.mode.configurable if wanted_state.mode is not None else ()
    return next((mode for mode in (own, device_mode.HOST, device_mode.NONE) if mode in offered), own)


def _in_mode(around: Surroundings, before: passthrough.Given, after: passthrough.Given) -> passthrough.Given:
    """Return the device with the mode that follows from its active settings, where a change affects it."""
    if after.mode is None or after.mode.of_the_host or (before.active == after.active and before.mode == after.mode):
        return after
    gpu = around.gpus.get(after.id)
    if gpu is None or after.active:
        current = device_mode.by_state(after.active)
    elif gpu.active == "direct":
        current = _target(around, replace(after, configured=False))
    else:
        current = device_mode.by_state(False, gpu.active, gpu.mode)
    return replace(after, mode=replace(after.mode, current=current))
