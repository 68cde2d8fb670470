"""The product reads wrong results in what nccl-tests of the twin prints."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import nccl_tests

from twin_labs.guest_pair import Pair
from vsphere_twin.model import gpu_errors

SWEEP = ("all_reduce_perf", "-b", "256M", "-e", "1G", "-f", "2", "-g", "1")


@pytest.mark.parametrize("guest", [0, 1])
def test_wrong_results_are_counted(guest):
    pair = Pair()
    right, _second = pair.job(*SWEEP)
    gpu_errors.set_wrong(pair.world, pair.guests[guest].vm)
    wrong, _second = pair.job(*SWEEP)
    assert (nccl_tests.parse(right.out)["wrong"], nccl_tests.parse(wrong.out)["wrong"] > 0) == (0, True)
