# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import answer, plan, shortage
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import DIRECT
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.search import solve

from .worlds import GB, gpu, host, port, rules, split, there, vm, world


def result(hosts, vms, held, stores=None):
    where = world(*hosts, stores=stores)
    found = solve(where, vms, held)
    return answer.answer(where, vms, held, found, shortage.shortages(where, vms, held, found))


def short(hosts, vms, held, stores=None):
    entries = result(hosts, vms, held, stores)["shortages"]
    return [(one["resource"], one["wanted"], one["free"], one["short"], one["would_fit"]) for one in entries]


def several(number, *profiles, **more):
    return [vm(f"v{at}", *profiles, **more) for at in range(number)]


TWO = [host(1), host(2)]
NOT_TAGGED = "Net.PVRDMAVmknic is not set"


@pytest.mark.parametrize(
    "hosts, vms, held, expected",
    [
        pytest.param(
            TWO,
            several(3, "40c"),
            rules(),
            [("vGPUs grid_a100-40c", 3, 2, 1, "2 of 3 VMs; all of them with grid_a100-20c")],
            id="a smaller profile would fit",
        ),
        pytest.param(
            TWO,
            several(30, "4c", memory_mb=16 * GB),
            rules(),
            [("vGPUs grid_a100-4c", 30, 20, 10, "20 of 30 VMs")],
            id="no smaller profile would",
        ),
        pytest.param(
            TWO,
            several(1, "40c", "40c"),
            rules(),
            [("vGPUs grid_a100-40c", 2, 1, 1, "all of them with grid_a100-20c")],
            id="two vGPUs of one VM",
        ),
        pytest.param(
            TWO,
            several(2, "3-20c"),
            rules(),
            [
                (
                    "vGPUs grid_a100-3-20c",
                    2,
                    0,
                    2,
                    "no host offers grid_a100-3-20c; offered are grid_a100-10c, grid_a100-20c, grid_a100-40c, "
                    "grid_a100-4c, grid_a100-5c, grid_a100-8c",
                )
            ],
            id="a profile that no host offers",
        ),
        pytest.param(
            [host(1, memory_gb=100, gpus=2)],
            several(2, "40c"),
            rules(),
            [("memory GB", 128, 99, 29, "1 of 2 VMs; all of them with 49 GB each")],
            id="memory",
        ),
        pytest.param(
            [host(1, gpus=4)],
            several(2, "40c"),
            rules(anti_affinity=True),
            [("hosts, one per VM", 2, 1, 1, "1 of 2 VMs; all of them without anti_affinity")],
            id="hosts for anti-affinity",
        ),
        pytest.param(
            [host(1, gpus=4, nics=(split(0, 2),))],
            several(3, "10c", nics=1),
            rules(path="sriov", switch="dvs"),
            [("virtual functions", 3, 2, 1, "2 of 3 VMs")],
            id="virtual functions",
        ),
        pytest.param(
            [host(1, gpus=4, nics=(port(0, given=True),))],
            several(3, "10c", nics=1),
            rules(path="passthrough"),
            [("passed-through ports", 3, 1, 2, "1 of 3 VMs")],
            id="ports",
        ),
        pytest.param(
            [host(1, gpus=[gpu(0, DIRECT)]), host(2, gpus=[gpu(0, DIRECT)])],
            several(1, gpus=2),
            rules(),
            [("GPUs by passthrough", 2, 1, 1, "")],
            id="whole GPUs",
        ),
        pytest.param(
            [host(1, nics=(port(1, given=True),))],
            several(1, "40c", nics=1),
            rules(path="passthrough", gpudirect=True),
            [("GPU and port on one PCIe root", 1, 0, 1, "all of them without gpudirect")],
            id="root",
        ),
        pytest.param(
            [
                host(1, nics=(split(0),), pvrdma={"dvs": ""}),
                host(2, nics=(split(0),), pvrdma={"dvs": NOT_TAGGED}),
            ],
            several(2, "40c", nics=1),
            rules(path="pvrdma", switch="dvs", anti_affinity=True),
            [
                ("PVRDMA-ready hosts", 2, 1, 1, f"1 of 2 VMs; esx-02: {NOT_TAGGED}"),
            ],
            id="PVRDMA-ready hosts",
        ),
        pytest.param(
            [host(1, out_of_use="it is in maintenance mode"), host(2, out_of_use="it is not responding")],
            several(1, "40c"),
            rules(),
            [("usable hosts", 1, 0, 1, "esx-01: it is in maintenance mode; esx-02: it is not responding")],
            id="usable hosts",
        ),
        pytest.param(
            [host(1, switches=frozenset()), host(2, nics=(split(0),))],
            several(2, "40c", nics=1),
            rules(path="sriov", switch="dvs", anti_affinity=True),
            [("hosts on the switch", 2, 1, 1, "1 of 2 VMs; esx-01 has no dvs")],
            id="hosts on the switch",
        ),
        pytest.param(
            [host(1), host(2, gpus=0)],
            several(2, "40c"),
            rules(),
            [("vGPUs grid_a100-40c", 2, 1, 1, "1 of 2 VMs; all of them with grid_a100-20c")],
            id="a profile that one host offers and another does not",
        ),
        pytest.param(
            [host(1, gpus=[gpu(0), gpu(1, carries=["grid_a100-20c"])])],
            several(1, "40c", "40c", "20c"),
            rules(),
            [("vGPUs grid_a100-40c", 2, 1, 1, "all of them with grid_a100-20c")],
            id="just the one that is short of several profiles",
        ),
        pytest.param(
            [host(1, threads=16)],
            several(1, cpus=20),
            rules(),
            [("CPU threads of one host", 20, 16, 4, "")],
            id="threads",
        ),
        pytest.param(
            [host(1, gpus=16)],
            several(1, *["40c"] * 9),
            rules(),
            [("vGPUs of one VM in this release", 9, 8, 1, "")],
            id="vGPUs of one VM",
        ),
        pytest.param(
            [host(1)],
            several(1, "40c", present=there("host-1", "on"), memory_mb=900 * GB),
            rules(),
            [
                (
                    "place of v0",
                    1,
                    0,
                    1,
                    "it runs on esx-01, and that host is not suitable: memory; shut it down, so that it can move",
                )
            ],
            id="a VM that runs where it cannot stay",
        ),
    ],
)
def test_what_is_short_by_how_much_and_what_would_fit(hosts, vms, held, expected):
    assert short(hosts, vms, held) == expected


