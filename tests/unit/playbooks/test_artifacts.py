"""Artifacts of jobs of AWX: what the playbooks return by set_stats, and how large it becomes."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from house.collection import ROOT
from unit.playbooks.expressions import entries, entry_of, is_met, worked_out

MODULE = "ansible.builtin.set_stats"
CONTROLLER = "Return the {} to the automation controller"
RUN = {"localhost": {"aiready_run_folder": "/srv/results/1"}}


def preflight(**more):
    task = entry_of("preflight", CONTROLLER.format("result"), MODULE)
    known = {"status": "ok", "counts": {"ok": 3, "will be changed": 2, "open": 0, "blocks": 0}, "sentence": "S."}
    given = {"__preflight_reported": {**known, **more}, "aiready_run_folder": "/srv/results/1"}
    return worked_out(task[MODULE]["data"], {}, **given)["aiready_preflight"]


def test_preflight_returns_its_counts_and_the_path_of_the_report():
    found = preflight()
    assert found["status"] == "ok"
    assert found["counts"]["will be changed"] == 2
    assert found["report"] == "/srv/results/1/preflight.json"


def test_many_blocking_rows_do_not_make_the_artifact_large():
    found = preflight(sentence="4000 checks: 4000 block.\n" + "- esx-01, driver: It is not there.\n" * 40_000)
    assert found["text"] == "4000 checks: 4000 block."
    assert len(json.dumps(found)) < 1000


def test_validation_returns_its_verdict_before_it_fails():
    tasks = yaml.safe_load((ROOT / "roles/validation/tasks/judge.yml").read_text())
    names = [task["name"] for task in tasks]
    returned = names.index(CONTROLLER.format("verdict"))
    assert returned < names.index("Report the result of the validation")
    verdict = {"state": "fail", "sentence": "1 of 12 checks failed.", "counts": {"pass": 11, "fail": 1}}
    found = worked_out(
        tasks[returned][MODULE]["data"],
        {},
        __validation_judged={"validation": {"verdict": verdict}},
        validation_result_dir="/srv/results/1",
    )["aiready_validation"]
    assert found == {
        "status": "fail",
        "text": "1 of 12 checks failed.",
        "counts": {"pass": 11, "fail": 1},
        "report": "/srv/results/1",
    }


@pytest.mark.parametrize("check", [True, False])
def test_a_run_returns_its_stages_and_its_folder(check):
    play = entry_of("site", "Start the run", "vars")
    task = entry_of("site", CONTROLLER.format("stages and the folder of the run"), MODULE)
    given = {"site_stop_after": "fabric", "hostvars": RUN, "ansible_check_mode": check}
    found = worked_out(task[MODULE]["data"], play["vars"], **given)["aiready_site"]
    assert found == {"check": check, "stages": ["hosts", "fabric"], "report": "/srv/results/1"}


def test_later_jobs_of_a_workflow_compare_themselves_with_the_plan():
    task = entry_of("site", CONTROLLER.format("plan"), MODULE)
    assert worked_out(task[MODULE]["data"], {}, hostvars=RUN) == {"aiready_plan": "/srv/results/1"}


@pytest.mark.parametrize(
    "check, callbacks, returned",
    [(True, "aiready.vsphere.record", True), (False, "aiready.vsphere.record", False), (True, "", False)],
)
def test_only_a_recorded_dry_run_is_a_plan(monkeypatch, check, callbacks, returned):
    monkeypatch.setenv("ANSIBLE_CALLBACKS_ENABLED", callbacks)
    assert is_met("site", CONTROLLER.format("plan"), ansible_check_mode=check) is returned


@pytest.mark.parametrize("playbook", ["site", "preflight", "drift", "health"])
def test_artifacts_are_those_of_the_job_and_have_names_of_the_collection(playbook):
    tasks = [one for one in entries(playbook) if MODULE in one]
    assert tasks
    for task in tasks:
        assert "per_host" not in task[MODULE]
        assert all(name.startswith("aiready_") for name in task[MODULE]["data"])


def test_the_folder_of_a_run_has_a_name_of_its_own():
    variables = yaml.safe_load((ROOT / "playbooks" / "vars" / "run_folder.yml").read_text())
    names = {worked_out("{{ __run_name }}", variables) for _number in range(20)}
    assert len(names) == 20
    assert all(re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{8}", name) for name in names)
    assert worked_out("{{ __run_name }}", variables, awx_job_id=7).endswith("-job7")


@pytest.mark.parametrize(
    "environment, file, variable, target",
    [
        ("/env", "results_target = /file", "/variable", "/env"),
        ("", "results_target = /100%", "/variable", "/100%"),
        ("", "results = /srv", " /variable ", "/variable"),
        ("", None, "/variable", "/variable"),
        ("", None, None, ""),
    ],
)
def test_the_target_of_the_results_is_that_of_the_callback_record(
    monkeypatch, tmp_path, environment, file, variable, target
):
    monkeypatch.setenv("AIREADY_RESULTS_TARGET", environment)
    given = {"aiready_results_target": variable, "ansible_config_file": None}
    if file:
        given["ansible_config_file"] = str(tmp_path / "ansible.cfg")
        (tmp_path / "ansible.cfg").write_text(f"[aiready_vsphere]\n{file}\n")
    variables = yaml.safe_load((ROOT / "playbooks" / "vars" / "run_folder.yml").read_text())
    assert worked_out("{{ __run_target }}", variables, **given) == target


@pytest.mark.parametrize(
    "site, name",
    [
        ({"cluster": "gpu", "datacenter": "lab", "vcenter": {"hostname": "vc-01"}}, "gpu@vc-01"),
        ({"cluster": "GPU", "vcenter": {"hostname": "VC-01.Example.org"}}, "gpu@vc-01.example.org"),
        ({"datacenter": "lab"}, "lab@vc-02"),
        ({"cluster": None}, "vc-02"),
        (None, "vc-02"),
        ("no site", "vc-02"),
    ],
)
def test_a_site_has_the_name_of_its_cluster_and_its_vcenter(monkeypatch, site, name):
    monkeypatch.setenv("VMWARE_HOST", "vc-02")
    variables = yaml.safe_load((ROOT / "playbooks" / "vars" / "run_folder.yml").read_text())
    assert worked_out("{{ __run_site }}", variables, site=site) == name


STEPS = {
    "preflight": ("Nothing was changed. 4 checks: 1 block.", "Launch this workflow again", "/srv/results/1/p.json"),
    "plan": ("Nothing was changed.", "Launch gpu preflight", "/srv/results/2"),
    "approval": ("Somebody denied the plan, or nobody approved it in time.", "Launch this workflow", "/srv/results/3"),
    "setup": ("have changed the site.", "launch gpu restore with approval", "/srv/results/2"),
    "validate": ("All stages are complete. 1 failed.", "launch gpu validate", "/srv/results/4"),
    "restore_plan": ("Nothing was changed.", "gpu restore plan names", "the output of the job"),
    "restore": ("Some settings may have their earlier values.", "Launch this workflow", "the output of the job"),
}
ARTIFACTS = {
    "aiready_preflight": {"text": "4 checks: 1 block.", "report": "/srv/results/1/p.json"},
    "aiready_site": {"report": "/srv/results/2"},
    "aiready_plan": "/srv/results/3",
    "aiready_validation": {"text": "1 failed.", "report": "/srv/results/4"},
}


@pytest.mark.parametrize("step", STEPS)
def test_the_next_steps_name_the_failed_step_the_command_and_the_results(step):
    play = entry_of("next_steps", "Report what to do after the failed step", "vars")
    task = entry_of("next_steps", CONTROLLER.format("next steps"), MODULE)
    given = {"next_steps_after": step, "next_steps_prefix": "gpu", "awx_workflow_job_name": "gpu site", **ARTIFACTS}
    found = worked_out(task[MODULE]["data"], play["vars"], **given)["aiready_next_steps"]
    state, following, report = STEPS[step]
    text = " ".join(found["text"].split())
    assert text.startswith(f"The step {step.replace('_', ' ')} of the workflow gpu site failed. ")
    assert state in text
    assert following in text
    assert text.endswith(f"Results: {report}.")
    # A job that failed early returned nothing.
    without = worked_out(task[MODULE]["data"], play["vars"], next_steps_after=step)["aiready_next_steps"]
    assert without["text"].strip().endswith("Results: the output of the job.")
    empty = {name: dict.fromkeys(one) for name, one in ARTIFACTS.items() if isinstance(one, dict)}
    empty |= {"next_steps_after": step, "next_steps_prefix": None, "aiready_plan": None}
    assert worked_out(task[MODULE]["data"], play["vars"], **empty)["aiready_next_steps"] == without


@pytest.mark.parametrize(
    "step, given, words, results",
    [
        (
            "setup",
            {"aiready_site": {"check": True, "report": "/srv/results/2"}},
            "may have changed",
            "the output of the job",
        ),
        ("setup", {"aiready_site": {"check": False, "report": "/srv/results/5"}}, "may have changed", "/srv/results/5"),
        (
            "validate",
            {"aiready_site": {"check": False, "report": "/srv/results/5"}},
            "Correct what the output of aiready validate names",
            "the output of the job",
        ),
    ],
)
def test_a_job_that_returned_nothing_has_the_results_of_no_other_job(step, given, words, results):
    play = entry_of("next_steps", "Report what to do after the failed step", "vars")
    task = entry_of("next_steps", CONTROLLER.format("next steps"), MODULE)
    found = worked_out(task[MODULE]["data"], play["vars"], next_steps_after=step, **given)["aiready_next_steps"]
    assert words in found["text"]
    assert found["text"].strip().endswith(f"Results: {results}.")


@pytest.mark.parametrize("step, known", [("setup", True), ("colour", False), (["setup"], False), ({"setup": 1}, False)])
def test_next_steps_of_an_unknown_step_are_rejected(step, known):
    play = entry_of("next_steps", "Report what to do after the failed step", "vars")
    task = entry_of("next_steps", "Reject an unknown step", "ansible.builtin.assert")
    condition = task["ansible.builtin.assert"]["that"]
    assert worked_out(f"{{{{ {condition} }}}}", play["vars"], next_steps_after=step) is known


@pytest.mark.parametrize(
    "check, job, hosts", [(True, 7, "all:localhost"), (False, 7, "all:!all"), (True, None, "all:!all")]
)
def test_only_a_plan_in_a_job_returns_its_summary(check, job, hosts):
    play = entry_of("site", "Return the summary of the plan", "hosts")
    given = {"awx_job_id": job} if job else {}
    assert worked_out(play["hosts"], {}, ansible_check_mode=check, **given) == hosts


@pytest.mark.parametrize(
    "address, sent", [("https://awx", True), ("HTTPS://awx", True), ("http://awx", False), ("", False)]
)
def test_the_token_of_the_controller_is_sent_with_encryption_only(monkeypatch, address, sent):
    monkeypatch.setenv("AIREADY_CONTROLLER_HOST", address)
    given = {"awx_workflow_job_id": 7}
    assert is_met("tasks/return_plan", "Put the summary into the text of the approval", **given) is sent
    # A plan whose summary is not sent fails.
    assert is_met("tasks/return_plan", "Reject an approval without the summary of this plan", **given) is bool(address)


@pytest.mark.parametrize(
    "prefix, path", [("", "/api/v2"), ("/api/", "/api/v2"), ("/api/controller/", "/api/controller/v2")]
)
def test_the_path_of_the_controller_is_that_of_awx_awx(monkeypatch, prefix, path):
    monkeypatch.setenv("AIREADY_CONTROLLER_HOST", "https://awx.example.org/")
    monkeypatch.setenv("CONTROLLER_OPTIONAL_API_URLPATTERN_PREFIX", prefix)
    block = entry_of("tasks/return_plan", "Put the summary into the text of the approval", "vars")
    assert worked_out("{{ __address }}", block["vars"]) == f"https://awx.example.org{path}"


def test_the_token_of_the_controller_follows_no_redirect():
    requests = [one["ansible.builtin.uri"] for one in entries("tasks/return_plan") if "ansible.builtin.uri" in one]
    assert [one["follow_redirects"] for one in requests] == ["none"] * 3


def test_a_plan_without_a_record_refers_to_its_output(tmp_path):
    task = entry_of("site", "Return the summary of the plan", "ansible.builtin.import_tasks")
    given = {"localhost": {"aiready_run_folder": str(tmp_path)}}
    text = worked_out(task["vars"]["__summary"], {}, hostvars=given, awx_job_id=7)
    assert text == "Plan of job 7: The job has no record of a plan. Read its output before you approve."
