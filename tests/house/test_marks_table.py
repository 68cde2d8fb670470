"""docs/validation.md has the name of every check and every threshold of a run."""

from __future__ import annotations

from . import marks_table


def test_the_page_has_all_marks_as_they_are():
    assert marks_table.PAGE.read_text() == marks_table.page(), "renew it as tests/house/marks_table.py says"


def test_the_page_has_the_name_of_each_check_in_the_report():
    lines = marks_table.PAGE.read_text().splitlines()
    assert [row for row in marks_table.names() if row not in lines] == []
