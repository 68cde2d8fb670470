"""The roles' READMEs list the inputs of the roles."""

from __future__ import annotations

import pytest

from . import role_readme

PAGES = role_readme.pages()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(role_readme.ROOT)))
def test_tables_of_inputs_are_as_the_argument_specification_says(page):
    assert page.read_text() == role_readme.renewed(page, PAGES[page]), "run: python tests/house/role_readme.py"


def test_nested_inputs_choices_and_markup_are_written_out():
    options = {
        "a": {
            "type": "list",
            "elements": "dict",
            "required": True,
            "description": ["Rows."],
            "options": {
                "b": {"type": "str", "choices": ["x", "y"], "default": "x", "description": ["See O(a[].b) | V(x)."]}
            },
        },
        "c": {"type": "str", "description": "One C(text)."},
    }
    assert role_readme.table(options).splitlines()[2:] == [
        "| `a` | list of dict | required | Rows. |",
        "| `a[].b` | str | `x` | One of `x`, `y`. See `a[].b` \\| `x`. |",
        "| `c` | str |  | One `text`. |",
    ]
