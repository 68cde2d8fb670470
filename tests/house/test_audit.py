"""Automation controller can count what each module manages: its query is run on a documented result."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache

import jq
import pytest

from house.collection import NAME, constants, load, modules, parsed

QUERIES = load("extensions/audit/event_query.yml")


def sample(returned: dict) -> dict:
    """The result that a RETURN block describes by its samples."""
    return {name: _value(value) for name, value in returned.items() if "sample" in value or "contains" in value}


def _value(value: dict) -> object:
    if "sample" in value:
        return value["sample"]
    inner = sample(value["contains"])
    return [inner] if value["type"] == "list" else inner


# What only reads manages nothing, and a result or a report is about nodes that others manage.
REPORTS = {"validation_result", "validation_report"}
MANAGING = [module for module in sorted(modules()) if not module.endswith("_info") and module not in REPORTS]


def test_there_is_a_query_for_every_module_that_manages_and_for_nothing_else():
    assert sorted(QUERIES) == [f"{NAME}.{module}" for module in MANAGING]


@pytest.mark.parametrize("module", MANAGING)
def test_a_query_finds_the_stable_ids_in_the_documented_result(module):
    result = sample(parsed(constants(modules()[module])["RETURN"]))
    nodes = jq.compile(QUERIES[f"{NAME}.{module}"]["query"]).input_value(result).all()
    assert nodes
    for node in nodes:
        assert node["name"]
        assert all(node["canonical_facts"].values())
        assert all(node["facts"].values())


def test_a_vm_that_was_not_found_is_not_counted():
    query = jq.compile(QUERIES[f"{NAME}.vgpu_profile"]["query"])
    found = {"name": "train-01", "moid": "vm-42", "instance_uuid": "52b6d2a1-8c0f-4c5e-9a39-3f1f0c9f3a11"}
    assert [node["name"] for node in query.input_value({"vms": [found, {"failed": True}]}).all()] == [
        "train-01 (vm-42, 52b6d2a1-8c0f-4c5e-9a39-3f1f0c9f3a11)"
    ]


def test_a_task_that_failed_as_a_whole_counts_nothing():
    assert jq.compile(QUERIES[f"{NAME}.vgpu_profile"]["query"]).input_value({"failed": True}).all() == []


@cache
def query_of(module: str) -> object:
    return jq.compile(QUERIES[f"{NAME}.{module}"]["query"])


def records(module: str, result: object) -> list[dict]:
    """What the query of a module makes of a result."""
    return query_of(module).input_value(result).all()


def documented(module: str) -> dict:
    return sample(parsed(constants(modules()[module])["RETURN"]))


def kept(found: list[dict]) -> dict:
    """The records of a job as the controller keeps them: equal facts are one node, and its first name wins."""
    nodes = {}
    for record in found:
        nodes.setdefault(json.dumps(record["canonical_facts"], sort_keys=True), record["name"])
    return nodes


def variants(value: object, at: tuple = ()) -> Iterator[object]:
    """The same result with another value in the place of each of its parts, one at a time."""
    yield from (None, "x", 0, [None], {"name": None})
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in list(pairs):
        for other in variants(below, (*at, key)):
            changed = copy.copy(value)
            changed[key] = other
            yield changed


def named(value: object, name: str) -> object:
    """The same result of objects that all have one name, such as GPUs of one model."""
    if isinstance(value, dict):
        return {key: name if key == "name" else named(one, name) for key, one in value.items()}
    return [named(one, name) for one in value] if isinstance(value, list) else value


def other(value: object) -> object:
    """The same result of other objects with the same names."""
    if isinstance(value, dict):
        ids = ("moid", "instance_uuid", "uuid", "machine_id", "mac", "pci", "mst", "path")
        return {key: f"{one}-b" if key in ids and isinstance(one, str) else other(one) for key, one in value.items()}
    return [other(one) for one in value] if isinstance(value, list) else value


def test_all_records_of_a_job_have_names_of_their_own():
    """One job of all modules, on two sets of objects whose names are all the same."""
    found = []
    for module in MANAGING:
        for result in (documented(module), named(documented(module), "same"), named(other(documented(module)), "same")):
            found += records(module, result)
    names = list(kept(found).values())
    assert sorted(names) == sorted(set(names))
    assert len(names) > 2 * 10


@pytest.mark.parametrize("module", MANAGING)
def test_no_result_breaks_the_queries_of_a_job_or_has_a_null(module):
    for result in variants(documented(module)):
        for record in records(module, result):
            assert isinstance(record, dict)
            assert isinstance(record["name"], str)
            assert record["name"]
            assert record["canonical_facts"]
            assert "null" not in json.dumps(record)


def test_a_vm_without_one_of_its_ids_is_counted():
    found = {"name": "train-01", "moid": "vm-42", "instance_uuid": None}
    (record,) = records("vgpu_profile", {"vms": [found]})
    assert (record["name"], record["canonical_facts"]) == ("train-01 (vm-42)", {"moid": "vm-42"})


def test_equal_adapters_of_two_hosts_are_two_nodes():
    adapter = documented("nic_firmware")["devices"][0]
    results = [{"devices": [{**adapter, "host": host}]} for host in ("esx-01", "esx-02")]
    found = [record for result in results for record in records("nic_firmware", result)]
    assert len(kept(found)) == len({record["name"] for record in found}) == 2
