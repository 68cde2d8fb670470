# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import json

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import answer, params
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.search import solve
from ansible_collections.aiready.vsphere.plugins.modules import vm_placement_info as module

from unit.plugins.module_utils.vm.placement.worlds import host, rules, split, vm, world
from unit.plugins.modules import described

WHOLE = {"name": "a", "profiles": ["grid_a100-40c"]}


def problems(*vms, **task):
    call = {**described.LOGIN, "vms": [dict(one) for one in vms], **task}
    return params.check_params(described.checked(call, params.ARGUMENTS))


@pytest.mark.parametrize(
    "vms, task, problem",
    [
        ([], {}, "vms is empty; list at least one VM."),
        ([WHOLE, WHOLE], {}, "VM a is listed 2 times; list it once."),
        ([{"name": " "}], {}, "VM (without a name): its name is empty; set it."),
        ([{**WHOLE, "host": " "}], {}, "VM a: host is empty; remove it to let the module choose a host."),
        ([{**WHOLE, "memory_gb": 0}], {}, "VM a: memory_gb is 0; it must be at least 1."),
        ([{**WHOLE, "cpus": 0}], {}, "VM a: cpus is 0; it must be at least 1."),
        ([{**WHOLE, "disk_gb": -1}], {}, "VM a: disk_gb is -1; it must be at least 0."),
        ([{"name": "a", "profiles": [" "]}], {}, "VM a: profiles has an empty entry; remove it."),
        (
            [{"name": "a", "profiles": ["grid_a100-20c", "nvidia_a40-24c"]}],
            {},
            "VM a: all vGPUs of a VM must be of one board, but these are of grid_a100 and nvidia_a40.",
        ),
        (
            [{"name": "a", "profiles": ["nvidia_a40-24c", "nvidia_a40-24q"]}],
            {},
            "VM a: all vGPUs of a VM must be of one series, but these are of C and Q.",
        ),
        (
            [{"name": "a", "profiles": ["grid_a100-3-20c"]}],
            {},
            "VM a: grid_a100-3-20c is MIG-backed; set gpu_mode=mig, or use a time-sliced profile.",
        ),
        (
            [WHOLE],
            {"gpu_mode": "mig"},
            "VM a: grid_a100-40c is time-sliced, which gpu_mode=mig does not allow; use a MIG-backed profile.",
        ),
        (
            [WHOLE],
            {"gpu_mode": "passthrough"},
            "VM a: profiles cannot be combined with gpu_mode=passthrough, which uses whole GPUs; set gpus instead.",
        ),
        (
            [{"name": "a", "gpus": 1}],
            {},
            "VM a: gpus needs gpu_mode=passthrough or dvx; with gpu_mode=vgpu list profiles.",
        ),
        (
            [{"name": "a", "gpus": -1}],
            {"gpu_mode": "passthrough"},
            "VM a: gpus is -1; it must be at least 0.",
        ),
        (
            [{**WHOLE, "nics": 1}],
            {},
            "VM a: nics needs path=pvrdma, sriov, passthrough or dvx; with path=tcp a VM gets no port.",
        ),
        (
            [{**WHOLE, "nics": 0}],
            {"path": "sriov", "portgroup": "pg"},
            "VM a: nics is 0, but path=sriov needs at least one.",
        ),
        (
            [WHOLE],
            {"path": "pvrdma", "portgroup": "pg", "gpudirect": True},
            "gpudirect does not work over path=pvrdma: GPUDirect RDMA needs the network adapter as a PCIe device in "
            "the VM, and a PVRDMA adapter is a virtual one, so data goes through host memory; use path=sriov, "
            "path=passthrough or path=dvx, or remove gpudirect.",
        ),
        (
            [WHOLE],
            {"gpudirect": True},
            "gpudirect does not work over path=tcp, which has no RDMA; use path=sriov, path=passthrough or path=dvx.",
        ),
        (
            [{"name": "a"}],
            {"gpudirect": True, "path": "passthrough"},
            "VM a: gpudirect needs a GPU in each VM.",
        ),
        (
            [WHOLE],
            {"path": "pvrdma"},
            "path=pvrdma needs portgroup, since all VMs of a job must be on one distributed switch.",
        ),
        (
            [WHOLE],
            {"path": "passthrough", "portgroup": "pg"},
            "path=passthrough has no port group: the VM gets the port itself; remove portgroup and switch.",
        ),
        ([WHOLE], {"host_overhead_gb": -1}, "host_overhead_gb is -1; it cannot be negative."),
        (
            [WHOLE],
            {"most_per_gpu": {"a100": 2}},
            "most_per_gpu has 'a100', which is not the name of a vGPU profile, such as grid_a100-40c.",
        ),
        (
            [WHOLE],
            {"most_per_gpu": {"grid_a100-20c": "x"}},
            "most_per_gpu: 'x' of grid_a100-20c is not a number of vGPUs; use at least 1.",
        ),
        ([WHOLE], {"max_per_vm": 0}, "max_per_vm is 0; it must be at least 1."),
    ],
)
def test_what_cannot_be_meant_is_refused_before_vcenter_is_asked(vms, task, problem):
    assert problems(*vms, **task) == [problem]


