"""Tests share a switch; one that leaves it in another state fails alone."""

from __future__ import annotations

import pytest

INSIDE = """
import pytest

pytest_plugins = ["wire.conftest"]
SEEN = []


@pytest.mark.parametrize("lines", [[], ["vlan 4"], []], ids=["first", "careless", "next"])
def test_switch(calm, lines):
    lab = calm("eos")
    SEEN.append(lab.twin)
    assert "vlan 4" not in lab.device.running()
    lab.device.load(lines)


def test_the_careless_one_was_the_last_of_its_switch():
    assert [one is SEEN[0] for one in SEEN] == [True, True, False]
"""


@pytest.fixture
def careless(tmp_path):
    file = tmp_path / "test_inside.py"
    file.write_text(INSIDE)
    return file


def test_a_test_that_leaves_a_switch_in_another_state_fails_alone(careless):
    outcomes = Outcomes()
    status = pytest.main(["-p", "no:cacheprovider", "-p", "no:xdist", "-q", str(careless)], plugins=[outcomes])
    assert status == 1
    assert outcomes.bad == [("test_inside.py::test_switch[careless]", "teardown")]


class Outcomes:
    def __init__(self):
        self.bad = []

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.bad.append((report.nodeid.rpartition("/")[2], report.when))
