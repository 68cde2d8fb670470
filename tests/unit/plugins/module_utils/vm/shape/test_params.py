# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import params

from .worlds import requested


@pytest.mark.parametrize(
    "options, problem",
    [
        ({"cpus": 0}, "cpus is 0; it must be at least 1."),
        ({"cores_per_socket": 0}, "cores_per_socket is 0; it must be at least 1."),
        ({"memory_gb": -4}, "memory_gb is -4; it must be at least 1."),
        ({"cpu_reservation_mhz": -1}, "cpu_reservation_mhz is -1; it must be at least 0."),
        ({"direct_nics": -1}, "direct_nics is -1; it must be at least 0."),
        ({"hardware_version": 8}, "hardware_version is 8; write the number only, such as 21 for vmx-21, 11 or higher."),
        (
            {"cpu_reservation_mhz": 1000, "cpu_reservation": "ignore"},
            "cpu_reservation_mhz is set, but cpu_reservation=ignore leaves the reservation unchanged; remove one of "
            "them.",
        ),
        (
            {"cpus": 16, "cores_per_socket": 3},
            "16 cpus cannot be put into sockets of 3; set cores_per_socket to a divisor of cpus.",
        ),
        ({"numa_method": "affinity"}, "numa_method=affinity is set without numa_nodes; set numa_nodes too."),
        (
            {"numa_nodes": [], "numa_method": "device"},
            "numa_method=device is set without numa_nodes; set numa_nodes too.",
        ),
        ({"numa_nodes": [-1]}, "numa_nodes has -1; NUMA nodes are counted from 0."),
        ({"numa_nodes": [0, 0]}, "numa_nodes lists a node twice; list it once."),
        (
            {"numa_nodes": [0, 1], "cpus": 15},
            "15 cpus cannot be spread evenly over 2 NUMA nodes; set cpus to a multiple of 2.",
        ),
        (
            {"gpus": ["A100"]},
            "gpus has A100, which is neither a vGPU profile such as grid_a100-40c nor the vendor and device of a PCI "
            "device such as 10de:20f1.",
        ),
        (
            {"mmio": "none", "mmio_size_gb": 128},
            "mmio_size_gb is set, but mmio=none removes the MMIO window; remove one of them.",
        ),
        (
            {"mmio": "ignore", "mmio_size_gb": 128},
            "mmio_size_gb is set, but mmio=ignore leaves the MMIO size unchanged; remove one of them.",
        ),
        ({"mmio_size_gb": 100}, "mmio_size_gb is 100; it must be a power of two, for example 128."),
        (
            {"advanced": {"numa.nodeAffinity": "0"}},
            "advanced has numa.nodeAffinity, which the option numa_nodes manages; use that option.",
        ),
    ],
)
def test_a_request_that_contradicts_itself_is_refused_before_login(options, problem):
    assert list(params.check_request(requested(**options))) == [problem]


def test_a_sound_request_has_nothing_against_it():
    sound = requested(
        cpus=16,
        cores_per_socket=8,
        memory_gb=64,
        hardware_version=20,
        numa_nodes=[0, 1],
        numa_method="affinity",
        mmio_size_gb=256,
        gpus=["grid_a100-40c", "10de:20f1"],
        direct_nics=0,
        cpu_reservation_mhz=0,
        advanced={"numa.vcpu.preferHT": True},
    )
    assert list(params.check_request(sound)) == []


def test_a_vm_of_a_fleet_takes_its_own_shape_and_the_tasks_for_the_rest():
    entry = dict.fromkeys(params.ARGUMENTS.spec["vms"]["options"])
    task = {name: option.get("default") for name, option in params.ARGUMENTS.spec.items()}
    entries = [{**entry, "name": "a", "numa_nodes": []}, {**entry, "name": "b", "cpus": 8}]
    requests = params.ARGUMENTS.requests({**task, "vms": entries, "numa_nodes": [1], "cpus": 4})
    first, second = (one.settings for one in requests)
    assert (first.numa_nodes, first.cpus, first.mmio) == ([], 4, "auto")
    assert (second.numa_nodes, second.cpus, second.mmio) == ([1], 8, "auto")
