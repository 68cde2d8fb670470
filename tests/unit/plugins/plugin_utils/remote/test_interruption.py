# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Whoever ends a process that has something to tidy up ends it once, and is not lost."""

from __future__ import annotations

import os
import signal

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.interruption import Interrupted, interruptible


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_work_once_and_the_second_waits_for_tidying_up(number):
    before = signal.getsignal(number)

    def work():
        with interruptible():
            try:
                os.kill(os.getpid(), number)
            finally:
                os.kill(os.getpid(), number)

    with pytest.raises(Interrupted) as ended:
        work()
    assert ended.value.args == (number,)
    assert signal.getsignal(number) is before
