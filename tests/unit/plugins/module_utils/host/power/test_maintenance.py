# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Maintenance mode of a host whose vCenter lost an answer."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power.maintenance import Maintenance
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.tasks import Outcome

LOST = OperatorError("Host esx-01", "maintenance mode was to be left", "The connection broke", "Run again", "lost")


class AfterALostAnswer(Maintenance):
    """Readings of the mode come one after the other; no task is in the host's list."""

    def __init__(self, *readings):
        self.readings, self.requests, self._vcenter = list(readings), 0, None

    def _run(self, requested, inside, running):
        self.requests += 1
        return Outcome(error=LOST, uncertain=True)

    def _again(self):
        return {"runtime.inMaintenanceMode": self.readings.pop(0)}


@pytest.mark.parametrize(
    "readings, requests",
    [((False,), 1), ((True, False), 1), ((True, True, False), 2)],
    ids=["it has ended", "it ends between two readings", "it was never begun"],
)
def test_a_mode_that_the_first_request_reached_is_not_requested_again(readings, requests):
    host = AfterALostAnswer(*readings)
    host._settle(SimpleNamespace(requested={}, now=SimpleNamespace(tasks=())), False)
    assert (host.requests, host.readings) == (requests, [])
