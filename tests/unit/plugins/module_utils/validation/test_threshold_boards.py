# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import thresholds


@pytest.mark.parametrize(
    "named, words, same",
    [
        ("grid_a100x-40c", ("A100",), True),
        ("grid_a100dx-80c", ("A100",), True),
        ("grid_a100-40c", ("A100",), False),
        ("nvidia_h100xm-80c", ("H100",), True),
        ("nvidia_h100xm-80c", ("A100", "H200"), False),
        ("NVIDIA A100-SXM4-80GB", ("A100",), True),
        ("NVIDIA A1000", ("A100",), False),
        ("", ("A100",), False),
    ],
)
def test_published_figures_apply_to_the_board_of_a_profile(named, words, same):
    assert thresholds._is_gpu(named, words) is same
