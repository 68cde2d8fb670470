# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Playbooks write the files of the health checks at the same time: none loses what another wrote."""

from __future__ import annotations

import json

import pytest
from ansible.plugins.loader import init_plugin_loader

from unit.playbooks.expressions import entry_of, worked_out

AT = "2026-03-01T08:15:30Z"
ENTRY = {"kind": "guest", "at": AT, "why": "xid.hardware: one."}


@pytest.fixture(autouse=True)
def collection():
    init_plugin_loader()


def written(playbook, name, fact, file, **given):
    task = entry_of(playbook, name, "ansible.builtin.set_fact")
    worked_out(task["ansible.builtin.set_fact"][fact], task.get("vars", {}), **given)
    assert file.stat().st_mode & 0o777 == 0o600
    return json.loads(file.read_text())["objects"]


def test_a_health_check_keeps_a_return_to_service_that_happened_since_it_read_the_file(tmp_path):
    file = tmp_path / "quarantine.json"
    file.write_text(json.dumps({"format": 1, "objects": {"job-03": ENTRY}}))
    old = {"objects": {"job-01": ENTRY, "job-02": ENTRY, "job-03": ENTRY}, "added": ["job-01"]}
    given = {"__quarantine": old, "__health_folder": str(tmp_path), "__health_site": "gpu@vcenter"}
    assert set(written("health", "Record the quarantine", "__quarantined", file, **given)) == {"job-01", "job-03"}


def test_a_validation_keeps_an_entry_that_a_health_check_added_since_it_read_the_file(tmp_path):
    file = tmp_path / "quarantine.json"
    file.write_text(json.dumps({"format": 1, "objects": {"job-02": ENTRY, "job-03": ENTRY}}))
    released = {"objects": {}, "released": ["job-02"], "file": str(file)}
    given = {"__validate_quarantine": released, "hostvars": {"localhost": {"__validate_site": "gpu@vcenter"}}}
    name, fact = "Record that they return to service", "__validate_quarantined"
    assert list(written("validate", name, fact, file, **given)) == ["job-03"]


def test_a_health_check_keeps_the_readings_that_another_site_saved_since_it_read_the_file(tmp_path):
    file = tmp_path / "counters.json"
    objects = {"leaf-01": {"counters": {}}}
    file.write_text(json.dumps({"format": 1, "site": "two@vcenter", "at": AT, "objects": objects}))
    saved = {"format": 1, "site": "one@vcenter", "at": AT, "objects": {"leaf-02": {"counters": {}}}}
    given = {"__health": {"saved": saved}, "__health_folder": str(tmp_path)}
    found = written("health", "Save the readings for the next check", "__health_saved", file, **given)
    assert list(found) == ["leaf-02"]
    assert json.loads(file.read_text())["others"] == {"two@vcenter": {"at": AT, "objects": objects}}
