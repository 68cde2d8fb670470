# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity import blocked
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.blocked import Block
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.model import Wanted
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import (
    ANY,
    DIRECT,
    MIG,
    MIXED_SIZE,
    NONE,
)

from unit.plugins.module_utils.vm.placement.worlds import INSTANCES, SLICED, gpu, host

ID = "0000:10:00.0"
WHOLE, HALF, SMALL = Wanted("grid_a100-40c"), Wanted("grid_a100-20c"), Wanted("grid_a100-1-5c")
DEVICE = Wanted("", "", "20f1")


@pytest.mark.parametrize(
    "one, wanted, expected",
    [
        (gpu(), WHOLE, []),
        (gpu(0, DIRECT), HALF, [("in_passthrough", 2, "")]),
        (gpu(0, NONE, graphics="basic"), HALF, [("driver_missing", 2, "")]),
        (gpu(0, NONE, graphics="shared"), HALF, [("graphics_type", 2, "")]),
        (gpu(0, MIG), HALF, [("mig_on", 2, "")]),
        (gpu(), SMALL, [("mig_off", 7, "")]),
        (gpu(carries=("grid_a100-20c",)), HALF, [("in_use", 1, "")]),
        (gpu(carries=("grid_a100-20c",)), WHOLE, [("other_size", 1, "grid_a100-20c")]),
        (gpu(0, MIG, carries=("grid_a100-3-20c",)), SMALL, [("mig_slices", 3, "grid_a100-3-20c")]),
        (gpu(0, ANY, carries=("grid_a100-3-20c",)), SMALL, [("mig_slices", 3, "grid_a100-3-20c")]),
        (gpu(0, MIXED_SIZE, carries=("grid_a100-40c",)), HALF, [("mixed_memory", 2, "grid_a100-40c")]),
        (gpu(0, DIRECT), DEVICE, []),
        (gpu(0, DIRECT, held_by="a"), DEVICE, [("in_use", 1, "a")]),
        (gpu(carries=("grid_a100-20c",)), DEVICE, [("not_in_passthrough", 1, "grid_a100-20c")]),
    ],
)
def test_each_cause_has_the_devices_that_it_costs(one, wanted, expected):
    there = host(gpus=(one,), offered=frozenset([*SLICED, *INSTANCES]))
    found = blocked.blocks(there, wanted)
    assert [(block.cause, block.lost, block.detail) for block in found] == expected
    assert [block.gpus for block in found] == [(ID,)] * len(expected)


def test_a_profile_that_the_host_does_not_offer_is_reported():
    there = host(offered=frozenset())
    assert [block.cause for block in blocked.blocks(there, WHOLE)] == ["not_offered"]


def test_a_host_out_of_use_blocks_all_of_its_gpus():
    there = host(gpus=2, out_of_use="it is in maintenance mode")
    ids = tuple(one.id for one in there.gpus)
    assert blocked.blocks(there, HALF) == [Block("host_out_of_use", 4, ids, "it is in maintenance mode")]
    assert blocked.blocks(there, Wanted("nvidia_l40s-48c")) == []


@pytest.mark.parametrize(
    "memory_gb, free, lost", [(0, 4, None), (64, 1, None), (64, 4, 3), (512, 1, 1), (32, 4, 1), (1, 4, None)]
)
def test_memory_allows_as_many_vms_as_it_is_enough_for(memory_gb, free, lost):
    found = blocked.memory_block(host(memory_gb=100), free, memory_gb * 1024)
    assert (found.lost if found is not None else None) == lost


def test_every_cause_has_a_fix_and_words():
    assert [cause for cause, fix in blocked.FIXES.items() if not fix.endswith(".")] == []
    assert Block("mig_slices", 3, (), "grid_a100-3-20c").text == "MIG slices 3 (grid_a100-3-20c)"
