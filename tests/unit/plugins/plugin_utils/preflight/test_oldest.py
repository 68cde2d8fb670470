"""Before ansible-core 2.19 a template makes a text of each number, and preflight compares them all the same."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import around, findings

from .test_around import VCENTER, seen
from .world import LIMITS

TEXTS = {name: str(limit) for name, limit in LIMITS.items()}


@pytest.mark.parametrize("ahead_s", [0.0, 30.0, 31.5, -31.5])
def test_limits_that_came_as_texts_give_the_same_findings(ahead_s):
    vcenter = {**VCENTER, "vcenter": {**VCENTER["vcenter"], "clock_ahead_s": ahead_s}}
    host = {"name": "esx-1", "clock_ahead_s": ahead_s}
    here = {"disks": [{"path": "/", "free_gb": 5.0, "why": ""}], "addresses": [], "registries": []}
    changes = {"vcenter": {**vcenter, "hosts": [host]}, "here": here}
    found = findings.answer(seen(**changes, limits=TEXTS))
    assert found == findings.answer(seen(**changes))
    assert found["counts"]["ok"] > 0


@pytest.mark.parametrize("theirs, skew", [(15.0, 5.0), (5.0, 0.0), (-2.5, -3.5)])
def test_the_time_around_a_question_may_come_as_a_text(theirs, skew):
    assert around._skew(theirs, "1.0", "10.0") == skew
