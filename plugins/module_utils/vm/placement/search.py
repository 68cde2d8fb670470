# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Place all VMs: correct placements stay, the rest goes by difficulty, failures are repaired. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Collection, Hashable, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import bounds, capacity, fit
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.exact import Exact
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.room import Room

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import (
        Place,
        Present,
        PresentVm,
        Rules,
        Vm,
        World,
    )


# Above this many hosts a complete search is hopeless, and single exchanges are tried alone.
SMALL = 16
# Up to this many VMs and hosts the search is complete in practice, beyond them it takes a second at most.
FEW_VMS, FEW_HOSTS, BUDGET, SHORT_BUDGET = 8, 4, 20000, 300
# Maximum of unplaced VMs for which exchanges are tried; with more of them a resource is clearly short.
REPAIRED = 32
# Maximum of hosts in the search for the smallest set.
PACKED = 8


@dataclass
class Found:
    """Result of a search: {VM name: Place}, and the VMs without one."""

    places: dict[str, Place] = field(default_factory=dict)
    unplaced: list[Vm] = field(default_factory=list)
    # True if it is proven that not all VMs fit.
    hopeless: bool = False


def solve(world: World, vms: Sequence[Vm], rules: Rules) -> Found:
    """Return placements for all VMs if possible, else for as many as fit."""
    best: Found | None = None
    movable = any(vm.present is not None and not vm.present.fixed for vm in vms)
    for keep in (True, False) if movable else (True,):
        for policy in (rules.policy, *(one for one in ("spread", "packed") if one != rules.policy)):
            found = _attempt(world, vms, replace(rules, policy=policy), keep)
            if not found.unplaced:
                return _fewest_hosts(world, vms, rules, found) if rules.policy == "packed" else found
            if best is None or len(found.unplaced) < len(best.unplaced):
                best = found
            if found.hopeless:
                break
    return cast(Found, best)


def greedy(world: World, vms: Sequence[Vm], rules: Rules) -> Found:
    """Search without completeness: enough to report what would fit."""
    board = Board(world, rules)
    board.settle(vms, True)
    return board.place(by_difficulty(vms, board))


def by_difficulty(vms: Sequence[Vm], board: Board) -> list[Vm]:
    """Sort VMs without a choice first, then the largest; equal ones in the order of the request."""
    order = {vm.name: number for number, vm in enumerate(vms)}
    classes: dict[Hashable, int] = {}
    for vm in vms:
        classes.setdefault(vm.kind, len(classes))

    def difficulty(vm: Vm) -> tuple[float, ...]:
        return (
            not (vm.present is not None and vm.present.fixed),
            not vm.pin,
            -vm.gpus,
            -sum(map(capacity.share, vm.profiles)),
            -max(map(capacity.share, vm.profiles), default=0),
            -vm.memory_mb,
            -vm.nics,
            classes[vm.kind],
            order[vm.name],
        )

    return sorted((vm for vm in vms if vm.name not in board.places), key=difficulty)


