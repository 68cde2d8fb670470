# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import dataclasses

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import plan, rules
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.state import gb

from .worlds import A100, HOST, against, host, pci, pvrdma, requested, shape, sriov, vgpu

OLD = host(version="7.0.3")
REFUSED = [
    pytest.param(
        shape(firmware="bios"),
        {"firmware": "efi"},
        "firmware_bios",
        "Its firmware is BIOS, which cannot map the memory windows of large GPUs. Create the VM from a template "
        "that was "
        "installed with EFI firmware. The firmware of an installed guest cannot be changed.",
        id="BIOS where EFI is asked for",
    ),
    pytest.param(
        shape(firmware="bios", direct=(vgpu(),)),
        {},
        "firmware_bios",
        "Its firmware is BIOS",
        id="BIOS under a GPU that needs a window",
    ),
    pytest.param(
        shape(cores_per_socket=4),
        {"cpus": 6},
        "sockets_uneven",
        "6 vCPUs cannot be put into sockets of 4; the cores_per_socket of the VM are 4. Set cores_per_socket to a "
        "divisor of 6.",
        id="sockets that the new number does not fill",
    ),
    pytest.param(
        shape(cpus=6, cores_per_socket=1),
        {"cores_per_socket": 4},
        "sockets_uneven",
        "6 vCPUs cannot be put into sockets of 4; the cpus of the VM are 6. Set cores_per_socket to a divisor of 6.",
        id="sockets that the old number does not fill",
    ),
    pytest.param(
        shape(),
        {"cpus": 65},
        "host_cpus",
        "Host esx-01 has 64 logical processors, and the VM would have 65 vCPUs. "
        "Lower cpus, or move the VM to a larger host.",
        id="more vCPUs than the host has",
    ),
    pytest.param(
        shape(),
        {"memory_gb": 256},
        "host_memory",
        "Host esx-01 has 256 GB of memory in all, and the VM would have 256 GB, all of it reserved. "
        "Lower memory_gb, or move the VM to a larger host.",
        id="more memory than the host has",
    ),
    pytest.param(
        shape(memory_reserved_mb=8192),
        {"memory_gb": 4, "memory_reservation": "ignore"},
        "memory_reservation",
        "8 GB of its memory are reserved, more than the 4 GB it would have. "
        "Use memory_reservation=all, or lower the reservation first.",
        id="less memory than is reserved",
    ),
    pytest.param(
        shape(direct=(vgpu(),)),
        {"memory_reservation_mb": 1024, "mmio": "ignore"},
        "memory_reservation",
        "A VM with grid_a100-40c starts only with all memory reserved. "
        "Remove these devices, or use memory_reservation=all without memory_reservation_mb.",
        id="a part of the memory of a VM with a vGPU",
    ),
    pytest.param(
        shape(direct=(vgpu(),)),
        {"mmio": "none"},
        "mmio_too_small",
        "Its GPUs need a window of 128 GB together, and mmio is none. Remove the GPUs, or use mmio=auto.",
        id="no window for a vGPU",
    ),
    pytest.param(
        shape(memory_reserved_mb=2048),
        {"latency_sensitivity": "high", "memory_reservation": "ignore"},
        "latency_memory",
        "High latency sensitivity needs all memory of the VM reserved, but memory_reservation=ignore keeps 2 of 16 "
        "GB. "
        "Use memory_reservation=all.",
        id="high latency sensitivity without memory",
    ),
    pytest.param(
        shape(),
        {"latency_sensitivity": "high", "cpus": 33},
        "latency_cpus",
        "High latency sensitivity reserves one core per vCPU. The VM would have 33 vCPUs, and host esx-01 has "
        "32 "
        "cores. Lower cpus, or set latency_sensitivity=normal.",
        id="high latency sensitivity with more vCPUs than cores",
    ),
    pytest.param(
        shape(cpu_reserved_mhz=5000),
        {"latency_sensitivity": "high", "cpu_reservation": "ignore"},
        "latency_cpu_reservation",
        "High latency sensitivity needs a full CPU reservation, which is 10400 MHz on host esx-01; the VM would "
        "have 5000 "
        "MHz. Use cpu_reservation=auto without cpu_reservation_mhz, or set cpu_reservation_mhz to 10400 or more.",
        id="high latency sensitivity without its processors",
    ),
    pytest.param(
        shape(),
        {"latency_sensitivity": "high", "cpu_reservation_mhz": 10399},
        "latency_cpu_reservation",
        "High latency sensitivity needs a full CPU reservation, which is 10400 MHz on host esx-01",
        id="high latency sensitivity and one MHz too few",
    ),
    pytest.param(
        shape(),
        {"advanced": {"sched.mem.lpage.enable1GPage": True}, "memory_reservation": "ignore"},
        "huge_pages_memory",
        "A VM with sched.mem.lpage.enable1GPage starts only with all memory reserved. "
        "Use memory_reservation=all, or set the key to null.",
        id="1 GB pages without memory",
    ),
    pytest.param(
        shape(direct=(vgpu(), pvrdma())),
        {"gpudirect": "enabled", "direct_nics": 1},
        "gpudirect_pvrdma",
        "The VM has a PVRDMA adapter. A PVRDMA adapter does not support GPUDirect RDMA: its driver registers memory of "
        "the VM only, "
        "so GPU memory is staged through it. Use gpudirect=disabled, or remove the PVRDMA adapter (pvrdma_nic with "
        "state=absent) and give it one by SR-IOV or passthrough. Costs of an SR-IOV adapter for a VM: it has no "
        "vMotion",
        id="GPUDirect over PVRDMA",
    ),
    pytest.param(
        shape(direct=(vgpu(), pci(A100, 1))),
        {"gpudirect": "enabled"},
        "gpudirect_without_nic",
        "The VM has no SR-IOV or passthrough network adapter, and direct_nics announces none. Add one with "
        "sriov_nic or "
        "passthrough_device, or set direct_nics if later tasks add them.",
        id="GPUDirect without an adapter",
    ),
    pytest.param(
        shape(direct=(vgpu("grid_t4-16c"), sriov())),
        {"gpudirect": "enabled", "gpus": ["10de:1db4"]},
        "gpudirect_board",
        "gpudirect is enabled, but NVIDIA does not support GPUDirect RDMA on T4 and V100 PCIe 16GB. "
        "Use gpudirect=disabled, or choose a GPU of the Ampere generation or newer.",
        id="GPUDirect with old boards",
    ),
    pytest.param(
        shape(direct=(pci((0x10DE, 0xFFFE)),)),
        {"gpus": ["10de:ffff"]},
        "mmio_unknown_gpu",
        "The collection has no memory mapped I/O size for 10de:fffe, 10de:ffff. "
        "Set mmio_size_gb to twice the memory of all GPUs of the VM, rounded up to a power of two.",
        id="GPUs that nobody knows",
    ),
    pytest.param(
        shape(direct=(vgpu(), vgpu(number=1))),
        {"mmio_size_gb": 128},
        "mmio_too_small",
        "Its GPUs need a window of 256 GB together, and mmio_size_gb is 128. Set mmio_size_gb to 256 or more, or "
        "leave it "
        "out.",
        id="a window that is too small",
    ),
    pytest.param(
        shape(hardware_version=19),
        {"hardware_version": 22},
        "hardware_version",
        "Host esx-01 supports virtual hardware up to version 21; the VM has version 19. "
        "Set hardware_version to 21 or less, or update ESXi.",
        id="hardware that the host does not know",
    ),
    pytest.param(
        shape(direct=(vgpu(),)),
        {"advanced": {"pciPassthru1.cfg.enable_uvm": 1}},
        "advanced_without_device",
        "advanced has pciPassthru1.cfg.enable_uvm, and the VM has no PCI passthrough device or vGPU with the number 1; "
        "there are: 0. Correct the number, or add the device first.",
        id="a setting for a vGPU that is not there",
    ),
    pytest.param(
        shape(),
        {"gpus": ["grid_a100-40c"], "advanced": {"pciPassthru1.cfg.enable_uvm": 1}},
        "advanced_without_device",
        "advanced has pciPassthru1.cfg.enable_uvm, and the VM has no PCI passthrough device or vGPU with the number 1",
        id="a setting for one vGPU more than announced",
    ),
    pytest.param(
        shape(),
        {"advanced": {"ethernet0.coalescingScheme": "disabled"}},
        "advanced_without_device",
        "advanced has ethernet0.coalescingScheme, and the VM has no network adapter with the number 0; there are: "
        "none. "
        "Correct the number, or add the device first.",
        id="a setting for an adapter that is not there",
    ),
    pytest.param(
        shape(),
        {"numa_nodes": [0, 2, 3], "cpus": 6},
        "numa_node_unknown",
        "Host esx-01 has the NUMA nodes 0, 1, and 2, 3 are not among them. Correct numa_nodes, or move the VM.",
        id="NUMA nodes that the host has not",
    ),
    pytest.param(
        shape(cpus=5),
        {"numa_nodes": [0, 1]},
        "numa_uneven",
        "5 vCPUs cannot be spread evenly over 2 NUMA nodes. Set cpus to a multiple of 2.",
        id="vCPUs that the nodes do not divide",
    ),
    pytest.param(
        shape(),
        {"numa_nodes": [0, 1], "cpus": 12, "cores_per_socket": 4},
        "numa_misaligned",
        "Sockets of 4 cores do not fit onto NUMA nodes of 6 vCPUs. Set cores_per_socket to 6, or leave it out.",
        id="sockets over the border of nodes",
    ),
    pytest.param(
        shape(),
        {"numa_nodes": [1], "cpus": 18},
        "numa_too_many_cpus",
        "The VM would have 18 vCPUs, and NUMA node 1 of host esx-01 has 16 cores. Set cpus to 16 or less, or add "
        "nodes to numa_nodes, or count hyperthreads with advanced numa.vcpu.preferHT=TRUE.",
        id="more vCPUs than the node has cores",
    ),
    pytest.param(
        shape(),
        {"numa_nodes": [1], "cpus": 33, "advanced": {"numa.vcpu.preferHT": True}},
        "numa_too_many_cpus",
        "The VM would have 33 vCPUs, and NUMA node 1 of host esx-01 has 32 hyperthreads. Set cpus to 32 or less, or "
        "add nodes to numa_nodes.",
        id="more vCPUs than the node has hyperthreads",
    ),
    pytest.param(
        shape(),
        {"numa_nodes": [1], "numa_method": "affinity", "memory_gb": 160},
        "numa_too_much_memory",
        "The VM would have 160 GB, and NUMA node 1 of host esx-01 has 128 GB. Lower memory_gb, or add nodes to "
        "numa_nodes.",
        id="more memory than the node has",
    ),
    pytest.param(
        shape(host=OLD, hardware_version=19),
        {"numa_nodes": [0], "numa_method": "device"},
        "numa_device_release",
        "Host esx-01 has ESXi 7.0.3, but NUMA nodes of devices need ESXi 8.0 or newer. Use numa_method=affinity.",
        id="device nodes before vSphere 8",
    ),
    pytest.param(
        shape(hardware_version=19),
        {"numa_nodes": [0], "numa_method": "device"},
        "numa_device_hardware",
        "The VM has virtual hardware version 19, but NUMA nodes of devices need version 20 or newer. "
        "Set hardware_version=20, or use numa_method=affinity.",
        id="device nodes in old hardware",
    ),
    pytest.param(
        shape(hides_nodes=True),
        {"numa_nodes": [0, 1]},
        "numa_cpu_hot_add",
        "CPU hot add is on, and the guest of such a VM sees only one NUMA node (KB 2040375). "
        "Switch CPU hot add off, or set numa_nodes to a single node.",
        id="CPU hot add over several nodes",
    ),
]


