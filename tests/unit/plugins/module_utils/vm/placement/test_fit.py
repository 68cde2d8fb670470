# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import fit
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import DIRECT, NONE, NumaNode
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.room import Room

from .worlds import GB, gpu, host, port, rules, split, there, vm


def room(found=None, **held):
    return Room(found or host(), {"datastore-1": 1000}, rules(**held))


SRIOV = {"path": "sriov", "switch": "dvs"}


@pytest.mark.parametrize(
    "place, one, blockers",
    [
        pytest.param(room(host(out_of_use="it is in maintenance mode")), vm(), {"host"}, id="maintenance"),
        pytest.param(room(host(memory_gb=32)), vm("a", "40c"), {"memory"}, id="memory for a full reservation"),
        pytest.param(room(host(threads=8)), vm(cpus=16), {"cpus"}, id="more vCPUs than the host has threads"),
        pytest.param(room(host(gpus=0)), vm("a", "40c"), {"profiles"}, id="no GPU"),
        pytest.param(room(host(gpus=[gpu(carries=["grid_a100-20c"])])), vm("a", "40c"), {"profiles"}, id="size fixed"),
        pytest.param(room(host(gpus=[gpu(mode=NONE)])), vm("a", "40c"), {"profiles"}, id="not shared direct"),
        pytest.param(room(host(gpus=[gpu(mode="mig")])), vm("a", "40c"), {"profiles"}, id="time-sliced on a MIG GPU"),
        pytest.param(room(host(gpus=[gpu(held_by="b")])), vm("a", "40c"), {"profiles"}, id="GPU given away"),
        pytest.param(room(), vm(gpus=1), {"whole_gpus"}, id="whole GPU where none is passed through"),
        pytest.param(
            room(host(gpus=[gpu(mode=DIRECT, held_by="b")])), vm(gpus=1), {"whole_gpus"}, id="whole GPU taken"
        ),
        pytest.param(room(host(version="7.0.3", gpus=4)), vm("a", "20c", "20c"), {"release"}, id="fractions on 7.0"),
        pytest.param(room(host(version="7.0.3", gpus=8)), vm("a", *["40c"] * 5), {"release"}, id="five on 7.0"),
        pytest.param(room(host(gpus=4), max_per_vm=1), vm("a", "40c", "40c"), {"release"}, id="limit of the user"),
        pytest.param(room(**{**SRIOV, "switch": "other"}), vm(nics=1), {"switch"}, id="not on the switch"),
        pytest.param(room(**SRIOV), vm(nics=1), {"vfs"}, id="no virtual function"),
        pytest.param(room(host(nics=(split(vfs=1),)), **SRIOV), vm(nics=2), {"vfs"}, id="one function too few"),
        pytest.param(room(path="passthrough"), vm(nics=1), {"ports"}, id="no passed-through port"),
        pytest.param(
            room(host(nics=(port(given=True, held_by="b"),)), path="passthrough"),
            vm(nics=1),
            {"ports"},
            id="port taken",
        ),
        pytest.param(
            room(host(nics=(port(1, given=True),)), path="passthrough", gpudirect=True),
            vm("a", "40c", nics=1),
            {"root"},
            id="GPU and port on different roots",
        ),
        pytest.param(
            room(host(pvrdma={"dvs": "Net.PVRDMAVmknic is not set"}), path="pvrdma", switch="dvs"),
            vm(nics=1),
            {"pvrdma"},
            id="not ready for PVRDMA",
        ),
        pytest.param(room(portgroup="missing"), vm(), {"switch"}, id="standard port group"),
        pytest.param(room(), vm(disk_gb=2000), {"datastore"}, id="datastore"),
    ],
)
def test_what_keeps_a_vm_off_a_host(place, one, blockers):
    assert fit.blockers(place, one) == blockers
    assert fit.first(place, one) is None


