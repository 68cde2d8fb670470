"""A limit, a tag or an inventory that leaves out the work must not look like a success."""

from __future__ import annotations

import json

from ansible_collections.aiready.vsphere.plugins.module_utils.core import journal

from house.collection import ROOT
from rehearse import playbook


def play(tmp_path, name, *arguments):
    local = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
    children = {"esxi_hosts": {"hosts": {"esx-01": {}}}}
    where = tmp_path / "hosts.json"
    where.write_text(json.dumps({"all": {"children": children, "vars": {**local, "aiready_journal": str(tmp_path)}}}))
    return playbook.run(
        ROOT / "playbooks" / f"{name}.yml", *arguments, env=playbook.environment(tmp_path), inventory=where
    )


def test_a_limit_without_the_controller_is_rejected(tmp_path):
    # health and preflight share the task.
    ended = play(tmp_path, "drift", "--limit", "esx-01")
    assert ended.status == 2, ended.output
    assert "Cannot report anything with the limit esx-01." in ended.text


def test_restore_rejects_a_wrong_tag_and_names_a_host_that_the_inventory_lacks(tmp_path):
    change = {"path": "kernel.atsSupport", "before": "FALSE", "after": "TRUE", "needs": "reboot"}
    head = {"run": "first", "stage": "hosts", "module": "esxi_kernel_setting", "host": "esx-09", "request": {}}
    planned = {"item": 0, "label": "esx-09", "ids": {"moid": "host-9"}, "changes": [change]}
    lines = [{"kind": "task", **head}, {"kind": "planned", **planned}, {"kind": "done", **planned}]
    common = {"v": 1, "task": "t1", "when": "2026-01-01T00:00:00"}
    journal.append(str(tmp_path / "first.jsonl"), [{**common, **line} for line in lines])
    wrong = play(tmp_path, "restore", "--tags", "host")
    assert (wrong.status, "Cannot restore with the tags host." in wrong.text) == (2, True), wrong.output
    ended = play(tmp_path, "restore", "--tags", "fabric")
    assert ended.status == 0, ended.output
    assert ended.text.count("cannot: esx-09 (hosts), kernel.atsSupport. The run changed it for esx-09,") == 2
