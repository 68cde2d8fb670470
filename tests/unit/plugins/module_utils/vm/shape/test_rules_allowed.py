# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What could be taken for impossible, and is not."""

from __future__ import annotations

import pytest

from .worlds import CONNECTX, T4, against, host, pci, pvrdma, shape, sriov, vgpu


@pytest.mark.parametrize(
    "now, options",
    [
        pytest.param(shape(firmware="bios"), {}, id="BIOS without a GPU"),
        pytest.param(shape(firmware="bios", direct=(vgpu("grid_t4-16c"),)), {}, id="BIOS under a T4"),
        pytest.param(
            shape(firmware="bios", direct=(vgpu(),)), {"mmio": "ignore"}, id="BIOS, the window left to others"
        ),
        pytest.param(shape(cores_per_socket=None), {"cpus": 7}, id="sockets that vSphere chooses"),
        pytest.param(shape(), {"cpus": 64}, id="all logical processors"),
        pytest.param(shape(), {"memory_gb": 512, "memory_reservation": "ignore"}, id="overcommitted memory"),
        pytest.param(
            shape(memory_reserved_mb=16384),
            {"latency_sensitivity": "high", "memory_reservation": "ignore"},
            id="all memory reserved by a number",
        ),
        pytest.param(
            shape(), {"latency_sensitivity": "high", "cpu_reservation_mhz": 10400}, id="processors reserved in full"
        ),
        pytest.param(
            shape(cpu_reserved_mhz=5000, latency="high", memory_locked=True),
            {"latency_sensitivity": "normal", "cpu_reservation": "ignore"},
            id="processors that normal latency sensitivity does not need",
        ),
        pytest.param(
            shape(),
            {"advanced": {"sched.mem.lpage.enable1GPage": False}, "memory_reservation": "ignore"},
            id="1 GB pages switched off",
        ),
        pytest.param(shape(), {"gpudirect": "enabled", "direct_nics": 1}, id="GPUDirect, the adapter to come"),
        pytest.param(shape(direct=(vgpu(), sriov())), {"gpudirect": "enabled"}, id="GPUDirect by SR-IOV"),
        pytest.param(shape(direct=(vgpu(), pci(CONNECTX, 1))), {"gpudirect": "enabled"}, id="GPUDirect by passthrough"),
        pytest.param(shape(direct=(vgpu(), pvrdma())), {"gpudirect": "disabled"}, id="PVRDMA without GPUDirect"),
        pytest.param(shape(direct=(pci(T4),)), {"mmio_size_gb": 1}, id="any window for a T4"),
        pytest.param(shape(direct=(vgpu(), sriov())), {"mmio_size_gb": 128}, id="a window for the GPU alone"),
        pytest.param(shape(direct=(pci((0x10DE, 0xFFFF)),)), {"mmio_size_gb": 512}, id="an unknown GPU and a size"),
        pytest.param(shape(hardware_version=22), {"hardware_version": 22}, id="newer hardware than the host knows"),
        pytest.param(shape(), {"advanced": {"pciPassthru1.cfg.enable_uvm": None}}, id="a leftover that goes"),
        pytest.param(
            shape(),
            {"gpus": ["grid_a100-40c"] * 2, "advanced": {"pciPassthru1.cfg.enable_uvm": 1}},
            id="a setting for a GPU to come",
        ),
        pytest.param(
            shape(),
            {"gpus": ["grid_a100-40c"], "direct_nics": 1, "advanced": {"pciPassthru1.cfg.enable_uvm": 1}},
            id="a setting for a GPU that may come after its port",
        ),
        pytest.param(
            shape(adapters=(0,)), {"advanced": {"ethernet0.coalescingScheme": "rbc"}}, id="a setting for an adapter"
        ),
        pytest.param(shape(), {"numa_nodes": [0, 1], "cpus": 12, "cores_per_socket": 3}, id="two sockets per node"),
        pytest.param(
            shape(), {"numa_nodes": [0, 1], "cpus": 12, "cores_per_socket": 12}, id="one socket for all nodes"
        ),
        pytest.param(
            shape(),
            {"numa_nodes": [1], "cpus": 32, "advanced": {"numa.vcpu.preferHT": True}},
            id="hyperthreads that count",
        ),
        pytest.param(shape(), {"numa_nodes": [1], "memory_gb": 160}, id="memory that is not held at the node"),
        pytest.param(
            shape(), {"numa_nodes": [1], "numa_method": "affinity", "memory_gb": 128}, id="all the memory of the node"
        ),
        pytest.param(
            shape(),
            {"numa_nodes": [1], "numa_method": "affinity", "memory_gb": 160, "memory_reservation": "ignore"},
            id="memory that may come from another node",
        ),
        pytest.param(shape(hides_nodes=True), {"numa_nodes": [0]}, id="CPU hot add on one node"),
        pytest.param(shape(host=None), {"numa_nodes": [7], "cpus": 500}, id="a host that nobody may read"),
        pytest.param(shape(host=host(sockets=1)), {"numa_nodes": []}, id="no nodes any more"),
    ],
)
def test_what_works_is_not_refused(now, options):
    assert against(now, newest=21, **options) == {}
