# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A session breaks directly after the switch confirmed or saved a change: the change is in effect and reported."""

from __future__ import annotations

import pytest

from .roce_lab import bench, cut_at


@pytest.mark.parametrize(
    "platform, line",
    [
        ("cumulus", "nv config apply --confirm-yes"),
        ("sonic", "rm -f"),
        ("eos", "write memory"),
        ("os10", "copy running-configuration"),
    ],
)
def test_what_took_effect_before_the_session_was_cut_is_new(platform, line):
    with bench(platform) as lab:
        reported = cut_at(lab, line)
        assert not reported.get("failed"), reported
        assert (reported["switch"]["outcome"], reported["switch"]["saved"], lab.now()["lossless"]) == ("new", True, [3])
        assert lab.set()["changed"] is False
