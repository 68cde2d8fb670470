"""DirectPath profiles, as a plain client uses them: stored profiles, and the capacity that the hosts' devices have."""

from __future__ import annotations

import contextlib

import pytest
from pyVim.task import WaitForTask
from pyVmomi import vim, vmodl

from vsphere_twin.model import groups

from .observe import client, virtual_machine
from .placement_lab import esx, far, lab, left_to_host, near, ready

SINCE = "9.1.0"
KINDS = vim.DirectPathProfileManager
USER = "automation@vsphere.local"


def vgpu(profile):
    return KINDS.VmiopDirectPathConfig(vgpuProfile=profile)


def whole(label=None, device=0x20F1):
    kinds = vim.vm.device.VirtualPCIPassthrough
    allowed = kinds.AllowedDevice(vendorId=0x10DE, deviceId=device)
    backing = kinds.DynamicBackingInfo(deviceName="", allowedDevice=[allowed], customLabel=label)
    return KINDS.DynamicDirectPathConfig(dynamicDirectPathBacking=backing)


def asked(config):
    return KINDS.CapacityQueryByDeviceConfig(deviceConfig=config)


def numbers(answer):
    return (answer.consumed, answer.remaining, answer.max, answer.unusedReservation)


class Site:
    """A client of a data centre, with the objects that the queries name."""

    def __init__(self, service):
        self.content = service.RetrieveContent()
        self.manager = self.content.directPathProfileManager
        find = self.content.searchIndex
        self.hosts = find.FindByInventoryPath("lab/host/gpu").host
        self.cluster = KINDS.TargetCluster(cluster=find.FindByInventoryPath("lab/host/gpu"))

    def host(self, number=0):
        return KINDS.TargetHost(host=self.hosts[number])

    def ask(self, target, *configs):
        return self.manager.DirectPathProfileManagerQueryCapacity(target, [asked(one) for one in configs])


@pytest.fixture
def site(twin):
    """A client of a data centre with these hosts and VMs."""
    with contextlib.ExitStack() as opened:

        def start(*hosts, vms=(), release=SINCE, **more):
            running = twin(seed={**lab(*hosts, vms=vms, release=release), **more})
            return running, Site(opened.enter_context(client(running)))

        yield start


def test_a_vcenter_before_9_has_no_manager_of_profiles(site):
    _running, before = site(esx(1), release="8.0.3")
    assert before.manager is None


def test_profiles_are_made_changed_listed_and_removed(site):
    _running, there = site(esx(1))
    manager = there.manager
    first = manager.DirectPathProfileManagerCreate(KINDS.CreateSpec(name="whole", deviceConfig=vgpu("grid_a100-40c")))
    second = manager.DirectPathProfileManagerCreate(
        KINDS.CreateSpec(name="half", description="two per GPU", deviceConfig=vgpu("grid_a100-20c"))
    )
    manager.DirectPathProfileManagerUpdate(first, KINDS.UpdateSpec(name="full", description="one per GPU"))
    listed = manager.DirectPathProfileManagerList(KINDS.FilterSpec())
    assert [(one.id, one.name, one.description, one.vendorName, one.deviceConfig.vgpuProfile) for one in listed] == [
        (first, "full", "one per GPU", "NVIDIA", "grid_a100-40c"),
        (second, "half", "two per GPU", "NVIDIA", "grid_a100-20c"),
    ]
    only = manager.DirectPathProfileManagerList(KINDS.FilterSpec(names=["half"], clusters=[there.cluster.cluster]))
    assert [one.id for one in only] == [second]
    manager.DirectPathProfileManagerDelete(first)
    assert [one.id for one in manager.DirectPathProfileManagerList(KINDS.FilterSpec(ids=[first, second]))] == [second]


def test_names_are_unique_and_profiles_in_use_stay(site):
    running, there = site(esx(1))
    manager, spec = there.manager, KINDS.CreateSpec(name="whole", deviceConfig=vgpu("grid_a100-40c"))
    made = manager.DirectPathProfileManagerCreate(spec)
    other = manager.DirectPathProfileManagerCreate(KINDS.CreateSpec(name="other", deviceConfig=whole()))
    with pytest.raises(vim.fault.AlreadyExists):
        manager.DirectPathProfileManagerCreate(spec)
    with pytest.raises(vim.fault.AlreadyExists):
        manager.DirectPathProfileManagerUpdate(other, KINDS.UpdateSpec(name="whole"))
    with pytest.raises(vmodl.fault.InvalidArgument):
        manager.DirectPathProfileManagerCreate(KINDS.CreateSpec(name="x", deviceConfig=KINDS.DirectPathConfig()))
    with pytest.raises(vim.fault.NotFound):
        manager.DirectPathProfileManagerUpdate("none", KINDS.UpdateSpec())
    with pytest.raises(vim.fault.NotFound):
        manager.DirectPathProfileManagerDelete("none")
    with running.world.lock:
        running.world.get(manager._GetMoId()).profiles[made].users.add("a VM class")
    with pytest.raises(vim.fault.ResourceInUse):
        manager.DirectPathProfileManagerDelete(made)