class Board:
    """Remaining resources of all hosts, with the placements so far."""

    def __init__(self, world: World, rules: Rules, only: Collection[str] | None = None) -> None:
        self.stores = {moid: free for moid, (name, free) in world.datastores.items()}
        self.rooms = {
            host.moid: Room(host, self.stores, rules) for host in world.hosts if only is None or host.moid in only
        }
        self.number = {moid: at for at, moid in enumerate(self.rooms)}
        self.policy = rules.policy
        self.places: dict[str, Place] = {}
        self.vms: dict[str, Vm] = {}

    def put(self, vm: Vm, place: Place) -> None:
        self.rooms[place.host].take(vm, place)
        self.places[vm.name] = place
        self.vms[vm.name] = vm

    def lift(self, vm: Vm) -> Place:
        place = self.places.pop(vm.name)
        self.rooms[place.host].release(vm, place)
        return place

    def allowed(self, vm: Vm) -> list[Room]:
        """The rooms that a VM may go to."""
        home = vm.present.host if vm.present is not None else ""
        if vm.present is not None and vm.present.fixed:
            return [self.rooms[home]] if home in self.rooms and vm.pin in ("", home) else []
        if vm.pin:
            return [self.rooms[vm.pin]] if vm.pin in self.rooms else []
        return list(self.rooms.values())

    def settle(self, vms: Sequence[Vm], keep: bool) -> None:
        """Keep VMs on their hosts: all running ones, and with keep the powered-off ones in a good place."""
        there = cast("list[PresentVm]", [vm for vm in vms if vm.present is not None and vm.present.host in self.rooms])
        there = [vm for vm in there if vm.pin in ("", vm.present.host)]
        staying = [vm for vm in there if vm.present.fixed]
        if keep:
            staying += [vm for vm in there if not vm.present.fixed]
        # A VM keeps its resources; they are not free for a VM that must get other ones.
        staying.sort(key=lambda vm: (not vm.present.fixed, not fit.unchanged(self.rooms[vm.present.host], vm)))
        for vm in staying:
            place = fit.first(self.rooms[vm.present.host], vm)
            if place is not None:
                self.put(vm, place)

    def place(self, vms: Sequence[Vm]) -> Found:
        """Place each VM on the best host with space; hosts that were full for a kind of VM are not tried again."""
        alive: dict[Hashable, list[Room]]
        unplaced: list[Vm]
        alive, unplaced = {}, []
        for vm in vms:
            rooms = alive.setdefault(vm.kind, self.allowed(vm))
            place = self._best(vm, rooms)
            if place is None:
                unplaced.append(vm)
            else:
                self.put(vm, place)
        return Found(dict(self.places), unplaced)

    def repair(self, vm: Vm, settled: bool = False) -> bool:
        """Free space by moving one other new VM, with settled one existing powered-off VM; return whether it worked."""
        by_host: dict[str, dict[tuple[Hashable, str], Vm]] = {}
        for name, place in self.places.items():
            other = self.vms[name]
            moves = other.present is None or (settled and not other.present.fixed)
            if moves and not other.pin and other.kind != vm.kind:
                by_host.setdefault(place.host, {}).setdefault((other.kind, other.job), other)
        for room in self.allowed(vm):
            for other in by_host.get(room.host.moid, {}).values():
                if self._exchange(vm, room, other):
                    return True
        return False

    def _exchange(self, vm: Vm, room: Room, other: Vm) -> bool:
        before = self.lift(other)
        place = fit.first(room, vm)
        if place is not None:
            self.put(vm, place)
            elsewhere = self._best(other, [one for one in self.allowed(other) if one is not room])
            if elsewhere is not None:
                self.put(other, elsewhere)
                return True
            self.lift(vm)
        self.put(other, before)
        return False

    def _best(self, vm: Vm, rooms: list[Room]) -> Place | None:
        for room in sorted(rooms, key=lambda room: self.rank(vm, room)):
            place = fit.first(room, vm)
            if place is not None:
                return place
            # A full host stays full, whereas another job may still go where this one has a VM already.
            if not (room.rules.anti_affinity and room.jobs[vm.job]):
                rooms.remove(room)
        return None

    def rank(self, vm: Vm, room: Room) -> tuple[int, ...]:
        """Rank a host for a VM: its own host first, then by the policy."""
        away = vm.present is None or vm.present.host != room.host.moid
        if self.policy == "spread":
            return (away, room.count, room.jobs[vm.job], room.host.running, self.number[room.host.moid])
        spare = len(room.loads) - room.busy_gpus()
        return (away, not room.count, -room.count, not room.host.running, -spare, self.number[room.host.moid])


def _attempt(world: World, vms: Sequence[Vm], rules: Rules, keep: bool, only: Collection[str] | None = None) -> Found:
    board = Board(world, rules, only)
    board.settle(vms, keep)
    left = by_difficulty(vms, board)
    hopeless = bounds.exceeded(board, left)
    found = board.place(left)
    if not found.unplaced or hopeless:
        return replace(found, hopeless=hopeless)
    if len(found.unplaced) <= REPAIRED:
        found.unplaced = [vm for vm in found.unplaced if not board.repair(vm)]
        found.places = dict(board.places)
    if found.unplaced and len(board.rooms) <= SMALL and (only is None or len(vms) <= FEW_VMS):
        again = Board(world, rules, only)
        again.settle(vms, keep)
        few = len(vms) <= FEW_VMS and len(board.rooms) <= FEW_HOSTS
        exact = Exact(again, by_difficulty(vms, again), BUDGET if few else SHORT_BUDGET)
        if exact.run():
            return Found(dict(again.places), [])
        found.hopeless = not exact.gave_up
    if keep and len(found.unplaced) <= REPAIRED:
        # Moving one VM is better than a plan that places all of them again.
        found.unplaced = [vm for vm in found.unplaced if not board.repair(vm, settled=True)]
        found.places = dict(board.places)
    return found


def _fewest_hosts(world: World, vms: Sequence[Vm], rules: Rules, found: Found) -> Found:
    """The same VMs on fewer hosts, where there are few enough hosts to try all sets of them."""
    used = {place.host for place in found.places.values()}
    usable = [host.moid for host in world.hosts if not host.out_of_use]
    if len(usable) > PACKED or len(vms) > PACKED * 4:
        return found
    bound = {vm.pin or cast("Present", vm.present).host for vm in vms if vm.pin or vm.present is not None}
    others = [moid for moid in usable if moid not in bound]
    for size in range(max(1, len(bound)), len(used)):
        for more in combinations(others, max(0, size - len(bound))):
            fewer = _attempt(world, vms, rules, True, bound | set(more))
            if not fewer.unplaced:
                return fewer
    return found
