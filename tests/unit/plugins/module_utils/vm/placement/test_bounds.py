# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import bounds


@pytest.mark.parametrize(
    "board, load, offered, free",
    [
        ("grid_a100", (), (), 40),
        ("grid_a100", ("grid_a100-10c", "grid_a100-20c"), (), 10),
        ("grid_a100", ("grid_a100-40c",), (), 0),
        # Of a profile with a strange name nobody knows how much it takes.
        ("grid_a100", ("grid_a100-10c", "strange"), (), 30),
        # A board that is not in the table is as large as the largest profile of its own that the host offers.
        ("nvidia_x9", (), ("nvidia_x9-16c", "nvidia_x9-8c", "grid_a100-40c", "strange"), 16),
        ("nvidia_x9", ("nvidia_x9-8c",), ("nvidia_x9-16c",), 8),
    ],
)
def test_a_gpu_has_what_its_board_has_without_its_load(board, load, offered, free):
    assert bounds._free_gb(board, load, offered) == free
