# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The validation reads the NVLinks of the twin's guests: what nvidia-smi prints there decides `guest.topology`."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import check_guest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import About
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import topology

from twin_labs.guest_lab import HOST, VM, Guest
from vsphere_twin.model import gpu_errors
from vsphere_twin.model import seed as seeds

A100 = {"board": "a100_pcie_40gb", "graphics_type": "sharedDirect"}
WHOLE = {"board": "a100_pcie_40gb", "passthrough": True}
HGX = {"board": "h100_sxm_80gb", "graphics_type": "sharedDirect", "count": 8}
H100 = "nvidia_h100xm-80c"


def bridged(gpu, *names):
    """A GPU for each name of an NVLink bridge."""
    return [{**gpu, "nvlink": name} for name in names]


class Case(NamedTuple):
    """GPUs of a host, what a VM requests of them, and the verdict of a site that requires NVLink."""

    name: str
    host: dict
    vm: dict
    verdict: str
    measured: str
    says: str = ""
    size: int = 0  # GPUs of an NVLink set


CASES = (
    Case("a vGPU for each GPU of a bridge", {"gpus": bridged(A100, "a", "a")}, {"vgpus": 2}, "pass", "NV12"),
    Case(
        "a device group of the GPUs of a bridge",
        {"gpus": bridged(A100, "a", "b", "a", "b")},
        {"device_groups": ["Nvidia:2@grid_a100-40c%NVLink"]},
        "pass",
        "NV12",
    ),
    Case(
        "a device group of whole GPUs",
        {"gpus": bridged(WHOLE, "a", "b", "a", "b")},
        {"device_groups": ["Nvidia:2@NVIDIA A100 PCIe 40GB%NVLink"]},
        "pass",
        "NV12",
    ),
    Case("four vGPUs beside NVSwitches", {"gpus": [HGX], "nvswitches": 4}, {"vgpus": 4, "type": H100}, "pass", "NV18"),
    Case(
        "eight vGPUs in a device group beside NVSwitches",
        {"gpus": [HGX], "nvswitches": 4},
        {"device_groups": [f"Nvidia:8@{H100}%NVLink"]},
        "pass",
        "NV18",
    ),
    Case(
        "two device groups of the GPUs of two bridges",
        {"gpus": bridged(WHOLE, "a", "b", "a", "b")},
        {"device_groups": ["Nvidia:2@NVIDIA A100 PCIe 40GB%NVLink"] * 2},
        "pass",
        "NV12, PHB",
        size=2,
    ),
    Case(
        "three vGPUs of one bridge and of none, requested in sets of two",
        {"gpus": bridged(A100, "a", "a", "")},
        {"vgpus": 3},
        "fail",
        "NV12, PHB",
        "1 of 3 GPUs has no NVLink connection to all GPUs of a set of 2, such as GPU2.",
        size=2,
    ),
    Case(
        "vGPUs of two bridges",
        {"gpus": bridged(A100, "a", "b", "a", "b")},
        {"vgpus": 2},
        "fail",
        "PHB",
        "1 of 1 pairs of GPUs have no NVLink connection, such as GPU0 and GPU1 (PHB).",
    ),
    Case(
        "three vGPUs of a bridge and a GPU beside it",
        {"gpus": bridged(A100, "a", "a", "")},
        {"vgpus": 3},
        "fail",
        "NV12, PHB",
        "2 of 3 pairs of GPUs have no NVLink connection, such as GPU0 and GPU2 (PHB).",
    ),
    Case(
        "vGPUs that are parts of GPUs",
        {"gpus": bridged(A100, "a", "a")},
        {"vgpus": 2, "type": "grid_a100-20c"},
        "fail",
        "PHB",
        "1 of 1 pairs of GPUs have no NVLink connection",
    ),
    Case(
        "NVSwitches without a Fabric Manager",
        {"gpus": [HGX], "nvswitches": 4, "fabric_manager": False},
        {"vgpus": 2, "type": H100},
        "fail",
        "PHB",
        "1 of 1 pairs of GPUs have no NVLink connection",
    ),
    Case(
        "one GPU of a bridge",
        {"gpus": bridged(A100, "a", "a")},
        {"vgpus": 1},
        "fail",
        "one GPU",
        "The guest has one GPU, which has no NVLink peer.",
    ),
    Case(
        "two of four connected GPUs",
        {"gpus": [{"board": "h200_nvl", "graphics_type": "sharedDirect", "nvlink": "four", "count": 4}]},
        {"vgpus": 2, "type": "nvidia_h200-141c"},
        "warn",
        "NV6",
        "Not all NVLinks are active: GPU0 6 of 18, GPU1 6 of 18.",
    ),
)


def guest(case):
    """The running VM of a case, with the data centre driver where it has whole GPUs."""
    kind = case.vm.get("type", "grid_a100-40c")
    whole = any(gpu.get("passthrough") for gpu in case.host["gpus"])
    host = {
        **HOST,
        "hardware": {"memory_gb": 4096},
        "driver": {"family": "nvaie", "version": "580.105.06"},
        **case.host,
    }
    machine = {
        **VM,
        "hardware_version": 20,
        "vgpus": [kind] * case.vm.get("vgpus", 0),
        "device_groups": case.vm.get("device_groups", []),
        "extra_config": {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "4096"},
    }
    world = seeds.from_data(
        {
            "release": "9.1.0",
            "users": {"administrator@vsphere.local": "VMware1!"},
            "datacenters": [
                {
                    "name": "lab",
                    "datastores": [{"name": "ds", "capacity_gb": 2048, "free_gb": 2000}],
                    "networks": [{"name": "VM Network"}],
                    "switches": [{"name": "dvs-rdma", "mtu": 9000, "portgroups": [{"name": "pg-rdma"}]}],
                    "clusters": [{"name": "gpu", "hosts": [host]}],
                    "vms": [machine],
                }
            ],
        }
    )
    driver = {"flavour": "datacentre", "open": True} if whole else {}
    return Guest(world, world.of_kind("VirtualMachine")[0]).driver("580.105.08", **driver).boot()


def judged(case, required):
    machine = guest(case)
    values = topology.parse(machine.run("nvidia-smi", "topo", "-m")[1])
    values["links"] = topology.links(machine.run("nvidia-smi", "nvlink", "--status")[1])
    about = About("guest.topology", {"guest": "job-01"}, "", {"nvlink": required, "nvlink_gpus": case.size}, {})
    return check_guest.nearness(values, about)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_links_of_a_guest_are_compared_with_the_request(case):
    found = judged(case, required=True)
    assert found.verdict == case.verdict
    assert str(found.measured).partition("; ")[0] == case.measured
    assert (found.reported[0].why if found.reported else "").startswith(case.says)


def test_a_site_that_does_not_require_nvlink_accepts_guests_without_it():
    (case,) = [one for one in CASES if one.name == "vGPUs of two bridges"]
    assert judged(case, required=False).verdict == "pass"


def test_the_errors_of_nvlinks_are_read_as_the_guest_counts_them():
    machine = guest(CASES[0])
    for kind, number, gpu, link in (("Replay", 3, 1, 0), ("Replay", 2, 1, 5), ("CRC", 7, 0, 1)):
        gpu_errors.add_link_errors(machine.world, machine.vm, kind, number, gpu=gpu, link=link)
    found = topology.link_errors(machine.run("nvidia-smi", "nvlink", "--errorcounters")[1])
    assert list(found.values()) == [
        {"replays": 0, "recoveries": 0, "crc": 7},
        {"replays": 5, "recoveries": 0, "crc": 0},
    ]
