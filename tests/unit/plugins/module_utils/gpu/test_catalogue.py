# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections import Counter

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.boards import BOARDS
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import parse

each_board = pytest.mark.parametrize("board", BOARDS, ids=[board.key for board in BOARDS])


def test_no_profile_belongs_to_two_boards():
    counts = Counter(catalogue.all_profiles())
    assert [name for name, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("field", ["key", "vsphere_prefix", "nvidia_prefix"])
def test_boards_are_reported_apart(field):
    counts = Counter(getattr(board, field) for board in BOARDS)
    assert max(counts.values()) == 1


@each_board
def test_every_profile_of_a_board_parses_back_to_it(board):
    for profile in catalogue.time_sliced_profiles(board) + catalogue.mig_profiles(board):
        assert parse(profile).board == board.vsphere_prefix
        assert catalogue.board_of(profile) is board
        assert catalogue.is_known(profile)


@each_board
def test_the_vsphere_prefix_is_nvidias_in_small_letters(board):
    assert board.vsphere_prefix == board.nvidia_prefix.lower().replace(" ", "_")


@each_board
def test_time_sliced_types_fit_into_the_memory_of_the_gpu(board):
    assert max(row.gb for row in board.time_sliced) == board.memory_gb
    for row in board.time_sliced:
        assert 1 <= row.max_equal <= 32
        assert row.gb * row.max_equal <= board.memory_gb
        assert (row.max_equal if row.max_mixed is None else row.max_mixed) <= row.max_equal


@each_board
def test_placements_agree_with_the_number_per_gpu_and_do_not_overlap(board):
    for row in board.time_sliced:
        if row.placements is None:
            continue
        assert len(row.placements) == row.max_mixed
        ends = [start + row.gb for start in row.placements]
        assert all(end <= start for end, start in zip(ends, row.placements[1:], strict=False))
        assert ends[-1] <= board.memory_gb


@each_board
def test_mig_backed_types_exist_only_where_the_gpu_has_mig_and_fit_its_slices(board):
    assert bool(board.mig_backed) == (board.mig_gpu is not None)
    slices = max((row.slices for row in board.mig_backed), default=0)
    for row in board.mig_backed:
        assert row.mig_profile.startswith(f"{row.slices}g.")
        assert row.mig_profile.endswith("+me") == row.media
        assert row.slices * (row.max_per_gpu / row.max_per_instance) <= slices


@pytest.mark.parametrize(
    "profile, mig_profile, number",
    [
        ("grid_a100-3-20c", "3g.20gb", 9),
        ("grid_a100-1-5cme", "1g.5gb+me", 20),
        ("nvidia_h100xm-1-20c", "1g.20gb", 15),
        ("nvidia_a30-2-12c", "2g.12gb", 5),
    ],
)
def test_a_mig_backed_profile_leads_to_its_mig_profile(profile, mig_profile, number):
    row = catalogue.mig_type(profile)
    assert (row.mig_profile, row.mig_profile_id) == (mig_profile, number)


@pytest.mark.parametrize(
    "profile, most", [("grid_a100-8c", 5), ("nvidia_l40s-8c", 6), ("grid_a100-3-20c", None), ("grid_m10-8q", None)]
)
def test_a_time_sliced_profile_leads_to_its_number_per_gpu(profile, most):
    row = catalogue.time_sliced_type(profile)
    assert (row.max_equal if row else None) == most


@pytest.mark.parametrize(
    "profile, offered, whole",
    [
        ("grid_a100-40c", (), True),
        ("grid_a100-20c", (), False),
        ("grid_a100-7-40c", (), False),
        ("nvidia_z9-64c", ("nvidia_z9-32c", "nvidia_z9-64c"), True),
        ("nvidia_z9-32c", ("nvidia_z9-32c", "nvidia_z9-64c"), False),
    ],
)
def test_a_whole_gpu_is_recognised_even_on_a_board_that_the_table_lacks(profile, offered, whole):
    assert catalogue.is_whole_gpu(profile, offered) is whole


@pytest.mark.parametrize(
    "profile, needed",
    [("grid_a100-40c", True), ("grid_t4-16c", False), ("grid_m10-8q", False), ("nvidia_z9-64c", True)],
)
def test_efi_is_needed_by_every_board_with_a_large_memory_window(profile, needed):
    assert catalogue.needs_efi(profile) is needed


@pytest.mark.parametrize(
    "profile, most",
    [("grid_a100-4c", 10), ("grid_a100-40c", 1), ("grid_a100-1-5c", 7), ("grid_a100-7-40c", 1), ("grid_x-1c", None)],
)
def test_a_gpu_holds_as_many_vgpus_as_the_table_says(profile, most):
    assert catalogue.most_per_gpu(profile) == most


@pytest.mark.parametrize(
    "profile, offered, memory, whole",
    [
        ("grid_a100-40c", (), 40, True),
        ("grid_a100-20c", (), 40, False),
        ("grid_a100-7-40c", (), 40, False),
        ("nvidia_x9-8c", (), 8, True),
        ("nvidia_x9-8c", ("nvidia_x9-16c", "nvidia_y-48c", "strange"), 16, False),
        ("strange", (), 0, False),
    ],
)
def test_the_memory_of_a_board_that_is_not_in_the_table_is_its_largest_profile(profile, offered, memory, whole):
    assert catalogue.board_memory_gb(profile, offered) == memory
    assert catalogue.is_whole_gpu(profile, offered) is whole
