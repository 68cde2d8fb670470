"""The page on compatibility names what the code has and what the tests run, and dates each run on real hardware."""

from __future__ import annotations

import re

import pytest

from house import compatibility

PAGE = compatibility.FILE.read_text()


@pytest.mark.parametrize("name", [*compatibility.HEADS, *compatibility.OWN_HEADS])
def test_a_table_of_the_page_is_as_the_code_says(name):
    assert f"{compatibility.table(name)}\n<!-- end -->" in PAGE, f"run: {compatibility.COMMAND}"


def test_the_page_is_what_the_command_writes():
    assert compatibility.renewed(PAGE) == PAGE


@pytest.mark.parametrize("name", [*compatibility.HEADS, *compatibility.OWN_HEADS])
def test_a_table_has_one_row_for_each_entry(name):
    firsts = [tuple(row[:2]) for row in getattr(compatibility, name)()]
    assert firsts
    assert len(set(firsts)) == len(firsts)


def test_a_run_on_real_hardware_has_its_date_and_is_of_something_in_a_table():
    rows = [row for name in compatibility.HEADS for row in getattr(compatibility, name)() if row[-1]]
    assert all(re.match(r"20\d\d-\d\d-\d\d, ", row[-1]) for row in rows)
    assert len(rows) == len(compatibility.REAL) + len(compatibility.REAL_GUEST)


@pytest.mark.parametrize("start", compatibility.CAPTURED.values())
def test_captures_of_a_board_exist(start):
    assert [path for path in compatibility.SMI.iterdir() if path.name.startswith(start)]
