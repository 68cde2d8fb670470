# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.document import PARTS, document

from browser import runs

ODD = [None, True, 7, -1.5, "text", [], ["text"], [None], [[]], [{}], {}, {"key": "value"}, {"key": None}]


@pytest.mark.parametrize("part", sorted({*PARTS, "site", "verdict", "simulated", "began", "ended"}))
@pytest.mark.parametrize("odd", ODD, ids=str)
def test_a_part_of_another_kind_than_agreed_does_not_break_the_report(part, odd):
    run = runs.perfect(2)
    reported = {**runs.results(run), "stages": runs.stages(run), "reboots": {"esx-01": 1}, part: odd}
    json.dumps(document(reported, None))


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_nor_does_a_field_of_a_row_or_of_a_training(odd):
    run = runs.perfect(2)
    reported = {**runs.results(run), "stages": runs.stages(run)}
    for key in reported["checks"][0]:
        document({**reported, "checks": [{**reported["checks"][0], key: odd}]}, None)
    for part in ("trainings", "stages", "versions", "thresholds"):
        for key in reported[part][0]:
            document({**reported, part: [{**reported[part][0], key: odd}]}, None)
    for part in ("hosts", "switches", "vms"):
        for key in reported["topology"][part][0]:
            one = {**reported["topology"], part: [{**reported["topology"][part][0], key: odd}]}
            document({**reported, "topology": one}, None)


def test_what_was_not_recorded_is_named_and_is_no_empty_list():
    made = document({"checks": [], "versions": []}, None)
    assert made["not_recorded"] == [
        "trainings",
        "the topology",
        "stages and changes",
        "restarts",
        "thresholds",
        "relaxed settings",
    ]
    assert (made["trainings"], made["versions"]) == (None, [])


def test_the_checks_of_a_run_of_an_older_release_are_read():
    old = runs.results(runs.perfect(2))
    made = document({**old, "rungs": old["checks"]}, None)
    old["rungs"] = old.pop("checks")
    assert document(old, None) == made
    assert made["verdict"]["counts"]["pass"] > 10


def test_a_run_that_did_not_come_to_its_validation_reports_its_stages():
    made = document(None, {"stages": [{"name": "hosts", "state": "failed", "seconds": 3}], "reboots": {"esx-01": 1}})
    assert made["verdict"]["state"] == "fail"
    assert made["verdict"]["sentence"] == "The run stopped in stage hosts."
    assert made["verdict"]["claim"].startswith("Nothing was measured.")
    assert (made["stages_seconds"], made["reboots_count"]) == (3, 1)
    assert "checks" in made["not_recorded"]


@pytest.mark.parametrize(
    "stages, ended, seconds",
    [
        ([("2026-03-01T08:00:00Z", 30), ("2026-03-01T08:02:00Z", 31)], "2026-03-01T08:10:00Z", 600),
        ([("2026-03-01T08:00:00Z", 30), ("2026-03-01T08:02:00Z", 60)], "", 180),
        ([("2026-03-01T08:00:00", 30), ("no moment", 60)], "", 30),
        ([("", 30), ("", 31)], "2026-03-01T08:10:00Z", 61),
    ],
    ids=["to the end of the validation", "to the end of the last stage", "what can be read", "no moments"],
)
def test_a_run_takes_from_its_first_stage_to_its_end(stages, ended, seconds):
    recorded = [{"name": "hosts", "state": "ok", "began": began, "seconds": took} for began, took in stages]
    validation = {"checks": [], "began": "2026-03-01T08:05:00Z", "ended": ended}
    assert document(validation, {"stages": recorded})["stages_seconds"] == seconds


def test_a_killed_run_has_a_report_that_reports_where_it_ended():
    why = "The run was broken off in this stage."
    made = document(None, {"stages": [{"name": "hosts", "state": "failed", "why": why, "seconds": 3}]})
    assert (made["verdict"]["state"], made["verdict"]["sentence"]) == (
        "incomplete",
        "The run was interrupted in stage hosts.",
    )


def test_what_failed_in_a_stage_is_reported_with_its_object_and_without_secrets():
    failure = {"object": "esx-01", "task": "Install the driver", "msg": "password=hunter2 was refused"}
    made = document(None, {"stages": [{"name": "hosts", "state": "failed", "failures": [failure]}]})
    assert made["failures"] == [{"stage": "hosts", **failure, "msg": "password=[not shown] was refused"}]
    made = document(None, {"stages": [{"name": "hosts", "state": "failed", "failures": [{**failure, "msg": ""}]}]})
    assert made["failures"][0]["msg"] == "The output of the run has the message of this failure."


def test_the_record_of_stages_counts_more_than_what_the_validation_knew_of_them():
    made = document({"stages": [{"name": "old"}], "reboots": {"a": 1}}, {"stages": [{"name": "new"}]})
    assert [stage["name"] for stage in made["stages"]] == ["new"]
    assert made["reboots_count"] == 1


