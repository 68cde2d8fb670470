"""What a VM needs to start beside its GPUs: versions, reservations, room on the host, MMIO for all devices."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl

from vsphere_twin.model import reconfigure, resources

DEVICE = vim.vm.device
MMIO, SIZE = "pciPassthru.use64bitMMIO", "pciPassthru.64bitMMIOSizeGB"


def kind_of(task):
    return type(task.error).__name__.rpartition(".")[2]


def reserved_cpu(mhz):
    return vim.ResourceAllocationInfo(reservation=mhz)


def sensitivity(level):
    return vim.LatencySensitivity(level=level)


def test_a_latency_sensitive_vm_wants_all_memory_and_whole_processors_reserved(lab):
    here = lab(vms=[{"name": "vm", "memory_reservation": "none"}])
    here.reconfigure("vm", latencySensitivity=sensitivity("high"))
    assert "(sched.mem.min)" in here.power_on("vm").error.msg
    here.reconfigure("vm", memoryReservationLockedToMax=True)
    task = here.power_on("vm")
    assert kind_of(task) == "GenericVmConfigFault"
    assert "(sched.cpu.min) should be at least 16000 MHz" in task.error.msg
    here.reconfigure("vm", cpuAllocation=reserved_cpu(16000))
    assert here.power_on("vm").state == "success"


@pytest.mark.parametrize("level", ["low", "normal", "medium"])
def test_lower_latency_sensitivity_wants_nothing(lab, level):
    here = lab(vms=[{"name": "vm", "memory_reservation": "none"}])
    here.reconfigure("vm", latencySensitivity=sensitivity(level))
    assert here.power_on("vm").state == "success"


def test_reserved_processors_are_given_once(lab):
    here = lab(vms=[{"name": "first"}, {"name": "second"}])
    for name in ("first", "second"):
        here.reconfigure(name, cpuAllocation=reserved_cpu(70_000))
    assert here.power_on("first").state == "success"
    task = here.power_on("second")
    assert kind_of(task) == "InsufficientCpuResourcesFault"
    assert (task.error.unreserved, task.error.requested) == (47_039, 70_000)
    here.power_off("first")
    assert here.power_on("second").state == "success"


def test_a_vm_has_no_more_processors_than_its_host_has_threads(lab):
    here = lab(vms=[{"name": "vm", "cpus": 130}])
    task = here.power_on("vm")
    assert kind_of(task) == "NotEnoughLogicalCpus"
    assert "130 virtual CPUs" in task.error.msg


def test_a_reservation_costs_its_overhead_as_well(lab):
    host = {"name": "esx-1", "hardware": {"memory_gb": 80}}
    here = lab(hosts=[host], vms=[{"name": "first"}, {"name": "second"}])
    assert here.power_on("first").state == "success"
    task = here.power_on("second")
    assert kind_of(task) == "InsufficientMemoryResourcesFault"
    overhead = resources.overhead_mb(here.vm("second"))
    assert task.error.requested == (32 * 1024 + overhead) * 1024 * 1024
    here.reconfigure("second", memoryMB=32 * 1024 - 4 * overhead // 4 * 4 - 400)
    assert here.power_on("second").state == "success"


def function(here, count):
    group = next(one for one in here.world.of_kind("DistributedVirtualPortgroup") if one.name == "train")
    port = vim.dvs.PortConnection(switchUuid=group.switch.uuid, portgroupKey=group.key)
    backing = DEVICE.VirtualEthernetCard.DistributedVirtualPortBackingInfo(port=port)
    device = DEVICE.VirtualSriovEthernetCard(key=-1, backing=backing)
    return [DEVICE.VirtualDeviceSpec(operation="add", device=device) for _number in range(count)]


SRIOV_HOST = {
    "name": "esx-1",
    "gpus": [{"board": "a100_pcie_40gb"}],
    "nics": [
        {"device": "vmnic0", "model": "i350", "uplink_of": "vSwitch0"},
        {"device": "vmnic1", "model": "cx6dx", "uplink_of": "dvs", "firmware": {"sriov": True, "num_vfs": 8}},
    ],
    "module_options": {"nmlx5_core": "max_vfs=8"},
}


@pytest.mark.parametrize("size,state", [("128", "error"), ("256", "success")])
def test_the_window_holds_the_gpu_and_the_virtual_function_beside_it(lab, size, state):
    vm = {"name": "vm", "vgpus": ["grid_a100-40c"], "extra_config": {MMIO: "TRUE", SIZE: size}}
    here = lab(hosts=[SRIOV_HOST], vms=[vm])
    assert here.reconfigure("vm", deviceChange=function(here, 1)).state == "success"
    task = here.power_on("vm")
    assert task.state == state
    if state == "error":
        assert "65536 KB of PCI MMIO" in task.error.msg


def test_a_virtual_function_alone_needs_no_window(lab):
    here = lab(hosts=[SRIOV_HOST], vms=[{"name": "vm", "extra_config": {}}])
    here.reconfigure("vm", deviceChange=function(here, 2))
    assert here.power_on("vm").state == "success"


def test_a_whole_gpu_needs_a_window_as_a_vgpu_does(lab):
    host = {"name": "esx-1", "gpus": [{"board": "a100_pcie_40gb", "passthrough": True}]}
    here = lab(hosts=[host], vms=[{"name": "vm", "extra_config": {MMIO: "TRUE", SIZE: "64"}}])
    allowed = DEVICE.VirtualPCIPassthrough.AllowedDevice(vendorId=0x10DE, deviceId=0x20F1)
    backing = DEVICE.VirtualPCIPassthrough.DynamicBackingInfo(deviceName="", allowedDevice=[allowed])
    device = DEVICE.VirtualPCIPassthrough(key=-1, backing=backing)
    here.reconfigure("vm", deviceChange=[DEVICE.VirtualDeviceSpec(operation="add", device=device)])
    assert f"{64 * 1024 * 1024} KB of PCI MMIO" in here.power_on("vm").error.msg


VERSIONS = {
    "older than it is": ("vmx-17", vim.fault.InvalidState),
    "newer than the host knows": ("vmx-22", vim.fault.VirtualHardwareVersionNotSupported),
    "what it has": ("vmx-20", vim.fault.AlreadyUpgraded),
    "no version": ("newest", vmodl.fault.InvalidArgument),
}


@pytest.mark.parametrize("wanted,fault", VERSIONS.values(), ids=VERSIONS)
def test_virtual_hardware_is_not_upgraded_to(lab, wanted, fault):
    here = lab(vms=[{"name": "vm", "hardware_version": 20}])
    with pytest.raises(fault):
        reconfigure.upgrade(here.world, here.vm("vm"), wanted)
    assert here.vm("vm").hardware_version == "vmx-20"


def test_an_upgrade_goes_to_the_newest_that_the_host_has_and_only_while_the_vm_is_off(lab):
    here = lab(vms=[{"name": "vm", "hardware_version": 19}])
    here.power_on("vm")
    with pytest.raises(vim.fault.InvalidPowerState):
        reconfigure.upgrade(here.world, here.vm("vm"))
    here.power_off("vm")
    reconfigure.upgrade(here.world, here.vm("vm"))
    assert here.vm("vm").hardware_version == "vmx-21"


def test_a_reconfiguration_never_lowers_the_version_either(lab):
    here = lab(vms=[{"name": "vm", "hardware_version": 20}])
    assert kind_of(here.reconfigure("vm", version="vmx-19")) == "InvalidState"
    assert here.reconfigure("vm", version="vmx-21").state == "success"


@pytest.mark.parametrize(
    "release,hardware,state", [("8.0.3", 20, "success"), ("8.0.3", 19, "error"), ("7.0.3", 19, "error")]
)
def test_virtual_numa_nodes_are_reported_from_8_and_hardware_20_on(lab, release, hardware, state):
    here = lab(vms=[{"name": "vm", "hardware_version": hardware, "networks": ["train"]}], release=release)
    task = here.reconfigure("vm", virtualNuma=vim.vm.VirtualNuma(coresPerNumaNode=4))
    assert task.state == state
    nic = here.vm("vm").nics[0]
    edit = DEVICE.VirtualDeviceSpec(operation="edit", device=type(nic)(key=nic.key, numaNode=1))
    task = here.reconfigure("vm", deviceChange=[edit])
    assert task.state == state
    if state == "success":
        assert (here.vm("vm").cores_per_numa_node, here.vm("vm").nics[0].numaNode) == (4, 1)
        here.reconfigure("vm", virtualNuma=vim.vm.VirtualNuma(coresPerNumaNode=0))
        assert here.vm("vm").cores_per_numa_node is None


def test_pinned_memory_has_a_property_and_does_not_come_in_as_a_setting(lab):
    here = lab(vms=[{"name": "vm"}])
    option = vim.option.OptionValue(key="sched.mem.pin", value="TRUE")
    assert here.reconfigure("vm", extraConfig=[option]).state == "success"
    assert here.vm("vm").setting("sched.mem.pin") is None


@pytest.mark.parametrize(
    "mac, starts",
    [
        ("00:50:56:3f:00:01", True),
        ("00:50:56:40:00:01", False),
        ("00:50:56:A0:00:01", False),
        ("00:0c:29:00:00:01", False),
        ("02:00:00:00:00:01", True),
    ],
)
def test_a_fixed_address_is_none_of_those_that_vsphere_gives_itself(lab, mac, starts):
    here = lab(vms=[{"name": "vm", "adapters": [{"network": "VM Network", "mac": mac}]}])
    task = here.power_on("vm")
    assert (task.state == "success") is starts
    if not starts:
        assert "is not a valid static Ethernet address. It conflicts with VMware reserved MACs" in task.error.msg
        here.reconfigure("vm", extraConfig=[vim.option.OptionValue(key="ethernet0.checkMACAddress", value="FALSE")])
        assert here.power_on("vm").state == "success"
