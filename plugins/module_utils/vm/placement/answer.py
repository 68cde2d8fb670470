# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The plan in the user's terms. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, Sequence, TypedDict, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import capacity, fit, shortage
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import DIRECT
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.table import table

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import (
        Gpu,
        Nic,
        Place,
        PresentVm,
        Rules,
        Vm,
        World,
    )
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.room import Room
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.search import Board, Found
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.shortage import Shortage

    class HostEntry(TypedDict):
        """A host, as the result reports it."""

        name: str
        moid: str
        cluster: str
        usable: bool
        why_not: str | None
        memory_free_gb: int
        vms: list[object]
        waiting: list[str]
        pvrdma: dict[str, str]
        # As _host builds them; carries is a list of profiles.
        gpus: list[dict[str, Any]]

    class Answer(TypedDict):
        """The whole answer, as the result reports it."""

        fits: bool
        # As _entry builds them.
        vms: Sequence[Mapping[str, Any]]
        shortages: Sequence[Shortage]
        table: str
        hosts: list[HostEntry]


def answer(world: World, vms: Sequence[Vm], rules: Rules, found: Found, shortages: Sequence[Shortage]) -> Answer:
    """Return the whole answer."""
    board = shortage.filled(world, vms, rules, found)
    without = [vm for vm in vms if vm.name not in board.places]
    reasons = shortage.by_kind(without, lambda vm: shortage.why_unplaced(board, vm))
    entries = [_entry(world, board, vm, reasons.get(vm.name, "")) for vm in vms]
    return {
        "fits": not found.unplaced,
        "vms": entries,
        "shortages": shortages,
        "table": table(entries),
        "hosts": [_host(board.rooms[host.moid], entries) for host in world.hosts],
    }


def _entry(world: World, board: Board, vm: Vm, reason: str) -> dict[str, object]:
    place = board.places.get(vm.name)
    entry: dict[str, object] = {
        "name": vm.name,
        "moid": vm.present.moid if vm.present else None,
        "action": None,
        "host": None,
        "datastore": None,
        "gpus": [],
        "nics": [],
        "numa_nodes": [],
        "root": None,
        "nodes_apart": None,
        "switch": None,
        "why": reason,
    }
    if place is None:
        return entry
    room = board.rooms[place.host]
    action = "create" if vm.present is None else "keep" if vm.present.host == place.host else "move"
    gpus = [room.gpu_by_id[gpu] for gpu, profile in place.gpus]
    nics = [room.nic_by_pci[pci] for pci in place.nics]
    entry.update(
        action=action,
        host=room.host.name,
        datastore=world.datastores[place.datastore][0] if place.datastore else None,
        gpus=[
            dict(_device(gpu), id=gpu.id, board=gpu.title, profile=profile or None)
            for gpu, (dummy, profile) in zip(gpus, place.gpus)
        ],
        nics=[dict(_device(nic), device=nic.device or None, pci=nic.pci) for nic in nics],
        numa_nodes=list(place.nodes),
        root=_root(gpus, nics),
        nodes_apart=_nodes_apart(gpus, nics),
        switch=room.switch or None,
        why="; ".join(_why(world, board, room, vm, place, action, gpus, nics)),
    )
    return entry


def _device(one: Gpu | Nic) -> dict[str, str | None]:
    return {
        "vendor_id": one.vendor_id,
        "device_id": one.device_id,
        "label": one.label or None,
        "root": one.root or None,
    }


def _root(gpus: Sequence[Gpu], nics: Sequence[Nic]) -> str | None:
    """The roots that all GPUs have in common with the ports."""
    roots = {gpu.root for gpu in gpus} or {nic.root for nic in nics}
    if nics and not roots <= {nic.root for nic in nics}:
        return None
    return ", ".join(sorted(roots)) or None


def _nodes_apart(gpus: Sequence[Gpu], nics: Sequence[Nic]) -> dict[str, list[int]] | None:
    """Return the NUMA nodes of GPUs and ports if a GPU has no port on its own node; None if it has one, or if it is
    unknown."""
    mine, near = (
        cast("set[int]", {gpu.numa for gpu in gpus} - {None}),
        cast("set[int]", {nic.numa for nic in nics} - {None}),
    )
    return {"gpus": sorted(mine), "nics": sorted(near)} if mine and near and not mine <= near else None


