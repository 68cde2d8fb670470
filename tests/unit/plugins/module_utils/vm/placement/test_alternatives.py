# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What would fit instead of a request that does not."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import parse
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import alternatives
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.search import Found

from .worlds import GB, gpu, host, rules, vm, world

MANY = [f"grid_t4-{number}q" for number in (*range(10, 18), 18, 19)]


def text(blocker, hosts, vms, held=None, placed=0):
    """What would help all of these VMs, of which so many have a place."""
    found = Found({f"v{number}": None for number in range(placed)}, vms[placed:])
    return alternatives.Alternatives(world(*hosts), vms, held or rules(), found).text(blocker, vms[placed:])


def several(number, *profiles, **more):
    return [vm(f"v{at}", *profiles, **more) for at in range(number)]


@pytest.mark.parametrize(
    "placed, reported", [(0, ""), (1, "1 of 3 VMs"), (2, "2 of 3 VMs")], ids=["none", "one", "two"]
)
def test_fewer_vms_are_those_that_have_a_place(placed, reported):
    assert text("cpus", [host(1)], several(3), placed=placed) == reported


def test_all_of_them_without_anti_affinity_where_that_is_enough():
    held = rules(anti_affinity=True)
    apart = "all of them without anti_affinity"
    assert text("cpus", [host(1, gpus=2)], several(2, "40c"), held) == apart
    assert text("cpus", [host(1, gpus=1)], several(2, "40c"), held) == ""
    assert text("cpus", [host(1, gpus=1)], several(2, "40c"), held, placed=1) == "1 of 2 VMs"


@pytest.mark.parametrize(
    "vms, hosts, reported",
    [
        (several(2, "40c"), [host(1)], "all of them with grid_a100-20c"),
        (several(4, "40c"), [host(1)], "all of them with grid_a100-10c"),
        ([*several(1, "40c"), vm("b", "20c")], [host(1)], "all of them with grid_a100-20c"),
        (several(11, "40c", memory_mb=GB), [host(1)], ""),
        (several(2, "40c"), [host(1, out_of_use="in maintenance mode"), host(2)], "all of them with grid_a100-20c"),
        (several(2, "40c"), [host(1, out_of_use="in maintenance mode")], ""),
    ],
)
def test_the_largest_smaller_profile_with_which_all_fit(vms, hosts, reported):
    assert text("profiles", hosts, vms) == reported


@pytest.mark.parametrize(
    "offered, reported",
    [
        ((), "no host offers any vGPU profile"),
        (("grid_t4-16q",), "no host offers grid_a100-40c; offered are grid_t4-16q"),
        (("grid_t4-16q", "grid_a100-20c"), "no host offers grid_a100-40c; offered are grid_a100-20c"),
        (MANY[:8], f"no host offers grid_a100-40c; offered are {', '.join(MANY[:8])}"),
        (MANY, f"no host offers grid_a100-40c; offered are {', '.join(MANY[:8])} and 2 more"),
    ],
)
def test_a_profile_that_no_host_offers_is_answered_with_those_that_are(offered, reported):
    assert text("profiles", [host(1, gpus=0, offered=frozenset(offered))], several(1, "40c")) == reported


@pytest.mark.parametrize(
    "number, size_gb, free_gb, reported",
    [
        # A VM needs some memory more than it is given.
        (2, 64, 64, "all of them with 31 GB each"),
        (2, 64, 65, "all of them with 32 GB each"),
        (1, 64, 40, "all of them with 39 GB each"),
        (1, 4000, 3000, "all of them with 2982 GB each"),
        (3, 64, 2, ""),
    ],
)
def test_the_most_memory_with_which_all_fit(number, size_gb, free_gb, reported):
    vms = several(number, memory_mb=size_gb * GB)
    assert text("memory", [host(1, memory_gb=free_gb)], vms) == reported


def test_hosts_that_are_not_ready_are_listed_and_many_of_them_counted():
    held = rules(path="pvrdma", switch="dvs")
    broken = {"pvrdma": {"dvs": "no vmkernel adapter"}}
    assert text("pvrdma", [host(1), host(2, **broken)], several(1), held) == "esx-02: no vmkernel adapter"
    for many, rest in ((5, []), (6, ["1 more hosts"]), (8, ["3 more hosts"])):
        reported = text("pvrdma", [host(number, **broken) for number in range(many)], several(1), held).split("; ")
        assert (len(reported), reported[5:]) == (5 + len(rest), rest)


def test_hosts_out_of_use_are_listed_with_the_reason():
    hosts = [host(1), host(2, out_of_use="in maintenance mode")]
    assert text("host", hosts, several(1)) == "esx-02: in maintenance mode"


@pytest.mark.parametrize(
    "held, reported",
    [
        (rules(switch="dvs"), "esx-02 has no dvs"),
        (rules(switch="dvs", portgroup="train"), "esx-02 has no dvs"),
        (rules(portgroup="train"), "esx-01 has no train"),
        (rules(portgroup="VM Network"), ""),
    ],
)
def test_hosts_without_the_switch_or_port_group_are_listed(held, reported):
    without = {"switches": frozenset(), "portgroups": {"VM Network": "vSwitch0", "train": "vSwitch1"}}
    assert text("switch", [host(1), host(2, **without)], several(1), held) == reported


@pytest.mark.parametrize(
    "other, name, smaller",
    [
        ("grid_a100-20c", "grid_a100-40c", True),
        ("grid_a100-40c", "grid_a100-40c", False),
        ("grid_a100-40c", "grid_a100-20c", False),
        ("grid_t4-8c", "grid_a100-40c", False),
        ("grid_a100-20q", "grid_a100-40c", False),
        ("grid_a100-3-20c", "grid_a100-40c", False),
        ("grid_a100-3-20c", "grid_a100-7-40c", True),
        ("grid_a100-3-20c", "grid_a100-4-20c", True),
        ("grid_a100-4-20c", "grid_a100-3-20c", False),
        ("grid_a100-1-5cme", "grid_a100-7-40c", False),
    ],
)
def test_a_profile_is_smaller_only_than_one_of_its_kind(other, name, smaller):
    assert alternatives._smaller(parse(other), parse(name)) is smaller


def test_without_gpudirect_where_that_is_enough():
    gpus = [gpu(0), gpu(1)]
    held = rules(gpudirect=True, path="pvrdma", switch="dvs")
    vms = several(1, "40c", nics=1)
    assert text("root", [host(1, gpus=gpus, switches=frozenset())], vms, held) == ""
