"""Moves of VMs, cold and hot, and why some stay where they are."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl

from vsphere_twin.model import numa, relocation

DEVICE = vim.vm.device
A100 = {"board": "a100_pcie_40gb"}
WHOLE = {"vgpus": ["grid_a100-40c"]}


@pytest.fixture
def pair(lab):
    """Two hosts, the first with the VMs; what the second one has is up to the test."""

    def build(vms, second=None, first=None, **more):
        hosts = [
            {"name": "esx-1", "gpus": [A100], **(first or {})},
            {"name": "esx-2", "gpus": [A100], **(second or {})},
        ]
        return lab(hosts=hosts, vms=[{"host": "esx-1", **one} for one in vms], **more)

    return build


def move(here, name="vm", target=1, **more):
    spec = vim.vm.RelocateSpec(host=vim.HostSystem(here.hosts[target].moid), **more)
    return here.task("RelocateVM_Task", here.vm(name), lambda: relocation.relocate(here.world, here.vm(name), spec))


def allow_vgpus(here):
    here.world.get("VpxSettings").values["vgpu.hotmigrate.enabled"] = True


def add(here, device, name="vm"):
    change = [DEVICE.VirtualDeviceSpec(operation="add", device=device)]
    task = here.reconfigure(name, deviceChange=change)
    assert task.state == "success", task.error


def whole_gpu(here, static=False):
    address = here.hosts[0].gpus[0].pci_id
    if static:
        backing = DEVICE.VirtualPCIPassthrough.DeviceBackingInfo(
            deviceName="", id=address, deviceId="20f1", systemId=here.hosts[0].uuid, vendorId=0x10DE
        )
    else:
        allowed = DEVICE.VirtualPCIPassthrough.AllowedDevice(vendorId=0x10DE, deviceId=0x20F1)
        backing = DEVICE.VirtualPCIPassthrough.DynamicBackingInfo(deviceName="", allowedDevice=[allowed])
    return DEVICE.VirtualPCIPassthrough(key=-1, backing=backing)


def test_a_running_vm_takes_its_reservation_and_its_vgpu_along(pair):
    here = pair([{"name": "vm", **WHOLE}])
    allow_vgpus(here)
    here.power_on("vm")
    assert move(here).state == "success"
    assert [bool(host.gpus[0].residents) for host in here.hosts] == [False, True]
    assert [len(host.running_vms()) for host in here.hosts] == [0, 1]
    assert here.power_off("vm").state == "success"
    assert not here.hosts[1].gpus[0].residents


STAYS = {
    "vGPU migration is not enabled": ({}, {}, False, "MigrationFeatureNotSupported", "hot migration is not enabled"),
    "unified memory": (
        {"pciPassthru0.cfg.enable_uvm": "1"},
        {},
        True,
        "MigrationFeatureNotSupported",
        "unified memory is enabled",
    ),
    "another MIG configuration": (
        {},
        {"gpus": [{**A100, "mig": True}]},
        True,
        "MigrationFeatureNotSupported",
        "MIG configuration",
    ),
    "another board": (
        {},
        {"gpus": [{"board": "a30"}]},
        True,
        "InsufficientGraphicsResourcesFault",
        "graphics resource",
    ),
    "too little memory": (
        {},
        {"hardware": {"memory_gb": 32}},
        True,
        "InsufficientMemoryResourcesFault",
        "sufficient memory resources",
    ),
    "a host in maintenance": ({}, {"maintenance": True}, True, "InvalidHostState", "current state of the host"),
    "an older host": ({}, {"release": "7.0.3"}, True, "VirtualHardwareVersionNotSupported", "not compatible"),
}


@pytest.mark.parametrize("extra,second,allowed,fault,words", STAYS.values(), ids=STAYS)
def test_a_running_vm_with_a_vgpu_stays_because_of(pair, extra, second, allowed, fault, words):
    ready = {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "128"}
    here = pair([{"name": "vm", **WHOLE, "extra_config": {**ready, **extra}}], second)
    if allowed:
        allow_vgpus(here)
    assert here.power_on("vm").state == "success"
    task = move(here)
    assert type(task.error).__name__.rpartition(".")[2] == fault
    assert words in task.error.msg
    assert [bool(host.gpus[0].residents) for host in here.hosts] == [True, False]


def test_a_running_vm_with_a_whole_device_never_moves_and_one_that_is_off_may(pair):
    here = pair([{"name": "vm"}], first={"gpus": [{**A100, "passthrough": True}]})
    add(here, whole_gpu(here))
    here.power_on("vm")
    assert isinstance(move(here).error, vim.fault.DeviceNotSupported)
    here.power_off("vm")
    assert move(here).state == "success"


def test_a_vm_that_is_bound_to_a_slot_does_not_move_even_when_it_is_off(pair):
    here = pair([{"name": "vm"}], first={"gpus": [{**A100, "passthrough": True}]})
    add(here, whole_gpu(here, static=True))
    task = move(here)
    assert isinstance(task.error, vim.fault.CannotAccessVmDevice)
    assert here.hosts[0].gpus[0].pci_id in task.error.msg


def test_a_vm_with_pvrdma_moves_while_it_runs(pair):
    here = pair([{"name": "vm", "memory_reservation": "all", "hardware_version": 20}])
    group = next(one for one in here.world.of_kind("DistributedVirtualPortgroup") if one.name == "train")
    port = vim.dvs.PortConnection(switchUuid=group.switch.uuid, portgroupKey=group.key)
    backing = DEVICE.VirtualEthernetCard.DistributedVirtualPortBackingInfo(port=port)
    add(here, DEVICE.VirtualVmxnet3Vrdma(key=-1, backing=backing))
    assert here.power_on("vm").state == "success"
    assert move(here).state == "success"


def test_a_network_that_the_target_lacks_stops_a_running_vm_unless_the_move_changes_it(pair):
    here = pair([{"name": "vm", "networks": ["train"]}])
    group = next(one for one in here.world.of_kind("DistributedVirtualPortgroup") if one.name == "train")
    target = here.hosts[1]
    for holder in (target.networks, group.hosts):
        holder.pop(group.moid if holder is target.networks else target.moid, None)
    here.power_on("vm")
    assert isinstance(move(here).error, vim.fault.CannotAccessNetwork)
    vm = here.vm("vm")
    nic = DEVICE.VirtualVmxnet3(
        key=vm.nics[0].key, backing=DEVICE.VirtualEthernetCard.NetworkBackingInfo(deviceName="VM Network")
    )
    change = [DEVICE.VirtualDeviceSpec(operation="edit", device=nic)]
    assert move(here, deviceChange=change).state == "success"
    assert [one.name for one in vm.networks.values()] == ["VM Network"]


def test_a_move_that_is_refused_changes_no_adapter(pair):
    here = pair([{"name": "vm", "networks": ["train"]}], {"maintenance": True})
    vm = here.vm("vm")
    nic = DEVICE.VirtualVmxnet3(
        key=vm.nics[0].key, backing=DEVICE.VirtualEthernetCard.NetworkBackingInfo(deviceName="VM Network")
    )
    task = move(here, deviceChange=[DEVICE.VirtualDeviceSpec(operation="edit", device=nic)])
    assert task.state == "error"
    assert [one.name for one in vm.networks.values()] == ["train"]
    assert all(
        (vm.moid in one.vms) == (one.name == "train") for one in here.world.of_kind("Network") + [*vm.networks.values()]
    )


def test_a_full_datastore_takes_no_vm(lab):
    here = lab(vms=[{"name": "vm"}])
    (store,) = here.world.of_kind("Datastore")
    other = type(store)(here.world, "small", None, 1, 1)
    here.world.add(other)
    for host in here.hosts:
        other.hosts[host.moid], host.datastores[other.moid] = host, other
    spec = vim.vm.RelocateSpec(datastore=vim.Datastore(other.moid))
    with pytest.raises(vim.fault.NoDiskSpace, match="'small'"):
        relocation.relocate(here.world, here.vm("vm"), spec)


def test_a_host_and_a_pool_of_different_clusters_do_not_go_together(pair):
    here = pair([{"name": "vm"}])
    spec = vim.vm.RelocateSpec(host=vim.HostSystem(here.hosts[1].moid))
    outside = type(here.hosts[0].compute)(here.world, "other", here.hosts[0].compute.parent)
    here.world.add(outside)
    spec.pool = vim.ResourcePool(outside.pool.moid)
    with pytest.raises(vmodl.fault.InvalidArgument):
        relocation.relocate(here.world, here.vm("vm"), spec)


@pytest.mark.parametrize(
    "wanted,bound", [("0", (0,)), ("0,1", (0, 1)), ("5", ()), ("1,9", (1,)), ("all", ()), ("", ())]
)
def test_an_affinity_binds_to_the_nodes_that_the_host_has(lab, wanted, bound):
    here = lab(vms=[{"name": "vm", "extra_config": {"numa.nodeAffinity": wanted}}])
    assert numa.nodes(here.vm("vm")) == bound


def test_memory_that_does_not_fit_on_the_bound_node_is_remote(lab):
    vms = [
        {"name": name, "memory_gb": 150, "extra_config": {"numa.nodeAffinity": "0"}, "cpus": 4}
        for name in ("first", "second")
    ]
    here = lab(hosts=[{"name": "esx-1", "hardware": {"memory_gb": 516}}], vms=vms)
    here.power_on("first")
    assert numa.remote_mb(here.vm("first")) == 0
    here.power_on("second")
    assert numa.remote_mb(here.vm("second")) == 50 * 1024


def test_a_vm_does_not_move_to_a_host_that_does_not_see_its_files(pair):
    here = pair([{"name": "vm"}])
    store, host = next(iter(here.vm("vm").datastores.values())), here.hosts[1]
    store.hosts.pop(host.moid)
    host.datastores.pop(store.moid)
    assert isinstance(move(here).error, vim.fault.CannotAccessFile)
    assert here.vm("vm").host is here.hosts[0]
