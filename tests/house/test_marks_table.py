"""Whoever reads docs/validation.md sees every mark that a run is held to."""

from __future__ import annotations

from . import marks_table


def test_the_page_has_all_marks_as_they_are():
    assert marks_table.PAGE.read_text() == marks_table.page(), "renew it as tests/house/marks_table.py says"
