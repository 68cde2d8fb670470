"""Every unconfirmed fact of the code is in the list, and the user meets its mark."""

from __future__ import annotations

import pytest

from house import unsure

ROWS = unsure.rows()


def test_each_mark_in_the_code_belongs_to_a_row():
    """For a new one: a row in tests/data/unsure.yml, and its line on a page."""
    assert unsure.listed() == unsure.marks()


@pytest.mark.parametrize("row", ROWS, ids=[row["fact"] for row in ROWS])
def test_a_user_meets_the_mark(row):
    assert unsure.met(row), f"{row['page']} has no mark beside {row['words']!r}"
    assert row["override"]


def test_the_page_has_the_list():
    assert unsure.PAGE.read_text() == unsure.page(), "run: python tests/house/unsure.py"
