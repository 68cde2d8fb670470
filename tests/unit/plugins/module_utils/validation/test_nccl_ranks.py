"""From the ranks that nccl-tests list to a number of hosts, also where a launcher lost lines of the list."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import nccl_tests

from . import texts
from .texts import MIB, nccl_row

RANK = "#  Rank {:2} Group  0 Pid   {} on {} device  0 [0x0f] NVIDIA A100-SXM4-40GB\n"


def _listed(*ranks, factor=1.875, hosts=("job-01", "job-02")):
    """An all-reduce by its arithmetic, with these ranks listed; eight are on each host."""
    head = "".join(RANK.format(rank, 100 + rank, hosts[rank // 8]) for rank in ranks)
    return nccl_tests.parse(head + texts.nccl_tests([nccl_row(512 * MIB, 100.0, factor)], ranks=()))


@pytest.mark.parametrize(
    "ranks, factor, nodes",
    [
        (range(16), 1.875, 2),
        # A launcher that lost lines: the end, the beginning, some between, and one that came twice.
        (range(8), 1.875, None),
        (range(8, 16), 1.875, None),
        ((0, 1, 15), 1.875, None),
        ((*range(15), 14), 1.875, None),
        # Without arithmetic to compare with, a list without gaps is believed.
        (range(8), 0.875, 1),
        ((), 1.875, None),
    ],
)
def test_hosts_are_counted_where_the_list_of_ranks_is_whole(ranks, factor, nodes):
    assert _listed(*ranks, factor=factor)["nodes"] == nodes


def test_figures_of_little_precision_do_not_doubt_the_list():
    # 0.03 / 0.02 could be any number of ranks between two and hundreds.
    text = texts.nccl_tests([nccl_row(512 * MIB, 0.02, 1.5)], ranks=("job-01", "job-02"))
    assert nccl_tests.parse(text)["nodes"] == 2
