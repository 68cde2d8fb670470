# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import ProfileName, parse

# Names as vSphere was seen to print them, in captures and public code.
CAPTURED = {
    "grid_a100-8c": ("grid_a100", "grid", None, 8, "c", ""),
    "grid_a100-10c": ("grid_a100", "grid", None, 10, "c", ""),
    "grid_a100-40c": ("grid_a100", "grid", None, 40, "c", ""),
    "grid_a100d-8c": ("grid_a100d", "grid", None, 8, "c", ""),
    "grid_v100-4q": ("grid_v100", "grid", None, 4, "q", ""),
    "grid_v100d-4q": ("grid_v100d", "grid", None, 4, "q", ""),
    "grid_m10-8q": ("grid_m10", "grid", None, 8, "q", ""),
    "nvidia_a40-1b": ("nvidia_a40", "nvidia", None, 1, "b", ""),
    "nvidia_h100xm-80c": ("nvidia_h100xm", "nvidia", None, 80, "c", ""),
    "nvidia_h200x-1-35c": ("nvidia_h200x", "nvidia", 1, 35, "c", ""),
    "nvidia_l40s-48q": ("nvidia_l40s", "nvidia", None, 48, "q", ""),
    "nvidia_rtx_pro_6000_blackwell_dc-4-96q": ("nvidia_rtx_pro_6000_blackwell_dc", "nvidia", 4, 96, "q", ""),
}
DERIVED = {
    "grid_a100-1-5cme": ("grid_a100", "grid", 1, 5, "c", "me"),
    "grid_t4-2b4": ("grid_t4", "grid", None, 2, "b", "4"),
    "nvidia_rtx6000-ada-48c": ("nvidia_rtx6000-ada", "nvidia", None, 48, "c", ""),
}


@pytest.mark.parametrize("text, parts", [*CAPTURED.items(), *DERIVED.items()], ids=[*CAPTURED, *DERIVED])
def test_every_name_that_vsphere_was_seen_to_use_is_taken_apart(text, parts):
    assert parse(text) == ProfileName(text, *parts)


@pytest.mark.parametrize(
    "text",
    ["", "a100", "grid_a100", "grid_a100-40", "grid_a100-40x", "amd_mi210-16c", "GRID A100-40C", "grid_a100-40c "],
)
def test_what_is_not_a_profile_name_is_not_taken_for_one(text):
    assert parse(text) is None


@pytest.mark.parametrize(
    "text, mig_backed, media",
    [("grid_a100-40c", False, False), ("grid_a100-3-20c", True, False), ("nvidia_a30-2-12cme", True, True)],
)
def test_a_name_reports_mig_and_media_engines(text, mig_backed, media):
    name = parse(text)
    assert (name.mig_backed, name.media) == (mig_backed, media)
