# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import bounds
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import DIRECT
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.search import Board, solve

from .worlds import GB, gpu, host, port, rules, split, vm, world


def placed(found):
    return {name: place.host for name, place in found.places.items()}


def test_spread_is_as_even_as_the_hosts_allow():
    hosts = [host(number, gpus=4) for number in (1, 2, 3)]
    found = solve(world(*hosts), [vm(f"v{number}", "10c") for number in range(8)], rules())
    assert sorted(Counter(placed(found).values()).values()) == [2, 3, 3]


def test_packed_uses_as_few_hosts_and_gpus_as_possible():
    hosts = [host(number, gpus=2) for number in (1, 2, 3)]
    found = solve(world(*hosts), [vm(f"v{number}", "10c") for number in range(4)], rules(policy="packed"))
    assert len({(place.host, place.gpus[0][0]) for place in found.places.values()}) == 1


def test_packed_finds_the_smallest_set_of_hosts_where_filling_one_after_the_other_does_not():
    hosts = [host(1, memory_gb=100), host(2, memory_gb=100), host(3, memory_gb=162)]
    vms = [vm(name, memory_mb=size * GB) for name, size in (("a", 60), ("b", 50), ("c", 50))]
    found = solve(world(*hosts), vms, rules(policy="packed"))
    assert set(placed(found).values()) == {"host-3"}


def test_one_exchange_makes_room_where_there_are_too_many_hosts_to_try_everything():
    """The larger VMs come first, and one of them takes the only host with virtual functions."""
    hosts = [host(number, memory_gb=100, nics=(split(),) if number == 1 else ()) for number in range(1, 21)]
    vms = [vm(f"large-{number}", memory_mb=60 * GB) for number in range(19)]
    vms.append(vm("with-port", memory_mb=50 * GB, nics=1))
    found = solve(world(*hosts), vms, rules(path="sriov", switch="dvs"))
    assert not found.unplaced
    assert (found.places["with-port"].host, found.places["large-0"].host) == ("host-1", "host-20")


@pytest.mark.parametrize(
    "hosts, vms, held, hopeless",
    [
        ([host(1, memory_gb=100)], [vm("a", memory_mb=60 * GB), vm("b", memory_mb=60 * GB)], {}, True),
        ([host(1), host(2)], [vm(name, "40c") for name in "abc"], {}, True),
        ([host(1), host(2)], [vm(name, "20c") for name in "abcd"], {}, False),
        ([host(1, gpus=[gpu(0, DIRECT)])], [vm(name, gpus=1) for name in "ab"], {}, True),
        ([host(1, gpus=[gpu(0, DIRECT), gpu(1, DIRECT)])], [vm(name, gpus=1) for name in "ab"], {}, False),
        ([host(1, gpus=[gpu(0, DIRECT, held_by="x")])], [vm("a", gpus=1)], {}, True),
        ([host(1, nics=(split(vfs=1),))], [vm("a", nics=2)], {"path": "sriov"}, True),
        ([host(1, nics=(port(given=True),))], [vm("a", nics=2)], {"path": "passthrough"}, True),
        ([host(1)], [vm(name) for name in "ab"], {"anti_affinity": True}, True),
        ([host(1), host(2)], [vm(name) for name in "ab"], {"anti_affinity": True}, False),
        ([host(1)], [vm("a", disk_gb=20000)], {}, True),
    ],
)
def test_what_no_arrangement_can_get_around_is_not_searched_for(hosts, vms, held, hopeless):
    assert bounds.exceeded(Board(world(*hosts), rules(**held)), vms) is hopeless


@pytest.mark.parametrize("policy", ["spread", "packed"])
def test_the_same_request_gives_the_same_plan_in_whatever_order_devices_are_listed(policy):
    hosts = [host(number, gpus=4, nics=(split(0, 3), split(1, 3))) for number in (1, 2, 3)]
    turned = [replace(one, gpus=one.gpus[::-1], nics=one.nics[::-1], nodes=one.nodes[::-1]) for one in hosts]
    vms = [vm(f"v{number}", *size, nics=1) for number, size in enumerate([["20c"], ["40c", "40c"], ["10c"]] * 3)]
    held = rules(policy=policy, path="sriov", switch="dvs")
    plan = solve(world(*hosts), vms, held)
    assert not plan.unplaced
    assert solve(world(*turned), vms, held).places == plan.places


def test_anti_affinity_is_within_a_job():
    vms = [vm(name, "20c", job=job) for name, job in (("a", "x"), ("b", "x"), ("c", "y"), ("d", "y"))]
    found = solve(world(host(1, gpus=2), host(2, gpus=2)), vms, rules(anti_affinity=True))
    assert placed(found)["a"] != placed(found)["b"]
    assert placed(found)["c"] != placed(found)["d"]


def test_a_fractional_vgpu_does_not_take_the_gpu_that_another_vm_needs_whole():
    vms = [vm("small", "20c"), vm("other", "20c"), vm("whole", "40c")]
    found = solve(world(host(1, gpus=2)), vms, rules())
    assert not found.unplaced
    assert found.places["small"].gpus[0][0] == found.places["other"].gpus[0][0] != found.places["whole"].gpus[0][0]


def test_a_gap_that_only_an_exchange_closes_is_closed():
    """The large VM without a GPU fills the only host with a GPU unless it makes way."""
    hosts = [host(1, gpus=1, memory_gb=100), host(2, gpus=0, memory_gb=100)]
    vms = [vm("big", memory_mb=80 * GB), vm("wide", memory_mb=80 * GB), vm("gpu", "40c", memory_mb=10 * GB)]
    assert not solve(world(*hosts), vms, rules()).unplaced
