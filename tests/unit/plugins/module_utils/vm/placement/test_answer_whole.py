# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Whole answers of the planner for small data centres, as they were approved."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import answer, shortage
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import DIRECT, MIG
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.search import solve

from unit import approved

from .worlds import GB, gpu, host, port, rules, split, there, vm, world

SRIOV = {"path": "sriov", "switch": "dvs"}
PAIR = [host(1, gpus=2, nics=(split(0), split(1))), host(2, gpus=2, nics=(split(0),), waiting=("w1", "w2", "w3"))]
ON = there("host-1", "on", nodes=(0,), gpus=((gpu(0).id, "grid_a100-40c"),))
CASES = {
    "spread": (PAIR, [vm("a", "40c"), vm("b", "40c"), vm("c", "20c"), vm("d", "20c")], {}),
    "packed": (PAIR, [vm("a", "40c"), vm("b", "40c"), vm("c", "20c")], {"policy": "packed"}),
    "apart": (PAIR, [vm("a", "40c", job="j"), vm("b", "40c", job="j")], {"anti_affinity": True}),
    "ports": (PAIR, [vm("a", "40c", nics=1), vm("b", "40c", nics=2), vm("c", "40c", "40c", nics=1)], SRIOV),
    "GPUDirect": (PAIR, [vm("a", "40c", nics=1), vm("b", "40c", nics=1, present=ON)], {**SRIOV, "gpudirect": True}),
    "MIG": ([host(1, gpus=[gpu(0, MIG), gpu(1, MIG)])], [vm("a", "3-20c"), vm("b", "4-20c"), vm("c", "3-20c")], {}),
    "whole GPUs": (
        [host(1, gpus=[gpu(0, DIRECT), gpu(1, DIRECT)], nics=(port(0), port(1)))],
        [vm("a", gpus=1, nics=1), vm("b", gpus=1), vm("c", gpus=1)],
        {"path": "passthrough"},
    ),
    "kept and moved": (
        PAIR,
        [
            vm("a", "40c", present=ON),
            vm("b", "40c", present=there("host-2", "off"), pin="host-1"),
            vm("c", "40c", present=there("host-9", "off")),
        ],
        {},
    ),
    "held": ([host(1, gpus=[gpu(0, held_by="x"), gpu(1, carries=("grid_a100-20c",))])], [vm("a", "40c")], {}),
    "out of use": ([host(1, out_of_use="in maintenance mode"), host(2, gpus=0)], [vm("a", "40c")], {}),
    "no memory": ([host(1, memory_gb=64), host(2, memory_gb=128)], [vm("a", "40c", memory_mb=200 * GB)], {}),
    "large": ([host(1)], [vm("a", "40c", memory_mb=300 * GB), vm("b", memory_mb=0)], {}),
    "disks": ([host(1)], [vm("a", disk_gb=9000), vm("b", disk_gb=2000)], {}),
    "processors": ([host(1, threads=8, vcpus=4)], [vm("a", cpus=16), vm("b", cpus=4)], {}),
    "PVRDMA": (
        [host(1, pvrdma={"dvs": ""}), host(2, pvrdma={"dvs": "no vmk"})],
        [vm("a", nics=1)],
        {"path": "pvrdma", "switch": "dvs"},
    ),
    "other switch": ([host(1, switches=frozenset())], [vm("a", nics=1)], {"path": "tcp", "switch": "dvs"}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_answer_of_a_small_data_centre(name):
    hosts, vms, held = CASES[name]
    where, held = world(*hosts), rules(**held)
    found = solve(where, vms, held)
    reported = answer.answer(where, vms, held, found, shortage.shortages(where, vms, held, found))
    reported["table"] = reported["table"].splitlines()
    reported["summary"], reported["apart"], reported["remote"] = (
        answer.summary(reported),
        answer.apart(reported),
        answer.remote(reported),
    )
    approved.check(__file__, name, reported)
