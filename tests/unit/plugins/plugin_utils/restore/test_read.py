"""A journal with killed runs, damaged lines and several files, and the plan of restore from it."""

from __future__ import annotations

import json

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.module_utils.core import journal
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.judge import ALREADY, DUE, KEPT, beside, judge
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.plan import narrowed, plan
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.read import read
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.report import report


def change(path, before, after, needs=None):
    return {"path": path, "before": before, "after": after, "needs": needs}


def write(folder, run, *changes, task="t1", when="2026-01-01T00:00:0", module="esxi_kernel_setting", **more):
    common, end, label = {"v": 1, "task": task}, more.pop("end", "done"), more.pop("label", "esx-01")
    request = {"host": "esx-01", **more.pop("request", {})}
    stage = more.pop("stage", "hosts")
    head = {"run": run, "stage": stage, "module": module, "host": "esx-01", "request": request}
    planned = {"item": 0, "label": label, "ids": {"moid": "host-1"}, "changes": list(changes)}
    rows = [{**common, "kind": "task", "when": f"{when}1", **head}]
    rows.append({**common, "kind": "planned", "when": f"{when}2", **planned})
    if end:
        rows.append({**common, "kind": end, "when": f"{when}3", "item": 0, "changes": list(changes)})
    journal.append(str(folder / f"{run}.jsonl"), rows)


ATS = change("kernel.atsSupport", "FALSE", "TRUE", "reboot")


def test_several_runs_are_one_journal(tmp_path):
    write(tmp_path, "second", change("kernel.x", 2, 3), task="t2", when="2026-02-01T00:00:0")
    write(tmp_path, "first", change("kernel.x", 1, 2))
    assert read(str(tmp_path)).runs == ["first", "second"]
    (step,) = plan(str(tmp_path))["steps"]
    assert (step["back"], step["left"], step["on"]) == ({"kernel.x": 1}, {"kernel.x": 3}, "localhost")
    (later,) = plan(str(tmp_path), "second")["steps"]
    assert later["back"] == {"kernel.x": 2}


def test_a_kill_between_both_lines_is_recognised(tmp_path):
    write(tmp_path, "first", ATS, end="")
    (entry,) = read(str(tmp_path)).entries
    assert entry.state == "planned"


def test_damaged_lines_are_named_by_number(tmp_path):
    write(tmp_path, "first", ATS)
    path = tmp_path / "first.jsonl"
    lines = path.read_text().splitlines()
    lines[1] = lines[1].replace('"FALSE"', '"TRUE"')
    path.write_text("\n".join([*lines, "{half"]))
    reported = read(str(tmp_path))
    assert reported.entries == ()
    assert [problem.partition("line ")[2] for problem in reported.problems] == [
        "2: the checksum is wrong. The changes of this line are not known.",
        "3: the start of this change is lost. It is not known which object changed kernel.atsSupport.",
        "4: the line is damaged. The changes of this line are not known.",
    ]
    assert report([], plan(str(tmp_path)))[:3] == list(reported.problems)


def test_a_change_whose_task_is_lost_is_named_with_its_object(tmp_path):
    write(tmp_path, "first", ATS)
    path = tmp_path / "first.jsonl"
    path.write_text("\n".join(path.read_text().splitlines()[1:]))
    problem = read(str(tmp_path)).problems[0]
    assert problem.endswith("Restore does not know how to restore kernel.atsSupport of esx-01.")


def test_a_line_of_a_later_release_is_not_guessed(tmp_path):
    line = {"v": 2, "kind": "task", "task": "t1"}
    (tmp_path / "r.jsonl").write_text(json.dumps({**line, "sum": journal.checksum(line)}))
    (problem,) = read(str(tmp_path)).problems
    assert "the format 2 is not 1" in problem


def test_a_lost_journal_is_reported(tmp_path):
    (problem,) = plan(str(tmp_path))["problems"]
    assert "It is not known which changes were made." in problem
    (problem,) = plan(str(tmp_path / "nowhere"))["problems"]
    assert "Cannot read the journal" in problem


def test_an_unknown_run_is_rejected_with_the_known_ones(tmp_path):
    write(tmp_path, "first", ATS)
    with pytest.raises(AnsibleFilterError, match="has these runs: first"):
        plan(str(tmp_path), "frist")


