"""The look before a run, and the comparison after it, ask roles for exactly what their stages ask them for."""

from __future__ import annotations

import pytest

from house.collection import parsed

from .role_readme import ROOT

# Said by one side alone, with the reason.
OTHERWISE = {
    "esxi_host_preview",  # why a host could not be looked at
    "training_vm_undone_hosts",  # hosts that a preview leaves as they are, which each works out for itself
}


def inputs(playbook, role):
    """Variables that give a role the requested values, and the fact that the role reads from the site."""
    tasks = list(tasks_of(parsed((ROOT / "playbooks" / f"{playbook}.yml").read_text())))
    calls = (task.get("ansible.builtin.import_role", task.get("ansible.builtin.include_role", {})) for task in tasks)
    reported = [
        *(
            task.get("vars", {})
            for task, call in zip(tasks, calls, strict=True)
            if call.get("name") == f"aiready.vsphere.{role}"
        ),
        *(task.get("ansible.builtin.set_fact", {}) for task in tasks),
    ]
    named = {name: value for given in reported for name, value in given.items() if name.startswith(f"{role}_")}
    return {name: value for name, value in named.items() if name not in OTHERWISE}


def tasks_of(entries):
    """All tasks of plays and blocks, at every depth."""
    for entry in entries:
        yield entry
        for part in ("pre_tasks", "tasks", "post_tasks", "block"):
            yield from tasks_of(entry.get(part, []))


@pytest.mark.parametrize("look", ["preflight", "drift"])
@pytest.mark.parametrize(
    "stage, role", [("hosts", "esxi_host"), ("fabric", "switch"), ("machines", "training_vm")], ids=lambda one: one
)
def test_the_look_before_a_run_wants_what_the_stage_wants(look, stage, role):
    assert inputs(look, role) == inputs(stage, role)
    assert f"{role}_site" in inputs(look, role)


def test_a_question_that_fails_does_not_end_the_questions():
    asked = [
        task
        for task in tasks_of(parsed((ROOT / "playbooks" / "preflight.yml").read_text()))
        if any(name.startswith("aiready.vsphere.") and name.endswith("_info") for name in task)
    ]
    assert len(asked) >= 4
    for task in asked:
        assert (task["failed_when"], task["ignore_errors"]) == (False, True), task["name"]
