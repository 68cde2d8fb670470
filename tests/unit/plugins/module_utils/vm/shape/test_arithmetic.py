# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""NUMA and the MMIO window: arithmetic, held to what must be true for any numbers."""

from __future__ import annotations

import dataclasses
import random

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import boards, mmio
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import numa, plan

from .worlds import A100, CONNECTX, GPU_AT, HOST, NIC_AT, T4, against, changes, host, pci, requested, shape, sriov, vgpu

OLD = host(version="7.0.3")


@pytest.mark.parametrize(
    "now, options, method",
    [
        (shape(), {}, "device"),
        (shape(hardware_version=19), {}, "affinity"),
        (shape(hardware_version=19), {"hardware_version": 20}, "device"),
        (shape(host=OLD, hardware_version=19), {}, "affinity"),
        (shape(direct=(vgpu(),)), {}, "device"),
        (shape(direct=(sriov(),)), {}, "affinity"),
        (shape(direct=(pci(),)), {}, "affinity"),
        (shape(), {"direct_nics": 1}, "affinity"),
        (shape(), {"direct_nics": 0}, "device"),
        (shape(), {"gpus": ["10de:20f1"]}, "affinity"),
        (shape(), {"gpus": ["grid_a100-40c"]}, "device"),
        (shape(), {"gpudirect": "enabled"}, "affinity"),
        (shape(host=None), {}, "device"),
        (shape(host=host(version="")), {}, "device"),
        (shape(direct=(sriov(),)), {"numa_method": "device"}, "device"),
    ],
)
def test_a_vm_that_cannot_move_is_held_and_others_report_their_guest(now, options, method):
    requested_one = requested(numa_nodes=[0], **options)
    assert numa.method(now, requested_one, plan.want(now, requested_one).hardware_version) == method


def test_an_affinity_names_the_nodes_and_gives_each_a_socket():
    assert changes(shape(), cpus=16, numa_nodes=[1, 0], numa_method="affinity", memory_reservation="ignore") == {
        "cpus": (4, 16),
        "cores_per_socket": (1, 8),
        "numa.nodeAffinity": (None, "0,1"),
    }


def test_an_affinity_to_the_same_nodes_in_other_words_is_no_change():
    now = shape(vmx={"numa.nodeAffinity": "1, 0"}, cpus=4, cores_per_socket=2, memory_locked=True)
    assert changes(now, numa_nodes=[0, 1], numa_method="affinity") == {}


def test_device_nodes_take_the_place_of_an_affinity():
    now = shape(vmx={"numa.nodeAffinity": "0"}, direct=(vgpu(),), memory_locked=True)
    assert changes(now, numa_nodes=[0], mmio="ignore") == {
        "cores_per_socket": (1, 4),
        "cores_per_numa_node": (None, 4),
        "numa_devices": ([], ["grid_a100-40c: 0"]),
        "numa.nodeAffinity": ("0", None),
    }


@pytest.mark.parametrize("nodes, affinity", [([0], {"numa.nodeAffinity": (None, "0")}), ([], {})])
def test_an_affinity_or_none_takes_away_what_device_nodes_left(nodes, affinity):
    now = shape(cores_per_socket=4, cores_per_node=4, direct=(vgpu(node=0),), memory_locked=True)
    method = "affinity" if nodes else "auto"
    assert changes(now, numa_nodes=nodes, numa_method=method, mmio="ignore") == {
        "cores_per_numa_node": (4, None),
        "numa_devices": (["grid_a100-40c: 0"], []),
        **affinity,
    }


def test_a_node_that_somebody_gave_a_device_stays_under_an_affinity():
    now = shape(cores_per_socket=4, direct=(vgpu(node=0),), memory_locked=True)
    assert changes(now, numa_nodes=[0], numa_method="affinity", mmio="ignore") == {"numa.nodeAffinity": (None, "0")}


def test_over_two_nodes_a_device_goes_where_its_address_is_and_a_vgpu_stays():
    devices = (pci(A100, 0, GPU_AT), vgpu(number=1), pci(CONNECTX, 2, NIC_AT))
    wanted = plan.want(shape(direct=devices), requested(numa_nodes=[0, 1], numa_method="device"))
    assert [one.node for one in wanted.direct] == [1, None, 1]


def test_over_two_nodes_of_an_unknown_host_every_device_stays():
    now = shape(direct=(pci(CONNECTX, 2, NIC_AT, node=1), pci(A100, 0, GPU_AT)), host=None)
    wanted = plan.want(now, requested(numa_nodes=[0, 1], numa_method="device"))
    assert [one.node for one in wanted.direct] == [1, None]


def test_without_numa_nodes_nothing_of_numa_is_touched():
    now = shape(vmx={"numa.nodeAffinity": "0"}, cores_per_node=4, direct=(vgpu(node=0),), memory_locked=True)
    assert changes(now, cpus=8, mmio="ignore") == {"cpus": (4, 8)}