@pytest.mark.parametrize(
    "place, one",
    [
        pytest.param(room(host(threads=16)), vm(cpus=16), id="as many vCPUs as the host has threads"),
        pytest.param(room(host(nics=(split(vfs=2),)), **SRIOV), vm(nics=2), id="as many functions as there are"),
        pytest.param(room(host(version="7.0.3", gpus=4)), vm("a", *["40c"] * 4), id="four on 7.0"),
        pytest.param(room(host(version="8.0.0", gpus=4)), vm("a", "20c", "20c"), id="fractions on 8.0"),
        pytest.param(room(host(version="", gpus=4)), vm("a", "20c", "20c"), id="a release that nobody knows"),
        pytest.param(room(), vm(disk_gb=1000), id="all space of a datastore"),
    ],
)
def test_what_is_just_enough_keeps_no_vm_off_a_host(place, one):
    assert fit.blockers(place, one) == set()


def test_a_second_vm_of_a_job_is_kept_off_by_anti_affinity_and_one_of_another_job_is_not():
    place = room(host(gpus=2), anti_affinity=True)
    place.take(vm("a", "40c", job="x"), fit.first(place, vm("a", "40c", job="x")))
    assert fit.blockers(place, vm("b", "40c", job="x")) == {"anti_affinity"}
    assert fit.blockers(place, vm("c", "40c", job="y")) == set()


def test_a_gpu_near_a_free_port_is_taken_before_one_that_is_far():
    place = room(host(gpus=2, nics=(split(1),)), **SRIOV)
    assert fit.first(place, vm("a", "40c", nics=1)).gpus[0][0] == gpu(1).id


def test_gpudirect_takes_a_port_on_the_root_of_every_gpu():
    place = room(host(gpus=2, nics=(split(0), split(1))), gpudirect=True, **SRIOV)
    found = fit.first(place, vm("a", "40c", "40c", nics=2))
    assert set(found.nics) == {split(0).pci, split(1).pci}


EVEN, ODD = {gpu(0).id, gpu(2).id}, {gpu(1).id, gpu(3).id}


@pytest.mark.parametrize(
    "gpus, taken",
    [
        pytest.param([gpu(at) for at in range(4)], EVEN, id="vGPUs"),
        pytest.param([gpu(0, carries=["grid_a100-20c"]), gpu(1), gpu(2), gpu(3)], ODD, id="vGPUs, one GPU in use"),
        pytest.param([gpu(at, DIRECT) for at in range(4)], EVEN, id="whole GPUs"),
        pytest.param(
            [gpu(2, DIRECT, held_by="b"), *(gpu(at, DIRECT) for at in (0, 1, 3))], ODD, id="whole GPUs, one taken"
        ),
    ],
)
def test_gpus_of_one_vm_are_on_one_node_where_they_can_be(gpus, taken):
    wanted = {"gpus": 2} if gpus[0].mode == DIRECT else {"profiles": ("grid_a100-40c",) * 2}
    found = fit.first(room(host(gpus=gpus)), replace(vm(), **wanted))
    assert {address for address, profile in found.gpus} == taken
    assert len(found.nodes) == 1


def test_gpus_that_a_vm_has_are_not_given_up_for_others_that_lie_closer():
    gpus = [gpu(at, DIRECT) for at in range(4)]
    now = there("host-1", devices=(gpus[0].id, gpus[3].id))
    found = fit.first(room(host(gpus=gpus)), vm(gpus=2, present=now))
    assert [address for address, profile in found.gpus] == [gpus[0].id, gpus[3].id]


def test_gpus_over_both_nodes_are_better_than_none():
    found = fit.first(room(host(gpus=[gpu(0), gpu(1)])), vm("a", "40c", "40c"))
    assert found.nodes == (0, 1)


def test_whole_gpus_of_a_vm_are_of_one_board():
    gpus = [gpu(0, DIRECT), replace(gpu(1, DIRECT), device_id="20b5")]
    assert fit.blockers(room(host(gpus=gpus)), vm(gpus=2)) == {"whole_gpus"}


def test_vgpus_of_one_vm_lie_apart_when_spread_and_together_when_packed():
    apart = fit.first(room(host(gpus=2)), vm("a", "10c", "10c"))
    together = fit.first(room(host(gpus=2), policy="packed"), vm("a", "10c", "10c"))
    assert len({address for address, profile in apart.gpus}) == 2
    assert len({address for address, profile in together.gpus}) == 1


