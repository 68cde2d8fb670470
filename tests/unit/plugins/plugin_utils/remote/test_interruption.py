# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Whoever ends a process that has something to tidy up ends it once, and is not lost."""

from __future__ import annotations

import os
import signal
import threading

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.interruption import Interrupted, interruptible

ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_ends_the_work_once_and_the_second_waits_for_tidying_up(number):
    before = {one: signal.getsignal(one) for one in ENDING}
    tidied = []

    def work():
        with interruptible():
            try:
                os.kill(os.getpid(), number)
            finally:
                for other in ENDING:
                    os.kill(os.getpid(), other)
                tidied.append(number)

    with pytest.raises(Interrupted) as ended:
        work()
    assert ended.value.args == (number,)
    assert tidied == [number]
    assert {one: signal.getsignal(one) for one in ENDING} == before


def test_work_that_nobody_interrupts_leaves_the_signals_as_they_were():
    before = [signal.getsignal(one) for one in ENDING]
    with interruptible():
        within = [signal.getsignal(one) for one in ENDING]
    assert all(one is not other for one, other in zip(within, before, strict=True))
    assert [signal.getsignal(one) for one in ENDING] == before


def test_a_thread_beside_the_main_one_works_without_signals():
    before, seen = [signal.getsignal(one) for one in ENDING], []

    def work():
        with interruptible():
            seen.append([signal.getsignal(one) for one in ENDING])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