def test_the_headline_is_the_training_on_most_nodes_over_rdma():
    run = runs.perfect(4)
    assert document(runs.results(run), None)["headline"]["label"] == "4 nodes, RDMA"


@pytest.mark.parametrize("verdict", ["fail", "skipped"])
def test_the_headline_is_no_training_that_did_not_pass(verdict):
    reported = runs.results(runs.perfect(4))
    for one in reported["trainings"]:
        if one["nodes"] == 4 and one["transport"] == "rdma":
            one.update(wanted="rdma", transport="tcp", verdict=verdict)
    headline = document(reported, None)["headline"]
    assert (headline["label"], headline["gain"]) == ("4 nodes, TCP", None)
    for one in reported["trainings"]:
        one["verdict"] = verdict
    assert document(reported, None)["headline"] is None


def test_efficiency_is_what_the_ladder_says_of_it():
    run = runs.perfect(4)
    made = document(runs.results(run), None)
    reported = {one["nodes"]: one["efficiency"] for one in made["trainings"] if one["transport"] == "rdma"}
    rows = {row["variant"]: row["measured"] for row in run.rows if row["check"] == "cluster.efficiency"}
    assert rows
    for variant, measured in rows.items():
        assert reported[int(variant.split(":")[0])] == pytest.approx(measured, abs=0.001)


def test_evidence_stands_with_rows_that_are_not_right_only():
    run, reported = runs.mixed()
    asked = []

    def look(name):
        asked.append(name)
        return run.evidence.get(name)

    made = document(reported, None, look)
    shown = [
        row["id"] for layer in made["ladder"] for check in layer["checks"] for row in check["rows"] if row["excerpt"]
    ]
    assert shown == ["pair.write_bw job-02 > job-03"]
    assert asked == ["evidence/write_bw-job-02-job-03.txt"]


def test_the_same_input_gives_the_same_document_and_its_own_moment_is_not_in_it():
    run, reported = runs.mixed()
    assert document(reported, {"stages": runs.stages(run)}) == document(
        json.loads(json.dumps(reported)), {"stages": runs.stages(run)}
    )


RELAXED = {
    "setting": "site.runtime.memlock",
    "value": "ignore",
    "strict": "unlimited",
    "means": "Containers may lock less memory than RDMA needs.",
    "checks": ["cluster.nccl", "cluster.training:2:rdma"],
    "stages": ["runtime"],
}


def test_relaxed_settings_have_the_titles_of_their_checks_and_mark_their_stages():
    rows = [{"id": "cluster.nccl rdma", "check": "cluster.nccl", "title": "All-reduce", "relaxed": ["so"]}]
    recorded = [{"name": "runtime", "state": "ok"}, {"name": "guests", "state": "ok"}]
    made = document({"checks": rows, "relaxed": [RELAXED], "stages": recorded}, None)
    assert [one["checks"] for one in made["relaxed"]] == [["All-reduce"]]
    assert made["relaxed_rows"] == 1
    assert [stage["relaxed"] for stage in made["stages"]] == [["site.runtime.memlock: ignore"], []]


def test_everything_that_rests_on_simulated_parts_is_counted():
    run = runs.perfect(2, fake=True)
    counted = document(
        runs.results(run), {"stages": runs.stages(run), "reboots": {"esx-01.example.com": 2, "job-01": 1}}
    )
    reported = {one["what"]: (one["simulated"], one["all"]) for one in counted["verdict"]["simulated_counts"]}
    rows = [row["simulated"] for layer in counted["ladder"] for check in layer["checks"] for row in check["rows"]]
    assert reported == {
        "checks": (sum(rows), len(rows)),
        "trainings": (4, 4),
        # Those of hosts and of Horovod are not measured by the validation.
        "versions": (2, 5),
        "restarts": (3, 3),
        # BIOS is a stage that this release does not have.
        "changes": (9, 11),
        "parts of the topology": (11, 11),
    }


def test_a_record_of_stages_alone_marks_what_it_can():
    record = {"simulated_parts": ["hosts"], "stages": runs.stages(runs.Run(1, False)), "reboots": {"esx-01": 1}}
    made = document(None, record)
    assert made["verdict"]["rehearsal"] is True
    assert [stage["name"] for stage in made["stages"] if stage["simulated"]] == ["preflight", "hosts", "validation"]
    assert made["reboots"] == [{"object": "esx-01", "count": 1, "simulated": True}]
    # Without a topology, the stage for hosts says which of them are hosts.
    worked_on = [{"name": "hosts", "state": "ok", "hosts": ["esx-01"]}]
    other = document(None, {**record, "stages": worked_on, "reboots": {"esx-01": 1, "job-01": 1}})
    assert [entry["object"] for entry in other["reboots"] if entry["simulated"]] == ["esx-01"]
    assert made["verdict"]["claim"].startswith("Nothing was measured. 1 of 1 restarts and 2 of 6 changes depend on")
