"""Cached properties equal fresh ones, whatever changed: names and lists of other objects included."""

from __future__ import annotations

import pytest
from pyVmomi import vim

from vsphere_twin.model import seed
from vsphere_twin.vcenter import paths, registry, serialiser

DATA = {
    "users": {"someone@vsphere.local": "Secret1!"},
    "datacenters": [
        {
            "name": "here",
            "datastores": [{"name": "disk", "capacity_gb": 400}],
            "networks": [{"name": "VM Network"}],
            "switches": [{"name": "dvs", "portgroups": [{"name": "train", "vlan": 111}]}],
            "clusters": [{"name": "pair", "hosts": [{"name": "host-{n}", "count": 2}]}],
            "vms": [{"name": "vm-{n}", "count": 2, "networks": ["train"]}],
        }
    ],
}
NEVER = {("HostSystem", "summary")}  # the uptime in it grows


@pytest.fixture
def world():
    made = seed.from_data(DATA)
    yield made
    made.close()


@pytest.fixture
def lab(world, dispatcher, client):
    return Lab(world, dispatcher, client)


class Lab:
    """Objects by name, and a check after each change."""

    def __init__(self, world, dispatcher, client):
        self.world, self.dispatcher, self.client = world, dispatcher, client
        self.stale()

    def find(self, kind, name):
        (found,) = [one for one in self.world.of_kind(kind) if one.name == name]
        return self.client.reference(found)

    def done(self, task):
        """Let a task end; what failed is no change."""
        self.world.timeline.settle()
        assert task.info.state == "success", task.info.error

    def stale(self):
        """Read every property as a client does, and return those that the cache has in an older state."""
        found = []
        with self.world.lock:
            for entity in self.world.entities():
                for name in registry.properties_of(entity.kind):
                    path = paths.parse(entity.kind, name, self.dispatcher.newest)
                    if entity.version is None or path.served is None or (entity.kind, name) in NEVER:
                        continue
                    cached = self.dispatcher.reader.value(entity, path)
                    if self.written(path, cached) != self.written(path, path.served(entity, self.world)):
                        found.append((entity.kind, name))
        return found

    def written(self, path, value):
        out = []
        if value is not None:
            serialiser.write_any(out, "val", value, path.declared, self.dispatcher.newest)
        return "".join(out)


@pytest.mark.parametrize(
    "kind, name",
    [
        ("Datastore", "disk"),
        ("Network", "VM Network"),
        ("DistributedVirtualPortgroup", "train"),
        ("VmwareDistributedVirtualSwitch", "dvs"),
        ("ClusterComputeResource", "pair"),
        ("Datacenter", "here"),
        ("VirtualMachine", "vm-1"),
    ],
)
def test_a_new_name_is_shown_everywhere(lab, kind, name):
    lab.done(lab.find(kind, name).Rename_Task("renamed"))
    assert lab.stale() == []


def test_the_life_of_a_vm_leaves_nothing_stale(lab):
    vm, folder = lab.find("VirtualMachine", "vm-1"), lab.world.of_kind("Datacenter")[0].vm_folder
    steps = [
        lambda: lab.done(vm.PowerOnVM_Task()),
        lambda: lab.done(vm.MigrateVM_Task(None, other_host(lab, vm), "defaultPriority")),
        lambda: lab.done(vm.CreateSnapshot_Task("first", "", False, False)),
        lambda: lab.done(vm.PowerOffVM_Task()),
        lambda: lab.done(vm.ReconfigVM_Task(vim.vm.ConfigSpec(memoryReservationLockedToMax=True))),
        lambda: lab.done(vm.CloneVM_Task(lab.client.reference(folder), "copy", clone_spec())),
        vm.MarkAsTemplate,
        vm.UnregisterVM,
    ]
    for number, step in enumerate(steps):
        step()
        assert lab.stale() == [], number


def other_host(lab, vm):
    return next(host for host in map(lab.client.reference, lab.world.of_kind("HostSystem")) if host != vm.runtime.host)


def clone_spec():
    return vim.vm.CloneSpec(location=vim.vm.RelocateSpec(), powerOn=False, template=False)


