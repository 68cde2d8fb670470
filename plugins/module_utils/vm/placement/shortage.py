# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Shortages if not all VMs fit: which resource is short, by how much, and what would fit. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import (
    TYPE_CHECKING,
    Callable,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Tuple,
    TypedDict,
    TypeVar,
    cast,
)

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import alternatives, capacity, fit
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import DIRECT
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.search import Board

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import PresentVm, Rules, Vm, World
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.room import Room
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.search import Found

    T = TypeVar("T")
    # (resource, amount requested, amount missing), for all VMs and for those that lack it.
    Figure = Tuple[str, int, float]
    Figures = Callable[[Board, Sequence[Vm], Sequence[Vm]], Iterator[Figure]]

    class Shortage(TypedDict):
        """A resource that is short, as the result reports it."""

        resource: str
        wanted: int
        free: int
        short: int
        would_fit: str


# Blockers in the words of an operator.
WORDS = {
    "host": "host out of use",
    "switch": "not on the switch",
    "pvrdma": "not ready for PVRDMA",
    "anti_affinity": "has a VM of the job",
    "memory": "memory",
    "cpus": "CPU threads",
    "release": "vGPUs of one VM in this release",
    "profiles": "vGPU profile",
    "whole_gpus": "whole GPUs",
    "vfs": "virtual functions",
    "ports": "passed-through ports",
    "root": "GPU and port on different roots",
    "datastore": "datastore space",
}


def shortages(world: World, vms: Sequence[Vm], rules: Rules, found: Found) -> list[Shortage]:
    """Return one entry per resource that is short: resource, wanted, free, short, would_fit."""
    board = filled(world, vms, rules, found)
    against = by_kind(found.unplaced, lambda vm: decisive(board, vm))
    fixed = cast("list[PresentVm]", [vm for vm in found.unplaced if vm.present is not None and vm.present.fixed])
    entries = [_of_running(board, vm) for vm in fixed]
    names = {name for vm in found.unplaced if vm not in fixed for name in against[vm.name]}
    hints = alternatives.Alternatives(world, vms, rules, found)
    for name in [one for one in WORDS if one in names]:
        short = [vm for vm in found.unplaced if vm not in fixed and name in against[vm.name]]
        for resource, wanted, lacking in _FIGURES[name](board, vms, short):
            entries.append(_entry(resource, wanted, max(1, round(lacking)), hints.text(name, short)))
    return entries


def _entry(resource: str, wanted: int, short: int, would_fit: str) -> Shortage:
    free = max(0, wanted - short)
    return {"resource": resource, "wanted": free + short, "free": free, "short": short, "would_fit": would_fit}


def filled(world: World, vms: Sequence[Vm], rules: Rules, found: Found) -> Board:
    """The hosts as the plan leaves them."""
    board = Board(world, rules)
    for vm in vms:
        if vm.name in found.places:
            board.put(vm, found.places[vm.name])
    return board


def by_kind(vms: Sequence[Vm], report: Callable[[Vm], T]) -> dict[str, T]:
    """Return {VM name: report(vm)}, computed once for VMs that are alike."""
    reported: dict[tuple[Hashable, str], T] = {}
    for vm in vms:
        if (vm.kind, vm.job) not in reported:
            reported[vm.kind, vm.job] = report(vm)
    return {vm.name: reported[vm.kind, vm.job] for vm in vms}


def decisive(board: Board, vm: Vm) -> set[str]:
    """Return the blockers of a VM: each one that alone blocks it on some host, else those of the best host."""
    every = [fit.blockers(room, vm) for room in board.allowed(vm)]
    usable = [names for names in every if names and names != {"host"}]
    if not usable:
        return {"host"}
    least = min(map(len, usable))
    return set().union(*(names for names in usable if len(names) == least))


def why_unplaced(board: Board, vm: Vm) -> str:
    """The same in one line, with the number of hosts."""
    counts = Counter(name for room in board.allowed(vm) for name in fit.blockers(room, vm))
    if not counts:
        return "runs on another host than requested"
    return "; ".join(
        f"{WORDS[name]} ({counts[name]} host{'s' if counts[name] > 1 else ''})" for name in WORDS if counts[name]
    )


def _of_running(board: Board, vm: PresentVm) -> Shortage:
    """A VM that runs where it cannot stay; the plan does not move it."""
    home = board.rooms.get(vm.present.host)
    state = "runs" if vm.present.power == "on" else f"is {vm.present.power}"
    if home is None:
        # It moved there between the two requests, or its host was removed.
        why = f"it {state} on a host that was not requested; shut it down, so that it can move"
        return _entry(f"place of {vm.name}", 1, 1, why)
    if vm.pin and vm.pin != vm.present.host:
        reason = f"another host, {board.rooms[vm.pin].host.name}, was requested"
    else:
        names = fit.blockers(home, vm)
        reasons = ", ".join(WORDS[name] for name in WORDS if name in names) or "other VMs need it"
        reason = f"that host is not suitable: {reasons}"
    why = f"it {state} on {home.host.name}, and {reason}; shut it down, so that it can move"
    return _entry(f"place of {vm.name}", 1, 1, why)


def _paired(needs: Iterable[float], left: Iterable[float]) -> float:
    """Return the missing amount if each VM takes the host that has the most left."""
    left = sorted(left, reverse=True)
    return sum(
        max(0, need - (left[at] if at < len(left) else 0)) for at, need in enumerate(sorted(needs, reverse=True))
    )