@pytest.mark.parametrize("now, options, code, message", REFUSED)
def test_what_cannot_be_is_refused_with_the_reason_and_the_way_out(now, options, code, message):
    found = against(now, newest=21, **options)
    assert found.get(code, "").startswith(message), found


def test_all_reasons_are_reported_at_once_with_the_request():
    now = shape(firmware="bios", direct=(pvrdma(),))
    requested_one = requested(cpus=100, firmware="efi", gpudirect="enabled", numa_nodes=[9])
    with pytest.raises(OperatorError) as refused:
        rules.refuse_impossible("train-01", now, plan.want(now, requested_one), requested_one)
    error = refused.value
    assert error.subject == "VM train-01"
    assert error.wanted == "cannot be configured with cpus=100, firmware=efi, numa_nodes=[9], gpudirect=enabled"
    codes = [problem["code"] for problem in error.failure["problems"]]
    assert codes == ["firmware_bios", "host_cpus", "gpudirect_pvrdma", "numa_node_unknown"]
    assert error.code == "firmware_bios"


def test_a_host_that_reports_nothing_of_itself_speaks_against_nothing():
    mute = dataclasses.replace(HOST, cores=0, threads=0, memory_mb=0, nodes=())
    assert against(shape(host=mute), cpus=400, memory_gb=9000, numa_nodes=[0], latency_sensitivity="high") == {}


@pytest.mark.parametrize("megabytes, reported", [(4096, 4), (4095, 3.999), (1536, 1.5), (1, 0.001), (0, 0)])
def test_sizes_are_reported_with_three_digits_at_most(megabytes, reported):
    assert gb(megabytes) == reported
