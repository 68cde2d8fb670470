# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""One VM on one host: every possible placement, or the reasons why there is none. Pure."""

from __future__ import annotations

from itertools import chain, combinations, combinations_with_replacement, islice
from typing import TYPE_CHECKING, Collection, Iterator, List, Mapping, Sequence, Tuple, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import capacity
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import DIRECT, Place, Present

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import Gpus, Vm
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.room import Room

    # GPUs in the order in which they are tried, and how far that has come.
    _Run = Tuple[List[str], int]


# Most combinations of ports that are tried for one choice of GPUs.
_MOST_PORTS = 2000
# Maximum of GPU choices to try for GPUs that are close to each other.
_MOST_GPUS = 200
# Resource that a host lacks; the port for PVRDMA is part of the host's readiness for it.
_PORTS = {"sriov": "vfs", "passthrough": "ports"}
_NOWHERE = Present("", "", "", "off")


def first(room: Room, vm: Vm) -> Place | None:
    """Return the best placement on this host, or None."""
    return next(options(room, vm), None)


def options(room: Room, vm: Vm) -> Iterator[Place]:
    """Yield every distinct placement on this host, the best first."""
    if any(True for dummy in plain_blockers(room, vm)):
        return
    for gpus in _gpu_choices(room, vm):
        for nics in _nic_choices(room, vm, gpus, paired=not _is_running(room, vm)):
            nodes = nodes_of(room, vm, gpus, nics)
            for datastore in _datastores(room, vm):
                yield Place(room.host.moid, gpus, nics, nodes, datastore)


def blockers(room: Room, vm: Vm) -> set[str]:
    """Names of everything that keeps a VM off this host."""
    found = set(plain_blockers(room, vm))
    if "host" in found:
        return {"host"}
    gpus = next(_gpu_choices(room, vm), None)
    nics = next(_nic_choices(room, vm, gpus, paired=False), None) if gpus is not None else _any_nics(room, vm)
    if gpus is None:
        found.add("whole_gpus" if vm.gpus else "profiles")
    if nics is None and "switch" not in found and room.rules.path in _PORTS:
        found.add(_PORTS[room.rules.path])
    if next(_datastores(room, vm), None) is None:
        found.add("datastore")
    if not found and first(room, vm) is None:
        found.add("root")
    return found


def plain_blockers(room: Room, vm: Vm) -> Iterator[str]:
    """Yield the blockers that need no check of single devices."""
    host, rules = room.host, room.rules
    if host.out_of_use:
        yield "host"
        return
    wanted, there = (rules.switch, host.switches) if rules.switch else (rules.portgroup, host.portgroups)
    if wanted and wanted not in there:
        yield "switch"
    elif rules.path == "pvrdma" and host.pvrdma.get(rules.switch, "no switch"):
        yield "pvrdma"
    if rules.anti_affinity and room.jobs[vm.job]:
        yield "anti_affinity"
    if vm.need_mb > room.memory_mb and not _runs_here(room, vm, vm.present and vm.present.memory_mb >= vm.memory_mb):
        yield "memory"
    if vm.cpus > host.threads:
        yield "cpus"
    if len(vm.profiles) > 1 and host.release and len(vm.profiles) > most_vgpus(room, vm):
        yield "release"
    if any(_needs(vm, profile) > left for profile, left in room.limits.items()):
        yield "whole_gpus" if vm.gpus else "profiles"


def _needs(vm: Vm, profile: str) -> int:
    """Return how many vGPUs of a profile the VM needs; without a profile, how many whole GPUs."""
    return vm.profiles.count(profile) if profile else vm.gpus


def nodes_of(room: Room, vm: Vm, gpus: Gpus, nics: Sequence[str]) -> tuple[int, ...]:
    """The NUMA nodes that the VM must be on: those of its devices, all when it does not fit into these."""
    by_number = {node.number: node for node in room.host.nodes}
    if (vm.profiles or not (gpus or nics)) and _holds_affinity(room, vm):
        return tuple(sorted(_here(room, vm).nodes))
    wanted = cast(
        "set[int]",
        {room.gpu_by_id[gpu].numa for gpu, profile in gpus} or {room.nic_by_pci[pci].numa for pci in nics},
    )
    wanted = {number for number in wanted if number in by_number}
    if not wanted and by_number:
        wanted = {max(by_number, key=lambda number: (room.node_mb[number], -number))}
    if all(vm.memory_mb / len(wanted) <= room.node_mb[number] for number in wanted) and vm.cpus <= sum(
        by_number[number].cores for number in wanted
    ):
        return tuple(sorted(wanted))
    return tuple(sorted(by_number))


