# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""All rows of a good lab, and of one with each recorded fault, as they were approved."""

from __future__ import annotations

import pytest

from guests.faults.recorded import RECORDED
from unit import approved

from .world import World


def test_the_rows_of_a_good_lab():
    approved.check(__file__, "good", World(2, "pvrdma").judged())


@pytest.mark.parametrize("path", ["tcp", "sriov", "passthrough"])
def test_the_rows_of_another_data_path(path):
    rows, base = ({row["id"]: row for row in World(2, one).judged()["rows"]} for one in (path, "pvrdma"))
    approved.check(__file__, path, rows, base)


@pytest.mark.parametrize("name", RECORDED)
def test_what_a_recorded_fault_changes(name):
    fault = RECORDED[name]
    lab = World(2, path=fault.path, **fault.intent)
    lab.set(fault.check, fault.subject, fault.variant, **fault.values)
    approved.check(__file__, name, lab.judged(), World(2, path=fault.path, **fault.intent).judged())
