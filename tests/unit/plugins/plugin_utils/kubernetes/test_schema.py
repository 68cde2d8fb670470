"""Comparison of objects with the schema of their definition."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import schema

OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"a": {"type": "string"}}}
SCHEMA = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer"},
        "mode": {"type": "string", "enum": ["one", "two"]},
        "port": {"x-kubernetes-int-or-string": True},
        "note": {"type": "string", "nullable": True},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "free": {"type": "object"},
        "open": OPEN,
        "items": {
            "type": "array",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "properties": {"name": {"type": "string"}}},
        },
    },
}


@pytest.mark.parametrize(
    "value, found",
    [
        pytest.param({"size": 1}, [], id="valid"),
        pytest.param({}, ["size is required"], id="required"),
        pytest.param({"size": True}, ["size is not of the type integer"], id="a boolean is no number"),
        pytest.param({"size": "1"}, ["size is not of the type integer"], id="type"),
        pytest.param({"size": 1, "sise": 2}, ["sise is unknown"], id="unknown"),
        pytest.param({"size": 1, "mode": "three"}, ["mode is three, but must be one of one, two"], id="enum"),
        pytest.param({"size": 1, "port": "http"}, [], id="number or text"),
        pytest.param({"size": 1, "port": True}, ["port is not a number or a text"], id="neither"),
        pytest.param({"size": 1, "note": None}, [], id="nullable"),
        pytest.param({"size": 1, "mode": None}, ["mode is not of the type string"], id="null"),
        pytest.param({"size": 1, "labels": {"any": "text"}}, [], id="map"),
        pytest.param({"size": 1, "labels": {"any": 1}}, ["labels.any is not of the type string"], id="type in a map"),
        pytest.param({"size": 1, "free": {"any": {"thing": 1}}}, [], id="object without properties"),
        pytest.param({"size": 1, "open": {"any": 1}}, [], id="open object"),
        pytest.param(
            {"size": 1, "open": {"a": 1}}, ["open.a is not of the type string"], id="known field of an open one"
        ),
        pytest.param({"size": 1, "items": [{"name": "a"}, {"name": "b"}]}, [], id="list"),
        pytest.param({"size": 1, "items": [{"nane": "a"}]}, ["items[0].nane is unknown"], id="unknown in a list"),
        pytest.param(
            {"size": 1, "items": [{"name": "a"}, {"name": "a"}]},
            ["items[1] has the same name as an earlier entry"],
            id="the same key twice",
        ),
        pytest.param([], [" is not of the type object"], id="no object"),
    ],
)
def test_problems(value, found):
    assert list(schema.problems(SCHEMA, value)) == found


def test_served_versions_with_the_stored_one_first():
    versions = [
        {"name": "v1alpha1", "served": False},
        {"name": "v1beta1", "served": True, "storage": False},
        {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}},
    ]
    definitions = [{"spec": {"group": "example.org", "names": {"kind": "Thing"}, "versions": versions}}]
    assert list(schema.served(definitions, "example.org", "Thing").items()) == [
        ("v1", {"type": "object"}),
        ("v1beta1", {}),
    ]
    assert schema.served(definitions, "example.org", "Other") == {}