def _holds_affinity(room: Room, vm: Vm) -> bool:
    """Return whether a configured affinity stays: no device that the plan chooses determines the node of the VM."""
    here = _here(room, vm)
    there = {gpu.numa for gpu in room.host.gpus} if vm.profiles else set(room.node_mb)
    same = (here.memory_mb, here.cpus) == (vm.memory_mb, vm.cpus)
    return bool(here.nodes) and there.issuperset(here.nodes) and same


def most_vgpus(room: Room, vm: Vm) -> int:
    """Return the maximum of such vGPUs in one VM for the host's release."""
    release = room.host.release
    if room.host.offered and release < (8,) and not _whole(room, vm):
        return 1
    # 4 before vSphere 8.0 is commonly reported but not confirmed [unsure], hence the option.
    return room.rules.max_per_vm or (4 if release < (8,) else 8)


def _whole(room: Room, vm: Vm) -> bool:
    return all(catalogue.is_whole_gpu(profile, room.host.offered) for profile in vm.profiles)


def _runs_here(room: Room, vm: Vm, same: bool | Present | None) -> bool:
    """Return whether a VM already holds the required devices, so that estimates of free resources do not count."""
    return bool(same) and _is_running(room, vm)


def _is_running(room: Room, vm: Vm) -> bool:
    """Return whether the VM runs here: vSphere has already chosen its GPUs."""
    return vm.present is not None and vm.present.power == "on" and vm.present.host == room.host.moid


def _here(room: Room, vm: Vm) -> Present:
    """The VM as it is, where it is on this host."""
    return vm.present if vm.present is not None and vm.present.host == room.host.moid else _NOWHERE


def unchanged(room: Room, vm: Vm) -> bool:
    """Return whether a VM has exactly its required GPUs and ports on this host."""
    here = _here(room, vm)
    ports = [one for one in here.devices if one in room.nic_by_pci]
    return (
        sorted(here.profiles) == sorted(vm.profiles)
        and len([one for one in here.devices if one in room.gpu_by_id]) == vm.gpus
        and (len(ports) == vm.nics or room.rules.path not in _PORTS)
    )


def _gpu_choices(room: Room, vm: Vm) -> Iterator[Gpus]:
    here = _here(room, vm)
    if here.gpus and sorted(profile for gpu, profile in here.gpus) == sorted(vm.profiles):
        return iter([here.gpus])
    if vm.gpus:
        return _compact(room, here.devices, _whole_gpus(room, vm))
    if not vm.profiles:
        return iter([()])
    if any(profile not in room.host.offered for profile in vm.profiles):
        return iter(())
    profiles = sorted(vm.profiles, key=lambda profile: (-capacity.share(profile), profile))
    choices = _vgpus(room, vm, profiles, 0, dict(room.loads), (), None)
    return _compact(room, {gpu for gpu, dummy in here.gpus}, choices) if len(profiles) > 1 else choices


def _compact(room: Room, mine: Collection[str], choices: Iterator[Gpus]) -> Iterator[Gpus]:
    """The same choices, the GPUs that the VM has first, then those on the fewest nodes and roots."""
    first = list(islice(choices, _MOST_GPUS))
    number = len({gpu for gpu, dummy in first[0]}) if first else 0

    def apart(choice: Gpus) -> tuple[bool, int, int, int]:
        gpus = [room.gpu_by_id[gpu] for gpu in {gpu for gpu, dummy in choice}]
        return (
            # The policy decides how many GPUs share the vGPUs.
            len(gpus) != number,
            sum(gpu.id not in mine for gpu in gpus),
            len({gpu.numa for gpu in gpus}),
            len({gpu.root for gpu in gpus}),
        )

    return chain(sorted(first, key=apart), choices)


def _vgpus(
    room: Room,
    vm: Vm,
    profiles: Sequence[str],
    at: int,
    loads: dict[str, tuple[str, ...]],
    chosen: Gpus,
    run: _Run | None,
) -> Iterator[Gpus]:
    """Each profile in turn on a GPU; run: the candidates that equal profiles in a row share, and how far it is."""
    if at == len(profiles):
        yield tuple(sorted(chosen))
        return
    profile = profiles[at]
    again = run is not None and profiles[at - 1] == profile
    ranked, begin = cast("_Run", run) if again else (_ranked(room, vm, profile, loads), 0)
    numbers: Sequence[int] = range(begin, len(ranked))
    if again and room.rules.policy == "spread":
        numbers = [*numbers[1:], begin]
    seen = set()
    for number in numbers:
        gpu = ranked[number]
        load = tuple(sorted((*loads[gpu], profile)))
        kind = (room.gpu_class[gpu], loads[gpu], number == begin and again)
        if kind in seen or not capacity.carries(room.gpu_by_id[gpu], load):
            continue
        seen.add(kind)
        before, loads[gpu] = loads[gpu], load
        yield from _vgpus(room, vm, profiles, at + 1, loads, (*chosen, (gpu, profile)), (ranked, number))
        loads[gpu] = before


