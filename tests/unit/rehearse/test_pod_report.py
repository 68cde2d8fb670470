"""The report of a rehearsal with pods fails where a check is missing, failed, or claims more than was measured."""

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import simulated

from rehearse import pod_report
from rehearse.failure import RehearsalFailed

NODES = ["job-01", "job-02"]


def row(name):
    check, _blank, words = name.partition(" ")
    subject = {"guest": words.split()[0]} if check.startswith("guest.") else {}
    found = {"id": name, "check": check, "variant": "", "subject": subject, "verdict": "pass", "why": ""}
    return {**found, "measured": 1, "evidence": "evidence/a.txt", "needs": [], "notes": [pod_report.RECORDED]}


@pytest.fixture
def report(tmp_path, monkeypatch):
    """Writes a report of these rows, and returns the answer of the rehearsal."""
    # It has tests of its own.
    monkeypatch.setattr(pod_report.rule, "violations", lambda reported, folder: [])

    def write(change=lambda rows: None, real=False, page=True):
        rows = [row(one) for one in pod_report.required(NODES, True, real)]
        for one in rows:
            one["simulated_parts"] = list(simulated.WORDS)
        change(rows)
        state = "fail" if any(one["verdict"] == "fail" for one in rows) else "pass"
        verdict = {"state": state, "counts": {"pass": len(rows), "skipped": 0}}
        made = {"checks": rows, "verdict": verdict, "site": {"data_path": "passthrough"}}
        (tmp_path / "validation.json").write_text(json.dumps(made))
        if page:
            (tmp_path / "report.html").write_text("<html>")
        return pod_report.validated(tmp_path, 2, real)

    return write


def test_a_good_report_passes(report):
    assert report().endswith("checks passed on job-01 and job-02, 0 are skipped with a reason")


def test_a_run_without_a_report_fails(report):
    with pytest.raises(RehearsalFailed, match="wrote no report"):
        report(page=False)


def changed(name, **values):
    def change(rows):
        next(one for one in rows if one["id"] == name).update(values)

    return change


LICENCE = "guest.licence job-02 (before)"


@pytest.mark.parametrize(
    "change, failure",
    [
        (changed(LICENCE, verdict="fail", why="It has none."), "guest.licence job-02 .before. .fail.: It has none."),
        (changed(LICENCE, verdict="skipped"), "lacks guest.licence job-02"),
        (changed(LICENCE, notes=[]), "guest.licence job-02 .before. has no remark"),
        (changed(LICENCE, simulated_parts=[]), "depends on ..gpu"),
        (lambda rows: rows.pop(), "lacks cluster.training 2:rdma"),
    ],
)
def test_a_bad_report_fails(report, change, failure):
    with pytest.raises(RehearsalFailed, match=failure):
        report(change)


def test_containers_need_other_checks_than_recorded_texts():
    real, recorded = (set(pod_report.required(NODES, True, one)) for one in (True, False))
    assert recorded - real == {
        "cluster.training 2:rdma",
        *(
            f"pair.{check} {pair}"
            for check in ("write_lat", "write_bw")
            for pair in ("job-01 > job-02", "job-02 > job-01")
        ),
    }
    assert "guest.memlock job-01" not in set(pod_report.required(NODES, False, True))


def test_texts_of_simulated_pods_are_named_in_each_row():
    measured = {name.partition(" ")[0] for name in pod_report.required(NODES, True, True)}
    assert measured == pod_report.variables(real=True)["pods_notes"].keys()
    given = pod_report.variables(real=False)
    assert set(given["pods_notes"].values()) == {pod_report.RECORDED}
    assert given["pods_skip"] == {}
    assert set(pod_report.variables(real=True)["pods_skip"]) >= {"pair.write_bw", "cluster.nccl"}
