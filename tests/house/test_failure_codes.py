"""The page of failure codes lists all of them, since machines decide by these codes."""

from __future__ import annotations

import re

import pytest

from house import failure_codes


def test_the_index_is_what_the_generator_writes():
    assert failure_codes.PAGE.read_text() == failure_codes.page(), "renew it as tests/house/failure_codes.py says"


def test_each_row_of_the_index_has_its_meaning_its_cause_and_its_fix():
    text = failure_codes.PAGE.read_text()
    assert len(failure_codes.rows(text)) > 500
    assert failure_codes.incomplete(text) == []


def test_the_index_has_each_code_once():
    listed = re.findall(r"^\| `(\w+)` \|", failure_codes.PAGE.read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(set(listed))


def section(*rows):
    head = "# Codes\n\n## vCenter, SSH and all modules\n\n| Code | Failure | Cause | Fix |\n| --- | --- | --- | --- |\n"
    others = "".join(f"\n## {title}\n\n| Code |\n| --- |\n" for title in dict.fromkeys(failure_codes.SECTIONS.values()))
    return head + "".join(f"{row}\n" for row in rows) + others


@pytest.fixture
def named(monkeypatch):
    places = {"b_two": ["plugins/module_utils/core/x.py:1"], "a_one": ["plugins/module_utils/core/x.py:2"]}
    monkeypatch.setattr(failure_codes, "places", lambda: places)
    return places


def test_the_generator_keeps_sentences_and_orders_rows(named):
    rows = ["| `b_two` | It fails. | A \\| B. | Do it. |", '| `a_one` | <a id="old"></a>It is. | So. | Do. |']
    assert failure_codes.page(section(*rows)) == section(
        '| `a_one` | <a id="a_one"></a>It is. | So. | Do. |',
        '| `b_two` | <a id="b_two"></a>It fails. | A \\| B. | Do it. |',
    )


def test_the_generator_removes_rows_without_code_and_reports_rows_without_sentences(named):
    rows = ["| `a_one` | A. | B. | C. |", "| `gone_for_good_now` | A. | B. | C. |"]
    made = failure_codes.page(section(*rows))
    assert failure_codes.rows(made) == {"a_one": ["A.", "B.", "C."], "b_two": ["", "", ""]}
    assert failure_codes.incomplete(made) == ["b_two"]
    assert failure_codes.page(made) == made
