# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What is there stays, and what moves goes where it can be."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import DIRECT
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.search import solve

from .worlds import GB, gpu, host, port, rules, there, vm, world


def placed(found):
    return {name: place.host for name, place in found.places.items()}


def test_vms_that_exist_keep_their_places_when_one_is_added():
    hosts = [host(number, gpus=2) for number in (1, 2)]
    old = [vm(f"v{number}", "40c", present=there("host-2", moid=f"vm-{number}")) for number in range(2)]
    found = solve(world(*hosts), [*old, vm("new", "40c")], rules())
    assert placed(found) == {"v0": "host-2", "v1": "host-2", "new": "host-1"}


def test_a_new_vm_does_not_take_the_gpu_of_one_that_is_there_and_off():
    old = vm("old", "20c", present=there("host-1"))
    assert placed(solve(world(host(1), host(2)), [old, vm("new", "40c")], rules())) == {
        "old": "host-1",
        "new": "host-2",
    }


def test_a_vm_that_is_off_moves_when_its_host_lacks_what_it_needs():
    found = solve(world(host(1, gpus=0), host(2)), [vm("a", "40c", present=there("host-1"))], rules())
    assert placed(found) == {"a": "host-2"}


@pytest.mark.parametrize("policy", ["spread", "packed"])
@pytest.mark.parametrize("number", [3, 20])
def test_only_the_vm_that_is_in_the_way_leaves_its_place(number, policy):
    hosts = [host(at) for at in range(1, number + 1)]
    off = [vm(f"v{at}", "40c", present=there(f"host-{at}", moid=f"vm-{at}")) for at in range(1, number)]
    bound = vm("bound", "40c", pin="host-1")
    places = placed(solve(world(*hosts), [*off, bound], rules(policy=policy)))
    expected = {f"v{at}": f"host-{at}" for at in range(2, number)}
    assert places == {**expected, "bound": "host-1", "v1": f"host-{number}"}


def test_a_vm_that_is_off_makes_way_for_one_that_runs_and_for_one_that_is_pinned():
    off, bound = vm("a", "40c", present=there("host-1")), vm("b", "40c", pin="host-1")
    assert placed(solve(world(host(1), host(2)), [off, bound], rules())) == {"a": "host-2", "b": "host-1"}


@pytest.mark.parametrize("power", ["on", "suspended"])
def test_a_vm_that_runs_is_never_moved_even_if_that_leaves_it_without_a_place(power):
    running = vm("a", "40c", present=there("host-1", power))
    found = solve(world(host(1, gpus=0), host(2)), [running], rules())
    assert (found.places, found.unplaced) == ({}, [running])


def test_a_vm_that_runs_with_what_it_shall_have_keeps_its_gpu_whatever_else_is_thought_of_it():
    held = (("0000:11:00.0", "grid_a100-40c"),)
    now = there("host-1", "on", profiles=("grid_a100-40c",), gpus=held, memory_mb=64 * GB)
    found = solve(world(host(1, gpus=2, memory_gb=1)), [vm("a", "40c", present=now)], rules())
    assert found.places["a"].gpus == held


FIRST, SECOND = gpu(0).id, gpu(1).id


def running_with(profile, moid, **more):
    held = f"grid_a100-{profile}"
    return there("host-1", "on", gpus=((FIRST, held),), profiles=(held,), moid=moid, **more)


def test_a_vm_whose_profile_changes_does_not_take_the_gpu_of_one_that_keeps_its_own():
    changed = vm("a", "10c", present=running_with("20c", "vm-1"))
    kept = vm("b", "20c", present=running_with("20c", "vm-2"))
    places = solve(world(host(1, gpus=2)), [changed, kept], rules()).places
    assert places["b"].gpus == ((FIRST, "grid_a100-20c"),)
    assert places["a"].gpus == ((SECOND, "grid_a100-10c"),)


def test_a_changed_profile_that_has_no_room_beside_the_others_is_reported():
    changed = vm("a", "10c", present=running_with("20c", "vm-1"))
    kept = vm("b", "20c", present=running_with("20c", "vm-2"))
    found = solve(world(host(1, gpus=1)), [changed, kept], rules())
    assert [one.name for one in found.unplaced] == ["a"]


