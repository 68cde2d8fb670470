# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""From vCenter's objects into shapes, and from shapes into a specification."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.place import Place
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import plan, read, spec
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm
from pyVmomi import vim

from .worlds import P2P, requested, shape, vgpu

PCI = vim.vm.device.VirtualPCIPassthrough


class Row(dict):
    """What a row of the PropertyCollector answers."""

    moid = "host-1"


def function(address, device_id="101d", vendor=0x15B3):
    return PCI.DeviceBackingInfo(id=address, deviceId=device_id, vendorId=vendor, systemId="s", deviceName="d")


@pytest.mark.parametrize(
    "device, expected",
    [
        (PCI(key=13000, backing=PCI.VmiopBackingInfo(vgpu="grid_a100-40c")), ("vgpu", "grid_a100-40c", (), None, None)),
        (
            PCI(key=13001, numaNode=1, backing=function("0000:3b:00.0", "20f1", 0x10DE)),
            ("pci", "0000:3b:00.0", ((0x10DE, 0x20F1),), "0000:3b:00.0", 1),
        ),
        (
            # Intel's vendor id does not fit into a signed 16-bit number, and vSphere sends it all the same.
            PCI(key=13001, numaNode=-1, backing=function("0000:3b:00.0", "0x1592", 0x8086 - 0x10000)),
            ("pci", "0000:3b:00.0", ((0x8086, 0x1592),), "0000:3b:00.0", None),
        ),
        (
            PCI(
                key=13002,
                backing=PCI.DynamicBackingInfo(
                    allowedDevice=[
                        PCI.AllowedDevice(vendorId=0x10DE, deviceId=0x20F1),
                        PCI.AllowedDevice(vendorId=0x10DE, deviceId=0x20B5),
                    ]
                ),
            ),
            ("pci", "10de:20f1 or 10de:20b5", ((0x10DE, 0x20F1), (0x10DE, 0x20B5)), None, None),
        ),
        (
            PCI(key=13002, backing=PCI.DynamicBackingInfo(customLabel="fabric", allowedDevice=[])),
            ("pci", "fabric", (), None, None),
        ),
        (
            vim.vm.device.VirtualSriovEthernetCard(
                key=4001,
                sriovBacking=vim.vm.device.VirtualSriovEthernetCard.SriovBackingInfo(
                    physicalFunctionBacking=function("0000:3a:00.0")
                ),
            ),
            ("sriov", "SR-IOV adapter of 0000:3a:00.0", (), "0000:3a:00.0", None),
        ),
        (vim.vm.device.VirtualSriovEthernetCard(key=4001), ("sriov", "SR-IOV adapter", (), None, None)),
        (vim.vm.device.VirtualVmxnet3Vrdma(key=4002, numaNode=0), ("pvrdma", "PVRDMA adapter", (), None, 0)),
    ],
)
def test_a_direct_device_is_known_by_its_backing(device, expected):
    found = read.direct_of(device)
    assert (found.kind, found.name, found.ids, found.address, found.node) == expected
    assert (found.key, found.device) == (device.key, device)


@pytest.mark.parametrize("device", [vim.vm.device.VirtualVmxnet3(key=4000), vim.vm.device.VirtualDisk(key=2000)])
def test_other_devices_belong_to_no_numa_node(device):
    assert read.direct_of(device) is None


def host_row(**fields):
    numa = vim.host.NumaInfo(
        type="NUMA",
        numNodes=1,
        numaNode=[
            vim.host.NumaNode(
                typeId=0,
                cpuID=[0, 1],
                memorySize=fields.get("memory"),
                memoryRangeBegin=0,
                memoryRangeLength=fields.get("length", 0),
                pciId=["0000:3b:00.0"],
            )
        ],
    )
    processors = vim.host.CpuInfo(numCpuPackages=1, numCpuCores=16, numCpuThreads=32, hz=2_599_100_000)
    return Row(
        {
            "config.product.version": "8.0.3",
            "hardware.numaInfo": numa,
            "hardware.cpuInfo": processors,
            "hardware.memorySize": 256 * 1024**3,
        }
    )


@pytest.mark.parametrize("sizes", [{"memory": 128 * 1024**3}, {"length": 128 * 1024**3}])
def test_a_host_reports_its_nodes_in_the_words_of_old_and_new_releases(sizes):
    found = read.host_of(Place("host-1", "esx-01", "gpu", True, host_row(**sizes)))
    assert (found.cores, found.threads, found.mhz, found.memory_mb) == (16, 32, 2600, 262144)
    assert [(node.number, node.memory_mb, node.pci) for node in found.nodes] == [(0, 131072, ("0000:3b:00.0",))]
    assert found.release == (8, 0, 3)


def test_a_host_without_hardware_facts_has_no_nodes():
    found = read.host_of(Place("host-1", "esx-01", "gpu", False, Row()))
    assert (found.cores, found.threads, found.mhz, found.nodes, found.release) == (0, 0, 0, (), ())


def test_the_facts_of_a_host_are_worked_out_once_for_all_its_vms():
    hosts = read.Hosts()
    place = Place("host-1", "esx-01", "gpu", True, host_row(length=1024**3))
    assert hosts.of(place) is hosts.of(place)
    assert hosts.of(None) is None


def test_an_old_api_is_not_asked_for_what_came_with_vsphere_8():
    old = SimpleNamespace(offers=lambda version: False)
    new = SimpleNamespace(offers=lambda version: version == "8.0.0.1")
    assert "config.numaInfo" not in read.vm_properties(old)
    assert "config.numaInfo" in read.vm_properties(new)


