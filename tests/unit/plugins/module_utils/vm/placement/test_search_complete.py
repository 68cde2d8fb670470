# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Small data centres are solved whenever they can be, which plain enumeration shows."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import fit, search
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import DIRECT, MIG, MIXED_SIZE
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.room import Room
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.search import Board, solve

from .worlds import GB, gpu, host, port, rules, split, there, vm, world


def random_case(chance):
    """A small data centre and a request, of all kinds of trouble."""
    path = chance.choice(["tcp", "tcp", "sriov", "passthrough"])
    direct = chance.random() < 0.2
    hosts = [_random_host(chance, number, path, direct) for number in range(1, chance.randint(2, 5))]
    jobs = chance.choice([[""], ["x", "y"]])
    vms = []
    for number in range(chance.randint(1, 6)):
        sizes = chance.choice([["40c"], ["20c"], ["10c"], ["20c", "20c"], ["3-20c"], ["1-5c"], ["2-10c", "1-5c"], []])
        more = {"gpus": chance.randint(0, 2)} if direct else {}
        now = None
        if chance.random() < 0.3:
            home = chance.choice(hosts)
            store = chance.choice(home.datastores)
            power = chance.choice(["off", "off", "on"])
            now = there(home.moid, power, moid=f"vm-{number}", datastores=(store,), disk_gb=60)
        pin = chance.choice(hosts).moid if chance.random() < 0.1 and now is None else ""
        vms.append(
            vm(
                f"v{number}",
                *([] if direct else sizes),
                memory_mb=chance.choice([16, 48, 64]) * GB,
                nics=0 if path == "tcp" else chance.randint(0, 2),
                disk_gb=chance.choice([0, 0, 60]),
                job=chance.choice(jobs),
                present=now,
                pin=pin,
                **more,
            )
        )
    held = rules(
        policy=chance.choice(["spread", "packed"]),
        anti_affinity=chance.random() < 0.4,
        gpudirect=path in ("sriov", "passthrough") and chance.random() < 0.5,
        path=path,
        switch="dvs" if path == "sriov" else "",
    )
    return world(*hosts, stores={"datastore-1": ("a", 100), "datastore-2": ("b", 70)}), vms, held


def _random_host(chance, number, path, direct):
    modes = [DIRECT] if direct else ["same_size", "same_size", MIG, MIXED_SIZE]
    gpus = [gpu(at, chance.choice(modes)) for at in range(chance.randint(1, 3))]
    gpus = [
        gpu(at, one.mode, carries=["grid_a100-20c"]) if one.mode == "same_size" and chance.random() < 0.2 else one
        for at, one in enumerate(gpus)
    ]
    make = {"sriov": lambda at: split(at, chance.randint(1, 2)), "passthrough": lambda at: port(at, given=True)}
    nics = [make[path](at) for at in range(chance.randint(1, 3))] if path in make else []
    stores = chance.choice([("datastore-1",), ("datastore-2",), ("datastore-1", "datastore-2")])
    return host(number, gpus=gpus, memory_gb=chance.choice([64, 128, 200]), nics=tuple(nics), datastores=stores)


def possible(there, vms, held):
    """Whether any assignment works, by trying them all without any cleverness about order or likeness."""
    board = Board(there, held)
    vms = running_first(vms)
    dead = set()

    def descend(at):
        if at == len(vms):
            return True
        state = (at, tuple(_plain_state(room) for room in board.rooms.values()), tuple(sorted(board.stores.items())))
        if state in dead:
            return False
        for room in board.allowed(vms[at]):
            for place in every_place(room, vms[at]):
                board.put(vms[at], place)
                if descend(at + 1):
                    return True
                board.lift(vms[at])
        dead.add(state)
        return False

    return descend(0)


def running_first(vms):
    """What runs holds its memory whatever is estimated to be free, so that it is no question of who comes first."""
    return sorted(vms, key=lambda one: one.present is None or not one.present.fixed)


def _plain_state(room):
    loads = tuple(sorted(room.loads.items()))
    ports = (tuple(sorted(room.vfs.items())), tuple(sorted(room.ports_held)))
    jobs = tuple(sorted(job for job, count in room.jobs.items() if count))
    return (room.memory_mb, loads, tuple(sorted(room.held)), ports, jobs)


def every_place(room, one):
    """Places by plain enumeration: every GPU for every profile, every group of ports."""
    if list(fit.plain_blockers(room, one)):
        return
    addresses = [found.id for found in room.host.gpus]
    if one.gpus:
        choices = [tuple((address, "") for address in group) for group in itertools.combinations(addresses, one.gpus)]
    else:
        choices = [
            tuple(zip(group, one.profiles, strict=True))
            for group in itertools.product(addresses, repeat=len(one.profiles))
        ]
    ports = itertools.product([nic.pci for nic in room.host.nics], repeat=one.nics)
    needed_gb = disk_gb(one, room.host)
    stores = room.host.datastores if needed_gb else ("",)
    for gpus, nics, store in itertools.product(choices, list(ports), stores):
        if _legal(room, one, gpus, nics, store):
            yield fit.Place(room.host.moid, gpus, nics, (), store)