def test_space_on_datastores_is_shared_by_all_hosts_that_have_it():
    vms = several(3, "10c", disk_gb=60)
    hosts = [host(1, gpus=2), host(2, gpus=2)]
    assert short(hosts, vms, rules(), {"datastore-1": ("nvme", 130)}) == [("datastore GB", 180, 130, 50, "2 of 3 VMs")]


def test_a_vm_that_moves_asks_for_the_space_of_its_files_and_one_that_stays_for_none():
    stores = {"near": ("near", 1000), "far": ("far", 50)}
    hosts = [host(1, gpus=0, datastores=("near",)), host(2, gpus=2, datastores=("far",))]
    vms = [
        vm("a", "40c", disk_gb=200, present=there("host-1", datastores=("near",), disk_gb=60)),
        vm("b", "40c", disk_gb=200, present=there("host-2", datastores=("far",), disk_gb=60, moid="vm-2")),
    ]
    space = [found for found in short(hosts, vms, rules(), stores) if "datastore" in found[0]]
    assert space == [("datastore GB", 60, 50, 10, "1 of 2 VMs")]


def test_a_vm_that_runs_elsewhere_than_asked_for_is_reported_with_the_way_out():
    running = vm("a", "40c", pin="host-2", present=there("host-1", "on"))
    why = "it runs on esx-01, and another host, esx-02, was requested; shut it down, so that it can move"
    assert short(TWO, [running], rules()) == [("place of a", 1, 0, 1, why)]


