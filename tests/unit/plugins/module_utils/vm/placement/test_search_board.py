# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The board of the search: which hosts a VM may go to, and which of them it prefers."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import fit, search
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.search import Board

from .worlds import GB, gpu, host, port, rules, split, there, vm, world


def board(*hosts, stores=None, **held):
    return Board(world(*(hosts or (host(1), host(2), host(3))), stores=stores), rules(**held))


def moids(rooms):
    return [room.host.moid for room in rooms]


@pytest.mark.parametrize(
    "one, allowed",
    [
        (vm(), ["host-1", "host-2", "host-3"]),
        (vm(pin="host-2"), ["host-2"]),
        (vm(pin="host-9"), []),
        (vm(present=there("host-2", "on")), ["host-2"]),
        (vm(present=there("host-9", "on")), []),
        (vm(present=there("host-2", "on"), pin="host-2"), ["host-2"]),
        (vm(present=there("host-2", "on"), pin="host-1"), []),
        (vm(present=there("host-2", "off")), ["host-1", "host-2", "host-3"]),
        (vm(present=there("host-2", "off"), pin="host-1"), ["host-1"]),
    ],
)
def test_where_a_vm_may_go(one, allowed):
    assert moids(board().allowed(one)) == allowed


@pytest.mark.parametrize("policy, before", [("spread", ["host-3", "host-2", "host-1"]), ("packed", ["host-1"])])
def test_hosts_are_preferred_by_the_policy(policy, before):
    there_is = board(host(1), host(2, running=2), host(3), policy=policy)
    for name in ("x", "y"):
        one = vm(name)
        there_is.put(one, fit.first(there_is.rooms["host-1"], one))
    order = sorted(there_is.rooms.values(), key=lambda room: there_is.rank(vm("new"), room))
    assert moids(order)[: len(before)] == before
    home = vm("new", present=there("host-2", "off"))
    assert moids(sorted(there_is.rooms.values(), key=lambda room: there_is.rank(home, room)))[0] == "host-2"


def test_packing_prefers_hosts_where_vms_run_and_few_gpus_are_free():
    order = board(host(1), host(2, running=1), host(3, running=1, gpus=2), policy="packed")
    ranked = sorted(order.rooms.values(), key=lambda room: order.rank(vm("new"), room))
    assert moids(ranked)[-1] == "host-1"


def test_a_vm_that_is_lifted_leaves_its_room():
    found = board(host(1))
    one = vm("a", "40c")
    place = fit.first(found.rooms["host-1"], one)
    found.put(one, place)
    assert (found.places, fit.first(found.rooms["host-1"], vm("b", "40c"))) == ({"a": place}, None)
    assert found.lift(one) == place
    assert (found.places, fit.first(found.rooms["host-1"], vm("b", "40c")) is None) == ({}, False)


@pytest.mark.parametrize(
    "vms, keep, placed",
    [
        ([vm("a", present=there("host-1", "on"))], False, ["a"]),
        ([vm("a", present=there("host-1", "off"))], False, []),
        ([vm("a", present=there("host-1", "off"))], True, ["a"]),
        ([vm("a", present=there("host-1", "off"), pin="host-2")], True, []),
        ([vm("a", present=there("host-9", "on"))], True, []),
        ([vm("a", present=there("host-1", "off"), memory_mb=900 * GB)], True, []),
        ([vm("a")], True, []),
    ],
)
def test_vms_that_stay_are_settled_first(vms, keep, placed):
    found = board()
    found.settle(vms, keep)
    assert sorted(found.places) == placed


def test_vms_without_a_choice_and_large_ones_are_placed_first():
    vms = [
        vm("small"),
        vm("nics", nics=2),
        vm("memory", memory_mb=128 * GB),
        vm("slice", "20c"),
        vm("slices", "20c", "20c"),
        vm("vgpu", "40c"),
        vm("gpus", gpus=2),
        vm("pinned", pin="host-1"),
        vm("runs", present=there("host-1", "on")),
        vm("small-too"),
    ]
    order = [one.name for one in search.by_difficulty(vms, board())]
    assert order == ["runs", "pinned", "gpus", "vgpu", "slices", "slice", "memory", "nics", "small", "small-too"]


def test_a_full_host_is_full_for_vms_of_the_same_kind_but_not_for_another_job():
    found = board(host(1, gpus=4), host(2, gpus=4), anti_affinity=True)
    vms = [vm(f"{job}{number}", "40c", job=job) for job in "xy" for number in range(3)]
    result = found.place(vms)
    assert sorted(result.places) == ["x0", "x1", "y0", "y1"]
    assert [one.name for one in result.unplaced] == ["x2", "y2"]


@pytest.mark.parametrize(
    "one, found",
    [
        (vm(disk_gb=60), ["large", "exact"]),
        (vm(disk_gb=61), ["large"]),
        (vm(disk_gb=101), []),
        (vm(), [""]),
        (vm(disk_gb=60, present=there("host-1", disk_gb=99)), [""]),
        (vm(disk_gb=60, present=there("host-2", disk_gb=99, datastores=("large",))), [""]),
        (vm(disk_gb=10, present=there("host-2", disk_gb=99, datastores=("far",))), ["large"]),
    ],
)
def test_datastores_with_room_are_taken_the_emptiest_first(one, found):
    stores = {"exact": ("exact", 60), "large": ("large", 100), "small": ("small", 5), "far": ("far", 900)}
    rooms = board(host(1, datastores=("small", "exact", "large", "gone")), stores=stores).rooms
    assert list(fit._datastores(rooms["host-1"], one)) == found


@pytest.mark.parametrize(
    "ports, gpus, path, nics, chosen",
    [
        ([split(0), split(1)], [gpu(1)], "sriov", 1, [1]),
        ([split(0), split(1)], [gpu(0)], "sriov", 1, [0]),
        ([split(0, 4), split(2, 8)], [gpu(0)], "sriov", 1, [2]),
        ([split(2, 8), split(0, 8)], [gpu(0)], "sriov", 1, [0]),
        ([split(0, 1), split(2, 1)], [gpu(0)], "sriov", 2, [0, 2]),
        ([split(0, 2)], [gpu(0)], "sriov", 2, [0, 0]),
        ([port(0, given=True), port(1, given=True)], [gpu(1)], "passthrough", 1, [1]),
        ([port(0, given=True), port(2, given=True)], [gpu(0)], "passthrough", 2, [0, 2]),
        ([split(0)], [gpu(0)], "sriov", 0, []),
        ([split(0)], [gpu(0)], "tcp", 1, []),
    ],
)
def test_the_nearest_ports_are_taken(ports, gpus, path, nics, chosen):
    found = board(host(1, gpus=gpus, nics=tuple(ports)), path=path, switch="dvs" if path == "sriov" else "")
    place = fit.first(found.rooms["host-1"], vm("a", "40c", nics=nics))
    assert list(place.nics) == [port(number).pci for number in chosen]
