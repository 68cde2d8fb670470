# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What the recent tasks of a host say of a restart that is about to come."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power import journal


@pytest.mark.parametrize(
    "kind, state, began, booted, going",
    [
        (journal.REBOOT, "success", 5, 3, True),
        (journal.SHUTDOWN, "running", 5, 3, True),
        (journal.REBOOT, "success", 3, 5, False),
        (journal.REBOOT, "error", 5, 3, False),
        (journal.ENTER, "running", 5, 3, False),
        (journal.REBOOT, "queued", None, 3, True),
        (journal.REBOOT, "success", 5, None, True),
    ],
)
def test_a_host_goes_down_after_a_restart_that_was_taken_since_it_booted(kind, state, began, booted, going):
    assert journal.going_down([journal.Entry(kind, "task-1", state, began)], booted) is going