def disk_gb(one, host):
    """Space on a datastore of this host: for a new VM, and for one whose datastore the host does not see."""
    if one.present is None:
        return one.disk_gb
    sees = one.present.host == host.moid or one.present.datastores[0] in host.datastores
    return 0 if sees else one.present.disk_gb


def _legal(room, one, gpus, nics, store):
    loads = dict(room.loads)
    for address, profile in gpus:
        if profile and profile not in room.host.offered:
            return False
        loads[address] = tuple(sorted((*loads[address], profile)))
        mode = room.gpu_by_id[address].mode
        if profile and not fit.capacity.carries(room.gpu_by_id[address], loads[address]):
            return False
        if not profile and (mode != DIRECT or address in room.held):
            return False
    for pci in nics:
        nic = room.nic_by_pci[pci]
        if nic.given and (nics.count(pci) > 1 or pci in room.ports_held):
            return False
        if not nic.given and nics.count(pci) > room.vfs.get(pci, 0):
            return False
    if room.rules.gpudirect and one.nics:
        roots = {room.gpu_by_id[address].root for address, profile in gpus}
        if not roots <= {room.nic_by_pci[pci].root for pci in nics}:
            return False
    return bool(store) == bool(disk_gb(one, room.host)) and room.stores.get(store, 1000) >= disk_gb(one, room.host)


@pytest.mark.parametrize("batch", range(6))
def test_a_small_world_is_solved_whenever_any_assignment_works(batch):
    chance = random.Random(1000 + batch)
    outcomes = Counter()
    for number in range(100):
        there, vms, held = random_case(chance)
        found = solve(there, vms, held)
        expected = possible(there, vms, held)
        assert (not found.unplaced) == expected, f"case {number} of batch {batch}"
        if expected:
            _assert_legal(there, vms, held, found)
        outcomes[expected] += 1
    assert min(outcomes.values()) > 10, outcomes


@pytest.mark.parametrize("batch", range(4))
def test_vms_that_fill_their_hosts_to_the_last_megabyte_are_placed(batch):
    """Made from a solution that is then forgotten, so that there always is one and mostly not a second."""
    chance = random.Random(2000 + batch)
    for number in range(25):
        hosts, vms = [], []
        for at in range(1, 4):
            mine = [vm("", memory_mb=chance.randint(10, 60) * GB, cpus=chance.randint(1, 4)) for _one in range(2)]
            hosts.append(replace(host(at), memory_free_mb=sum(one.need_mb for one in mine)))
            vms += mine
        vms = [replace(one, name=f"v{at}") for at, one in enumerate(vms)]
        assert not solve(world(*hosts), vms, rules()).unplaced, f"case {number} of batch {batch}"


def _assert_legal(there, vms, held, found):
    """The plan itself, checked place by place by the plain rules."""
    board = Board(there, held)
    for one in running_first(vms):
        place = found.places[one.name]
        room = board.rooms[place.host]
        assert place.host in [allowed.host.moid for allowed in board.allowed(one)]
        assert not list(fit.plain_blockers(room, one))
        assert _legal(room, one, place.gpus, place.nics, place.datastore)
        assert sorted(profile for address, profile in place.gpus if profile) == sorted(one.profiles)
        board.put(one, place)


def test_a_search_that_is_given_up_leaves_the_board_as_it_was():
    board = Board(world(host(1)), rules())
    vms = [vm("a", "40c"), vm("b", "40c")]
    before = board.rooms["host-1"].signature()
    assert search.Exact(board, vms, 1000).run() is False
    assert (board.places, board.rooms["host-1"].signature()) == ({}, before)


DIFFERENT = {
    "cluster": {"cluster": "other"},
    "threads": {"threads": 64},
    "version": {"version": "7.0.3"},
    "out of use": {"out_of_use": "in maintenance mode"},
    "profiles": {"offered": frozenset()},
    "switches": {"switches": frozenset()},
    "datastores": {"datastores": ("datastore-2",)},
    "PVRDMA": {"pvrdma": {"dvs": 3}},
    "switch of the port group": {"portgroups": {"pg": "dvs"}},
    "ports": {"nics": (port(1),)},
}


@pytest.mark.parametrize("change", DIFFERENT.values(), ids=DIFFERENT)
def test_hosts_that_differ_do_not_stand_for_each_other(change):
    requested = rules(switch="dvs") if "pvrdma" in change else rules(portgroup="pg")
    plain, same, other = (Room(one, {}, requested) for one in (host(1), host(2), host(3, **change)))
    assert plain.alike == same.alike
    assert plain.alike != other.alike


def test_gpus_with_and_without_a_numa_node_can_be_in_one_host():
    known, unknown = gpu(1), replace(gpu(0), numa=None)
    rooms = [Room(host(1, gpus=gpus), {}, rules()) for gpus in ([known, unknown], [unknown, known], [known, known])]
    first, turned, other = (room.signature() for room in rooms)
    assert first == turned
    assert first != other
