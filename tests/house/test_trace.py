"""The way of one value through the layers, as docs/architecture.md lists it: all files are there and carry it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent

ROOT = Path(__file__).resolve().parents[2]
# What carries the value: by its own name, in its class, or in all that a role takes from the site.
CARRIERS = re.compile(r"dscp|roce|_site\b|module_options|options|traffic_class|ROCE_INTENT|params", re.IGNORECASE)


def ways():
    text = (ROOT / "docs" / "architecture.md").read_text().partition("## Path of the DSCP")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:3] for line in text.splitlines() if line.startswith(("| the ", "| NCCL"))]
    return {target.strip(): re.findall(r"`([^`]+)`", files) for target, files in rows}


@pytest.mark.parametrize("target", ways())
def test_every_file_of_the_way_is_there_and_carries_the_value(target):
    files = ways()[target]
    assert files[0] == "roles/site/meta/argument_specs.yml"
    assert [name for name in files if not CARRIERS.search((ROOT / name).read_text())] == []


def test_the_ways_are_four_and_their_numbers_are_those_of_the_class():
    usual = Intent()
    assert [len(files) for files in ways().values()] == [13, 12, 10, 10]
    text = " ".join(ways())
    assert f"dscp {usual.dscp} to traffic-class {usual.priority}" in text
    assert f"dscp_force={usual.dscp}" in text
    assert f"NCCL_IB_TC={usual.traffic_class}" in text