def test_the_message_names_the_vms_the_resource_and_a_way_out():
    error = plan.does_not_fit(result(TWO, several(3, "40c"), rules()))
    assert error.message == (
        "Placement: cannot place 1 of 3 VMs. This VM fits on no host: v2. "
        "vGPUs grid_a100-40c: 3 requested, 2 free, 1 short "
        "(would fit: 2 of 3 VMs; all of them with grid_a100-20c). "
        "Add the missing resources, or reduce the request to what would fit."
    )
    assert (error.failure["code"], error.failure["vms"]) == ("does_not_fit", ["v2"])


def test_the_message_reports_which_size_other_vms_have_given_to_the_gpus():
    taken = [host(1, gpus=(gpu(1, carries=["grid_a100-40c"]),)), host(2, gpus=(gpu(1, carries=["grid_a100-40c"]),))]
    error = plan.does_not_fit(result(taken, several(1, "20c"), rules()))
    assert "1 short. GPUs in use by other VMs: 2 carry grid_a100-40c. Add the missing resources" in error.message


def test_the_message_stays_short_with_a_thousand_vms():
    error = plan.does_not_fit(result(TWO, several(1000, "40c"), rules()))
    assert "These VMs fit on no host: v2, v3, v4, v5, v6 and 993 more." in error.message
    assert len(error.message) < 600


@pytest.mark.parametrize("number, gpus", [(3, 1), (5, 1), (9, 2), (20, 3)])
def test_the_smaller_profile_that_is_proposed_fits_and_no_larger_one_does(number, gpus):
    hosts = [host(1, gpus=gpus), host(2, gpus=gpus)]
    asked = several(number, "40c", memory_mb=16 * GB)
    ((*dummy, would_fit),) = short(hosts, asked, rules())
    proposed = would_fit.rpartition("grid_a100-")[2]
    sizes = ["40c", "20c", "10c", "8c", "5c", "4c"]
    for size in sizes[: sizes.index(proposed) + 1]:
        found = solve(world(*hosts), several(number, size, memory_mb=16 * GB), rules())
        assert (not found.unplaced) is (size == proposed)


def test_a_host_is_reported_with_what_is_free_and_who_has_its_gpus():
    hosts = [host(1, gpus=[gpu(0, DIRECT, held_by="other", vendor_id="10de")], memory_gb=100), host(2, memory_gb=-1)]
    first, second = result(hosts, [vm()], rules())["hosts"]
    assert (first["memory_free_gb"], second["memory_free_gb"]) == (100, 0)
    assert [(one["held_by"], one["vendor_id"], one["device_id"]) for one in first["gpus"]] == [
        ("other", "10de", "20f1")
    ]
    assert [one["held_by"] for one in second["gpus"]] == [None]


def test_a_vm_without_a_place_says_why_and_the_others_have_theirs():
    plan_ = result(TWO, several(3, "40c"), rules())
    assert [entry["host"] for entry in plan_["vms"]] == ["esx-01", "esx-02", None]
    assert plan_["vms"][2]["why"] == "vGPU profile (2 hosts)"
    assert plan_["fits"] is False


def test_for_a_profile_with_a_strange_name_no_smaller_one_is_proposed():
    hosts = [replace(host(1), offered=frozenset({"strange", "grid_a100-20c"}))]
    assert short(hosts, [replace(vm(), profiles=("strange",))], rules()) == [("vGPUs strange", 1, 0, 1, "")]


def test_a_vm_that_went_to_another_host_while_it_was_read_is_reported():
    entry = result([host(1)], [vm(present=there("host-9", "on"))], rules())["shortages"][0]
    assert entry["resource"] == "place of a"
    assert entry["would_fit"] == "it runs on a host that was not requested; shut it down, so that it can move"
