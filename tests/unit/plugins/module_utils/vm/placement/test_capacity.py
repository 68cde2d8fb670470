# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import capacity
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import (
    ANY,
    DIRECT,
    MIG,
    MIXED_SIZE,
    NONE,
    SAME_SIZE,
)

from .worlds import gpu


def carries(mode, *suffixes, board="grid_a100"):
    return capacity.carries(gpu(mode=mode), tuple(sorted(f"{board}-{suffix}" for suffix in suffixes)))


@pytest.mark.parametrize(
    "mode, suffixes, expected",
    [
        (SAME_SIZE, ["40c"], True),
        (SAME_SIZE, ["40c", "40c"], False),
        (SAME_SIZE, ["20c", "20c"], True),
        (SAME_SIZE, ["20c", "10c"], False),
        (SAME_SIZE, ["8c"] * 5, True),
        (SAME_SIZE, ["8c"] * 6, False),
        (SAME_SIZE, ["3-20c"], False),
        (MIXED_SIZE, ["20c", "10c", "10c"], True),
        (MIXED_SIZE, ["20c", "20c", "10c"], False),
        # Fewer of one size fit than in equal-size mode, since each size has places of its own.
        (MIXED_SIZE, ["8c"] * 4, True),
        (MIXED_SIZE, ["8c"] * 5, False),
        # 8c has places at 0, 12, 20 and 32: two of them and a 20c fit.
        (MIXED_SIZE, ["20c", "8c", "8c"], True),
        (MIXED_SIZE, ["20c", "8c", "8c", "8c"], False),
        (MIG, ["40c"], False),
        (MIG, ["4-20c", "3-20c"], True),
        (MIG, ["4-20c", "4-20c"], False),
        (MIG, ["3-20c", "2-10c", "1-5c", "1-5c"], True),
        (MIG, ["3-20c", "3-20c", "1-5c"], False),
        (MIG, ["1-5c"] * 7, True),
        (MIG, ["1-5c"] * 8, False),
        (MIG, ["1-5cme", "1-5cme"], False),
        (ANY, ["20c", "20c"], True),
        (ANY, ["3-20c", "3-20c"], True),
        (ANY, ["20c", "3-20c"], False),
        (NONE, ["40c"], False),
        (DIRECT, ["40c"], False),
    ],
)
def test_what_a_gpu_carries_together(mode, suffixes, expected):
    assert carries(mode, *suffixes) is expected


@pytest.mark.parametrize(
    "mode, suffix, own, number",
    [
        (SAME_SIZE, "8c", 3, 3),
        (SAME_SIZE, "8c", 6, 6),
        (MIXED_SIZE, "8c", 2, 2),
        # Its published places are four; five fit in the memory.
        (MIXED_SIZE, "8c", 5, 5),
        (MIXED_SIZE, "8c", 6, 5),
        (MIG, "1-5c", 2, 2),
        # Seven slices remain the limit.
        (MIG, "1-5c", 9, 7),
    ],
)
def test_a_maximum_of_the_task_replaces_that_of_the_table(mode, suffix, own, number):
    profile = f"grid_a100-{suffix}"
    assert capacity.most(replace(gpu(mode=mode), maxima=((profile, own),)), profile) == number


@pytest.mark.parametrize(
    "mode, profile, sure",
    [
        (SAME_SIZE, "grid_a100-20c", True),
        (MIXED_SIZE, "grid_a100-20c", True),
        (MIG, "grid_a100-2-10c", True),
        (SAME_SIZE, "nvidia_a16-4c", True),
        (MIXED_SIZE, "nvidia_a16-4c", False),
        (SAME_SIZE, "nvidia_a16-4q", False),
        (MIG, "nvidia_rtx_pro_6000_blackwell_dc-1-12q", False),
        (SAME_SIZE, "nvidia_unknown-4c", False),
    ],
)
def test_maxima_without_a_document_are_known(mode, profile, sure):
    assert capacity.published(gpu(mode=mode), profile) is sure


def test_vgpus_of_two_boards_are_never_on_one_gpu():
    assert not capacity.carries(gpu(), ("grid_a100-20c", "grid_a100d-20c"))


@pytest.mark.parametrize(
    "suffixes, expected",
    [
        (["7-96c"], True),
        (["7-96c", "1-12c"], False),
        (["4-48c", "3-48c"], True),
        (["4-48c", "4-48c"], False),
        (["3-48c", "3-48c"], True),
        (["3-48c", "3-48c", "1-12c"], False),
        (["1-12c"] * 7, True),
        (["1-12c"] * 8, False),
    ],
)
def test_instances_of_a_board_that_no_table_has_share_its_slices_of_compute_and_memory(suffixes, expected):
    assert carries(MIG, *suffixes, board="nvidia_x999") is expected


@pytest.mark.parametrize(
    "profile, number",
    [
        ("grid_a100-8c", 5),
        ("grid_a100-1-5c", 7),
        ("nvidia_x999-3-48c", 2),
        ("nvidia_x999-7-96c", 1),
        ("nvidia_x999-24c", 1),
        ("no profile", 1),
    ],
)
def test_how_many_vgpus_of_one_profile_are_on_a_gpu_alone(profile, number):
    assert (capacity.most_alike(profile), capacity.share(profile)) == (number, 1 / number)


def test_a_board_that_no_table_has_is_filled_by_its_memory():
    assert capacity.carries(gpu(), ("nvidia_x999-24c",))
    assert not capacity.carries(gpu(), ("nvidia_x999-24c", "nvidia_x999-12c"))
    assert carries(MIXED_SIZE, "24c", board="nvidia_x999")
    assert not carries(MIXED_SIZE, "24c", "12c", board="nvidia_x999")


@pytest.mark.parametrize(
    "load, profile, expected",
    [([], "grid_a100-10c", 4), (["grid_a100-10c"], "grid_a100-10c", 3), (["grid_a100-20c"], "grid_a100-10c", 0)],
)
def test_how_many_more_fit_depends_on_the_size_that_is_fixed(load, profile, expected):
    assert capacity.most(gpu(carries=load), profile) == expected


def test_a_gpu_that_is_given_away_has_room_for_nothing():
    assert capacity.most(gpu(held_by="other"), "grid_a100-10c") == 0