# Name: (GPUs of the host, profiles of its VMs, one per VM, then {device: (consumed, remaining, max, reserved)}).
STATES = {
    "empty": ([near(), far()], [], {"40c": (0, 2, 2, 0), "20c": (0, 4, 4, 0), "8c": (0, 10, 10, 0)}),
    "same size": ([near(), far()], ["20c"], {"40c": (0, 1, 2, 0), "20c": (1, 3, 4, 0), "10c": (0, 4, 8, 0)}),
    "mixed sizes": (
        [near(vgpu_mode="mixedSize")],
        ["20c", "10c"],
        {"40c": (0, 0, 1, 0), "20c": (1, 0, 2, 0), "10c": (1, 1, 4, 0), "8c": (0, 1, 4, 0)},
    ),
    "MIG": (
        [near(mig=True)],
        ["3-20c"],
        {"3-20c": (1, 1, 2, 0), "1-5c": (0, 4, 7, 0), "7-40c": (0, 0, 1, 0), "40c": (0, 0, 0, 0)},
    ),
}


@pytest.mark.parametrize("state", STATES)
def test_capacity_follows_from_the_state_of_the_gpus(site, state):
    gpus, profiles, expected = STATES[state]
    vms = [ready(f"v{number}", "esx-01", one, power="on") for number, one in enumerate(profiles)]
    _running, there = site(esx(1, gpus), vms=vms)
    answers = there.ask(there.host(), *[vgpu(f"grid_a100-{one}") for one in expected])
    assert {one.profile.deviceConfig.vgpuProfile: numbers(one) for one in answers} == {
        f"grid_a100-{profile}": counted for profile, counted in expected.items()
    }


def test_whole_gpus_count_by_their_ids_and_their_label(site):
    gpus = [near(passthrough=True, label="train"), far(passthrough=True), far()]
    _running, there = site(esx(1, gpus))
    counted = there.ask(there.host(), whole(), whole("train"), whole("none"), whole(device=0x2330))
    assert [numbers(one) for one in counted] == [(0, 2, 2, 0), (0, 1, 1, 0), (0, 0, 0, 0), (0, 0, 0, 0)]


def test_a_cluster_is_the_sum_of_its_hosts_and_a_host_in_maintenance_gives_nothing(site):
    running, there = site(esx(1, [near(), far()]), esx(2), vms=[ready("a", "esx-02", "40c", power="on")])
    (counted,) = there.ask(there.cluster, vgpu("grid_a100-40c"))
    assert numbers(counted) == (1, 2, 3, 0)
    WaitForTask(there.hosts[0].EnterMaintenanceMode_Task(timeout=0))
    (counted,) = there.ask(there.cluster, vgpu("grid_a100-40c"))
    assert numbers(counted) == (1, 0, 3, 0)


def test_what_remains_is_what_still_starts(site):
    vms = [ready(f"v{number}", "esx-01", "20c") for number in range(5)]
    running, there = site(esx(1, [near(), far()]), vms=vms)
    for left in (3, 2, 1, 0):
        with virtual_machine(running, f"v{left}") as machine:
            WaitForTask(machine.PowerOnVM_Task())
        assert there.ask(there.host(), vgpu("grid_a100-20c"))[0].remaining == left
    with virtual_machine(running, "v4") as machine, pytest.raises(vim.fault.InsufficientGraphicsResourcesFault):
        WaitForTask(machine.PowerOnVM_Task())


def test_stored_profiles_are_asked_by_name_by_id_and_all_at_once(site):
    running, there = site(esx(1))
    made = there.manager.DirectPathProfileManagerCreate(
        KINDS.CreateSpec(name="whole", deviceConfig=vgpu("grid_a100-40c"))
    )
    with running.world.lock:
        running.world.get(there.manager._GetMoId()).profiles[made].reserved = 1
    specs = [KINDS.CapacityQueryByName(name="whole"), KINDS.CapacityQueryById(id=made)]
    query = there.manager.DirectPathProfileManagerQueryCapacity
    for answers in (query(there.host(), specs), query(there.cluster)):
        assert {(one.profile.id, one.profile.name, *numbers(one)) for one in answers} == {(made, "whole", 0, 1, 1, 1)}


