"""A release is installed with kubernetes.core.helm and a program in place of Helm, and restored from the journal."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.action.helm_release import ActionModule
from ansible_collections.aiready.vsphere.plugins.action.restore_step import _of_others
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore import clusters, judge, plan
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import (
    DONE,
    FAILED,
    PLANNED,
    Cannot,
    Entry,
    Made,
)

from .local import action_of

RELEASE = {"name": "op", "namespace": "ops", "chart_ref": "op"}
PROGRAM = Path(__file__).with_name("helm_program.py")


@pytest.fixture
def helm(tmp_path, monkeypatch):
    """A folder in the search path with a program helm, and the file of its releases."""
    program = tmp_path / "bin" / "helm"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {PROGRAM} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{Path(sys.executable).parent}:/usr/bin:/bin")
    monkeypatch.setenv("HELM_STATE", str(tmp_path / "releases.json"))
    return tmp_path / "releases.json"


def run(folder, check=False, **arguments):
    known = {
        "aiready_journal": str(folder),
        "ansible_python_interpreter": sys.executable,
        "inventory_hostname": "localhost",
    }
    action = action_of(ActionModule, "aiready.vsphere.helm_release", arguments, check, known)
    return action.run(task_vars=known)


def restored(folder, **connection):
    """The states of the rows of restore, after its due step ran."""
    (step,) = plan.plan(str(folder))["steps"]
    seen = run(folder, True, **step["args"], **connection)
    if seen.get("failed"):
        return seen["failure"]["code"]
    (row,) = judge.judge(step, seen["helm_release"]["changes"])
    if row.state == judge.DUE:
        done = run(folder, **step["args"], **connection)
        assert not done.get("failed"), done
    return row.state


def held(helm):
    return [one["chart"] for one in json.loads(helm.read_text())] if helm.exists() else []


@pytest.mark.turn(4, of=6)
def test_an_installed_release_is_uninstalled_and_a_changed_one_stays(helm, tmp_path):
    folder = tmp_path / "journal"
    chart = {**RELEASE, "chart_version": "1.0.0", "release_values": {"secret": "not-shown"}}
    planned = run(folder, True, **chart)
    assert (held(helm), folder.exists()) == ([], False)
    made = run(folder, **chart)
    assert (made["changed"], made["helm_release"]) == (True, planned["helm_release"])
    assert "not-shown" not in "".join(one.read_text() for one in folder.iterdir()) + json.dumps(made)
    again = run(folder, **chart)
    assert (again["changed"], again.get("failed", False), len(held(helm))) == (False, False, 1), again
    ours = helm.read_text()
    failed = run(folder, **RELEASE, chart_version="9.9.9")
    assert (failed["failed"], failed["helm_release"]["failed"], failed["changed"]) == (True, True, False)
    assert failed["failure"]["code"] == "helm_failed"
    cause = "cannot be installed or upgraded. Error: UPGRADE FAILED: context deadline exceeded. Check `helm history`"
    assert cause in failed["msg"]
    # Somebody upgrades it by hand.
    theirs = json.loads(ours)
    helm.write_text(json.dumps([*theirs, {**theirs[0], "revision": "2", "values": {"other": 1}}]))
    assert restored(folder) == judge.KEPT
    helm.write_text(ours)
    assert (restored(folder), held(helm)) == (judge.DUE, [])
    assert plan.plan(str(folder))["steps"] == []


@pytest.mark.turn(3, of=6)
def test_an_upgraded_release_is_rolled_back_to_its_revision(helm, tmp_path, monkeypatch):
    first, folder = (
        [{"revision": "1", "chart": "op-0.9.0", "values": {"a": 0.00001}, "app_version": "1"}],
        tmp_path / "journal",
    )
    helm.write_text(json.dumps(first))
    made = run(folder, **RELEASE, chart_version="1.0.0")
    assert made["changed"], made
    whole = helm.read_text()
    # Helm keeps few revisions.
    helm.write_text(json.dumps([{**json.loads(whole)[0], "chart": "op-0.8.0"}, json.loads(whole)[1]]))
    assert restored(folder) == clusters.GONE
    helm.write_text(whole)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "kubeconfig").write_text("{}")
    again = restored(folder, kubeconfig="~/kubeconfig")
    assert (again, held(helm)) == (judge.DUE, ["op-0.9.0", "op-1.0.0", "op-0.9.0"])
    assert plan.plan(str(folder))["steps"] == []


def test_a_failed_rollback_is_repeated_by_the_next_restore(helm, tmp_path, monkeypatch):
    folder = tmp_path / "journal"
    helm.write_text(json.dumps([{"revision": "1", "chart": "op-0.9.0", "values": {}, "app_version": "1"}]))
    assert run(folder, **RELEASE, chart_version="1.0.0")["changed"]
    (step,) = plan.plan(str(folder))["steps"]
    monkeypatch.setenv("BROKEN_ROLLBACK", "1")
    for number in (3, 4):
        (step,) = plan.plan(str(folder))["steps"]
        answer = run(folder, **step["args"])
        assert (answer["failure"]["code"], "timed out waiting" in answer["msg"]) == ("helm_failed", True), answer
        assert held(helm) == ["op-0.9.0", "op-1.0.0", *["op-0.9.0"] * (number - 2)]
    monkeypatch.delenv("BROKEN_ROLLBACK")
    assert restored(folder) == judge.DUE
    assert (json.loads(helm.read_text())[-1]["status"], held(helm)[-1]) == ("deployed", "op-0.9.0")
    assert restored(folder) == judge.ALREADY


@pytest.mark.parametrize("description, target", [("Rollback to 1", " 1"), ("", "")])
def test_the_command_for_a_killed_rollback_names_its_target(helm, tmp_path, description, target):
    last = {"revision": "3", "chart": "op-1.0.0", "status": "pending-rollback", "description": description}
    helm.write_text(json.dumps([{**last, "values": {}}]))
    answer = run(tmp_path / "journal", True, **RELEASE)
    assert answer["failure"]["code"] == clusters.UNFINISHED
    assert f"run `helm rollback op{target} --namespace ops`" in answer["msg"]


def test_the_command_for_a_killed_uninstallation_has_no_revision(helm, tmp_path):
    helm.write_text(json.dumps([{"revision": "2", "chart": "op-1.0.0", "values": {}, "status": "uninstalling"}]))
    back = {"state": "restored", "content": "op-1.0.0 a", "revision": 1}
    answer = run(tmp_path / "journal", True, name="op", namespace="ops", **back)
    assert "run `helm uninstall op --namespace ops`" in answer["msg"]


def test_a_release_that_a_killed_helm_left_is_named(helm, tmp_path):
    helm.write_text(json.dumps([{"revision": "1", "chart": "op-1.0.0", "values": {}, "status": "pending-upgrade"}]))
    answer = run(tmp_path / "journal", True, **RELEASE)
    assert answer["failure"]["code"] == clusters.UNFINISHED
    assert "Its status is pending-upgrade, because Helm still runs or was killed" in answer["msg"]
    assert "run `helm rollback op --namespace ops`" in answer["msg"]
    step = {"module": "helm_release", "back": {"release": None}, "left": {"release": "op-1.0.0 a"}}
    (row,) = _of_others(step, answer)
    assert (row.state, row.why) == (judge.CANNOT, answer["msg"])


def test_a_failed_release_is_installed_again(helm, tmp_path):
    folder, values = tmp_path / "journal", {"secret": "not-shown"}
    failed = {"revision": "1", "chart": "op-1.0.0", "values": values, "app_version": "1", "status": "failed"}
    helm.write_text(json.dumps([failed]))
    chart = {**RELEASE, "chart_version": "1.0.0", "release_values": values}
    planned = run(folder, True, **chart)
    assert (planned["changed"], planned["helm_release"]["before"]) == (True, {"status": "failed"}), planned
    made = run(folder, **chart)
    assert made["helm_release"] == planned["helm_release"]
    assert [one["values"] for one in json.loads(helm.read_text())] == [values, values]
    assert run(folder, True, **chart)["changed"] is False
    # The content is that of before, so restore has nothing to do.
    assert not folder.exists()


def test_a_release_that_fails_again_is_named(helm, tmp_path):
    failed = {"revision": "1", "chart": "op-9.9.9", "values": {}, "app_version": "1", "status": "failed"}
    helm.write_text(json.dumps([failed]))
    answer = run(tmp_path / "journal", **RELEASE, chart_version="9.9.9")
    assert (answer["failure"]["code"], answer["changed"]) == ("helm_failed", False), answer


@pytest.mark.turn(1, of=6)
def test_an_error_of_helm_comes_before_that_of_the_reading_after_it(helm, tmp_path, monkeypatch):
    monkeypatch.setenv("UNREACHABLE", "1")
    answer = run(tmp_path / "journal", **RELEASE, chart_version="9.9.9")
    assert (answer["failure"]["code"], "context deadline exceeded" in answer["msg"]) == ("helm_failed", True), answer


@pytest.mark.parametrize(
    "given, words",
    [
        ({**RELEASE, "chart_versoin": "1.0.0"}, "There is no parameter chart_versoin"),
        ({"name": "op", "namespace": "ops"}, "missing: chart_ref"),
        # It would uninstall the release.
        (
            {"name": "op", "namespace": "ops", "state": "restored", "revision": 1},
            "required together: content, revision",
        ),
    ],
)
def test_wrong_options_are_rejected_before_helm_runs(helm, tmp_path, given, words):
    answer = run(tmp_path / "journal", **given)
    assert (answer["failure"]["code"], words in answer["msg"]) == ("invalid_parameters", True), answer


def entry(before, after, revision, state=DONE):
    change, request = (Made("release", before, after),), {"name": "op", "namespace": "ops"}
    ids = {"revision": revision}
    return Entry("1", "1", "1", "kubernetes", "helm_release", "localhost", "x", ids, request, change, state)


def test_a_release_that_others_installed_after_a_restore_is_not_uninstalled():
    ours = [entry(None, "op-1 a", 0), entry("op-1 a", None, 1)]
    assert clusters.INVERSE["helm_release"](ours) == []
    (step,) = clusters.INVERSE["helm_release"]([*ours, entry("op-2 b", "op-3 c", 4)])
    assert (step.args["content"], step.args["revision"]) == ("op-2 b", 4)


def test_a_killed_run_is_named():
    killed = entry("op-0.9.0 a", None, 1, PLANNED)
    rejected = replace(killed, changes=(), state=FAILED)
    for entries in ([killed], [killed, rejected]):
        (lost,) = clusters.INVERSE["helm_release"](entries)
        assert isinstance(lost, Cannot)
        assert "killed while Helm" in lost.why
    assert clusters.INVERSE["helm_release"]([rejected]) == []
