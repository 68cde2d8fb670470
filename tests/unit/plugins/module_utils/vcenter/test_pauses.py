# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.pauses import Pauses

from .fakes import FakeClock


@pytest.mark.parametrize(
    "limit_s, slept",
    [
        (20, [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 3.8]),
        (1.5, [0.2, 0.4, 0.8, 0.1]),
        (0, []),
    ],
)
def test_pauses_double_up_to_five_seconds_and_end_with_the_limit(limit_s, slept):
    clock = FakeClock()
    clock.time = 1000.0
    pauses = Pauses(clock, limit_s)
    while not pauses.over:
        pauses.sleep()
    assert clock.sleeps == pytest.approx(slept)


def test_pause_after_the_limit_takes_no_time():
    clock = FakeClock()
    pauses = Pauses(clock, 3)
    clock.time = 10.0
    pauses.sleep()
    assert clock.sleeps == [0.0]
