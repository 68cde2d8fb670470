# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.modules import pvrdma_nic as module

from unit.plugins.modules.nics import asked


@pytest.mark.parametrize(
    "wrong, says",
    [
        ({"adapters": []}, "adapters must name at least one adapter; use state=absent"),
        ({}, "adapters must name at least one adapter; use state=absent"),
        ({"adapters": [{"portgroup": " "}]}, "adapter 1 has an empty portgroup; set its name."),
        ({"adapters": [{"portgroup": "a", "mac": "00:50:56"}]}, "write six bytes, as in 00:50:56:01:02:03."),
        (
            {"adapters": [{"portgroup": "a", "mac": "01:50:56:00:00:01"}]},
            "which is a multicast address; use a unicast one.",
        ),
        (
            {"adapters": [{"portgroup": group, "mac": "00-50-56-00-00-0A"} for group in "ab"]},
            "00:50:56:00:00:0a is listed twice.",
        ),
        ({"adapters": [{"portgroup": "a"}], "max_adapters": 0}, "max_adapters is 0; it must be at least 1."),
        ({"adapters": [{"portgroup": "a"}], "tasks_in_flight": 0}, "tasks_in_flight is 0"),
    ],
)
def test_inputs_that_make_no_sense_are_reported_before_anything_is_asked(wrong, says):
    assert any(says in problem for problem in module.check_params(asked(module, **wrong)))


def test_absent_needs_no_adapters():
    assert module.check_params(asked(module, state="absent")) == []
