"""The look before a run asks roles for exactly what their stages ask them for."""

from __future__ import annotations

import pytest
import yaml

from .role_readme import ROOT

# Said by one side alone, with the reason.
OTHERWISE = {
    "training_vm_undone_hosts",  # hosts that a preview leaves as they are, which each works out for itself
}


def inputs(playbook, role):
    """The variables by which a playbook tells a role what is wanted; of several calls, the one with most."""
    plays = yaml.safe_load((ROOT / "playbooks" / f"{playbook}.yml").read_text())
    told = [
        task.get("vars", {})
        for task in tasks_of(plays)
        for call in (task.get("ansible.builtin.import_role"), task.get("ansible.builtin.include_role"))
        if call and call["name"] == f"aiready.vsphere.{role}"
    ]
    return {name: value for name, value in max(told, key=len).items() if name not in OTHERWISE}


def tasks_of(entries):
    """All tasks of plays and blocks, at every depth."""
    for entry in entries:
        yield entry
        for part in ("pre_tasks", "tasks", "post_tasks", "block"):
            yield from tasks_of(entry.get(part, []))


@pytest.mark.parametrize(
    "stage, role", [("hosts", "esxi_host"), ("fabric", "switch"), ("machines", "training_vm")], ids=lambda one: one
)
def test_the_look_before_a_run_wants_what_the_stage_wants(stage, role):
    assert inputs("preflight", role) == inputs(stage, role)
    assert inputs("preflight", role)