def test_networks_and_pools_come_and_go_everywhere(lab):
    host, switch = lab.find("HostSystem", "host-1"), lab.find("VmwareDistributedVirtualSwitch", "dvs")
    group = vim.host.PortGroup.Specification(
        name="new", vlanId=3, vswitchName="vSwitch0", policy=vim.host.NetworkPolicy()
    )
    host.configManager.networkSystem.AddPortGroup(group)
    assert lab.stale() == []
    config = vim.dvs.DistributedVirtualPortgroup.ConfigSpec(name="other", type="earlyBinding", numPorts=4)
    lab.done(switch.CreateDVPortgroup_Task(config))
    assert lab.stale() == []
    assert "other" in [network.name for network in host.network]
    lab.done(lab.find("DistributedVirtualPortgroup", "other").Destroy_Task())
    assert lab.stale() == []
    assert [network.name for network in host.network if network.name == "other"] == []
    allocation = vim.ResourceAllocationInfo()
    pool = lab.find("ClusterComputeResource", "pair").resourcePool.CreateResourcePool(
        "pool", vim.ResourceConfigSpec(cpuAllocation=allocation, memoryAllocation=allocation)
    )
    assert lab.stale() == []
    lab.done(pool.Destroy_Task())
    assert lab.stale() == []
    member = vim.dvs.HostMember.ConfigSpec(operation="add", host=host)
    spec = vim.dvs.VmwareDistributedVirtualSwitch.ConfigSpec(name="brief", host=[member])
    folder = switch.parent
    lab.done(folder.CreateDVS_Task(vim.DistributedVirtualSwitch.CreateSpec(configSpec=spec)))
    assert lab.stale() == []
    lab.done(lab.find("VmwareDistributedVirtualSwitch", "brief").Destroy_Task())
    assert lab.stale() == []


@pytest.mark.parametrize("kind", ["earlyBinding", "ephemeral"])
def test_ports_of_a_group_follow_from_the_adapters(lab, kind):
    vm, group = lab.find("VirtualMachine", "vm-1"), lab.find("DistributedVirtualPortgroup", "train")
    lab.done(group.ReconfigureDVPortgroup_Task(vim.dvs.DistributedVirtualPortgroup.ConfigSpec(numPorts=1, type=kind)))
    assert lab.stale() == []
    port = vim.dvs.PortConnection(switchUuid=group.config.distributedVirtualSwitch.uuid, portgroupKey=group.key)
    device = vim.vm.device.VirtualVmxnet3(
        key=-1, backing=vim.vm.device.VirtualEthernetCard.DistributedVirtualPortBackingInfo(port=port)
    )
    change = vim.vm.device.VirtualDeviceSpec(operation="add", device=device)
    lab.done(vm.ReconfigVM_Task(vim.vm.ConfigSpec(deviceChange=[change])))
    assert lab.stale() == []


def test_new_names_of_uplinks_are_shown_by_the_hosts(lab):
    switch = lab.find("VmwareDistributedVirtualSwitch", "dvs")
    names = vim.DistributedVirtualSwitch.NameArrayUplinkPortPolicy(uplinkPortName=["one", "two", "three"])
    lab.done(switch.ReconfigureDvs_Task(vim.dvs.VmwareDistributedVirtualSwitch.ConfigSpec(uplinkPortPolicy=names)))
    assert lab.stale() == []


def test_lists_of_what_happened_grow(lab):
    tasks, events = lab.client.content.taskManager, lab.client.content.eventManager
    before, latest = len(tasks.recentTask), events.latestEvent.key
    lab.done(lab.find("VirtualMachine", "vm-1").PowerOnVM_Task())
    assert len(tasks.recentTask) == before + 1
    assert events.latestEvent.key > latest


def test_a_datastore_with_a_new_name_keeps_its_vms(lab):
    vm, disk = lab.find("VirtualMachine", "vm-1"), lab.find("Datastore", "disk")
    lab.done(disk.Rename_Task("renamed"))
    assert vm.config.files.vmPathName == "[renamed] vm-1/vm-1.vmx"
    lab.done(vm.ReconfigVM_Task(vim.vm.ConfigSpec(annotation="still there")))
    assert vm.datastore == [disk]
    assert disk.vm[0] == vm
