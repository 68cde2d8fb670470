# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""How much of a resource is missing."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import shortage
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import DIRECT
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.search import Board

from .worlds import gpu, host, port, rules, split, there, vm, world


def room(found, **held):
    return Board(world(found), rules(**held)).rooms["host-1"]


@pytest.mark.parametrize(
    "needs, left, missing",
    [
        ([3], [5], 0),
        ([5], [3], 2),
        ([5, 1], [1, 5], 0),
        ([5, 4], [4, 1], 4),
        ([2, 2], [2], 2),
        ([2], [], 2),
        ([], [3], 0),
    ],
)
def test_each_vm_takes_the_host_with_the_most_left(needs, left, missing):
    assert shortage._paired(needs, left) == missing


@pytest.mark.parametrize(
    "path, switch, ports, left",
    [
        ("sriov", "dvs", [split(0, 4), split(1, 2)], 6),
        ("sriov", "dvs", [split(0, 4), split(1, 2, "other")], 4),
        ("sriov", "", [split(0, 4), split(1, 2, "other")], 6),
        ("passthrough", "", [port(0, given=True), port(1, given=True, held_by="b"), port(2)], 1),
        ("passthrough", "", [], 0),
    ],
)
def test_ports_that_are_left(path, switch, ports, left):
    assert shortage._ports_left(room(host(nics=tuple(ports)), path=path, switch=switch)) == left


@pytest.mark.parametrize(
    "gpus, profile, left",
    [
        ([gpu(0), gpu(1)], "grid_a100-20c", 4),
        ([gpu(0), gpu(1, held_by="b")], "grid_a100-20c", 2),
        ([gpu(0, carries=["grid_a100-20c"]), gpu(1)], "grid_a100-20c", 3),
        ([gpu(0)], "grid_a100-3-20c", 0),
        ([gpu(0, carries=["grid_a100-10c"])], "grid_a100-20c", 0),
    ],
)
def test_vgpus_that_are_left(gpus, profile, left):
    assert shortage._vgpus_left(room(host(gpus=gpus)), profile) == left


@pytest.mark.parametrize("wanted, short, free", [(3, 1, 2), (1, 1, 0), (1, 4, 0)])
def test_an_entry_adds_up(wanted, short, free):
    entry = shortage._entry("x", wanted, short, "y")
    assert entry == {"resource": "x", "wanted": free + short, "free": free, "short": short, "would_fit": "y"}


def test_vms_that_are_alike_are_asked_about_once():
    asked = []
    vms = [vm("a", "40c"), vm("b", "40c"), vm("c", "20c"), vm("d", "40c", job="x")]
    found = shortage.by_kind(vms, lambda one: asked.append(one.name) or len(asked))
    assert (found, asked) == ({"a": 1, "b": 1, "c": 2, "d": 3}, ["a", "c", "d"])


@pytest.mark.parametrize(
    "hosts, one, names",
    [
        ([host(1, out_of_use="away")], vm("a", "40c"), {"host"}),
        ([host(1, out_of_use="away"), host(2, gpus=0)], vm("a", "40c"), {"profiles"}),
        ([host(1, gpus=0, memory_gb=1), host(2, gpus=0)], vm("a", "40c"), {"profiles"}),
        ([host(1, memory_gb=1), host(2, gpus=0)], vm("a", "40c"), {"profiles", "memory"}),
        ([host(1, gpus=0, memory_gb=1)], vm("a", "40c"), {"profiles", "memory"}),
    ],
)
def test_what_decides_is_what_the_host_that_lacks_least_lacks(hosts, one, names):
    assert shortage.decisive(Board(world(*hosts), rules()), one) == names


def test_whole_gpus_and_datastores_that_are_missing():
    gpus = [gpu(0, DIRECT), gpu(1, DIRECT, held_by="b"), gpu(2)]
    vms = [vm("a", gpus=3)]
    assert list(shortage._whole_gpus(Board(world(host(gpus=gpus)), rules()), vms, vms)) == [
        ("GPUs by passthrough", 3, 2)
    ]
    stores = {"datastore-1": ("nvme", 40), "far": ("far", 900)}
    new, moved = vm("a", disk_gb=100), vm("b", disk_gb=7, present=there("host-9", disk_gb=50, datastores=("far",)))
    board = Board(world(host(), stores=stores), rules())
    assert list(shortage._datastore(board, [new, moved], [new, moved])) == [("datastore GB", 150, 110)]
