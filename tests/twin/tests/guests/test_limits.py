"""A guest that ends before it began names the limit of the machine that it ran into, and no other one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from vsphere_twin.guests import limits


class Hands:
    """A machine that lets so many more be opened."""

    def __init__(self, left):
        self._left = left

    def python(self, _program, most):
        return f"{min(self._left, int(most))}\n"

    @staticmethod
    def read(path):
        assert path == "/proc/sys/fs/inotify/max_user_instances"
        return "128\n"


@pytest.mark.parametrize("left", [0, 7, 15])
def test_a_limit_that_is_near_is_reported_with_its_figure_and_what_raises_it(left):
    reported = limits.reported(Hands(left))
    assert f"fs.inotify.max_user_instances is 128 on this machine, of which {left} are left" in reported
    assert "`sysctl fs.inotify.max_user_instances=1024`" in reported


def test_a_limit_that_is_far_is_not_blamed():
    assert limits.reported(Hands(100)) == ""


def test_what_counts_them_opens_no_more_than_the_limit():
    done = subprocess.run([sys.executable, "-c", limits.PROBE, "3"], capture_output=True, text=True, check=True)
    assert done.stdout == "3\n"