def test_a_guest_has_a_record_of_its_own(tmp_path):
    write(tmp_path, "first", ATS)
    assert plan(str(tmp_path))["guests"] == {"changed": False, "partly": False}
    place = journal.Place(str(tmp_path / "later.jsonl"), "later", "guests", "guest_roce", "job-01")
    journal.visit(place.as_text())
    found = plan(str(tmp_path))
    assert (found["runs"], len(found["steps"])) == (["first", "later"], 1)
    assert (found["guests"], found["cannot"]) == ({"changed": True, "partly": False}, [])
    place = journal.Place(str(tmp_path / "last.jsonl"), "last", "guests", "vgpu_guest_driver", "job-01")
    journal.visit(place.as_text())
    # The record of the guest has its state before the run later alone.
    found = plan(str(tmp_path), "last")
    assert found["guests"] == {"changed": True, "partly": True}
    assert "Set restore_guest_driver to the package of the earlier driver" in found["cannot"][0]["why"]
    assert plan(str(tmp_path), "last", "hosts")["cannot"] == []
    assert plan(str(tmp_path), "later")["guests"] == {"changed": True, "partly": False}


def test_a_module_without_a_function_is_listed(tmp_path):
    write(tmp_path, "first", change("light", 1, 2), module="lamp")
    found = plan(str(tmp_path))
    assert (found["steps"], [one["what"] for one in found["cannot"]]) == ([], ["light"])
    assert report([], found)[0].startswith("cannot: esx-01 (hosts), light. This release has no function")


def test_the_last_change_is_restored_first(tmp_path):
    write(tmp_path, "first", ATS)
    write(tmp_path, "later", change("x", 1, 2), module="esxi_maintenance", task="t2", when="2026-03-01T00:00:0")
    assert [step["module"] for step in plan(str(tmp_path))["steps"]] == ["esxi_kernel_setting"]


@pytest.mark.parametrize(
    "state, firmware, modules",
    [
        pytest.param("started", True, ["nic_firmware"], id="the role returns the shell after the steps that need it"),
        pytest.param("started", False, ["esxi_service"], id="a killed run left the shell"),
        pytest.param("stopped", True, ["esxi_service", "nic_firmware"], id="a run stopped the shell of others"),
    ],
)
def test_the_shell_of_a_host_is_returned_once(tmp_path, state, firmware, modules):
    before = state == "stopped"
    changes = [change("running", before, not before), *([] if before else [change("borrowed", False, True)])]
    request = {"service": "TSM-SSH", "state": state}
    write(tmp_path, "first", *changes, task="t2", when="2026-02-01T00:00:0", module="esxi_service", request=request)
    if firmware:
        write(tmp_path, "second", change("ATS_ENABLED", "False(0)", "True(1)"), module="nic_firmware", label="mt4125")
    found = plan(str(tmp_path))["steps"]
    assert [step["module"] for step in found] == modules
    assert [step["object"] for step in found if step["module"] == "nic_firmware"] == ["mt4125 of esx-01"] * firmware


CREATED = [change("exists", False, True), change("path", None, "/dc/vm/new")]


def created(folder, **ids):
    common = {"v": 1, "task": "new"}
    head = {"run": "first", "stage": "machines", "module": "vm_clone", "host": "localhost", "request": {}}
    planned = {
        "item": 0,
        "label": "new",
        "ids": {"name": "new", "moid": None, "path": "/dc/vm/new"},
        "changes": CREATED,
    }
    rows = [{**common, "kind": "task", "when": "2026-01-01T00:00:01", **head}]
    rows.append({**common, "kind": "planned", "when": "2026-01-01T00:00:02", **planned})
    rows.append({**common, "kind": "done", "when": "2026-01-01T00:00:03", "item": 0, "changes": CREATED, **ids})
    shape = {**common, "task": "shape", "item": 0, "label": "new", "ids": {"instance_uuid": "52b6", "name": "new"}}
    rows.append({**rows[0], **common, "task": "shape", "module": "vm_config"})
    rows.append({**shape, "kind": "planned", "when": "2026-01-01T00:00:04", "changes": [change("cpus", 4, 16)]})
    journal.append(str(folder / "first.jsonl"), rows)