def test_devices_of_a_class_are_counted_where_they_are_in_its_mode(site):
    given = {"class": "com.example.gpu", "checkpoint": True}
    gpus = [
        {"board": "a100_pcie_40gb", "root": "0000:36:02.0", "dvx": {**given, "active": active}}
        for active in (True, True, False)
    ]
    _running, there = site({**esx(1), "gpus": gpus})
    backing = vim.vm.device.VirtualPCIPassthrough.DvxBackingInfo(deviceClass="com.example.gpu")
    (answer,) = there.ask(there.host(), KINDS.DvxDirectPathConfig(dvxBacking=backing))
    assert numbers(answer) == (0, 2, 2, 0)


@pytest.mark.parametrize(
    "spec, fault",
    [
        (KINDS.CapacityQueryByName(name="none"), vim.fault.NotFound),
        (KINDS.CapacityQueryById(id="none"), vim.fault.NotFound),
        (asked(vgpu("grid_a100-39c")), vim.fault.NotFound),
        (
            asked(KINDS.DvxDirectPathConfig(dvxBacking=vim.vm.device.VirtualPCIPassthrough.DvxBackingInfo())),
            vmodl.fault.NotSupported,
        ),
    ],
)
def test_what_cannot_be_counted_is_unknown_with_its_reason(site, spec, fault):
    _running, there = site(esx(1))
    (answer,) = there.manager.DirectPathProfileManagerQueryCapacity(there.host(), [spec])
    assert isinstance(answer, KINDS.CapacityUnknown)
    assert isinstance(answer.querySpec, type(spec))
    assert [type(one) for one in answer.faultList] == [fault]


def test_the_target_and_the_query_must_be_of_a_known_kind(site):
    _running, there = site(esx(1))
    for target, spec in ((KINDS.TargetEntity(), None), (there.host(), [KINDS.CapacityQuerySpec()])):
        with pytest.raises(vmodl.fault.InvalidArgument):
            there.manager.DirectPathProfileManagerQueryCapacity(target, spec)


def test_a_user_without_the_privilege_lists_profiles_and_gets_no_numbers(site):
    users = {USER: "secret", "administrator@vsphere.local": "VMware1!"}
    granted = {"roles": {"readers": []}, "permissions": [{"user": USER, "role": "readers"}], "users": users}
    _running, there = site(esx(1), **granted)
    assert there.manager.DirectPathProfileManagerList(KINDS.FilterSpec()) == []
    with pytest.raises(vim.fault.NoPermission) as denied:
        there.ask(there.host(), vgpu("grid_a100-40c"))
    assert denied.value.privilegeId == "DirectPathProfileManager.Manage"
    with pytest.raises(vim.fault.NoPermission):
        there.manager.DirectPathProfileManagerDelete("none")


def test_a_device_group_counts_as_one_and_is_used_up_by_its_gpu(site):
    running, there = site(esx(1, [near(), far()]), vms=[ready("a", "esx-01", "40c"), ready("b", "esx-01", "40c")])
    (group,) = groups.offered(running.world.of_kind("HostSystem")[0])
    config = KINDS.VirtualDeviceGroupDirectPathConfig(deviceGroupName=group.name)
    assert numbers(there.ask(there.host(), config)[0]) == (0, 1, 1, 0)
    for name in ("a", "b"):
        with virtual_machine(running, name) as machine:
            WaitForTask(machine.PowerOnVM_Task())
    assert numbers(there.ask(there.cluster, config)[0]) == (0, 0, 1, 0)


def test_a_free_gpu_whose_mode_the_host_picks_counts_for_both(site):
    gpus = [near(passthrough=True), far()]
    running, there = site(esx(1, gpus), vms=[ready("a", "esx-01", "20c"), ready("b", "esx-01", "20c")])
    left_to_host(running)
    assert [numbers(one) for one in there.ask(there.host(), whole(), vgpu("grid_a100-20c"))] == [
        (0, 2, 2, 0),
        (0, 4, 4, 0),
    ]
    with virtual_machine(running, "a") as machine:
        WaitForTask(machine.PowerOnVM_Task())
    assert there.ask(there.host(), whole())[0].remaining == 1
