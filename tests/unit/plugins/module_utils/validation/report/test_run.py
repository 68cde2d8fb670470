"""The report of a run as data: its verdict, failures, changes and what is pending."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.run import document

CHANGE = {"object": "esx-01", "what": "mtu", "before": 1500, "after": 9000, "task": "Set the MTU"}
FAILURE = {
    "object": "esx-01",
    "task": "Set the MTU",
    "msg": "esx-01: no. password=x1y2",
    "codes": ["host_not_found", 3],
}
LATER = {"object": "job-01", "what": [], "after": "machines", "why": "the VM does not run yet"}
FINE = {"name": "hosts", "began": "2026-03-01T08:00:00Z", "seconds": 60, "state": "ok", "changes": [CHANGE]}
FAILED = {"name": "fabric", "state": "failed", "failures": [FAILURE]}
OPEN = {"name": "fabric", "state": "failed", "why": "The run was broken off in this stage."}
IDLE = {"name": "machines", "state": "skipped", "why": "The run ended before this stage."}


def planned(stage):
    return dict(stage, check_mode=True)


def made(*stages, **more):
    return document({"format": 1, "ended": "2026-03-01T08:02:00Z", "stages": list(stages), **more})


@pytest.mark.parametrize(
    "stages, more, state, title",
    [
        pytest.param([FINE], {}, "pass", "The stages succeeded", id="good"),
        pytest.param([FINE, FAILED, IDLE], {}, "fail", "Failed in fabric", id="failed"),
        pytest.param([FAILED, dict(FINE, name="fabric")], {}, "pass", "The stages succeeded", id="failed, then good"),
        pytest.param([FINE, OPEN], {}, "fail", "Failed in fabric", id="broken off"),
        pytest.param([FINE], {"failures": [FAILURE]}, "fail", "Failed outside the stages", id="between stages"),
        pytest.param([IDLE], {}, "incomplete", "Nothing to do", id="nothing to do"),
        pytest.param([planned(FINE), planned(IDLE)], {}, "incomplete", "Dry run", id="check mode"),
        pytest.param([planned(FAILED)], {}, "fail", "Failed in fabric", id="check mode failed"),
        pytest.param([planned(FINE), FINE], {}, "pass", "The stages succeeded", id="plan and run"),
    ],
)
def test_verdict_is_that_of_the_last_run_of_each_stage(stages, more, state, title):
    found = made(*stages, **more)
    assert (found["state"], found["title"]) == (state, title)


def test_changes_have_object_setting_before_and_after():
    found = made(FINE)
    (entry,) = found["changes"]
    (change,) = entry["changes"]
    assert (entry["object"], change["what"], change["before"], change["after"]) == ("esx-01", "mtu", "1500", "9000")
    assert (found["changes_count"], found["planned"], found["seconds"]) == (1, [], 120)


def test_check_mode_has_planned_changes_and_no_made_ones():
    found = made(planned(FINE), planned({**IDLE, "decided_later": [LATER]}))
    assert (found["changes"], found["changes_count"], found["planned_count"]) == ([], 0, 1)
    assert found["check_mode"]
    assert "Nothing was changed" in found["sentence"]
    assert found["stages"][0]["planned"] == 1
    assert found["later"] == [{**LATER, "stage": "machines"}]


def test_failures_have_codes_and_no_secret():
    (found,) = made(FAILED)["failures"]
    assert (found["stage"], found["object"], found["codes"]) == ("fabric", "esx-01", ["host_not_found"])
    assert "esx-01: no." in found["msg"]
    assert "x1y2" not in found["msg"]


def test_failures_of_a_stage_that_ran_again_are_gone():
    assert made(FAILED, dict(FINE, name="fabric"))["failures"] == []


def test_pending_settings_name_what_they_need():
    waits = {"stage": "hosts", "object": "esx-01", "what": "bios.Sriov", "needs": "cold_power_cycle"}
    assert made(FINE, pending=[waits])["pending"] == [dict(waits, needs="cold power cycle")]


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"stages": None},
        {"stages": [{}]},
        {"stages": [dict(FINE, changes=[{}], failures=[{}], decided_later=[{}])], "pending": [{}], "failures": ["x"]},
        {"stages": [dict(FINE, changes="x", seconds="x", began=3)], "reboots": {"x": "y"}, "pending": 3},
    ],
    ids=["nothing", "no list", "empty stage", "empty entries", "other kinds"],
)
def test_record_of_something_else_gives_a_document(record):
    assert document(record)["failures"] == [{"stage": "hosts", "object": "", "task": "", "msg": "", "codes": []}] * len(
        [1 for stage in record.get("stages") or [] if "failures" in stage]
    )