def test_whatever_fits_is_spread_evenly_and_what_does_not_is_refused():
    chance = random.Random(4)
    for _attempt in range(500):
        cpus, sockets = chance.randint(1, 96), chance.randint(1, 4)
        server = host(sockets=sockets, cores=sockets * chance.choice((8, 16, 24)))
        nodes = chance.sample(range(sockets), chance.randint(1, sockets))
        method = chance.choice(("affinity", "device"))
        now = shape(cores_per_socket=1, host=server)
        requested_one = requested(cpus=cpus, numa_nodes=nodes, numa_method=method)
        found = against(now, cpus=cpus, numa_nodes=nodes, numa_method=method)
        wanted = plan.want(now, requested_one)
        per_node = server.cores // sockets
        if cpus % len(nodes):
            assert "numa_uneven" in found
            continue
        assert wanted.cores_per_socket * len(nodes) == wanted.cpus == cpus
        assert ("numa_too_many_cpus" in found) == (cpus > per_node * len(nodes))
        assert not {"numa_uneven", "numa_misaligned", "sockets_uneven"} & set(found)
        assert (wanted.cores_per_node, wanted.numa_method) == (
            (None, "affinity") if method == "affinity" else (cpus // len(nodes), "device")
        )
        assert plan.setting_changes(wanted, plan.want(wanted, requested_one)) == []


@pytest.mark.parametrize(
    "now, options, size_gb",
    [
        (shape(direct=(vgpu(),)), {}, 128),
        (shape(direct=(vgpu(), sriov())), {}, 256),
        (shape(direct=(vgpu(), pci(CONNECTX, 1))), {}, 256),
        (shape(direct=(pci(A100, 0, GPU_AT), pci(A100, 1))), {}, 256),
        (shape(), {"gpus": ["grid_a100-40c"]}, 128),
        (shape(), {"gpus": ["grid_a100-40c", "grid_a100-40c"], "direct_nics": 1}, 512),
        (shape(), {"gpus": ["10de:20f1"]}, 128),
        (shape(direct=(vgpu(),)), {"gpus": ["grid_a100-40c"]}, 128),
        (shape(direct=(vgpu(),)), {"direct_nics": 1}, 256),
        (shape(direct=(sriov(),)), {"gpus": ["grid_a100-40c"]}, 256),
        (shape(direct=(vgpu(), sriov())), {"gpus": ["grid_a100-40c"], "direct_nics": 0}, 256),
        (shape(direct=(vgpu(), vgpu(number=1))), {"gpus": ["grid_a100-40c"]}, 256),
        (shape(direct=(pci(T4), sriov())), {"direct_nics": 2}, 0),
        (shape(direct=(sriov(),)), {"direct_nics": 2}, 0),
        (shape(direct=(dataclasses.replace(pci(A100), ids=(A100, T4)),)), {}, 128),
        (shape(host=host(offered=("nvidia_z9-48c",))), {"gpus": ["nvidia_z9-8c"]}, 128),
    ],
)
def test_the_window_is_for_all_gpus_and_ports_that_are_there_or_announced(now, options, size_gb):
    assert plan.needed_mmio_gb(now, requested(**options)) == size_gb


def test_a_window_is_a_power_of_two_that_holds_all_and_never_shrinks():
    chance = random.Random(7)
    sizes = {board.vsphere_prefix: board.mmio_gb for board in boards.BOARDS if board.mmio_gb is not None}
    for _attempt in range(300):
        gpus = [f"{chance.choice(sorted(sizes))}-1c" for _gpu in range(chance.randint(0, 8))]
        ports = chance.randint(0, 4)
        before = chance.choice((None, "32", "64", "512", "8192"))
        now = shape(vmx={"pciPassthru.64bitMMIOSizeGB": before} if before else {})
        total = sum(sizes[gpu[: -len("-1c")]] for gpu in gpus)
        after = plan.want(now, requested(gpus=gpus, direct_nics=ports)).mmio_size_gb
        if not total:
            assert after == now.mmio_size_gb
            continue
        assert after == mmio.power_of_two(after)
        assert after >= total + ports * mmio.DIRECT_PORT_GB
        assert after >= int(before or 0)
        assert after < 2 * max(total + ports, int(before or 0) / 2 + 1)


def test_a_larger_window_is_kept_and_its_own_size_overrides():
    now = shape(vmx={"pciPassthru.use64bitMMIO": "true", "pciPassthru.64bitMMIOSizeGB": "512"}, memory_locked=True)
    assert changes(now, gpus=["grid_a100-40c"]) == {}
    assert changes(now, gpus=["grid_a100-40c"], mmio_size_gb=128) == {"pciPassthru.64bitMMIOSizeGB": ("512", "128")}


@pytest.mark.parametrize("vendor_device, size_gb", [(A100, 128), (T4, 0), (CONNECTX, None), ((0x10DE, 0xFFFF), None)])
def test_a_passed_through_gpu_is_known_by_its_pci_ids(vendor_device, size_gb):
    assert mmio.passthrough_mmio_gb(*vendor_device) == size_gb


def test_the_node_of_a_device_is_found_by_its_address():
    assert (HOST.node_of(GPU_AT), HOST.node_of("0000:99:00.0")) == (1, None)
