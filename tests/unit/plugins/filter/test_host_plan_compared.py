"""The plan of a host for the playbook drift, which compares settings and plans no change."""

from __future__ import annotations

import pytest

from .test_host_plan import ASKS, plan

# Settings that the read of the host shows, and how a run would change them.
SHOWN = ("kernel", "modules", "pvrdma", "mtu", "graphics", "vms")


@pytest.mark.parametrize("step, inputs", [(step, one) for step, rows in ASKS.items() for one, asked in rows if asked])
def test_a_comparison_asks_only_for_what_the_read_of_the_host_does_not_show(step, inputs):
    found = plan(inputs, only_looks=True, compares=True)
    of_read = step in SHOWN or "gpu_passthrough" in inputs
    assert found["asks"][step] is not of_read
    assert found["gaps"] == plan(inputs, only_looks=True)["gaps"]
    # A pending restart needs no plan for maintenance mode.
    waiting = {"host": {"name": "esx-01", "pending": [{"what": "kernel.ats", "needs": "reboot"}]}}
    assert plan(inputs, only_looks=True, compares=True, kernel=waiting)["out"] is False
