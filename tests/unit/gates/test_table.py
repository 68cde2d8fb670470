"""`make check` leaves out tests that exist, and few of them."""

from __future__ import annotations

import pytest

from gates import table
from gates.running import ROOT


@pytest.mark.parametrize("file", table.LONG)
def test_a_long_test_is_there_and_part_of_all_tests(file):
    assert (ROOT / file).is_file()
    assert any(file.startswith(f"{folder}/") for folder in table.PURE)


def test_the_quick_part_has_all_other_tests():
    ran = []

    class Gate:
        def pytest(self, _python, arguments):
            ran.extend(arguments)

    table.quick(Gate())
    assert [one for one in ran if one in table.PURE] == table.PURE
    assert [one.partition("=")[2] for one in ran if one.startswith("--ignore=")] == list(table.LONG)
