"""What a task costs vCenter: one request per VM that changes, and a few for all of them together."""

from __future__ import annotations

import pytest

from twin_labs.host_lab import esx, seed

from .lab import lab

# Versions, service content, Login.
LOGIN = 3
# All VMs are found in one traversal and read in another, whatever their number.
READS = 2
# A new reading once the tasks are over, and the proof; collector, list view and filter to wait with, of which two are
# destroyed again.
AROUND_TASKS = 7


@pytest.fixture
def many_vms(twin):
    # Tasks that end at once: how often a slow one is asked about depends on the machine, and is not what is counted.
    return twin(seed=lab(*[{}] * 120, task_seconds={"ReconfigVM_Task": 0.001}))


@pytest.mark.parametrize("size", [1, 10, 100])
def test_a_fleet_costs_one_request_per_vm_that_changes_and_a_few_for_all(many_vms, drive, size):
    fleet = [{"name": f"train-{number:02}"} for number in range(1, size + 1)]
    module = drive(many_vms)
    seen = {}
    for changes in (True, False):
        many_vms.requests.clear()
        answer = module("vgpu_profile", vms=fleet, profiles=["grid_a100-4c"])
        assert not answer["failed"], answer["msg"]
        assert [vm["changed"] for vm in answer["vms"]] == [changes] * size
        seen[changes] = many_vms.requests.copy()
    assert seen[False] == {"RetrievePropertiesEx": READS}
    assert seen[True]["ReconfigVM_Task"] == size
    # Each flight of 32 tasks is awaited together.
    polls = seen[True]["WaitForUpdatesEx"] + seen[True]["ModifyListView"]
    assert polls <= 2 + 4 * (size // 32)
    assert seen[True].total() - size - polls <= LOGIN + READS + AROUND_TASKS
    assert seen[True].total() <= 15 + 1.1 * size
    # Nothing is asked object by object.
    assert seen[True]["RetrievePropertiesEx"] <= READS + 2
    assert not {"Fetch", "RetrieveProperties", "FindByUuid", "FindByInventoryPath"} & set(seen[True])


@pytest.mark.parametrize("identity", ["name", "path", "moid", "instance_uuid"])
def test_a_loop_over_vms_shares_one_login_and_asks_little_more_than_a_fleet(many_vms, drive, identity):
    running = many_vms
    module = drive(running)
    vms = [vm for vm in running.world.of_kind("VirtualMachine") if vm.name <= "train-03"]
    totals = {True: [], False: []}
    for changes in (True, False):
        for vm in vms:
            running.requests.clear()
            path = f"/lab/vm/{vm.name}"
            value = path if identity == "path" else getattr(vm, identity)
            answer = module("vgpu_profile", profiles=["grid_a100-4c"], **{identity: value})
            assert not answer["failed"], answer["msg"]
            assert answer["changed"] is changes
            totals[changes].append(running.requests.total())
    lookup = identity == "instance_uuid"  # asks the search index first
    assert totals[False] == [READS + lookup] * 3
    first, *others = totals[True]
    one = READS + lookup + AROUND_TASKS + 1
    # A task that is not over at the first look costs further ones.
    assert first <= LOGIN + one + 2
    assert max(others) <= one + 2


# Services of a host, for which vCenter has no request for several hosts. docs/drift.md lists them.
OF_HOST = {"QueryModules": 1, "QueryOptions": 1, "RetrieveManagedMethodExecuter": 1, "ExecuteSoap": 5}


@pytest.mark.parametrize("size", [2, 6])
def test_all_hosts_are_read_by_two_requests_and_by_those_to_their_own_services(twin, drive, size):
    names = [f"esx-{number:02}.example.com" for number in range(1, size + 1)]
    running = twin(seed=seed(*map(esx, names)))
    module = drive(running)
    module("esxi_host_info", hosts=names[:1])
    running.requests.clear()
    answer = module("esxi_host_info", hosts=[*names, "esx-99"])
    assert [one["failed"] for one in answer["hosts"]] == [False] * size + [True]
    assert answer["hosts"][-1]["failure"]["code"] == "host_not_found"
    assert running.requests == {"RetrievePropertiesEx": READS, **{name: n * size for name, n in OF_HOST.items()}}
    # The same as one by one.
    single = module("esxi_host_info", host=names[-1])
    assert answer["hosts"][size - 1]["host"] == single["host"]
