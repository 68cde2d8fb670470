"""What a job of AWX changes: one row for each pitfall, with its fix, and no row at a shell."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import findings, job, questions

from .world import SITE

JOB = {"AWX_HOST": "https://awx.example.org", "JOB_ID": "7", "ORIGINAL_STDOUT_CALLBACK": "aiready.vsphere.stages"}
MOUNTS = {"/", "/runner", "/srv/aiready"}


def rows_of(given=None, environment=None):
    pitfalls = job.pitfalls(given or {}, JOB if environment is None else environment, MOUNTS.__contains__)
    return {one.what: one for one in job.findings(pitfalls)}


@pytest.mark.parametrize("folder", ["/home/runner/aiready/results/1", "/runner/project/results", "/var/lib/aiready"])
def test_results_inside_the_container_are_reported_as_lost(folder):
    (row,) = rows_of({"folder": folder}).values()
    assert (row.category, row.where, row.what, row.state) == ("controller", "this job", "results", "open")
    assert folder in row.found
    assert "journal" in row.found
    assert "AIREADY_RESULTS" in row.todo


@pytest.mark.parametrize("folder", ["/srv/aiready", "/srv/aiready/results/20260101-020000", ""])
def test_results_on_a_mount_stay(folder):
    assert rows_of({"folder": folder}) == {}


def test_a_slice_is_reported_with_the_setting_of_its_template():
    row = rows_of({"template": "aiready site", "workflow": "aiready site"})["slices"]
    assert "change vCenter at the same time" in row.found
    assert row.todo.startswith("Set job_slice_count of aiready site to 1")


@pytest.mark.parametrize("workflow", ["aiready site with approval", "", None])
def test_a_node_of_a_workflow_and_a_job_alone_are_no_slices(workflow):
    assert rows_of({"template": "aiready setup", "workflow": workflow}) == {}
    assert rows_of({"template": "", "workflow": ""}) == {}


@pytest.mark.parametrize("callback", ["default", "minimal", ""])
def test_the_plain_output_of_awx_is_reported(callback):
    row = rows_of(environment={**JOB, "ORIGINAL_STDOUT_CALLBACK": callback})["output"]
    assert "ANSIBLE_STDOUT_CALLBACK to aiready.vsphere.stages" in row.todo


@pytest.mark.parametrize("missing", ["AWX_HOST", "JOB_ID"])
def test_a_run_at_a_shell_has_no_row(missing):
    given = {"folder": "/var/lib/aiready", "template": "a", "workflow": "a"}
    assert rows_of(given, {**JOB, missing: ""}) == {}
    assert rows_of(given, {}) == {}


def test_the_questions_of_a_job_become_rows_of_preflight(monkeypatch):
    for name, value in JOB.items():
        monkeypatch.setenv(name, value)
    asked = questions.everything(SITE, given={"job": {"template": "aiready site", "workflow": "aiready site"}})
    assert [what for what, _found, _todo in asked["job"]] == ["slices"]
    rows = findings.findings({"questions": asked, "limits": dict.fromkeys(("clock_s", "controller_gb", "guest_gb"), 1)})
    assert [row.what for row in rows if row.where == "this job"] == ["slices"]


def test_the_variables_of_a_credential_are_no_password_in_plain_text():
    of_awx, own = (
        ["site_switch_password", "/runner/env/tmp1, line 1"],
        ["site_bmc_password", "/runner/project/v.yml, line 2"],
    )
    assert job.plain([of_awx, own], JOB) == [own]
    assert job.plain([of_awx, own], {}) == [of_awx, own]


def test_the_type_of_awx_that_disables_the_check_is_named_with_the_replacement():
    setting = "the environment variable VMWARE_VALIDATE_CERTS is False"
    (row,) = findings.unverified([["vCenter", setting]])
    assert "aiready vCenter" in row.todo
    (row,) = findings.unverified([["vCenter", "site.vcenter.validate_certs is false"]])
    assert "AWX" not in row.todo


def test_a_target_that_accepts_no_files_blocks_with_its_fix():
    (row,) = job.target("The server rejected the login. Set AIREADY_RESULTS_USER and AIREADY_RESULTS_PASSWORD.")
    assert (row.where, row.what, row.state) == ("this machine", "results target", "blocks")
    assert (row.found, row.todo) == (
        "The server rejected the login.",
        "Set AIREADY_RESULTS_USER and AIREADY_RESULTS_PASSWORD.",
    )
    assert list(job.target("")) == []