@pytest.mark.parametrize("policy, taken", [("spread", 1), ("packed", 0)])
def test_a_vgpu_goes_to_the_emptiest_gpu_when_spread_and_to_the_fullest_when_packed(policy, taken):
    for busy in (0, 1):
        gpus = [gpu(at, carries=["grid_a100-10c"] if at == busy else []) for at in (0, 1)]
        found = fit.first(room(host(gpus=gpus), policy=policy), vm("a", "10c"))
        assert (found.gpus[0][0] == gpu(busy).id) is (taken == 0)


@pytest.mark.parametrize(
    "one, nodes",
    [
        pytest.param(vm("a", "40c"), (0,), id="of its GPU"),
        pytest.param(vm("a", "40c", memory_mb=300 * GB), (0, 1), id="memory of both"),
        pytest.param(vm("a", "40c", cpus=40), (0, 1), id="cores of both"),
        pytest.param(vm("a"), (0,), id="without a device the one with the most memory"),
    ],
)
def test_numa_nodes_are_those_of_the_devices_if_these_have_room(one, nodes):
    assert fit.first(room(), one).nodes == nodes


def test_memory_of_a_node_that_other_vms_of_the_plan_take_is_gone():
    place = room(host(gpus=[gpu(0, node=0), gpu(2, node=0)]))
    first = vm("a", "40c", memory_mb=200 * GB)
    place.take(first, fit.first(place, first))
    assert fit.first(place, vm("b", "40c", memory_mb=100 * GB)).nodes == (0, 1)


def test_a_node_affinity_that_is_set_stays_though_vsphere_took_a_gpu_of_the_other_node():
    now = there("host-1", "on", nodes=(0,), gpus=((gpu(1).id, "grid_a100-40c"),), profiles=("grid_a100-40c",))
    assert fit.first(room(host(gpus=2)), vm("a", "40c", present=now)).nodes == (0,)


def test_a_node_affinity_that_no_gpu_is_on_is_replaced():
    now = there("host-1", nodes=(7,))
    assert fit.first(room(host(gpus=2)), vm("a", "40c", present=now)).nodes == (0,)


def test_a_host_that_reports_no_numa_nodes_gets_vms_without_any():
    assert fit.first(room(host(nodes=())), vm("a", "40c")).nodes == ()


def test_taking_a_vm_off_leaves_the_room_as_it_was():
    place = room(host(gpus=2, nics=(split(0),), nodes=(NumaNode(0, 512 * GB, 64),)), **SRIOV)
    one = vm("a", "20c", "20c", nics=2, disk_gb=10, cpus=8)
    before = (place.signature(), dict(place.node_mb), dict(place.stores), place.vcpus, place.count)
    found = fit.first(place, one)
    place.take(one, found)
    assert place.signature() != before[0]
    place.release(one, found)
    assert (place.signature(), dict(place.node_mb), dict(place.stores), place.vcpus, place.count) == before


@pytest.mark.parametrize(
    "wanted, same",
    [
        ({}, True),
        ({"profiles": ("grid_a100-40c",)}, False),
        ({"gpus": 1}, False),
        ({"nics": 2}, False),
    ],
)
def test_a_vm_is_unchanged_when_it_has_just_what_it_shall_have(wanted, same):
    held = ("grid_a100-20c", "grid_a100-40c")
    now = there("host-1", profiles=held, devices=(port(given=True).pci,))
    one = replace(vm("a", "40c", "20c", nics=1, present=now), **wanted)
    assert fit.unchanged(room(host(nics=(port(given=True),)), path="passthrough"), one) is same
    assert not fit.unchanged(room(host(2, nics=(port(given=True),)), path="passthrough"), one)


def test_ports_that_a_path_does_not_give_away_change_nothing():
    now = there("host-1", devices=(port(given=True).pci,))
    assert fit.unchanged(room(host(nics=(port(given=True),))), vm("a", present=now))


def test_a_vm_keeps_the_devices_that_its_configuration_names():
    ports = tuple(port(number, node=0, given=True) for number in range(3))
    now = there("host-1", devices=(ports[2].pci,))
    place = room(host(nics=ports), path="passthrough")
    assert fit.first(place, vm("a", nics=1, present=now)).nics == (ports[2].pci,)
