"""The rule that a rehearsal applies to its report, for the ends of cables."""

from __future__ import annotations

import json

import pytest

from rehearse import rule


def _broken(folder, *cabled):
    """What the rule finds where the adapter of a guest reports no PFC, and these names have a cable."""
    paths = [{"a": {"name": name, "port": "p1"}, "b": {"name": "leaf-01", "port": "Ethernet1"}} for name in cabled]
    ends = [
        {"name": "esx-01", "port": "vmnic2", "switch": False, "unknown": []},
        {"name": "job-01", "port": "ens224", "switch": False, "unknown": ["PFC"]},
    ]
    (folder / "agreement.json").write_text(json.dumps({"ends": ends, "paths": paths}))
    row = {"check": "fabric.settings", "verdict": "pass", "evidence": "agreement.json", "subject": {}}
    topology = {"hops": [], "hosts": [{"name": "esx-01"}], "vms": [{"name": "job-01"}]}
    return rule._of_paths({"checks": [row], "topology": topology}, folder)


def test_a_guest_with_the_cable_must_report_each_setting(tmp_path):
    assert _broken(tmp_path, "job-01") == ["fabric.settings passes, but ['PFC'] of job-01 ens224 is unknown."]


@pytest.mark.parametrize("cabled", [(), ("esx-01",)], ids=["no cable", "the cable of its host"])
def test_a_guest_relies_on_the_settings_of_its_host(tmp_path, cabled):
    assert _broken(tmp_path, *cabled) == []