def _ranked(room: Room, vm: Vm, profile: str, loads: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return GPUs that could carry the profile, in the order of the policy; those that the VM has now come first."""
    board = capacity.board_in(profile)
    here = _here(room, vm)
    mine = {gpu for gpu, dummy in here.gpus}
    near = _roots_of_ports(room)
    sign = 1 if room.rules.policy == "spread" else -1
    candidates = [gpu for gpu in room.host.gpus if gpu.board == board and gpu.id not in room.held]
    candidates.sort(
        key=lambda gpu: (
            gpu.id not in mine,
            bool(here.nodes) and gpu.numa not in here.nodes,
            bool(near) and gpu.root not in near,
            gpu.numa in room.node_mb and room.node_mb[gpu.numa] < vm.memory_mb,
            sign * sum(map(capacity.share, loads[gpu.id])),
            gpu.id,
        )
    )
    return [gpu.id for gpu in candidates]


def _whole_gpus(room: Room, vm: Vm) -> Iterator[Gpus]:
    """GPUs of one board by passthrough, each counted once."""
    mine = _here(room, vm).devices
    near = _roots_of_ports(room)
    free = [gpu for gpu in room.host.gpus if gpu.mode == DIRECT and gpu.id not in room.held]
    free.sort(key=lambda gpu: (gpu.id not in mine, bool(near) and gpu.root not in near, gpu.id))
    seen = set()
    for group in combinations(free, vm.gpus):
        kind = tuple(sorted(repr(room.gpu_class[gpu.id]) for gpu in group))
        if len({gpu.device_id for gpu in group}) == 1 and kind not in seen:
            seen.add(kind)
            yield tuple(sorted((gpu.id, "") for gpu in group))


def _roots_of_ports(room: Room) -> set[str]:
    """Return the PCIe roots of ports that this plan could still assign; a GPU near one is worth more."""
    return {room.nic_by_pci[pci].root for pci in _free_ports(room)}


def _free_ports(room: Room) -> list[str]:
    rules = room.rules
    if rules.path == "passthrough":
        return [nic.pci for nic in room.host.nics if nic.given and nic.pci not in room.ports_held]
    if rules.path == "sriov":
        there = {pci for pci, left in room.vfs.items() if left > 0}
        return [pci for pci in there if not room.switch or room.nic_by_pci[pci].switch == room.switch]
    if rules.path == "pvrdma":
        return [nic.pci for nic in room.host.nics if nic.switch == rules.switch]
    return []


def _any_nics(room: Room, vm: Vm) -> tuple[str, ...] | None:
    return next(_nic_choices(room, vm, (), paired=False), None)


def _nic_choices(room: Room, vm: Vm, gpus: Gpus, paired: bool) -> Iterator[tuple[str, ...]]:
    """Ports for a VM with these GPUs, the nearest first; with GPUDirect each GPU needs one on its own root."""
    ports = _free_ports(room)
    if room.rules.path == "tcp" or not vm.nics:
        yield ()
        return
    if room.rules.path == "pvrdma":
        # The only uplink of the switch carries all adapters of a VM.
        if ports:
            yield (ports[0],)
        return
    roots = {room.gpu_by_id[gpu].root for gpu, profile in gpus}
    nodes = {room.gpu_by_id[gpu].numa for gpu, profile in gpus}
    mine = _here(room, vm).devices

    def far(pci: str) -> tuple[bool, bool, bool, int, str]:
        nic = room.nic_by_pci[pci]
        return (pci not in mine, nic.root not in roots, nic.numa not in nodes, -room.vfs.get(pci, 0), pci)

    ports.sort(key=far)
    shared = room.rules.path == "sriov"
    groups = (combinations_with_replacement if shared else combinations)(ports, vm.nics)
    sure = [group for group in islice(groups, _MOST_PORTS) if not shared or _has_functions(room, group)]
    sure.sort(key=lambda group: len(roots - {room.nic_by_pci[pci].root for pci in group}))
    for group in sure:
        covered = {room.nic_by_pci[pci].root for pci in group}
        if not (paired and room.rules.gpudirect) or roots <= covered:
            yield group


def _has_functions(room: Room, group: Sequence[str]) -> bool:
    return all(group.count(pci) <= room.vfs[pci] for pci in set(group))


def _datastores(room: Room, vm: Vm) -> Iterator[str]:
    """Datastores with space for a VM that is new, or whose own the host does not see; the emptiest first."""
    space_gb = vm.space_gb(room.host)
    if space_gb is None:
        yield ""
        return
    free = [(room.stores[moid], moid) for moid in room.host.datastores if room.stores.get(moid, -1) >= space_gb]
    free.sort(key=lambda entry: (-entry[0], entry[1]))
    yield from (moid for dummy, moid in free)