def test_all_problems_are_reported_at_once():
    assert len(problems({"name": "a", "cpus": 0, "memory_gb": 0}, gpudirect=True, max_per_vm=0)) == 5


def test_the_answer_has_the_documented_keys():
    where = world(host(nics=(split(),)), host(2, out_of_use="it is in maintenance mode"))
    vms, held = [vm("a", "40c", nics=1, disk_gb=1), vm("b", "40c", nics=1)], rules(path="sriov", switch="dvs")
    found = solve(where, vms, held)
    said = answer.answer(where, vms, held, found, [])
    contains = yaml.safe_load(module.RETURN)["placement"]["contains"]
    assert set(said) == set(contains)
    for entry in said["vms"]:
        assert set(entry) == set(contains["vms"]["contains"])
    sample = yaml.safe_load(module.RETURN)["placement"]["sample"]["vms"][0]
    placed = said["vms"][0]
    assert set(placed) == set(sample)
    assert (set(placed["gpus"][0]), set(placed["nics"][0])) == (set(sample["gpus"][0]), set(sample["nics"][0]))
    json.dumps(said)


@pytest.mark.parametrize(
    "entry, task",
    [
        ({"profiles": [], "memory_gb": 1, "cpus": 1, "disk_gb": 0}, {"path": "tcp"}),
        ({"profiles": [], "gpus": 0}, {"gpu_mode": "passthrough", "path": "tcp"}),
        ({"profiles": [], "gpus": 1}, {"gpu_mode": "passthrough", "gpudirect": True, "path": "sriov"}),
        ({"nics": 1}, {"path": "sriov"}),
        ({"nics": 0}, {"path": "tcp"}),
        ({"profiles": ["grid_a100-40c", "grid_a100-20c"]}, {"path": "tcp"}),
        ({}, {"gpudirect": True, "path": "sriov"}),
        ({"profiles": ["grid_a100-3-20c"]}, {"gpu_mode": "mig", "path": "tcp"}),
        ({}, {"path": "pvrdma", "switch": "dvs"}),
        ({}, {"path": "tcp", "host_overhead_gb": 0, "max_per_vm": 1}),
    ],
)
def test_what_is_just_allowed_is_taken(entry, task):
    assert problems({**WHOLE, **entry}, **task) == []


@pytest.mark.parametrize("path, nics, ports", [("tcp", None, 0), ("sriov", None, 1), ("sriov", 2, 2), ("pvrdma", 0, 0)])
def test_a_vm_gets_one_port_unless_it_says_otherwise(path, nics, ports):
    assert params.ports({"nics": nics}, path) == ports
