# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import mmio


@pytest.mark.parametrize(
    "profiles, size_gb",
    [
        ([], 0),
        (["grid_t4-16c"], 0),
        (["grid_a100-40c"], 128),
        (["grid_a100-4c"], 128),
        (["grid_a100-40c"] * 2, 256),
        (["grid_a100-40c"] * 3, 512),
        (["grid_a100d-80c"], 256),
        (["nvidia_a30-24c"] * 2, 128),
        (["nvidia_h200x-141c"] * 8, 4096),
        (["nvidia_h100xm-1-10c"], 256),
        (["grid_v100-16c"], 64),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, list) else None,
)
def test_the_window_is_the_sum_over_the_gpus_rounded_up(profiles, size_gb):
    assert mmio.window_gb(map(mmio.gpu_mmio_gb, profiles), 0) == size_gb


@pytest.mark.parametrize(
    "profile, offered, size_gb",
    [
        ("nvidia_rtx_pro_6000_blackwell_dc-96c", (), 256),
        ("nvidia_b200x-180c", (), 512),
        ("nvidia_z9-8c", ("nvidia_z9-8c", "nvidia_z9-48c"), 128),
        ("nvidia_z9-48c", (), 128),
    ],
)
def test_without_a_published_figure_it_is_twice_the_memory_rounded_up(profile, offered, size_gb):
    assert mmio.gpu_mmio_gb(profile, offered) == size_gb


def test_a_device_whose_name_says_nothing_needs_nothing():
    assert mmio.gpu_mmio_gb("some day") == 0