def _rooms(board: Board, vm: Vm, name: str) -> list[Room]:
    return [room for room in board.allowed(vm) if name in fit.blockers(room, vm)]


def _profiles(board: Board, vms: Sequence[Vm], short: Sequence[Vm]) -> Iterator[Figure]:
    wanted = Counter(profile for vm in vms for profile in vm.profiles)
    for profile in sorted({profile for vm in short for profile in vm.profiles}):
        needs = [vm.profiles.count(profile) for vm in short if profile in vm.profiles]
        left = [_vgpus_left(room, profile) for room in _rooms(board, short[0], "profiles")]
        lacking = _paired(needs, left)
        # With several profiles in a VM, one of them may have enough space.
        if lacking or len({one for vm in short for one in vm.profiles}) == 1:
            yield f"vGPUs {profile}", wanted[profile], lacking


def _vgpus_left(room: Room, profile: str) -> int:
    if profile not in room.host.offered:
        return 0
    gpus = [replace(gpu, carries=room.loads[gpu.id]) for gpu in room.host.gpus if gpu.id not in room.held]
    there = sum(capacity.most(gpu, profile) for gpu in gpus)
    return min(there, room.limits.get(profile, there))


def _memory(board: Board, vms: Sequence[Vm], short: Sequence[Vm]) -> Iterator[Figure]:
    left = [room.memory_mb / 1024 for room in _rooms(board, short[0], "memory")]
    lacking = _paired([vm.need_mb / 1024 for vm in short], [max(0, one) for one in left])
    yield "memory GB", round(sum(vm.memory_mb for vm in vms) / 1024), lacking


def _whole_gpus(board: Board, vms: Sequence[Vm], short: Sequence[Vm]) -> Iterator[Figure]:
    left = [_whole_left(room) for room in _rooms(board, short[0], "whole_gpus")]
    yield "GPUs by passthrough", sum(vm.gpus for vm in vms), _paired([vm.gpus for vm in short], left)


def _whole_left(room: Room) -> int:
    there = sum(1 for gpu in room.host.gpus if gpu.mode == DIRECT and gpu.id not in room.held)
    return min(there, room.limits.get("", there))


def _ports_of(resource: str, name: str) -> Figures:
    def figures(board: Board, vms: Sequence[Vm], short: Sequence[Vm]) -> Iterator[Figure]:
        left = [_ports_left(room) for room in _rooms(board, short[0], name)]
        yield resource, sum(vm.nics for vm in vms), _paired([vm.nics for vm in short], left)

    return figures


def _ports_left(room: Room) -> int:
    if room.rules.path == "sriov":
        switch = room.switch
        return sum(left for pci, left in room.vfs.items() if not switch or room.nic_by_pci[pci].switch == switch)
    return sum(1 for nic in room.host.nics if nic.given and nic.pci not in room.ports_held)


def _datastore(board: Board, vms: Sequence[Vm], short: Sequence[Vm]) -> Iterator[Figure]:
    left = [
        board.stores[moid]
        for moid in {one for room in _rooms(board, short[0], "datastore") for one in room.host.datastores}
        if moid in board.stores
    ]
    moved = [vm.present.disk_gb for vm in short if vm.present is not None]
    new = [vm.disk_gb for vm in short if vm.present is None]
    wanted = sum(vm.disk_gb for vm in vms if vm.present is None) + sum(moved)
    yield "datastore GB", wanted, _paired(new + moved, left)


def _cpus(board: Board, vms: Sequence[Vm], short: Sequence[Vm]) -> Iterator[Figure]:
    most = max((room.host.threads for room in board.allowed(short[0])), default=0)
    wanted = max(vm.cpus for vm in short)
    yield "CPU threads of one host", wanted, wanted - most


def _per_vm(board: Board, vms: Sequence[Vm], short: Sequence[Vm]) -> Iterator[Figure]:
    largest = max(short, key=lambda vm: len(vm.profiles))
    most = max((fit.most_vgpus(room, largest) for room in board.allowed(largest)), default=0)
    yield "vGPUs of one VM in this release", len(largest.profiles), len(largest.profiles) - most


def _of_job(board: Board, vms: Sequence[Vm], short: Sequence[Vm]) -> Iterator[Figure]:
    for job in sorted({vm.job for vm in short}):
        size = sum(1 for vm in vms if vm.job == job)
        of = f" for job {job}" if job else ""
        yield f"hosts{of}, one per VM", size, sum(1 for vm in short if vm.job == job)


def _hosts(resource: str) -> Figures:
    def figures(board: Board, vms: Sequence[Vm], short: Sequence[Vm]) -> Iterator[Figure]:
        used = len({place.host for place in board.places.values()})
        apart = any(room.rules.anti_affinity for room in board.rooms.values())
        lacking = len(short) if apart else 1
        yield resource, used + lacking, lacking

    return figures


def _pairs(board: Board, vms: Sequence[Vm], short: Sequence[Vm]) -> Iterator[Figure]:
    yield "GPU and port on one PCIe root", len(vms), len(short)


_FIGURES: Mapping[str, Figures] = {
    "host": _hosts("usable hosts"),
    "switch": _hosts("hosts on the switch"),
    "pvrdma": _hosts("PVRDMA-ready hosts"),
    "anti_affinity": _of_job,
    "memory": _memory,
    "cpus": _cpus,
    "release": _per_vm,
    "profiles": _profiles,
    "whole_gpus": _whole_gpus,
    "vfs": _ports_of("virtual functions", "vfs"),
    "ports": _ports_of("passed-through ports", "ports"),
    "root": _pairs,
    "datastore": _datastore,
}
