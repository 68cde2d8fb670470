"""Automation controller can count what each module manages: its query is run on a documented result."""

from __future__ import annotations

import jq
import pytest
import yaml

from house.collection import NAME, constants, load, modules

QUERIES = load("extensions/audit/event_query.yml")


def sample(returned: dict) -> dict:
    """The result that a RETURN block describes by its samples."""
    return {name: _value(value) for name, value in returned.items() if "sample" in value or "contains" in value}


def _value(value: dict) -> object:
    if "sample" in value:
        return value["sample"]
    inner = sample(value["contains"])
    return [inner] if value["type"] == "list" else inner


# What only reads manages nothing, and a report is about nodes that others manage.
REPORTS = {"validation_report"}
MANAGING = [module for module in sorted(modules()) if not module.endswith("_info") and module not in REPORTS]


def test_there_is_a_query_for_every_module_that_manages_and_for_nothing_else():
    assert sorted(QUERIES) == [f"{NAME}.{module}" for module in MANAGING]


@pytest.mark.parametrize("module", MANAGING)
def test_a_query_finds_the_stable_ids_in_the_documented_result(module):
    result = sample(yaml.safe_load(constants(modules()[module])["RETURN"]))
    nodes = jq.compile(QUERIES[f"{NAME}.{module}"]["query"]).input_value(result).all()
    assert nodes
    for node in nodes:
        assert node["name"]
        assert all(node["canonical_facts"].values())
        assert all(node["facts"].values())


def test_a_vm_that_was_not_found_is_not_counted():
    query = jq.compile(QUERIES[f"{NAME}.vgpu_profile"]["query"])
    found = {"name": "train-01", "moid": "vm-42", "instance_uuid": "52b6d2a1-8c0f-4c5e-9a39-3f1f0c9f3a11"}
    assert [node["name"] for node in query.input_value({"vms": [found, {"failed": True}]}).all()] == ["train-01"]


def test_a_task_that_failed_as_a_whole_counts_nothing():
    assert jq.compile(QUERIES[f"{NAME}.vgpu_profile"]["query"]).input_value({"failed": True}).all() == []