def _why(
    world: World, board: Board, room: Room, vm: Vm, place: Place, action: str, gpus: Sequence[Gpu], nics: Sequence[Nic]
) -> Iterator[str]:
    if action == "keep":
        yield {"on": "runs here", "off": "is here already"}.get(
            cast("PresentVm", vm).present.power, f"{cast('PresentVm', vm).present.power} here"
        )
    elif action == "move":
        yield _leaves(world, board, cast("PresentVm", vm))
    elif vm.pin:
        yield "host as requested"
    elif room.rules.policy == "spread":
        yield "emptiest host" if not room.rules.anti_affinity else "one VM per host"
    else:
        yield "fills its host" if room.count > 1 else "next host"
    if gpus and nics:
        roots, nodes = {nic.root for nic in nics}, {nic.numa for nic in nics}
        if {gpu.root for gpu in gpus} <= roots:
            yield "GPU, NIC on one root"
        elif {gpu.numa for gpu in gpus} <= nodes:
            yield "GPU, NIC on one node"
        else:
            yield "GPU, NIC on different nodes"
    runs = action == "keep" and cast("PresentVm", vm).present.power == "on"
    if room.rules.gpudirect and vm.profiles and not runs and _other_roots(room, vm, nics):
        yield "vSphere may choose another GPU"
    if room.rules.gpudirect and not runs and _other_pairs(room, gpus, nics):
        yield "vSphere may choose other devices"
    devices = {one.numa for one in gpus or nics} - {None}
    if devices and not devices.issuperset(place.nodes):
        kept = vm.present is not None and sorted(vm.present.nodes) == list(place.nodes)
        yield "node affinity kept" if kept else "needs more than one node has"
    if room.host.waiting and (vm.profiles or vm.gpus):
        yield f"competes with {', '.join(room.host.waiting[:2])}{', ...' if len(room.host.waiting) > 2 else ''} (off)"
    if not vm.memory_mb:
        yield "memory unknown, not counted"


def _other_roots(room: Room, vm: Vm, nics: Iterable[Nic]) -> bool:
    """Return whether GPUs for the profile exist away from the VM's ports: vSphere chooses among all of them."""
    roots, boards = {nic.root for nic in nics}, {capacity.board_in(profile) for profile in vm.profiles}
    shared = (gpu for gpu in room.host.gpus if gpu.board in boards and capacity.carries(gpu, ()))
    return any(gpu.root not in roots for gpu in shared)


def _other_pairs(room: Room, gpus: Sequence[Gpu], nics: Sequence[Nic]) -> bool:
    """Return whether devices of Enhanced DirectPath I/O away from the VM's ports exist: vSphere chooses among them."""
    roots = {nic.root for nic in nics}
    others = {one.root for one in room.host.gpus if one.mode == DIRECT and not one.held_by}
    ports = {one.root for one in room.host.nics if one.given and not one.held_by}
    from_gpus = any(one.enhanced and one.mode == DIRECT for one in gpus) and not others <= roots
    return from_gpus or (any(one.enhanced for one in nics) and not ports <= roots)


def _leaves(world: World, board: Board, vm: PresentVm) -> str:
    old = board.rooms.get(vm.present.host)
    if old is None:
        return "comes from a host that was not requested"
    if vm.pin:
        return f"host as requested, leaves {old.host.name}"
    reasons = [shortage.WORDS[name] for name in shortage.WORDS if name in fit.blockers(old, vm)]
    return f"leaves {old.host.name} ({', '.join(reasons) or 'room for others'})"


def _host(room: Room, entries: Iterable[Mapping[str, object]]) -> HostEntry:
    host = room.host
    return {
        "name": host.name,
        "moid": host.moid,
        "cluster": host.cluster,
        "usable": not host.out_of_use,
        "why_not": host.out_of_use or None,
        "memory_free_gb": max(0, host.memory_free_mb // 1024),
        "vms": [entry["name"] for entry in entries if entry["host"] == host.name],
        "waiting": list(host.waiting),
        "pvrdma": {switch: why or "ready" for switch, why in sorted(host.pvrdma.items())},
        "gpus": [
            dict(
                _device(gpu),
                id=gpu.id,
                board=gpu.title,
                mode=gpu.mode,
                numa_node=gpu.numa,
                root=gpu.root,
                carries=list(gpu.carries),
                held_by=gpu.held_by or None,
            )
            for gpu in host.gpus
        ],
    }


def apart(result: Answer) -> list[str]:
    """Return the names of kept VMs whose GPUs and ports are on different roots."""
    kept = [one for one in result["vms"] if one["action"] == "keep"]
    return [one["name"] for one in kept if one["gpus"] and one["nics"] and one["root"] is None]


def remote(result: Answer) -> list[str]:
    """Sentences of VMs whose GPUs and ports are on different NUMA nodes."""
    return [_remote(one) for one in result["vms"] if one["nodes_apart"]]


def _remote(one: Mapping[str, Any]) -> str:
    gpus = _listed(gpu["id"] for gpu in one["gpus"])
    nics = _listed(nic["device"] or nic["pci"] for nic in one["nics"])
    nodes = one["nodes_apart"]
    return (
        f"{one['name']} on {one['host']}: the GPU {gpus} is on NUMA node {_listed(nodes['gpus'])}, and the port {nics} "
        f"on NUMA node {_listed(nodes['nics'])}."
    )


def _listed(values: Iterable[str | int]) -> str:
    return ", ".join(map(str, values))


def summary(result: Answer) -> str:
    """The plan in one line."""
    vms = result["vms"]
    hosts = {entry["host"] for entry in vms} - {None}
    spoken = (("create", "to create"), ("keep", "kept"), ("move", "to move"), (None, "without a host"))
    counts = [(sum(1 for entry in vms if entry["action"] == action), words) for action, words in spoken]
    reported = ", ".join(f"{count} {words}" for count, words in counts if count)
    return f"{_number(len(vms), 'VM')} on {_number(len(hosts), 'host')}: {reported}."


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
