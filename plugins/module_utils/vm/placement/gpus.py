# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""GPUs of a host for a plan: mode, board, and the share of running VMs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable, Iterator, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.boards import BOARDS
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import parse
from ansible_collections.aiready.vsphere.plugins.module_utils.host import device_mode, pci
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import capacity
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import (
    ANY,
    DIRECT,
    MIG,
    MIXED_SIZE,
    NONE,
    SAME_SIZE,
    Gpu,
)

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import ProfileName
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.passthrough import Given
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Data
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import Gpus
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.rows import Machine


_MODES = {"sameSize": SAME_SIZE, "mixedSize": MIXED_SIZE, "multiInstanceGpu": MIG}


def gpus_of(row: Row, tree: pci.Tree, given: Mapping[str, Given], running: Sequence[Machine]) -> tuple[Gpu, ...]:
    """The NVIDIA GPUs of a host; running: the VMs whose share is gone."""
    infos = {info.pciId: info for info in _infos(row)}
    offered = [name for name in map(parse, row.get("config.sharedPassthruGpuTypes") or []) if name is not None]
    carried, held = _users(infos, running)
    addresses = list(infos) + [
        device.address for device in tree.all() if device.address not in infos and _is_given(device, given)
    ]
    return tuple(
        _gpu(address, infos.get(address), tree, given, offered, carried.get(address, ()), held.get(address, ""))
        for address in sorted(addresses)
    )


def used_by(row: Row, machine: Machine) -> Gpus:
    """Return ((GPU, profile), ...) of a running VM; vCenter does not report the GPU of a profile, so it is computed."""
    mine = [info.pciId for info in _infos(row) if machine.moid in _moids(info)]
    return tuple(sorted(_dealt(machine.profiles, mine, {})))


def _infos(row: Row) -> list[Data]:
    return [info for info in row.get("config.graphicsInfo") or [] if "nvidia" in (info.vendorName or "").lower()]


def _gpu(
    address: str,
    info: Data | None,
    tree: pci.Tree,
    given: Mapping[str, Given],
    offered: Sequence[ProfileName],
    carried: tuple[str, ...],
    held: str,
) -> Gpu:
    device, state = tree.get(address), given.get(address)
    device_id = f"{device.device:04x}" if device else ""
    board = _board(device_id, offered)
    return Gpu(
        id=address,
        title=(info.deviceName if info else cast(pci.Device, device).name) or address,
        board=board,
        mode=_mode(info, state, [name for name in offered if name.board == board]),
        graphics=(info.graphicsType or "") if info else "",
        selects=state is not None and state.mode is not None and state.mode.of_the_host,
        enhanced=state is not None and state.mode is not None and state.mode.current == device_mode.ENHANCED,
        numa=tree.numa_node(address),
        root=tree.root(address),
        carries=carried,
        held_by=held,
        vendor_id=f"{device.vendor:04x}" if device else "",
        device_id=device_id,
        label=state.label if state else "",
    )


def _is_given(device: pci.Device, given: Mapping[str, Given]) -> bool:
    state = given.get(device.address)
    return (
        device.vendor == pci.NVIDIA
        and device.kind == pci.DISPLAY
        and state is not None
        and state.active
        and state.dependent in ("", device.address)
    )


def _board(device_id: str, offered: Iterable[ProfileName]) -> str:
    """Return the board's part of profile names: from the host's profiles, or by the PCI id if there are several."""
    there = {name.board for name in offered}
    known = {board.vsphere_prefix for board in BOARDS if board.pci_device_id == f"0x{device_id}"}
    if known & there:
        return sorted(known & there)[0]
    return next(iter(there)) if len(there) == 1 and not known else next(iter(sorted(known)), "")


def _mode(info: Data | None, state: Given | None, offered: Iterable[ProfileName]) -> str:
    if state is not None and state.active:
        return DIRECT
    if info is None or info.graphicsType != "sharedDirect":
        return NONE
    mode = _MODES.get(getattr(info, "vgpuMode", None) or "")
    if mode is not None:
        return mode
    # Before 8.0 Update 3 only the list of the host reports, which mixes all of its GPUs.
    kinds = {name.mig_backed for name in offered}
    return ANY if len(kinds) > 1 else MIG if True in kinds else SAME_SIZE


def _users(infos: Mapping[str, Data], running: Iterable[Machine]) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Return ({GPU: profiles}, {GPU: VM that has the whole of it})."""
    carried: dict[str, tuple[str, ...]]
    held: dict[str, str]
    carried, held = {}, {}
    for machine in running:
        mine = [address for address, info in infos.items() if machine.moid in _moids(info)]
        for address, profile in _dealt(machine.profiles, mine, carried):
            carried[address] = tuple(sorted((*carried.get(address, ()), profile)))
        for address in machine.devices:
            held[address] = machine.name
        if not machine.profiles:
            held.update((address, machine.name) for address in mine)
    return carried, held


def _dealt(
    profiles: Iterable[str], addresses: Sequence[str], loads: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, str]]:
    """Which of its vGPUs a VM has on which of its GPUs: each has one, and none more than it can carry."""
    if not addresses:
        return
    loads = {address: loads.get(address, ()) for address in addresses}
    bare = list(addresses)
    for profile in sorted(profiles, key=lambda one: (-capacity.share(one), one)):
        fitting = [one for one in bare or addresses if capacity.together(tuple(sorted((*loads[one], profile))))]
        address = (fitting or bare or addresses)[0]
        loads[address] = tuple(sorted((*loads[address], profile)))
        bare = [one for one in bare if one != address]
        yield address, profile


def _moids(info: Data) -> set[str]:
    return {ref._GetMoId() for ref in info.vm or []}