def test_a_created_vm_has_its_ids_from_the_end_of_its_creation(tmp_path):
    created(tmp_path, ids={"moid": "vm-9", "instance_uuid": "52b6"})
    steps = plan(str(tmp_path), delete_vms=True)["steps"]
    # Its settings have no earlier values.
    assert [step["module"] for step in steps] == ["vm_power", "vm_clone"]
    assert steps[1]["args"]["vms"] == [{"name": "new", "folder": "/dc/vm", "instance_uuid": "52b6"}]
    listed = plan(str(tmp_path))
    assert (listed["steps"], [one["what"] for one in listed["cannot"]]) == ([], ["exists"])


def test_some_vms_are_restored_without_the_others(tmp_path):
    created(tmp_path, ids={"moid": "vm-9", "instance_uuid": "52b6"})
    assert len(plan(str(tmp_path), delete_vms=True, vms=["new"])["steps"]) == 2
    assert plan(str(tmp_path), delete_vms=True, vms=["other"])["steps"] == []
    # A survey of AWX has no lists.
    assert len(plan(str(tmp_path), delete_vms=True, vms="other\r\n new \n")["steps"]) == 2
    assert plan(str(tmp_path), delete_vms=True, vms="other\n")["steps"] == []


STEP = {"back": {"a": 1, "b": 1, "c": 1}, "left": {"a": 2, "b": 2, "c": 2}, "also": {"c": [3]}}


@pytest.mark.parametrize("found, state", [(2, DUE), (3, KEPT), (1, ALREADY)])
def test_only_a_value_that_we_left_is_due(found, state):
    changes = [change("a", found, 1)] if found != 1 else []
    assert judge(STEP, changes)[0].state == state


def test_a_killed_run_may_have_left_another_value():
    assert [row.state for row in judge(STEP, [change("c", 3, 1)])] == [ALREADY, ALREADY, DUE]


def test_a_change_beside_the_step_is_seen():
    assert beside(STEP, [change("a", 2, 1), change("other", 2, 1)]) == ["other"]


def test_a_deletion_takes_everything_along():
    assert beside({**STEP, "whole": True}, [change("other", 2, 1)]) == []


def test_an_adapter_that_somebody_moved_is_named():
    step = {"back": {"adapter a on b": None}, "left": {"adapter a on b": "present"}}
    (row,) = judge(step, [change("adapter c on d", "present", None)])
    assert (row.state, row.found) == (KEPT, "adapter c on d")
    assert judge(step, [])[0].state == ALREADY


def test_a_step_can_leave_out_a_setting(tmp_path):
    write(tmp_path, "first", ATS, change("kernel.x", "1", "2"))
    (step,) = plan(str(tmp_path))["steps"]
    one = narrowed(step, ["kernel.x"])
    assert one.args["settings"] == {"x": "1"}


def test_a_renamed_host_is_found_by_its_present_name(tmp_path):
    write(tmp_path, "first", ATS)
    (step,) = plan(str(tmp_path), "", "hosts", "esx-01", host_name="esx-01.example.com")["steps"]
    assert step["args"]["host"] == "esx-01.example.com"
    assert narrowed(step, ["kernel.atsSupport"]).args["host"] == "esx-01.example.com"
    # A module in a playbook of the user may be for another host than the one of its task.
    write(tmp_path, "own", ATS, task="t2", stage="")
    assert {one["args"]["host"] for one in plan(str(tmp_path), "own", "hosts", "esx-01", host_name="new")["steps"]} == {
        "esx-01"
    }


def test_a_host_outside_the_inventory_is_named_as_not_restored(tmp_path):
    write(tmp_path, "first", ATS)
    found = plan(str(tmp_path))
    kept = {"esxi_hosts": ["esx-01"]}
    assert report([], found, groups=kept) == ["1 steps of 1 runs may be restored: first."]
    renamed = {"esxi_hosts": ["esx-01.example.com"]}
    lines = report([], found, groups=renamed)
    assert lines[0].startswith("cannot: esx-01 (hosts), kernel.atsSupport. The run changed it for esx-01, which is not")
    assert lines[1] == "0 steps of 1 runs may be restored: first."
    assert report([], found, True, groups={})[0] == lines[0]


def test_a_wrong_name_of_a_vm_is_listed(tmp_path):
    write(tmp_path, "first", change("cpus", 4, 8), module="vm_config", label="job-01")
    found = plan(str(tmp_path), vms=["job-01", "jbo-01"])
    (lost,) = found["cannot"]
    assert (len(found["steps"]), lost["object"], "correct restore_vms" in lost["why"]) == (1, "jbo-01", True)
    assert plan(str(tmp_path), stage="hosts", vms=["jbo-01"])["cannot"] == []