@pytest.mark.parametrize("power", ["on", "off"])
def test_a_vm_that_gets_another_port_does_not_take_that_of_its_neighbour(power):
    ports = [port(number, node=0, given=True) for number in range(3)]
    more = vm("a", nics=2, present=there("host-1", power, devices=(ports[2].pci,), moid="vm-1"))
    kept = vm("b", nics=1, present=there("host-1", power, devices=(ports[0].pci,), moid="vm-2"))
    places = solve(world(host(1, nics=tuple(ports))), [more, kept], rules(path="passthrough")).places
    assert places["b"].nics == (ports[0].pci,)
    assert set(places["a"].nics) == {ports[1].pci, ports[2].pci}


def test_a_vm_that_gets_another_gpu_by_passthrough_does_not_take_that_of_its_neighbour():
    gpus = [gpu(number, DIRECT, node=0) for number in range(3)]
    more = vm("a", gpus=2, present=there("host-1", "on", devices=(gpus[2].id,), moid="vm-1"))
    kept = vm("b", gpus=1, present=there("host-1", "on", devices=(gpus[0].id,), moid="vm-2"))
    places = solve(world(host(1, gpus=gpus)), [more, kept], rules()).places
    assert places["b"].gpus == ((gpus[0].id, ""),)


def test_a_second_plan_of_vms_without_devices_leaves_their_nodes_as_they_are():
    vms = [vm(f"v{number}", memory_mb=size * GB) for number, size in enumerate((64, 100, 32, 200))]
    hosts = world(host(1), host(2))
    first = solve(hosts, vms, rules()).places
    now = [
        there(first[one.name].host, "on", nodes=first[one.name].nodes, memory_mb=one.memory_mb, moid=one.name)
        for one in vms
    ]
    again = [replace(one, present=present) for one, present in zip(vms, now, strict=True)]
    assert solve(hosts, again, rules()).places == first


def test_a_vm_that_runs_on_another_host_than_asked_for_is_reported_and_not_called_right():
    running = vm("a", pin="host-2", present=there("host-1", "on"))
    found = solve(world(host(1), host(2)), [running], rules())
    assert (found.places, found.unplaced) == ({}, [running])


STORES = {"near": ("near", 1000), "far": ("far", 100)}


@pytest.mark.parametrize(
    "datastores, size_gb, place",
    [
        pytest.param(("near",), 50, ("host-2", "far"), id="its files move along"),
        pytest.param(("near",), 101, None, id="its files find no space"),
        pytest.param(("near", "shared"), 50, ("host-2", "far"), id="half of its files is seen"),
        pytest.param(("shared",), 101, ("host-2", ""), id="its files are seen from there"),
        pytest.param((), 0, ("host-2", ""), id="nobody knows where its files are"),
    ],
)
def test_a_vm_moves_only_where_its_files_are_seen_or_have_space(datastores, size_gb, place):
    hosts = [host(1, gpus=0, datastores=("near", "shared")), host(2, datastores=("far", "shared"))]
    moving = vm("a", "40c", present=there("host-1", datastores=datastores, disk_gb=size_gb))
    found = solve(world(*hosts, stores=STORES), [moving], rules()).places.get("a")
    assert (found and (found.host, found.datastore)) == place


def test_two_vms_that_move_share_the_space_there():
    hosts = [host(1, gpus=0, datastores=("near",)), host(2, gpus=2, datastores=("far",))]
    moving = [vm(name, "40c", present=there("host-1", datastores=("near",), disk_gb=60, moid=name)) for name in "ab"]
    found = solve(world(*hosts, stores=STORES), moving, rules())
    assert (sorted(found.places), [one.name for one in found.unplaced]) == (["a"], ["b"])


def test_one_of_two_vms_that_are_off_leaves_the_host_they_share():
    vms = [vm(name, "40c", present=there("host-1", moid=name)) for name in ("a", "b")]
    found = solve(world(host(1, gpus=2), host(2, gpus=2)), vms, rules(anti_affinity=True))
    assert placed(found) == {"a": "host-1", "b": "host-2"}


def test_one_makes_way_after_two_had_to_leave_their_places():
    hosts = [
        host(1, gpus=2, memory_gb=512),
        *(host(at, gpus=gpus, memory_gb=300) for at, gpus in ((2, 2), (3, 4), (4, 4))),
    ]
    off = [vm(name, "40c", "40c", present=there("host-3", moid=f"vm-{name}")) for name in ("p", "q")]
    new = [vm("wide", "40c", "40c"), vm("bound", *["40c"] * 4, pin="host-3"), vm("large", "40c", memory_mb=400 * GB)]
    found = solve(world(*hosts), [*new, *off], rules())
    assert found.unplaced == []
    assert placed(found) == {"bound": "host-3", "large": "host-1", "wide": "host-4", "p": "host-2", "q": "host-4"}
