# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A switch that answers all commands leaves nothing unread, on every platform of the twin."""

from __future__ import annotations

import pytest

from .roce_lab import bench
from .rows.roce_qos import port


@pytest.mark.parametrize("platform", ["cumulus", "enterprise_sonic", "eos", "nxos", "onyx", "os10", "sonic"])
def test_a_switch_that_answers_everything_leaves_nothing_unread(platform):
    with bench(platform, ["feature lldp"] if platform == "nxos" else []) as lab:
        reported = lab.module("roce_qos_info", {}, False)["switch"]
        assert port(platform, 1) in reported["ports"]
        assert reported["unread"] == []