def test_what_vsphere_chooses_itself_is_reported_as_none():
    row = Row(
        {
            "config.hardware.autoCoresPerSocket": True,
            "config.numaInfo": vim.vm.VirtualNumaInfo(coresPerNumaNode=8, autoCoresPerNumaNode=True),
            "config.hardware.device": [vim.vm.device.VirtualVmxnet3(key=4000)],
        }
    )
    found = read.shape_of(row, Vm(cpus=8, cores_per_socket=8), None)
    assert (found.cores_per_socket, found.cores_per_node, found.adapters) == (None, None, (0,))
    row["config.numaInfo"].autoCoresPerNumaNode = False
    row["config.hardware.autoCoresPerSocket"] = False
    found = read.shape_of(row, Vm(cpus=8, cores_per_socket=4), None)
    assert (found.cores_per_socket, found.cores_per_node) == (4, 8)


@pytest.mark.parametrize(
    "hot_add, exposed, hidden", [(True, None, True), (True, False, True), (True, True, False), (False, False, False)]
)
def test_cpu_hot_add_hides_the_nodes_unless_vsphere_shows_them(hot_add, exposed, hidden):
    numa = vim.vm.VirtualNumaInfo(vnumaOnCpuHotaddExposed=exposed)
    row = Row({"config.cpuHotAddEnabled": hot_add, "config.numaInfo": numa})
    assert read.shape_of(row, Vm(cpus=2), None).hides_nodes is hidden


def test_cpu_hot_add_hides_the_nodes_in_old_releases():
    assert read.shape_of(Row({"config.cpuHotAddEnabled": True}), Vm(cpus=2), None).hides_nodes


def test_a_vm_of_an_old_release_has_the_defaults():
    found = read.shape_of(Row(), Vm(cpus=2), None)
    assert (found.cores_per_socket, found.latency, found.cpu_reserved_mhz, found.cores_per_node) == (
        1,
        "normal",
        0,
        None,
    )


def wanted_spec(now, **options):
    return spec.reconfiguration(now, plan.want(now, requested(**options)))


def test_a_specification_names_only_what_differs():
    made = wanted_spec(shape(memory_locked=True), cpus=8)
    assert (made.numCPUs, made.numCoresPerSocket, made.memoryMB, made.version, made.firmware) == (
        8,
        None,
        None,
        None,
        None,
    )
    assert (made.memoryReservationLockedToMax, made.memoryAllocation, made.cpuAllocation) == (None, None, None)
    assert (made.latencySensitivity, made.virtualNuma) == (None, None)
    assert (list(made.extraConfig), list(made.deviceChange)) == ([], [])


def test_a_specification_has_all_that_was_asked_for():
    made = wanted_spec(
        shape(),
        cpus=8,
        cores_per_socket=4,
        memory_gb=32,
        latency_sensitivity="high",
        gpus=["grid_a100-40c"],
        hardware_version=22,
    )
    assert (made.numCPUs, made.numCoresPerSocket, made.memoryMB) == (8, 4, 32768)
    assert (made.memoryReservationLockedToMax, made.cpuAllocation.reservation) == (True, 20800)
    assert made.latencySensitivity.level == "high"
    # The version has a task of its own.
    assert made.version is None
    assert {option.key: option.value for option in made.extraConfig} == {
        "pciPassthru.use64bitMMIO": "TRUE",
        "pciPassthru.64bitMMIOSizeGB": "128",
    }


def test_removed_keys_are_sent_empty():
    made = wanted_spec(shape(vmx=P2P, memory_locked=True), gpudirect="disabled")
    assert {option.key: option.value for option in made.extraConfig} == dict.fromkeys(P2P, "")


def test_a_device_gets_its_node_with_all_else_as_it_was():
    device = PCI(
        key=13000, controllerKey=100, unitNumber=26, numaNode=-1, backing=PCI.VmiopBackingInfo(vgpu="grid_a100-40c")
    )
    now = shape(direct=(dataclasses.replace(vgpu(), device=device),), memory_locked=True)
    made = wanted_spec(now, numa_nodes=[1], numa_method="device", mmio="ignore")
    (change,) = made.deviceChange
    assert (change.operation, change.device.key, change.device.unitNumber) == ("edit", 13000, 26)
    assert (change.device.numaNode, change.device.backing.vgpu) == (0, "grid_a100-40c")
    assert made.virtualNuma.coresPerNumaNode == 4
    assert device.numaNode == -1


def test_the_way_back_gives_every_choice_back_to_vsphere():
    device = PCI(key=13000, numaNode=0, backing=PCI.VmiopBackingInfo(vgpu="grid_a100-40c"))
    before = shape(cores_per_socket=None, direct=(vgpu(),), memory_reserved_mb=2048)
    after = dataclasses.replace(
        before,
        cores_per_socket=4,
        cores_per_node=4,
        memory_locked=True,
        cpu_reserved_mhz=1000,
        latency="high",
        direct=(dataclasses.replace(vgpu(node=0), device=device),),
    )
    made = spec.reconfiguration(after, before)
    assert (made.numCoresPerSocket, made.virtualNuma.coresPerNumaNode) == (0, 0)
    assert (made.memoryReservationLockedToMax, made.memoryAllocation.reservation) == (False, 2048)
    assert (made.cpuAllocation.reservation, made.latencySensitivity.level) == (0, "normal")
    assert [change.device.numaNode for change in made.deviceChange] == [-1]
