# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Sums that no placement can avoid, so that the search ends early. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Iterable, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import parse
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import DIRECT, NONE

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import Vm
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.room import Room
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.search import Board


def exceeded(board: Board, vms: Sequence[Vm]) -> bool:
    """Return whether the remaining VMs need more of a resource than all hosts together have."""
    rooms = [room for room in board.rooms.values() if not room.host.out_of_use]
    if sum(vm.need_mb for vm in vms) > sum(max(0, room.memory_mb) for room in rooms):
        return True
    if sum(vm.disk_gb for vm in vms if vm.present is None) > sum(board.stores.values()):
        return True
    return _gpus(rooms, vms) or _ports(rooms, vms) or _jobs(rooms, vms)


def _gpus(rooms: Sequence[Room], vms: Sequence[Vm]) -> bool:
    wanted: Counter[str]
    there: Counter[str]
    wanted, there = Counter(), Counter()
    for vm in vms:
        for profile in vm.profiles:
            name = parse(profile)
            if name is not None:
                wanted[name.board] += name.gb
    direct = 0
    for room in rooms:
        for gpu in room.host.gpus:
            if gpu.mode == DIRECT:
                direct += gpu.id not in room.held
            elif gpu.mode != NONE and gpu.id not in room.held:
                there[gpu.board] += _free_gb(gpu.board, room.loads[gpu.id], room.host.offered)
    return sum(vm.gpus for vm in vms) > direct or any(gb > there[board] for board, gb in wanted.items())


def _free_gb(board: str, load: Iterable[str], offered: Iterable[str]) -> int:
    sizes = [name.gb for name in map(parse, offered) if name is not None and name.board == board]
    whole = max([catalogue.board_memory_gb(f"{board}-1c"), *sizes])
    return whole - sum(name.gb for name in map(parse, load) if name is not None)


def _ports(rooms: Sequence[Room], vms: Sequence[Vm]) -> bool:
    path = rooms[0].rules.path if rooms else ""
    wanted = sum(vm.nics for vm in vms)
    if path == "sriov":
        return wanted > sum(sum(room.vfs.values()) for room in rooms)
    if path == "passthrough":
        return wanted > sum(nic.given and nic.pci not in room.ports_held for room in rooms for nic in room.host.nics)
    return False


def _jobs(rooms: Sequence[Room], vms: Sequence[Vm]) -> bool:
    if not rooms or not rooms[0].rules.anti_affinity:
        return False
    sizes = Counter(vm.job for vm in vms)
    return any(size > sum(not room.jobs[job] for room in rooms) for job, size in sizes.items())
