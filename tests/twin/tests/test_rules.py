"""The page of rules is written from the data, and the data is whole."""

from __future__ import annotations

from pathlib import Path

from vsphere_twin import rules

# Beside these tests: they also run with the installed package, which has no pages.
PAGE = Path(__file__).parents[1] / "docs" / "rules.md"
WRITE = f"Write the tables again: {rules.COMMAND}"
TWIN = ("implemented", "partly", "missing")


def test_the_page_has_the_tables_of_the_data():
    page = PAGE.read_text()
    assert page == rules.written(page), WRITE
    assert sorted(rules.named(page)) == sorted([*rules.tables(), rules.CALIBRATION])


def test_ids_are_unique_and_name_their_table():
    for name, found in rules.tables().items():
        ids = [rule["id"] for rule in found]
        assert len(set(ids)) == len(ids)
        assert [one for one in ids if one.rpartition("-")[0] != name] == []


def test_each_rule_has_the_mark_of_its_source():
    wrong = {one["id"]: one["mark"] for one in rules.by_id().values() if one["mark"] != rules.mark_of(one)}
    assert wrong == {}


def test_each_rule_of_a_capture_belongs_to_rules_of_the_tables():
    known = rules.by_id()
    for one in rules.checks():
        assert one["rules"]
        assert [name for name in one["rules"] if name not in known] == []
        assert one["twin"] in TWIN
        assert ("note" in one) is (one["twin"] != "implemented")
        assert all(sorted(found) == ["capture", "release", "result"] for found in one["calibrations"])
        assert {found["result"] for found in one["calibrations"]} <= {"confirmed", "refuted", "fitted"}
